//! `config.toml` in the configuration directory: endpoints of the model and of the judge, with the names of the variables that hold their
//! keys, and how the screen looks. A key itself never stands there.

use std::path::PathBuf;

use serde::Deserialize;

use super::error::CliError;
use crate::endpoint::Prices;
use crate::pipeline::config_dir;

/// The whole file.
#[derive(Deserialize, Debug, Default)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The model that plays teams on and analyses.
    #[serde(default)]
    pub model: Section,
    /// The model that judges, if it is another.
    pub judge: Option<Section>,
    /// How the screen looks.
    #[serde(default)]
    pub screen: Screen,
}

/// How the screen looks, where the command line does not say.
#[derive(Deserialize, Debug, Default)]
#[serde(deny_unknown_fields, default)]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub struct Screen {
    /// A theme's name or file.
    pub theme: Option<String>,
    /// Signs of ASCII only.
    pub ascii: bool,
    /// Nothing moves by itself.
    pub reduced_motion: bool,
    /// The mouse is taken from the start.
    pub mouse: bool,
    /// What is copied goes into the file alone, not to the terminal.
    pub copy_to_file_only: bool,
}

/// One endpoint.
#[derive(Deserialize, Debug, Default, Clone)]
#[serde(deny_unknown_fields)]
pub struct Section {
    /// Base URL.
    pub base_url: Option<String>,
    /// The model's name.
    pub name: Option<String>,
    /// The variable that holds the key.
    pub api_key_env: Option<String>,
    /// Read only to be refused.
    api_key: Option<toml::Value>,
    /// What a million tokens cost.
    pub prices: Option<Price>,
}

/// Prices of a million tokens, in any one currency.
#[derive(Deserialize, Debug, Clone, Copy)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Sent.
    pub prompt: f64,
    /// Received.
    pub completion: f64,
}

impl Config {
    /// Reads the file, if there is one.
    ///
    /// # Errors
    /// A file that cannot be read or says something it must not, with the place.
    pub fn read() -> Result<Self, CliError> {
        let Ok(dir) = config_dir() else {
            return Ok(Self::default());
        };
        let path = dir.join("config.toml");
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self::default());
            }
            Err(source) => {
                return Err(CliError::File {
                    path,
                    source,
                    mend: "Mend its permissions or move it away",
                });
            }
        };
        Self::parse(&text, &path)
    }

    fn parse(text: &str, path: &std::path::Path) -> Result<Self, CliError> {
        let wrong = |reason: String| CliError::Usage(format!("{}: {reason}", path.display()));
        let config: Self =
            toml::from_str(text).map_err(|error| wrong(error.to_string().trim().to_owned()))?;
        let judge = config.judge.iter().map(|section| ("judge", section));
        for (name, section) in std::iter::once(("model", &config.model)).chain(judge) {
            if section.api_key.is_some() {
                return Err(wrong(format!(
                    "[{name}] holds a key. Keys do not belong into files: put it into a variable, name that in api_key_env, and take this line out"
                )));
            }
            if section
                .prices
                .is_some_and(|price| !(price.prompt >= 0.0 && price.completion >= 0.0))
            {
                return Err(wrong(format!(
                    "[{name}] has a price below 0. Prices are those of a million tokens"
                )));
            }
        }
        Ok(config)
    }
}

impl Section {
    /// The key, from the variable that is named here.
    ///
    /// # Errors
    /// The variable is not set; its name is told.
    pub fn key(&self) -> Result<Option<String>, CliError> {
        let Some(name) = &self.api_key_env else {
            return Ok(None);
        };
        std::env::var(name).map(Some).map_err(|_| {
            CliError::Usage(format!(
                "config.toml names {name} for the key of {}, and that variable is not set. Set it, or take api_key_env out",
                self.base_url.as_deref().map_or_else(|| "the endpoint".to_owned(), crate::endpoint::shown)
            ))
        })
    }

    /// The prices as the meter takes them.
    #[must_use]
    pub fn prices(&self) -> Option<Prices> {
        self.prices.map(|price| Prices {
            prompt: price.prompt,
            completion: price.completion,
        })
    }
}

/// Where the file is looked for, for messages.
pub fn file() -> PathBuf {
    config_dir().unwrap_or_default().join("config.toml")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Config, String> {
        Config::parse(text, std::path::Path::new("config.toml")).map_err(|error| error.to_string())
    }

    #[test]
    fn a_file_names_endpoints_and_variables() {
        let config = parse("[model]\nbase_url = 'http://127.0.0.1:1/v1'\nname = 'm'\napi_key_env = 'KEY'\nprices = { prompt = 2.5, completion = 10 }\n[judge]\nname = 'j'").unwrap();
        assert_eq!(config.model.name.as_deref(), Some("m"));
        assert_eq!(
            config.model.prices().map(|prices| prices.completion),
            Some(10.0)
        );
        assert_eq!(config.judge.unwrap().name.as_deref(), Some("j"));
        assert!(parse("").unwrap().judge.is_none());
    }

    #[test]
    fn what_must_not_stand_there_is_said_with_its_place() {
        let told = |text: &str| parse(text).unwrap_err();
        let unknown = told("[model]\nbase_uri = 'x'");
        assert!(
            unknown.contains("line 2")
                && unknown.contains("base_uri")
                && unknown.contains("base_url"),
            "{unknown}"
        );
        let key = told("[judge]\napi_key = 'sk-secret'");
        assert!(
            key.contains("[judge]") && key.contains("api_key_env") && !key.contains("sk-secret"),
            "{key}"
        );
        assert!(told("[model]\nprices = { prompt = -1, completion = 1 }").contains("below 0"));
    }

    #[test]
    fn a_variable_that_is_not_set_is_named() {
        let section = Section {
            api_key_env: Some("DOVER_TEST_NO_SUCH_VARIABLE".into()),
            ..Section::default()
        };
        assert!(
            section
                .key()
                .unwrap_err()
                .to_string()
                .contains("DOVER_TEST_NO_SUCH_VARIABLE")
        );
    }
}
