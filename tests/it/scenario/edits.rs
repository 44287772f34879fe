//! What holds of every sample: it fails as recorded, runs are functions of their seed, a restore is exact, edits differ.

use dover::model::{StepKind, trials_of_kinds};
use dover::runtime::scenario::{Scenario, parse, play};
use dover::runtime::{Restore, Runtime};
use futures::executor::block_on;

use super::support::{SEED, record, run, sample};

const SAMPLES: [&str; 3] = ["night-picture", "honey-stall", "release-notes"];

#[test]
fn the_recorded_runs_fail_and_so_do_all_unedited_ones() {
    for (name, answer, reached) in [
        ("night-picture", "Magnus", 2),
        ("honey-stall", "\\boxed{1050}", 1),
        ("release-notes", "r57", 2),
    ] {
        let recorded = record(&sample(name));
        assert!(
            recorded.finish.answer.as_ref().unwrap().contains(answer),
            "{name}"
        );
        assert!(!recorded.success(&recorded.finish), "{name}");
        assert_eq!(recorded.milestones(&recorded.steps()), reached, "{name}");
        assert_eq!(recorded.finish.fulfilled, None);
        for at in 0..recorded.made.len() {
            let branch = recorded.fork(at, None, 100 + at as u64);
            assert_eq!(
                branch.finish.answer, recorded.finish.answer,
                "{name} from {at}"
            );
            assert_eq!(branch.finish.fulfilled, None);
        }
    }
}

#[test]
fn the_research_has_three_trials_of_thirty_to_fifty_steps() {
    let recorded = record(&sample("night-picture"));
    let kinds: Vec<StepKind> = recorded.made.iter().map(|m| m.step.kind).collect();
    assert_eq!(trials_of_kinds(&kinds).len(), 3);
    assert!((30..=50).contains(&kinds.len()), "{}", kinds.len());
    let pressed = "There is no control named '2015' on this page";
    assert!(
        recorded
            .made
            .iter()
            .any(|m| m.step.meta.error && m.step.text.contains(pressed))
    );
}

#[test]
fn a_restore_is_exact_and_goes_on_as_recorded() {
    for name in SAMPLES {
        let recorded = record(&sample(name));
        for at in 0..recorded.made.len() {
            let restore = recorded.restore(at, None, SEED);
            let run_keys = block_on(Scenario.restore(restore.clone())).unwrap().keys();
            let saved = recorded.made[at].checkpoint.as_ref().unwrap();
            assert_eq!(run_keys.len(), saved.keys.len());
            for key in run_keys {
                assert_eq!(
                    key.fingerprint,
                    Some(saved.keys[&key.key].fingerprint),
                    "{name} {at} {}",
                    key.key
                );
                assert_eq!(
                    key.revision.as_ref(),
                    Some(&saved.keys[&key.key].revision),
                    "{name} {at} {}",
                    key.key
                );
            }
            let (made, _) = run(restore);
            assert_eq!(made, recorded.made[at..], "{name} from {at}");
        }
    }
}

#[test]
fn a_damaged_checkpoint_does_not_read_back_as_recorded() {
    let recorded = record(&sample("night-picture"));
    let at = recorded.made.len() - 3;
    let mut restore: Restore = recorded.restore(at, None, SEED);
    let checkpoint = restore.checkpoint.as_mut().unwrap();
    let browser = checkpoint.keys.get_mut("browser").unwrap();
    browser.value.as_mut().unwrap()["screen"] = 7.into();
    let recorded_print = browser.fingerprint;
    let keys = block_on(Scenario.restore(restore)).unwrap().keys();
    let back = keys.iter().find(|k| k.key == "browser").unwrap();
    assert_ne!(back.fingerprint, Some(recorded_print));
}

#[test]
fn equal_seeds_give_equal_runs_and_some_seeds_differ() {
    let world = parse(&sample("night-picture")).unwrap();
    let runs: Vec<_> = (0..12).map(|seed| play(&world, seed).unwrap()).collect();
    assert_eq!(runs[3], play(&world, 3).unwrap());
    assert!(runs.iter().any(|other| other.0 != runs[0].0));
}

#[test]
fn the_most_steps_end_a_run() {
    let recorded = record(&sample("night-picture"));
    let mut restore = recorded.restore(3, None, SEED);
    restore.max_steps = 4;
    let (made, finish) = run(restore);
    assert_eq!(made.len(), 4);
    assert_eq!(finish.answer, None);
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(24))]

    #[test]
    fn any_text_at_any_step_comes_to_an_end(sample_index in 0usize..3, at in 0usize..200, text in "\\PC{0,80}", seed: u64) {
        let recorded = record(&sample(SAMPLES[sample_index]));
        let at = at % recorded.made.len();
        let branch = recorded.fork(at, Some(&text), seed);
        proptest::prop_assert!(branch.steps.len() < 200);
        proptest::prop_assert_eq!(&branch.steps[at].text, &text);
    }
}

#[test]
fn two_edits_at_one_step_give_two_trajectories() {
    let recorded = record(&sample("night-picture"));
    let texts = [
        "Open the calendar.",
        "Open the about page.",
        "Scroll down.",
        "Open 4 August 2015.",
    ];
    let mut seen: Vec<Vec<String>> = Vec::new();
    for text in texts {
        let branch = recorded.fork(6, Some(text), 3);
        let after: Vec<String> = branch.steps[7..].iter().map(|s| s.text.clone()).collect();
        assert!(!seen.contains(&after), "{text}");
        seen.push(after);
    }
}
