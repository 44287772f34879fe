//! Keys that came before what they are about: a step that was selected a moment ago, a session, a branch, a comparison or a failure that was
//! asked for is still on its way from the store. They wait for it, in order, so that whoever types fast, or pastes, or comes over a slow
//! line loses none and none is taken for another. Esc does not wait: it drops what does.

use super::command::Id;
use super::key::{Code, Key};
use super::msg::{Job, Msg};
use super::{App, Context};

/// So many keys wait; what is typed beyond is a cat on the keyboard.
const MOST: usize = 1_000;

/// Keys that wait, and for how many answers.
#[derive(Debug, Default)]
pub(super) struct Later {
    keys: Vec<Key>,
    answers: usize,
}

/// A command's jobs went out: those that change what is shown are waited for.
pub(super) fn asked(app: &mut App, jobs: &[Job]) {
    let shows = |job: &&Job| {
        matches!(
            job,
            Job::Open(_)
                | Job::Branch(_)
                | Job::FindError { .. }
                | Job::Compare(..)
                | Job::CompareAll(_)
        )
    };
    app.later.answers += jobs.iter().filter(shows).count();
}

/// An answer came in.
pub(super) fn answered(app: &mut App, msg: &Msg) {
    let shows = matches!(
        msg,
        Msg::Opened(_) | Msg::Branch(_) | Msg::ErrorAt(..) | Msg::Compared(_) | Msg::ComparedAll(_)
    );
    app.later.answers = app.later.answers.saturating_sub(usize::from(shows));
}

/// Whether a command needs the selected step's text while that is still being read.
fn too_early(app: &App, id: Id) -> bool {
    let place = matches!(
        app.context(),
        Context::Steps | Context::Detail | Context::Branches
    );
    let about_it = matches!(id, Id::Edit | Id::Fork | Id::Baseline | Id::Copy);
    place && about_it && being_read(app)
}

fn being_read(app: &App) -> bool {
    app.open.as_ref().is_some_and(|open| {
        let known = open.detail.as_ref().map(|(index, _)| *index);
        open.steps.len > 0 && known != Some(open.selected)
    })
}

/// Whether a key has to wait, and lets it; `id` is what it would do.
pub(super) fn waits(app: &mut App, key: Key, id: Option<Id>) -> bool {
    if key.code == Code::Esc || id == Some(Id::Leave) {
        app.later.keys.clear();
        return false;
    }
    let waits = !app.later.keys.is_empty()
        || app.later.answers > 0
        || id.is_some_and(|id| too_early(app, id));
    if waits && app.later.keys.len() < MOST {
        app.later.keys.push(key);
    }
    waits
}

/// The keys that wait, once their turn has come.
pub(super) fn due(app: &mut App) -> Vec<Key> {
    if app.later.answers > 0 || being_read(app) {
        return Vec::new();
    }
    std::mem::take(&mut app.later.keys)
}

#[cfg(test)]
mod tests {
    use crate::app::fixture::{answer, opened, press};
    use crate::app::key::Key;
    use crate::app::msg::{Job, Msg, StepView};
    use crate::app::press_fixture::press_one;
    use crate::app::tests::key;
    use crate::app::{App, Context, View, update};
    use crate::model::Step;
    use crate::pipeline::Restorability;

    #[test]
    fn what_is_typed_ahead_of_a_step_goes_into_its_editor() {
        let mut app = opened();
        let from = app.open.as_ref().unwrap().selected;
        let jobs = key(&mut app, Key::char('j'));
        assert!(matches!(jobs[..], [.., Job::Step(..)]), "{jobs:?}");
        for letter in "e q?".chars() {
            key(&mut app, Key::char(letter));
        }
        assert_eq!(app.context(), Context::Steps);
        let branch = app.open.as_ref().unwrap().branch.id.clone();
        let view = StepView {
            step: Ok(Step {
                index: from + 1,
                text: "Scroll.".into(),
                ..Step::default()
            }),
            restorability: Ok(Restorability {
                exact: true,
                line: String::new(),
            }),
        };
        update(&mut app, Msg::Step(branch, from + 1, Box::new(view)));
        let Some(View::Editor(editor)) = app.views.last() else {
            panic!("no editor");
        };
        assert_eq!(editor.text(), "Scroll. q?");
        press(&mut app, "!");
        assert!(app.later.keys.is_empty());
    }

    /// Where the operator is, and with what.
    fn place(app: &App) -> (Context, Option<usize>, Option<String>) {
        let selected = app.open.as_ref().map(|open| open.selected);
        let text = match app.views.last() {
            Some(View::Editor(editor)) => Some(editor.text()),
            _ => None,
        };
        (app.context(), selected, text)
    }

    #[test]
    fn keys_in_one_burst_do_what_they_do_one_by_one() {
        let bursts = [
            "gg:0\u{23ce}}ke!",
            "jje",
            "jjjkke??",
            ":4\u{23ce}ex",
            "}}{e",
            "ggjej",
            "jy",
            "]e!",
            "}\u{23ce}",
        ];
        for keys in bursts {
            let (mut slow, mut fast) = (opened(), opened());
            press(&mut slow, keys);
            let mut jobs = Vec::new();
            for sign in keys.chars() {
                jobs.extend(press_one(&mut fast, sign));
            }
            answer(&mut fast, jobs);
            assert_eq!(place(&fast), place(&slow), "{keys}");
            assert!(fast.later.keys.is_empty(), "{keys}");
        }
    }

    #[test]
    fn esc_drops_what_waits() {
        let mut app = opened();
        key(&mut app, Key::char('}'));
        key(&mut app, Key::char('e'));
        key(&mut app, Key::of(crate::app::key::Code::Esc));
        assert!(app.later.keys.is_empty());
    }
}
