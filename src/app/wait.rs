//! Keys that came before what they are about: a step that was selected a moment ago is still on its way from the store. They wait
//! for it, in order, so that whoever types fast, or pastes, or comes over a slow line loses none and none is taken for another.

use super::command::Id;
use super::key::Key;
use super::{App, Context};

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
        open.asked.is_some() && known != Some(open.selected)
    })
}

/// Whether a key has to wait, and lets it; `id` is what it would do.
pub(super) fn waits(app: &mut App, key: Key, id: Option<Id>) -> bool {
    let leaves = id == Some(Id::Leave);
    let waits = !app.later.is_empty() || id.is_some_and(|id| too_early(app, id));
    if waits && !leaves {
        app.later.push(key);
    }
    waits && !leaves
}

/// The keys whose turn it is now.
pub(super) fn due(app: &mut App) -> Vec<Key> {
    if being_read(app) {
        return Vec::new();
    }
    std::mem::take(&mut app.later)
}

#[cfg(test)]
mod tests {
    use crate::app::fixture::{opened, press};
    use crate::app::key::Key;
    use crate::app::msg::{Job, Msg, StepView};
    use crate::app::tests::key;
    use crate::app::{Context, View, update};
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
        assert!(app.later.is_empty());
    }
}
