//! Keys of owners: a file each in the configuration directory. The private part is its holder's alone and never leaves it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::PipelineError;
use crate::gate::key::{KeyError, PrivateKey, PublicKey};

/// The configuration directory: `DOVER_CONFIG`, else the platform's own.
///
/// # Errors
/// None is known for this user.
pub fn config_dir() -> Result<PathBuf, PipelineError> {
    let said = std::env::var_os("DOVER_CONFIG").filter(|dir| !dir.is_empty());
    let home =
        || directories::ProjectDirs::from("", "", "dover").map(|dirs| dirs.config_dir().to_owned());
    said.map(PathBuf::from).or_else(home).ok_or_else(|| {
        PipelineError::Usage(
            "no configuration directory is known for this user. Set DOVER_CONFIG".into(),
        )
    })
}

/// Where keys are kept.
#[derive(Clone, Debug)]
pub struct Keyring {
    dir: PathBuf,
}

impl Keyring {
    /// Keys in this directory.
    #[must_use]
    pub fn at(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into() }
    }

    /// The user's own: `owners` in `DOVER_CONFIG`, else in the platform's configuration directory.
    pub fn open() -> Result<Self, PipelineError> {
        Ok(Self::at(config_dir()?.join("owners")))
    }

    /// The file of an owner's private key.
    #[must_use]
    pub fn file(&self, name: &str) -> PathBuf {
        self.dir.join(format!("{name}.key"))
    }

    /// Makes an owner's key. One that is there is never written over: what it signed would be nobody's.
    pub fn create(&self, name: &str) -> Result<PublicKey, PipelineError> {
        check_name(name)?;
        let path = self.file(name);
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(|error| {
            PipelineError::Usage(format!(
                "no random numbers could be had: {error}. Try again"
            ))
        })?;
        let written = fs::create_dir_all(&self.dir)
            .and_then(|()| private_file(&path))
            .and_then(|mut file| {
                writeln!(file, "{}", hex::encode(seed))?;
                file.sync_all()
            });
        match written {
            Ok(()) => Ok(PrivateKey::from_seed(&seed).public()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(PipelineError::Usage(format!(
                    "{name} has a key already, in {}. Take another name, or move that file away",
                    path.display()
                )))
            }
            Err(error) => Err(PipelineError::Usage(format!(
                "{}: {error}. Make the directory writable or set DOVER_CONFIG",
                path.display()
            ))),
        }
    }

    /// An owner's private key. Refused where others may read it.
    pub fn private(&self, name: &str) -> Result<PrivateKey, PipelineError> {
        check_name(name)?;
        let path = self.file(name);
        let told = |why: String| PipelineError::Usage(format!("{}: {why}", path.display()));
        let text = fs::read_to_string(&path).map_err(|error| {
            if error.kind() == io::ErrorKind::NotFound {
                told(format!(
                    "{name} has no key here. `dover owner new {name}` makes one"
                ))
            } else {
                told(error.to_string())
            }
        })?;
        if others_may_read(&path) {
            return Err(told(
                "others may read this private key. Take their rights away (chmod 600) if none of them did, else make a new one".into(),
            ));
        }
        PrivateKey::from_text(&text)
            .map_err(|error: KeyError| told(format!("{error}. Restore the file from a copy")))
    }
}

/// Names are file names and nothing more.
fn check_name(name: &str) -> Result<(), PipelineError> {
    let plain =
        |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | '.');
    if !name.is_empty() && name.len() <= 64 && name.chars().all(plain) && !name.starts_with('.') {
        return Ok(());
    }
    Err(PipelineError::Usage(
        "an owner's name is 1 to 64 lower-case letters, digits, '-', '_' and '.', not beginning with a dot".into(),
    ))
}

/// Makes a file that nobody else can open, not even for a moment.
#[cfg(unix)]
fn private_file(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
}

#[cfg(not(unix))]
fn private_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

#[cfg(unix)]
fn others_may_read(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(path).is_ok_and(|meta| meta.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
fn others_may_read(_: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_made_once_and_only_its_holder_may_read_it() {
        let dir = tempfile::tempdir().unwrap();
        let ring = Keyring::at(dir.path().join("owners"));
        let public = ring.create("olga").unwrap();
        assert_eq!(ring.private("olga").unwrap().public(), public);
        assert!(ring.create("olga").is_err());
        assert_eq!(ring.private("olga").unwrap().public(), public);
        assert_ne!(ring.create("bob").unwrap(), public);
        assert!(ring.private("nobody").is_err());
        for name in ["", "../olga", ".olga", "Olga", "a b"] {
            assert!(ring.create(name).is_err(), "{name}");
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode(&ring.file("olga")), 0o600);
            fs::set_permissions(ring.file("olga"), fs::Permissions::from_mode(0o640)).unwrap();
            assert!(ring.private("olga").is_err());
        }
    }
}
