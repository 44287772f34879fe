//! A frame must cost the same whether a branch has a hundred steps or a hundred thousand.
#![allow(clippy::unwrap_used, clippy::format_collect, missing_docs)]

use std::hint::black_box;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use dover::app::key::{Code, Key};
use dover::app::msg::{BranchView, Opened, StepView};
use dover::app::state::Recorded;
use dover::app::steps::PAGE;
use dover::app::{App, Job, Msg, View, update};
use dover::model::{
    AgentInfo, Branch, BranchId, Cell, Checkpoint, KeyState, Lane, RunStatus, Session, Step,
    StepHead, StepKind, trials,
};
use dover::pipeline::Restorability;
use dover::ui::colour::Depth;
use dover::ui::diff::WordDiff;
use dover::ui::glyph::Charset;
use dover::ui::theme::Theme;
use dover::ui::{RenderCache, draw};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use serde_json::{Value, json};

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

/// A letter in the palette: found, ordered and drawn, with as many branches to offer as the overview has.
fn palette(criterion: &mut Criterion) {
    let theme = Theme::fallback(Depth::Ansi16);
    let mut app = app(1_000);
    let open = app.open.as_mut().unwrap();
    open.branches = (0..50)
        .map(|n| Branch {
            id: BranchId::new("long", &lane_name(n)),
            ..branch(1_000)
        })
        .collect();
    update(&mut app, Msg::Key(Key::ctrl('p')));
    let mut cache = RenderCache::new(Charset::Unicode);
    let mut terminal = Terminal::new(TestBackend::new(140, 45)).unwrap();
    criterion.bench_function("palette/a letter", |bencher| {
        bencher.iter(|| {
            for key in [Key::char('e'), Key::of(Code::Backspace)] {
                update(&mut app, Msg::Key(key));
                terminal
                    .draw(|frame| draw(&app, &theme, &mut cache, frame))
                    .unwrap();
            }
        });
    });
}

/// Two texts compared, as the editor does with every letter: the usual case, the worst one for words, and a text of megabytes.
fn diff(criterion: &mut Criterion) {
    let words = |len: usize, by: usize| -> String {
        let words = (0..len).map(|n| format!("w{}", n * by % 3_001));
        words.collect::<Vec<_>>().join(" ")
    };
    let line = "Open the archive of August, 八月, and read the caption.\n";
    let long = |bytes: usize| line.repeat(bytes / line.len());
    let cases = [
        (
            "a paragraph, a word changed",
            line.repeat(8),
            line.repeat(8).replacen("August", "May", 3),
        ),
        ("2,000 words, all others", words(2_000, 7), words(2_000, 11)),
        (
            "one line of 5 MB, all others",
            words(800_000, 7),
            words(800_000, 11),
        ),
        (
            "5 MB, changed at both ends",
            long(5_000_000),
            format!("x{}y", long(5_000_000)),
        ),
    ];
    for (name, old, new) in cases {
        criterion.bench_function(&format!("diff/{name}"), |bencher| {
            bencher.iter(|| black_box(WordDiff::new(&old, &new)));
        });
    }
}

/// A state of 5 MB held against another: taken in, then moved about in.
fn state(criterion: &mut Criterion) {
    let messages = |changed: usize| -> Vec<Value> {
        (0..20_000)
            .map(|n| {
                let text =
                    format!("message {n}: the page shows an entry of the archive. ").repeat(4);
                let read = n % changed == 0;
                json!({"source": format!("agent {}", n % 4), "content": text, "read": read})
            })
            .collect()
    };
    let checkpoint = |step, changed| Checkpoint {
        step,
        keys: [(
            "agent_memory".to_owned(),
            KeyState::saved("1", json!({"messages": messages(changed)})),
        )]
        .into(),
    };
    let main = BranchId::main("long");
    let recorded = || {
        let (now, then) = (checkpoint(999, 10), checkpoint(0, 7));
        Recorded::new(vec![0, 999], Some(now), Some(then))
    };
    let theme = Theme::fallback(Depth::Ansi16);
    let mut app = app(1_000);
    update(&mut app, Msg::Key(Key::char('t')));
    if let Some(View::State(view)) = app.views.last_mut() {
        view.held = Some((main.clone(), 0));
    }
    let held = Some((main.clone(), 0));
    criterion.bench_function("state/5 MB against 5 MB, taken in", |bencher| {
        bencher.iter_batched(
            || Msg::State(main.clone(), 999, held.clone(), Box::new(Ok(recorded()))),
            |msg| update(&mut app, msg),
            BatchSize::PerIteration,
        );
    });
    update(
        &mut app,
        Msg::State(main, 999, held, Box::new(Ok(recorded()))),
    );
    // Whatever differs is unfolded.
    let Some(View::State(view)) = app.views.last() else {
        panic!("the state is shown")
    };
    assert!(view.rows().len() > 9_000, "{} rows", view.rows().len());
    let mut cache = RenderCache::new(Charset::Unicode);
    let mut terminal = Terminal::new(TestBackend::new(140, 45)).unwrap();
    criterion.bench_function("state/j in it", |bencher| {
        bencher.iter(|| {
            update(&mut app, Msg::Key(Key::char('j')));
            terminal
                .draw(|frame| draw(&app, &theme, &mut cache, frame))
                .unwrap();
            black_box(update(&mut app, Msg::Drawn(Box::new(cache.extents))))
        });
    });
}

fn lane_name(n: usize) -> String {
    if n == 0 {
        "main".to_owned()
    } else {
        format!("b{n}")
    }
}

criterion_group!(benches, frames, overview, palette, diff, state);
criterion_main!(benches);
