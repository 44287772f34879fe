//! The rows of the command table, and why a command cannot be done now.

use super::command::{Command, Context as C, Group as G, Id};
use super::key::{Code, Key};
use super::live::Phase;
use super::{App, View, company, hypotheses, mend};
use crate::gate::Action;
use crate::pipeline::Standing;

const fn command(
    id: Id,
    title: &'static str,
    group: G,
    keys: &'static [Key],
    contexts: &'static [C],
    doc: &'static str,
) -> Command {
    Command {
        id,
        title,
        doc,
        group,
        keys,
        contexts,
        hint: |_| false,
        blocked: |_| None,
    }
}

const fn k(c: char) -> Key {
    Key::char(c)
}
const fn key(code: Code) -> Key {
    Key::of(code)
}

const SESSION: &[C] = &[C::Steps, C::Detail, C::Branches];
const PANES: &[C] = &[
    C::Picker,
    C::Steps,
    C::Detail,
    C::Branches,
    C::Editor,
    C::Gates,
    C::Replay,
    C::Compare,
    C::Pair,
    C::Milestones,
    C::Interventions,
    C::Hypotheses,
    C::Effects,
    C::State,
    C::Live,
    C::LiveEditor,
    C::Overview,
    C::Grid,
    C::Several,
    C::Jumps,
    C::Help,
    C::Notice,
    C::Lessons,
    C::Lesson,
];
const OVER: &[C] = &[
    C::Editor,
    C::Live,
    C::LiveEditor,
    C::Gates,
    C::Replay,
    C::Compare,
    C::Pair,
    C::Milestones,
    C::Interventions,
    C::Hypotheses,
    C::Effects,
    C::State,
    C::Overview,
    C::Grid,
    C::Several,
    C::Jumps,
    C::Help,
    C::Notice,
    C::Lesson,
];
/// Where there is something to go back to.
const BACK: &[C] = &[
    C::Detail,
    C::Branches,
    C::Editor,
    C::Live,
    C::LiveEditor,
    C::Gates,
    C::Replay,
    C::Compare,
    C::Pair,
    C::Milestones,
    C::Interventions,
    C::Hypotheses,
    C::Effects,
    C::State,
    C::Overview,
    C::Grid,
    C::Several,
    C::Jumps,
    C::Notice,
    C::Lesson,
];
/// Where a lesson's work is done.
const WORK: &[C] = &[
    C::Steps,
    C::Detail,
    C::Branches,
    C::Editor,
    C::Gates,
    C::Replay,
    C::Compare,
    C::Pair,
    C::Milestones,
    C::Interventions,
    C::Hypotheses,
    C::Effects,
    C::State,
    C::Help,
];

/// One row a command. What a context is for comes first: the footer shows as many as fit, in this order.
#[rustfmt::skip]
pub(super) static TABLE: &[Command] = &[
    command(Id::StartLesson, "start", G::Learn, &[key(Code::Enter)], &[C::Lessons], "Starts the selected lesson, or goes on where it was left").hinted(),
    command(Id::Anew, "start anew", G::Learn, &[k('R')], &[C::Lessons], "Starts the selected lesson from its beginning, on a fresh copy of its run").hinted(),
    command(Id::GoOn, "go on", G::Learn, &[key(Code::Enter), k('l')], &[C::Lesson], "Goes to the task, or on to the next part").hinted(),
    command(Id::Lesson, "lesson", G::Learn, &[k('l')], WORK, "Shows the lesson's page; once the task is done, the next part").hinted().unless(needs_lesson),
    command(Id::Hint, "hint", G::Learn, &[k('T')], WORK, "Gives the lesson's next hint").unless(needs_lesson),
    command(Id::Hint, "hint", G::Learn, &[k('T')], &[C::Lesson], "Gives the next hint on the lesson's page").hinted(),
    command(Id::Open, "open", G::Read, &[key(Code::Enter)], &[C::Picker], "Opens the selected session").hinted(),
    command(Id::Filter, "filter", G::Read, &[k('/')], &[C::Picker], "Narrows the list to sessions that contain the words").hinted(),
    command(Id::Read, "read", G::Read, &[key(Code::Enter), key(Code::Right)], &[C::Steps], "Opens the selected step's whole text").hinted(),
    command(Id::Show, "show", G::Read, &[key(Code::Enter)], &[C::Branches], "Shows the selected branch in the message list").hinted(),
    command(Id::Compare, "compare", G::Debug, &[k('c')], &[C::Branches], "Compares the selected branch with its parent, side by side").hinted().unless(needs_branch),
    command(Id::Follow, "mirror/roam", G::Read, &[k('F')], SESSION, "Follows whoever drives the session: mirrors what they look at, then roams on one's own, in turn").hinted().unless(company::needs_driver),
    command(Id::Seat, "driver's seat", G::Read, &[k('Y')], SESSION, "Asks for the driver's seat, or takes it where nobody drives; the driver is asked to give it").hinted().unless(company::needs_seat),
    command(Id::Seat, "who asks", G::Read, &[k('Y')], OVER, "Shows who asks for the driver's seat, to answer it").hinted().unless(company::needs_request),
    command(Id::Allow, "give it", G::Read, &[k('y')], &[C::Seat], "Gives the driver's seat to who asks for it; you follow").hinted(),
    command(Id::Refuse, "keep it", G::Read, &[k('n')], &[C::Seat], "Keeps the driver's seat; who asked is told").hinted(),
    command(Id::Edit, "edit", G::Debug, &[k('e')], SESSION, "Edits the selected step; the original stays as it is").hinted().unless(needs_editable),
    command(Id::Fork, "fork", G::Debug, &[k('f')], SESSION, "Takes the edit of the selected step to the six gates").hinted_if(has_edit).unless(needs_editable),
    command(Id::Baseline, "re-run", G::Debug, &[k('b')], &[C::Steps, C::Detail, C::Branches, C::Replay], "Re-runs from the selected step unedited: the baseline, through the same gates").unless(needs_editable),
    command(Id::Hypotheses, "hypotheses", G::Debug, &[k('h')], &[C::Steps, C::Detail, C::Branches, C::Replay, C::Compare], "Shows the hypotheses of each trial, with the edit that tests each and its verdict").hinted().unless(hides_labels),
    command(Id::Overview, "overview", G::Overview, &[k('o')], SESSION, "Shows all branches at a glance: a column each, a cell for every step").hinted(),
    command(Id::Jumps, "jumps", G::Read, &[k('\'')], SESSION, "Lists the places where something happened: failures, plans, labels, hypotheses, edits, milestones, notes").hinted(),
    command(Id::Suspect, "suspect", G::Debug, &[k('H')], SESSION, "Writes your own hypothesis about the selected step"),
    command(Id::Test, "test it", G::Debug, &[key(Code::Enter), k('f')], &[C::Hypotheses], "Takes the selected hypothesis' edit to the gates as it stands").hinted().unless(needs_proposal),
    command(Id::Edit, "edit", G::Debug, &[k('e')], &[C::Hypotheses], "Opens the selected hypothesis' edit, to be changed before it is tested").hinted().unless(needs_hypothesis),
    command(Id::CompareRun, "compare", G::Debug, &[k('c')], &[C::Hypotheses], "Compares the best run of the selected hypothesis with its parent").hinted().unless(needs_tested),
    command(Id::GotoSuspect, "go to step", G::Debug, &[k('g')], &[C::Hypotheses], "Goes to the suspected step in the message list").hinted().unless(needs_hypothesis),
    command(Id::Analyse, "analyse", G::Debug, &[k('a')], &[C::Hypotheses], "Makes a hypothesis and an edit for each trial, by rules; nothing is run").hinted().unless(needs_idle),
    command(Id::AskModel, "ask a model", G::Debug, &[k('A')], &[C::Hypotheses], "The same by the model of the endpoint").unless(needs_idle),
    command(Id::StopAnalysis, "stop", G::Debug, &[k('x')], &[C::Hypotheses], "Stops the analysis; what was found stays").hinted().unless(needs_analysis),
    command(Id::Show, "go to step", G::Overview, &[key(Code::Enter)], &[C::Overview, C::Grid], "Goes to the selected step, or to where the milestone was reached, in the message list").hinted(),
    command(Id::Colour, "colour", G::Overview, &[key(Code::Tab)], &[C::Overview], "Colours the cells by agent, kind, status or milestone, in turn").hinted(),
    command(Id::Milestones, "milestones", G::Overview, &[k('m')], &[C::Overview, C::Grid], "Shows which branch gained and which lost each milestone, and the steps again").hinted(),
    command(Id::Pick, "pick", G::Overview, &[k(' ')], &[C::Overview, C::Grid], "Picks a branch to be compared, up to four").hinted(),
    command(Id::Compare, "compare", G::Overview, &[k('c')], &[C::Overview, C::Grid], "Compares the picked branches, or the selected one with its parent").hinted(),
    command(Id::Fold, "fold", G::Overview, &[k('z')], &[C::Overview], "Folds the steps until all fit, or shows a row for each").hinted(),
    command(Id::Left, "left", G::Move, &[k('h'), key(Code::Left)], &[C::Overview, C::Grid, C::Several], "One column to the left"),
    command(Id::Right, "right", G::Move, &[k('l'), key(Code::Right)], &[C::Overview, C::Grid, C::Several], "One column to the right"),
    command(Id::Compare, "compare", G::Debug, &[k('c')], &[C::Steps, C::Detail], "Compares the branch shown, or the newest one, with its parent, side by side").hinted().unless(needs_branch),
    command(Id::Search, "search", G::Read, &[k('/')], SESSION, "Searches agents and texts of the branch").hinted(),
    command(Id::Narrow, "filter", G::Read, &[k('&')], SESSION, "Shows only some steps: agent:NAME to:NAME kind:KIND trial:N words, - before what is not meant; an empty line shows all"),
    command(Id::Show, "go to step", G::Read, &[key(Code::Enter)], &[C::Jumps], "Goes to the selected place in the message list").hinted(),
    command(Id::Colour, "only", G::Read, &[key(Code::Tab)], &[C::Jumps], "Shows only failures, only plans and so on, then all places again").hinted(),
    command(Id::MarkStep, "mark", G::Read, &[k('*')], SESSION, "Marks the selected step, or takes the mark away; kept in the store"),
    command(Id::Note, "note", G::Read, &[k('a')], SESSION, "Notes something on the selected step; kept in the store"),
    command(Id::NextHit, "next hit", G::Read, &[k('n')], SESSION, "Goes to the next step found").unless(needs_search),
    command(Id::PreviousHit, "previous hit", G::Read, &[k('N')], SESSION, "Goes to the previous step found").unless(needs_search),
    command(Id::Goto, "go to", G::Read, &[k(':'), k('g')], SESSION, "Goes to a step by its number"),
    command(Id::NextTrial, "next trial", G::Read, &[k(']')], SESSION, "Goes to the next trial's plan"),
    command(Id::PreviousTrial, "previous trial", G::Read, &[k('[')], SESSION, "Goes to the trial's plan, or the one before"),
    command(Id::NextError, "next error", G::Read, &[k('}')], SESSION, "Goes to the next step that reports a failure"),
    command(Id::PreviousError, "previous error", G::Read, &[k('{')], SESSION, "Goes to the previous step that reports a failure"),
    command(Id::NextStep, "next step", G::Read, &[k('J')], &[C::Detail], "Reads the next step").hinted(),
    command(Id::PreviousStep, "previous step", G::Read, &[k('K')], &[C::Detail], "Reads the previous step").hinted(),
    command(Id::Pretty, "raw/pretty", G::Read, &[k('p')], SESSION, "Shows JSON laid out, or the text as it was written"),
    command(Id::Copy, "copy", G::Read, &[k('y')], SESSION, "Copies the selected step's text: by the terminal (OSC 52), through tmux and over SSH too, and into a file that is named"),
    command(Id::NextPane, "next pane", G::Move, &[key(Code::Tab)], SESSION, "Goes to the next pane: list, text, branches").hinted(),
    command(Id::PreviousPane, "previous pane", G::Move, &[Key::shift(Code::Tab), key(Code::Left)], SESSION, "Goes to the previous pane"),
    command(Id::Type, "type", G::Edit, &[k('i'), key(Code::Enter)], &[C::Editor], "Goes on typing").hinted(),
    command(Id::StopTyping, "stop typing", G::Edit, &[key(Code::Esc)], &[C::Typing], "Leaves the text for the plain keys; nothing is lost").hinted(),
    command(Id::Gates, "fork", G::Edit, &[k('f'), Key::ctrl('s'), key(Code::F(2))], &[C::Editor], "Takes the edit to the six gates").hinted(),
    command(Id::Gates, "fork", G::Edit, &[Key::ctrl('s'), key(Code::F(2))], &[C::Typing], "Takes the edit to the six gates, while typing").hinted(),
    command(Id::External, "$EDITOR", G::Edit, &[Key::ctrl('e')], &[C::Editor, C::Typing], "Edits the text in $VISUAL or $EDITOR").hinted(),
    command(Id::Resume, "fork and run", G::Gates, &[key(Code::Enter)], &[C::Gates], "Forks and runs, when gates 1 to 5 hold").hinted().unless(needs_ready),
    command(Id::Diagnostic, "run as diagnostic", G::Gates, &[k('d')], &[C::Gates], "Runs a diagnostic branch, when the state gate alone does not hold").hinted().unless(needs_diagnostic),
    command(Id::Acknowledge, "acknowledge", G::Gates, &[k('a')], &[C::Gates], "Acknowledges that the tool registry drifted, and asks the gates again").hinted().unless(needs_drift),
    command(Id::AcceptDelta, "accept", G::Gates, &[k('A')], &[C::Gates], "Accepts the differences of the configuration as intended, and asks the gates again").hinted().unless(needs_delta),
    command(Id::Reconcile, "reconcile", G::Gates, &[k('R')], &[C::Gates], "Shows the commands that ask the destinations of effects; once more runs them").hinted().unless(needs_destinations),
    command(Id::RequestApproval, "request approval", G::Gates, &[k('p')], &[C::Gates], "Writes the fork down as held and waits for an owner's approval, here or elsewhere").hinted().unless(needs_risk),
    command(Id::Approve, "approve here", G::Gates, &[k('o')], &[C::Gates], "Approves what waits, as the owner that is named next").hinted().unless(needs_waiting),
    command(Id::Edit, "edit again", G::Gates, &[k('e')], &[C::Gates], "Opens the edit again").hinted(),
    command(Id::MoreRuns, "more runs", G::Gates, &[k('+'), k('=')], &[C::Gates], "Plans one more run").hinted().unless(needs_new),
    command(Id::FewerRuns, "fewer", G::Gates, &[k('-')], &[C::Gates], "Plans one run less").hinted().unless(needs_new),
    command(Id::Seed, "seed", G::Gates, &[k('s')], &[C::Gates], "Takes the next seed: other luck, same edit").hinted().unless(needs_new),
    command(Id::Reconcile, "ask destinations", G::Effects, &[k('R')], &[C::Effects], "Shows the commands that ask the destinations, then runs them").hinted().unless(needs_commands),
    command(Id::Keep, "keep", G::Effects, &[k('s')], &[C::Effects], "The selected effect stays and is not repeated; asks for the reason").hinted().unless(needs_effect),
    command(Id::Undone, "undone", G::Effects, &[k('u')], &[C::Effects], "The selected effect was undone; asks for the reason").hinted().unless(needs_effect),
    command(Id::Allow, "allow", G::Live, &[k('y')], &[C::Live], "Lets the tool call happen that is held").hinted().unless(needs_call),
    command(Id::Refuse, "refuse", G::Live, &[k('n')], &[C::Live], "Refuses the call that is held: the tool fails and the run goes on").hinted().unless(needs_call),
    command(Id::ByHand, "answer", G::Live, &[k('a')], &[C::Live], "Answers what the team asks you, or the held call in its tool's place").hinted().unless(needs_question),
    command(Id::FromRecord, "from record", G::Live, &[k('r')], &[C::Live], "Answers the held call with what the same call answered before").hinted().unless(needs_record),
    command(Id::Pause, "run/pause", G::Live, &[k(' ')], &[C::Live], "Lets the run go on by itself, or pauses it before its next message").hinted().unless(needs_going),
    command(Id::Step, "step", G::Live, &[k('s')], &[C::Live], "Commits the next message and goes to the boundary after it").hinted().unless(needs_boundary),
    command(Id::Edit, "edit", G::Live, &[k('e')], &[C::Live], "Rewrites the selected message before it is committed").hinted().unless(needs_waiting_message),
    command(Id::Until, "until", G::Live, &[k('u')], &[C::Live], "Runs until a message of an agent, of a kind or with words in it is about to be committed").hinted().unless(needs_boundary),
    command(Id::Steps, "n steps", G::Live, &[k('S')], &[C::Live], "Makes as many steps as you say, then pauses").hinted().unless(needs_boundary),
    command(Id::State, "state", G::Live, &[k('t')], &[C::Live], "Shows the agents' state before the message that waits, or before the selected step").hinted(),
    command(Id::Send, "send", G::Live, &[k('m')], &[C::Live], "Sends a message to an agent or a topic").hinted().unless(needs_boundary),
    command(Id::Insert, "insert", G::Live, &[k('i')], &[C::Live], "Puts a message before the selected one").unless(needs_boundary),
    command(Id::Drop, "drop", G::Live, &[k('D')], &[C::Live], "Takes the selected message out of the queue").unless(needs_waiting_message),
    command(Id::Stop, "stop", G::Live, &[k('x')], &[C::Live], "Ends the run here; the steps made stay").hinted().unless(needs_going),
    command(Id::LogLevel, "log level", G::Live, &[k('l')], &[C::Live], "Shows only warnings and errors of the log, only errors, or all of it"),
    command(Id::NextPane, "next pane", G::Live, &[key(Code::Tab)], &[C::Live], "Gives the keys to the next pane: what waits, the steps, the log").hinted(),
    command(Id::PreviousPane, "previous pane", G::Live, &[Key::shift(Code::Tab)], &[C::Live], "Gives the keys to the pane before"),
    command(Id::Live, "live run", G::Live, &[k('L')], SESSION, "Goes back to the team that runs now").hinted().unless(needs_live),
    command(Id::Put, "send", G::Live, &[Key::ctrl('s')], &[C::LiveTyping, C::LiveEditor], "Sends what you wrote: into the queue, or as the answer").hinted(),
    command(Id::Type, "type", G::Live, &[k('i'), key(Code::Enter)], &[C::LiveEditor], "Types again").hinted(),
    command(Id::External, "$EDITOR", G::Live, &[Key::ctrl('e')], &[C::LiveEditor, C::LiveTyping], "Edits the text in $VISUAL or $EDITOR").hinted(),
    command(Id::StopTyping, "plain keys", G::Live, &[key(Code::Esc)], &[C::LiveTyping], "Stops typing, so that keys are commands again").hinted(),
    command(Id::Allow, "allow", G::Replay, &[k('y')], &[C::Replay], "Lets the new effect happen that a run waits with").hinted().unless(needs_asked),
    command(Id::Refuse, "refuse", G::Replay, &[k('n')], &[C::Replay], "Refuses the new effect: the tool fails and the run goes on").hinted().unless(needs_asked),
    command(Id::Pause, "pause/resume", G::Replay, &[k(' ')], &[C::Replay], "Pauses every run before its next step, or goes on").hinted().unless(needs_running),
    command(Id::Step, "one step", G::Replay, &[k('s')], &[C::Replay], "Lets every run make one step, then pauses").hinted().unless(needs_running),
    command(Id::Stop, "stop", G::Replay, &[k('x')], &[C::Replay], "Stops every run; the steps made stay").hinted().unless(needs_running),
    command(Id::CompareRun, "compare", G::Replay, &[key(Code::Enter), k('c')], &[C::Replay], "Compares this run with its parent").hinted().unless(needs_run),
    command(Id::Expand, "full text", G::Compare, &[key(Code::Enter)], &[C::Compare], "Shows the selected pair in full").hinted(),
    command(Id::Compare, "compare two", G::Compare, &[key(Code::Enter), k('c')], &[C::Several], "Compares the selected branch with the first one, step by step").hinted(),
    command(Id::NextDifference, "next difference", G::Compare, &[k('n')], &[C::Compare, C::Several], "Goes to the next row that differs").hinted(),
    command(Id::PreviousDifference, "previous", G::Compare, &[k('N'), k('p')], &[C::Compare, C::Several], "Goes to the previous row that differs").hinted(),
    command(Id::NextRun, "next run", G::Replay, &[key(Code::Tab), key(Code::Right)], &[C::Replay, C::Compare], "Watches or compares the next run").hinted(),
    command(Id::PreviousRun, "previous run", G::Replay, &[Key::shift(Code::Tab), key(Code::Left)], &[C::Replay, C::Compare], "Watches or compares the previous run"),
    command(Id::Edit, "edit again", G::Replay, &[k('e')], &[C::Replay], "Opens the edit again, for another try").hinted(),
    command(Id::Mark, "mark as reached", G::Debug, &[k('M')], &[C::Milestones], "Marks the selected milestone as reached at the selected step").hinted().unless(needs_milestones),
    command(Id::CompareRun, "compare", G::Debug, &[key(Code::Enter), k('c')], &[C::Interventions], "Compares the intervention's best run with its parent").hinted(),
    command(Id::TryAgain, "try again", G::Debug, &[k('f')], &[C::Interventions], "Takes the selected intervention, which was held, to the gates again as it stands").hinted().unless(needs_held),
    command(Id::Verdicts, "verdicts", G::Debug, &[k('v')], &[C::Steps, C::Detail, C::Branches, C::Replay, C::Compare], "Lists the interventions with their runs and verdicts").hinted().unless(needs_intervention),
    command(Id::Milestones, "milestones", G::Debug, &[k('m')], &[C::Steps, C::Detail, C::Branches, C::Replay, C::Compare], "Shows which milestones were reached, gained and lost").hinted(),
    command(Id::Effects, "effects", G::Effects, &[k('w')], &[C::Steps, C::Detail, C::Branches, C::Gates, C::Replay], "Shows what the branch left in the world past the selected step, still true or settled"),
    command(Id::State, "state", G::State, &[k('t')], SESSION, "Shows the agents' state before the selected step, as it was recorded").hinted(),
    command(Id::Fold, "unfold", G::State, &[key(Code::Enter), k(' ')], &[C::State], "Unfolds the selected value, or folds it again").hinted(),
    command(Id::NextBoundary, "next", G::State, &[k(']'), key(Code::Right)], &[C::State], "Goes to the next recorded state of the branch").hinted(),
    command(Id::PreviousBoundary, "previous", G::State, &[k('['), key(Code::Left)], &[C::State], "Goes to the recorded state before").hinted(),
    command(Id::Hold, "hold and compare", G::State, &[k('d')], &[C::State], "Holds this state: the others are shown as what differs from it; once more lets it go").hinted(),
    command(Id::Replay, "replay", G::Debug, &[k('r')], SESSION, "Goes back to the replay").hinted().unless(needs_replay),
    command(Id::Palette, "commands", G::General, &[Key::ctrl('p')], PANES, "Finds what can be done here by a few letters of its name"),
    command(Id::Up, "up", G::Move, &[key(Code::Up), Key::ctrl('p')], &[C::Palette], "The command above").hinted(),
    command(Id::Down, "down", G::Move, &[key(Code::Down), Key::ctrl('n')], &[C::Palette], "The command below").hinted(),
    command(Id::Accept, "do it", G::General, &[key(Code::Enter)], &[C::Palette], "Does the selected command").hinted(),
    command(Id::Back, "cancel", G::General, &[key(Code::Esc)], &[C::Palette], "Leaves the commands").hinted(),
    command(Id::Accept, "take", G::General, &[key(Code::Enter)], &[C::Prompt], "Takes the line").hinted(),
    command(Id::Back, "cancel", G::General, &[key(Code::Esc)], &[C::Prompt], "Drops the line").hinted(),
    command(Id::Up, "up", G::Move, &[k('k'), key(Code::Up)], PANES, "One line up"),
    command(Id::Down, "down", G::Move, &[k('j'), key(Code::Down)], PANES, "One line down"),
    command(Id::PageUp, "page up", G::Move, &[key(Code::PageUp), Key::ctrl('u')], PANES, "One page up"),
    command(Id::PageDown, "page down", G::Move, &[key(Code::PageDown), Key::ctrl('d')], PANES, "One page down"),
    command(Id::First, "first", G::Move, &[key(Code::Home), k('<')], PANES, "To the beginning"),
    command(Id::Last, "last", G::Move, &[key(Code::End), k('>'), k('G')], PANES, "To the end; a running branch is then followed"),
    command(Id::Back, "back", G::General, &[key(Code::Esc), k('q')], BACK, "One step back; nothing is lost").hinted(),
    command(Id::Back, "back", G::General, &[key(Code::Esc)], &[C::Steps], "One step back; nothing is lost").hinted(),
    command(Id::Back, "back", G::General, &[key(Code::Esc), k('q'), k('?')], &[C::Help], "Closes the keys").hinted(),
    command(Id::Filter, "filter", G::General, &[k('/')], &[C::Help], "Narrows the keys to those that are told with the words").hinted(),
    command(Id::Back, "later", G::General, &[key(Code::Esc), k('q')], &[C::Seat], "Leaves the question open").hinted(),
    command(Id::Back, "clear filter", G::Read, &[key(Code::Esc)], &[C::Picker], "Clears the filter of the session list"),
    command(Id::Mouse, "mouse", G::General, &[key(Code::F(4))], PANES, "Takes the mouse, or gives it back: the wheel scrolls, a click selects, a second one opens it; Shift and dragging still selects text"),
    command(Id::Help, "help", G::General, &[k('?')], &[C::Lessons, C::Lesson, C::Picker, C::Steps, C::Detail, C::Branches, C::Editor, C::Gates, C::Replay, C::Compare, C::Pair, C::Milestones, C::Interventions, C::Hypotheses, C::Effects, C::State, C::Live, C::LiveEditor, C::Overview, C::Grid, C::Several, C::Jumps], "Shows the keys").hinted(),
    command(Id::Notice, "message", G::General, &[k('!')], &[C::Lessons, C::Lesson, C::Picker, C::Steps, C::Detail, C::Branches, C::Editor, C::Gates, C::Replay, C::Compare, C::Pair, C::Milestones, C::Interventions, C::Hypotheses, C::Effects, C::State, C::Live, C::LiveEditor, C::Overview, C::Grid, C::Several, C::Jumps], "Shows the last message in full").unless(needs_notice),
    command(Id::Quit, "quit", G::General, &[k('q')], &[C::Lessons, C::Picker, C::Steps], "Quits; asks once when runs are going, and stops them").hinted(),
    command(Id::Redraw, "redraw", G::General, &[Key::ctrl('l')], &C::ALL, "Draws the whole screen anew, whatever wrote over it"),
    command(Id::Leave, "leave at once", G::General, &[Key::ctrl('c')], &C::ALL, "Leaves at once, as a lost connection does; a running branch stays with the steps it made, as interrupted"),
];

fn needs_editable(app: &App) -> Option<&'static str> {
    let step = app.open.as_ref().and_then(|open| open.step())?;
    (!step.editable())
        .then_some("A word of the machinery: edit an instruction, a plan or a message")
}

/// Whether the selected step has something to be taken to the gates; without it the edit comes first.
fn has_edit(app: &App) -> bool {
    app.open.as_ref().is_some_and(|open| {
        let at = (open.steps.branch.clone(), open.selected);
        let held = mend::waits_at(app, &at.0, at.1).is_some();
        held || app.drafts.contains_key(&at)
    })
}

fn needs_branch(app: &App) -> Option<&'static str> {
    let alone = app.open.as_ref().is_none_or(|open| open.branches.len() < 2);
    alone.then_some("No branch to compare with yet: ‹edit› edits a step, then fork it")
}

fn needs_intervention(app: &App) -> Option<&'static str> {
    let none = app
        .open
        .as_ref()
        .is_none_or(|open| open.interventions.is_empty());
    none.then_some("Nothing was tried yet: ‹edit› edits a step, then fork it")
}

fn needs_hypothesis(app: &App) -> Option<&'static str> {
    hypotheses::selected(app).is_none().then_some(
        "No hypothesis for this trial: ‹analyse› makes one, or ‹suspect› at a step of it writes your own",
    )
}

fn needs_proposal(app: &App) -> Option<&'static str> {
    match hypotheses::selected(app) {
        Some(filed) if filed.proposal.is_none() => Some("It has no edit yet: ‹edit› writes one"),
        Some(_) => None,
        None => needs_hypothesis(app),
    }
}

fn needs_tested(app: &App) -> Option<&'static str> {
    let tested = hypotheses::selected(app).is_some_and(|filed| filed.intervention.is_some());
    (!tested).then_some("It was not tested yet: ‹test› takes its edit to the gates")
}

fn needs_lesson(app: &App) -> Option<&'static str> {
    app.course()
        .is_none()
        .then_some("No lesson is being played: dover learn offers them")
}

fn hides_labels(app: &App) -> Option<&'static str> {
    app.hide.labels.then_some(
        "What others suspect is hidden until you have said it yourself: ‹suspect› at the step",
    )
}

fn needs_idle(app: &App) -> Option<&'static str> {
    if let Some(why) = hides_labels(app) {
        return Some(why);
    }
    app.analysing
        .map(|_| "The session is being analysed: ‹stop-analysis› stops that")
}

fn needs_analysis(app: &App) -> Option<&'static str> {
    app.analysing
        .is_none()
        .then_some("Nothing is being analysed")
}

fn needs_replay(app: &App) -> Option<&'static str> {
    app.replay_here()
        .is_none()
        .then_some("Nothing was replayed in this sitting; ‹verdicts› shows earlier verdicts")
}

fn needs_search(app: &App) -> Option<&'static str> {
    let none = app.open.as_ref().is_none_or(|open| open.search.is_none());
    none.then_some("Search first: press ‹search›")
}

fn needs_ready(app: &App) -> Option<&'static str> {
    let report = app.gates().and_then(|gates| gates.report());
    match report {
        None => Some("The gates are still being checked"),
        Some(report) if report.ready() => None,
        Some(report) if report.may_run_diagnostic() => Some(
            "Held: this state does not restore exactly. Press ‹diagnostic› for a diagnostic branch",
        ),
        Some(_) => {
            Some("Held: a gate does not hold; its line says how to mend it. Nothing has run")
        }
    }
}

fn needs_diagnostic(app: &App) -> Option<&'static str> {
    match app.gates().and_then(|gates| gates.report()) {
        Some(report) if report.may_run_diagnostic() => None,
        Some(report) if report.ready() => {
            Some("All gates hold: press ‹resume› for an exact replay")
        }
        _ => Some("Not a matter of state: another gate is in the way, see its line"),
    }
}

fn needs_drift(app: &App) -> Option<&'static str> {
    unless_offered(
        app,
        Action::Acknowledge,
        "No drift of the tool registry alone is in the way",
    )
}

fn needs_delta(app: &App) -> Option<&'static str> {
    unless_offered(
        app,
        Action::AcceptDelta,
        "No difference of the configuration is in the way",
    )
}

fn needs_destinations(app: &App) -> Option<&'static str> {
    unless_offered(
        app,
        Action::Reconcile,
        "No command is configured that asks about what is open: ‹effects› lists it",
    )
}

fn needs_commands(app: &App) -> Option<&'static str> {
    let Some(View::Effects(effects)) = app.views.last() else {
        return None;
    };
    match &effects.left {
        None => Some("What was left is still being read"),
        Some(_) if effects.asking => Some("The destinations are being asked"),
        Some(_) if effects.commands().is_empty() => Some(
            "No destination is left to be asked: ‹effects.keep› and ‹effects.undone› decide by hand",
        ),
        Some(_) => None,
    }
}

fn needs_effect(app: &App) -> Option<&'static str> {
    let none = match app.views.last() {
        Some(View::Effects(effects)) => effects.effect().is_none(),
        _ => true,
    };
    none.then_some("Nothing was left here, so there is nothing to decide")
}

fn needs_asked(app: &App) -> Option<&'static str> {
    let none = app
        .replay
        .as_ref()
        .is_none_or(|replay| replay.asked.is_empty());
    none.then_some("No run waits with a new effect")
}

fn needs_risk(app: &App) -> Option<&'static str> {
    if app.gates().is_some_and(|gates| gates.waits_as().is_some()) {
        return Some("It waits already: an owner approves it, here with ‹approve› or elsewhere");
    }
    unless_offered(app, Action::RequestApproval, "No approval is missing")
}

fn needs_waiting(app: &App) -> Option<&'static str> {
    let waits = app.gates().is_some_and(|gates| gates.waits_as().is_some());
    if !waits {
        return Some(
            "What is approved must be written down first: ‹request-approval› requests the approval",
        );
    }
    unless_offered(app, Action::RequestApproval, "No approval is missing")
}

fn needs_held(app: &App) -> Option<&'static str> {
    mend::selected(app)
        .is_none()
        .then_some("Only what was held, stopped or interrupted can be tried again as it stands; its runs came to their end")
}

fn needs_new(app: &App) -> Option<&'static str> {
    let written = app.gates().is_some_and(|gates| gates.waits_as().is_some());
    written.then_some("It is tried again exactly as it stands; ‹edit› makes another edit of it")
}

/// Why something cannot be done about a gate: the gates are asked just now, or none offers it.
fn unless_offered(app: &App, action: Action, why: &'static str) -> Option<&'static str> {
    match app.gates() {
        Some(gates) if gates.offers(action) => None,
        Some(gates) if gates.checking => Some("The gates are still being checked"),
        _ => Some(why),
    }
}

fn needs_milestones(app: &App) -> Option<&'static str> {
    let none = app
        .open
        .as_ref()
        .is_none_or(|open| open.session.milestones.is_empty());
    none.then_some("This session has no milestones: dover set with --milestone adds them")
}

fn needs_running(app: &App) -> Option<&'static str> {
    let over = app.replay.as_ref().is_none_or(|replay| !replay.running());
    over.then_some("All runs have ended")
}

fn needs_run(app: &App) -> Option<&'static str> {
    let none = app
        .replay
        .as_ref()
        .is_none_or(|replay| replay.run().is_none());
    none.then_some("No run has started yet")
}

fn phase(app: &App) -> Option<&Phase> {
    app.live.as_ref().map(|live| &live.phase)
}

fn needs_live(app: &App) -> Option<&'static str> {
    let session = app.open.as_ref().map(|open| open.session.id.as_str());
    let main = app.live.as_ref().and_then(|live| live.main());
    let here = main.is_some_and(|main| Some(main.session()) == session);
    (!here).then_some("No team runs here: dover run NAME ENTRY --task TEXT starts one")
}

fn needs_call(app: &App) -> Option<&'static str> {
    let held = matches!(phase(app), Some(Phase::Stands(Standing::Held { .. })));
    (!held).then_some("No tool call waits for a decision")
}

fn needs_question(app: &App) -> Option<&'static str> {
    let asked = matches!(
        phase(app),
        Some(Phase::Stands(
            Standing::Held { .. } | Standing::Asked { .. }
        ))
    );
    (!asked).then_some("Nobody asks for an answer just now")
}

fn needs_record(app: &App) -> Option<&'static str> {
    if app
        .live
        .as_ref()
        .is_some_and(|live| live.recorded().is_some())
    {
        return None;
    }
    needs_call(app).or(Some(
        "No earlier call of this tool with the same arguments is on record",
    ))
}

fn needs_going(app: &App) -> Option<&'static str> {
    match phase(app) {
        Some(Phase::Over(_)) | None => {
            Some("The run is over: ‹back› goes to its session, where any step can be forked")
        }
        Some(_) => None,
    }
}

fn needs_boundary(app: &App) -> Option<&'static str> {
    match phase(app) {
        Some(Phase::Stands(Standing::Boundary(_))) => None,
        Some(Phase::Stands(Standing::Held { .. })) => Some(
            "A tool call waits for your decision first: ‹allow›, ‹refuse›, ‹by-hand› or ‹from-record›",
        ),
        Some(Phase::Stands(Standing::Asked { .. })) => {
            Some("The team waits for your answer first: ‹by-hand› writes it")
        }
        Some(Phase::Starting | Phase::Moves(_)) => {
            Some("The run moves: ‹pause› pauses it before its next message")
        }
        Some(Phase::Over(_)) | None => needs_going(app),
    }
}

fn needs_waiting_message(app: &App) -> Option<&'static str> {
    needs_boundary(app).or_else(|| {
        let none = app
            .live
            .as_ref()
            .is_none_or(|live| live.waiting().is_none());
        none.then_some("No message waits: ‹send› sends one, ‹insert› puts one in")
    })
}

fn needs_notice(app: &App) -> Option<&'static str> {
    app.last_notice.is_none().then_some("There is no message")
}
