//! `dover themes`: every theme, each shown in its own colours as this terminal can show them.

use std::io;

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use serde::Serialize;

use super::args::Themes;
use super::context::Context;
use super::error::{CliError, Exit};
use super::look::{self, Fault};
use super::out::{Answer, Out, Tone};
use crate::model::StepKind;
use crate::ui::colour::Depth;
use crate::ui::glyph::Glyph;
use crate::ui::role::{AGENT_COLOURS, GATE_STATUSES, RUN_STATUSES, Role};
use crate::ui::theme::{BUILT_IN, Theme};

#[derive(Serialize)]
struct Shown {
    themes: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    name: String,
    /// Whether it is a file of the person's own.
    own: bool,
    /// What is wrong with it; the default is used in its place.
    fault: Option<String>,
    #[serde(skip)]
    theme: Option<Theme>,
}

/// Runs the subcommand.
pub fn run(context: &mut Context, args: &Themes) -> Result<Exit, CliError> {
    let own = look::own_themes();
    let more = own.iter().filter(|name| !BUILT_IN.contains(&name.as_str()));
    let all = BUILT_IN.map(str::to_owned).into_iter().chain(more.cloned());
    let names = args
        .name
        .clone()
        .map_or_else(|| all.collect(), |name| vec![name]);
    let depth = Depth::from_env(look::environment);
    let mut themes = Vec::new();
    for name in names {
        let (theme, fault) = match look::theme(&name, depth) {
            Ok(theme) => (Some(theme), None),
            Err(Fault::Absent(error)) => return Err(error),
            Err(Fault::Broken(error)) => (None, Some(error.to_string())),
        };
        themes.push(Row {
            own: own.contains(&name) || !BUILT_IN.contains(&name.as_str()),
            name,
            fault,
            theme,
        });
    }
    context.out.give(&Shown { themes })?;
    Ok(Exit::Done)
}

impl Answer for Shown {
    fn print(&self, out: &mut Out) -> io::Result<()> {
        for row in &self.themes {
            let own = if row.own { "  (your own)" } else { "" };
            out.heading(&format!("{}{own}", row.name))?;
            if let Some(fault) = &row.fault {
                out.para(2, &format!("{fault}. The default is used in its place"))?;
            }
            for line in row.theme.iter().flat_map(sample) {
                out.line(&line)?;
            }
        }
        out.blank()?;
        out.row(
            Tone::Faint,
            "dover --theme NAME takes one; [screen] theme = \"NAME\" in config.toml keeps it",
        )
    }
}

/// A theme's meanings, each word in its own style.
fn sample(theme: &Theme) -> Vec<Line<'static>> {
    let word = |text: &str, role: Role| (text.to_owned(), theme.style(role));
    let signed = |glyph: Glyph, text: &str, role: Role| {
        (
            format!("{} {}", glyph.sign(), text.replace('_', " ")),
            theme.style(role),
        )
    };
    let kinds = |kinds: &[StepKind]| -> Vec<(String, Style)> {
        let names = kinds
            .iter()
            .map(|kind| word(&kind.name().replace('_', " "), Role::Kind(*kind)));
        names.collect()
    };
    let agents =
        (1..=AGENT_COLOURS).map(|n| signed(Glyph::AGENT, &format!("agent {n}"), Role::Agent(n)));
    let (first, second) = StepKind::ALL.split_at(StepKind::ALL.len() / 2);
    let statuses =
        GATE_STATUSES.map(|status| signed(Glyph::gate(status), status.name(), Role::Gate(status)));
    let (one, two) = statuses.split_at(5);
    let runs =
        RUN_STATUSES.map(|status| signed(Glyph::run(status), status.name(), Role::Run(status)));
    let selected = theme.style(Role::Selection);
    let mut rows = vec![
        vec![
            word("text", Role::Text),
            word("muted", Role::Muted),
            word("accent", Role::Accent),
            word("title", Role::Title),
            word("border", Role::Border),
            ("selection".to_owned(), selected),
            word("warning", Role::Warn),
            word("error", Role::Error),
        ],
        agents.collect(),
        kinds(first),
        kinds(second),
        vec![
            signed(Glyph::PASS, "gate holds", Role::GatePass),
            signed(Glyph::HOLD, "gate does not", Role::GateHold),
            word("{+added+}", Role::DiffAdd),
            word("[-deleted-]", Role::DiffDel),
            (
                "changed".to_owned(),
                theme
                    .style(Role::DiffAdd)
                    .patch(theme.style(Role::DiffEmph)),
            ),
        ],
        one.to_vec(),
        two.to_vec(),
        runs.to_vec(),
    ];
    rows.push(vec![
        signed(Glyph::FULL, "reached", Role::MilestoneReached),
        signed(Glyph::FULL, "gained", Role::MilestoneGained),
        signed(Glyph::EMPTY, "lost", Role::MilestoneLost),
        signed(Glyph::EMPTY, "open", Role::MilestoneOpen),
    ]);
    let ground = theme.style(Role::Text);
    let line = |words: Vec<(String, Style)>| {
        let mut spans = vec![Span::styled("  ", ground)];
        for (text, style) in words {
            spans.push(Span::styled(text, ground.patch(style)));
            spans.push(Span::styled("  ", ground));
        }
        Line::from(spans)
    };
    rows.into_iter().map(line).collect()
}
