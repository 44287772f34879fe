//! Words about models that commands which ask one share.

use clap::builder::PossibleValuesParser;

use crate::pipeline::analysts::NAMES;

/// Who analyses, and what that may take.
#[derive(clap::Args, Debug, Clone)]
pub struct Analysing {
    /// Who says where it went wrong: rules, or the model of the endpoint [default: offline]
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(NAMES))]
    pub analyst: Option<String>,
    /// Show the model three examples of a vague instruction made clear
    #[arg(long)]
    pub few_shot: bool,
    #[command(flatten)]
    pub spending: Spending,
}

/// What model calls may take.
#[derive(clap::Args, Debug, Clone, Default)]
pub struct Spending {
    /// Stop asking models before they took more tokens than this
    #[arg(long, value_name = "N")]
    pub max_tokens: Option<u64>,
    /// Stop asking models before they cost more than this, by the prices in config.toml
    #[arg(long, value_name = "AMOUNT", value_parser = amount)]
    pub max_cost: Option<f64>,
}

/// An amount of money.
fn amount(text: &str) -> Result<f64, String> {
    let amount = text
        .parse::<f64>()
        .ok()
        .filter(|amount| amount.is_finite() && *amount >= 0.0);
    amount.ok_or_else(|| "say an amount such as 0.50".to_owned())
}
