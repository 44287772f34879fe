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
use crate::pipeline::Tests;
use crate::store::{Role, Unsent};

type Place = (BranchId, usize);

/// An edit that was not sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// The text as far as it was written.
    pub text: String,
    /// The hypothesis that it tests.
    pub tests: Option<Tests>,
}

impl Draft {
    /// The id of that hypothesis.
    #[must_use]
    pub fn hypothesis(&self) -> Option<String> {
        self.tests.as_ref().map(|tests| tests.id.clone())
    }
}

/// What the store has of the edits.
#[derive(Debug, Default)]
pub struct Kept {
    /// The session whose edits were asked for last.
    asked: Option<String>,
    /// The edits, as they were given away or came.
    edits: BTreeMap<Place, Draft>,
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
        .chain(app.kept.edits.keys())
        .chain(typed.iter().map(|(place, _)| place))
        .collect();
    for place in places {
        let edit = match &typed {
            Some((at, edit)) if at == place => Some(edit),
            _ => app.drafts.get(place),
        };
        if app.kept.edits.get(place) != edit {
            changed.push((place.clone(), edit.cloned()));
        }
    }
    let mut jobs = Vec::new();
    for (place, edit) in changed {
        match &edit {
            Some(edit) => app.kept.edits.insert(place.clone(), edit.clone()),
            None => app.kept.edits.remove(&place),
        };
        jobs.push(Job::KeepDraft(Unsent {
            branch: place.0,
            step: place.1,
            tests: edit.as_ref().and_then(Draft::hypothesis),
            text: edit.map(|edit| edit.text),
            operator: app.operator.clone(),
        }));
    }
    jobs
}

/// The edit that an editor holds, if it is one.
fn under_way(editor: &Editor) -> Option<(Place, Draft)> {
    let edit = editor.live.is_none() && editor.changed();
    edit.then(|| (editor.place(), editor.draft()))
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
        let mut hypotheses = app.open.iter().flat_map(|open| &open.hypotheses);
        let of = hypotheses.find(|filed| edit.tests.as_ref() == Some(&filed.id));
        let tests = of.map(Tests::of);
        let draft = Draft { text, tests };
        let known = app.kept.edits.get(&place);
        if app.drafts.get(&place) == known && known != Some(&draft) {
            app.kept.edits.insert(place.clone(), draft.clone());
            app.drafts.insert(place, draft);
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
    app.advise(match found.len() {
        1 => format!("An edit of {where_} was not sent: there, ‹fork› takes it to the gates, ‹edit› opens it"),
        n => format!("{n} edits were not sent, the first of {where_}: there, ‹fork› takes one to the gates, ‹edit› opens it"),
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
            tests: None,
            operator: "bob".to_owned(),
        };
        let mine = Draft {
            text: "mine".to_owned(),
            tests: None,
        };
        app.drafts.insert((branch.clone(), step), mine);
        let jobs = update(
            &mut app,
            Msg::Drafts(Ok(vec![old(step, "old"), old(step + 1, "other")])),
        );
        assert_eq!(app.drafts[&(branch.clone(), step)].text, "mine");
        assert_eq!(app.drafts[&(branch.clone(), step + 1)].text, "other");
        assert_eq!(kept(&jobs), [Some("mine")]);
        let told = app.notice.unwrap().text;
        assert!(
            told.starts_with("An edit of step") && told.contains("by bob"),
            "{told}"
        );
    }

    #[test]
    fn an_edit_comes_back_with_the_hypothesis_that_it_was_made_for() {
        let mut app = crate::app::hypotheses_tests::pane();
        let filed = app.open.as_ref().unwrap().hypotheses[1].clone();
        let edit = Unsent {
            branch: filed.branch.clone(),
            step: 9,
            text: Some("Open the page of August.".to_owned()),
            tests: Some(filed.id.clone()),
            operator: "ann".to_owned(),
        };
        press(&mut app, "⎋");
        update(&mut app, Msg::Drafts(Ok(vec![edit])));
        let sent = |jobs: &[Job]| match jobs.first() {
            Some(Job::Check(_, request)) => request.tests.clone().map(|tests| tests.id),
            other => panic!("{other:?}"),
        };
        press(&mut app, ":9⏎");
        let jobs = key(&mut app, Key::char('f'));
        assert_eq!(sent(&jobs), Some(filed.id.clone()));
        // Changed first, left, and taken up again.
        press(&mut app, "⎋e!");
        let jobs = key(&mut app, Key::of(Code::Esc));
        press(&mut app, "⎋");
        let given = jobs.iter().find_map(|job| match job {
            Job::KeepDraft(unsent) => unsent.tests.clone(),
            _ => None,
        });
        assert_eq!(given, Some(filed.id.clone()));
        assert_eq!(sent(&key(&mut app, Key::char('f'))), Some(filed.id));
    }
}
