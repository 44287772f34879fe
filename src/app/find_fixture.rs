//! Made-up answers about whole sessions for tests: lanes, states, what was found.

use super::overview::Overview;
use super::several::ComparingAll;
use super::{App, Job, Msg, View, fixture};
use crate::model::{BranchId, Cell, Lane, Note, Step, StepHead};

/// Answers a job as the store would, if it is one of these.
pub(super) fn answer(job: Job) -> Option<Msg> {
    Some(match job {
        Job::Left(branch, step) => Msg::Left(branch, step, Ok(Box::default())),
        Job::State(branch, step, held) => super::state::tests::answer(branch, step, held),
        Job::Search(branch, words) => Msg::Hits(branch, words, Ok(vec![4, 6, 9])),
        Job::Filter(branch, filter) => {
            let kept = fixture::steps()
                .into_iter()
                .filter(|step| filter.keeps(&step.agent, step.to.as_deref(), step.kind));
            let kept = kept.map(|step| step.index).collect();
            Msg::Filtered(branch, Box::new(filter), Ok(kept))
        }
        Job::Failures(branch) => {
            let failed = fixture::steps().into_iter().filter(|step| step.meta.error);
            Msg::Failures(branch, Ok(failed.map(|step| StepHead::of(&step)).collect()))
        }
        Job::Note {
            branch,
            step,
            text,
            operator,
            ..
        } => {
            let note = text.map(|text| Note {
                step,
                text,
                operator,
                created: "2026-01-31T12:00:00Z".into(),
            });
            Msg::Notes(branch, Ok(note.into_iter().collect()))
        }
        Job::CompareAll(branches) => {
            let comparing = |name: &str| crate::model::Comparison {
                b: BranchId::new("night-picture", name),
                ..fixture::comparing().comparison
            };
            let others = branches.iter().skip(1);
            let views = branches.iter().map(|id| match id.name() {
                "main" => fixture::view(fixture::branch("main"), fixture::MAIN),
                name => fixture::view(fixture::ended(name, true, 4), fixture::RIGHT),
            });
            Msg::ComparedAll(Ok(Box::new(ComparingAll {
                comparisons: others.map(|id| comparing(id.name())).collect(),
                views: views.collect(),
            })))
        }
        Job::Notes(branch) => Msg::Notes(branch, Ok(Vec::new())),
        Job::Drafts(_) => Msg::Drafts(Ok(Vec::new())),
        Job::FindError {
            branch,
            from,
            forward,
            ..
        } => {
            let mut failed = fixture::steps().into_iter().filter(|step| step.meta.error);
            let found = if forward {
                failed.find(|step| step.index > from)
            } else {
                failed.rfind(|step| step.index < from)
            };
            Msg::ErrorAt(branch, Ok(found.map(|step| step.index)))
        }
        Job::Branch(id) => {
            let view = match id.name() {
                "main" => fixture::view(fixture::branch("main"), fixture::MAIN),
                name => fixture::view(fixture::ended(name, true, 4), fixture::RIGHT),
            };
            Msg::Branch(Ok(Box::new(view)))
        }
        Job::Lanes(session) => Msg::Lanes(session, Ok(lanes())),
        _ => return None,
    })
}

fn cells(steps: &[Step]) -> Vec<Cell> {
    let agents = fixture::session().agents;
    let place = |name: &str| agents.iter().position(|agent| agent.name == name).unwrap();
    steps
        .iter()
        .map(|step| Cell {
            agent: u16::try_from(place(&step.agent)).unwrap(),
            kind: step.kind,
            error: step.meta.error,
        })
        .collect()
}

/// The failed run, two forks that are right and one that stopped early.
fn lanes() -> Vec<Lane> {
    let lane = |name: &str, reached: [Option<usize>; 5], steps: &[Step]| Lane {
        branch: BranchId::new("night-picture", name),
        parent: (name != "main").then_some(0),
        from: if name == "main" { 0 } else { 9 },
        cells: cells(steps),
        reached: reached.to_vec(),
    };
    let own = &fixture::branch_steps()[9..];
    let few = [Some(6), None, Some(10), None, None];
    vec![
        lane("main", fixture::MAIN, &fixture::steps()),
        lane("b1", fixture::RIGHT, own),
        lane("b2", fixture::RIGHT, own),
        lane("b3", few, &own[..2]),
    ]
}

/// The overview of the session with its forks.
pub(crate) fn overview(keys: &str) -> App {
    let mut app = fixture::replayed();
    fixture::press(&mut app, "\u{238b}o");
    fixture::press(&mut app, keys);
    app
}

/// The overview, which must be on top.
pub(super) fn shown(app: &App) -> &Overview {
    match app.views.last() {
        Some(View::Overview(view)) => view,
        other => panic!("{other:?}"),
    }
}

/// The palette over the message list, some letters typed.
pub(crate) fn palette(letters: &str) -> App {
    let mut app = fixture::opened();
    super::update(&mut app, Msg::Key(super::key::Key::ctrl('p')));
    fixture::press(&mut app, letters);
    app
}

/// A session of many branches: `main` and `branches - 1` forks of it, each `steps` long.
pub(crate) fn wide(branches: usize, steps: usize) -> App {
    let mut app = fixture::opened();
    let open = app.open.as_mut().unwrap();
    open.branches = (0..branches)
        .map(|n| crate::model::Branch {
            steps,
            ..match n {
                0 => fixture::branch("main"),
                n => fixture::ended(&format!("b{n}"), n % 3 == 0, n % 6),
            }
        })
        .collect();
    let lanes = (0..branches)
        .map(|n| {
            let from = if n == 0 { 0 } else { n * steps / branches };
            Lane {
                branch: open.branches[n].id.clone(),
                parent: (n > 0).then_some(0),
                from,
                cells: (from..steps)
                    .map(|at| Cell {
                        agent: u16::try_from((at / 7 + n) % 4).unwrap(),
                        kind: crate::model::StepKind::ALL[(at + n) % 10],
                        error: (at + n).is_multiple_of(97),
                    })
                    .collect(),
                reached: vec![Some(n), None, Some(steps / 2), None, None],
            }
        })
        .collect();
    let jobs = super::update(&mut app, Msg::Key(super::key::Key::char('o')));
    drop(jobs);
    super::update(&mut app, Msg::Lanes("night-picture".into(), Ok(lanes)));
    app
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::command::Context;
    use crate::app::extent::{Extent, Pane};
    use crate::app::overview::Colouring;

    fn step_and_branch(app: &App) -> (usize, String) {
        let view = shown(app);
        (view.at(), view.branch.name().to_owned())
    }

    #[test]
    fn it_begins_where_the_message_list_is_and_goes_back_there() {
        let mut app = overview("");
        assert_eq!(step_and_branch(&app), (9, "main".into()));
        fixture::press(&mut app, "lj");
        assert_eq!(step_and_branch(&app), (10, "b1".into()));
        // b3 ends with step 10, main with step 13: the selection stays within the branch.
        fixture::press(&mut app, "lljj");
        assert_eq!(step_and_branch(&app), (10, "b3".into()));
        fixture::press(&mut app, "hhh");
        fixture::press(&mut app, "G\u{23ce}");
        assert_eq!(app.context(), Context::Steps);
        assert_eq!(app.open.as_ref().unwrap().selected, 13);
    }

    #[test]
    fn a_step_of_another_branch_is_gone_to_when_it_is_here() {
        let mut app = overview("lk");
        let jobs = super::super::update(
            &mut app,
            Msg::Key(super::super::key::Key::of(super::super::key::Code::Enter)),
        );
        let b1 = BranchId::new("night-picture", "b1");
        assert!(matches!(&jobs[0], Job::Branch(id) if *id == b1));
        let view = fixture::view(fixture::ended("b1", true, 4), fixture::RIGHT);
        super::super::update(&mut app, Msg::Branch(Ok(Box::new(view))));
        let open = app.open.as_ref().unwrap();
        assert_eq!((open.branch.id.clone(), open.selected), (b1, 8));
    }

    #[test]
    fn a_long_session_is_folded_until_it_fits() {
        let mut app = wide(50, 1_000);
        let view = shown(&app);
        assert!(view.folded);
        // 1,000 steps in 16 rows: 100 a row are the first round number that fits.
        assert_eq!(view.stride(16), 100);
        assert_eq!(view.stride(50), 20);
        let extent = Extent {
            top: 0,
            height: 16,
            rows: 10,
        };
        app.extents.set(Pane::Overview, extent);
        fixture::press(&mut app, "<jj");
        assert_eq!(shown(&app).at(), 200);
        fixture::press(&mut app, "zj");
        assert_eq!(shown(&app).at(), 201);
    }

    #[test]
    fn a_branch_that_grows_is_read_again_one_reading_at_a_time() {
        let mut app = overview("");
        let step = |index| {
            let head = StepHead::of(&crate::model::Step {
                index,
                ..crate::model::Step::default()
            });
            let branch = BranchId::new("night-picture", "b1");
            Msg::Progress(0, crate::pipeline::Progress::Step { branch, head })
        };
        let readings = |jobs: Vec<Job>| {
            let lanes = jobs.iter().filter(|job| matches!(job, Job::Lanes(_)));
            lanes.count()
        };
        assert_eq!(readings(super::super::update(&mut app, step(9))), 1);
        assert_eq!(readings(super::super::update(&mut app, step(10))), 0);
        let came = Msg::Lanes("night-picture".into(), Ok(super::lanes()));
        // The step that was told during the reading is read now.
        assert_eq!(readings(super::super::update(&mut app, came)), 1);
        let came = Msg::Lanes("night-picture".into(), Ok(super::lanes()));
        assert_eq!(readings(super::super::update(&mut app, came)), 0);
    }

    #[test]
    fn colours_turn_and_up_to_four_branches_are_picked() {
        let mut app = overview("\u{21e5}\u{21e5}");
        assert_eq!(shown(&app).colouring, Colouring::Status);
        fixture::press(&mut app, " l l ");
        let names: Vec<&str> = shown(&app).picked.iter().map(BranchId::name).collect();
        assert_eq!(names, ["main", "b1", "b2"]);
        fixture::press(&mut app, " ");
        assert_eq!(shown(&app).picked.len(), 2);
    }

    #[test]
    fn picked_branches_are_compared_with_the_first_of_them() {
        let mut app = overview(" l l l c");
        assert_eq!(app.context(), Context::Several);
        let several = |app: &App| match app.views.last() {
            Some(View::Several(view)) => (view.selected, view.other, view.sides.len()),
            other => panic!("{other:?}"),
        };
        // Row 9 is the first that differs; l goes to the next of the three others.
        assert_eq!(several(&app), (9, 0, 4));
        fixture::press(&mut app, "lnn");
        assert_eq!(several(&app), (11, 1, 4));
        fixture::press(&mut app, "\u{23ce}");
        assert_eq!(app.context(), Context::Compare);
    }

    #[test]
    fn the_grid_goes_to_where_a_milestone_was_reached() {
        let mut app = overview("mll");
        assert_eq!(app.context(), Context::Grid);
        fixture::press(&mut app, "\u{23ce}");
        assert_eq!(app.context(), Context::Grid, "main does not reach it");
        assert!(app.notice.is_some());
        fixture::press(&mut app, "h\u{23ce}");
        assert_eq!(app.open.as_ref().unwrap().selected, 7);
    }
}
