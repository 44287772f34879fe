//! Signals that end the program: each one the same way, with the terminal given back.

use std::io;

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// SIGTERM, SIGHUP and SIGINT.
#[cfg(unix)]
pub(super) struct Signals([Signal; 3]);

#[cfg(unix)]
impl Signals {
    pub(super) fn listen() -> io::Result<Self> {
        Ok(Self([
            signal(SignalKind::terminate())?,
            signal(SignalKind::hangup())?,
            signal(SignalKind::interrupt())?,
        ]))
    }

    /// Resolves at the first of them.
    pub(super) async fn received(&mut self) {
        let [terminate, hangup, interrupt] = &mut self.0;
        tokio::select! {
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
            _ = interrupt.recv() => {}
        }
    }
}

/// The console's Ctrl-C.
#[cfg(not(unix))]
pub(super) struct Signals(());

#[cfg(not(unix))]
impl Signals {
    pub(super) fn listen() -> io::Result<Self> {
        Ok(Self(()))
    }

    /// Resolves at the first one.
    pub(super) async fn received(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
