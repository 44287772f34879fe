//! Looks at a log that is being written, again and again, for as long as somebody wants to hear of it.

use std::path::Path;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedSender;
use tokio::task::spawn_blocking;

use super::jobs::fault;
use crate::app::Msg;
use crate::pipeline::{Follower, Growth};
use crate::store::Store;

/// Between two looks.
const LOOK: Duration = Duration::from_millis(500);
/// A log that takes long to read is read less often: the share of the time that it may take.
const SHARE: u32 = 4;

/// Follows a log and tells what is found.
pub(super) async fn run(store: Store, path: String, answers: UnboundedSender<Msg>) {
    let mut follower = match Follower::new(Path::new(&path)) {
        Ok(follower) => follower,
        Err(error) => {
            let _ = answers.send(Msg::Followed(Err(fault(error))));
            return;
        }
    };
    while !answers.is_closed() {
        let (began, store) = (Instant::now(), store.clone());
        let looked = spawn_blocking(move || {
            let found = follower.look(&store).map_err(fault);
            (follower, found)
        });
        let found = match looked.await {
            Ok((same, found)) => {
                follower = same;
                found
            }
            Err(error) => {
                let _ = answers.send(Msg::Followed(Err(fault(error))));
                return;
            }
        };
        let over = matches!(found, Err(_) | Ok(Some(Growth::Over(_))));
        if let Some(found) = found.transpose() {
            let _ = answers.send(Msg::Followed(found));
        }
        if over {
            return;
        }
        tokio::time::sleep(LOOK.max(began.elapsed() * SHARE)).await;
    }
}
