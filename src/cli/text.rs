//! Clean text fitted to a terminal that is not the screen: measured, cut, wrapped.

use ratatui::buffer::CellWidth;
use unicode_segmentation::UnicodeSegmentation;

use crate::ui::passage::Passage;
use crate::ui::role::Role;
use crate::ui::wrap::Wrapped;

/// Terminal cells that a text takes.
pub fn width(text: &str) -> usize {
    text.cell_width().into()
}

/// So many of something, as people say it.
pub fn count(n: usize, thing: &str) -> String {
    let plural = match thing {
        _ if n == 1 => "",
        _ if thing.ends_with("ch") => "es",
        "hypothesis" => return format!("{n} hypotheses"),
        _ => "s",
    };
    format!("{n} {thing}{plural}")
}

/// How long a trajectory is.
pub fn in_trials(steps: usize, trials: usize) -> String {
    format!("{} in {}", count(steps, "step"), count(trials, "trial"))
}

/// The beginning of a line that fits into so many columns, with an ellipsis if it was longer.
pub fn cut(line: &str, columns: usize) -> String {
    // A character has at least one byte, and no cell without one: the common case needs no measuring.
    if line.len() <= columns || width(line) <= columns {
        return line.to_owned();
    }
    let mut used = 1;
    let fits = |grapheme: &&str| {
        used += width(grapheme);
        used <= columns
    };
    let mut cut: String = line.graphemes(true).take_while(fits).collect();
    cut.push('…');
    cut
}

/// The rows of a text at so many columns.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = u16::try_from(columns).unwrap_or(u16::MAX);
    let mut wrapped = Wrapped::new(Passage::plain(text, Role::Text), columns);
    (0..wrapped.len())
        .filter_map(|row| wrapped.row(row).map(str::to_owned))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_line_fits_and_says_so() {
        assert_eq!(cut("four", 4), "four");
        assert_eq!(cut("five!", 4), "fiv…");
        assert_eq!(cut("天地人", 4), "天…");
        assert_eq!(width(&cut("天地人", 5)), 5);
    }

    #[test]
    fn things_are_counted_as_people_say_it() {
        assert_eq!(count(1, "branch"), "1 branch");
        assert_eq!(count(0, "branch"), "0 branches");
        assert_eq!(count(2, "trial"), "2 trials");
    }

    #[test]
    fn wrapping_keeps_line_breaks() {
        assert_eq!(
            wrap("one two\n\nthree", 4),
            ["one", "two", "", "three"[..4].into(), "e"]
        );
    }
}
