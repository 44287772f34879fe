//! The progress display of a loop, on standard error: on a terminal a table that stands, a row a trial; elsewhere, and where nothing shall
//! be drawn over, a line for whatever happens.

use std::io::{self, IsTerminal, Write};

use crossterm::cursor::MoveToPreviousLine;
use crossterm::queue;
use crossterm::style::Print;
use crossterm::terminal::{self, Clear, ClearType};

use crate::cli::args::Display;
use crate::cli::text;
use crate::model::{Branch, RunStatus, Trial, clean_line};
use crate::pipeline::{DebugEvent, Outcome, Progress};

/// The display.
pub struct Watch {
    rows: Vec<Row>,
    /// What was said of the whole.
    said: Vec<String>,
    form: Form,
    /// Lines of the table that stand on the terminal now.
    drawn: u16,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Nobody wants to know.
    Silent,
    Lines,
    Table,
}

/// One trial as it goes.
struct Row {
    trial: Trial,
    /// The hypothesis that is tested, by its id.
    hypothesis: Option<String>,
    /// What is done or was found, in a few words.
    now: String,
    runs: Vec<RunRow>,
    verdict: Option<String>,
}

struct RunRow {
    branch: Branch,
    /// The last step that was made.
    step: Option<usize>,
}

impl Watch {
    /// A display on standard error; a silent one if a program reads the answer and nobody sits there.
    #[must_use]
    pub fn stderr(json: bool, display: &Display) -> Self {
        let still = display.plain || display.reduced_motion;
        let form = match (io::stderr().is_terminal(), json) {
            (true, _) if !still => Form::Table,
            (_, true) => Form::Silent,
            (_, false) => Form::Lines,
        };
        Self {
            rows: Vec::new(),
            said: Vec::new(),
            form,
            drawn: 0,
        }
    }

    /// No display.
    #[must_use]
    pub const fn silent() -> Self {
        Self {
            rows: Vec::new(),
            said: Vec::new(),
            form: Form::Silent,
            drawn: 0,
        }
    }

    /// Takes in what happened and shows it.
    pub fn take(&mut self, event: DebugEvent) {
        let line = self.enter(event);
        match (self.form, line) {
            (Form::Lines, Some(line)) => tell(&line),
            (Form::Table, _) => self.draw(),
            _ => {}
        }
    }

    /// Says something about the whole.
    pub fn say(&mut self, sentence: &str) {
        if self.form == Form::Table {
            self.said.push(sentence.to_owned());
            self.draw();
        } else {
            tell(sentence);
        }
    }

    /// Leaves the terminal to the answer: the table goes, for the answer says it all.
    pub fn close(&mut self) {
        if self.form == Form::Table {
            self.rows.clear();
            self.said.clear();
            self.draw();
        }
    }

    /// Takes in what happened; the line that says so, if it is worth one.
    fn enter(&mut self, event: DebugEvent) -> Option<String> {
        match event {
            DebugEvent::Begun { trials, estimate } => {
                self.rows = trials.into_iter().map(Row::new).collect();
                if estimate.is_empty() {
                    return None;
                }
                let line = format!(
                    "the analysis takes about {}",
                    super::answer::taken(&estimate)
                );
                self.said.push(line.clone());
                Some(line)
            }
            DebugEvent::Analysing { trial } => {
                let row = self.row(trial)?;
                "analysing".clone_into(&mut row.now);
                None
            }
            DebugEvent::Filed(filed) => {
                let at = &filed.hypothesis;
                let row = self.row(at.trial.index)?;
                row.hypothesis = Some(filed.id.clone());
                row.runs.clear();
                row.verdict = None;
                row.now = match (&filed.proposal, &filed.note) {
                    (Some(edit), _) => {
                        format!(
                            "step {} {}, edit at {}",
                            at.step, at.agent, edit.target.step
                        )
                    }
                    (None, Some(why)) => format!("step {} {}: {why}", at.step, at.agent),
                    (None, None) => format!("step {} {}", at.step, at.agent),
                };
                Some(format!(
                    "trial {}: {} {}",
                    at.trial.index, filed.id, row.now
                ))
            }
            DebugEvent::Run(progress) => self.run(*progress),
            DebugEvent::Judged { trial, outcome } => {
                let row = self.row(trial)?;
                let verdict = verdict(&outcome);
                row.runs = outcome.branches.into_iter().map(RunRow::new).collect();
                row.verdict = Some(verdict.clone());
                Some(format!("trial {trial}: {verdict}"))
            }
            DebugEvent::Note { trial, text } => {
                let Some(trial) = trial else {
                    self.said.push(text.clone());
                    return Some(text);
                };
                let row = self.row(trial)?;
                row.verdict = Some(text.clone());
                Some(format!("trial {trial}: {text}"))
            }
        }
    }

    fn run(&mut self, progress: Progress) -> Option<String> {
        match progress {
            Progress::Forked {
                intervention,
                branches,
            } => {
                let row = self.rows.iter_mut().find(|row| {
                    row.hypothesis.is_some() && row.hypothesis == intervention.hypothesis
                })?;
                row.runs = branches.into_iter().map(RunRow::new).collect();
                None
            }
            Progress::Step { branch, head } => {
                let run = self.run_of(&branch)?;
                run.step = Some(head.index);
                run.branch.run = RunStatus::Running;
                None
            }
            Progress::Ended { branch } => {
                let run = self.run_of(&branch.id)?;
                run.branch = *branch;
                Some(format!("  {}", run.words(true)))
            }
            Progress::Delta { .. } | Progress::Asked { .. } => None,
        }
    }

    fn row(&mut self, trial: usize) -> Option<&mut Row> {
        self.rows.iter_mut().find(|row| row.trial.index == trial)
    }

    fn run_of(&mut self, branch: &crate::model::BranchId) -> Option<&mut RunRow> {
        self.rows
            .iter_mut()
            .flat_map(|row| &mut row.runs)
            .find(|run| run.branch.id == *branch)
    }

    /// Draws the table over the one that stands. That it cannot be drawn is no reason to stop.
    fn draw(&mut self) {
        let (columns, height) = terminal::size().unwrap_or((80, 24));
        let most = usize::from(height.saturating_sub(1)).max(1);
        let lines: Vec<String> = self
            .rows
            .iter()
            .map(Row::line)
            .chain(self.said.iter().cloned())
            .collect();
        // What does not fit is left out above, for what goes on last stands below.
        let shown = lines
            .get(lines.len().saturating_sub(most)..)
            .unwrap_or_default();
        let mut out = io::stderr().lock();
        let _ = (|| -> io::Result<()> {
            if self.drawn > 0 {
                queue!(out, MoveToPreviousLine(self.drawn))?;
            }
            for line in shown {
                let line = text::cut(&clean_line(line), usize::from(columns).saturating_sub(1));
                queue!(
                    out,
                    Clear(ClearType::CurrentLine),
                    Print(line),
                    Print("\r\n")
                )?;
            }
            queue!(out, Clear(ClearType::FromCursorDown))?;
            out.flush()
        })();
        self.drawn = u16::try_from(shown.len()).unwrap_or(u16::MAX);
    }
}

impl Row {
    fn new(trial: Trial) -> Self {
        Self {
            trial,
            hypothesis: None,
            now: "waiting".to_owned(),
            runs: Vec::new(),
            verdict: None,
        }
    }

    fn line(&self) -> String {
        let Trial { index, start, end } = self.trial;
        let runs = self.runs.iter().map(|run| run.words(false));
        let parts = std::iter::once(self.now.clone())
            .chain(runs)
            .chain(self.verdict.clone());
        let parts: Vec<String> = parts.collect();
        format!("trial {index}  {start}–{end}  {}", parts.join(" · "))
    }
}

impl RunRow {
    const fn new(branch: Branch) -> Self {
        Self { branch, step: None }
    }

    /// `long`: on a line of its own, with the reason.
    fn words(&self, long: bool) -> String {
        let Branch {
            id,
            run,
            success,
            reason,
            ..
        } = &self.branch;
        let state = match (run, self.step, success) {
            (RunStatus::Planned, ..) => "waiting".to_owned(),
            (RunStatus::Running, Some(step), _) => format!("step {step}"),
            (RunStatus::Done, _, Some(true)) => "✓ success".to_owned(),
            (RunStatus::Done, _, Some(false)) => "✗ no success".to_owned(),
            (run, ..) => run.name().to_owned(),
        };
        match reason {
            Some(reason) if long && *run != RunStatus::Done => {
                format!("{} {state}: {reason}", id.name())
            }
            _ => format!("{} {state}", id.name()),
        }
    }
}

/// A verdict with its reason.
fn verdict(outcome: &Outcome) -> String {
    super::answer::verdict(
        outcome.verdict,
        outcome.reason.as_deref(),
        outcome.diagnostic(),
        outcome.progress,
    )
}

/// One line on standard error; that nobody reads it is no reason to stop.
fn tell(line: &str) {
    let _ = writeln!(io::stderr(), "{}", text::cut(&clean_line(line), 120));
}
