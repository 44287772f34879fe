//! What screens cost on which nobody does anything: bytes written and processor time used.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use super::proc::cpu;
use super::pty::Screen;

const IDLE: Duration = Duration::from_secs(10);
const SIZE: (u16, u16) = (140, 45);

/// Prints a row for each screen. They idle at the same time.
pub fn run(dir: &Path, store: &Path) {
    let world = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/support/stand_in.py");
    let log = dir.join("run.jsonl");
    fs::write(
        &log,
        r#"{"source":"user","models_usage":null,"content":"Count the boats.","type":"TextMessage"}
"#,
    )
    .unwrap();
    let at = |name: &str| {
        let home = dir.join(name);
        fs::create_dir_all(&home).unwrap();
        home.join("store.db")
    };
    let start = |store: &Path, args: &[&str]| Screen::start(store, args, &[], SIZE);
    let opened = |args: &[&str], text: &str| {
        let mut screen = start(store, args);
        screen.wait_for(text);
        screen
    };
    let driver = opened(&["long"], "trial 1");
    let mut all = vec![
        ("a driver", driver),
        ("a follower of it", opened(&["follow", "long"], "mirroring")),
    ];

    let mut noticed = start(&at("notice"), &["night-picture"]);
    noticed.wait_for("trial 1");
    noticed.press("n", &|text| text.contains("earch"));
    all.push(("a kept notice", noticed));

    let mut empty = start(&at("empty"), &[]);
    empty.wait_for("night-picture");
    empty.press("/zzzz\r", &|text| !text.contains("night-picture"));
    all.push(("an empty list", empty));

    let mut lesson = start(&at("lesson"), &["learn"]);
    lesson.wait_for("Enter start");
    lesson.press("\r", &|text| text.contains("Your task"));
    all.push(("a lesson", lesson));

    let mut growing = start(&at("growing"), &["open", log.to_str().unwrap(), "--follow"]);
    growing.wait_for("Count the boats.");
    all.push(("open --follow, nothing is added", growing));

    let mut overview = start(&at("overview"), &["night-picture"]);
    overview.wait_for("trial 1");
    overview.press("o", &|text| text.contains("overview"));
    all.push(("the overview", overview));

    let live = at("live");
    let home = live.parent().unwrap();
    let data = home.join("data");
    let file = home.join("file");
    let words = [
        "run",
        "custom",
        "--task",
        "What are 2 and 5 together?",
        "--",
        "python3",
        world,
        "good",
        file.to_str().unwrap(),
    ];
    let mut led = Screen::start(
        &live,
        &words,
        &[("DOVER_DATA", data.to_str().unwrap())],
        SIZE,
    );
    led.wait_for("before step 0");
    all.push(("a live run, paused", led));

    // Everything has settled, the first look of the watchers too.
    thread::sleep(Duration::from_secs(2));
    let before: Vec<(usize, Duration)> = all
        .iter_mut()
        .map(|(_, screen)| {
            screen.quiet();
            (screen.written, cpu(screen.pid()))
        })
        .collect();
    thread::sleep(IDLE);
    println!(
        "\n| idle for {} s | bytes | processor time |",
        IDLE.as_secs()
    );
    println!("|---|---|---|");
    for ((name, screen), (written, used)) in all.iter_mut().zip(before) {
        let used = cpu(screen.pid()).saturating_sub(used);
        screen.quiet();
        println!(
            "| {name} | {} | {} ms |",
            screen.written - written,
            used.as_millis()
        );
    }
}
