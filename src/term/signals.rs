//! Signals that end the program: each one the same way, with the terminal given back.

use std::io;

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// A signal that ends the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// SIGTERM.
    Terminated,
    /// SIGHUP: the terminal is gone.
    HungUp,
    /// SIGINT, or the console's Ctrl-C.
    Interrupted,
}

/// SIGTERM, SIGHUP and SIGINT.
#[cfg(unix)]
pub(super) struct Signals([Signal; 3], Option<Ending>);

#[cfg(unix)]
impl Signals {
    pub(super) fn listen() -> io::Result<Self> {
        let all = [
            signal(SignalKind::terminate())?,
            signal(SignalKind::hangup())?,
            signal(SignalKind::interrupt())?,
        ];
        Ok(Self(all, None))
    }

    /// Resolves at the first of them, or the next.
    pub(super) async fn received(&mut self) -> Ending {
        let [terminate, hangup, interrupt] = &mut self.0;
        let ending = tokio::select! {
            _ = terminate.recv() => Ending::Terminated,
            _ = hangup.recv() => Ending::HungUp,
            _ = interrupt.recv() => Ending::Interrupted,
        };
        self.1 = Some(ending);
        ending
    }

    /// What was received was for somebody else.
    pub(super) const fn forget(&mut self) {
        self.1 = None;
    }

    /// The signal that was received, if any.
    pub(super) const fn ending(&self) -> Option<Ending> {
        self.1
    }
}

/// The console's Ctrl-C.
#[cfg(not(unix))]
pub(super) struct Signals(Option<Ending>);

#[cfg(not(unix))]
impl Signals {
    pub(super) fn listen() -> io::Result<Self> {
        Ok(Self(None))
    }

    /// Resolves at the first one, or the next.
    pub(super) async fn received(&mut self) -> Ending {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        self.0 = Some(Ending::Interrupted);
        Ending::Interrupted
    }

    /// What was received was for somebody else.
    pub(super) const fn forget(&mut self) {
        self.0 = None;
    }

    /// The signal that was received, if any.
    pub(super) const fn ending(&self) -> Option<Ending> {
        self.0
    }
}
