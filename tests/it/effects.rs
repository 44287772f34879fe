//! What runs leave in the world: destinations asked by their own commands, decisions by hand, new effects held one by one.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::cli::Home;

const MAIL: &str = "lantern-2.4-announce";
const TICKET: &str = "lantern-2.4-web";

/// A tool with its class, the script that answers for its destination, and what must come of asking: the state, and what is told.
type Case = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
);

const CASES: [Case; 12] = [
    (
        "found",
        "compensable",
        r#"echo '{"state":"reconciled","evidence":"row 7"}'"#,
        "reconciled",
        "row 7",
    ),
    (
        "absent",
        "permanent",
        r#"echo '{"state":"reverted","evidence":"no row"}'"#,
        "reverted",
        "no row",
    ),
    (
        "permanent",
        "permanent",
        r#"echo '{"state":"reconciled","evidence":"sent at noon"}'"#,
        "irreversible",
        "sent at noon",
    ),
    (
        "stranger",
        "unknown",
        r#"echo '{"state":"reconciled","evidence":"there"}'"#,
        "irreversible",
        "there",
    ),
    (
        "waits",
        "compensable",
        r#"echo '{"state":"pending","evidence":"in the queue"}'"#,
        "pending",
        "in the queue",
    ),
    ("hangs", "idempotent", "sleep 30", "pending", "within 1 s"),
    (
        "fails",
        "compensable",
        "echo 'no route to the desk' >&2; exit 3",
        "pending",
        "status 3: no route to the desk",
    ),
    (
        "rubbish",
        "compensable",
        "echo 'reconciled'",
        "pending",
        "cannot be read",
    ),
    (
        "word",
        "compensable",
        r#"echo '{"state":"gone","evidence":"x"}'"#,
        "pending",
        "gone",
    ),
    (
        "more",
        "compensable",
        r#"echo '{"state":"reverted","evidence":"x","sure":true}'"#,
        "pending",
        "sure",
    ),
    (
        "less",
        "compensable",
        r#"echo '{"state":"reverted"}'"#,
        "pending",
        "evidence",
    ),
    (
        "nobody",
        "compensable",
        "",
        "pending",
        "no command is configured",
    ),
];

/// A log with an effect of every tool, and the profile that says whom to ask.
fn world_of_cases(home: &Home) {
    let sha256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    let mut lines = vec![
        json!({"type": "session", "id": "run", "task": "t"}),
        json!({"type": "step", "index": 0, "agent": "human", "kind": "task", "text": "t"}),
    ];
    let mut profile = Vec::new();
    for (n, (tool, class, script, ..)) in CASES.into_iter().enumerate() {
        lines.push(json!({"type": "step", "index": n + 1, "agent": "A", "kind": "tool_call", "text": "{}", "tool": {"name": tool}}));
        lines.push(json!({
            "type": "effect", "step": n + 1, "agent": "A", "tool": tool, "class": class, "state": "pending",
            "operation_key": format!("key-{tool}"), "args_sha256": sha256
        }));
        profile.push(format!("[tools.{tool}]\nclass = \"{class}\""));
        if !script.is_empty() {
            // What it is asked stays beside it, as it was given.
            let asked = format!("cat > {tool}.asked\necho \"$#:$1\" > {tool}.args\n{script}\n");
            home.file(&format!("{tool}.sh"), &asked);
            // The limit is for the one that hangs; a slow machine must not end the others.
            let limit = if tool == "hangs" { 1 } else { 60 };
            profile.push(format!(
                "reconcile = [\"sh\", \"{tool}.sh\"]\ntime_limit = {limit}"
            ));
        }
    }
    home.file("run.dover.toml", &profile.join("\n"));
    let log: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let log = home.file("run.jsonl", &log);
    home.json(&["import", &log]);
}

/// What `dover reconcile` prints; whether everything is settled is in its exit status.
fn reconcile(home: &Home, words: &[&str]) -> (Option<i32>, Value) {
    let output = home.run(&[&["reconcile"], words, &["--json"]].concat());
    let told = serde_json::from_slice(&output.stdout).unwrap();
    (output.status.code(), told)
}

fn receipts(home: &Home) -> Vec<Value> {
    let text = home.text(&["receipt", "export"]);
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    lines.collect()
}

fn decisions(home: &Home, about: Option<&str>) -> usize {
    let all = receipts(home);
    let is = |receipt: &&Value| {
        receipt["kind"] == "decision" && receipt.get("about").and_then(Value::as_str) == about
    };
    all.iter().filter(is).count()
}

#[test]
fn a_destination_is_taken_at_its_word_only_where_it_can_be_read() {
    let home = Home::new();
    world_of_cases(&home);
    let began = Instant::now();
    let (status, told) = reconcile(&home, &["run"]);
    assert!(began.elapsed() < Duration::from_secs(25), "it hangs");
    assert_eq!(status, Some(1));
    let effects = told["effects"].as_array().unwrap();
    assert_eq!(effects.len(), CASES.len());
    for ((tool, _, script, state, says), asked) in CASES.into_iter().zip(effects) {
        assert_eq!(asked["effect"]["tool"], tool);
        assert_eq!(asked["before"], "pending");
        assert_eq!(asked["effect"]["state"], state, "{tool}: {asked}");
        let answered = state != "pending";
        let part = if answered {
            &asked["effect"]["evidence"]
        } else {
            &asked["failed"]
        };
        assert!(part.as_str().unwrap().contains(says), "{tool}: {part}");
        assert_eq!(asked["failed"].is_null(), answered, "{tool}");
        let key = format!("key-{tool}");
        let command = if script.is_empty() {
            json!([])
        } else {
            json!(["sh", format!("{tool}.sh"), key])
        };
        assert_eq!(asked["command"], command);
    }
    // Two of them are settled, two more are irreversible, and each answer is a receipt; no answer leaves none.
    assert_eq!(told["blocking"], CASES.len() - 2);
    assert_eq!(decisions(&home, None), 4);
    // It was told what it needs to know and nothing more, with the operation key as its last argument.
    let asked = fs::read_to_string(home.path("found.asked")).unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(&asked).unwrap(),
        json!({
            "tool": "found", "operation_key": "key-found", "class": "compensable", "session": "run", "branch": "run/main", "step": 1,
            "args_sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        })
    );
    let args = fs::read_to_string(home.path("found.args")).unwrap();
    assert_eq!(args, "1:key-found\n");

    let sentence = home.refused(2, &["reconcile", "run", "--at", "99"]);
    assert!(sentence.contains("no step 99"), "{sentence}");

    // What is settled is not asked about again; what is only there is.
    let (_, again) = reconcile(&home, &["run", "--at", "3"]);
    let tools: Vec<&Value> = again["effects"]
        .as_array()
        .unwrap()
        .iter()
        .map(|asked| &asked["effect"]["tool"])
        .collect();
    assert_eq!(tools.len(), CASES.len() - 2, "{tools:?}");
    assert!(tools.contains(&&json!("permanent")));
}

#[test]
fn a_person_decides_with_a_reason_what_no_destination_can() {
    let home = Home::new();
    world_of_cases(&home);
    let set = |decision: &str, why: &str| {
        home.run(&["set", "run", "--effect", decision, "--why", why, "--json"])
            .status
            .code()
    };
    assert_eq!(set("key-found=keep", " "), Some(2));
    assert_eq!(set("key-found=pending", "x"), Some(2));
    assert_eq!(set("key-found=irreversible", "x"), Some(2));
    assert_eq!(set("key-none=keep", "x"), Some(2));
    assert_eq!(decisions(&home, None), 0);
    for (tool, ..) in CASES {
        let word = if tool == "absent" { "reverted" } else { "keep" };
        assert_eq!(set(&format!("key-{tool}={word}"), "seen"), Some(0));
    }
    let (status, told) = reconcile(&home, &["run"]);
    assert_eq!(
        (status, &told["blocking"], &told["effects"]),
        (Some(0), &json!(0), &json!([]))
    );
    assert_eq!(decisions(&home, None), CASES.len());
    let known = home.json(&["set", "run"]);
    let found: Vec<&Value> = known["effects"]
        .as_array()
        .unwrap()
        .iter()
        .map(|effect| &effect["state"])
        .collect();
    assert_eq!(
        found[..3],
        [
            &json!("reconciled"),
            &json!("reverted"),
            &json!("reconciled")
        ]
    );
}

#[test]
fn the_publishing_job_leads_from_effects_to_the_owner() {
    let home = Home::new();
    let edit = "Open the ticket for the web team: ops@lantern.example.";
    let fork = || {
        let words = ["fork", "release-notes", "--at", "6", "--text", edit];
        let output = home.run(&[&words[..], &["--json"]].concat());
        assert_eq!(output.status.code(), Some(1));
        let held: Value = serde_json::from_slice(&output.stdout).unwrap();
        // Reaching outside, it is one run unless more are asked for.
        assert_eq!(held["intervention"]["n"], 1);
        held
    };
    let held = fork();
    assert_eq!(held["branches"][0]["gate"], "effects_unreconciled");
    assert_eq!(
        held["gates"][2]["mend"],
        "Ask the destinations: dover reconcile release-notes --at 6"
    );
    let (status, told) = reconcile(&home, &["release-notes"]);
    assert_eq!(status, Some(1));
    let found: Vec<(&Value, &Value)> = told["effects"]
        .as_array()
        .unwrap()
        .iter()
        .map(|asked| (&asked["effect"]["operation_key"], &asked["effect"]["state"]))
        .collect();
    assert_eq!(
        found,
        [
            (&json!(TICKET), &json!("reconciled")),
            (&json!(MAIL), &json!("irreversible"))
        ]
    );
    // Nobody can be asked about what is there for good: a person decides.
    let held = fork();
    assert_eq!(held["branches"][0]["gate"], "effects_unreconciled");
    let mend = held["gates"][2]["mend"].as_str().unwrap();
    assert!(mend.contains(&format!("--effect {MAIL}=keep")), "{mend}");
    let keep = format!("{MAIL}=keep");
    home.json(&[
        "set",
        "release-notes",
        "--effect",
        &keep,
        "--why",
        "it is sent and stays",
    ]);
    assert_eq!(reconcile(&home, &["release-notes"]).0, Some(0));
    let held = fork();
    assert_eq!(held["branches"][0]["gate"], "needs_approval");
    // Nothing of all this reached the desk.
    let tickets = home.path("store.db.desk/release-notes/tickets.jsonl");
    assert_eq!(tickets_of(&home), 1);

    // An edit of low risk runs now, and is answered from the record.
    let ran = home.json(&[
        "fork",
        "release-notes",
        "--at",
        "3",
        "--text",
        "Open the build log and note the build number of the release.",
    ]);
    assert_eq!(ran["branches"][0]["run"], "done");
    assert_eq!(tickets_of(&home), 1);

    // A destination that cannot be reached is no state to restore.
    fs::remove_file(tickets).unwrap();
    let held = fork();
    assert_eq!(held["branches"][0]["gate"], "restore_uncertain");
}

/// How many lines of the desk's log are about the ticket.
fn tickets_of(home: &Home) -> usize {
    let log = home.path("store.db.desk/release-notes/tickets.jsonl");
    let text = fs::read_to_string(log).unwrap();
    text.lines().filter(|line| line.contains(TICKET)).count()
}

#[test]
fn a_ticket_that_was_withdrawn_is_opened_again_only_if_allowed() {
    let home = Home::new();
    home.json(&["show", "release-notes"]);
    let log = home.path("store.db.desk/release-notes/tickets.jsonl");
    fs::write(&log, "").unwrap();
    let (_, told) = reconcile(&home, &["release-notes"]);
    assert_eq!(told["effects"][0]["effect"]["state"], "reverted");
    let keep = format!("{MAIL}=keep");
    home.json(&["set", "release-notes", "--effect", &keep, "--why", "stays"]);
    let fork = |word: &str| {
        let words = [
            "fork",
            "release-notes",
            "--at",
            "6",
            "--new-effects",
            word,
            "--json",
        ];
        let output = home.run(&words);
        let forked: Value = serde_json::from_slice(&output.stdout).unwrap();
        (output.status.code(), forked["branches"][0].clone())
    };
    let (status, held) = fork("hold");
    assert_eq!(
        (status, &held["run"], &held["gate"]),
        (Some(1), &json!("held"), &json!("effects_unreconciled"))
    );
    let reason = held["reason"].as_str().unwrap();
    assert!(
        reason.contains("open_ticket")
            && reason.contains(TICKET)
            && reason.contains("--new-effects"),
        "{reason}"
    );
    // The instruction stands, the call was not made.
    assert_eq!(held["steps"], 7);
    assert_eq!(
        (tickets_of(&home), decisions(&home, Some("new_effect"))),
        (0, 0)
    );

    let (_, refused) = fork("refuse");
    assert_eq!(refused["run"], "done");
    assert_eq!(tickets_of(&home), 0);
    let asked = decisions(&home, Some("new_effect"));
    assert!(asked > 0);

    let (_, allowed) = fork("allow");
    assert_eq!(allowed["run"], "done");
    // Once, under its own key, whatever other runs do.
    assert_eq!(tickets_of(&home), 1);
    assert_eq!(decisions(&home, Some("new_effect")), asked + 1);
    fork("allow");
    assert_eq!(tickets_of(&home), 1);
    assert_eq!(home.json(&["receipt", "verify"])["verified"], true);
}

#[test]
fn the_desk_is_found_again_from_everywhere_and_claims_nothing_that_it_cannot_look_up() {
    let home = Home::new();
    for folder in ["one", "two"] {
        fs::create_dir(home.path(folder)).unwrap();
    }
    let at = |folder: &str, words: &[&str]| {
        let mut dover = home.dover();
        dover.current_dir(home.path(folder)).args(words);
        dover.output().unwrap()
    };
    let new = [
        "--store",
        "../store.db",
        "set",
        "release-notes",
        "--effect",
        &format!("{MAIL}=keep"),
        "--why",
        "stays",
    ];
    assert!(at("one", &new).status.success());
    let ask = ["--store", "../store.db", "reconcile", "release-notes"];
    fs::remove_dir(home.path("one")).unwrap();
    assert_eq!(at("two", &ask).status.code(), Some(0));
    let fork = ["--store", "../store.db", "fork", "release-notes", "--at=3"];
    assert_eq!(at("two", &fork).status.code(), Some(0));

    // As JSON such a key looks otherwise, so searching for it as it is would find nothing.
    let desk = home.path("store.db.desk/release-notes");
    let entry = json!({"operation_key": "a\"b"}).to_string();
    fs::write(desk.join("tickets.jsonl"), entry).unwrap();
    for (log, key) in [("tickets", "a\"b"), ("tickets", ""), ("letters", "a")] {
        let mut sh = std::process::Command::new("sh");
        let asked = sh
            .args(["desk.sh", log, key])
            .current_dir(&desk)
            .output()
            .unwrap();
        assert!(!asked.status.success() && asked.stdout.is_empty(), "{key}");
    }
}

#[test]
fn the_profile_finds_the_key_and_a_destination_answers_for_its_own_tool_alone() {
    let home = Home::new();
    let call = |id: &str, tool: &str| {
        json!({"role": "assistant", "content": "", "tool_calls": [
            {"id": id, "type": "function", "function": {"name": tool, "arguments": "{\"order\":{\"id\":\"A-7\"}}"}}
        ]})
    };
    let log = json!([{"role": "user", "content": "Order."}, call("c1", "book"), call("c2", "pay")]);
    let file = home.file("order.json", &log.to_string());
    home.file(
        "order.dover.toml",
        "[tools.book]\nclass = \"compensable\"\noperation_key = \"order.id\"\nreconcile = [\"sh\", \"ask.sh\"]\n\
         [tools.pay]\nclass = \"permanent\"\noperation_key = \"order.id\"\n",
    );
    home.file(
        "ask.sh",
        "echo \"{\\\"state\\\":\\\"reconciled\\\",\\\"evidence\\\":\\\"order $1\\\"}\"",
    );
    home.json(&["import", &file]);
    let output = home.run(&["reconcile", "order", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let asked: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(asked["blocking"], 1, "{asked}");
    let effects = home.json(&["set", "order"])["effects"].clone();
    let stands = |tool: &str| {
        let all = effects.as_array().unwrap();
        let effect = all.iter().find(|effect| effect["tool"] == tool).unwrap();
        (effect["operation_key"].clone(), effect["state"].clone())
    };
    assert_eq!(stands("book"), (json!("A-7"), json!("reconciled")));
    assert_eq!(stands("pay"), (json!("A-7"), json!("pending")));
}
