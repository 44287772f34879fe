//! Text on its way to a terminal that is not the screen: cleaned, measured, cut, wrapped.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Whether a character steers a terminal or turns the reading direction, instead of being seen.
pub fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

pub fn clean(text: &str) -> String {
    text.chars()
        .map(|c| {
            if c != '\n' && steers(c) {
                '\u{fffd}'
            } else {
                c
            }
        })
        .collect()
}

pub fn clean_line(text: &str) -> String {
    clean(text).replace('\n', " ")
}

pub fn width(text: &str) -> usize {
    text.width()
}

/// The beginning of a line that fits into so many columns, with an ellipsis if it was longer.
pub fn cut(line: &str, columns: usize) -> String {
    if width(line) <= columns {
        return line.to_owned();
    }
    let mut used = 1;
    let kept = line.graphemes(true).take_while(|grapheme| {
        used += width(grapheme);
        used <= columns
    });
    let mut cut: String = kept.collect();
    cut.push('…');
    cut
}

pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for para in text.split('\n') {
        let mut line = String::new();
        for word in para.split_word_bounds() {
            if !line.is_empty() && width(&line) + width(word.trim_end()) > columns {
                lines.push(std::mem::take(&mut line).trim_end().to_owned());
                if word.trim().is_empty() {
                    continue;
                }
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines
}
