//! Where adapters live: the files that dover carries, unpacked under the data directory, environments that `install` made, logs of runs.
//!
//! Invariant: a directory named by a digest holds just what has that digest; it is filled elsewhere and moved there whole.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use include_dir::{Dir, include_dir};

use super::host::Launch;
use crate::model::{AdapterRef, Digest};
use crate::runtime::RuntimeError;

/// The adapters' Python, carried in the program.
static PYTHON: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/src/runtime/adapter/python");
/// Pinned, hashed packages of each framework.
static LOCKS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/src/runtime/adapter/locks");

/// The adapters that dover carries.
pub const NAMES: [&str; 4] = ["autogen", "ag2", "ag2-classic", "langgraph"];
/// An adapter of the user's own, known by its command.
pub const CUSTOM: &str = "custom";

/// The data directory of the adapters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdapterHome {
    dir: PathBuf,
}

impl AdapterHome {
    /// A directory of the caller's.
    #[must_use]
    pub const fn at(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// The usual place: `DOVER_DATA`, else the platform's data directory.
    ///
    /// # Errors
    /// There is no home directory.
    pub fn usual() -> Result<Self, RuntimeError> {
        let said = std::env::var_os("DOVER_DATA").filter(|path| !path.is_empty());
        let dir = said.map(PathBuf::from).or_else(|| {
            directories::ProjectDirs::from("", "", "dover").map(|dirs| dirs.data_dir().to_owned())
        });
        let dir = dir.ok_or_else(|| RuntimeError::Missing {
            what: "there is no home directory to keep adapters in".to_owned(),
            mend: "Set DOVER_DATA to a directory that can be written".to_owned(),
        })?;
        let whole = std::path::absolute(&dir).unwrap_or(dir);
        Ok(Self::at(whole.join("adapters")))
    }

    /// The directory.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Where the logs of runs are.
    #[must_use]
    pub fn logs(&self) -> PathBuf {
        self.dir.join("logs")
    }

    /// The environment of an adapter, whether it is there or not. Another lock is another environment.
    #[must_use]
    pub fn environment(&self, name: &str) -> Option<PathBuf> {
        let lock = lock(name)?;
        let key = Digest::of(lock).short();
        Some(self.dir.join("env").join(format!("{name}-{key}")))
    }

    /// The interpreter of an environment that `install` finished.
    #[must_use]
    pub fn python(&self, name: &str) -> Option<PathBuf> {
        let dir = self.environment(name)?;
        // Written last.
        dir.join(DONE).is_file().then(|| interpreter(&dir))
    }

    /// How an adapter is started.
    ///
    /// # Errors
    /// A name that dover does not know, a framework that is not installed, files that cannot be unpacked.
    pub fn launch(&self, adapter: &AdapterRef) -> Result<Launch, RuntimeError> {
        let (name, logs) = (adapter.name.clone(), Some(self.logs()));
        let modules = self.unpack().map_err(|error| RuntimeError::Missing {
            what: format!(
                "the adapters cannot be unpacked into {}: {error}",
                self.dir.display()
            ),
            mend: "Free some space there, or set DOVER_DATA to a directory that can be written"
                .to_owned(),
        })?;
        let env = vec![
            ("PYTHONPATH".to_owned(), python_path(&modules)),
            ("PYTHONUNBUFFERED".to_owned(), "1".into()),
            ("PYTHONIOENCODING".to_owned(), "utf-8".into()),
        ];
        if name == CUSTOM {
            return Ok(Launch {
                entry: adapter.command.join(" "),
                command: adapter.command.clone(),
                dir: adapter.dir.clone(),
                env,
                mend: "Give the command of an adapter after `--`".to_owned(),
                name,
                logs,
            });
        }
        if !NAMES.contains(&name.as_str()) {
            return Err(unknown(&name));
        }
        let python = match &adapter.python {
            Some(python) => python.clone(),
            None => self.python(&name).ok_or_else(|| RuntimeError::Missing {
                what: format!("the framework of adapter {name} is not installed"),
                mend: format!(
                    "Install it: dover adapter install {name}. Or use your own: --python PATH"
                ),
            })?,
        };
        Ok(Launch {
            command: vec![
                python.to_string_lossy().into_owned(),
                "-m".to_owned(),
                "dover_adapter".to_owned(),
                name.clone(),
                adapter.entry.clone(),
            ],
            entry: adapter.entry.clone(),
            dir: adapter.dir.clone(),
            env,
            mend: if adapter.python.is_some() {
                "Give a Python interpreter with --python".to_owned()
            } else {
                format!("Install it anew: dover adapter install {name}")
            },
            name,
            logs,
        })
    }

    /// The adapters' files, unpacked once for each version of them. What somebody changed there is put right.
    fn unpack(&self) -> io::Result<PathBuf> {
        let mut files = Vec::new();
        walk(&PYTHON, &mut files);
        files.sort();
        let fields = files
            .iter()
            .flat_map(|(path, bytes)| [path.as_os_str().as_encoded_bytes(), bytes]);
        let dir = self
            .dir
            .join("python")
            .join(Digest::of_fields(fields).short());
        let whole = |dir: &Path| {
            files.iter().all(|(path, bytes)| {
                std::fs::read(dir.join(path)).is_ok_and(|there| there == *bytes)
            })
        };
        if whole(&dir) {
            return Ok(dir);
        }
        let above = self.dir.join("python");
        std::fs::create_dir_all(&above)?;
        let fresh = tempfile::tempdir_in(&above)?;
        PYTHON.extract(fresh.path())?;
        if dir.exists() {
            std::fs::remove_dir_all(&dir)?;
        }
        match std::fs::rename(fresh.path(), &dir) {
            Ok(()) => {
                let _moved = fresh.keep();
                Ok(dir)
            }
            // Another dover was quicker.
            Err(_) if whole(&dir) => Ok(dir),
            Err(error) => Err(error),
        }
    }
}

/// What stands in an environment once it is whole.
pub(super) const DONE: &str = "dover-installed.txt";

/// The lock of an adapter, if dover carries one.
pub(super) fn lock(name: &str) -> Option<&'static str> {
    LOCKS.get_file(format!("{name}.txt"))?.contents_utf8()
}

/// Where an environment has its interpreter.
pub(super) fn interpreter(dir: &Path) -> PathBuf {
    if cfg!(windows) {
        dir.join("Scripts").join("python.exe")
    } else {
        dir.join("bin").join("python")
    }
}

/// Where an environment differs from what dover pins for an adapter, a line each.
#[must_use]
pub fn differs_from_pin(name: &str, framework: &BTreeMap<String, String>) -> Vec<String> {
    let pinned = lock(name).unwrap_or_default().lines();
    let pinned: BTreeMap<&str, &str> = pinned
        .filter_map(|line| line.trim_end_matches([' ', '\\']).split_once("=="))
        .filter(|(package, _)| !package.starts_with([' ', '#']))
        .collect();
    framework
        .iter()
        .filter_map(|(package, version)| {
            let wanted = pinned.get(package.to_lowercase().as_str())?;
            (wanted != version).then(|| format!("{package} is {version}, pinned is {wanted}"))
        })
        .collect()
}

/// A name that is no adapter's.
pub(super) fn unknown(name: &str) -> RuntimeError {
    RuntimeError::Missing {
        what: format!("there is no adapter `{name}`"),
        mend: format!("There are {} and {CUSTOM}", NAMES.join(", ")),
    }
}

/// The adapters' files before whatever the user has there.
fn python_path(modules: &Path) -> OsString {
    let own = std::env::var_os("PYTHONPATH").unwrap_or_default();
    let all = std::iter::once(modules.to_owned()).chain(std::env::split_paths(&own));
    let all = all.filter(|path| !path.as_os_str().is_empty());
    std::env::join_paths(all).unwrap_or_else(|_| modules.as_os_str().to_owned())
}

fn walk<'a>(dir: &Dir<'a>, found: &mut Vec<(&'a Path, &'a [u8])>) {
    found.extend(dir.files().map(|file| (file.path(), file.contents())));
    for inner in dir.dirs() {
        walk(inner, found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_adapter_that_is_offered_is_carried_with_its_packages() {
        for name in NAMES {
            let file = format!("dover_adapter/{}.py", name.replace('-', "_"));
            assert!(PYTHON.get_file(&file).is_some(), "{file}");
            assert!(
                lock(name).is_some_and(|lock| lock.contains("--hash=")),
                "{name}"
            );
        }
    }

    fn adapter(name: &str) -> AdapterRef {
        AdapterRef {
            name: name.to_owned(),
            entry: "team:build".to_owned(),
            dir: PathBuf::from("/"),
            ..AdapterRef::default()
        }
    }

    #[test]
    fn what_is_unpacked_is_put_right_again() {
        let folder = tempfile::tempdir().unwrap();
        let home = AdapterHome::at(folder.path().join("a"));
        let dir = home.unpack().unwrap();
        let mut files = Vec::new();
        walk(&PYTHON, &mut files);
        let (path, bytes) = files.first().unwrap();
        std::fs::write(dir.join(path), "changed").unwrap();
        assert_eq!(home.unpack().unwrap(), dir);
        assert_eq!(std::fs::read(dir.join(path)).unwrap(), *bytes);
        let beside = std::fs::read_dir(dir.parent().unwrap()).unwrap().count();
        assert_eq!(beside, 1, "something was left beside it");
    }

    #[test]
    fn what_is_not_there_is_told_with_the_way_to_get_it() {
        let folder = tempfile::tempdir().unwrap();
        let home = AdapterHome::at(folder.path().to_owned());
        let told = home.launch(&adapter("langgraph")).unwrap_err().to_string();
        assert!(told.contains("dover adapter install langgraph"), "{told}");
        let told = home.launch(&adapter("crewai")).unwrap_err().to_string();
        assert!(told.contains("autogen"), "{told}");
        let own = AdapterRef {
            python: Some(PathBuf::from("/usr/bin/python3")),
            ..adapter("langgraph")
        };
        let launch = home.launch(&own).unwrap();
        assert_eq!(
            launch.command,
            [
                "/usr/bin/python3",
                "-m",
                "dover_adapter",
                "langgraph",
                "team:build"
            ]
        );
    }
}
