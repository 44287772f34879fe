//! Runs one fork to its end, telling a person on standard error what happens, and stopping it cleanly on Ctrl-C.
//!
//! SIGTERM and SIGHUP are left to the system: every whole step is in the store, and the next opening marks the branches `interrupted`.

use std::io::{self, Write};

use tokio::sync::mpsc;

use super::error::CliError;
use super::show::speaker;
use super::text;
use crate::model::clean_line;
use crate::pipeline::{self, Control, Jobs, Outcome, Plan, Progress};
use crate::store::Store;

/// Forks and replays. `quiet` leaves standard error to errors.
pub fn run(store: &Store, plan: Plan, jobs: &Jobs, quiet: bool) -> Result<Outcome, CliError> {
    let threads = tokio::runtime::Runtime::new().map_err(CliError::Threads)?;
    threads.block_on(async {
        let control = Control::new();
        let (sender, mut events) = mpsc::unbounded_channel();
        let fork = pipeline::fork(store, plan, jobs, control.clone(), sender);
        let interrupt = interrupted();
        tokio::pin!(fork, interrupt);
        let mut stopping = false;
        loop {
            tokio::select! {
                biased;
                () = &mut interrupt => {
                    if stopping {
                        return Err(CliError::BrokenOff);
                    }
                    interrupt.set(interrupted());
                    stopping = true;
                    control.stop();
                    tell("stopping; what has run is kept. Ctrl-C again breaks off");
                }
                Some(event) = events.recv() => {
                    if !quiet {
                        report(&event);
                    }
                }
                outcome = &mut fork => {
                    while let Ok(event) = events.try_recv() {
                        if !quiet {
                            report(&event);
                        }
                    }
                    return Ok(outcome?);
                }
            }
        }
    })
}

/// Ends when Ctrl-C is pressed; never where the system cannot tell.
pub(super) async fn interrupted() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Ends when the process is asked to end, in whichever way. A child process must be ended first, so the system's own way is too quick.
pub(super) async fn ended() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let (Ok(mut term), Ok(mut hup)) = (
            signal(SignalKind::terminate()),
            signal(SignalKind::hangup()),
        ) else {
            return interrupted().await;
        };
        tokio::select! {
            () = interrupted() => {}
            _ = term.recv() => {}
            _ = hup.recv() => {}
        }
    }
    #[cfg(not(unix))]
    interrupted().await;
}

pub(super) fn report(event: &Progress) {
    match event {
        Progress::Forked {
            intervention,
            branches,
        } => {
            let names: Vec<_> = branches.iter().map(|branch| branch.id.name()).collect();
            tell(&format!(
                "{} at step {}: {}",
                intervention.id,
                intervention.step,
                names.join(", ")
            ));
        }
        Progress::Step { branch, head } => {
            let who = speaker(&head.agent, head.kind, head.to.as_deref());
            tell(&format!(
                "{:<4} {:>4} {who}  {}",
                branch.name(),
                head.index,
                head.head
            ));
        }
        Progress::Ended { branch } => {
            let reason = branch.reason.as_deref().unwrap_or_default();
            tell(&format!(
                "{:<4} {} {reason}",
                branch.id.name(),
                branch.run.name()
            ));
        }
        // Nobody is asked without a screen: a run is held, or was decided for beforehand.
        Progress::Delta { .. } | Progress::Asked { .. } => {}
    }
}

/// One line on standard error; that nobody reads it is no reason to stop.
fn tell(line: &str) {
    let _ = writeln!(io::stderr(), "{}", text::cut(&clean_line(line), 100));
}
