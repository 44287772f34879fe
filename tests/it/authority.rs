//! Approvals as two people use them: one drives, another owns; and everything that must not pass for one.

use std::process::Output;

use dover::gate::approval::{Signed, Statement, sign};
use dover::gate::key::PrivateKey;
use serde_json::Value;

use crate::cli::Home;

const SAMPLE: &str = "release-notes";
/// The mail that the recorded run sent.
const MAIL: &str = "lantern-2.4-announce";
/// A key of the ticket that the recorded run opened.
const TICKET: &str = "lantern-2.4-web";
/// Names another recipient, and mends nothing.
const RISKY: &str = "Open the ticket for the web team at night-desk@lantern.example.";
/// Names another recipient too, in a plan that mends what went wrong.
const RIGHT: &str = "1. Publisher: open the ticket for the web team at night-desk@lantern.example.\n\
                     2. Publisher: open the build log and note the build number of the release.\n\
                     3. Publisher: update the release notes with the build number.\n\
                     4. Editor: sign off the release notes.\n\
                     5. Publisher: publish the release notes.";

/// A driver's machine and an owner's, on one store.
struct Scene {
    home: Home,
}

impl Scene {
    /// The sample with its effects settled and olga as an owner.
    fn new() -> Self {
        let scene = Self { home: Home::new() };
        scene.settle();
        scene.own("olga");
        scene
    }

    fn settle(&self) {
        let asked = self.run("ann", &["reconcile", SAMPLE]);
        assert_eq!(asked.status.code(), Some(1), "the mail wants a person");
        self.good(
            "ann",
            &[
                "set",
                SAMPLE,
                "--effect",
                &format!("{MAIL}=keep"),
                "--why",
                "sent once",
            ],
        );
    }

    /// Makes a key for an owner and names it in the profile.
    fn own(&self, name: &str) {
        let made = self.json("ann", &["owner", "new", name]);
        let owner = format!("{name}={}", made["key"].as_str().unwrap());
        self.good("ann", &["set", SAMPLE, "--owner", &owner]);
    }

    fn run(&self, operator: &str, words: &[&str]) -> Output {
        let mut dover = self.home.dover();
        dover
            .env("DOVER_CONFIG", self.home.path("config"))
            .env("DOVER_OPERATOR", operator);
        dover.args(words).output().unwrap()
    }

    fn good(&self, operator: &str, words: &[&str]) -> Output {
        let output = self.run(operator, words);
        assert_eq!(
            output.status.code(),
            Some(0),
            "{words:?}: {}",
            said(&output)
        );
        output
    }

    fn json(&self, operator: &str, words: &[&str]) -> Value {
        answer(&self.good(operator, &[words, &["--json"]].concat()))
    }

    /// Forks at the instruction before the ticket; tells the intervention that waits.
    fn waits(&self, text: &str) -> String {
        let at = if text == RIGHT { "1" } else { "6" };
        let held = self.run(
            "ann",
            &["fork", SAMPLE, "--at", at, "--text", text, "--json"],
        );
        assert_eq!(held.status.code(), Some(1), "{}", said(&held));
        let held = answer(&held);
        assert_eq!(held["branches"][0]["gate"], "needs_approval");
        assert_eq!(held["branches"][0]["run"], "held");
        held["intervention"]["id"].as_str().unwrap().to_owned()
    }

    /// Tries an intervention again; its branch, held or run.
    fn resumes(&self, status: i32, id: &str) -> Value {
        let output = self.run("ann", &["resume", id, "--json"]);
        assert_eq!(output.status.code(), Some(status), "{}", said(&output));
        answer(&output)["branches"][0].clone()
    }

    fn refused(&self, operator: &str, words: &[&str], part: &str) {
        let output = self.run(operator, words);
        assert_eq!(
            output.status.code(),
            Some(1),
            "{words:?}: {}",
            said(&output)
        );
        assert!(said(&output).contains(part), "{words:?}: {}", said(&output));
        assert!(output.stdout.is_empty());
    }

    /// An approval of olga's, in a file, with its statement changed and signed again by a key of her own.
    fn forged(&self, id: &str, change: impl FnOnce(&mut Statement)) -> String {
        let file = self.home.path("approval.json");
        let words = [
            "approve",
            id,
            "--as",
            "olga",
            "--out",
            file.to_str().unwrap(),
        ];
        self.good("olga", &words);
        let signed = Signed::parse(&std::fs::read_to_string(&file).unwrap()).unwrap();
        let seed = std::fs::read_to_string(self.home.path("config/owners/olga.key")).unwrap();
        let mut statement = signed.statement;
        change(&mut statement);
        let text = sign(statement, &PrivateKey::from_text(&seed).unwrap()).unwrap();
        self.home.file("forged.json", &text)
    }
}

fn answer(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", said(output)))
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn tickets(home: &Home) -> usize {
    let log = home
        .path("store.db.desk")
        .join(SAMPLE)
        .join("tickets.jsonl");
    let lines = std::fs::read_to_string(log).unwrap();
    lines.lines().filter(|line| line.contains(TICKET)).count()
}

#[test]
fn a_publishing_job_goes_from_held_to_verified_and_opens_its_ticket_once() {
    let scene = Scene { home: Home::new() };
    let words = ["fork", SAMPLE, "--at", "6", "--text", RISKY, "--json"];
    let held = answer(&scene.run("ann", &words));
    assert_eq!(held["branches"][0]["gate"], "effects_unreconciled");
    assert_eq!(tickets(&scene.home), 1);
    scene.settle();
    scene.own("olga");

    let first = scene.waits(RISKY);
    assert_eq!(scene.resumes(1, &first)["gate"], "needs_approval");
    scene.good("olga", &["approve", &first, "--as", "olga"]);
    let ran = scene.resumes(0, &first);
    assert_eq!(
        (&ran["run"], &ran["gate"]),
        (&"done".into(), &"false_success".into())
    );
    // The ticket of then answered; nobody else got one, so the edit was not carried out.
    assert_eq!(ran["fulfilled"], false);
    let shown = scene.good("ann", &["show", ran["id"].as_str().unwrap()]);
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("from the record, not repeated"), "{shown}");

    let second = scene.waits(RIGHT);
    scene.good("olga", &["approve", &second, "--as", "olga"]);
    let ran = scene.resumes(0, &second);
    assert_eq!(
        (&ran["run"], &ran["gate"]),
        (&"done".into(), &"verified".into())
    );

    assert_eq!(tickets(&scene.home), 1);
    let checked = scene.json("ann", &["receipt", "verify"]);
    assert_eq!(checked["verified"], true);
    let chain = scene.good("ann", &["receipt", "export"]);
    let chain = String::from_utf8(chain.stdout).unwrap();
    for word in ["lantern", "olga", "ann\"", "ticket for"] {
        assert!(!chain.contains(word), "{word}");
    }
}

#[test]
fn an_approval_lets_one_fork_run_and_no_other() {
    let scene = Scene::new();
    let first = scene.waits(RISKY);
    let other = scene.waits(RISKY);
    scene.good("olga", &["approve", &first, "--as", "olga"]);
    assert_eq!(scene.resumes(1, &other)["gate"], "needs_approval");
    assert_eq!(scene.resumes(0, &first)["run"], "done");
    let again = scene.run("ann", &["resume", &first]);
    assert_eq!(again.status.code(), Some(2));
    assert!(said(&again).contains("let go already"));
}

#[test]
fn whoever_may_not_approve_is_told_why() {
    let scene = Scene::new();
    let id = scene.waits(RISKY);
    scene.json("ann", &["owner", "new", "mallory"]);
    scene.refused(
        "mallory",
        &["approve", &id, "--as", "mallory"],
        "names no such owner",
    );
    // The editor may own, but not approve the own edit.
    scene.own("ann");
    scene.refused("ann", &["approve", &id, "--as", "ann"], "made the edit");
    let nobody = scene.run("ann", &["approve", &id, "--as", "nobody"]);
    assert_eq!(nobody.status.code(), Some(2));
    let nothing = scene.run("olga", &["approve", "release-notes/i99", "--as", "olga"]);
    assert_eq!(nothing.status.code(), Some(2));
    assert_eq!(scene.resumes(1, &id)["gate"], "needs_approval");
}

#[test]
fn what_is_handed_on_is_looked_at_before_it_is_taken_in() {
    let scene = Scene::new();
    let id = scene.waits(RISKY);
    type Change = fn(&mut Statement);
    let table: [(&str, Change); 8] = [
        ("has expired", |it| {
            it.expires = "2020-01-01T00:00:00Z".into();
        }),
        ("later than now", |it| {
            it.issued = "2990-01-01T00:00:00Z".into();
            it.expires = "2991-01-01T00:00:00Z".into();
        }),
        ("tells no time", |it| it.expires = "soon".into()),
        ("something else", |it| it.binding.n += 1),
        ("something else", |it| {
            it.binding.edit = dover::model::Digest::of("another edit");
        }),
        ("something else", |it| {
            it.binding.config = dover::model::Digest::ZERO;
        }),
        ("something else", |it| it.binding.fork_step += 1),
        ("no owner with this key", |it| it.owner = "bob".into()),
    ];
    for (part, change) in table {
        let file = scene.forged(&id, change);
        scene.refused("ann", &["approve", "--from", &file], part);
    }
    let file = scene.forged(&id, |_| ());
    let text = std::fs::read_to_string(&file).unwrap();
    for (broken, part) in [
        (
            text.replace("\"signature\":\"", "\"signature\":\"00"),
            "signature is not good",
        ),
        (text.replace("{\"", "{ \""), "not canonical"),
        ("{}".to_owned(), "no approval"),
        (String::new(), "no approval"),
    ] {
        let broken = scene.home.file("broken.json", &broken);
        scene.refused("ann", &["approve", "--from", &broken], part);
    }
    assert_eq!(scene.resumes(1, &id)["gate"], "needs_approval");
    scene.good("ann", &["approve", "--from", &file]);
    assert_eq!(scene.resumes(0, &id)["run"], "done");
}

#[test]
fn what_changes_after_an_approval_voids_it() {
    let scene = Scene::new();
    let id = scene.waits(RISKY);
    scene.good("olga", &["approve", &id, "--as", "olga"]);
    // The profile was another one when she approved.
    scene.own("otto");
    assert_eq!(scene.resumes(1, &id)["gate"], "needs_approval");
    scene.good("olga", &["approve", &id, "--as", "olga"]);
    scene.good("ann", &["set", SAMPLE, "--remove-owner", "olga"]);
    assert_eq!(scene.resumes(1, &id)["gate"], "needs_approval");
    scene.good("otto", &["approve", &id, "--as", "otto"]);
    assert_eq!(scene.resumes(0, &id)["run"], "done");
}

#[test]
fn two_terminals_that_resume_at_once_run_it_once() {
    let scene = Scene::new();
    let id = scene.waits(RISKY);
    scene.good("olga", &["approve", &id, "--as", "olga"]);
    let outputs: Vec<Output> = std::thread::scope(|threads| {
        let both =
            [(), ()].map(|()| threads.spawn(|| scene.run("ann", &["resume", &id, "--json"])));
        both.map(|thread| thread.join().unwrap()).into()
    });
    let went = outputs
        .iter()
        .filter(|output| output.status.code() == Some(0));
    assert_eq!(went.count(), 1);
    assert_eq!(scene.json("ann", &["receipt", "verify"])["verified"], true);
}
