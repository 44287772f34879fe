//! `dover --plain`: the whole loop line by line, for screen readers, pipes and CI. What is asked for is read from standard input, what is
//! said goes to standard output, one whole line after the other.
//!
//! Invariants: nothing is drawn over and no control sequence is written; lines are obeyed in their order; the end of the input ends
//! the program, after what still runs. Everything is done by the functions that the screen and the subcommands call. Non-goal: cutting or
//! wrapping lines, which is the reader's.

mod forking;
mod gates;
mod judging;
mod lines;
mod live;
mod reading;
mod replaying;
mod tell;
mod unsent;
mod words;

use std::collections::BTreeMap;

use super::context::Context;
use super::error::{CliError, Exit};
use super::replay;
use crate::app::command::Id;
use crate::app::unsent::Draft;
use crate::model::{BranchId, Session};
use crate::pipeline::{Comparison, ModelSettings};
use crate::store::Store;
use crate::term::Team;
use gates::Gates;
use lines::Lines;
use tell::Voice;
use words::Verb;

/// What a word came to.
type Done = Result<(), CliError>;

/// A sitting.
struct Plain {
    store: Store,
    models: ModelSettings,
    operator: String,
    voice: Voice,
    lines: Lines,
    /// The sessions as they were listed last.
    listed: Vec<String>,
    open: Option<Open>,
    drafts: BTreeMap<(BranchId, usize), Draft>,
    gates: Option<Gates>,
    /// The commands that were said to ask destinations; no others are run.
    said: Vec<Vec<String>>,
    list: List,
    compared: Option<Comparison>,
    /// The intervention that was run last.
    last: Option<String>,
    /// What the last fork came to.
    fate: Exit,
    /// A line was not understood, or could not be obeyed.
    wrong: bool,
    /// The program was asked to end in the middle of something.
    leaving: bool,
}

/// What is open.
struct Open {
    session: Session,
    branch: BranchId,
    steps: usize,
    /// The selected step.
    step: usize,
    hits: Vec<usize>,
}

/// What `more` goes on with.
#[derive(Clone, Copy)]
enum List {
    /// From this step.
    Steps(usize),
    /// From this pair of the comparison.
    Pairs(usize),
}

/// Rows of a list that are said in one go.
const PAGE: usize = 20;

/// Runs a sitting on standard input and output.
pub fn run(context: &Context, what: Option<String>) -> Result<Exit, CliError> {
    sitting(context, async |plain| plain.sit(what).await)
}

/// Leads a team that is started now, and goes on with its session.
pub fn team(context: &Context, team: &Team) -> Result<Exit, CliError> {
    sitting(context, async |plain| {
        let lived = plain.lead(team).await?;
        plain.lived(&lived)?;
        plain.obey_lines().await
    })
}

fn sitting(
    context: &Context,
    sit: impl AsyncFnOnce(&mut Plain) -> Result<Exit, CliError>,
) -> Result<Exit, CliError> {
    if context.global.json {
        return Err(CliError::Usage(
            "--plain is for people and --json for programs. With --json use a subcommand, such as dover show SESSION --json"
                .to_owned(),
        ));
    }
    let mut plain = Plain {
        store: context.store()?,
        models: context.model()?,
        operator: context.operator(),
        voice: Voice::new(std::io::stdout()),
        lines: Lines::stdin(),
        listed: Vec::new(),
        open: None,
        drafts: BTreeMap::new(),
        gates: None,
        said: Vec::new(),
        list: List::Steps(0),
        compared: None,
        last: None,
        fate: Exit::Done,
        wrong: false,
        leaving: false,
    };
    let threads = tokio::runtime::Runtime::new().map_err(CliError::Threads)?;
    let ended = threads.block_on(sit(&mut plain));
    // The thread that reads may wait for a line that never comes.
    threads.shutdown_background();
    ended
}

impl Plain {
    /// Opens what was named, and obeys line by line.
    async fn sit(&mut self, what: Option<String>) -> Result<Exit, CliError> {
        self.voice
            .say("dover, line by line. help says the words, quit ends.")?;
        match what {
            // What was named and cannot be opened is an error of the command line.
            Some(what) => self.open(&what)?,
            None => self.sessions()?,
        }
        self.obey_lines().await
    }

    async fn obey_lines(&mut self) -> Result<Exit, CliError> {
        loop {
            if self.lines.terminal {
                self.voice.prompt()?;
            }
            let line = tokio::select! {
                biased;
                () = replay::ended() => return Ok(Exit::Interrupted),
                line = self.lines.next() => line,
            };
            let Some(line) = line else { break };
            let line = match line {
                Ok(line) => line,
                Err(error) => {
                    self.wrong = true;
                    self.voice.say(&format!("Not read: {error}."))?;
                    continue;
                }
            };
            if line.trim().is_empty() {
                continue;
            }
            match words::parse(&line) {
                Ok((Verb::Screen(Id::Quit), _)) => break,
                Ok((verb, rest)) => {
                    let done = self.obey(verb, rest).await;
                    self.settle(done)?;
                    if self.leaving {
                        return Ok(Exit::Interrupted);
                    }
                }
                Err(told) => self.settle(Err(CliError::Usage(told)))?,
            }
        }
        let dropped = self.drafts.len();
        if dropped > 0 {
            let told = super::text::count(dropped, "edit");
            self.voice.say(&format!(
                "{told} not forked: kept, and offered when the session is opened again."
            ))?;
        }
        // Who sits there has seen it and said it better.
        Ok(if self.wrong && !self.lines.terminal {
            Exit::Usage
        } else {
            self.fate
        })
    }

    /// Says what was not done and why; only what cannot be said ends the sitting.
    fn settle(&mut self, done: Done) -> Done {
        match done {
            Ok(()) => Ok(()),
            Err(error @ (CliError::Output(_) | CliError::BrokenOff)) => Err(error),
            Err(error) => {
                if error.exit() == Exit::Held {
                    self.fate = Exit::Held;
                } else {
                    self.wrong = true;
                }
                Ok(self.voice.say(&format!("Not done: {error}."))?)
            }
        }
    }

    async fn obey(&mut self, verb: Verb, rest: &str) -> Done {
        match verb {
            Verb::Sessions => self.sessions(),
            Verb::Where => self.say_where(),
            Verb::Steps => self.steps(rest),
            Verb::More => self.more(),
            Verb::Branches => self.branches(),
            Verb::Gates => self.ask_gates().await,
            Verb::Runs => self.plan_runs(rest).await,
            Verb::GoOn => Err(no_run()),
            Verb::Screen(id) => self.obey_screen(id, rest).await,
        }
    }

    async fn obey_screen(&mut self, id: Id, rest: &str) -> Done {
        match id {
            Id::Open => self.open(rest),
            Id::Read => self.read(rest),
            Id::NextStep | Id::PreviousStep => self.read_beside(id == Id::NextStep),
            Id::NextTrial | Id::PreviousTrial => self.go_to_trial(id == Id::NextTrial),
            Id::NextError | Id::PreviousError => self.go_to_error(id == Id::NextError),
            Id::Search => self.search(rest),
            Id::NextHit | Id::PreviousHit => self.go_to_hit(id == Id::NextHit),
            Id::Show => self.show(rest),
            Id::State => self.state(rest),
            Id::Hypotheses => self.hypotheses().await,
            Id::Analyse => self.analyse("offline").await,
            Id::AskModel => self.analyse("model").await,
            Id::Suspect => self.suspect(rest),
            Id::Test => self.test(rest).await,
            Id::Edit => self.edit(rest).await,
            Id::External => self.edit_outside(rest).await,
            Id::Fork => self.fork(rest).await,
            Id::Baseline => self.baseline(rest).await,
            Id::TryAgain => self.try_again(rest).await,
            Id::Resume => self.resume(false).await,
            Id::Diagnostic => self.resume(true).await,
            Id::Seed => self.seed(rest).await,
            Id::Acknowledge | Id::AcceptDelta => self.accept(id).await,
            Id::Effects => self.effects(rest),
            Id::Reconcile => self.reconcile().await,
            Id::Keep | Id::Undone => self.decide(id, rest),
            Id::RequestApproval => self.request_approval().await,
            Id::Approve => self.approve(rest).await,
            Id::Pause => self.pause_before(),
            Id::Allow | Id::Refuse => self.decide_before(id),
            Id::Compare => self.compare(rest),
            Id::Expand => self.pair(rest),
            Id::Verdicts => self.verdicts(),
            Id::Milestones => self.milestones(),
            Id::Mark => self.mark(rest),
            Id::Help => self.help(rest),
            _ => Err(no_run()),
        }
    }

    /// Says the words, or one of them.
    fn help(&mut self, rest: &str) -> Done {
        if !rest.is_empty() {
            let (verb, _) = words::parse(rest).map_err(CliError::Usage)?;
            return self.say_words(words::all().filter(|word| word.verb == verb));
        }
        for (heading, words) in words::WORDS {
            self.voice.say(&format!("{heading}:"))?;
            self.say_words(words.iter())?;
        }
        let more = "A step's number alone reads it. The keys of the message list work as words too: } is next error.";
        Ok(self.voice.say(more)?)
    }

    fn say_words(&mut self, words: impl Iterator<Item = &'static words::Word>) -> Done {
        for word in words {
            self.voice.say(&told(word))?;
        }
        Ok(())
    }

    /// What is open.
    fn opened(&self) -> Result<&Open, CliError> {
        self.open.as_ref().ok_or_else(|| {
            CliError::Usage("no session is open. Say sessions, then open and a number".to_owned())
        })
    }

    fn opened_mut(&mut self) -> Result<&mut Open, CliError> {
        self.opened()?;
        self.open.as_mut().ok_or_else(no_run)
    }
}

/// A word as help says it.
fn told(word: &words::Word) -> String {
    let gap = if word.takes.is_empty() { "" } else { " " };
    format!("{}{gap}{}: {}", word.name(), word.takes, word.doc())
}

fn no_run() -> CliError {
    CliError::Usage("no run is going. fork takes an edit to the gates, run starts it".to_owned())
}

/// A number that was said, or the one that is meant without.
fn number(rest: &str, otherwise: Option<usize>, what: &str) -> Result<usize, CliError> {
    if rest.is_empty()
        && let Some(otherwise) = otherwise
    {
        return Ok(otherwise);
    }
    rest.parse().map_err(|_| {
        CliError::Usage(format!(
            "'{rest}' is no number of {what}. Say it in digits, such as 3"
        ))
    })
}
