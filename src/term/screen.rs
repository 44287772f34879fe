//! The loop: signals, input, answers, frames. Drains what is ready, updates, draws once if anything changed.

use std::io::{self, BufWriter, Stdout, Write, stdout};
use std::time::Duration;

use crossterm::terminal::{BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate};
use crossterm::{execute, queue};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::{Instant, sleep_until, timeout};

use super::guard::Guard;
use super::input::{Input, Keyboard};
use super::jobs::Worker;
use super::seats::Seats;
use super::signals::{Ending, Signals};
use super::{Clipboard, First, Options, TermError, external};
use crate::app::pointer::Target;
use crate::app::{App, Context, Exit, Job, Msg, update};
use crate::pipeline::Progress;
use crate::ui::theme::Theme;
use crate::ui::{RenderCache, draw};

/// Between frames, at home and over SSH.
const FRAME: Duration = Duration::from_millis(33);
const SSH_FRAME: Duration = Duration::from_millis(66);
/// Between frames that show nothing but what runs by itself, where motion is reduced.
const CALM_FRAME: Duration = Duration::from_secs(1);
/// Between two looks at what is being typed, to keep it.
const KEEP: Duration = Duration::from_secs(1);
/// Messages taken in before a frame is due: a flood of them must not starve the eye.
const DRAIN: usize = 1_000;
/// How long runs may take to write their endings when the operator quits.
const STOPPING: Duration = Duration::from_secs(5);

type Screen = Terminal<CrosstermBackend<BufWriter<Stdout>>>;

/// Shows the screen until it is left; tells the signal that ended it, if one did.
pub(super) async fn show(options: Options) -> Result<Option<Ending>, TermError> {
    let mut signals = Signals::listen()?;
    let guard = Guard::take()?;
    let (answers, inbox) = unbounded_channel();
    let seats = Seats::new(&options.store, answers.clone());
    let mut worker = Worker::new(options.store, options.model, answers);
    let name = options.team.as_ref().map(|team| team.name.clone());
    if let Some(team) = options.team {
        worker.begin(team, options.operator.clone());
    }
    let (mut app, jobs) = match options.open {
        First::Sessions => App::start(options.operator, None, name),
        First::One(what) => App::start(options.operator, Some(what), name),
        First::Follow(branch) => App::follow(options.operator, branch),
        First::Growing(path) => {
            let (mut app, mut jobs) = App::start(options.operator, None, name);
            jobs.push(app.growing(path));
            (app, jobs)
        }
        First::Lessons(offers, start) => App::lessons(options.operator, offers, start),
    };
    app.hide = options.hide;
    app.keymap = options.keymap;
    app.mouse = options.mouse;
    if !options.faults.is_empty() {
        app.fail(options.faults.join(". "));
    }
    let terminal = terminal()?;
    let mut shown = Shown {
        app,
        worker,
        seats,
        inbox,
        terminal,
        cache: RenderCache::new(options.charset),
        theme: options.theme,
        clipboard: options.clipboard,
        keyboard: Keyboard::listen(),
        guard: Some(guard),
        handed: Vec::new(),
        dirty: true,
        anew: false,
        calm: options.calm,
        moved: false,
        keep_due: None,
    };
    shown.start(jobs);
    let ended = shown.run(&mut signals).await;
    shown.take(Msg::Pause);
    let Shown { worker, guard, .. } = shown;
    // The terminal comes back first, whatever the runs still have to write.
    drop(guard);
    match ended {
        Ok(Exit::Quit) => {
            let _ = timeout(STOPPING, worker.stop()).await;
            Ok(None)
        }
        Ok(Exit::Leave) => {
            let _ = timeout(STOPPING, worker.drop_all()).await;
            Ok(signals.ending())
        }
        Err(error) => {
            let _ = timeout(STOPPING, worker.drop_all()).await;
            Err(error.into())
        }
    }
}

fn terminal() -> io::Result<Screen> {
    let out = BufWriter::with_capacity(1 << 16, stdout());
    Terminal::new(CrosstermBackend::new(out))
}

/// The one owner of the state.
#[allow(
    clippy::struct_excessive_bools,
    reason = "each says something of its own"
)]
struct Shown {
    app: App,
    worker: Worker,
    /// Who sits at the sessions, and what is told them.
    seats: Seats,
    inbox: UnboundedReceiver<Msg>,
    terminal: Screen,
    cache: RenderCache,
    theme: Theme,
    clipboard: Clipboard,
    keyboard: Keyboard,
    guard: Option<Guard>,
    /// Jobs that need the terminal itself.
    handed: Vec<Job>,
    dirty: bool,
    /// The terminal may have lost what was drawn, even if it is as large again as it was then.
    anew: bool,
    /// Nothing moves by itself.
    calm: bool,
    /// Something ran on that is not drawn yet, for calm.
    moved: bool,
    /// When what is being typed is kept; none while nobody types.
    keep_due: Option<Instant>,
}

/// When the frame after one drawn now is due. After a pause two may follow at once, so that a key and what the store answers to it are
/// both seen without delay; over time it stays at one a `frame`.
fn next_due(due: Instant, now: Instant, frame: Duration) -> Instant {
    due.max(now.checked_sub(frame).unwrap_or(now)) + frame
}

/// Whether a message only says that something goes on by itself. A step of a run brings its text and its
/// milestones after it.
fn moves(msg: &Msg, app: &App) -> bool {
    match msg {
        Msg::Importing { .. } | Msg::Progress(_, Progress::Step { .. }) => true,
        Msg::Milestones(..) | Msg::Step(..) | Msg::Heads(..) => app.running(),
        _ => false,
    }
}

impl Shown {
    async fn run(&mut self, signals: &mut Signals) -> io::Result<Exit> {
        let frame = if std::env::var_os("SSH_CONNECTION").is_some() {
            SSH_FRAME
        } else {
            FRAME
        };
        let mut due = Instant::now();
        let mut calm_due = due;
        loop {
            tokio::select! {
                biased;
                _ = signals.received() => return Ok(Exit::Leave),
                input = self.keyboard.next() => match input {
                    Some(input) => self.input(input?),
                    // The terminal is gone.
                    None => return Ok(Exit::Leave),
                },
                Some(msg) = self.inbox.recv() => self.take(msg),
                () = sleep_until(due), if self.dirty => {}
                () = sleep_until(calm_due), if self.moved => self.dirty = true,
                () = sleep_until(self.keep_due.unwrap_or(due)), if self.keep_due.is_some() => {
                    self.keep_due = None;
                    let jobs = update(&mut self.app, Msg::Pause);
                    self.start(jobs);
                }
            }
            self.drain()?;
            if let Some(exit) = self.app.exit {
                return Ok(exit);
            }
            for job in std::mem::take(&mut self.handed) {
                if self.with_terminal(job, signals).await? {
                    return Ok(Exit::Leave);
                }
            }
            if self.dirty && Instant::now() >= due {
                self.frame()?;
                let now = Instant::now();
                due = next_due(due, now, frame);
                calm_due = now + CALM_FRAME;
            }
        }
    }

    /// Takes in what is ready, input first.
    fn drain(&mut self) -> io::Result<()> {
        for _ in 0..DRAIN {
            if let Some(input) = self.keyboard.ready() {
                self.input(input?);
            } else if let Ok(msg) = self.inbox.try_recv() {
                self.take(msg);
            } else {
                break;
            }
        }
        Ok(())
    }

    fn input(&mut self, input: Input) {
        match input {
            Input::Key(key) => self.take(Msg::Key(key)),
            Input::Paste(text) => self.take(Msg::Paste(text)),
            // What was hit is what was seen there.
            Input::Click(x, y) => {
                if let Some(target) = self.cache.spots.at(x, y) {
                    self.take(Msg::Click(target));
                }
            }
            Input::Wheel(x, y, down) => {
                if let Some(pane) = self.cache.spots.at(x, y).and_then(Target::pane) {
                    self.take(Msg::Wheel(pane, down));
                }
            }
            Input::Redraw => (self.dirty, self.anew) = (true, true),
            Input::None => {}
        }
    }

    fn take(&mut self, msg: Msg) {
        // A step that is being written would run across the screen: it is shown when it is whole.
        if self.calm && matches!(msg, Msg::Progress(_, Progress::Delta { .. })) {
            return;
        }
        let moves = self.calm && moves(&msg, &self.app) && !self.app.keys_wait();
        // Whoever only goes on waiting has nothing new to show.
        let look = matches!(msg, Msg::LookAgain(..));
        let typed = matches!(msg, Msg::Key(_) | Msg::Paste(_) | Msg::Edited(_));
        let typed = typed || self.app.keys_wait();
        let jobs = update(&mut self.app, msg);
        if typed && self.app.place() == Context::Typing {
            self.keep_due.get_or_insert(Instant::now() + KEEP);
        }
        let waits = look && matches!(jobs.as_slice(), [Job::LookAgain(..)]);
        self.dirty |= !waits && !moves;
        self.moved |= moves;
        self.start(jobs);
        self.seats.say(self.app.said());
    }

    fn start(&mut self, jobs: Vec<Job>) {
        for job in jobs {
            match job {
                Job::Redraw => (self.dirty, self.anew) = (true, true),
                Job::External(_) | Job::Copy(_) => self.handed.push(job),
                job => self.worker.start(job),
            }
        }
    }

    /// A frame, written between the marks that let the terminal show it at once.
    fn frame(&mut self) -> io::Result<()> {
        if let Some(guard) = &mut self.guard {
            guard.mouse(self.app.mouse)?;
        }
        queue!(self.terminal.backend_mut(), BeginSynchronizedUpdate)?;
        if std::mem::take(&mut self.anew) {
            // The backend's own way to clear asks where the cursor is, which the keyboard's reader would hear.
            execute!(self.terminal.backend_mut(), Clear(ClearType::All))?;
            self.terminal = terminal()?;
        }
        let (app, theme, cache) = (&self.app, &self.theme, &mut self.cache);
        self.terminal.draw(|frame| draw(app, theme, cache, frame))?;
        execute!(self.terminal.backend_mut(), EndSynchronizedUpdate)?;
        // Keys that waited for this frame change the next one.
        (self.dirty, self.moved) = (self.app.keys_wait(), false);
        let jobs = update(&mut self.app, Msg::Drawn(Box::new(self.cache.extents)));
        self.start(jobs);
        Ok(())
    }

    /// The text as an editor left it; none if a signal ended both, and then what the editor had saved is taken in.
    async fn edited(
        &mut self,
        text: &str,
        signals: &mut Signals,
    ) -> Option<Result<String, String>> {
        let mut editor = match external::Editor::start(text) {
            Ok(editor) => editor,
            Err(fault) => return Some(Err(fault)),
        };
        loop {
            tokio::select! {
                biased;
                ending = signals.received() => match ending {
                    // Ctrl-C goes to all in front of a terminal, and editors have a use of their own for it.
                    Ending::Interrupted => signals.forget(),
                    Ending::Terminated | Ending::HungUp => {
                        if let Ok(saved) = editor.saved() {
                            self.take(Msg::Edited(Ok(saved)));
                        }
                        return None;
                    }
                },
                edited = editor.left() => return Some(edited),
            }
        }
    }

    /// Does a job that needs the terminal; tells whether a signal came meanwhile.
    async fn with_terminal(&mut self, job: Job, signals: &mut Signals) -> io::Result<bool> {
        match job {
            Job::Copy(text) => {
                let backend = self.terminal.backend_mut();
                let write = |sequence: &str| {
                    backend.write_all(sequence.as_bytes())?;
                    Write::flush(backend)
                };
                let told = self.clipboard.copy(&text, write).await;
                self.take(told.map_or_else(Msg::Failed, Msg::Copied));
            }
            Job::External(text) => {
                // Who listens on would take the editor's keys; the guard would leave it a raw terminal.
                self.keyboard.deafen().await;
                drop(self.guard.take());
                let Some(edited) = self.edited(&text, signals).await else {
                    return Ok(true);
                };
                self.guard = Some(Guard::take()?);
                self.keyboard = Keyboard::listen();
                // The editor drew over everything.
                self.anew = true;
                self.take(Msg::Edited(edited));
            }
            _ => {}
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_frames_follow_at_once_after_a_pause_and_a_flood_keeps_the_pace() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        // Due long ago, drawn at 500: the next may come at once, the one after that a frame later.
        let second = next_due(at(0), at(500), FRAME);
        assert_eq!(second, at(500));
        let third = next_due(second, at(501), FRAME);
        assert_eq!(third, at(533));
        // Drawn whenever it is due: ten frames take ten times a frame's time, a late one is not made up for twice.
        let mut due = third;
        for n in 1..=10 {
            due = next_due(due, due, SSH_FRAME);
            assert_eq!(due, third + SSH_FRAME * n);
        }
    }
}
