//! A made-up session for tests: a picture hunt that fails, and what becomes of its forks.

use super::msg::{BranchView, Checked, Comparing, Opened, StepView};
pub(crate) use super::press_fixture::press;
use super::press_fixture::started;
use super::{App, Job, Msg, update};
use crate::gate::{Action, GateResult, Report};
use crate::model::{
    AgentInfo, Annotation, Branch, BranchId, Category, Check, Comparison, Coverage, Digest,
    EditClass, GateStatus, Intervention, Milestone, Pair, RunStatus, Session, Step, StepHead,
    StepKind, StepMeta, Tally, Verdict, trials_of_kinds,
};
use crate::pipeline::{Outcome, Progress, Restorability};
use crate::store::SessionSummary;

pub(crate) fn session() -> Session {
    Session {
        id: "night-picture".into(),
        title: "The picture of the first week of August 2015".into(),
        format: "scenario".into(),
        task: "During the first week of August 2015, one of the pictures of the day showed the lights of a city. Which city?".into(),
        agents: ["human", "Orchestrator", "WebSurfer", "FileSurfer"]
            .map(|name| AgentInfo {
                name: name.into(),
                ..AgentInfo::default()
            })
            .to_vec(),
        orchestrator: Some("Orchestrator".into()),
        milestones: ["Open the archive", "Find the month", "Open the picture's page", "Read the caption", "Name the city"]
            .map(|title| Milestone {
                title: title.into(),
                check: Check::Fact(title.to_lowercase()),
            })
            .to_vec(),
        annotations: vec![Annotation {
            step: Some(9),
            name: "mistake_step".into(),
            value: "9".into(),
        }],
        coverage: Coverage {
            read: 14,
            content: true,
            ..Coverage::default()
        },
        ..Session::default()
    }
}

/// The failed run.
#[allow(clippy::too_many_lines, reason = "a table")]
pub(crate) fn steps() -> Vec<Step> {
    use StepKind::{
        Answer, Control, Instruction, Ledger, Message, Plan, Task, ToolCall, ToolResult,
    };
    let rows: [(&str, StepKind, Option<&str>, &str, bool); 14] = [
        (
            "human",
            Task,
            None,
            "During the first week of August 2015, one of the pictures of the day showed the lights of a city at night, seen from the space station. Which city is it? Answer with its name.",
            false,
        ),
        (
            "Orchestrator",
            Plan,
            None,
            "Initial plan:\n1. Open the archive of pictures\n2. Scroll to August 2015\n3. Read the caption of the picture",
            false,
        ),
        (
            "Orchestrator",
            Ledger,
            None,
            "Updated Ledger:\n{\"is_request_satisfied\": {\"reason\": \"the city is not known yet\", \"answer\": false}, \"is_progress_being_made\": {\"answer\": true}, \"next_speaker\": {\"answer\": \"WebSurfer\"}}",
            false,
        ),
        (
            "Orchestrator",
            Control,
            None,
            "Next speaker WebSurfer",
            false,
        ),
        (
            "Orchestrator",
            Instruction,
            Some("WebSurfer"),
            "Find the picture of the first week of August 2015 in the archive of pictures.",
            false,
        ),
        ("WebSurfer", ToolCall, None, "open_page", false),
        (
            "WebSurfer",
            ToolResult,
            None,
            "Archive of pictures. The viewport shows 12% of the page. 2026: July, June, May…",
            false,
        ),
        (
            "WebSurfer",
            Message,
            None,
            "I scrolled one page down. The viewport shows 12% of the page. I see pictures of 2026 and 2025.",
            false,
        ),
        (
            "Orchestrator",
            Plan,
            None,
            "New plan:\n1. Click the year 2015\n2. Open the first week of August\n3. Read the caption",
            false,
        ),
        (
            "Orchestrator",
            Instruction,
            Some("WebSurfer"),
            "Click the control '2015' on the archive page, and tell me what you see there.",
            false,
        ),
        (
            "WebSurfer",
            Message,
            None,
            "There is no control named '2015' on this page. I clicked 'About' instead.",
            true,
        ),
        (
            "Orchestrator",
            Ledger,
            None,
            "Updated Ledger:\n{\"is_request_satisfied\": {\"answer\": false}, \"is_progress_being_made\": {\"answer\": false}}",
            false,
        ),
        (
            "WebSurfer",
            Message,
            None,
            "这一页没有图片。页面上写着：关于本站。",
            false,
        ),
        ("Orchestrator", Answer, None, "FINAL ANSWER: Paris", false),
    ];
    rows.into_iter()
        .enumerate()
        .map(|(index, (agent, kind, to, text, error))| Step {
            index,
            agent: agent.into(),
            kind,
            to: to.map(str::to_owned),
            text: text.into(),
            meta: StepMeta {
                error,
                tool: matches!(kind, ToolCall | ToolResult).then(|| crate::model::ToolUse {
                    name: "open_page".into(),
                    arguments: Some("{\"address\": \"/archive.html\", \"scroll\": 1}".into()),
                    ..crate::model::ToolUse::default()
                }),
                ..StepMeta::default()
            },
        })
        .collect()
}

pub(crate) fn branch(name: &str) -> Branch {
    let main = name == "main";
    Branch {
        id: BranchId::new("night-picture", name),
        parent: (!main).then(|| BranchId::main("night-picture")),
        fork_step: (!main).then_some(9),
        prefix_digest: None,
        intervention: (!main).then(|| "night-picture/i1".into()),
        run_index: name
            .strip_prefix('b')
            .and_then(|n| n.parse().ok())
            .unwrap_or(0),
        operator: None,
        seed: 1,
        runtime: Some("scenario".into()),
        gate: (!main).then_some(GateStatus::ReadyToResume),
        run: if main {
            RunStatus::Done
        } else {
            RunStatus::Planned
        },
        diagnostic: false,
        fulfilled: None,
        success: main.then_some(false),
        answer: main.then(|| "Paris".into()),
        milestones: None,
        reason: None,
        created: "2026-01-31T12:00:00Z".into(),
        steps: if main { 14 } else { 9 },
        usage: None,
        told: false,
    }
}

pub(crate) fn ended(name: &str, right: bool, after: usize) -> Branch {
    Branch {
        gate: Some(if right {
            GateStatus::Verified
        } else {
            GateStatus::FalseSuccess
        }),
        run: RunStatus::Done,
        fulfilled: Some(true),
        success: Some(right),
        answer: Some(if right { "Milan" } else { "Paris" }.into()),
        milestones: Some(Tally {
            before: 2,
            after,
            of: 5,
        }),
        steps: 13,
        ..branch(name)
    }
}

pub(crate) fn view(branch: Branch, milestones: [Option<usize>; 5]) -> BranchView {
    let kinds: Vec<StepKind> = steps().iter().map(|step| step.kind).collect();
    BranchView {
        trials: trials_of_kinds(&kinds),
        milestones: milestones.to_vec(),
        parent_milestones: branch.parent.is_some().then(|| MAIN.to_vec()),
        branch,
    }
}

/// Milestones of `main`.
pub(crate) const MAIN: [Option<usize>; 5] = [Some(6), Some(7), None, None, None];
/// Milestones of the branch that is right.
pub(crate) const RIGHT: [Option<usize>; 5] = [Some(6), None, Some(10), Some(10), Some(12)];

pub(crate) fn intervention() -> Intervention {
    Intervention {
        id: "night-picture/i1".into(),
        parent: BranchId::main("night-picture"),
        step: 9,
        category: Category::Instruction,
        class: Some(EditClass::ChangePlan),
        text: Some(EDIT.into()),
        changes: Vec::new(),
        config: None,
        edit_digest: Digest::of("edit"),
        n: 3,
        seed: 1,
        answer_leak: false,
        operator: "ann".into(),
        created: "2026-01-31T12:00:00Z".into(),
        hypothesis: None,
        capability: false,
    }
}

/// The edit that helps.
pub(crate) const EDIT: &str =
    "Open the page /2015/08/04.html of the archive, and read me the caption of the picture.";

pub(crate) fn report(state: Option<bool>) -> Report {
    let gate = |number, name, holds: Option<bool>, found: &str| GateResult {
        number,
        name,
        holds,
        found: found.into(),
        evidence: std::collections::BTreeMap::new(),
        details: Vec::new(),
        actions: Vec::new(),
        mend: None,
    };
    let exact = state == Some(true);
    let mut second = gate(
        2,
        "state",
        state,
        if exact {
            "5 of 5 required keys restore exactly"
        } else {
            "browser drifted: the page changed since the checkpoint"
        },
    );
    second.details = [
        "agent_memory exact: loaded memory hashed again",
        "browser drifted: address, route and session class read back",
        "workspace exact: digest of local files",
        "tool_registry exact: schema hash and count",
    ]
    .map(|line| {
        if exact {
            line.replace("drifted", "exact")
        } else {
            line.to_owned()
        }
    })
    .to_vec();
    second.actions = if exact {
        Vec::new()
    } else {
        vec![Action::Diagnostic]
    };
    second.mend = (!exact).then(|| {
        "Run it as a diagnostic branch, or fork at a step with an exact checkpoint".into()
    });
    Report {
        notes: Vec::new(),
        gates: vec![
            gate(
                1,
                "lineage",
                Some(true),
                "b1–b3 of main, prefix of 9 steps, digest 9f2c31aa",
            ),
            second,
            gate(3, "effects", Some(true), "none after the checkpoint"),
            gate(
                4,
                "authority",
                Some(true),
                "low risk: local fixtures only, operator ann",
            ),
            gate(
                5,
                "config",
                Some(true),
                "pinned 41ac77d0, no difference from main",
            ),
            gate(6, "outcome", None, "judged after the run"),
        ],
        status: if exact {
            GateStatus::ReadyToResume
        } else {
            GateStatus::RestoreUncertain
        },
    }
}

pub(crate) fn checked(exact: bool) -> Checked {
    Checked {
        category: Category::Instruction,
        class: Some(EditClass::ChangePlan),
        answer_leak: false,
        runs: 3,
        runtime: "scenario: Night pictures".into(),
        report: report(Some(exact)),
    }
}

pub(crate) fn outcome() -> Outcome {
    Outcome {
        intervention: intervention(),
        branches: vec![
            ended("b1", true, 4),
            ended("b2", true, 4),
            ended("b3", false, 2),
        ],
        report: Some(report(Some(true))),
        progress: Some(0.266),
        verdict: Some(Verdict::Validated),
        reason: None,
    }
}

pub(crate) fn branch_steps() -> Vec<Step> {
    let mut steps = steps();
    let texts = [
        (9, EDIT),
        (
            10,
            "The picture of 4 August 2015: the lights of Milan at night, seen from the space station.",
        ),
        (
            11,
            "Updated Ledger:\n{\"is_request_satisfied\": {\"answer\": true}}",
        ),
        (12, "FINAL ANSWER: Milan"),
    ];
    steps.truncate(13);
    for (index, text) in texts {
        steps[index].text = text.into();
        steps[index].meta.error = false;
    }
    steps[12].agent = "Orchestrator".into();
    steps[12].kind = StepKind::Answer;
    steps
}

fn steps_of(branch: &BranchId) -> Vec<Step> {
    if branch.name() == "main" {
        steps()
    } else {
        branch_steps()
    }
}

pub(crate) fn comparing() -> Comparing {
    let pair = |a: usize, b: usize, same| Pair {
        a: (a < 99).then_some(a),
        b: (b < 99).then_some(b),
        same,
    };
    let mut pairs: Vec<Pair> = (0..9).map(|i| pair(i, i, true)).collect();
    pairs.extend([
        pair(9, 9, false),
        pair(10, 10, false),
        pair(11, 11, false),
        pair(12, 99, false),
        pair(13, 12, false),
    ]);
    Comparing {
        comparison: Comparison {
            a: BranchId::main("night-picture"),
            b: BranchId::new("night-picture", "b1"),
            common_prefix: 9,
            first_divergence: Some(9),
            pairs,
        },
        a: view(branch("main"), MAIN),
        b: view(ended("b1", true, 4), RIGHT),
    }
}

/// Answers the jobs as the store would.
pub(crate) fn answer(app: &mut App, jobs: Vec<Job>) {
    let mut open = jobs;
    while let Some(job) = open.pop() {
        let msg = match job {
            Job::Open(_) => Msg::Opened(Ok(Box::new(Opened {
                session: session(),
                branches: vec![branch("main")],
                interventions: Vec::new(),
                hypotheses: Vec::new(),
                shown: view(branch("main"), MAIN),
            }))),
            Job::Heads(branch, page) => {
                let steps = steps_of(&branch);
                Msg::Heads(branch, page, Ok(steps.iter().map(StepHead::of).collect()))
            }
            Job::Step(_, branch, index) => Msg::Step(
                branch.clone(),
                index,
                Box::new(StepView {
                    step: Ok(steps_of(&branch)[index].clone()),
                    restorability: Ok(Restorability {
                        exact: index >= 4,
                        line: if index >= 4 {
                            "fork here: 5 of 5 keys saved"
                        } else {
                            "fork here: diagnostic only, no checkpoint"
                        }
                        .into(),
                    }),
                }),
            ),
            Job::Compare(..) => Msg::Compared(Ok(Box::new(comparing()))),
            Job::Pair((_, a), (_, b)) => Msg::Pair(Ok(Box::new((
                a.map(|i| steps()[i].clone()),
                b.map(|i| branch_steps()[i].clone()),
            )))),
            other => match super::find_fixture::answer(other) {
                Some(msg) => msg,
                None => continue,
            },
        };
        open.extend(update(app, msg));
    }
}

/// The picker with three sessions.
pub(crate) fn picker() -> App {
    let mut app = started(App::start("ann".into(), None, None).0);
    let summary = |id: &str, title: &str, success, milestones, branches| SessionSummary {
        session: Session {
            id: id.into(),
            title: title.into(),
            ..session()
        },
        steps: 14,
        trials: 2,
        branches,
        success,
        milestones,
        created: "2026-01-31T12:00:00Z".into(),
    };
    let sessions = vec![
        summary(
            "night-picture",
            "The picture of the first week of August 2015",
            Some(false),
            Some((2, 5)),
            1,
        ),
        summary(
            "school-fair",
            "A maths dialogue of solver and calculator",
            Some(false),
            Some((1, 3)),
            4,
        ),
        summary(
            "3-json",
            "Which 打开八月 picture was it, and who took it? A long title that has to be cut somewhere",
            None,
            None,
            1,
        ),
    ];
    update(&mut app, Msg::Sessions(Ok(sessions)));
    app
}

/// The session, the vague instruction selected.
pub(crate) fn opened() -> App {
    let mut app = picker();
    press(&mut app, "⏎");
    for _ in 0..9 {
        press(&mut app, "j");
    }
    app
}

/// The gate panel of a good edit.
pub(crate) fn at_the_gates(exact: bool) -> App {
    let mut app = opened();
    press(&mut app, "e");
    for _ in 0..5 {
        press(&mut app, "⌦");
    }
    update(&mut app, Msg::Edited(Ok(EDIT.into())));
    press(&mut app, "␓");
    let ticket = app.gates().unwrap().ticket;
    update(&mut app, Msg::Checked(ticket, Ok(Box::new(checked(exact)))));
    app
}

/// Three runs on their way.
pub(crate) fn replaying() -> App {
    let mut app = at_the_gates(true);
    press(&mut app, "⏎");
    let ticket = app.replay.as_ref().unwrap().ticket;
    let branches = ["b1", "b2", "b3"].map(branch).to_vec();
    let mut told = vec![Progress::Forked {
        intervention: intervention(),
        branches: branches.clone(),
    }];
    for (branch, made) in branches.iter().zip([4, 2, 1]) {
        told.extend(
            branch_steps()[9..9 + made]
                .iter()
                .map(|step| Progress::Step {
                    branch: branch.id.clone(),
                    head: StepHead::of(step),
                }),
        );
    }
    told.push(Progress::Delta {
        branch: branches[1].id.clone(),
        agent: "Orchestrator".into(),
        text: "The caption names the city, so the request is ".into(),
    });
    for progress in told {
        let jobs = update(&mut app, Msg::Progress(ticket, progress));
        answer(&mut app, jobs);
    }
    let second = vec![Some(6), None, Some(10), None, None];
    for (branch, reached) in branches.iter().zip([RIGHT.to_vec(), second]) {
        let jobs = update(&mut app, Msg::Milestones(branch.id.clone(), Ok(reached)));
        answer(&mut app, jobs);
    }
    app
}

/// Three runs that ended.
pub(crate) fn replayed() -> App {
    let mut app = replaying();
    let ticket = app.replay.as_ref().unwrap().ticket;
    let outcome = outcome();
    update(
        &mut app,
        Msg::Replayed(ticket, Ok(Box::new(outcome.clone()))),
    );
    let mut branches = vec![branch("main")];
    branches.extend(outcome.branches);
    let kin = (branches, vec![intervention()], Vec::new());
    update(&mut app, Msg::Refreshed(Ok(kin)));
    app
}
