//! The real frameworks, pinned: teams of AutoGen, AG2 and LangGraph against local model servers, by the real binary.
//!
//! `dover adapter install` makes the environments, once, in `target/frameworks` (`DOVER_FRAMEWORKS` names another place), each keyed by
//! the digest of its lock. What a machine cannot make is said to be skipped, with the reason; with `CI=true` that is a failure.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{LazyLock, OnceLock};

use dover::runtime::adapter::NAMES;
use serde_json::Value;

use crate::cli::Home;
use crate::support::python::python;
use crate::support::skipped;

mod odd;
mod python_walks;
mod story;
mod walks;

/// The project's Python for tests.
fn adapters() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/adapters")
}

/// The data directory with the environments.
fn data() -> PathBuf {
    let said = std::env::var_os("DOVER_FRAMEWORKS").map(PathBuf::from);
    said.unwrap_or_else(|| Path::new(env!("CARGO_TARGET_TMPDIR")).join("../frameworks"))
}

/// The interpreter of a framework's environment, made if it is not there, or why it cannot be. Tests that come meanwhile wait.
fn interpreter(framework: &str) -> &'static Result<PathBuf, String> {
    type Made = BTreeMap<&'static str, OnceLock<Result<PathBuf, String>>>;
    static MADE: LazyLock<Made> =
        LazyLock::new(|| NAMES.map(|name| (name, OnceLock::new())).into());
    MADE[framework].get_or_init(|| install(framework))
}

fn install(framework: &str) -> Result<PathBuf, String> {
    std::fs::create_dir_all(data()).unwrap();
    // Another run of the tests may be making it.
    let one = File::create(data().join(format!("{framework}.lock"))).unwrap();
    one.lock().unwrap();
    let made = Home::new()
        .dover()
        .args(["adapter", "install", framework, "--json"])
        .env("DOVER_DATA", data())
        .output()
        .unwrap();
    if made.status.success() {
        let told: Value = serde_json::from_slice(&made.stdout).unwrap();
        return Ok(PathBuf::from(told["python"].as_str().unwrap()));
    }
    Err(format!(
        "{framework} cannot be installed here: {}",
        String::from_utf8_lossy(&made.stderr).trim()
    ))
}

/// A model server of `tests/adapters` on a port that it chose.
struct Model {
    server: Child,
    address: String,
}

impl Model {
    fn start(python: &str, script: &str) -> Self {
        let mut server = Command::new(python)
            .arg(adapters().join(script))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut address = String::new();
        let mut told = BufReader::new(server.stdout.take().unwrap());
        told.read_line(&mut address).unwrap();
        let address = address.trim().to_owned();
        assert!(
            address.starts_with("http"),
            "the model server says {address}"
        );
        Self { server, address }
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// A person's machine with a framework on it, and a model for its teams.
struct Scene {
    home: Home,
    framework: &'static str,
    python: PathBuf,
    model: Model,
}

impl Scene {
    /// None where it cannot be made; then that is said.
    fn of(framework: &'static str) -> Option<Self> {
        let own = python()?;
        let python = match interpreter(framework) {
            Ok(python) => python.clone(),
            Err(why) => {
                skipped(why);
                return None;
            }
        };
        let script = match framework {
            "autogen" => "rule_model.py",
            _ => "model_server.py",
        };
        Some(Self {
            home: Home::new(),
            framework,
            python,
            model: Model::start(&own, script),
        })
    }

    fn dover(&self) -> Command {
        let mut dover = self.home.dover();
        dover
            .env("DOVER_DATA", data())
            .env("MODEL_URL", &self.model.address)
            .env("OPENAI_API_KEY", "not-a-key")
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .current_dir(adapters().join("teams"));
        dover
    }

    fn output(&self, words: &[&str]) -> Output {
        self.dover().args(words).output().unwrap()
    }

    /// The JSON of a command that ends with this status.
    fn told(&self, status: i32, words: &[&str]) -> Value {
        let output = self.output(&[words, &["--json"]].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{words:?}: {said}");
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{words:?}: {said}"))
    }

    fn json(&self, words: &[&str]) -> Value {
        self.told(0, words)
    }

    /// Runs a team to its end; its session.
    fn ran(&self, entry: &str, task: &str) -> (String, Value) {
        let ran = self.json(&["run", self.framework, entry, "--task", task]);
        assert_eq!(ran["run"], "done", "{ran}");
        (ran["session"].as_str().unwrap().to_owned(), ran)
    }

    /// Kinds, agents and texts of a branch.
    fn steps(&self, branch: &str) -> Vec<Value> {
        let shown = self.json(&["show", branch]);
        shown["steps"].as_array().unwrap().clone()
    }

    /// Waits until no process is left that was started for this scene.
    #[track_caller]
    fn nobody_is_left(&self) {
        let store = format!("DOVER_STORE={}", self.home.path("store.db").display());
        let begun = std::time::Instant::now();
        loop {
            let left = processes_with(&store);
            if left.is_empty() {
                return;
            }
            assert!(begun.elapsed().as_secs() < 30, "left behind: {left:?}");
            std::thread::yield_now();
        }
    }
}

/// Processes that have this in their environment; none where the system does not tell.
fn processes_with(variable: &str) -> Vec<String> {
    let Ok(all) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    let with = |dir: &Path| {
        let environment = std::fs::read(dir.join("environ")).unwrap_or_default();
        environment
            .split(|byte| *byte == 0)
            .any(|one| one == variable.as_bytes())
    };
    all.flatten()
        .map(|entry| entry.path())
        .filter(|dir| with(dir))
        .map(|dir| dir.display().to_string())
        .collect()
}

/// Whether gates 1 to 5 hold.
#[track_caller]
fn gates_hold(forked: &Value) {
    for gate in forked["gates"].as_array().unwrap().iter().take(5) {
        assert_eq!(gate["holds"], true, "{gate}");
    }
}
