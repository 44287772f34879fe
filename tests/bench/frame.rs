//! A frame must cost the same whether a branch has a hundred steps or a hundred thousand.
#![allow(clippy::unwrap_used, missing_docs)]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use dover::app::key::Key;
use dover::app::msg::{BranchView, Opened, StepView};
use dover::app::steps::PAGE;
use dover::app::{App, Job, Msg, update};
use dover::model::{
    AgentInfo, Branch, BranchId, Cell, Lane, RunStatus, Session, Step, StepHead, StepKind, trials,
};
use dover::pipeline::Restorability;
use dover::ui::colour::Depth;
use dover::ui::glyph::Charset;
use dover::ui::theme::Theme;
use dover::ui::{RenderCache, draw};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

const LENGTHS: [usize; 2] = [100, 100_000];

fn step(index: usize) -> Step {
    Step {
        index,
        agent: format!("agent {}", index % 4),
        kind: if index % 30 == 1 {
            StepKind::Plan
        } else {
            StepKind::Message
        },
        text: format!("step {index}: the page shows an entry of the archive, 八月, and more. ")
            .repeat(8),
        ..Step::default()
    }
}

fn branch(len: usize) -> Branch {
    Branch {
        id: BranchId::main("long"),
        parent: None,
        fork_step: None,
        prefix_digest: None,
        intervention: None,
        run_index: 0,
        operator: None,
        seed: 0,
        runtime: None,
        gate: None,
        run: RunStatus::Done,
        diagnostic: false,
        fulfilled: None,
        success: Some(false),
        answer: None,
        milestones: None,
        reason: None,
        created: String::new(),
        usage: None,
        told: false,
        steps: len,
    }
}

/// The session open at its last step, everything near it known.
fn app(len: usize) -> App {
    let plans: Vec<usize> = (0..len).filter(|index| index % 30 == 1).collect();
    let opened = Opened {
        session: Session {
            id: "long".into(),
            agents: (0..4)
                .map(|n| AgentInfo {
                    name: format!("agent {n}"),
                    ..AgentInfo::default()
                })
                .collect(),
            ..Session::default()
        },
        branches: vec![branch(len)],
        interventions: Vec::new(),
        hypotheses: Vec::new(),
        shown: BranchView {
            branch: branch(len),
            trials: trials(&plans, 1, len),
            milestones: Vec::new(),
            parent_milestones: None,
        },
    };
    let (mut app, _) = App::start("ann".into(), None, None);
    let mut jobs = update(&mut app, Msg::Opened(Ok(Box::new(opened))));
    jobs.extend(update(&mut app, Msg::Key(Key::char('G'))));
    while let Some(job) = jobs.pop() {
        let msg = match job {
            Job::Heads(branch, page) => {
                let heads = (page * PAGE..((page + 1) * PAGE).min(len))
                    .map(|index| StepHead::of(&step(index)));
                Msg::Heads(branch, page, Ok(heads.collect()))
            }
            Job::Step(_, branch, index) => Msg::Step(
                branch,
                index,
                Box::new(StepView {
                    step: Ok(step(index)),
                    restorability: Ok(Restorability {
                        exact: false,
                        line: "no checkpoint".into(),
                    }),
                }),
            ),
            _ => continue,
        };
        jobs.extend(update(&mut app, msg));
    }
    app
}

fn frames(criterion: &mut Criterion) {
    let theme = Theme::fallback(Depth::Ansi16);
    for (width, height) in [(80, 24), (140, 45)] {
        let mut group = criterion.benchmark_group(format!("frame {width}x{height}"));
        for len in LENGTHS {
            let mut app = app(len);
            let mut cache = RenderCache::new(Charset::Unicode);
            let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
            group.bench_function(format!("{len} steps"), |bencher| {
                bencher.iter(|| {
                    terminal
                        .draw(|frame| draw(&app, &theme, &mut cache, frame))
                        .unwrap();
                    black_box(update(&mut app, Msg::Drawn(Box::new(cache.extents))))
                });
            });
        }
        group.finish();
    }
}

/// The overview of fifty branches of a thousand steps each, whole rows and folded.
fn overview(criterion: &mut Criterion) {
    const BRANCHES: usize = 50;
    const STEPS: usize = 1_000;
    let theme = Theme::fallback(Depth::Ansi16);
    for (width, height) in [(80, 24), (140, 45)] {
        let mut group = criterion.benchmark_group(format!("overview {width}x{height}"));
        for folded in [false, true] {
            let mut app = app(STEPS);
            let open = app.open.as_mut().unwrap();
            open.branches = (0..BRANCHES)
                .map(|n| Branch {
                    id: BranchId::new("long", &lane_name(n)),
                    parent: (n > 0).then(|| BranchId::main("long")),
                    fork_step: (n > 0).then_some(n),
                    ..branch(STEPS)
                })
                .collect();
            let lanes = (0..BRANCHES).map(|n| Lane {
                branch: BranchId::new("long", &lane_name(n)),
                parent: (n > 0).then_some(0),
                from: n,
                cells: (n..STEPS)
                    .map(|at| Cell {
                        agent: u16::try_from(at % 4).unwrap(),
                        kind: step(at).kind,
                        error: at % 97 == 0,
                    })
                    .collect(),
                reached: vec![Some(n), None, Some(STEPS / 2)],
            });
            update(&mut app, Msg::Key(Key::char('o')));
            update(&mut app, Msg::Lanes("long".into(), Ok(lanes.collect())));
            if !folded {
                update(&mut app, Msg::Key(Key::char('z')));
            }
            let mut cache = RenderCache::new(Charset::Unicode);
            let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
            let name = if folded { "folded" } else { "a row a step" };
            group.bench_function(name, |bencher| {
                bencher.iter(|| {
                    update(&mut app, Msg::Key(Key::char('j')));
                    terminal
                        .draw(|frame| draw(&app, &theme, &mut cache, frame))
                        .unwrap();
                    black_box(update(&mut app, Msg::Drawn(Box::new(cache.extents))))
                });
            });
        }
        group.finish();
    }
}

fn lane_name(n: usize) -> String {
    if n == 0 {
        "main".to_owned()
    } else {
        format!("b{n}")
    }
}

criterion_group!(benches, frames, overview);
criterion_main!(benches);
