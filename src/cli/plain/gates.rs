//! At the gates: what they say of a fork, and what an operator does about one that does not hold. Nothing runs here.

use super::{Done, Plain, number, tell};
use crate::app::command::Id;
use crate::cli::error::{CliError, Exit};
use crate::cli::text::count;
use crate::gate::{Action, Report};
use crate::model::{BranchId, Category, EffectState};
use crate::pipeline::{self, ForkRequest, Keyring, NewEffects};
use crate::term;

/// A fork before it runs.
pub(super) struct Gates {
    /// What is asked.
    pub request: ForkRequest,
    /// What the gates said last.
    pub report: Option<Report>,
    /// n.
    runs: usize,
    /// The runs begin paused.
    pub paused: bool,
}

impl Gates {
    fn offers(&self, action: Action) -> bool {
        let gates = self.report.iter().flat_map(|report| &report.gates);
        gates
            .filter(|gate| gate.holds == Some(false))
            .any(|gate| gate.actions.contains(&action))
    }
}

impl Plain {
    /// Takes a request to the gates.
    pub(super) async fn take_to_gates(&mut self, request: ForkRequest) -> Done {
        // Somebody who sits there is asked about new effects; a script decides beforehand, as everywhere without a screen.
        let new_effects = match request.new_effects {
            NewEffects::Hold if self.lines.terminal => NewEffects::Ask,
            said => said,
        };
        self.gates = Some(Gates {
            request: ForkRequest {
                new_effects,
                ..request
            },
            report: None,
            runs: 0,
            paused: false,
        });
        self.ask_gates().await
    }

    fn at_gates(&mut self) -> Result<&mut Gates, CliError> {
        self.gates.as_mut().ok_or_else(|| {
            CliError::Usage(
                "no fork is at the gates. edit a step and say fork, or say re-run or test"
                    .to_owned(),
            )
        })
    }

    /// Asks the gates and says what they found.
    pub(super) async fn ask_gates(&mut self) -> Done {
        let request = self.at_gates()?.request.clone();
        let plan = pipeline::plan(&self.store, request, &self.models)?;
        let report = pipeline::check(&self.store, &plan).await?;
        let what = match plan.category {
            Category::None => "unedited re-run".to_owned(),
            category => {
                let class = plan.class.map_or_else(String::new, |class| {
                    format!(", {}", class.name().replace('_', " "))
                });
                format!("{} edit{class}", category.name())
            }
        };
        self.voice.say(&format!(
            "{} at step {}: {what}, {}, seed {}, {}: {}.",
            plan.parent.id,
            plan.request.step,
            count(plan.runs, "run"),
            plan.request.seed,
            plan.description.name,
            plan.description.detail
        ))?;
        if plan.answer_leak {
            self.voice.say("Answer leak: the edit contains the expected answer, so success would prove little.")?;
        }
        for gate in &report.gates {
            for line in tell::gate(gate) {
                self.voice.say(&line)?;
            }
        }
        for note in &report.notes {
            self.voice
                .say(&format!("Changed since the start: {note}"))?;
        }
        let gates = self.at_gates()?;
        gates.runs = plan.runs;
        gates.report = Some(report);
        let next = next(gates);
        self.fate = if gates.report.as_ref().is_some_and(Report::ready) {
            Exit::Done
        } else {
            Exit::Held
        };
        Ok(self.voice.say(&next)?)
    }

    pub(super) async fn plan_runs(&mut self, rest: &str) -> Done {
        let runs = number(rest, None, "runs")?;
        self.fresh()?.request.runs = Some(runs);
        self.ask_gates().await
    }

    pub(super) async fn seed(&mut self, rest: &str) -> Done {
        let gates = self.fresh()?;
        gates.request.seed = match rest {
            "" => gates.request.seed.wrapping_add(1),
            said => said
                .parse()
                .map_err(|_| CliError::Usage(format!("'{said}' is no seed. Say a whole number")))?,
        };
        self.ask_gates().await
    }

    /// What waits for an owner waits exactly as it stands.
    fn fresh(&mut self) -> Result<&mut Gates, CliError> {
        let gates = self.at_gates()?;
        if gates.request.resume.is_some() {
            return Err(CliError::Usage(
                "it waits exactly as it stands. edit makes another edit of it".to_owned(),
            ));
        }
        Ok(gates)
    }

    pub(super) async fn accept(&mut self, id: Id) -> Done {
        let gates = self.at_gates()?;
        let (action, why) = match id {
            Id::Acknowledge => (
                Action::Acknowledge,
                "no drift of the tool registry alone is in the way",
            ),
            _ => (
                Action::AcceptDelta,
                "no difference of the configuration is in the way",
            ),
        };
        if !gates.offers(action) {
            return Err(CliError::Usage(why.to_owned()));
        }
        match action {
            Action::Acknowledge => gates.request.acknowledge_drift = true,
            _ => gates.request.accept_delta = true,
        }
        self.ask_gates().await
    }

    /// The runs will begin paused.
    pub(super) fn pause_before(&mut self) -> Done {
        self.at_gates()?.paused = true;
        let told = "The runs will begin paused: one step and go on let them move.";
        Ok(self.voice.say(told)?)
    }

    /// Decides beforehand about all new effects of the runs.
    pub(super) fn decide_before(&mut self, id: Id) -> Done {
        let (decided, told) = match id {
            Id::Allow => (
                NewEffects::Allow,
                "New effects outside may happen in these runs.",
            ),
            _ => (
                NewEffects::Refuse,
                "New effects outside are refused in these runs; the tool fails.",
            ),
        };
        self.at_gates()?.request.new_effects = decided;
        Ok(self.voice.say(told)?)
    }

    pub(super) fn effects(&mut self, rest: &str) -> Done {
        let open = self.opened()?;
        let at = number(rest, Some(open.step), "a step")?;
        let left = pipeline::left_behind(&self.store, &open.branch, at)?;
        if left.is_empty() {
            let told = format!("{} left nothing outside from step {at} on.", open.branch);
            return Ok(self.voice.say(&told)?);
        }
        for effect in &left {
            self.voice.say(&tell::effect(effect))?;
        }
        Ok(())
    }

    /// Where the effects in question are: those of the fork at the gates, else of the selected step.
    fn effects_at(&self) -> Result<(BranchId, usize), CliError> {
        if let Some(gates) = &self.gates {
            return Ok((gates.request.branch.clone(), gates.request.step));
        }
        let open = self.opened()?;
        Ok((open.branch.clone(), open.step))
    }

    /// Says the commands first; no command runs that was not said.
    pub(super) async fn reconcile(&mut self) -> Done {
        let (branch, step) = self.effects_at()?;
        let commands = pipeline::commands(&self.store, &branch, step)?;
        if commands.is_empty() {
            return Err(CliError::Usage(
                "no destination is left to be asked. keep and undone decide by hand, effects lists them".to_owned(),
            ));
        }
        if self.said != commands {
            for command in &commands {
                self.voice
                    .say(&format!("Would run: {}", command.join(" ")))?;
            }
            self.said = commands;
            return Ok(self.voice.say("Say reconcile once more to run them.")?);
        }
        let asked = pipeline::reconcile(&self.store, &branch, step, &self.operator).await?;
        for one in &asked {
            let failed = one
                .failed
                .as_ref()
                .map_or_else(String::new, |why| format!(". {why}"));
            self.voice
                .say(&format!("{}{failed}", tell::effect(&one.effect)))?;
        }
        if self.gates.is_some() {
            self.ask_gates().await?;
        }
        Ok(())
    }

    pub(super) fn decide(&mut self, id: Id, rest: &str) -> Done {
        let (key, why) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let (branch, _) = self.effects_at()?;
        let state = match id {
            Id::Keep => EffectState::Reconciled,
            _ => EffectState::Reverted,
        };
        pipeline::decide_effect(&self.store, &branch, key, state, why, &self.operator)?;
        let told = format!(
            "{key} is {} now, decided by {}.",
            state.name(),
            self.operator
        );
        self.voice.say(&told)?;
        if self.gates.is_some() {
            self.voice.say("gates asks the gates again.")?;
        }
        Ok(())
    }

    /// Writes the fork down as held, so that an owner can approve it.
    pub(super) async fn request_approval(&mut self) -> Done {
        let gates = self.at_gates()?;
        if !gates.offers(Action::RequestApproval) || gates.request.resume.is_some() {
            return Err(CliError::Usage(
                "no approval is missing, or it waits already".to_owned(),
            ));
        }
        let request = gates.request.clone();
        let again = term::hold(&self.store, &self.models, request).await?;
        let id = again.resume.clone().unwrap_or_default();
        self.at_gates()?.request = again;
        Ok(self.voice.say(&format!(
            "{id} waits for an owner. Here: approve OWNER. Elsewhere: dover approve {id} --as OWNER, then gates."
        ))?)
    }

    pub(super) async fn approve(&mut self, owner: &str) -> Done {
        let id = self.at_gates()?.request.resume.clone().ok_or_else(|| {
            CliError::Usage(
                "what is approved must be written down first: request approval".to_owned(),
            )
        })?;
        if owner.is_empty() {
            return Err(CliError::Usage(
                "say which owner approves: approve OWNER".to_owned(),
            ));
        }
        let approved =
            pipeline::approve(&self.store, &id, owner, &Keyring::open()?, term::APPROVAL)?;
        let told = format!(
            "{owner} approved {id}, until {}.",
            approved.statement.expires
        );
        self.voice.say(&told)?;
        self.ask_gates().await
    }
}

/// What may be said next.
fn next(gates: &Gates) -> String {
    let Some(report) = &gates.report else {
        return String::new();
    };
    if report.ready() {
        return format!(
            "Gates 1 to 5 hold. Nothing has run yet. Say run to make {}.",
            count(gates.runs, "run")
        );
    }
    let words = [
        (Action::Reconcile, "reconcile"),
        (Action::Decide, "effects, then keep or undone"),
        (Action::Acknowledge, "acknowledge"),
        (Action::RequestApproval, "request approval"),
        (Action::AcceptDelta, "accept"),
        (Action::Diagnostic, "diagnostic"),
    ];
    let offered: Vec<_> = words
        .into_iter()
        .filter(|(action, _)| gates.offers(*action))
        .map(|(_, word)| word)
        .collect();
    let offered = if offered.is_empty() {
        String::new()
    } else {
        format!(" You can say: {}.", offered.join("; "))
    };
    let status = report.status.name().replace('_', " ");
    format!("Held: {status}. Nothing has run and nothing has changed.{offered}")
}
