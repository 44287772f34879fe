//! For every eye: themes, keys of one's own, ASCII, reduced motion; what a shell and a manual reader get; and what the doctor says.

use std::fs;
use std::io::Read;
use std::net::TcpListener;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::cli::Home;
use crate::support::pty::Pty;

/// The configuration directory of a home, with a file in it.
fn configured(home: &Home, name: &str, text: &str) {
    let path = home.path("conf").join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn with_config(home: &Home) -> Command {
    let mut dover = home.dover();
    dover
        .env("DOVER_CONFIG", home.path("conf"))
        .env_remove("NO_COLOR");
    dover
}

fn json(home: &Home, words: &[&str]) -> Value {
    let output = with_config(home)
        .args(words)
        .arg("--json")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

fn screen(home: &Home, words: &[&str], env: &[(&str, &str)]) -> Pty {
    let (store, conf) = (home.path("store.db"), home.path("conf"));
    let mut all = vec![
        ("DOVER_STORE", store.to_str().unwrap()),
        ("DOVER_CONFIG", conf.to_str().unwrap()),
        ("DOVER_OPERATOR", "ann"),
    ];
    all.extend(env);
    Pty::dover(words, &all, (100, 30))
}

#[test]
fn every_theme_is_shown_and_a_broken_one_is_named_with_its_line() {
    let home = Home::new();
    configured(
        &home,
        "themes/mine.toml",
        "inherits = 'dark'\naccent = '#ffffff'\n",
    );
    configured(
        &home,
        "themes/odd.toml",
        "inherits = 'ansi'\n\nacent = 'red'\n",
    );
    let shown = json(&home, &["themes"]);
    let names: Vec<_> = shown["themes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "ansi",
            "dark",
            "light",
            "high-contrast",
            "colour-blind",
            "mono",
            "mine",
            "odd"
        ]
    );
    let fault = shown["themes"][7]["fault"].as_str().unwrap();
    assert!(fault.contains("theme odd, line 3, acent"), "{fault}");
    assert!(shown["themes"][6]["fault"].is_null());

    // In a terminal of 256 colours each word stands in its own; with NO_COLOR none does.
    let mut pty = screen(&home, &["themes", "dark"], &[]);
    pty.wait_for("interrupted");
    pty.wait_exit();
    let colours = String::from_utf8_lossy(pty.output())
        .matches("[38;5;")
        .count();
    assert!(
        colours
            + String::from_utf8_lossy(pty.output())
                .matches(";38;5;")
                .count()
            > 30
    );
    let mut pty = screen(&home, &["themes", "dark"], &[("NO_COLOR", "1")]);
    pty.wait_for("open");
    pty.wait_exit();
    assert!(!pty.output().contains(&0x1b));
    let output = with_config(&home)
        .args(["themes", "none"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn broken_files_of_theme_and_keys_keep_nobody_out() {
    let home = Home::new();
    configured(&home, "config.toml", "[screen]\ntheme = 'odd'\n");
    configured(
        &home,
        "themes/odd.toml",
        "inherits = 'ansi'\n\nacent = 'red'\n",
    );
    configured(&home, "keys.toml", "# mine\nnext-eror = 'x'\n");
    let mut pty = screen(&home, &[], &[]);
    // Both are named with their lines, and the list is there.
    pty.wait_for("theme odd, line 3");
    pty.wait_for("night-picture");
    pty.send("!");
    pty.wait_for("next-eror is no command");
    pty.wait_for("keys.toml, line 2");
    pty.wait_for("The default keys are used");
    pty.send("q");
    pty.wait_for("pick a run");
    pty.send("q");
    assert!(pty.wait_exit().success());
}

#[test]
fn keys_of_ones_own_work_and_are_told() {
    let home = Home::new();
    configured(
        &home,
        "keys.toml",
        "next-error = ['x', 'F3']\n[picker]\nquit = 'Q'\n",
    );
    let told = json(&home, &["keys"]);
    let rows = told["keys"].as_array().unwrap();
    let row = rows.iter().find(|row| row["name"] == "next-error").unwrap();
    assert_eq!(row["keys"], serde_json::json!(["x", "F3"]));
    let mut pty = screen(&home, &["night-picture"], &[]);
    pty.wait_for("trial 1");
    pty.send("x");
    pty.wait_for("▸ 19");
    pty.send("?");
    pty.wait_for("bold: works here, now");
    pty.send("/reports a failure\r");
    pty.wait_for("only with");
    pty.wait_for("x F3");
    drop(pty);
    // The template is a file that may stand there as it is.
    let template = home.text(&["keys", "--template"]);
    configured(&home, "keys.toml", &template);
    let told = json(&home, &["keys"]);
    assert!(told["fault"].is_null(), "{}", told["fault"]);
    // A fault of the file is told wherever the keys are: beside them, and over a session that is opened at once.
    configured(&home, "keys.toml", "edti = 'x'\n");
    let output = with_config(&home).arg("keys").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("line 1: edti is no command"), "{said}");
    let mut pty = screen(&home, &["night-picture"], &[]);
    pty.wait_for("trial 1");
    pty.wait_for("edti is no command");
}

#[test]
fn with_ascii_the_screen_and_the_lines_have_no_other_signs() {
    let home = Home::new();
    let mut pty = screen(&home, &["--ascii", "night-picture"], &[]);
    pty.wait_for("trial 1");
    pty.send("}");
    pty.wait_for("> 19");
    assert!(pty.screen().is_ascii(), "{}", pty.screen());
    drop(pty);
    let shown = home.text(&["--ascii", "show", "night-picture"]);
    assert!(shown.is_ascii(), "{shown}");
}

#[test]
fn with_reduced_motion_a_replay_is_drawn_far_less_often_than_it_steps() {
    let home = Home::new();
    let frames = |words: &[&str]| {
        let mut pty = screen(&home, words, &[]);
        pty.wait_for("trial 1");
        pty.send(":18\r");
        pty.wait_for("▸ 18");
        pty.wait_for("fork here");
        pty.send("e");
        pty.wait_for("your edit");
        pty.keys(&["Home", "Ctrl-K"]);
        pty.send(
            "Click 'All years', then '2015', then 'August'. Open the picture of 4 August 2015.",
        );
        pty.wait_for("2015+}");
        pty.keys(&["Ctrl-S"]);
        pty.wait_for("Enter forks and runs");
        let before = pty.output().len();
        pty.send("\r");
        pty.wait_for("Validated");
        String::from_utf8_lossy(&pty.output()[before..])
            .matches("\u{1b}[?2026h")
            .count()
    };
    // Each of the runs makes some sixteen steps at a person's pace.
    let (calm, usual) = (
        frames(&["--reduced-motion", "night-picture"]),
        frames(&["night-picture"]),
    );
    assert!(calm * 2 < usual, "{calm} and {usual} frames");
}

#[test]
fn shells_and_readers_get_what_they_want() {
    let home = Home::new();
    let bash = home.text(&["completions", "bash"]);
    assert!(bash.contains("dover") && bash.contains("doctor") && bash.contains("--reduced-motion"));
    let mut check = Command::new("bash")
        .arg("-n")
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut check.stdin.take().unwrap(), bash.as_bytes()).unwrap();
    assert!(check.wait().unwrap().success());
    for (shell, begins) in [
        ("zsh", "#compdef dover"),
        ("fish", "# Print an optspec"),
        ("powershell", "\nusing"),
    ] {
        let script = home.text(&["completions", shell]);
        assert!(
            script.starts_with(begins),
            "{shell}: {}",
            script.lines().next().unwrap()
        );
    }
    home.refused(2, &["completions", "tcsh"]);
    let page = home.text(&["man"]);
    assert!(
        page.contains(".TH dover 1") && page.contains("\\-\\-plain"),
        "{page}"
    );
    let dir = home.path("man");
    home.text(&["man", "--dir", dir.to_str().unwrap()]);
    for page in [
        "dover.1",
        "dover-fork.1",
        "dover-doctor.1",
        "dover-adapter-install.1",
    ] {
        assert!(dir.join(page).is_file(), "{page}");
    }
    home.file("taken", "");
    home.refused(
        2,
        &[
            "man",
            "--dir",
            home.path("taken").join("x").to_str().unwrap(),
        ],
    );
}

/// The doctor's answer and status.
fn doctor(home: &Home, env: &[(&str, &str)]) -> (Value, Option<i32>) {
    let mut dover = with_config(home);
    dover.args(["doctor", "--json"]).envs(env.iter().copied());
    dover.env_remove("VISUAL").env_remove("EDITOR");
    dover.envs(env.iter().copied());
    let output = dover.output().unwrap();
    (
        serde_json::from_slice(&output.stdout).unwrap(),
        output.status.code(),
    )
}

fn check<'a>(told: &'a Value, what: &str) -> &'a Value {
    let checks = told["checks"].as_array().unwrap();
    checks.iter().find(|check| check["what"] == what).unwrap()
}

#[test]
fn the_doctor_counts_only_what_is_set_up_as_failing() {
    let home = Home::new();
    let (told, status) = doctor(&home, &[]);
    assert_eq!(
        (status, &told["works"]),
        (Some(0), &Value::Bool(true)),
        "{told}"
    );
    for what in [
        "terminal",
        "endpoint",
        "editor",
        "store",
        "adapter langgraph",
    ] {
        let check = check(&told, what);
        assert_eq!(check["standing"], "absent", "{check}");
    }
    assert_eq!(check(&told, "keys")["standing"], "works");
    // It makes nothing.
    assert!(!home.path("store.db").exists() && !home.path("data").exists());
    home.text(&["sessions"]);
    let (told, _) = doctor(&home, &[]);
    let store = check(&told, "store");
    assert_eq!(store["standing"], "works");
    assert!(
        store["found"].as_str().unwrap().contains("4 sessions"),
        "{store}"
    );
}

#[test]
fn the_doctor_tells_each_fault_with_what_to_do() {
    let home = Home::new();
    configured(&home, "keys.toml", "edti = 'x'\n");
    configured(&home, "themes/odd.toml", "text = \n");
    configured(&home, "config.toml", "[screen]\ntheme = 'odd'\n");
    fs::write(
        home.path("store.db"),
        "this is no store at all, but some text that is long enough",
    )
    .unwrap();
    // Nobody listens there.
    let free = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let url = format!("http://{free}/v1");
    let env = [
        ("OPENAI_BASE_URL", url.as_str()),
        ("OPENAI_MODEL", "m"),
        ("EDITOR", "no-such-editor --wait"),
    ];
    let (told, status) = doctor(&home, &env);
    assert_eq!((status, &told["works"]), (Some(1), &Value::Bool(false)));
    for (what, found) in [
        ("keys", "keys.toml, line 1: edti is no command"),
        ("colours", "theme odd, line 1"),
        ("store", "store.db"),
        ("endpoint", &url),
        ("editor", "no-such-editor"),
    ] {
        let check = check(&told, what);
        assert_eq!(check["standing"], "fails", "{check}");
        assert!(check["found"].as_str().unwrap().contains(found), "{check}");
        assert!(what == "store" || check["mend"].is_string(), "{check}");
    }
}

/// An endpoint that answers one request with this, or never.
fn endpoint(answer: Option<&'static str>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        let mut request = [0; 4096];
        let _ = client.read(&mut request);
        if let Some(body) = answer {
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
                body.len()
            );
            let _ = std::io::Write::write_all(&mut client, format!("{head}{body}").as_bytes());
        }
        // Held open until the other side goes.
        let _ = client.read(&mut request);
    });
    url
}

#[test]
fn the_doctor_asks_the_endpoint_for_its_models_and_does_not_wait_for_ever() {
    let home = Home::new();
    let list = r#"{"object":"list","data":[{"id":"small"},{"id":"large"}]}"#;
    for (answer, model, standing, told_of) in [
        (Some(list), "large", "works", "has large"),
        (Some(list), "huge", "fails", "does not list huge"),
        (
            Some("nothing of the sort"),
            "any",
            "works",
            "any is asked for",
        ),
        (None, "any", "fails", "did not answer within 5 s"),
    ] {
        let url = endpoint(answer);
        let (told, _) = doctor(&home, &[("OPENAI_BASE_URL", &url), ("OPENAI_MODEL", model)]);
        let check = check(&told, "endpoint");
        assert_eq!(check["standing"], standing, "{check}");
        assert!(
            check["found"].as_str().unwrap().contains(told_of),
            "{check}"
        );
    }
}
