//! The words of the command line. Its help texts are the reference; the README shows examples.

mod adapter;
mod allow;
mod debug;
mod display;
mod eval;
mod export;
mod learn;
mod model;
mod open;
mod value;

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::PossibleValuesParser;
use clap::{Parser, Subcommand, ValueEnum};

use crate::app::learn::Hidden;
use crate::gate::key::PublicKey;
use crate::model::{BranchId, Category, EffectClass, EffectState, Verifier};
use crate::pipeline::NewEffects;
pub use adapter::{Adapter, AdapterWhat, Check, StartCustom, StartTeam, Starting};
pub use allow::Allow;
pub use debug::Debug;
pub use display::{Completions, Display, Man, Themes};
pub use eval::{Eval, EvalCommand};
pub use export::{Export, Form, Screen, Unlooked};
pub use learn::Learn;
pub use model::{Analysing, Spending};
pub use open::Open;
use value::{duration, effect, mark, named, owner, tool, verifier};

/// A terminal debugger for LLM multi-agent conversations: find the step, edit it, fork, replay, compare.
#[derive(Parser, Debug)]
#[command(
    version,
    after_help = "Without a subcommand the screen opens. SESSION is a file, a stored id such as night-picture, or a branch such as night-picture/b2.\nExit status: 0 done, 1 held by a gate, refused, a run failed, or receipts that do not verify, 2 bad usage or unreadable input.\nDOVER_CONFIG names another directory for keys of owners, DOVER_LOG a file to log to."
)]
pub struct Cli {
    /// What every subcommand takes.
    #[command(flatten)]
    pub global: Global,
    /// File or stored id to open on the screen
    #[arg(value_name = "FILE_OR_ID")]
    pub what: Option<String>,
    /// Keep these from the eye on the screen: labels, verdicts, answers
    #[arg(long, value_name = "WORD,WORD", value_delimiter = ',', value_parser = PossibleValuesParser::new(Hidden::NAMES))]
    pub hide: Vec<String>,
    /// What to do instead of opening the screen.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// What every subcommand takes.
#[derive(clap::Args, Debug)]
pub struct Global {
    /// The store [default: DOVER_STORE, else the platform's data directory]
    // DOVER_STORE is read where the default is, so that `demo` can tell what was said from what is usual.
    #[arg(long, global = true, value_name = "PATH")]
    pub store: Option<PathBuf>,
    /// Answer in JSON with stable names
    #[arg(long, global = true)]
    pub json: bool,
    /// How things are shown
    #[command(flatten)]
    pub display: Display,
    /// Who forks [default: the user's name]
    #[arg(long, global = true, env = "DOVER_OPERATOR", value_name = "NAME")]
    pub operator: Option<String>,
    /// Model endpoint for logs without saved state; its key is read from OPENAI_API_KEY
    #[arg(
        long,
        global = true,
        env = "OPENAI_BASE_URL",
        hide_env_values = true,
        value_name = "URL"
    )]
    pub base_url: Option<String>,
    /// The model's name at that endpoint
    #[arg(long, global = true, env = "OPENAI_MODEL", value_name = "NAME")]
    pub model: Option<String>,
}

/// A subcommand.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Open the screen on a file or session, or on a log that is still being written
    Open(Open),
    /// Take a log into the store and say what was read
    Import(Import),
    /// List the trials of a session
    Trials(Trials),
    /// Show the steps of a session, or one step in full
    Show(Show),
    /// Fork at a step with an edit, replay, score
    Fork(Fork),
    /// Debug every trial: a hypothesis, an edit, its runs, a verdict
    Debug(Debug),
    /// Figures over many sessions or results; how well attribution finds labelled mistakes
    Eval(Eval),
    /// Ask the destinations what became of a run's effects
    Reconcile(Reconcile),
    /// Approve an edit of high risk that waits, as an owner
    Approve(Approve),
    /// Try a held intervention again, exactly as it stands, or run again what was stopped or interrupted of one
    Resume(Resume),
    /// Put two branches side by side
    Compare(Compare),
    /// Take a session or a comparison along: Markdown, HTML, JSONL, a picture of a screen
    Export(Export),
    /// List what the store holds
    Sessions,
    /// Set expected answer, verifier, milestones; record what became of an effect
    Set(Set),
    /// Walk a sample session through the whole loop
    Demo(Demo),
    /// Play lessons on the samples, or check lessons of your own
    Learn(Learn),
    /// Look on while somebody else drives a session, from a terminal of your own
    Follow(Follow),
    /// Start a run: a team of an agent framework, or a scenario world
    Run(Run),
    /// Install, list or check adapters of agent frameworks
    Adapter(Adapter),
    /// Say what the gates make of steering records
    Classify(Classify),
    /// Show, hand out or check the chain of receipts
    Receipt(Receipt),
    /// Make a key to sign with
    Owner(Owner),
    /// Print the state of a directory, for a checkpoint line of a session file
    Workspace(Workspace),
    /// Print the schema of a file format
    Schema(Schema),
    /// List the keys of the screen
    Keys(Keys),
    /// Show every theme in its own colours
    Themes(Themes),
    /// Say what works here, what does not, and what to do
    Doctor,
    /// Print a shell's completions
    Completions(Completions),
    /// Print the manual page
    Man(Man),
}

/// `dover follow`.
#[derive(clap::Args, Debug)]
pub struct Follow {
    /// Stored id or branch
    pub session: String,
}

/// `dover import`.
#[derive(clap::Args, Debug)]
pub struct Import {
    /// The log; its format is recognised by content
    pub file: PathBuf,
}

/// `dover trials`.
#[derive(clap::Args, Debug)]
pub struct Trials {
    /// File, stored id or branch
    pub session: String,
}

/// `dover show`.
#[derive(clap::Args, Debug)]
pub struct Show {
    /// File, stored id or branch
    pub session: String,
    /// One branch of it, such as b2 [default: main]
    #[arg(long, value_name = "BRANCH")]
    pub branch: Option<String>,
    /// One step of it, in full
    #[arg(long, value_name = "N")]
    pub step: Option<usize>,
    /// The configuration that it ran with, part by part, instead of its steps
    #[arg(long, conflicts_with = "step")]
    pub config: bool,
}

/// `dover fork`.
#[derive(clap::Args, Debug)]
pub struct Fork {
    /// What the tools may touch
    #[command(flatten)]
    pub allow: Allow,
    /// File, stored id or branch
    pub session: String,
    /// One branch of it, such as b2 [default: main]
    #[arg(long, value_name = "BRANCH")]
    pub branch: Option<String>,
    /// The step to fork at, counted from 0
    #[arg(long, value_name = "N")]
    pub at: usize,
    /// Text that replaces the step's content; without one the run is the unedited baseline
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub text: Option<String>,
    /// The same from a file (`-` is standard input)
    #[arg(long, value_name = "FILE", conflicts_with = "text")]
    pub text_file: Option<PathBuf>,
    /// The edit's category [default: that of the step's kind]
    #[arg(long, value_name = "CATEGORY", value_parser = categories())]
    pub category: Option<String>,
    /// Independent runs [default: 3, or 1 where tools may touch the world outside]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=99))]
    pub runs: Option<u16>,
    /// Seed that the runs' seeds are derived from
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    pub seed: u64,
    /// Run although the state cannot be restored exactly; the branches say so for ever
    #[arg(long)]
    pub diagnostic: bool,
    /// Give an agent another system prompt, as text or from a file
    #[arg(long = "prompt", value_name = "AGENT=TEXT|AGENT=@FILE", value_parser = named, allow_hyphen_values = true)]
    pub prompts: Vec<(String, String)>,
    /// Run the branches with another model, and what is forked from them
    #[arg(long, value_name = "NAME")]
    pub set_model: Option<String>,
    /// Let an agent call these tools and no others
    #[arg(long = "tools", value_name = "AGENT=TOOL,TOOL", value_parser = named)]
    pub tools: Vec<(String, String)>,
    /// Go on although the tool registry drifted since the checkpoint
    #[arg(long)]
    pub acknowledge_drift: bool,
    /// Accept differences of the configuration that nobody asked for
    #[arg(long)]
    pub accept_delta: bool,
    /// What becomes of new effects outside local fixtures
    #[arg(long, value_name = "WORD", value_enum, default_value_t)]
    pub new_effects: Effects,
    /// Runs at the same time
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=99))]
    pub jobs: u16,
}

impl Fork {
    /// The category as the model names it.
    #[must_use]
    pub fn category(&self) -> Option<Category> {
        let name = self.category.as_deref()?;
        CATEGORIES.into_iter().find(|c| c.name() == name)
    }
}

/// Categories that a fork by hand may have; `none` is the fork without a text.
const CATEGORIES: [Category; 4] = [
    Category::Instruction,
    Category::Plan,
    Category::Message,
    Category::Config,
];

fn categories() -> PossibleValuesParser {
    PossibleValuesParser::new(CATEGORIES.map(Category::name))
}

/// `dover reconcile`.
#[derive(clap::Args, Debug)]
pub struct Reconcile {
    /// File, stored id or branch
    pub session: String,
    /// Only effects of this step and later ones
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub at: usize,
}

/// What becomes of new effects outside local fixtures.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Effects {
    /// The run is held there
    #[default]
    Hold,
    /// They may happen
    Allow,
    /// They must not happen; the tool fails and the run goes on
    Refuse,
}

impl From<Effects> for NewEffects {
    fn from(said: Effects) -> Self {
        match said {
            Effects::Hold => Self::Hold,
            Effects::Allow => Self::Allow,
            Effects::Refuse => Self::Refuse,
        }
    }
}

/// `dover approve`.
#[derive(clap::Args, Debug)]
pub struct Approve {
    /// The intervention that waits, such as release-notes/i1
    #[arg(required_unless_present = "from")]
    pub intervention: Option<String>,
    /// The owner who approves; the key is read from the configuration directory
    #[arg(long = "as", value_name = "NAME", required_unless_present = "from")]
    pub owner: Option<String>,
    /// How long the approval counts, such as 30m or 8h
    #[arg(long = "for", value_name = "TIME", default_value = "1h", value_parser = duration)]
    pub valid_for: Duration,
    /// Write the approval to a file, to be handed on, instead of the store
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Take in an approval that was signed elsewhere
    #[arg(long, value_name = "FILE", conflicts_with_all = ["intervention", "owner", "out", "valid_for"])]
    pub from: Option<PathBuf>,
}

/// `dover resume`.
#[derive(clap::Args, Debug)]
pub struct Resume {
    /// What the tools may touch
    #[command(flatten)]
    pub allow: Allow,
    /// The intervention, such as release-notes/i1
    pub intervention: String,
    /// Run although the state cannot be restored exactly; the branches say so for ever
    #[arg(long)]
    pub diagnostic: bool,
    /// The tool registry drifted since the checkpoint, and that is seen
    #[arg(long)]
    pub acknowledge_drift: bool,
    /// Accept differences of the configuration that nobody asked for
    #[arg(long)]
    pub accept_delta: bool,
    /// What becomes of new effects outside local fixtures
    #[arg(long, value_name = "WORD", value_enum, default_value_t)]
    pub new_effects: Effects,
    /// Runs at the same time
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=99))]
    pub jobs: u16,
}

/// `dover compare`.
#[derive(clap::Args, Debug)]
pub struct Compare {
    /// File, stored id or branch on the left
    pub a: String,
    /// The one on the right
    pub b: String,
}

/// `dover set`.
#[derive(clap::Args, Debug)]
pub struct Set {
    /// File, stored id or branch
    pub session: String,
    /// What a person reads in the list of sessions
    #[arg(long)]
    pub title: Option<String>,
    /// The answer that is right
    #[arg(long, value_name = "ANSWER")]
    pub expected: Option<String>,
    /// How a final answer is judged: answer, math, contains:TEXT, command:LINE, file:PATH or file:PATH=TEXT
    ///
    /// answer: the scorer of GAIA against --expected. math: the same on what is boxed, or the last number. contains: the answer has the
    /// text. command: the shell runs the line in the run's workspace, with the answer on standard input; exit status 0 passes, any other
    /// rejects, and one that hangs, cannot start or is killed judges nothing. file: the file is in the run's workspace, and has the text.
    #[arg(long, value_name = "VERIFIER", value_parser = verifier)]
    pub verifier: Option<Verifier>,
    /// A sub-goal, reached by a step that contains the text; without `=text` only by hand (--mark)
    #[arg(long = "milestone", value_name = "TITLE[=TEXT]")]
    pub milestones: Vec<String>,
    /// Take over a workflow profile (its format: `dover schema profile`); what changes is shown at every later fork
    #[arg(long, value_name = "FILE")]
    pub profile: Option<PathBuf>,
    /// Forget the milestones that are set
    #[arg(long)]
    pub clear_milestones: bool,
    /// What a tool may do: read_only, idempotent, compensable, permanent, unknown
    #[arg(long = "tool", value_name = "NAME=CLASS", value_parser = tool)]
    pub tools: Vec<(String, EffectClass)>,
    /// Milestone M (counted from 1) is reached at step STEP of the branch, as a person says
    #[arg(long = "mark", value_name = "M@STEP", value_parser = mark)]
    pub marks: Vec<(usize, usize)>,
    /// The effect of that operation key: keep (it stays and is not repeated), reconciled (the same), or reverted (undone)
    #[arg(long = "effect", value_name = "KEY=STATE", value_parser = effect, requires = "why")]
    pub effects: Vec<(String, EffectState)>,
    /// Who may approve edits of high risk: a name and its public key (`dover owner new`)
    #[arg(long = "owner", value_name = "NAME=HEX", value_parser = owner)]
    pub owners: Vec<(String, PublicKey)>,
    /// Nobody of that name may approve any more
    #[arg(long = "remove-owner", value_name = "NAME")]
    pub remove_owners: Vec<String>,
    /// Whether whoever makes an edit may not approve it too
    #[arg(long, value_name = "YES_OR_NO", num_args = 0..=1, default_missing_value = "true")]
    pub not_the_editor: Option<bool>,
    /// The evidence or decision behind --effect
    #[arg(long, value_name = "TEXT")]
    pub why: Option<String>,
}

/// `dover demo`.
#[derive(clap::Args, Debug)]
pub struct Demo {
    /// The sample session [default: night-picture]
    pub name: Option<String>,
}

/// `dover run`.
#[derive(clap::Args, Debug)]
pub struct Run {
    /// Where the run is made
    #[command(subcommand)]
    pub runtime: RunWhere,
}

/// A runtime that can begin a run of its own.
#[derive(Subcommand, Debug)]
pub enum RunWhere {
    /// A team of AutoGen AgentChat, such as Magentic-One
    Autogen(StartTeam),
    /// Agents of AG2 1.x
    Ag2(StartTeam),
    /// A group chat or dialogue of AG2 0.x
    #[command(name = "ag2-classic")]
    Ag2Classic(StartTeam),
    /// A graph of LangGraph
    Langgraph(StartTeam),
    /// A team behind an adapter of your own
    Custom(StartCustom),
    /// A world in a TOML file (the format: sample-sessions/README.md)
    Scenario {
        /// The world
        world: PathBuf,
        /// Seed of the run
        #[arg(long, default_value_t = 0)]
        seed: u64,
        /// Write the session to a file instead of the store
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
}

/// `dover classify`.
#[derive(clap::Args, Debug)]
pub struct Classify {
    /// Steering records: a JSON array, one record, or one per line (`-` is standard input)
    pub file: PathBuf,
}

/// `dover receipt`.
#[derive(clap::Args, Debug)]
pub struct Receipt {
    /// What to do with them
    #[command(subcommand)]
    pub what: ReceiptWhat,
}

/// What can be done with receipts.
#[derive(Subcommand, Debug)]
pub enum ReceiptWhat {
    /// List the store's receipts
    Show,
    /// Hand out the chain with its head line
    Export {
        /// Write to a file instead of standard output (`-`)
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        /// Write over a file that is there already
        #[arg(long)]
        force: bool,
        /// Sign the head with this owner's key (`dover owner new`)
        #[arg(long, value_name = "NAME")]
        sign: Option<String>,
    },
    /// Check a chain offline and name the first receipt that fails
    Verify {
        /// An exported chain (`-` is standard input) [default: the store's own]
        file: Option<PathBuf>,
        /// The public key that must have signed it
        #[arg(long, value_name = "HEX")]
        key: Option<PublicKey>,
    },
}

/// `dover owner`.
#[derive(clap::Args, Debug)]
pub struct Owner {
    /// What to do
    #[command(subcommand)]
    pub what: OwnerWhat,
}

/// What can be done about owners.
#[derive(Subcommand, Debug)]
pub enum OwnerWhat {
    /// Make a key for an owner; the private part stays in the configuration directory
    New {
        /// The owner's name
        name: String,
    },
}

/// `dover workspace`.
#[derive(clap::Args, Debug)]
pub struct Workspace {
    /// A directory of a Git work tree
    pub dir: PathBuf,
}

/// `dover schema`.
#[derive(clap::Args, Debug)]
pub struct Schema {
    /// Which file format
    #[arg(value_enum)]
    pub which: SchemaOf,
}

/// A file format that has a schema.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemaOf {
    /// dover's own session file, JSON Lines.
    Session,
    /// One line of an exported chain of receipts.
    Receipt,
    /// Steering records, as `dover classify` reads them.
    Steering,
    /// A workflow profile: dover.toml.
    Profile,
}

/// `dover keys`.
#[derive(clap::Args, Debug)]
pub struct Keys {
    /// As the table of the README
    #[arg(long)]
    pub markdown: bool,
    /// As a file to change: keys.toml in the configuration directory
    #[arg(long, conflicts_with = "markdown")]
    pub template: bool,
}

/// A branch of a session, by its own name or by its whole id.
pub fn branch_of(session: &str, name: &str) -> BranchId {
    if name.contains('/') {
        BranchId::parse(name)
    } else {
        BranchId::new(session, name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn global_words_may_stand_before_or_after_the_subcommand() {
        for line in [
            ["dover", "--json", "trials", "x"],
            ["dover", "trials", "x", "--json"],
        ] {
            let cli = Cli::try_parse_from(line).unwrap();
            assert!(cli.global.json && matches!(cli.command, Some(Command::Trials(_))));
        }
        let cli = Cli::try_parse_from(["dover", "some.json"]).unwrap();
        assert!(cli.command.is_none() && cli.what.as_deref() == Some("some.json"));
    }
}
