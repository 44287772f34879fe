//! The command palette: what can be done here, found by a few letters. It lies over whatever view it was opened from.

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

use super::command::{self, Command, Id};
use super::key::{Code, Key};
use super::motion::Motion;
use super::msg::Job;
use super::{App, act};
use crate::model::BranchId;

/// State of the palette.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Palette {
    /// The letters so far.
    pub line: String,
    /// The selected row among those that match.
    pub selected: usize,
}

/// Something that the palette offers.
#[derive(Clone, Debug)]
pub enum Offer {
    /// A command that works in the view below.
    Command(&'static Command),
    /// Shows a branch in the message list.
    Branch(BranchId),
}

impl Offer {
    /// Its name.
    #[must_use]
    pub fn title(&self) -> String {
        match self {
            Self::Command(command) => command.title.to_owned(),
            Self::Branch(branch) => format!("branch {}", branch.name()),
        }
    }

    fn refused(&self, app: &App) -> bool {
        match self {
            Self::Command(command) => command.refused(app).is_some(),
            Self::Branch(_) => false,
        }
    }

    /// What it does.
    #[must_use]
    pub fn doc(&self) -> &str {
        match self {
            Self::Command(command) => command.doc,
            Self::Branch(_) => "Shows this branch in the message list",
        }
    }
}

/// What matches the letters, best first; without letters everything, in the order of the table. What cannot be done now comes last. Costs the commands and branches.
#[must_use]
pub fn offers(app: &App) -> Vec<Offer> {
    let Some(palette) = &app.palette else {
        return Vec::new();
    };
    let place = app.place();
    // What the keys of any list do needs no name.
    let plain = |id: Id| {
        matches!(
            id,
            Id::Up | Id::Down | Id::PageUp | Id::PageDown | Id::First | Id::Last | Id::Palette
        )
    };
    let here = command::table()
        .iter()
        .filter(|command| command.contexts.contains(&place) && !plain(command.id));
    let branches = app.open.iter().flat_map(|open| &open.branches);
    let all = here
        .map(Offer::Command)
        .chain(branches.map(|branch| Offer::Branch(branch.id.clone())));
    if palette.line.trim().is_empty() {
        let mut all: Vec<Offer> = all.collect();
        all.sort_by_key(|offer| offer.refused(app));
        return all;
    }
    let pattern = Pattern::parse(&palette.line, CaseMatching::Ignore, Normalization::Smart);
    let mut matcher = Matcher::new(Config::DEFAULT);
    let mut letters = Vec::new();
    let mut scored: Vec<(u32, Offer)> = all
        .filter_map(|offer| {
            let title = offer.title();
            let named = pattern.score(Utf32Str::new(&title, &mut letters), &mut matcher);
            // A name tells more than a sentence.
            let told = || pattern.score(Utf32Str::new(offer.doc(), &mut letters), &mut matcher);
            let score = named.map(|score| score * 4).or_else(told)?;
            Some((score, offer))
        })
        .collect();
    // What is called by its whole name is meant, whether it can be done or not.
    let meant = palette.line.trim().to_lowercase();
    let later = |offer: &Offer| offer.title() != meant && offer.refused(app);
    scored.sort_by_key(|(score, offer)| (later(offer), std::cmp::Reverse(*score)));
    scored.into_iter().map(|(_, offer)| offer).collect()
}

/// Moves the selection.
pub(super) fn go(app: &mut App, motion: Motion) {
    let last = offers(app).len().saturating_sub(1);
    if let Some(palette) = &mut app.palette {
        palette.selected = motion.from(palette.selected, last, 8);
    }
}

/// Takes what was pasted.
pub(super) fn paste(app: &mut App, text: &str) {
    if let Some(palette) = &mut app.palette {
        palette.line.push_str(text);
        palette.selected = 0;
    }
}

/// Takes a letter.
pub(super) fn press(app: &mut App, key: Key) {
    let Some(palette) = &mut app.palette else {
        return;
    };
    match key.code {
        Code::Char(c) if !key.ctrl && !key.alt => palette.line.push(c),
        Code::Backspace => {
            palette.line.pop();
        }
        _ => return,
    }
    palette.selected = 0;
}

/// Does what is selected.
pub(super) fn accept(app: &mut App) -> Vec<Job> {
    let all = offers(app);
    let Some(palette) = app.palette.take() else {
        return Vec::new();
    };
    match all.into_iter().nth(palette.selected) {
        Some(Offer::Command(command)) => act::obey(app, command, false),
        Some(Offer::Branch(branch)) => {
            let step = app.open.as_ref().map(|open| open.selected);
            super::overview::go_to(app, &branch, step.unwrap_or(0))
        }
        None => {
            app.tell("Nothing here has such a name: ‹help› lists all keys");
            Vec::new()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::{Context, fixture};

    fn palette(letters: &str) -> App {
        let mut app = fixture::opened();
        super::super::update(&mut app, super::super::Msg::Key(Key::ctrl('p')));
        fixture::press(&mut app, letters);
        app
    }

    #[test]
    fn a_few_letters_find_a_command_and_enter_does_it() {
        let mut app = palette("nxterr");
        assert_eq!(app.context(), Context::Palette);
        assert_eq!(offers(&app)[0].title(), "next error");
        fixture::press(&mut app, "⎋");
        let mut app = palette("ovw");
        assert_eq!(offers(&app)[0].title(), "overview");
        fixture::press(&mut app, "⏎");
        assert_eq!(app.context(), Context::Overview);
    }

    #[test]
    fn only_what_works_here_is_offered_and_a_blocked_one_says_why() {
        let mut app = palette("");
        let all: Vec<String> = offers(&app).iter().map(Offer::title).collect();
        assert!(all.contains(&"edit".to_owned()) && all.contains(&"branch main".to_owned()));
        assert!(!all.contains(&"fork and run".to_owned()));
        // No lesson is played and nothing was tried: that stands below what can be done.
        let place = |title: &str| all.iter().position(|one| one == title).unwrap();
        assert!(place("edit") < place("lesson") && place("branch main") < place("verdicts"));
        fixture::press(&mut app, "verdicts⏎");
        assert_eq!(app.context(), Context::Steps);
        assert!(app.notice.unwrap().text.contains("Nothing was tried yet"));
    }

    #[test]
    fn it_can_be_left_and_nothing_may_match() {
        let mut app = palette("zzzz");
        assert!(offers(&app).is_empty());
        fixture::press(&mut app, "⏎");
        assert!(app.palette.is_none() && app.notice.is_some());
        let mut app = palette("e");
        fixture::press(&mut app, "⎋");
        assert_eq!(app.context(), Context::Steps);
    }
}
