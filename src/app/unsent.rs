//! Edits that were not sent yet: what stands on the screen is given to the store to keep, so that a crash or a terminal that is gone
//! loses none, and what the store has is offered when its session is opened.
//!
//! What is being typed is given away at a pause only ([`super::Msg::Pause`]), which the driver makes at most once a second; everything
//! else at once. Not here: what is written for a live run.

use std::collections::{BTreeMap, BTreeSet};

use super::command::Context;
use super::editor::Editor;
use super::msg::{Fault, Job};
use super::{App, View};
use crate::model::BranchId;
use crate::store::{Role, Unsent};

type Place = (BranchId, usize);

/// What the store has of the edits.
#[derive(Debug, Default)]
pub struct Kept {
    /// The session whose edits were asked for last.
    asked: Option<String>,
    /// The texts, as they were given away or came.
    texts: BTreeMap<Place, String>,
}

/// Asks for the edits of a session that was opened, and gives away what changed.
pub(super) fn watch(app: &mut App, pause: bool) -> Vec<Job> {
    let mut jobs = Vec::new();
    // Who follows is offered nothing, and all there is once they drive: until then the driver goes on writing.
    let drives = app.company.role != Role::Follower;
    let open = app.open.as_ref().filter(|_| drives);
    let open = open.map(|open| &open.session.id);
    if app.kept.asked.as_ref() != open {
        app.kept.asked = open.cloned();
        jobs.extend(open.cloned().map(Job::Drafts));
    }
    if pause || app.place() != Context::Typing {
        jobs.extend(changes(app));
    }
    jobs
}

fn changes(app: &mut App) -> Vec<Job> {
    let typed = app.views.iter().rev().find_map(|view| match view {
        View::Editor(editor) => under_way(editor),
        _ => None,
    });
    let mut changed = Vec::new();
    let places: BTreeSet<&Place> = (app.drafts.keys())
        .chain(app.kept.texts.keys())
        .chain(typed.iter().map(|(place, _)| place))
        .collect();
    for place in places {
        let text = match &typed {
            Some((at, text)) if at == place => Some(text),
            _ => app.drafts.get(place),
        };
        if app.kept.texts.get(place) != text {
            changed.push((place.clone(), text.cloned()));
        }
    }
    let mut jobs = Vec::new();
    for (place, text) in changed {
        match &text {
            Some(text) => app.kept.texts.insert(place.clone(), text.clone()),
            None => app.kept.texts.remove(&place),
        };
        jobs.push(Job::KeepDraft(Unsent {
            branch: place.0,
            step: place.1,
            text,
            operator: app.operator.clone(),
        }));
    }
    jobs
}

/// The edit that an editor holds, if it is one.
fn under_way(editor: &Editor) -> Option<(Place, String)> {
    (editor.live.is_none() && editor.changed()).then(|| {
        (
            (editor.branch.clone(), editor.original.index),
            editor.text(),
        )
    })
}

/// The edits of a session came from the store. What was written here meanwhile is newer.
pub(super) fn came(app: &mut App, edits: Result<Vec<Unsent>, Fault>) {
    let edits = match edits {
        Ok(edits) => edits,
        Err(fault) => return app.fail(fault),
    };
    let mut found = Vec::new();
    for edit in edits {
        let place = (edit.branch.clone(), edit.step);
        let Some(text) = edit.text.clone() else {
            continue;
        };
        let known = app.kept.texts.get(&place);
        if app.drafts.get(&place) == known && known != Some(&text) {
            app.kept.texts.insert(place.clone(), text.clone());
            app.drafts.insert(place, text);
            found.push(edit);
        }
    }
    let Some(first) = found.first() else { return };
    let shown = app.open.as_ref().map(|open| &open.steps.branch);
    let mut where_ = format!("step {}", first.step);
    if shown != Some(&first.branch) {
        where_ = format!("{where_} of {}", first.branch);
    }
    if first.operator != app.operator {
        where_ = format!("{where_} by {}", first.operator);
    }
    app.tell(match found.len() {
        1 => format!("An edit of {where_} was not sent: there, f takes it to the gates, e opens it"),
        n => format!("{n} edits were not sent, the first of {where_}: there, f takes one to the gates, e opens it"),
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::fixture::{opened, press};
    use crate::app::key::{Code, Key};
    use crate::app::msg::Msg;
    use crate::app::tests::key;
    use crate::app::update;

    /// Texts given away to be kept.
    fn kept(jobs: &[Job]) -> Vec<Option<&str>> {
        let unsent = jobs.iter().filter_map(|job| match job {
            Job::KeepDraft(unsent) => Some(unsent.text.as_deref()),
            _ => None,
        });
        unsent.collect()
    }

    #[test]
    fn what_is_typed_is_kept_at_a_pause_once_and_what_is_undone_is_forgotten() {
        let mut app = opened();
        press(&mut app, "e");
        assert_eq!(
            kept(&key(&mut app, Key::char('!'))),
            [] as [Option<&str>; 0]
        );
        let jobs = update(&mut app, Msg::Pause);
        assert!(matches!(&kept(&jobs)[..], [Some(text)] if text.ends_with('!')));
        assert_eq!(kept(&update(&mut app, Msg::Pause)), [] as [Option<&str>; 0]);
        key(&mut app, Key::of(Code::Backspace));
        assert_eq!(kept(&key(&mut app, Key::of(Code::Esc))), [None]);
    }

    #[test]
    fn what_the_store_has_is_offered_and_what_was_written_meanwhile_is_newer() {
        let mut app = opened();
        let (branch, step) = super::super::debug::picked(&app)
            .map(|(b, s)| (b, s.index))
            .unwrap();
        let old = |step, text: &str| Unsent {
            branch: branch.clone(),
            step,
            text: Some(text.to_owned()),
            operator: "bob".to_owned(),
        };
        app.drafts.insert((branch.clone(), step), "mine".to_owned());
        let jobs = update(
            &mut app,
            Msg::Drafts(Ok(vec![old(step, "old"), old(step + 1, "other")])),
        );
        assert_eq!(app.drafts[&(branch.clone(), step)], "mine");
        assert_eq!(app.drafts[&(branch.clone(), step + 1)], "other");
        assert_eq!(kept(&jobs), [Some("mine")]);
        let told = app.notice.unwrap().text;
        assert!(
            told.starts_with("2 edits were not sent") && told.contains("by bob"),
            "{told}"
        );
    }
}
