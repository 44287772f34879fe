//! Marks and notes on steps, and the filter of the message list.

use super::msg::{Fault, Job};
use super::session::Open;
use super::{App, Prompt, Purpose, read};
use crate::model::{BranchId, Filter, Note, clean_line};

/// A filter of the message list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Narrowed {
    /// As it was written.
    pub line: String,
    /// What it says.
    pub filter: Filter,
}

/// Asks for a note on the selected step, or for a filter; what is there already can be changed.
pub(super) fn ask(app: &mut App, purpose: Purpose) {
    let Some(open) = &app.open else { return };
    let line = match purpose {
        Purpose::Note => open.note().map(|note| note.text.clone()),
        _ => open.narrowed.as_ref().map(|narrowed| narrowed.line.clone()),
    };
    app.prompt = Some(Prompt::new(purpose, line.unwrap_or_default()));
}

/// Marks the selected step, or takes a mark away. A note is never lost by this key.
pub(super) fn mark(app: &mut App) -> Vec<Job> {
    let Some(open) = &app.open else {
        return Vec::new();
    };
    let text = match open.note() {
        None => Some(String::new()),
        Some(note) if note.text.is_empty() => None,
        Some(_) => {
            app.tell("This step has a note: ‹note› changes it, and an empty line takes it away");
            return Vec::new();
        }
    };
    keep(app, text, "")
}

/// Keeps the note as it was written over what stood there; an empty line takes it away.
pub(super) fn note(app: &App, line: &str, was: &str) -> Vec<Job> {
    let there = app.open.as_ref().and_then(|open| open.note()).is_some();
    match line {
        "" if !there => Vec::new(),
        "" => keep(app, None, was),
        line => keep(app, Some(line.to_owned()), was),
    }
}

fn keep(app: &App, text: Option<String>, was: &str) -> Vec<Job> {
    let open = app.open.as_ref();
    open.map(|open| Job::Note {
        branch: open.branch.id.clone(),
        step: open.selected,
        text,
        was: was.to_owned(),
        operator: app.operator.clone(),
    })
    .into_iter()
    .collect()
}

/// The notes of a branch came.
pub(super) fn came(app: &mut App, branch: &BranchId, notes: Result<Vec<Note>, Fault>) {
    match notes {
        Ok(notes) => {
            if let Some(open) = app.open.as_mut().filter(|open| open.branch.id == *branch) {
                open.notes = notes;
            }
        }
        Err(fault) => app.fail(fault),
    }
}

/// Narrows the message list; an empty line shows all steps again.
pub(super) fn narrow(app: &mut App, line: &str) -> Vec<Job> {
    let Some(open) = &mut app.open else {
        return Vec::new();
    };
    if line.is_empty() {
        open.narrowed = None;
        open.steps.narrow(None);
        return Vec::new();
    }
    match Filter::parse(line) {
        Ok(filter) => {
            open.narrowed = Some(Narrowed {
                line: line.to_owned(),
                filter: filter.clone(),
            });
            vec![Job::Filter(open.steps.branch.clone(), filter)]
        }
        Err(why) => {
            app.fail(clean_line(&why));
            Vec::new()
        }
    }
}

/// What a filter names that nobody in the session is called.
fn unknown(open: &Open, filter: &Filter) -> Option<String> {
    let agents = &open.session.agents;
    let mut names = filter.with.agents.iter().chain(&filter.with.to);
    let name = names.find(|name| {
        let mut known = agents.iter().map(|agent| agent.name.to_lowercase());
        !known.any(|known| known.contains(name.as_str()))
    })?;
    let known: Vec<_> = agents.iter().map(|one| clean_line(&one.name)).collect();
    Some(format!(
        "No agent here is named “{}”: {}",
        clean_line(name),
        known.join(", ")
    ))
}

/// The steps that pass came.
pub(super) fn narrowed(
    app: &mut App,
    branch: &BranchId,
    filter: &Filter,
    steps: Result<Vec<usize>, Fault>,
) {
    let Some(open) = &mut app.open else { return };
    let asked = open.narrowed.as_ref().map(|narrowed| &narrowed.filter);
    if open.steps.branch != *branch || asked != Some(filter) {
        return;
    }
    match steps {
        Ok(steps) if steps.is_empty() => {
            open.narrowed = None;
            open.steps.narrow(None);
            let unknown = unknown(open, filter);
            let told =
                unknown.unwrap_or_else(|| "No step of this branch passes the filter".to_owned());
            app.tell(format!("{told}. All are shown"));
        }
        Ok(steps) => {
            let (count, of) = (steps.len(), open.steps.len);
            let at = steps.partition_point(|step| *step < open.selected);
            let near = steps.get(at).or(steps.last()).copied();
            open.steps.narrow(Some(steps));
            if let Some(near) = near {
                read::select_step(app, near);
            }
            app.tell(format!(
                "{count} of {of} steps pass: ‹narrow› changes the filter, ‹back› shows all"
            ));
        }
        Err(fault) => {
            open.narrowed = None;
            open.steps.narrow(None);
            app.fail(fault);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::app::steps::Row;
    use crate::app::{App, Context, fixture};

    fn note(app: &App) -> Option<&str> {
        let note = app.open.as_ref()?.note()?;
        Some(&note.text)
    }

    #[test]
    fn a_mark_goes_again_and_a_note_stays() {
        let mut app = fixture::opened();
        fixture::press(&mut app, "*");
        assert_eq!(note(&app), Some(""));
        fixture::press(&mut app, "*");
        assert_eq!(note(&app), None);
        fixture::press(&mut app, "aToo vague⏎");
        assert_eq!(note(&app), Some("Too vague"));
        fixture::press(&mut app, "*");
        assert_eq!(note(&app), Some("Too vague"), "no key destroys it");
        fixture::press(&mut app, "a");
        assert_eq!(app.prompt.as_ref().unwrap().line, "Too vague");
        fixture::press(&mut app, "⌦⏎");
        assert_eq!(note(&app), None);
    }

    #[test]
    fn a_filter_shows_only_what_passes_and_keys_move_among_that() {
        let mut app = fixture::opened();
        fixture::press(&mut app, "&agent:web kind:message⏎");
        let open = app.open.as_ref().unwrap();
        assert_eq!(open.steps.only(), Some([7, 10, 12].as_slice()));
        assert_eq!((open.steps.rows(), open.selected), (3, 10));
        assert_eq!(open.steps.row(1), Some(Row::Step(10)));
        fixture::press(&mut app, "k");
        assert_eq!(app.open.as_ref().unwrap().selected, 7);
        fixture::press(&mut app, "k");
        assert_eq!(app.open.as_ref().unwrap().selected, 7);
        fixture::press(&mut app, "G");
        assert_eq!(app.open.as_ref().unwrap().selected, 12);
        // Esc shows all again, and only then leaves.
        fixture::press(&mut app, "⎋");
        assert_eq!(app.context(), Context::Steps);
        assert!(app.open.as_ref().unwrap().steps.only().is_none());
    }

    #[test]
    fn the_selected_step_is_always_on_the_screen() {
        let open = |keys: &str| {
            let mut app = fixture::opened();
            // Of 14 steps 7, 10 and 12 pass; 10 is selected.
            fixture::press(&mut app, "&agent:web kind:message⏎");
            fixture::press(&mut app, keys);
            app
        };
        let table = [(":4⏎", 4), ("]", 8), ("[", 8), ("'⏎", 10), ("oG⏎", 13)];
        for (keys, step) in table {
            let mut app = open(keys);
            if keys == "]" {
                // There is no later trial, so nothing is gone to.
                assert_eq!(app.open.as_ref().unwrap().selected, 10);
                continue;
            }
            let notice = app.notice.take().map(|notice| notice.text);
            let open = app.open.as_ref().unwrap();
            assert_eq!(open.selected, step, "{keys}");
            assert!(open.steps.shows(step), "{keys}");
            let lifted = open.steps.only().is_none();
            let told = notice.is_some_and(|text| text.contains("does not pass the filter"));
            assert_eq!((lifted, told), (step != 10, step != 10), "{keys}");
        }
        // Of the hits 4, 6 and 9 none passes; of those shown the next failure is.
        let app = open("/archive⏎");
        let told = &app.notice.as_ref().unwrap().text;
        assert!(
            told.contains("3 steps") && told.contains("does not pass"),
            "{told}"
        );
        let app = open("k}");
        assert!(app.open.as_ref().unwrap().steps.only().is_some());
    }

    #[test]
    fn a_name_that_nobody_has_is_told() {
        let mut app = fixture::opened();
        fixture::press(&mut app, "&agent:nobody⏎");
        let told = &app.notice.as_ref().unwrap().text;
        assert!(
            told.contains("“nobody”") && told.contains("WebSurfer"),
            "{told}"
        );
    }

    #[test]
    fn what_cannot_be_filtered_says_so_and_shows_all() {
        let mut app = fixture::opened();
        fixture::press(&mut app, "&kind:sonnet⏎");
        assert!(app.notice.as_ref().unwrap().fault);
        fixture::press(&mut app, "&agent:nobody⏎");
        assert!(app.notice.as_ref().unwrap().text.contains("All are shown"));
        assert!(app.open.unwrap().steps.only().is_none());
    }
}
