//! Memory of a screen, what a follower pays for a change, what an export takes.

use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use dover::model::{BranchId, Step, StepKind};
use dover::store::{Grown, Store};

use super::proc::{cpu, memory};
use super::pty::Screen;
use super::session::{self, LONG};
use super::{median, ms};

const CHANGES: usize = 20;
/// Between two changes: longer than a follower takes between two looks.
const BETWEEN: Duration = Duration::from_millis(500);
const EXPORTED: usize = 10_000;

/// Prints a table for each.
pub fn run(store: &Store) {
    screen(store);
    follower(store);
    exports(store);
}

fn screen(store: &Store) {
    println!("\n| a screen on {LONG} steps, 140×45 | MB | most ever |");
    println!("|---|---|---|");
    let mut screen = Screen::start(store.path(), &["long"], &[], (140, 45));
    screen.wait_for("trial 1");
    let row = |what: &str, screen: &mut Screen| {
        screen.quiet();
        let [now, most] = memory(screen.pid()).unwrap();
        println!("| {what} | {now:.0} | {most:.0} |");
    };
    row("opened", &mut screen);
    screen.press("G", &|text| text.contains("99999"));
    screen.press("/archive", &|text| text.contains("search: archive"));
    screen.press("\r", &|text| text.contains("“archive”"));
    row("a search that finds 99,990 steps", &mut screen);
    screen.press("o", &|text| text.contains("a row is"));
    row("the overview", &mut screen);
}

fn follower(store: &Store) {
    println!(
        "\n| what somebody writes, `dover follow` open on {LONG} steps | processor time of the follower | bytes |"
    );
    println!("|---|---|---|");
    let mut screen = Screen::start(store.path(), &["follow", "long"], &[], (140, 45));
    screen.wait_for("trial 1");
    screen.quiet();
    let main = BranchId::main("long");
    let mut row = |what: &str, write: &dyn Fn(usize)| {
        let (used, written) = (cpu(screen.pid()), screen.written);
        for n in 0..CHANGES {
            write(n);
            screen.listen(BETWEEN);
        }
        screen.quiet();
        let used = cpu(screen.pid()).saturating_sub(used) / u32::try_from(CHANGES).unwrap();
        println!(
            "| {what} | {} | {} |",
            ms(used),
            (screen.written - written) / CHANGES
        );
    };
    row("a note", &|n| {
        store.keep_note(&main, n, Some("seen"), "", "ann").unwrap();
    });
    let times = std::cell::RefCell::new(Vec::new());
    row("a step of a log that grows", &|n| {
        let step = Step {
            index: LONG + n,
            agent: "agent 1".into(),
            kind: StepKind::Message,
            text: "one more".into(),
            ..Step::default()
        };
        let grown = Grown {
            steps: vec![(step, None, Vec::new())],
            session: store.session("long").unwrap(),
            answer: None,
            success: None,
        };
        let began = Instant::now();
        store.grow("long", &grown).unwrap();
        times.borrow_mut().push(began.elapsed());
    });
    println!(
        "\nAdding that step to the store takes {} (median).",
        ms(median(times.into_inner()))
    );
}

fn exports(store: &Store) {
    session::take_in(store, "ten", EXPORTED);
    println!("\n| export of {EXPORTED} steps, redacted | time | MB, most | MB written |");
    println!("|---|---|---|---|");
    for form in ["html", "md", "jsonl"] {
        let path = store.path().with_extension(form);
        let began = Instant::now();
        let mut child = Command::new(env!("CARGO_BIN_EXE_dover"))
            .args([
                "export",
                "ten",
                "--as",
                form,
                "--out",
                path.to_str().unwrap(),
            ])
            .env("DOVER_STORE", store.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut most = 0.0_f64;
        // What a process held goes with it, so it is asked while it runs.
        while child.try_wait().unwrap().is_none() {
            most = memory(child.id()).map_or(most, |[_, ever]| ever.max(most));
            thread::sleep(Duration::from_millis(5));
        }
        let time = began.elapsed();
        assert!(child.wait().unwrap().success());
        let size = std::fs::metadata(&path).unwrap().len() as f64 / 1e6;
        println!("| {form} | {} | {most:.0} | {size:.1} |", ms(time));
    }
}
