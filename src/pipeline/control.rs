//! The hand on the runs of a fork. A run asks before every step; not being answered is being paused.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::{Semaphore, SemaphorePermit, watch};

use crate::model::BranchId;
use crate::runtime::Decision;

/// How many runs may go at the same time. Clones share the limit, so that several forks together keep it.
#[derive(Clone, Debug)]
pub struct Jobs {
    free: Arc<Semaphore>,
    limit: usize,
}

impl Jobs {
    /// At least one.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        let limit = limit.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            free: Arc::new(Semaphore::new(limit)),
            limit,
        }
    }

    /// The limit.
    #[must_use]
    pub const fn limit(&self) -> usize {
        self.limit
    }

    /// Waits for a place; none when the runs were stopped meanwhile. First come, first served.
    pub(super) async fn place(&self, grip: &Grip) -> Option<SemaphorePermit<'_>> {
        tokio::select! {
            biased;
            () = grip.stopped() => None,
            permit = self.free.acquire() => permit.ok(),
        }
    }
}

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

/// The hand on the runs of one fork: run, pause, step, stop, and what becomes of new effects. Clones share it.
#[derive(Clone, Debug)]
pub struct Control {
    states: Arc<watch::Sender<State>>,
    /// The runs that wait for a decision about an effect, with the decision once it is made.
    asked: Arc<watch::Sender<BTreeMap<BranchId, Option<Decision>>>>,
}

impl Default for Control {
    fn default() -> Self {
        Self::new()
    }
}

impl Control {
    /// A hand that lets everything run.
    #[must_use]
    pub fn new() -> Self {
        Self {
            states: Arc::new(watch::Sender::new(State {
                mode: Mode::Run,
                granted: 0,
                void: 0,
            })),
            asked: Arc::default(),
        }
    }

    /// Decides about the effect that a run waits with. A run that does not wait is not decided for in advance.
    pub fn decide(&self, branch: &BranchId, decision: Decision) {
        self.asked.send_if_modified(|asked| {
            let waits = asked.get_mut(branch).filter(|slot| slot.is_none());
            waits.map(|slot| *slot = Some(decision)).is_some()
        });
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
        self.states.send_modify(|state| state.mode = Mode::Stop);
    }

    /// Whether the runs wait between steps.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.states.borrow().mode == Mode::Pause
    }

    /// A stop is final: nothing takes it back.
    fn change(&self, with: impl FnOnce(&mut State)) {
        self.states.send_if_modified(|state| {
            let open = state.mode != Mode::Stop;
            if open {
                with(state);
            }
            open
        });
    }

    /// Whether every run was stopped for good.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.states.borrow().mode == Mode::Stop
    }

    /// Resolves when the runs are stopped, however long that takes.
    pub async fn stopped(&self) {
        self.grip().stopped().await;
    }

    /// One run's side of the hand.
    pub(super) fn grip(&self) -> Grip {
        let states = self.states.subscribe();
        let used = states.borrow().granted;
        Grip {
            states,
            used,
            hand: self.clone(),
        }
    }
}

/// One run's side of a [`Control`].
pub(super) struct Grip {
    states: watch::Receiver<State>,
    used: u64,
    /// Keeps the sender alive, so that waiting never ends by its loss.
    hand: Control,
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

    /// Waits until somebody decides about the effect that a run is about to have. None: stop.
    pub(super) async fn decision(&self, branch: &BranchId) -> Option<Decision> {
        let mut asked = self.hand.asked.subscribe();
        self.hand.asked.send_modify(|all| {
            all.insert(branch.clone(), None);
        });
        let decided =
            |all: &BTreeMap<BranchId, Option<Decision>>| all.get(branch).copied().flatten();
        let made = tokio::select! {
            biased;
            () = self.stopped() => None,
            all = asked.wait_for(|all| decided(all).is_some()) => all.ok().and_then(|all| decided(&all)),
        };
        self.hand.asked.send_modify(|all| {
            all.remove(branch);
        });
        made
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
    fn a_decision_counts_only_for_a_run_that_waits_for_it() {
        let hand = Control::new();
        let grip = hand.grip();
        let (b1, b2) = (BranchId::new("s", "b1"), BranchId::new("s", "b2"));
        hand.decide(&b1, Decision::Allow);
        let mut waiting = Box::pin(grip.decision(&b1));
        assert_eq!((&mut waiting).now_or_never(), None);
        hand.decide(&b2, Decision::Allow);
        assert_eq!((&mut waiting).now_or_never(), None);
        hand.decide(&b1, Decision::Refuse);
        hand.decide(&b1, Decision::Allow);
        assert_eq!(waiting.now_or_never(), Some(Some(Decision::Refuse)));
        let mut again = Box::pin(grip.decision(&b1));
        assert_eq!((&mut again).now_or_never(), None);
        hand.stop();
        assert_eq!(again.now_or_never(), Some(None));
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
