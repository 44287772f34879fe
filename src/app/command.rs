//! The one command table: it feeds the dispatch, the footer, the `?` help, `dover keys` and the README's table.
//! A key means one thing in a context; a test holds that.

use super::{App, company, key::Key};

/// What a key may ask for.
#[allow(missing_docs, reason = "titles and docs stand in the table")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Id {
    Up,
    Down,
    PageUp,
    PageDown,
    First,
    Last,
    Open,
    Filter,
    Read,
    NextPane,
    PreviousPane,
    NextStep,
    PreviousStep,
    Show,
    Edit,
    Fork,
    Baseline,
    Compare,
    Milestones,
    Verdicts,
    Replay,
    Search,
    NextHit,
    PreviousHit,
    Goto,
    NextTrial,
    PreviousTrial,
    NextError,
    PreviousError,
    Pretty,
    Copy,
    Type,
    Gates,
    External,
    StopTyping,
    Resume,
    Diagnostic,
    MoreRuns,
    FewerRuns,
    Seed,
    Acknowledge,
    AcceptDelta,
    RequestApproval,
    TryAgain,
    Approve,
    Effects,
    State,
    Fold,
    Hold,
    NextBoundary,
    PreviousBoundary,
    Reconcile,
    Keep,
    Undone,
    Allow,
    Refuse,
    Live,
    Steps,
    Until,
    Insert,
    Send,
    Drop,
    ByHand,
    FromRecord,
    LogLevel,
    Put,
    Pause,
    Step,
    Stop,
    NextRun,
    PreviousRun,
    CompareRun,
    Expand,
    NextDifference,
    PreviousDifference,
    Mark,
    Hypotheses,
    Suspect,
    Test,
    Analyse,
    AskModel,
    StopAnalysis,
    GotoSuspect,
    Accept,
    Lesson,
    GoOn,
    Hint,
    StartLesson,
    Anew,
    Overview,
    Left,
    Right,
    Colour,
    Pick,
    Narrow,
    Jumps,
    MarkStep,
    Note,
    Follow,
    Seat,
    Palette,
    Mouse,
    Help,
    Notice,
    Back,
    Quit,
    Redraw,
    Leave,
}

impl Id {
    /// Its name in a file of keys, such as `next-error`.
    #[must_use]
    pub fn name(self) -> String {
        kebab(self)
    }
}

/// The name of a variant as files have it: `NextError` is `next-error`.
fn kebab(variant: impl std::fmt::Debug) -> String {
    let mut name = String::new();
    for c in format!("{variant:?}").chars() {
        if c.is_uppercase() && !name.is_empty() {
            name.push('-');
        }
        name.extend(c.to_lowercase());
    }
    name
}

/// Where the operator is; a key is looked up in exactly one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Context {
    /// The session picker.
    Picker,
    /// The message list.
    Steps,
    /// The text of the selected step.
    Detail,
    /// The branch list.
    Branches,
    /// The editor, not typing.
    Editor,
    /// The editor, typing.
    Typing,
    /// The gate panel.
    Gates,
    /// The replay view.
    Replay,
    /// The comparison.
    Compare,
    /// A pair of the comparison in full.
    Pair,
    /// The milestone panel.
    Milestones,
    /// The interventions with their verdicts.
    Interventions,
    /// The hypotheses of the branch shown.
    Hypotheses,
    /// What was left in the world.
    Effects,
    /// The state before a step.
    State,
    /// A live run.
    Live,
    /// Writing for a live run, not typing.
    LiveEditor,
    /// Writing for a live run, typing.
    LiveTyping,
    /// The overview of branches.
    Overview,
    /// Milestones by branch.
    Grid,
    /// Several branches side by side.
    Several,
    /// The jump list.
    Jumps,
    /// The command palette.
    Palette,
    /// The key help.
    Help,
    /// The whole text of a notice.
    Notice,
    /// A line of input.
    Prompt,
    /// The list of lessons.
    Lessons,
    /// The page of a lesson.
    Lesson,
    /// Who asks for the driver's seat.
    Seat,
}

impl Context {
    /// All of them.
    pub const ALL: [Self; 29] = [
        Self::Picker,
        Self::Steps,
        Self::Detail,
        Self::Branches,
        Self::Editor,
        Self::Typing,
        Self::Gates,
        Self::Replay,
        Self::Compare,
        Self::Pair,
        Self::Milestones,
        Self::Interventions,
        Self::Hypotheses,
        Self::Effects,
        Self::State,
        Self::Live,
        Self::LiveEditor,
        Self::LiveTyping,
        Self::Overview,
        Self::Grid,
        Self::Several,
        Self::Jumps,
        Self::Palette,
        Self::Help,
        Self::Notice,
        Self::Prompt,
        Self::Lessons,
        Self::Lesson,
        Self::Seat,
    ];

    /// Its name in a file of keys, such as `hypotheses`.
    #[must_use]
    pub fn name(self) -> String {
        kebab(self)
    }

    /// Whether plain characters are text here.
    #[must_use]
    pub const fn types(self) -> bool {
        matches!(
            self,
            Self::Typing | Self::LiveTyping | Self::Prompt | Self::Palette
        )
    }
}

/// The headings of the help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Moving about.
    Move,
    /// Finding and reading.
    Read,
    /// From a suspicion to a fork.
    Debug,
    /// The editor.
    Edit,
    /// The gate panel.
    Gates,
    /// What was left in the world.
    Effects,
    /// What was recorded before a step.
    State,
    /// Leading a live run.
    Live,
    /// The whole session at a glance.
    Overview,
    /// Watching runs.
    Replay,
    /// The comparison.
    Compare,
    /// Lessons.
    Learn,
    /// What works everywhere.
    General,
}

impl Group {
    /// The heading.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Move => "Move",
            Self::Read => "Read",
            Self::Debug => "Debug",
            Self::Edit => "Editor",
            Self::Gates => "Gates",
            Self::Effects => "Effects",
            Self::State => "State",
            Self::Live => "Live",
            Self::Overview => "Overview",
            Self::Replay => "Replay",
            Self::Compare => "Compare",
            Self::Learn => "Lessons",
            Self::General => "Everywhere",
        }
    }
}

/// One thing that a key may ask for.
#[derive(Clone, Copy, Debug)]
pub struct Command {
    /// What is asked.
    pub id: Id,
    /// A word or two, for the footer.
    pub title: &'static str,
    /// A sentence, for the help.
    pub doc: &'static str,
    /// Its heading.
    pub group: Group,
    /// Its keys; the first one is shown in the footer.
    pub keys: &'static [Key],
    /// Where it works.
    pub contexts: &'static [Context],
    /// Whether the footer names it now.
    pub hint: fn(&App) -> bool,
    /// Why it cannot be done now, if so; other commands are named in it as in [`super::spell`].
    pub blocked: fn(&App) -> Option<&'static str>,
}

impl Command {
    pub(super) const fn hinted(self) -> Self {
        self.hinted_if(|_| true)
    }

    pub(super) const fn hinted_if(mut self, hint: fn(&App) -> bool) -> Self {
        self.hint = hint;
        self
    }

    pub(super) const fn unless(mut self, blocked: fn(&App) -> Option<&'static str>) -> Self {
        self.blocked = blocked;
        self
    }

    /// Why it cannot be done now, by whoever sits here.
    #[must_use]
    pub fn refused(&self, app: &App) -> Option<String> {
        let why = company::forbids(app, self.id).or_else(|| (self.blocked)(app))?;
        Some(app.spell(why))
    }

    /// The keys as text, such as `k ↑`.
    #[must_use]
    pub fn keys_text(&self) -> String {
        let names: Vec<String> = self.keys.iter().map(Key::to_string).collect();
        names.join(" ")
    }
}

/// All commands.
#[must_use]
pub fn table() -> &'static [Command] {
    super::table::TABLE
}

/// The command of a key in a context, as the table has it that no configuration changed.
#[must_use]
pub fn find(context: Context, pressed: Key) -> Option<&'static Command> {
    table()
        .iter()
        .find(|command| command.contexts.contains(&context) && command.keys.contains(&pressed))
}

/// The commands that the footer names where the operator is, those that can be done now, in order of importance.
pub fn hints(app: &App) -> impl Iterator<Item = &'static Command> {
    let context = app.context();
    table().iter().filter(move |command| {
        command.contexts.contains(&context) && (command.hint)(app) && command.refused(app).is_none()
    })
}

/// The commands of a group; one that stands twice in the table (other keys elsewhere) is told once with all its keys.
#[must_use]
pub fn by_group() -> Vec<(Group, Vec<&'static Command>)> {
    let order = [
        Group::Move,
        Group::Read,
        Group::Debug,
        Group::Edit,
        Group::Gates,
        Group::Effects,
        Group::State,
        Group::Live,
        Group::Overview,
        Group::Replay,
        Group::Compare,
        Group::Learn,
        Group::General,
    ];
    order
        .into_iter()
        .map(|group| {
            let commands = table().iter().filter(|command| command.group == group);
            (group, commands.collect())
        })
        .collect()
}

/// The README's table of keys.
#[must_use]
pub fn markdown_table() -> String {
    let mut out = String::from("| keys | | what it does |\n|---|---|---|\n");
    for (group, commands) in by_group() {
        for command in commands {
            let keys: Vec<String> = command
                .keys
                .iter()
                .map(|key| format!("`{}`", key.to_string().replace('|', "\\|")))
                .collect();
            let row = [&keys.join(" "), group.title(), command.doc].join(" | ");
            out.extend(["| ", &row, " |\n"]);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::key::Code;

    #[test]
    fn a_key_means_one_thing_in_a_context() {
        for context in Context::ALL {
            let mut seen = std::collections::HashMap::new();
            for command in table().iter().filter(|c| c.contexts.contains(&context)) {
                for key in command.keys {
                    let before = seen.insert(*key, command.id);
                    assert_eq!(
                        before, None,
                        "{key} in {context:?} is {before:?} and {:?}",
                        command.id
                    );
                }
            }
        }
    }

    #[test]
    fn every_context_can_be_left_and_every_command_is_told() {
        for context in Context::ALL {
            let out = [Key::of(Code::Esc), Key::char('q')]
                .into_iter()
                .any(|key| find(context, key).is_some());
            assert!(out, "{context:?}");
        }
        let markdown = markdown_table();
        assert!(table().iter().all(|command| markdown.contains(command.doc)));
        assert_eq!(markdown.lines().count(), table().len() + 2);
    }
}
