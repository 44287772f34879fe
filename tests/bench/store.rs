//! What the screen and a fork ask of the store: a window must cost its own length, not the branch's.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use dover::model::{
    BranchId, Category, Digest, GateStatus, Intervention, RunStatus, Session, Step, StepKind,
    SystemClock,
};
use dover::pipeline;
use dover::store::{Ending, ForkDraft, ForkFacts, ForkRuling, Store};

const LENGTHS: [usize; 2] = [100, 100_000];
const ROWS: usize = 40;

fn open(dir: &Path) -> Store {
    Store::open(&dir.join("store.db"), Arc::new(SystemClock)).unwrap()
}

fn step(index: usize) -> Step {
    Step {
        index,
        agent: format!("agent {}", index % 4),
        kind: match index {
            0 => StepKind::Task,
            i if i % 30 == 1 => StepKind::Plan,
            _ => StepKind::Message,
        },
        text: format!(
            "step {index}: the page shows entry {} of the archive",
            index * 7
        ),
        ..Step::default()
    }
}

fn take_in(store: &Store, len: usize) -> BranchId {
    take_in_from(store, len, len, 0)
}

/// Steps of which every third one from a place on is another than elsewhere.
fn take_in_from(store: &Store, len: usize, from: usize, other: usize) -> BranchId {
    let mut import = store.import().unwrap();
    for index in 0..len {
        let mut step = step(index);
        if index >= from && index % 3 == 0 {
            step.text = format!("{}, and {other} more", step.text);
        }
        import.push(&step, None, &[]).unwrap();
    }
    let ending = Ending {
        run: RunStatus::Done,
        gate: None,
        fulfilled: None,
        success: None,
        answer: None,
        milestones: None,
        reason: None,
    };
    BranchId::main(&import.finish(Session::default(), ending).unwrap())
}

fn fork(store: &Store, parent: &BranchId, step: usize) -> BranchId {
    let intervention = Intervention {
        id: String::new(),
        parent: parent.clone(),
        step,
        category: Category::None,
        class: None,
        text: None,
        changes: Vec::new(),
        config: None,
        edit_digest: Digest::of(""),
        n: 1,
        seed: 0,
        answer_leak: false,
        operator: "bench".to_owned(),
        created: String::new(),
        hypothesis: None,
        capability: false,
    };
    let draft = ForkDraft {
        operator: "ann".into(),
        intervention,
        runtime: "scenario".to_owned(),
        runs: vec![(1, 0)],
    };
    let mut go = |_: &ForkFacts| ForkRuling {
        gate: GateStatus::ReadyToResume,
        go: true,
        diagnostic: false,
        reason: None,
        receipt: dover::store::ForkEvidence::default(),
    };
    store.fork(draft, &mut go).unwrap().1[0].id.clone()
}

fn benches(c: &mut Criterion) {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    for len in LENGTHS {
        let main = take_in(&store, len);
        c.bench_function(&format!("heads/last {ROWS} of {len}"), |b| {
            b.iter(|| black_box(store.heads(&main, len - ROWS..len).unwrap()));
        });
        let mut deep = main.clone();
        for _ in 0..50 {
            deep = fork(&store, &deep, len - 1);
            store.start(&deep).unwrap();
            store.append(&deep, &step(len - 1), None, &[]).unwrap();
        }
        c.bench_function(&format!("heads/last {ROWS} of {len}, 50 forks deep"), |b| {
            b.iter(|| black_box(store.heads(&deep, len - ROWS..len).unwrap()));
        });
        c.bench_function(&format!("fork/at the end of {len}"), |b| {
            b.iter(|| fork(&store, &main, len - 1));
        });
        c.bench_function(&format!("trials/of {len}"), |b| {
            b.iter(|| black_box(store.trials(&main).unwrap()));
        });
        c.bench_function(&format!("search/in {len}"), |b| {
            b.iter(|| black_box(store.search(&main, "ENTRY 693").unwrap()));
        });
    }
    let broad = take_in(&store, 1_000);
    for _ in 1..50 {
        let branch = fork(&store, &broad, 10);
        store.start(&branch).unwrap();
        for index in 10..1_000 {
            store.append(&branch, &step(index), None, &[]).unwrap();
        }
    }
    c.bench_function("lanes/of 50 branches of 1000", |b| {
        b.iter(|| black_box(store.lanes(broad.session()).unwrap()));
    });
    for len in [1_000, 100_000] {
        let first = take_in(&store, len);
        // The others go their own way from the middle on.
        let others: Vec<BranchId> = (1..4)
            .map(|n| take_in_from(&store, len, len / 2, n))
            .collect();
        c.bench_function(&format!("compare/four of {len}"), |b| {
            b.iter(|| {
                for other in &others {
                    black_box(pipeline::compare(&store, &first, other).unwrap());
                }
            });
        });
    }
    let running = BranchId::main(&store.begin(Session::default()).unwrap());
    for index in 0..100_000 {
        store.append(&running, &step(index), None, &[]).unwrap();
    }
    let mut at = 100_000;
    c.bench_function("append/behind 100000", |b| {
        b.iter(|| {
            store.append(&running, &step(at), None, &[]).unwrap();
            at += 1;
        });
    });
    let mut group = c.benchmark_group("import");
    group.sample_size(10);
    group.bench_function("100000 short steps", |b| {
        b.iter_batched(
            || tempfile::tempdir().unwrap(),
            |dir| {
                take_in(&open(dir.path()), 100_000);
                dir
            },
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

criterion_group!(store, benches);
criterion_main!(store);
