//! Whether a part's deed was done, and in a sentence what a try that came close lacks.
//!
//! An edit that contains the expected answer does no deed: success would prove nothing.

use super::{Before, Condition, Deed, Place, guesses, own};
use crate::app::session::{Focus, Open};
use crate::app::{App, View};
use crate::gate::Report;
use crate::model::{Branch, EditClass};
use crate::pipeline::Outcome;

/// What stands on the screen that a deed may be seen by.
struct Seen<'a> {
    /// The gates, wherever their fork is.
    gates: Option<&'a crate::app::fork::Gates>,
    /// The outcome that came since the part began, wherever it was forked.
    outcome: Option<(usize, &'a Outcome)>,
}

impl<'a> Seen<'a> {
    fn of(app: &'a App, before: Before) -> Self {
        let replay = app
            .replay_here()
            .filter(|replay| Some(replay.ticket) != before.ended);
        Self {
            gates: app.gates(),
            outcome: replay.and_then(|replay| {
                let outcome = replay.outcome.as_ref()?.as_ref().ok()?;
                Some((replay.request.step, outcome))
            }),
        }
    }

    fn report(&self) -> Option<&'a Report> {
        self.gates?.report()
    }
}

/// Whether the step is one at which the deed counts.
fn here(condition: &Condition, step: usize) -> bool {
    condition
        .at
        .is_none_or(|(from, to)| (from..=to).contains(&step))
}

fn styled(condition: &Condition, class: Option<EditClass>) -> bool {
    condition.style.is_none_or(|style| class == Some(style))
}

/// Whether the deed is done.
pub(super) fn holds(condition: &Condition, app: &App, before: Before) -> bool {
    let seen = Seen::of(app, before);
    let gates = seen
        .gates
        .filter(|gates| here(condition, gates.request.step));
    let report = gates.and_then(|gates| gates.report());
    let checked = gates.and_then(|gates| gates.checked.as_ref()?.as_ref().ok());
    let counts = checked.is_some_and(|it| styled(condition, it.class) && !it.answer_leak);
    let outcome = seen.outcome.filter(|(step, outcome)| {
        here(condition, *step)
            && styled(condition, outcome.intervention.class)
            && !outcome.intervention.answer_leak
    });
    let outcome = outcome.map(|(_, outcome)| outcome);
    match condition.deed {
        Deed::Visit => {
            let step = app.open.as_ref().and_then(Open::step);
            app.views.is_empty() && step.is_some_and(|step| here(condition, step.index))
        }
        Deed::Predict => guesses(app, before)
            .into_iter()
            .any(|step| here(condition, step)),
        Deed::Edit => {
            let edited = gates.is_some_and(|gates| gates.request.text.is_some());
            edited && report.is_some() && counts
        }
        Deed::Run { baseline } => outcome.is_some_and(|outcome| {
            outcome.baseline() == baseline && !outcome.branches.iter().all(Branch::refused)
        }),
        Deed::Verdict(verdict) => outcome.is_some_and(|outcome| outcome.verdict == Some(verdict)),
        Deed::Held(name) => counts && report.and_then(holding_back) == Some(name),
        Deed::Passed(None) => counts && report.is_some_and(Report::ready),
        Deed::Passed(Some(name)) => {
            let holding = |report: &Report| {
                let mut gates = report.gates.iter();
                gates.any(|gate| gate.name == name && gate.holds == Some(true))
            };
            counts && report.is_some_and(holding)
        }
        Deed::Compare => matches!(app.views.last(), Some(View::Compare(_))),
        Deed::Look(place) => looks(place, app),
    }
}

/// The first gate that does not hold.
fn holding_back(report: &Report) -> Option<&'static str> {
    let mut gates = report.gates.iter();
    gates
        .find(|gate| gate.holds == Some(false))
        .map(|gate| gate.name)
}

fn looks(place: Place, app: &App) -> bool {
    let top = app.views.last();
    match place {
        Place::Milestones => matches!(top, Some(View::Milestones(_))),
        Place::Gained => matches!(
            app.views.as_slice(),
            [.., View::Replay, View::Milestones(_)]
        ),
        Place::Hypotheses => matches!(top, Some(View::Hypotheses(_))),
        Place::Analysis => {
            let mut filed = app.open.iter().flat_map(|open| &open.hypotheses);
            looks(Place::Hypotheses, app) && filed.any(|filed| !own(filed))
        }
        Place::Verdicts => matches!(top, Some(View::Interventions(_))),
        Place::Effects => matches!(top, Some(View::Effects(_))),
        Place::State => matches!(top, Some(View::State(_))),
        Place::Help => matches!(top, Some(View::Help(_))),
        Place::Text => {
            let open = app.open.as_ref();
            top.is_none() && open.is_some_and(|open| open.focus == Focus::Detail)
        }
    }
}

/// What to say of a guess that the lesson does not mean.
pub(super) fn wrong_guess(condition: &Condition, app: &App, step: usize) -> String {
    let trial = |step: usize| {
        let mut trials = app.open.iter().flat_map(|open| &open.steps.trials);
        trials.rfind(|trial| trial.start <= step)
    };
    match (trial(step), condition.at.and_then(|(from, _)| trial(from))) {
        (Some(said), Some(meant)) if said.index != meant.index => format!(
            "Step {step} is in trial {}; this part asks about trial {}. ‹hint› gives a hint.",
            said.index, meant.index
        ),
        _ => format!(
            "Step {step} is a fair thought, but this lesson means another one. Look again; ‹hint› gives a hint."
        ),
    }
}

/// What a try lacks that was made and did not do the deed.
pub(super) fn missed(condition: &Condition, app: &App, before: Before) -> Option<String> {
    let seen = Seen::of(app, before);
    match condition.deed {
        Deed::Run { .. } | Deed::Verdict(_) => {
            let (step, outcome) = seen.outcome?;
            missed_run(condition, step, outcome)
        }
        Deed::Edit | Deed::Held(_) | Deed::Passed(_) => missed_gates(condition, &seen),
        Deed::Look(Place::Gained) if looks(Place::Milestones, app) => Some(
            "These are the branch's in the list. ‹back›, then ‹replay› leads to the replay of your run; ‹replay.milestones› there.".to_owned(),
        ),
        Deed::Look(Place::Analysis) if looks(Place::Hypotheses, app) => {
            Some("These are your own. ‹analyse› lets the rules say theirs.".to_owned())
        }
        _ => None,
    }
}

fn missed_run(condition: &Condition, step: usize, outcome: &Outcome) -> Option<String> {
    if outcome.branches.iter().all(Branch::refused) {
        return Some("It was held: nothing has run. The gates say what is missing.".to_owned());
    }
    let wanted_baseline = condition.deed == Deed::Run { baseline: true };
    match (outcome.baseline(), wanted_baseline) {
        (true, false) => {
            return Some(
                "That was the unedited re-run. This part asks for an edit: ‹steps.edit› at the step."
                    .to_owned(),
            );
        }
        (false, true) => {
            return Some(
                "That was an edit. This part asks for the unedited re-run: ‹baseline› at the step."
                    .to_owned(),
            );
        }
        _ => {}
    }
    let came = match outcome.verdict {
        Some(verdict) => verdict.to_string(),
        None => "Run to its end".to_owned(),
    };
    if !here(condition, step) {
        return Some(elsewhere(&came, condition, step));
    }
    if let Deed::Verdict(wanted) = condition.deed
        && outcome.verdict != Some(wanted)
    {
        let reason = outcome
            .reason
            .as_ref()
            .map_or(String::new(), |reason| format!(" ({reason})"));
        return Some(match outcome.verdict {
            None => format!(
                "No verdict{reason}. This part asks for {wanted}: ‹replay.edit› opens your edit again."
            ),
            Some(crate::model::Verdict::Inconclusive) => format!(
                "Inconclusive{reason}, so your text was not tested. This part asks for {wanted}: ‹replay.edit› opens your edit again."
            ),
            Some(verdict) => format!(
                "{verdict}{reason}, and this part asks for {wanted}: ‹replay.edit› opens your edit again."
            ),
        });
    }
    let made = &outcome.intervention;
    if !styled(condition, made.class) {
        return restyle(&came, condition, made.class);
    }
    made.answer_leak.then(|| leaks(&came))
}

fn missed_gates(condition: &Condition, seen: &Seen<'_>) -> Option<String> {
    let gates = seen.gates?;
    let checked = gates.checked.as_ref()?.as_ref().ok()?;
    let report = seen.report()?;
    let step = gates.request.step;
    let came = "At the gates";
    if !here(condition, step) {
        return Some(elsewhere(came, condition, step));
    }
    if condition.deed == Deed::Edit && gates.request.text.is_none() {
        return Some("That is the unedited re-run. This part asks for an edit.".to_owned());
    }
    if !styled(condition, checked.class) {
        return restyle(came, condition, checked.class);
    }
    if checked.answer_leak {
        return Some(leaks(came));
    }
    match (condition.deed, holding_back(report)) {
        (Deed::Held(wanted), Some(other)) if other != wanted => Some(format!(
            "Held by gate '{other}' first; this part is about gate '{wanted}'."
        )),
        (Deed::Held(wanted), None) => Some(format!(
            "All gates hold for this fork; this part is about one that gate '{wanted}' holds back."
        )),
        _ => None,
    }
}

fn elsewhere(came: &str, condition: &Condition, step: usize) -> String {
    let wanted = match condition.at {
        Some((from, to)) if from == to => format!("step {from}"),
        Some((from, to)) => format!("steps {from} to {to}"),
        None => "another step".to_owned(),
    };
    format!("{came}, but at step {step}: this part is about {wanted}.")
}

fn leaks(came: &str) -> String {
    format!(
        "{came}, but the edit gives the answer away: say how to find the answer, not what it is."
    )
}

fn restyle(came: &str, condition: &Condition, class: Option<EditClass>) -> Option<String> {
    let how = match condition.style? {
        EditClass::AddDetail => "keep the words that are there and add to them",
        EditClass::Simplify => "take words out and put nothing else in their place",
        EditClass::ChangePlan => "put other lines in the place of those of the plan",
        EditClass::Other => "write it with other words",
    };
    let class = class.map_or("no edit", EditClass::name).replace('_', " ");
    Some(format!("{came}, but as {class}: {how}."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::fixture;
    use crate::model::Verdict;

    fn asks(deed: Deed, style: Option<EditClass>, at: usize) -> Condition {
        Condition {
            deed,
            at: Some((at, at)),
            style,
            line: 1,
        }
    }

    /// The fixture's edit of step 9 was validated, as change plan.
    fn ran(change: impl Fn(&mut Outcome)) -> App {
        let mut app = fixture::replayed();
        if let Some(View::Replay) = app.views.last()
            && let Some(replay) = &mut app.replay
            && let Some(Ok(outcome)) = &mut replay.outcome
        {
            change(outcome);
            return app;
        }
        panic!("no replay that ended");
    }

    #[test]
    fn a_try_that_misses_is_told_why_and_does_not_count() {
        let validated = Deed::Verdict(Verdict::Validated);
        let told = |app: &App, condition: &Condition| {
            (
                holds(condition, app, Before::default()),
                missed(condition, app, Before::default()).unwrap_or_default(),
            )
        };
        let app = ran(|_| {});
        assert_eq!(told(&app, &asks(validated, None, 9)), (true, String::new()));
        let table = [
            (
                asks(validated, Some(EditClass::AddDetail), 9),
                "Validated, but as change plan: keep the words that are there and add to them.",
            ),
            (
                asks(validated, None, 18),
                "Validated, but at step 9: this part is about step 18.",
            ),
            (
                asks(Deed::Verdict(Verdict::Refuted), None, 9),
                "Validated, and this part asks for Refuted",
            ),
            (
                asks(Deed::Run { baseline: true }, None, 9),
                "That was an edit.",
            ),
        ];
        for (condition, sentence) in table {
            let (done, said) = told(&app, &condition);
            assert!(!done && said.starts_with(sentence), "{said}");
        }
        let inconclusive = ran(|outcome| {
            outcome.verdict = Some(Verdict::Inconclusive);
            outcome.reason = Some("not fulfilled".into());
        });
        let (done, said) = told(&inconclusive, &asks(validated, None, 9));
        assert!(
            !done && said.starts_with("Inconclusive (not fulfilled), so your text was not tested"),
            "{said}"
        );
    }

    #[test]
    fn an_edit_that_gives_the_answer_away_completes_nothing() {
        let app = ran(|outcome| outcome.intervention.answer_leak = true);
        for deed in [
            Deed::Verdict(Verdict::Validated),
            Deed::Run { baseline: false },
        ] {
            let condition = asks(deed, None, 9);
            assert!(!holds(&condition, &app, Before::default()));
            let said = missed(&condition, &app, Before::default()).unwrap();
            assert!(
                said.starts_with("Validated, but the edit gives the answer away:"),
                "{said}"
            );
        }
    }
}
