//! From a key to the frame that shows it, on a session of 100,000 steps, and the bytes written until then.

use std::path::Path;

use super::pty::{Pressed, Screen};
use super::session::{BIG, FAILURES, LIGHTHOUSE, LONG};
use super::{median, ms, worst};

const TIMES: usize = 20;
const PAGE_DOWN: &str = "\x1b[6~";
const PALETTE: &str = "\x10";
const ESC: &str = "\x1b";

/// Prints a row for each key.
pub fn run(store: &Path) {
    println!(
        "\n| key, at {LONG} steps | size | first frame, median | worst | it shows what was asked for, median | worst | bytes |"
    );
    println!("|---|---|---|---|---|---|---|");
    for size in [(80, 24), (140, 45)] {
        let mut screen = Screen::start(store, &["long"], &[], size);
        screen.wait_for("trial 1");
        let mut table = Table { screen, size };
        moves(&mut table);
        finds(&mut table);
        views(&mut table);
        texts(&mut table);
    }
}

struct Table {
    screen: Screen,
    size: (u16, u16),
}

impl Table {
    /// A row: a key that is pressed several times, each with its number.
    fn row(
        &mut self,
        name: &str,
        times: usize,
        mut press: impl FnMut(&mut Screen, usize) -> Pressed,
    ) {
        let all: Vec<Pressed> = (0..times).map(|n| press(&mut self.screen, n)).collect();
        let first = || all.iter().map(|one| one.first).collect();
        let shown = || all.iter().map(|one| one.shown).collect();
        let mut bytes: Vec<usize> = all.iter().map(|one| one.bytes).collect();
        bytes.sort_unstable();
        println!(
            "| {name} | {}×{} | {} | {} | {} | {} | {} |",
            self.size.0,
            self.size.1,
            ms(median(first())),
            ms(worst(first())),
            ms(median(shown())),
            ms(worst(shown())),
            bytes[bytes.len() / 2]
        );
    }
}

/// The number of the selected step, if its head is there.
fn selected(text: &str) -> Option<usize> {
    let line = text.lines().find_map(|line| line.strip_prefix('▸'))?;
    let number = line.split_whitespace().next()?.parse().ok()?;
    line.contains("agent ").then_some(number)
}

fn at(step: usize) -> impl Fn(&str) -> bool {
    move |text| selected(text) == Some(step)
}

fn says(what: &str) -> impl Fn(&str) -> bool {
    move |text| text.contains(what)
}

fn is_gone(what: &str) -> impl Fn(&str) -> bool {
    move |text| !text.contains(what)
}

/// Goes to a step, unmeasured.
fn go(screen: &mut Screen, step: usize) {
    screen.press(&format!(":{step}"), &says(&format!("step: {step}")));
    screen.press("\r", &at(step));
}

fn moves(table: &mut Table) {
    table.row("j", 60, |screen, n| screen.press("j", &at(n + 1)));
    table.row("G", TIMES, |screen, _| {
        go(screen, 0);
        screen.press("G", &at(LONG - 1))
    });
    table.row("< (first)", TIMES, |screen, n| {
        go(screen, LONG / 2 + n);
        screen.press("<", &at(0))
    });
    table.row("page down", TIMES, |screen, _| {
        let from = selected(&screen.text());
        screen.press(PAGE_DOWN, &|text| selected(text) > from)
    });
    table.row(":N Enter", TIMES, |screen, n| {
        let step = (n + 1) * 6_007 % LONG;
        screen.press(&format!(":{step}"), &says(&format!("step: {step}")));
        screen.press("\r", &at(step))
    });
    go(&mut table.screen, 0);
    table.row("] (next trial)", TIMES, |screen, n| {
        screen.press("]", &at(1 + n * 30))
    });
}

fn finds(table: &mut Table) {
    go(&mut table.screen, 0);
    table.row("} (next failure)", TIMES, |screen, n| {
        screen.press("}", &at((n + 1) * FAILURES - 1))
    });
    table.row("}, the next one 50,000 steps away", 5, |screen, _| {
        go(screen, LONG / 2);
        screen.press("}", &at(LONG - 1))
    });
    table.row("/lighthouse Enter", 5, |screen, _| {
        screen.press("/lighthouse", &says("search: lighthouse"));
        let pressed = screen.press("\r", &says("10 “lighthouse”"));
        screen.press(ESC, &is_gone("“lighthouse”"));
        pressed
    });
    go(&mut table.screen, 0);
    table
        .screen
        .press("/lighthouse", &says("search: lighthouse"));
    table.screen.press("\r", &at(LIGHTHOUSE - 1));
    table.row("n (next hit)", 9, |screen, n| {
        screen.press("n", &at((n + 2) * LIGHTHOUSE - 1))
    });
    table.screen.press(ESC, &is_gone("“lighthouse”"));
    let filter = |screen: &mut Screen| {
        screen.press("&kind:plan", &says("kind:plan"));
        screen.press("\r", &says("only 3334"))
    };
    let whole = |screen: &mut Screen| {
        screen.press(ESC, &is_gone("only 3334"));
    };
    table.row("&kind:plan Enter", 5, |screen, _| {
        let pressed = filter(screen);
        whole(screen);
        pressed
    });
    filter(&mut table.screen);
    table.screen.press("<", &at(1));
    table.row("j, filtered", TIMES, |screen, n| {
        screen.press("j", &at(31 + n * 30))
    });
    whole(&mut table.screen);
}

fn views(table: &mut Table) {
    let open = |screen: &mut Screen, key: &str, what: &str| {
        let pressed = screen.press(key, &says(what));
        screen.press(ESC, &is_gone(what));
        pressed
    };
    table.row("o (overview)", TIMES, |screen, _| {
        open(screen, "o", "a row is")
    });
    table.screen.press("o", &says("a row is"));
    table.row("j in the overview", TIMES, |screen, _| {
        screen.press("j", &says("a row is"))
    });
    table.row("z in the overview", TIMES, |screen, _| {
        screen.press("z", &says("overview"))
    });
    table.screen.press(ESC, &is_gone("overview"));
    table.row("Ctrl-P (commands)", TIMES, |screen, _| {
        open(screen, PALETTE, "Enter do it")
    });
    table.screen.press(PALETTE, &says("Enter do it"));
    let letters: Vec<String> = "nexterror".chars().map(String::from).collect();
    table.row("a letter in it", letters.len(), |screen, n| {
        screen.press(&letters[n], &says("Enter do it"))
    });
    table.screen.press(ESC, &is_gone("Enter do it"));
    table.row("' (places)", 5, |screen, _| open(screen, "'", "✗ failure"));
}

/// A step with two million bytes of text: read to its end, edited.
fn texts(table: &mut Table) {
    let title = format!("step {BIG} ");
    table.row("Enter on a text of 2 MB", 5, |screen, n| {
        go(screen, 10 * n);
        go(screen, BIG);
        let pressed = screen.press("\r", &says(&title));
        screen.press(ESC, &at(BIG));
        pressed
    });
    table.screen.press("\r", &says(&title));
    table.row("G in it", TIMES, |screen, _| {
        screen.press("<", &|_| true);
        screen.press("G", &|_| true)
    });
    table.screen.press(ESC, &at(BIG));
    table.row("e on it", 5, |screen, _| {
        let pressed = screen.press("e", &says("your edit"));
        screen.press(ESC, &says("plain keys"));
        screen.press(ESC, &at(BIG));
        pressed
    });
    table.screen.press("e", &says("your edit"));
    table.row("a letter typed in it", TIMES, |screen, _| {
        screen.press("x", &|_| true)
    });
}
