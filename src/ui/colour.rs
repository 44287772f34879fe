//! Colours as terminals have them: how many there are, and what becomes of an RGB colour where there are fewer.
//!
//! Pure: the environment is a function that the caller hands in. Non-goal: guessing a terminal's own palette; the 16 ANSI
//! colours have the values of xterm where a value is needed at all (pictures, contrast).

use ratatui::style::Color;

/// How many colours the terminal shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// None: only bold, dim, underline, reverse.
    None,
    /// The 16 ANSI colours.
    Ansi16,
    /// xterm's 256.
    Ansi256,
    /// 24 bits.
    True,
}

impl Depth {
    /// Judges by `NO_COLOR`, `COLORTERM` and `TERM`. Without `COLORTERM`, which OpenSSH does not forward, `TERM` alone decides.
    #[must_use]
    pub fn from_env(var: impl Fn(&str) -> Option<String>) -> Self {
        let value = |name: &str| var(name).unwrap_or_default().to_lowercase();
        let (no_color, colorterm, term) = (value("NO_COLOR"), value("COLORTERM"), value("TERM"));
        if !no_color.is_empty() || term == "dumb" {
            Self::None
        } else if matches!(colorterm.as_str(), "truecolor" | "24bit")
            || term.ends_with("-direct")
            || ["alacritty", "foot", "kitty", "wezterm", "ghostty"]
                .iter()
                .any(|name| term.contains(name))
        {
            Self::True
        } else if term.contains("256") {
            Self::Ansi256
        } else {
            Self::Ansi16
        }
    }

    /// Brings a colour down to this depth; what fits stays as it is.
    #[must_use]
    pub fn reduce(self, colour: Color) -> Color {
        match (self, colour) {
            (Self::None, _) => Color::Reset,
            (Self::Ansi256, Color::Rgb(r, g, b)) => Color::Indexed(nearest_256([r, g, b])),
            (Self::Ansi16, Color::Rgb(..) | Color::Indexed(_)) => {
                rgb(colour).map_or(Color::Reset, nearest_16)
            }
            _ => colour,
        }
    }
}

/// Red, green and blue of a colour; none for `Reset`, whose value only the terminal knows.
#[must_use]
pub fn rgb(colour: Color) -> Option<[u8; 3]> {
    match colour {
        Color::Rgb(r, g, b) => Some([r, g, b]),
        _ => index(colour).map(indexed),
    }
}

/// The place of a colour among xterm's 256; none for `Reset` and RGB.
#[must_use]
pub fn index(colour: Color) -> Option<u8> {
    Some(match colour {
        Color::Reset | Color::Rgb(..) => return None,
        Color::Indexed(index) => index,
        Color::Black => 0,
        Color::Red => 1,
        Color::Green => 2,
        Color::Yellow => 3,
        Color::Blue => 4,
        Color::Magenta => 5,
        Color::Cyan => 6,
        Color::Gray => 7,
        Color::DarkGray => 8,
        Color::LightRed => 9,
        Color::LightGreen => 10,
        Color::LightYellow => 11,
        Color::LightBlue => 12,
        Color::LightMagenta => 13,
        Color::LightCyan => 14,
        Color::White => 15,
    })
}

/// xterm's values of its 256 colours: 16 named, a 6×6×6 cube, 24 greys.
fn indexed(index: u8) -> [u8; 3] {
    const NAMED: [[u8; 3]; 16] = [
        [0, 0, 0],
        [205, 0, 0],
        [0, 205, 0],
        [205, 205, 0],
        [0, 0, 238],
        [205, 0, 205],
        [0, 205, 205],
        [229, 229, 229],
        [127, 127, 127],
        [255, 0, 0],
        [0, 255, 0],
        [255, 255, 0],
        [92, 92, 255],
        [255, 0, 255],
        [0, 255, 255],
        [255, 255, 255],
    ];
    let level = |step: u8| if step == 0 { 0 } else { 55 + 40 * step };
    match index {
        0..=15 => NAMED.get(usize::from(index)).copied().unwrap_or_default(),
        16..=231 => {
            let cube = index - 16;
            [level(cube / 36), level(cube / 6 % 6), level(cube % 6)]
        }
        _ => [8 + 10 * (index - 232); 3],
    }
}

/// The nearest of the cube and the greys; the 16 named ones are left out, for people change them.
fn nearest_256(colour: [u8; 3]) -> u8 {
    let distance = |index: &u8| -> u32 {
        let near = indexed(*index);
        colour
            .iter()
            .zip(near)
            .map(|(a, b)| u32::from(a.abs_diff(b)).pow(2))
            .sum()
    };
    (16..=255).min_by_key(distance).unwrap_or(16)
}

/// The ANSI colour of the same hue. Distance alone would turn every pastel into white and lose what the colour says.
fn nearest_16(colour: [u8; 3]) -> Color {
    let [r, g, b] = colour.map(i32::from);
    let (high, low) = (r.max(g).max(b), r.min(g).min(b));
    let span = high - low;
    if span < 32 || span * 6 < high {
        return match high {
            0..=63 => Color::Black,
            64..=159 => Color::DarkGray,
            160..=223 => Color::Gray,
            _ => Color::White,
        };
    }
    // The angle on the colour wheel, 0 to 359, red at 0. The sectors are uneven because the names are: what people call yellow
    // begins at orange, and blue ends where violet begins.
    let hue = if high == r {
        60 * (g - b) / span
    } else if high == g {
        120 + 60 * (b - r) / span
    } else {
        240 + 60 * (r - g) / span
    };
    let (normal, bright) = match hue.rem_euclid(360) {
        20..75 => (Color::Yellow, Color::LightYellow),
        75..160 => (Color::Green, Color::LightGreen),
        160..205 => (Color::Cyan, Color::LightCyan),
        205..250 => (Color::Blue, Color::LightBlue),
        250..340 => (Color::Magenta, Color::LightMagenta),
        _ => (Color::Red, Color::LightRed),
    };
    if luminance(colour) > 0.25 {
        bright
    } else {
        normal
    }
}

/// Contrast of two colours, 1 to 21 (WCAG 2.1, "contrast ratio").
#[must_use]
pub fn contrast(one: [u8; 3], other: [u8; 3]) -> f64 {
    let (a, b) = (luminance(one), luminance(other));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// Relative luminance, 0 to 1 (WCAG 2.1).
fn luminance(colour: [u8; 3]) -> f64 {
    let [r, g, b] = colour.map(|channel| {
        let share = f64::from(channel) / 255.0;
        if share <= 0.04045 {
            share / 12.92
        } else {
            ((share + 0.055) / 1.055).powf(2.4)
        }
    });
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_follows_the_environment() {
        let table: [(&[(&str, &str)], Depth); 9] = [
            (&[("TERM", "xterm-256color")], Depth::Ansi256),
            (
                &[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")],
                Depth::True,
            ),
            (&[("TERM", "xterm"), ("COLORTERM", "24bit")], Depth::True),
            (&[("TERM", "xterm-direct")], Depth::True),
            (&[("TERM", "xterm-kitty")], Depth::True),
            (&[("TERM", "linux")], Depth::Ansi16),
            (&[], Depth::Ansi16),
            (&[("TERM", "dumb")], Depth::None),
            (
                &[("NO_COLOR", "1"), ("COLORTERM", "truecolor")],
                Depth::None,
            ),
        ];
        for (env, depth) in table {
            let var = |name: &str| {
                env.iter()
                    .find(|(key, _)| *key == name)
                    .map(|(_, value)| (*value).to_owned())
            };
            assert_eq!(Depth::from_env(var), depth, "{env:?}");
        }
        // no-color.org: an empty value does not count.
        let empty = |name: &str| (name == "NO_COLOR").then(String::new);
        assert_eq!(Depth::from_env(empty), Depth::Ansi16);
    }

    #[test]
    fn colours_of_the_cube_and_the_greys_are_found_again() {
        // xterm: 16 + 36·5 + 6·2 + 0 is #ff8700, 244 is #808080.
        for (colour, index) in [([255, 135, 0], 208), ([128, 128, 128], 244)] {
            let [r, g, b] = colour;
            let rgb = Color::Rgb(r, g, b);
            assert_eq!(Depth::Ansi256.reduce(rgb), Color::Indexed(index));
        }
    }

    #[test]
    fn sixteen_colours_keep_the_hue() {
        let table = [
            (Color::Rgb(255, 139, 139), Color::LightRed),
            (Color::Rgb(143, 214, 148), Color::LightGreen),
            (Color::Rgb(34, 102, 42), Color::Green),
            (Color::Rgb(29, 79, 168), Color::Blue),
            (Color::Rgb(240, 240, 238), Color::White),
            (Color::Rgb(21, 24, 30), Color::Black),
            (Color::Rgb(245, 178, 124), Color::LightYellow),
            (Color::Rgb(200, 173, 255), Color::LightMagenta),
            (Color::Rgb(114, 212, 228), Color::LightCyan),
            (Color::Cyan, Color::Cyan),
            (Color::Reset, Color::Reset),
        ];
        for (from, to) in table {
            assert_eq!(Depth::Ansi16.reduce(from), to, "{from:?}");
        }
    }

    #[test]
    fn contrast_agrees_with_the_standard() {
        // WCAG 2.1: black on white is 21:1; #777 on white is the well-known near miss, 4.48:1.
        assert!((contrast([0; 3], [255; 3]) - 21.0).abs() < 0.001);
        assert!((contrast([0x77; 3], [255; 3]) - 4.48).abs() < 0.005);
    }
}
