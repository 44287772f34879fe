//! A log that is still being written, as the screen follows it: it is opened at its end, and what comes is read when it is told of.

use std::sync::Arc;

use super::App;
use super::msg::{Fault, Job, Longer};
use super::picker::Importing;
use super::update::taken_in;
use crate::model::BranchId;
use crate::pipeline::Growth;

impl App {
    /// Follows a log from the start.
    pub fn growing(&mut self, path: String) -> Job {
        self.picker.importing = Some(Importing {
            what: path.clone(),
            ..Importing::default()
        });
        Job::Follow(path)
    }
}

/// Something was found in the log.
pub(super) fn found(app: &mut App, growth: Result<Growth, Fault>) -> Vec<Job> {
    match growth {
        Ok(Growth::Began(session)) => {
            app.followed = Some(session.clone());
            taken_in(app, Ok(session))
        }
        Ok(Growth::Waits) => {
            app.tell("Nothing whole is written there yet: it is looked at twice a second");
            Vec::new()
        }
        Ok(Growth::Grew {
            session, otherwise, ..
        }) => {
            if otherwise > 0 && !std::mem::replace(&mut app.follow_told, true) {
                app.tell(format!(
                    "Steps before look otherwise by now ({otherwise}); they stay as they were read. dover import reads the whole log anew when it is written"
                ));
            }
            match &app.open {
                Some(open) if open.session.id == session => {
                    vec![Job::Longer(BranchId::main(&session))]
                }
                Some(_) => Vec::new(),
                None => vec![Job::Sessions],
            }
        }
        Ok(Growth::Back(told)) => {
            app.tell(told);
            Vec::new()
        }
        Ok(Growth::Gone(why)) => {
            app.fail(why);
            Vec::new()
        }
        Ok(Growth::Over(why)) => {
            app.followed = None;
            app.picker.importing = None;
            app.fail(why);
            Vec::new()
        }
        Err(fault) => {
            app.followed = None;
            app.picker.importing = None;
            app.fail(format!("{fault}. The log is not followed any more"));
            Vec::new()
        }
    }
}

/// A session was opened: one that is followed shows its end, and may be longer by now than it was when it was read.
pub(super) fn opened(app: &mut App) -> Vec<Job> {
    let (Some(open), Some(followed)) = (&mut app.open, &app.followed) else {
        return Vec::new();
    };
    if open.session.id != *followed {
        return Vec::new();
    }
    open.select(open.steps.last());
    let longer = Job::Longer(BranchId::main(followed));
    app.advise("What is written to the log comes in here: at the end the selection goes with it");
    vec![longer]
}

/// A branch as it is now, at least as long as before.
pub(super) fn longer(app: &mut App, view: Result<Longer, Fault>) {
    // What is written on the line is about the step that was selected when it was begun.
    let held = app.prompt.is_some();
    match (view, &mut app.open) {
        (Ok(longer), Some(open)) => {
            if longer.view.branch.id.session() == open.session.id {
                open.session = Arc::new(longer.session);
            }
            open.lengthen(longer.view, held);
        }
        (Err(fault), _) => app.fail(fault),
        _ => {}
    }
}
