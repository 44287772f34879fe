//! The live run as a task: what is told of it goes to the state, orders come from there.

use tokio::sync::mpsc::{self, UnboundedSender};

use super::Team;
use super::jobs::fault;
use crate::app::Msg;
use crate::pipeline::{self, Goal, Lead, NewEffects, Orders};
use crate::store::Store;

/// Starts a team, which stands before its first message, and follows it to its end.
pub(super) async fn run(
    store: Store,
    team: Team,
    operator: String,
    orders: Orders,
    answers: UnboundedSender<Msg>,
) {
    let (sender, mut told) = mpsc::unbounded_channel();
    let lead = Lead {
        goal: Goal::Pause,
        new_effects: NewEffects::Ask,
        operator,
    };
    let work = pipeline::live(&store, &team.adapter, &team.start, lead, orders, &sender);
    tokio::pin!(work);
    let ended = loop {
        tokio::select! {
            biased;
            Some(what) = told.recv() => {
                let _ = answers.send(Msg::Live(what));
            }
            ended = &mut work => break ended,
        }
    };
    // What was told before the end is told before it here too.
    while let Ok(what) = told.try_recv() {
        let _ = answers.send(Msg::Live(what));
    }
    let _ = answers.send(Msg::LiveOver(ended.map(Box::new).map_err(fault)));
}
