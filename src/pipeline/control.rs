//! The hand on the runs of a fork. A run asks before every step; not being answered is being paused.

use std::sync::Arc;

use tokio::sync::watch;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Run,
    Pause,
    Stop,
}

#[derive(Clone, Copy, Debug)]
struct State {
    mode: Mode,
    /// Single steps granted so far; a paused run that has used fewer may make one more.
    granted: u64,
    /// How many of them a later pause has taken back.
    void: u64,
}

/// The hand on the runs of one fork: run, pause, step, stop. Clones share it.
#[derive(Clone, Debug)]
pub struct Control(Arc<watch::Sender<State>>);

impl Default for Control {
    fn default() -> Self {
        Self::new()
    }
}

impl Control {
    /// A hand that lets everything run.
    #[must_use]
    pub fn new() -> Self {
        Self(Arc::new(watch::Sender::new(State {
            mode: Mode::Run,
            granted: 0,
            void: 0,
        })))
    }

    /// Pauses before the next step of every run; steps granted but not made yet are taken back.
    pub fn pause(&self) {
        self.change(|state| {
            state.mode = Mode::Pause;
            state.void = state.granted;
        });
    }

    /// Goes on.
    pub fn resume(&self) {
        self.change(|state| state.mode = Mode::Run);
    }

    /// Lets every run make one more step and pauses them there.
    pub fn step(&self) {
        self.change(|state| {
            state.mode = Mode::Pause;
            state.granted += 1;
        });
    }

    /// Stops every run for good.
    pub fn stop(&self) {
        self.0.send_modify(|state| state.mode = Mode::Stop);
    }

    /// Whether the runs wait between steps.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.0.borrow().mode == Mode::Pause
    }

    /// A stop is final: nothing takes it back.
    fn change(&self, with: impl FnOnce(&mut State)) {
        self.0.send_if_modified(|state| {
            let open = state.mode != Mode::Stop;
            if open {
                with(state);
            }
            open
        });
    }

    /// One run's side of the hand.
    pub(super) fn grip(&self) -> Grip {
        let states = self.0.subscribe();
        let used = states.borrow().granted;
        Grip {
            states,
            used,
            _hand: self.clone(),
        }
    }
}

/// One run's side of a [`Control`].
pub(super) struct Grip {
    states: watch::Receiver<State>,
    used: u64,
    /// Keeps the sender alive, so that waiting never ends by its loss.
    _hand: Control,
}

impl Grip {
    /// Waits until the next step may be made. False: stop.
    pub(super) async fn permit(&mut self) -> bool {
        loop {
            let state = *self.states.borrow_and_update();
            self.used = self.used.max(state.void);
            match state.mode {
                Mode::Stop => return false,
                Mode::Run => {
                    self.used = state.granted;
                    return true;
                }
                Mode::Pause if self.used < state.granted => {
                    self.used += 1;
                    return true;
                }
                Mode::Pause => {
                    if self.states.changed().await.is_err() {
                        return false;
                    }
                }
            }
        }
    }

    /// Whether the run was not stopped before it began.
    pub(super) fn permit_now(&self) -> bool {
        self.states.borrow().mode != Mode::Stop
    }

    /// Resolves when the runs are stopped, however long that takes.
    pub(super) async fn stopped(&self) {
        let mut states = self.states.clone();
        if states
            .wait_for(|state| state.mode == Mode::Stop)
            .await
            .is_err()
        {
            std::future::pending::<()>().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt as _;

    #[test]
    fn a_paused_run_makes_exactly_the_granted_steps() {
        let hand = Control::new();
        let mut grip = hand.grip();
        assert_eq!(grip.permit().now_or_never(), Some(true));
        hand.pause();
        assert_eq!(grip.permit().now_or_never(), None);
        hand.step();
        hand.step();
        assert_eq!(grip.permit().now_or_never(), Some(true));
        assert_eq!(grip.permit().now_or_never(), Some(true));
        assert_eq!(grip.permit().now_or_never(), None);
        hand.resume();
        assert_eq!(grip.permit().now_or_never(), Some(true));
    }

    #[test]
    fn steps_granted_while_running_are_not_saved_up() {
        let hand = Control::new();
        let mut grip = hand.grip();
        hand.step();
        hand.resume();
        assert_eq!(grip.permit().now_or_never(), Some(true));
        hand.pause();
        assert_eq!(grip.permit().now_or_never(), None);
    }

    #[test]
    fn a_pause_takes_back_what_a_slow_run_has_not_used() {
        let hand = Control::new();
        let mut grip = hand.grip();
        hand.step();
        hand.step();
        hand.pause();
        assert_eq!(grip.permit().now_or_never(), None);
        hand.step();
        assert_eq!(grip.permit().now_or_never(), Some(true));
        assert_eq!(grip.permit().now_or_never(), None);
    }

    #[test]
    fn a_stop_is_final() {
        let hand = Control::new();
        let mut grip = hand.grip();
        assert_eq!(grip.stopped().now_or_never(), None);
        hand.stop();
        hand.resume();
        assert_eq!(grip.permit().now_or_never(), Some(false));
        assert_eq!(grip.stopped().now_or_never(), Some(()));
    }
}
