//! Jobs of lessons: a copy of the run for a new attempt, and how far the learner is.

use std::path::Path;

use super::jobs::{fault, open};
use crate::app::learn::{Offer, Run};
use crate::app::msg::{Job, Msg, Opened};
use crate::model::{Attempt, BranchId};
use crate::pipeline::{self, PipelineError, Source};
use crate::store::Store;

pub(super) fn blocking(store: &Store, job: Job, say: &impl Fn(Msg)) {
    match job {
        Job::Learn(offer, attempt) => {
            let begun = begin(store, &offer, attempt).map(Box::new);
            say(Msg::Learning(begun.map_err(fault)));
        }
        Job::KeepAttempt(attempt) => {
            if let Err(error) = store.keep_attempt(&attempt) {
                say(Msg::Failed(fault(error)));
            }
        }
        _ => {}
    }
}

fn begin(
    store: &Store,
    offer: &Offer,
    mut attempt: Attempt,
) -> Result<(Attempt, Opened), PipelineError> {
    if attempt.session.is_empty() {
        let log;
        let source = match &offer.lesson.run {
            Run::Sample(name) => Source::Sample(name),
            Run::Log(path) => {
                let folder = offer.file.as_deref().and_then(Path::parent);
                log = folder.unwrap_or(Path::new("")).join(path);
                Source::Log(&log)
            }
        };
        attempt.session = pipeline::copy(store, source, &attempt.lesson)?;
        store.keep_attempt(&attempt)?;
    }
    let main = BranchId::main(&attempt.session);
    Ok((attempt, open(store, &main)?))
}
