//! `dover doctor`: what works here, what does not, and what to do about it.
//!
//! Invariants: it never hangs, for whatever is asked has a limit of time; it asks no network but the endpoint that is configured; it makes
//! nothing and changes nothing. What nobody configured is no failure.

use std::io::{self, IsTerminal};
use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use tokio::time::timeout;

use super::config::Config;
use super::context::Context;
use super::error::{CliError, Exit};
use super::look::{self, Look, environment};
use super::out::{Answer, Out, Tone};
use super::text::count;
use crate::app::keymap::Keymap;
use crate::endpoint::{Endpoint, EndpointError, EndpointSettings, given, shown};
use crate::pipeline::config_dir;
use crate::runtime::adapter::{AdapterHome, NAMES};
use crate::store::Store;
use crate::ui::colour::Depth;
use crate::ui::glyph::Charset;

/// How long one question may take.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Serialize)]
struct Examined {
    /// Whether everything that is configured works.
    works: bool,
    checks: Vec<Check>,
}

/// How something stands.
#[derive(Serialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Standing {
    Works,
    /// It is configured or there, and does not work.
    Fails,
    /// Nobody set it up.
    Absent,
}

#[derive(Serialize, Debug)]
struct Check {
    what: String,
    standing: Standing,
    /// What was found, a line.
    found: String,
    /// What to do, if anything.
    mend: Option<String>,
}

impl Check {
    fn new(what: &str, standing: Standing, found: impl Into<String>) -> Self {
        Self {
            what: what.to_owned(),
            standing,
            found: found.into(),
            mend: None,
        }
    }

    fn works(what: &str, found: impl Into<String>) -> Self {
        Self::new(what, Standing::Works, found)
    }

    fn fails(what: &str, found: impl Into<String>) -> Self {
        Self::new(what, Standing::Fails, found)
    }

    fn absent(what: &str, found: impl Into<String>) -> Self {
        Self::new(what, Standing::Absent, found)
    }

    fn mend(self, mend: impl Into<String>) -> Self {
        Self {
            mend: Some(mend.into()),
            ..self
        }
    }
}

/// Runs the subcommand.
pub fn run(context: &mut Context) -> Result<Exit, CliError> {
    let mut checks = vec![
        terminal(),
        copying(context),
        colours(context),
        keys(),
        configuration(),
        editor(),
    ];
    let threads = tokio::runtime::Runtime::new().map_err(CliError::Threads)?;
    threads.block_on(async {
        let (store, endpoints, python) = tokio::join!(store(context), endpoints(context), python());
        checks.push(store);
        checks.extend(endpoints);
        checks.extend(python);
    });
    // A question that was given up may still be waiting for its answer.
    threads.shutdown_background();
    let works = checks.iter().all(|check| check.standing != Standing::Fails);
    context.out.give(&Examined { works, checks })?;
    Ok(if works { Exit::Done } else { Exit::Held })
}

fn terminal() -> Check {
    let kind = environment("TERM").filter(|kind| !kind.is_empty());
    let kind = kind.unwrap_or_else(|| "of no kind that it says (TERM)".to_owned());
    if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
        return Check::absent("terminal", "standard input or output is no terminal here")
            .mend("The screen needs one. dover --plain and the subcommands do not");
    }
    if kind == "dumb" {
        return Check::absent("terminal", "TERM is dumb, so the screen cannot be drawn")
            .mend("Use dover --plain, or set TERM to what the terminal is");
    }
    match crossterm::terminal::size() {
        Ok((columns, rows)) => Check::works(
            "terminal",
            format!("{kind}, {columns} columns, {rows} rows"),
        ),
        Err(error) => Check::fails(
            "terminal",
            format!("{kind}, its size cannot be asked: {error}"),
        )
        .mend("Use dover --plain"),
    }
}

fn copying(context: &Context) -> Check {
    let (found, sent) = match look::look(&context.global.display) {
        Ok(look) => look.clipboard.told(),
        // The line of the colours says what is wrong.
        Err(_) => return Check::absent("copying", "the configuration cannot be read"),
    };
    if sent {
        return Check::works("copying", found);
    }
    Check::absent("copying", found).mend("Nothing, if the file is enough")
}

fn colours(context: &Context) -> Check {
    let depth = match Depth::from_env(environment) {
        Depth::None => "no colours",
        Depth::Ansi16 => "16 colours",
        Depth::Ansi256 => "256 colours",
        Depth::True => "24-bit colours",
    };
    let signs = |charset| match charset {
        Charset::Unicode => "all signs",
        Charset::Ascii => "signs of ASCII",
    };
    match look::look(&context.global.display) {
        Ok(Look {
            theme,
            charset,
            faults,
            ..
        }) => {
            // Keys have a line of their own.
            let fault = faults
                .into_iter()
                .find(|fault| !fault.contains("The default keys"));
            let found = format!("{depth}, theme {}, {}", theme.name(), signs(charset));
            match fault {
                None => Check::works("colours", found),
                Some(fault) => Check::fails("colours", format!("{found}. {fault}"))
                    .mend("Mend that line; dover themes shows the result"),
            }
        }
        Err(error) => {
            Check::fails("colours", error.to_string()).mend("dover themes lists the themes")
        }
    }
}

fn keys() -> Check {
    let file = look::keys_file().filter(|file| file.exists());
    match look::keymap() {
        Ok(map) if map == Keymap::default() => Check::works("keys", "the default keys"),
        Ok(_) => {
            let file = file.map_or_else(String::new, |file| file.display().to_string());
            Check::works("keys", format!("your own, from {file}"))
        }
        Err(fault) => Check::fails("keys", format!("{fault}. The default keys are used"))
            .mend("Mend that line; dover keys shows the result"),
    }
}

fn configuration() -> Check {
    let file = match config_dir() {
        Ok(dir) => dir.join("config.toml"),
        Err(error) => {
            return Check::fails("config", error.to_string())
                .mend("Set DOVER_CONFIG to a directory");
        }
    };
    match Config::read() {
        Ok(_) if file.exists() => Check::works("config", file.display().to_string()),
        Ok(_) => Check::absent(
            "config",
            format!("no {}; everything is as usual", file.display()),
        ),
        Err(error) => {
            Check::fails("config", error.to_string()).mend("Mend that line or move the file away")
        }
    }
}

/// The editor that `$EDITOR` in the screen starts.
fn editor() -> Check {
    let named = ["VISUAL", "EDITOR"].into_iter().filter_map(environment);
    let Some(line) = named.into_iter().find(|value| !value.trim().is_empty()) else {
        return Check::absent("editor", "neither VISUAL nor EDITOR is set")
            .mend("Set one to edit in a program of your own; the screen's editor does without");
    };
    let program = line.split_whitespace().next().unwrap_or_default();
    let path = environment("PATH").unwrap_or_default();
    let there = Path::new(program).is_file()
        || std::env::split_paths(&path)
            .any(|dir| dir.join(program).is_file() || dir.join(format!("{program}.exe")).is_file());
    if there {
        Check::works("editor", line)
    } else {
        Check::fails("editor", format!("{line}: there is no program {program}"))
            .mend("Set VISUAL or EDITOR to one that is there")
    }
}

async fn store(context: &Context) -> Check {
    let path = match context.store_path() {
        Ok(path) => path,
        Err(error) => return Check::fails("store", error.to_string()),
    };
    let place = path.display().to_string();
    if !path.exists() {
        return Check::absent(
            "store",
            format!("{place} is not there yet; it is made when it is first used"),
        );
    }
    let look = move || {
        let store = Store::open(&path, std::sync::Arc::new(crate::model::SystemClock))?;
        Ok::<_, crate::store::StoreError>((store.session_ids()?.len(), store.is_read_only()))
    };
    let asked = timeout(PATIENCE, tokio::task::spawn_blocking(look)).await;
    match asked {
        Ok(Ok(Ok((sessions, false)))) => Check::works("store", format!("{place}, {}", count(sessions, "session"))),
        Ok(Ok(Ok((sessions, true)))) => {
            let found = format!("{place}, {}, to be read only", count(sessions, "session"));
            Check::fails("store", found).mend("Nothing can be forked there: mend its permissions, or name another with --store")
        }
        Ok(Ok(Err(error))) => Check::fails("store", error.to_string()),
        Ok(Err(error)) => Check::fails("store", error.to_string()),
        Err(_) => Check::fails("store", format!("{place} did not answer within {} s", PATIENCE.as_secs()))
            .mend("Another program holds it, or its disk is slow. Close that program, or name another store with --store"),
    }
}

/// The model that is configured, and the judge if it is another.
async fn endpoints(context: &Context) -> Vec<Check> {
    let settings = match context.model() {
        Ok(settings) => settings,
        Err(error) => return vec![Check::fails("endpoint", error.to_string())],
    };
    let mut checks = vec![endpoint("endpoint", &settings.endpoint).await];
    if let Some(judge) = &settings.judge {
        checks.push(endpoint("judge", judge).await);
    }
    checks
}

async fn endpoint(what: &str, settings: &EndpointSettings) -> Check {
    let Some(url) = given(settings.base_url.as_deref()).map(shown) else {
        return Check::absent(
            what,
            "none is set; samples, scenarios and adapters need none",
        )
        .mend("For a model set OPENAI_BASE_URL and OPENAI_MODEL, or [model] in config.toml");
    };
    let endpoint = match Endpoint::new(settings) {
        Ok(endpoint) => endpoint,
        Err(error) => return failed(what, &url, error),
    };
    let models = match timeout(PATIENCE, endpoint.models()).await {
        Err(_) => {
            return Check::fails(
                what,
                format!("{url} did not answer within {} s", PATIENCE.as_secs()),
            )
            .mend("See that the server runs and that the address is right");
        }
        Ok(Err(fault)) => return failed(what, &url, endpoint.explain(fault)),
        Ok(Ok(models)) => models,
    };
    let name = endpoint.model();
    match models {
        None => Check::works(
            what,
            format!("{url} answers; it does not tell its models, {name} is asked for"),
        ),
        Some(models) if models.iter().any(|model| model == name) => {
            Check::works(what, format!("{url} has {name}"))
        }
        Some(models) => {
            let some: Vec<_> = models.iter().take(5).map(String::as_str).collect();
            Check::fails(what, format!("{url} answers, but does not list {name}")).mend(format!(
                "Name one that it has with --model or OPENAI_MODEL: {}",
                some.join(", ")
            ))
        }
    }
}

fn failed(what: &str, url: &str, error: EndpointError) -> Check {
    let (EndpointError::Missing { what: found, mend }
    | EndpointError::Failed { what: found, mend }) = error;
    Check::fails(what, format!("{url}: {found}")).mend(mend)
}

/// Python, and the environment of each adapter.
async fn python() -> Vec<Check> {
    let base = match timeout(PATIENCE, AdapterHome::base_python()).await {
        Ok(Ok((python, version))) => {
            Check::works("python", format!("{} is {version}", python.display()))
        }
        Ok(Err(why)) => Check::absent("python", why)
            .mend("Only adapters need it: install Python 3.11 with its venv module"),
        Err(_) => Check::fails(
            "python",
            format!("it did not start within {} s", PATIENCE.as_secs()),
        )
        .mend("Run python3 --version by hand"),
    };
    let home = match AdapterHome::usual() {
        Ok(home) => home,
        Err(error) => return vec![base, Check::fails("adapters", error.to_string())],
    };
    let asked = NAMES.map(|name| {
        let home = home.clone();
        async move { (name, timeout(PATIENCE, home.version(name)).await) }
    });
    let mut checks = vec![base];
    for (name, found) in futures::future::join_all(asked).await {
        let what = format!("adapter {name}");
        let anew = || format!("dover adapter install {name}");
        checks.push(match found {
            Ok(None) => Check::absent(&what, "not installed").mend(anew()),
            Ok(Some(Ok(version))) => Check::works(&what, format!("installed, Python {version}")),
            Ok(Some(Err(why))) => Check::fails(&what, why).mend(anew()),
            Err(_) => Check::fails(
                &what,
                format!("its Python did not start within {} s", PATIENCE.as_secs()),
            )
            .mend(anew()),
        });
    }
    checks
}

impl Answer for Examined {
    fn print(&self, out: &mut Out) -> io::Result<()> {
        let widest = self.checks.iter().map(|check| check.what.len()).max();
        let width = widest.unwrap_or_default();
        for check in &self.checks {
            let (sign, word) = match check.standing {
                Standing::Works => ('✓', "works"),
                Standing::Fails => ('✗', "fails"),
                Standing::Absent => ('○', "not set up"),
            };
            let label = format!("  {sign} {:<width$}  {word:<10}  ", check.what);
            out.labelled(&label, &check.found)?;
            if let Some(mend) = &check.mend {
                out.labelled(&" ".repeat(label.chars().count()), mend)?;
            }
        }
        out.blank()?;
        let fails = self
            .checks
            .iter()
            .filter(|check| check.standing == Standing::Fails);
        let (tone, told) = match fails.count() {
            0 => (Tone::Good, "Everything that is set up works.".to_owned()),
            1 => (
                Tone::Bad,
                "One thing that is set up does not work.".to_owned(),
            ),
            n => (
                Tone::Bad,
                format!("{n} things that are set up do not work."),
            ),
        };
        out.row(tone, &told)
    }
}
