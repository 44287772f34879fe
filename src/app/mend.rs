//! What an operator does about a gate that does not hold: acknowledge, accept, ask an owner and wait, settle effects.
//!
//! Invariant: a fork that waits is the intervention that was written, and is resumed as it stands. While its panel is there the
//! store is looked at about twice a second; the gates are asked again, which may restore and run things, only when it changed.

use super::fork::Gates;
use super::msg::{Fault, Job, Ticket};
use super::{App, Prompt, Purpose, View, debug};
use crate::model::{Branch, BranchId, GateStatus, Intervention, RunStatus, Step};
use crate::pipeline::{ForkRequest, Outcome};
use crate::store::Role;

/// The gate panel of a fork, wherever it lies; one that was left, or asked anew, wants no old answer.
pub(super) fn panel(app: &mut App, ticket: Ticket) -> Option<&mut Gates> {
    app.views.iter_mut().find_map(|view| match view {
        View::Gates(gates) if gates.ticket == ticket => Some(gates.as_mut()),
        _ => None,
    })
}

pub(super) fn acknowledge(app: &mut App) -> Vec<Job> {
    debug::ask_again(app, |gates| gates.request.acknowledge_drift = true)
}

pub(super) fn accept_delta(app: &mut App) -> Vec<Job> {
    debug::ask_again(app, |gates| gates.request.accept_delta = true)
}

/// Writes the fork down as held, so that an owner can approve it.
pub(super) fn request_approval(app: &mut App) -> Vec<Job> {
    let Some(View::Gates(gates)) = app.views.last_mut() else {
        return Vec::new();
    };
    gates.checking = true;
    vec![Job::Hold(gates.ticket, gates.request.clone())]
}

/// The fork was written and waits.
pub(super) fn held(app: &mut App, ticket: Ticket, result: Result<ForkRequest, Fault>) -> Vec<Job> {
    let request = match result {
        Ok(request) => request,
        Err(fault) => {
            if let Some(gates) = panel(app, ticket) {
                gates.checking = false;
            }
            app.fail(fault);
            return Vec::new();
        }
    };
    let refresh = Job::Refresh(request.branch.session().to_owned());
    app.drafts.remove(&(request.branch.clone(), request.step));
    match panel(app, ticket) {
        Some(gates) => {
            gates.request = request.clone();
            vec![refresh, Job::Check(ticket, request)]
        }
        None => vec![refresh],
    }
}

/// The intervention that is selected in their list, if it was held or some of its runs did not come to their end.
pub(super) fn selected(app: &App) -> Option<&Intervention> {
    let (Some(View::Interventions(row)), Some(open)) = (app.views.last(), &app.open) else {
        return None;
    };
    let intervention = open.interventions.get(*row)?;
    let runs = open
        .branches
        .iter()
        .filter(|branch| branch.intervention.as_ref() == Some(&intervention.id));
    let runs: Vec<Branch> = runs.cloned().collect();
    let held = runs.iter().all(Branch::refused);
    let again = held
        || !Outcome::of(intervention.clone(), runs)
            .unfinished()
            .is_empty();
    again.then_some(intervention)
}

/// What to say of runs that went with their program and can be run again.
pub(super) fn interrupted(app: &App) -> Option<String> {
    let open = app.open.as_ref()?;
    open.interventions.iter().rev().find_map(|one| {
        let of = |run: &&Branch| run.intervention.as_ref() == Some(&one.id);
        let runs: Vec<Branch> = open.branches.iter().filter(of).cloned().collect();
        let went = |run: &&Branch| run.run == RunStatus::Interrupted;
        let outcome = Outcome::of(one.clone(), runs);
        let count = outcome.branches.iter().filter(went).count();
        let name = one.id.rsplit('/').next().unwrap_or_default();
        let runs = if count == 1 { "run" } else { "runs" };
        (count > 0).then(|| {
            format!("{count} {runs} of {name} were interrupted, and their steps stay: ‹verdicts› lists what was tried, ‹try-again› there runs them again")
        })
    })
}

/// The newest intervention at a step that waits for an owner.
pub(super) fn waits_at<'a>(
    app: &'a App,
    branch: &BranchId,
    step: usize,
) -> Option<&'a Intervention> {
    let open = app.open.as_ref()?;
    let waits = |one: &&Intervention| {
        let mut runs = open.branches.iter().rev();
        let newest = runs.find(|run| run.intervention.as_ref() == Some(&one.id));
        let held = |run: &Branch| run.refused() && run.gate == Some(GateStatus::NeedsApproval);
        one.parent == *branch && one.step == step && newest.is_some_and(held)
    };
    open.interventions.iter().rev().find(waits)
}

/// Leaves the gates of what a follower saw wait, once the driver ran it.
pub(super) fn ran_elsewhere(app: &mut App) {
    if app.company.role != Role::Follower {
        return;
    }
    let waits = app.gates().and_then(Gates::waits_as).map(str::to_owned);
    let Some((open, id)) = app.open.as_ref().zip(waits) else {
        return;
    };
    let mut runs = open.branches.iter().rev();
    let newest = runs.find(|run| run.intervention.as_ref() == Some(&id));
    if newest.is_some_and(|run| !run.refused()) {
        app.views.pop();
        app.tell(format!(
            "{id} was resumed: ‹verdicts› shows what comes of it"
        ));
    }
}

/// Takes a held intervention to the gates again, as it stands.
pub(super) fn try_again(app: &mut App) -> Vec<Job> {
    let operator = app.operator.clone();
    selected(app)
        .map(|held| Job::TryAgain(held.id.clone(), operator))
        .into_iter()
        .collect()
}

/// The request that tries a held intervention again came, with the step as the parent has it.
pub(super) fn tried_again(app: &mut App, result: Result<(ForkRequest, Step), Fault>) -> Vec<Job> {
    match result {
        Ok((request, original)) => debug::show_gates(app, request, original),
        Err(fault) => {
            app.fail(fault);
            Vec::new()
        }
    }
}

/// Whoever waits heard how many approvals there are: the gates are asked again when that changed.
pub(super) fn look_again(
    app: &mut App,
    ticket: Ticket,
    approvals: Result<usize, Fault>,
) -> Vec<Job> {
    let approvals = match approvals {
        Ok(approvals) => approvals,
        Err(fault) => {
            app.fail(fault);
            return Vec::new();
        }
    };
    let Some(gates) = panel(app, ticket).filter(|gates| !gates.checking) else {
        return Vec::new();
    };
    if std::mem::replace(&mut gates.approvals, approvals) != approvals {
        return vec![Job::Check(ticket, gates.request.clone())];
    }
    let waits = gates.waits_as().map(str::to_owned);
    waits
        .map(|id| Job::LookAgain(ticket, id))
        .into_iter()
        .collect()
}

/// Asks who approves; the only owner that the profile names stands there already.
pub(super) fn ask_owner(app: &mut App) {
    let owners = app.open.as_ref().map(|open| &open.session.profile.owners);
    let line = match owners {
        Some(owners) if owners.len() == 1 => owners.keys().cloned().collect(),
        _ => String::new(),
    };
    app.prompt = Some(Prompt::new(Purpose::Owner, line));
}

/// Approves what waits, as that owner.
pub(super) fn approve(app: &mut App, owner: &str) -> Vec<Job> {
    let waits = app
        .gates()
        .and_then(|gates| Some((gates.ticket, gates.waits_as()?.to_owned())));
    match waits {
        Some(_) if owner.is_empty() => {
            app.tell("Nobody was named, so nothing is approved");
            Vec::new()
        }
        Some((ticket, id)) => vec![Job::Approve(ticket, id, owner.to_owned())],
        None => Vec::new(),
    }
}

/// An approval was given here, or not.
pub(super) fn approved(app: &mut App, ticket: Ticket, result: Result<String, Fault>) -> Vec<Job> {
    match result {
        Ok(told) => {
            app.tell(told);
            // Under a new ticket, so that nobody waits twice.
            let anew = app.ticket();
            panel(app, ticket)
                .map(|gates| gates.ask(anew))
                .into_iter()
                .collect()
        }
        Err(fault) => {
            app.fail(fault);
            Vec::new()
        }
    }
}
