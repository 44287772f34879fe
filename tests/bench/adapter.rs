//! What an adapter costs on each framework that is installed: the first boundary beside the import of the team's own file, which is mostly
//! the framework's, and a checkpoint at every boundary.
//!
//! `cargo bench --bench adapter` looks where the tests make their environments (`cargo test --test it frameworks` makes them). A framework
//! that is not there is told as skipped.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use dover::runtime::adapter::AdapterHome;
use serde_json::{Value, json};

/// Runs of each team.
const RUNS: usize = 5;
/// Framework, team, task, and the model that the team talks to.
const TEAMS: [[&str; 5]; 4] = [
    [
        "autogen",
        "autogen_magentic",
        "build",
        "How many tins of paint does a floor of 96 square metres need?",
        "rule_model.py",
    ],
    [
        "autogen",
        "autogen_rounds",
        "build",
        "Write a text",
        "rule_model.py",
    ],
    [
        "langgraph",
        "langgraph_team",
        "line",
        "How far at 90 km/h in 2 hours?",
        "model_server.py",
    ],
    [
        "ag2-classic",
        "ag2_classic_team",
        "group",
        "3 widgets, please",
        "model_server.py",
    ],
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A child that ends with the bench.
struct Ends(Child);

impl Drop for Ends {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// An adapter's process and the protocol's two ends.
struct Adapter {
    _child: Ends,
    to: ChildStdin,
    from: Lines<BufReader<ChildStdout>>,
}

impl Adapter {
    fn start(mut command: Command) -> Self {
        let spawned = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut child = Ends(spawned.unwrap());
        Self {
            to: child.0.stdin.take().unwrap(),
            from: BufReader::new(child.0.stdout.take().unwrap()).lines(),
            _child: child,
        }
    }

    /// The answer to a request; what is told meanwhile is passed over, and tools may run.
    fn call(&mut self, method: &str, params: &Value) -> Value {
        self.ask(1, method, params);
        loop {
            let line = self.from.next().unwrap().unwrap();
            let heard: Value = serde_json::from_str(&line).unwrap();
            if heard["id"] == 1 {
                assert!(heard["error"].is_null(), "{method}: {heard}");
                return heard["result"].clone();
            }
            if heard["params"]["kind"] == "input.requested" {
                let answer = json!({"request_id": heard["params"]["request_id"], "value": {"decision": "run"}});
                self.ask(2, "respond", &answer);
            }
        }
    }

    fn ask(&mut self, id: u32, method: &str, params: &Value) {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        writeln!(self.to, "{request}").unwrap();
    }
}

/// What was measured of one run.
struct Measured {
    import: Duration,
    first: Duration,
    checkpoints: Vec<Duration>,
    bytes: usize,
}

fn python(interpreter: &Path, model: &str) -> Command {
    let mut command = Command::new(interpreter);
    command
        .current_dir(root().join("tests/adapters/teams"))
        .env("PYTHONPATH", root().join("src/runtime/adapter/python"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("MODEL_URL", model)
        .env("OPENAI_API_KEY", "not-a-key");
    command
}

fn measure(
    interpreter: &Path,
    [adapter, module, factory, task, _]: [&str; 5],
    model: &str,
) -> Measured {
    let begun = Instant::now();
    // To the line behind the import; the end of a process is no part of it.
    let mut alone = python(interpreter, model);
    alone.args(["-c", &format!("import {module}; print(flush=True)")]);
    let imported = Adapter::start(alone).from.next();
    assert!(imported.is_some(), "{module} cannot be imported");
    let import = begun.elapsed();

    let begun = Instant::now();
    let mut command = python(interpreter, model);
    command.args([
        "-m",
        "dover_adapter",
        adapter,
        &format!("{module}:{factory}"),
    ]);
    let mut run = Adapter::start(command);
    run.call("initialize", &json!({"protocol": 1}));
    run.call("describe", &json!({}));
    let mut at = run.call("start", &json!({"task": task}));
    let first = begun.elapsed();
    let (mut checkpoints, mut bytes) = (Vec::new(), 0);
    while at["status"] == "paused" {
        let begun = Instant::now();
        let checkpoint = run.call("checkpoint", &json!({}));
        checkpoints.push(begun.elapsed());
        bytes += checkpoint.to_string().len();
        at = run.call("step", &json!({}));
    }
    assert_eq!(at["status"], "done", "{module}: {at}");
    Measured {
        import,
        first,
        checkpoints,
        bytes,
    }
}

fn least(all: impl Iterator<Item = Duration>) -> f64 {
    all.min().unwrap().as_secs_f64() * 1000.0
}

fn median(mut all: Vec<Duration>) -> f64 {
    all.sort_unstable();
    all[all.len() / 2].as_secs_f64() * 1000.0
}

fn main() {
    let said = std::env::var_os("DOVER_FRAMEWORKS").map(PathBuf::from);
    let data = said.unwrap_or_else(|| Path::new(env!("CARGO_TARGET_TMPDIR")).join("../frameworks"));
    let home = AdapterHome::at(data.join("adapters"));
    println!(
        "| team | import of its file | first boundary | more than the import | boundaries | checkpoint | bytes each |"
    );
    println!("|---|---|---|---|---|---|---|");
    for team in TEAMS {
        let [name, module, factory, _, script] = team;
        let Some(interpreter) = home.python(name) else {
            eprintln!(
                "skipped: {name} is not installed in {}; cargo test --test it frameworks makes it",
                data.display()
            );
            continue;
        };
        let mut server = Command::new(&interpreter)
            .arg(root().join("tests/adapters").join(script))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut address = String::new();
        BufReader::new(server.stdout.take().unwrap())
            .read_line(&mut address)
            .unwrap();
        let _server = Ends(server);
        // The first run fills the caches of the file system and counts for nothing.
        let mut runs: Vec<Measured> = (0..=RUNS)
            .map(|_| measure(&interpreter, team, address.trim()))
            .collect();
        runs.remove(0);
        // Other work on the machine only ever adds to these.
        let import = least(runs.iter().map(|it| it.import));
        let first = least(runs.iter().map(|it| it.first));
        let boundaries = runs[0].checkpoints.len();
        let bytes = runs[0].bytes / boundaries;
        let checkpoint = median(runs.into_iter().flat_map(|it| it.checkpoints).collect());
        println!(
            "| {name} `{module}:{factory}` | {import:.0} ms | {first:.0} ms | {:.0} ms | {boundaries} | {checkpoint:.1} ms | {bytes} |",
            first - import
        );
    }
}
