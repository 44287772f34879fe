//! How many frames a held key or a running replay leads to, and how large they are: at home and over SSH.

use std::path::Path;
use std::time::{Duration, Instant};

use super::pty::Screen;

const HELD: Duration = Duration::from_secs(3);
/// Between two keys of one that is held down on a quick keyboard.
const REPEAT: Duration = Duration::from_millis(8);

/// Prints a row for each way.
pub fn run(store: &Path) {
    println!("\n| what goes on | where | size | frames a second | bytes a frame |");
    println!("|---|---|---|---|---|");
    let ssh = [("SSH_CONNECTION", "192.0.2.1 5000 192.0.2.2 22")];
    for (place, env) in [("at home", [].as_slice()), ("over SSH", &ssh)] {
        for size in [(80, 24), (140, 45)] {
            let row = |what: &str, screen: &Screen, since: (usize, usize), time: Duration| {
                let (frames, bytes) = (screen.frames - since.0, screen.written - since.1);
                println!(
                    "| {what} | {place} | {}×{} | {:.1} | {} |",
                    size.0,
                    size.1,
                    frames as f64 / time.as_secs_f64(),
                    bytes / frames.max(1)
                );
            };
            let mut screen = Screen::start(store, &["long"], env, size);
            screen.wait_for("trial 1");
            for (name, key) in [("j held", "j"), ("page down held", "\x1b[6~")] {
                screen.quiet();
                let since = (screen.frames, screen.written);
                let began = Instant::now();
                while began.elapsed() < HELD {
                    screen.send(key);
                    screen.listen(REPEAT);
                }
                row(name, &screen, since, began.elapsed());
            }
            let beside = store.with_file_name(format!("replay-{place}-{}.db", size.0));
            let mut screen = Screen::start(&beside, &["night-picture"], env, size);
            screen.wait_for("trial 1");
            screen.press(":16", &|text| text.contains("step: 16"));
            screen.press("\r", &|text| text.contains("fork here"));
            screen.press("b", &|text| text.contains("ready to resume"));
            screen.quiet();
            let since = (screen.frames, screen.written);
            let began = Instant::now();
            screen.send("\r");
            screen.wait_for("running");
            let runs = |text: &str| text.contains("running");
            while runs(&screen.text()) {
                screen.listen(Duration::from_millis(50));
            }
            row("a replay is watched", &screen, since, began.elapsed());
        }
    }
}
