//! A team that runs now, line by line: what waits is said with numbers, and a word orders what a key of the live screen does.
//!
//! The run stands before its first message. A line that is for when it stands waits until it does, so that a script may say everything
//! at once; the end of the input lets it run to its end, or stops it where only a person could decide. Afterwards its session is open.

use std::collections::VecDeque;

use tokio::sync::mpsc::{self, UnboundedSender};

use super::forking::{END, unstuffed};
use super::words::{self, Verb, Word, own};
use super::{Done, PAGE, Plain, number, tell};
use crate::app::command::Id;
use crate::cli::error::{CliError, Exit};
use crate::cli::replay;
use crate::cli::text::count;
use crate::model::{RunStatus, StepHead, clean_line};
use crate::pipeline::{
    self, Goal, Lead, Lived, NewEffects, Order, Orders, Progress, Standing, Told, Until,
};
use crate::runtime::{Level, LogLine, QueueEdit, Queued};
use crate::term::Team;

/// Lines of the log that are kept; the file has more.
const LINES: usize = 2_000;

/// The words for a team that runs.
#[rustfmt::skip]
pub const WORDS: &[Word] = &[
    own(Verb::Where, "", &["queue", "where"], "Says where the run stands: what waits, each message with its number"),
    own(Verb::Screen(Id::Step), "", &["step"], "Commits the next message and goes to the boundary after it"),
    own(Verb::Screen(Id::Steps), "NUMBER", &["steps"], "Makes as many steps, then pauses"),
    own(Verb::Screen(Id::Until), "agent:NAME kind:KIND WORDS", &["until"], "Runs until such a message is about to be committed"),
    own(Verb::GoOn, "", &["run", "go on", "resume"], "Lets the run go on by itself"),
    own(Verb::Screen(Id::Pause), "", &["pause"], "Pauses it before its next message"),
    own(Verb::Screen(Id::Edit), "[NUMBER]", &["edit"], "Rewrites a message that waits: the lines that follow are its text, until a line that is a single point"),
    own(Verb::Screen(Id::Drop), "[NUMBER]", &["drop"], "Takes a message out of the queue"),
    own(Verb::Screen(Id::Insert), "[NUMBER] FROM > TO", &["insert"], "Puts a message before the one of that number; its text follows as for edit"),
    own(Verb::Screen(Id::Send), "TO", &["send"], "Sends a message to an agent or a topic; its text follows as for edit"),
    own(Verb::Screen(Id::Allow), "", &["allow"], "Lets the call happen that is held"),
    own(Verb::Screen(Id::Refuse), "", &["refuse"], "Refuses it: the tool fails and the run goes on"),
    own(Verb::Screen(Id::ByHand), "", &["answer"], "Answers what the team asks, or the held call in its tool's place; the answer follows as for edit"),
    own(Verb::Screen(Id::FromRecord), "", &["from record", "record"], "Answers the held call with what the same call answered before"),
    own(Verb::Screen(Id::State), "", &["state"], "Says the agents' state before the message that waits"),
    own(Verb::Screen(Id::LogLevel), "[warning or error]", &["log"], "Says the last lines of the log, or only those as grave as that"),
    own(Verb::Screen(Id::Stop), "", &["stop", "quit", "exit"], "Ends the run here; the steps made stay"),
    own(Verb::Screen(Id::Help), "[WORD]", &["help"], "Says these words"),
];

/// What the lines that follow are for.
enum Writing {
    Queue(QueueEdit),
    Tool,
    Agent,
}

/// A run as it is led.
struct Led {
    orders: UnboundedSender<Order>,
    agents: Vec<String>,
    /// Where it stands; none: it moves.
    stands: Option<Standing>,
    /// An order is on its way.
    busy: bool,
    /// It changes what waits: what waits then is told before that it was refused, and after that it was done.
    changing: bool,
    writing: Option<(Writing, Vec<String>)>,
    log: VecDeque<LogLine>,
    /// The number of the next step.
    next: usize,
    stopping: bool,
}

impl Led {
    /// Gives an order. Until it is answered nothing more is ordered.
    fn order(&mut self, order: Order) {
        self.busy = true;
        self.changing = matches!(order, Order::Edit(_));
        let _ = self.orders.send(order);
    }

    /// Whether it waits for a word.
    const fn waits(&self) -> bool {
        self.stands.is_some() && !self.busy
    }

    /// Fails where it does not stand at a boundary, and says what it waits for.
    fn at_boundary(&self) -> Done {
        let why = match &self.stands {
            Some(Standing::Boundary(_)) => return Ok(()),
            Some(Standing::Held { .. }) => {
                "a call waits for your decision first: allow, refuse, answer or from record"
            }
            Some(Standing::Asked { .. }) => "the team waits for your answer first: answer",
            None => "the run moves: pause holds it before its next message",
        };
        Err(CliError::Usage(why.to_owned()))
    }

    fn stop(&mut self) {
        self.stopping = true;
        self.order(Order::Stop);
    }

    /// What waits, where it stands at a boundary.
    fn queue(&self) -> &[Queued] {
        match &self.stands {
            Some(Standing::Boundary(queue)) => queue,
            _ => &[],
        }
    }

    /// The message of a number that was said, or the next one.
    fn waiting(&self, rest: &str) -> Result<&Queued, CliError> {
        let at = number(rest, Some(1), "a message that waits")?;
        let one = at.checked_sub(1).and_then(|at| self.queue().get(at));
        one.ok_or_else(|| {
            CliError::Usage(format!(
                "{} there is no message {at}. Say queue to hear them",
                match self.queue().len() {
                    0 => "nothing waits, so".to_owned(),
                    some => format!("{} waiting:", count(some, "message")),
                }
            ))
        })
    }
}

impl Plain {
    /// Leads a team to its end and tells what it came to.
    pub(super) async fn lead(&mut self, team: &Team) -> Result<Lived, CliError> {
        self.voice.say(&format!(
            "{} is being started. help says the words.",
            clean_line(&team.name)
        ))?;
        let store = self.store.clone();
        let (give, orders) = mpsc::unbounded_channel();
        let (sender, mut events) = mpsc::unbounded_channel();
        let how = Lead {
            goal: Goal::Pause,
            new_effects: NewEffects::Ask,
            operator: self.operator.clone(),
        };
        let orders = Orders::new(orders);
        let run = pipeline::live(&store, &team.adapter, &team.start, how, orders, &sender);
        let ended = replay::ended();
        tokio::pin!(run, ended);
        let mut led = Led {
            orders: give,
            agents: Vec::new(),
            stands: None,
            busy: false,
            changing: false,
            writing: None,
            log: VecDeque::new(),
            next: 0,
            stopping: false,
        };
        let mut later = None;
        loop {
            if led.waits()
                && let Some(line) = later.take()
            {
                self.led(&mut led, line)?;
                continue;
            }
            if led.waits() && self.lines.ended && later.is_none() && !led.stopping {
                self.left_alone(&mut led)?;
            }
            tokio::select! {
                biased;
                () = &mut ended => {
                    if led.stopping {
                        return Err(CliError::BrokenOff);
                    }
                    ended.set(replay::ended());
                    led.stop();
                    self.voice.say("Stopping; what has run is kept.")?;
                }
                Some(told) = events.recv() => self.hear(&mut led, told)?,
                lived = &mut run => {
                    while let Ok(told) = events.try_recv() {
                        self.hear(&mut led, told)?;
                    }
                    if let Some(line) = later {
                        self.lines.put_back(line);
                    }
                    return Ok(lived?);
                }
                line = self.lines.next(), if later.is_none() && !self.lines.ended => match line {
                    None => {}
                    Some(line) => {
                        let line = line?;
                        if led.waits() || at_once(&line) {
                            self.led(&mut led, line)?;
                        } else {
                            later = Some(line);
                        }
                    }
                },
            }
        }
    }

    /// Nobody is left to say a word.
    fn left_alone(&mut self, led: &mut Led) -> Done {
        if led.writing.take().is_some() {
            let why = "the text was not ended by a line with a single point, so it is not sent";
            self.settle(Err(CliError::Usage(why.to_owned())))?;
        }
        if matches!(led.stands, Some(Standing::Boundary(_))) {
            led.order(Order::Go(Goal::End));
            return Ok(());
        }
        led.stop();
        let told = "Nobody is left to decide, so the run is stopped; what has run is kept.";
        Ok(self.voice.say(told)?)
    }

    /// Obeys a line, or takes it into what is being written.
    fn led(&mut self, led: &mut Led, line: String) -> Done {
        if let Some((_, lines)) = &mut led.writing {
            if line != END {
                lines.push(line);
                return Ok(());
            }
            return self.written(led);
        }
        if line.trim().is_empty() {
            return Ok(());
        }
        let done = match words::find(WORDS.iter(), &line) {
            Ok((verb, rest)) => self.order(led, verb, rest),
            Err(told) => Err(CliError::Usage(told)),
        };
        self.settle(done)
    }

    fn order(&mut self, led: &mut Led, verb: Verb, rest: &str) -> Done {
        let Verb::Screen(id) = verb else {
            if verb == Verb::Where {
                return self.say_standing(led);
            }
            led.at_boundary()?;
            led.order(Order::Go(Goal::End));
            return Ok(());
        };
        if matches!(
            id,
            Id::Step
                | Id::Steps
                | Id::Until
                | Id::Edit
                | Id::Drop
                | Id::Insert
                | Id::Send
                | Id::State
        ) {
            led.at_boundary()?;
        }
        match id {
            Id::Step => led.order(Order::Go(Goal::Steps(1))),
            Id::Steps => match number(rest, None, "steps")? {
                0 => return Err(CliError::Usage("say how many steps, from 1".to_owned())),
                steps => led.order(Order::Go(Goal::Steps(steps))),
            },
            Id::Until => {
                let until = Until::parse(rest, &led.agents).map_err(CliError::Usage)?;
                led.order(Order::Go(Goal::Until(until)));
            }
            Id::Pause if matches!(led.stands, Some(Standing::Boundary(_))) => {
                self.voice.say("It stands already.")?;
            }
            Id::Pause => {
                let _ = led.orders.send(Order::Go(Goal::Pause));
                self.voice.say("It pauses before its next message.")?;
            }
            Id::Drop => {
                let id = led.waiting(rest)?.id.clone();
                led.order(Order::Edit(QueueEdit::Drop { id }));
            }
            Id::Edit | Id::Insert | Id::Send | Id::ByHand => return self.write(led, id, rest),
            Id::Allow => led.order(Order::Allow),
            Id::Refuse => led.order(Order::Refuse),
            Id::FromRecord => match &led.stands {
                Some(Standing::Held {
                    recorded: Some(text),
                    ..
                }) => {
                    let text = text.clone();
                    led.order(Order::Answer(text));
                }
                _ => {
                    return Err(CliError::Usage(
                        "no call waits whose answer is on record".to_owned(),
                    ));
                }
            },
            Id::State => led.order(Order::Look),
            Id::LogLevel => return self.say_log(led, rest),
            Id::Stop => led.stop(),
            _ => return self.help_led(rest),
        }
        Ok(())
    }

    /// Begins to take the lines of a text.
    fn write(&mut self, led: &mut Led, id: Id, rest: &str) -> Done {
        let writing = match (id, &led.stands) {
            (Id::ByHand, Some(Standing::Held { .. })) => Writing::Tool,
            (Id::ByHand, Some(Standing::Asked { .. })) => Writing::Agent,
            (Id::ByHand, _) => {
                return Err(CliError::Usage(
                    "nobody asks for an answer just now".to_owned(),
                ));
            }
            (Id::Edit, _) => {
                let one = led.waiting(rest)?;
                self.voice.say(&format!("It says:\n{}", one.step.text))?;
                Writing::Queue(QueueEdit::Replace {
                    id: one.id.clone(),
                    text: String::new(),
                })
            }
            (Id::Send, _) if rest.is_empty() => {
                let agents = led.agents.join(", ");
                return Err(CliError::Usage(format!(
                    "say to whom, such as send {agents}"
                )));
            }
            (Id::Send, _) => Writing::Queue(QueueEdit::Send {
                to: rest.to_owned(),
                text: String::new(),
            }),
            (_, _) => Writing::Queue(inserted(rest)?),
        };
        led.writing = Some((writing, Vec::new()));
        let told = "Write the text. A line that is a single point ends it; nothing before it sends nothing.";
        Ok(self.voice.say(told)?)
    }

    /// Sends what was written.
    fn written(&mut self, led: &mut Led) -> Done {
        let Some((writing, lines)) = led.writing.take() else {
            return Ok(());
        };
        let text = unstuffed(&lines);
        if text.trim().is_empty() {
            return Ok(self.voice.say("Nothing was written, so nothing is sent.")?);
        }
        led.order(match writing {
            Writing::Tool => Order::Answer(text),
            Writing::Agent => Order::Reply(text),
            Writing::Queue(change) => Order::Edit(change.saying(text)),
        });
        Ok(())
    }

    /// Says what happened.
    fn hear(&mut self, led: &mut Led, told: Told) -> Done {
        match told {
            Told::Team(session) => {
                led.agents = session.agents.iter().map(|it| it.name.clone()).collect();
                let agents = led.agents.join(", ");
                self.voice
                    .say(&format!("The team is there: {}.", clean_line(&agents)))?;
            }
            Told::Began(branch) => {
                let told = format!("Its run is kept as {}.", branch.id.session());
                self.voice.say(&told)?;
            }
            Told::Progress(progress) => {
                if let Progress::Step { head, .. } = *progress {
                    led.next = head.index + 1;
                    self.voice.say(&tell::head(&head))?;
                }
            }
            Told::Moves => (led.stands, led.busy) = (None, false),
            Told::Stands(standing) => {
                (led.stands, led.busy) = (Some(standing), led.changing);
                if !led.changing {
                    self.say_standing(led)?;
                }
            }
            Told::State(_, state) => {
                self.say_state(&state)?;
                led.busy = false;
            }
            Told::Log(line) => {
                if line.level == Level::Error {
                    self.voice.say(&log_line(&line))?;
                }
                led.log.push_back(line);
                if led.log.len() > LINES {
                    led.log.pop_front();
                }
            }
            Told::Did(what) => {
                led.changing = false;
                self.voice.say(&format!("{what}."))?;
            }
            Told::Refused(why) => {
                (led.busy, led.changing) = (false, false);
                self.settle(Err(CliError::Usage(why)))?;
            }
            Told::Usage(_) => {}
        }
        Ok(())
    }
}

impl Plain {
    /// Says where the run stands, and what can be said of it there.
    fn say_standing(&mut self, led: &Led) -> Done {
        let told = match &led.stands {
            None => "The run moves.".to_owned(),
            Some(Standing::Boundary(queue)) if queue.is_empty() => {
                "Nothing waits. send and insert put something in, run lets the team end.".to_owned()
            }
            Some(Standing::Boundary(queue)) => {
                let waits = format!(
                    "Before step {}. {}:",
                    led.next,
                    count(queue.len(), "message")
                );
                let lines = queue.iter().enumerate().map(|(at, one)| {
                    let head = StepHead {
                        index: at + 1,
                        ..StepHead::of(&one.step)
                    };
                    tell::head(&head)
                });
                let lines: Vec<String> = std::iter::once(waits).chain(lines).collect();
                lines.join("\n")
            }
            Some(Standing::Held {
                effect,
                arguments,
                recorded,
            }) => format!(
                "{} calls {} ({}), as {}. With {}. On record of the same call: {}. Say allow, refuse, answer or from record.",
                effect.agent,
                effect.tool,
                effect.class.name().replace('_', " "),
                effect.operation_key,
                arguments.as_deref().unwrap_or("no arguments"),
                recorded.as_deref().unwrap_or("nothing")
            ),
            Some(Standing::Asked { agent, prompt }) => {
                format!("{agent} asks: {prompt}\nSay answer, then your words.")
            }
        };
        Ok(self.voice.say(&told)?)
    }

    fn help_led(&mut self, rest: &str) -> Done {
        if rest.is_empty() {
            return self.say_words(WORDS.iter());
        }
        let (verb, _) = words::find(WORDS.iter(), rest).map_err(CliError::Usage)?;
        self.say_words(WORDS.iter().filter(|word| word.verb == verb))
    }

    /// Says the end of the log.
    fn say_log(&mut self, led: &Led, rest: &str) -> Done {
        let least = match rest {
            "" => Level::Info,
            word => Level::ALL
                .into_iter()
                .find(|level| level.name() == word)
                .ok_or_else(|| {
                    let names = Level::ALL.map(Level::name).join(", ");
                    CliError::Usage(format!(
                        "'{word}' is no level of the log. There are {names}"
                    ))
                })?,
        };
        let lines = led.log.iter().filter(|line| line.level >= least);
        let lines: Vec<String> = lines.rev().take(PAGE).map(log_line).collect();
        if lines.is_empty() {
            return Ok(self.voice.say("The log has no such line.")?);
        }
        for line in lines.iter().rev() {
            self.voice.say(line)?;
        }
        Ok(())
    }

    /// Says what the run came to, and goes on with its session.
    pub(super) fn lived(&mut self, lived: &Lived) -> Done {
        let Lived { branch, notes } = lived;
        if branch.run != RunStatus::Done {
            self.fate = Exit::Held;
        }
        self.voice.say(&tell::branch(branch))?;
        for note in notes {
            self.voice.say(note)?;
        }
        self.voice
            .say("Its session is open: edit a step and fork it, or say help.")?;
        self.open(branch.id.session())
    }
}

/// Whether a line is for a run that moves.
fn at_once(line: &str) -> bool {
    let verb = words::find(WORDS.iter(), line).map(|(verb, _)| verb);
    let now = [Id::Pause, Id::Stop, Id::LogLevel, Id::Help].map(Verb::Screen);
    verb.is_ok_and(|verb| now.contains(&verb))
}

fn log_line(line: &LogLine) -> String {
    format!("Log, {}: {}", line.level.name(), clean_line(&line.text))
}

/// `2 Solver > Checker`: where a message is put, who says it and to whom.
fn inserted(rest: &str) -> Result<QueueEdit, CliError> {
    let (first, after) = rest.split_once(' ').unwrap_or((rest, ""));
    let (at, rest) = match first.parse::<usize>() {
        Ok(at) => (at.saturating_sub(1), after),
        Err(_) => (0, rest),
    };
    let Some((from, to)) = rest.split_once('>') else {
        return Err(CliError::Usage(
            "say who speaks and to whom, such as insert 1 Solver > Checker".to_owned(),
        ));
    };
    Ok(QueueEdit::Insert {
        from: from.trim().to_owned(),
        to: to.trim().to_owned(),
        text: String::new(),
        at,
    })
}
