//! Lessons as a learner has them: each played to its end by keys alone; and as a teacher has them: mistakes told line by line.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::cli::Home;
use crate::support::pty::Pty;

const NARROW: (u16, u16) = (80, 24);

/// A lesson being played.
struct Player {
    pty: Pty,
    part: usize,
    of: usize,
}

fn pty(home: &Home, args: &[&str], size: (u16, u16)) -> Pty {
    let store = home.path("store.db");
    let env = [
        ("DOVER_STORE", store.to_str().unwrap()),
        ("DOVER_OPERATOR", "ann"),
        ("COLORTERM", ""),
    ];
    Pty::dover(args, &env, size)
}

impl Player {
    fn start(home: &Home, lesson: &str, of: usize, size: (u16, u16)) -> Self {
        let mut player = Self {
            pty: pty(home, &["learn", lesson], size),
            part: 1,
            of,
        };
        player.page();
        player
    }

    /// The page of the part is read, and left for the task.
    fn page(&mut self) {
        let (part, of) = (self.part, self.of);
        self.pty.wait_for(&format!("· {part}/{of} ·"));
        self.pty.wait_for("Your task");
        self.pty.keys(&["Enter"]);
        self.pty.wait_for(&format!("lesson {part}/{of} ·"));
    }

    /// The task is done, and the next part is read.
    fn next(&mut self, after: &str) {
        self.says(after);
        self.pty.wait_for("l goes on");
        self.pty.keys(&["l"]);
        self.part += 1;
        self.page();
    }

    /// The last task is done: the last words, the list with its mark, and out.
    fn end(mut self, after: &str, parts: &str) {
        self.says(after);
        self.pty.wait_for("l goes on");
        self.pty.keys(&["l"]);
        self.pty.wait_for("The end");
        self.pty.wait_for(parts);
        self.pty.keys(&["Enter"]);
        self.pty.wait_for("1 of 1 lesson done");
        self.pty.keys(&["q"]);
        assert_eq!(self.pty.wait_exit().exit_code(), 0);
        assert_eq!(self.pty.kept(), [""; 0]);
    }

    /// Waits for words, wherever their line is broken.
    fn says(&mut self, words: &str) {
        self.pty
            .wait_until(&format!("{words:?} on the screen"), |pty| {
                let screen = pty.screen();
                let told: Vec<&str> = screen.split_whitespace().collect();
                told.join(" ").contains(words)
            });
    }

    fn goto(&mut self, step: usize) {
        self.pty.send(&format!(":{step}"));
        self.pty.wait_for(&format!("go to step: {step}"));
        self.pty.keys(&["Enter"]);
        self.pty
            .wait_until("the selected step with what a fork there meets", |pty| {
                let screen = pty.screen();
                let line = format!("▸ {step:>2} ");
                let single = format!("▸ {step} ");
                let selected = screen
                    .lines()
                    .any(|one| one.starts_with(&line) || one.starts_with(&single));
                selected && (screen.contains("fork here") || screen.contains("held:"))
            });
    }

    /// Edits the selected step by keys, and takes the edit to the gates.
    fn edit(&mut self, keys: &[&str], text: &str, style: &str) {
        self.pty.keys(&["e"]);
        self.pty.wait_for("your edit");
        self.pty.keys(keys);
        self.pty.paste(text);
        self.pty.wait_for(&format!("edit · {style}"));
        self.pty.keys(&["Ctrl-s"]);
        self.pty.wait_for("1 lineage");
    }

    fn run(&mut self) {
        self.pty.wait_for("ready to resume");
        self.pty.keys(&["Enter"]);
        self.pty.wait_for("replay from step");
    }

    /// Back to the list of steps.
    fn back(&mut self) {
        self.pty.keys(&["q"]);
        self.pty.wait_for("trials · ");
    }
}

/// What of a learner's store tells the attempts.
fn attempts(home: &Home) -> Vec<Value> {
    let output = home.run(&["learn", "--json"]);
    let listed: Value = serde_json::from_slice(&output.stdout).unwrap();
    listed["lessons"].as_array().unwrap().clone()
}

#[test]
fn read_hides_what_it_asks_for_and_is_taken_up_where_it_was_left() {
    let home = Home::new();
    let mut player = Player::start(&home, "read", 5, NARROW);
    player.pty.wait_for("verdict hidden");
    assert!(!player.pty.screen().contains("wrong answer"));
    player.pty.keys(&["}"]);
    player.pty.wait_for("l goes on");
    player.next("It says so, and names what is there");
    player.goto(13);
    player.next("Line 2 of this plan");

    // What others suspect is not to be had before one's own view.
    player.pty.keys(&["h"]);
    player.pty.wait_for("hidden until you have said it");
    player.goto(19);
    player.pty.keys(&["H"]);
    player.pty.wait_for("because:");
    player.pty.send("it fails");
    player.pty.keys(&["Enter"]);
    player.says("this lesson means another one");
    player.pty.keys(&["T"]);
    player.says("Who asked for it?");
    player.pty.wait_for("T hint 1/3");
    player.back();

    // Left in the middle, and taken up.
    player.pty.keys(&["q"]);
    assert_eq!(player.pty.wait_exit().exit_code(), 0);
    let lesson = &attempts(&home)[0];
    assert_eq!(
        (lesson["name"].as_str(), lesson["done"].as_u64()),
        (Some("read"), Some(2))
    );
    let part = &lesson["attempt"]["parts"][2];
    assert_eq!(part["guesses"], json!([19]), "{part}");
    assert_eq!((&part["done"], &part["hints"]), (&json!(false), &json!(1)));
    assert_eq!(lesson["attempt"]["learner"], "ann");
    let mut player = Player {
        pty: pty(&home, &["learn", "read"], (140, 45)),
        part: 3,
        of: 5,
    };
    player
        .pty
        .wait_for("hint 1  Step 19 could not have done better");
    player.page();
    player.goto(18);
    player.pty.keys(&["H"]);
    player.pty.wait_for("because:");
    player.pty.send("no such control");
    player.pty.keys(&["Enter"]);
    player.next("Step 18 asks for '2015'");
    player.pty.keys(&["h"]);
    player.pty.keys(&["a"]);
    player.pty.wait_for("hypotheses for 3 of 3 trials");
    player.next("Agreeing with the rules");
    player.back();
    // What was hidden until now is seen.
    player.pty.wait_for("wrong answer");
    player.pty.keys(&["m"]);
    player.end("Two of five", "5 parts done, with 1 hint");
    // Nothing of it is in the usual store.
    assert!(!home.text(&["sessions"]).contains("read  "));
}

#[test]
fn add_detail_is_played_to_its_end() {
    let home = Home::new();
    let mut player = Player::start(&home, "add-detail", 3, NARROW);
    player.goto(18);
    player.pty.keys(&["b"]);
    player.run();
    player.pty.wait_for("0 of 3 right");
    player.next("None of three right");
    player.back();
    player.goto(18);
    // 'Click …, then 'August', and identify': the end of the line is rewritten, its beginning kept.
    player.edit(
        &["Home", "Ctrl-k"],
        "Click 'All years', then '2015', then 'August'. Open the picture of 4 August 2015 and identify the city on the horizon.",
        "add detail",
    );
    player.run();
    player.pty.wait_for("Validated");
    player.next("at least two of three runs came to the right answer");
    player.pty.keys(&["c"]);
    player.pty.wait_for("first difference at step 18");
    player.end(
        "The first difference is your edit",
        "3 parts done, with no hint",
    );
}

#[test]
fn simplify_is_played_to_its_end() {
    let home = Home::new();
    let mut player = Player::start(&home, "simplify", 4, (140, 45));
    player.pty.keys(&["j", "j", "j"]);
    player.next("two thirds OF the two days");
    player.edit(&["Home", "Ctrl-k"], "Compute (60 + 45) / 3.", "simplify");
    player.run();
    player.pty.wait_for("Refuted");
    player.next("followed in three of three runs");
    player.pty.keys(&["q"]);
    player.pty.wait_for("1 trial · ");
    player.edit(
        &["Home", "Ctrl-k"],
        "Please compute (60 + 45) * 5 / 3.",
        "simplify",
    );
    player.run();
    player.pty.wait_for("Validated");
    player.next("175 jars on Sunday");
    player.pty.keys(&["v"]);
    player.pty.wait_for("2 interventions");
    player.end("A Refuted and a Validated", "4 parts done, with no hint");
}

#[test]
fn change_plan_is_played_to_its_end() {
    let home = Home::new();
    let mut player = Player::start(&home, "change-plan", 4, NARROW);
    player.goto(31);
    player.next("is not evidence");
    player.goto(25);
    // Lines 1 and 2 of the plan are the second and third of the text, from the end of which the cursor starts.
    let lines = [
        "Up", "Up", "Up", "Up", "Up", "Up", "Up", "Home", "Down", "Ctrl-k",
    ];
    let first = "1. WebSurfer: open the calendar, then click 'All years', '2015' and 'August'.";
    player.pty.keys(&["e"]);
    player.pty.wait_for("your edit");
    player.pty.keys(&lines);
    player.pty.paste(first);
    player.pty.keys(&["Home", "Down", "Ctrl-k"]);
    player.edit_goes_on(
        "2. WebSurfer: open the picture of 4 August 2015 and identify the city on the horizon.",
    );
    player.next("Nothing has run yet");
    player.run();
    player.pty.wait_for("Validated");
    player.next("three times the right architects");
    player.pty.keys(&["m"]);
    player.end("All five now", "4 parts done, with no hint");
}

impl Player {
    fn edit_goes_on(&mut self, text: &str) {
        self.pty.paste(text);
        self.pty.wait_for("edit · change plan");
        self.pty.keys(&["Ctrl-s"]);
        self.pty.wait_for("1 lineage");
    }
}

#[test]
fn inconclusive_is_played_to_its_end() {
    let home = Home::new();
    let mut player = Player::start(&home, "inconclusive", 3, NARROW);
    player.goto(18);
    player.edit(&["Home"], "First click 'All years'. ", "add detail");
    player.run();
    player.pty.wait_for("not fulfilled");
    player.next("did not do all that the text asked for");
    player.pty.keys(&["c"]);
    player.next("stood before");
    player.pty.keys(&["q"]);
    player.pty.wait_for("replay from step");
    player.back();
    player.goto(18);
    player.edit(&["Home", "Ctrl-k"], "Look around.", "change plan");
    player.run();
    player.pty.wait_for("Refuted");
    player.end("no milestone gained", "3 parts done, with no hint");
}

#[test]
fn gates_is_played_to_its_end_and_again_on_a_fresh_copy() {
    let home = Home::new();
    for _ in 0..2 {
        let mut player = Player::start(&home, "gates", 4, NARROW);
        player.goto(3);
        player.pty.keys(&["w"]);
        player.next("nobody has said what became of them");
        player.back();
        player.edit(
            &["Home", "Ctrl-k"],
            "Open the build log and note the build number of the release.",
            "other",
        );
        player.next("effects unreconciled");
        player.pty.keys(&["w"]);
        player.pty.wait_for("open_ticket (compensable)");
        for (open, row) in [("1 open", "j"), ("0 open", "k")] {
            player.pty.keys(&["s"]);
            player.pty.wait_for("because:");
            player.pty.send("it is right as it is");
            player.pty.keys(&["Enter"]);
            player.pty.wait_for(open);
            player.pty.keys(&[row]);
        }
        player.pty.keys(&["q"]);
        player.next("That is no praise for the edit");
        player.run();
        player.pty.wait_for("verified");
        player.end("its answer was verified", "4 parts done, with no hint");
    }
}

#[test]
fn the_lessons_that_come_with_dover_have_no_mistake() {
    let home = Home::new();
    let lessons = concat!(env!("CARGO_MANIFEST_DIR"), "/lessons");
    assert_eq!(
        home.text(&["learn", "--check", lessons]).trim(),
        "6 lessons, no mistake"
    );
}

#[test]
fn the_example_of_the_documentation_is_a_lesson_that_can_be_played() {
    let home = Home::new();
    let docs = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/lessons.md")).unwrap();
    let example = docs.split("```toml\n").nth(1).unwrap();
    let file = home.file("jars.toml", example.split("```").next().unwrap());
    assert_eq!(
        home.text(&["learn", "--check", &file]).trim(),
        "1 lesson, no mistake"
    );
    let mut player = Player::start(&home, &file, 2, NARROW);
    player.goto(3);
    player.pty.keys(&["H"]);
    player.pty.wait_for("because:");
    player.pty.send("of is not on top of");
    player.pty.keys(&["Enter"]);
    player.next("more than 105");
    player.back_from_hypotheses();
    player.edit(&["Home", "Ctrl-k"], "(60 + 45) * 5 / 3", "other");
    player.run();
    player.end("Done.", "2 parts done, with no hint");
}

impl Player {
    fn back_from_hypotheses(&mut self) {
        self.pty.keys(&["q"]);
        self.pty.wait_for("1 trial · ");
    }
}

/// Lines of a check, without the file's name.
fn check(home: &Home, file: &str) -> Vec<String> {
    let output = home.run(&["learn", "--check", file]);
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8(output.stdout).unwrap();
    let lines = told
        .lines()
        .map(|line| line.replace(&format!("{file}:"), ""));
    lines.collect()
}

#[test]
fn every_mistake_is_told_with_its_line() {
    let home = Home::new();
    let file = home.file(
        "wrong.toml",
        r#"name = "Jars"
titel = "How many jars?"
about = "…"
sample = "honey-stall"
hide = ["label"]
end = "…"

[[part]]
title = "One"
text = ""
task = "…"
done = { visit = 10 }
hints = []

[[part]]
title = "Two"
text = "…"
task = "…"
done = { verdit = "validated" }
hint = ["…"]

[[part]]
title = "Three"
text = "…"
task = "…"
done = { edit = "chaneg_plan", at = [9, 3] }
hints = ["…"]

[[part]]
title = "Four"
text = "…"
task = "…"
done = { verdict = "validated", style = "change_plan" }
hints = ["…"]

[[part]]
title = "Five"
text = "…"
task = "…"
done = { held = "effects", at = 3 }
hints = ["…"]

[[part]]
title = "Six"
text = "…"
task = "…"
done = { predict = 0 }
hints = ["…"]

[[part]]
title = "Seven"
text = "…"
task = "Press ‹next-eror›."
hints = ["…"]
"#,
    );
    let told = check(&home, &file);
    let expected = [
        (1, "no 'title'"),
        (1, "'Jars' has other signs"),
        (2, "did you mean 'title'?"),
        (5, "did you mean 'labels'?"),
        (10, "'text' is empty"),
        (12, "there is no step 10: honey-stall has steps 0 to 9"),
        (13, "part 1 has no hint"),
        (15, "part 2 has no hint"),
        (19, "did you mean 'verdict'?"),
        (20, "did you mean 'hints'?"),
        (26, "did you mean 'change_plan'?"),
        (26, "run backwards"),
        (
            33,
            "never be reached: only an edit of a plan or an instruction",
        ),
        (40, "never be reached: honey-stall left nothing"),
        (47, "never be reached: step 0 is the task"),
        (50, "no 'done'"),
        (
            53,
            "‹next-eror› names no command: did you mean 'next-error'?",
        ),
    ];
    for (line, words) in expected {
        assert!(
            told.iter()
                .any(|one| one.starts_with(&format!("{line}: ")) && one.contains(words)),
            "{line}: {words}\n{}",
            told.join("\n")
        );
    }
    assert_eq!(told.len(), expected.len() + 1, "{}", told.join("\n"));
    // And it is not played.
    assert!(
        home.refused(2, &["learn", &file])
            .contains("cannot be played")
    );
}

#[test]
fn what_is_not_there_or_no_toml_or_named_twice_is_told() {
    let home = Home::new();
    let good =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/lessons/1-read.toml")).unwrap();
    let with = |name: &str, from: &str, to: &str| home.file(name, &good.replace(from, to));
    let table = [
        (
            with("a.toml", "night-picture", "night-pictures"),
            "4: ",
            "there is no sample 'night-pictures'",
        ),
        (
            with("b.toml", "sample = \"night-picture\"", "log = \"no.jsonl\""),
            "4: ",
            "no.jsonl",
        ),
        (
            with("c.toml", "name = \"read\"", "name = = \"read\""),
            "1: ",
            "no TOML",
        ),
    ];
    for (file, line, words) in table {
        let told = check(&home, &file);
        assert!(
            told[0].starts_with(line) && told[0].contains(words),
            "{told:?}"
        );
        fs::remove_file(file).unwrap();
    }
    let first = with("d.toml", "", "");
    with("e.toml", "", "");
    let folder = Path::new(&first).parent().unwrap().to_str().unwrap();
    let told = home.run(&["learn", "--check", folder]);
    let told = String::from_utf8(told.stdout).unwrap();
    assert!(
        told.contains("e.toml:1: the name 'read' is that of"),
        "{told}"
    );
    assert!(
        home.refused(2, &["learn", "--check", "/no/such"])
            .contains("no such file")
    );
    assert!(
        home.refused(2, &["learn", "raed"])
            .contains("There are read, add-detail")
    );
}

#[test]
fn the_plain_screen_hides_on_request() {
    let home = Home::new();
    let mut pty = pty(&home, &["--hide", "verdicts,answers"], NARROW);
    pty.wait_for("its task");
    assert!(!pty.screen().contains("right answer"), "{}", pty.screen());
    assert!(!pty.screen().contains("failed"), "{}", pty.screen());
    pty.keys(&["Enter"]);
    pty.wait_for("verdict hidden");
    pty.keys(&["q"]);
    pty.wait_exit();
}
