use ratatui::style::{Color, Modifier, Style};

use super::super::colour::{Depth, contrast, rgb};
use super::*;
use crate::model::{GateStatus, RunStatus};

const DEPTHS: [Depth; 4] = [Depth::None, Depth::Ansi16, Depth::Ansi256, Depth::True];

fn theme(name: &str, depth: Depth) -> Theme {
    Theme::load(name, depth, |_| None).unwrap()
}

fn parse(text: &str) -> Result<Theme, ThemeError> {
    Theme::parse("mine", text, Depth::True, |_| None)
}

#[test]
fn every_embedded_theme_has_every_role_at_every_depth() {
    for name in BUILT_IN {
        for depth in DEPTHS {
            let theme = theme(name, depth);
            for role in Role::all() {
                assert!(theme.styles.contains_key(&role), "{name} lacks {role}");
            }
        }
    }
}

#[test]
fn the_default_uses_only_the_terminals_own_colours() {
    let mono = theme("mono", Depth::True).styles;
    for (role, style) in theme("ansi", Depth::True).styles.into_iter().chain(mono) {
        for colour in [style.fg, style.bg].into_iter().flatten() {
            let own = !matches!(colour, Color::Rgb(..) | Color::Indexed(_));
            assert!(own, "{role} is {colour:?}");
        }
    }
}

#[test]
fn rgb_themes_are_readable_on_the_ground_and_on_the_selection() {
    let least = [
        ("dark", 4.5),
        ("light", 4.5),
        ("colour-blind", 4.5),
        ("high-contrast", 7.0),
    ];
    let both = [Depth::True, Depth::Ansi256];
    for ((name, least), depth) in least
        .into_iter()
        .flat_map(|it| both.map(|depth| (it, depth)))
    {
        let theme = theme(name, depth);
        let ground = theme.style(Role::Text).bg.unwrap();
        let picked = theme.style(Role::Selection).bg.unwrap();
        for role in Role::all() {
            let style = theme.style(Role::Text).patch(theme.style(role));
            for below in [style.bg.unwrap(), ground, picked] {
                let ratio = contrast(rgb(style.fg.unwrap()).unwrap(), rgb(below).unwrap());
                assert!(ratio >= least, "{name} {depth:?} {role}: {ratio:.2}");
            }
        }
    }
}

#[test]
fn ready_and_verified_never_share_a_colour() {
    let ready = Role::Gate(GateStatus::ReadyToResume);
    let verified = Role::Gate(GateStatus::Verified);
    for name in BUILT_IN {
        for depth in [Depth::Ansi16, Depth::Ansi256, Depth::True] {
            let theme = theme(name, depth);
            // Without colours the modifiers alone tell.
            let told = |style: Style| match style.fg {
                None | Some(Color::Reset) => (None, style.add_modifier),
                colour => (colour, Modifier::empty()),
            };
            let pair = (told(theme.style(ready)), told(theme.style(verified)));
            assert_ne!(pair.0, pair.1, "{name} {depth:?}");
        }
    }
}

#[test]
fn every_status_has_a_style_of_its_own() {
    let statuses: Vec<Role> = Role::all()
        .filter(|role| matches!(role, Role::Gate(_) | Role::Run(_)))
        .collect();
    for name in BUILT_IN {
        let theme = theme(name, Depth::True);
        for (at, one) in statuses.iter().enumerate() {
            for other in &statuses[at + 1..] {
                let pair = (theme.style(*one), theme.style(*other));
                assert_ne!(pair.0, pair.1, "{name}: {one} and {other}");
            }
        }
    }
}

#[test]
fn only_what_is_certain_is_green() {
    let certain = [
        Role::GatePass,
        Role::Gate(GateStatus::Verified),
        Role::DiffAdd,
        Role::MilestoneReached,
        Role::MilestoneGained,
    ];
    for name in BUILT_IN {
        for depth in [Depth::Ansi16, Depth::Ansi256, Depth::True] {
            let theme = theme(name, depth);
            for role in Role::all().filter(|role| !certain.contains(role)) {
                let style = theme.style(role);
                for colour in [style.fg, style.bg].into_iter().flatten() {
                    let green = rgb(colour).is_some_and(|[r, g, b]| {
                        g > r.saturating_add(15) && g > b.saturating_add(15)
                    });
                    assert!(!green, "{name} {depth:?} {role} is {colour:?}");
                }
            }
        }
    }
}

#[test]
fn without_colours_only_modifiers_are_left_and_the_selection_still_shows() {
    for name in BUILT_IN {
        let theme = theme(name, Depth::None);
        for role in Role::all() {
            let style = theme.style(role);
            assert_eq!((style.fg, style.bg), (None, None), "{name} {role}");
        }
        let selection = theme.style(Role::Selection);
        assert!(
            selection.add_modifier.contains(Modifier::REVERSED),
            "{name}"
        );
    }
}

#[test]
fn a_persons_file_goes_before_the_embedded_one_and_may_build_on_it() {
    let lookup = |name: &str| {
        (name == "dark").then(|| "inherits = 'dark'\naccent = '#ffffff underline'".to_owned())
    };
    let mine = Theme::load("dark", Depth::True, lookup).unwrap();
    let expected = Style::new()
        .fg(Color::Rgb(255, 255, 255))
        .add_modifier(Modifier::UNDERLINED);
    assert_eq!(mine.style(Role::Accent), expected);
    let dark = theme("dark", Depth::True);
    assert_eq!(
        mine.style(Role::Run(RunStatus::Done)),
        dark.style(Role::Run(RunStatus::Done))
    );
    // What inherits `dark` sees the person's.
    let light = Theme::load("light", Depth::True, lookup).unwrap();
    assert_eq!(light.style(Role::Accent), expected);
}

#[test]
fn a_palette_recolours_what_is_inherited() {
    let mine = parse("inherits = 'dark'\n[palette]\ncyan = '#00ffff'").unwrap();
    assert_eq!(mine.style(Role::Accent).fg, Some(Color::Rgb(0, 255, 255)));
}

#[test]
fn a_broken_theme_says_where_and_why() {
    let table = [
        ("text = ", "theme mine, line 1: "),
        (
            "inherits = 'ansi'\n\nacent = 'red'",
            "theme mine, line 3, acent: is no role",
        ),
        (
            "inherits = 'ansi'\n[status]\nverified = 'grin bold'",
            "theme mine, line 3, status.verified: \"grin\" is neither",
        ),
        (
            "inherits = 'ansi'\ntext = 'red on'",
            "theme mine, line 2, text: \"on\" needs",
        ),
        (
            "inherits = 'dark'\n[palette]\nink = '#12'",
            "theme mine, line 3, palette.ink: \"#12\" is no colour",
        ),
        (
            "inherits = 'ansi'\n[agent]\n1 = 3",
            "theme mine, line 3, agent.1: must be a text",
        ),
        ("text = 'red'", "theme mine has no muted"),
        ("inherits = 'noir'", "no theme \"noir\""),
    ];
    for (text, expected) in table {
        let error = parse(text).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{text:?} gave {error:?}");
    }
}

#[test]
fn a_circle_of_themes_is_refused() {
    let lookup = |name: &str| match name {
        "a" => Some("inherits = 'b'".to_owned()),
        "b" => Some("inherits = 'a'".to_owned()),
        _ => None,
    };
    let error = Theme::load("a", Depth::True, lookup).unwrap_err();
    assert!(matches!(error, ThemeError::Circle { .. }), "{error}");
}

/// What somebody sees without one kind of cones (Machado, Oliveira and Fernandes 2009, severity 1), on linear light.
fn seen(colour: Color, without: &[[f64; 3]; 3]) -> [f64; 3] {
    let linear = rgb(colour).unwrap().map(|channel| {
        let share = f64::from(channel) / 255.0;
        if share <= 0.04045 {
            share / 12.92
        } else {
            ((share + 0.055) / 1.055).powf(2.4)
        }
    });
    without.map(|row| {
        let light: f64 = row
            .iter()
            .zip(linear)
            .map(|(share, light)| share * light)
            .sum();
        let light = light.clamp(0.0, 1.0);
        let share = if light <= 0.003_130_8 {
            light * 12.92
        } else {
            1.055 * light.powf(1.0 / 2.4) - 0.055
        };
        share * 255.0
    })
}

const PROTANOPIA: [[f64; 3]; 3] = [
    [0.152_286, 1.052_583, -0.204_868],
    [0.114_503, 0.786_281, 0.099_216],
    [-0.003_882, -0.048_116, 1.051_998],
];
const DEUTERANOPIA: [[f64; 3]; 3] = [
    [0.367_322, 0.860_646, -0.227_968],
    [0.280_085, 0.672_501, 0.047_413],
    [-0.011_820, 0.042_940, 0.968_881],
];
const TRITANOPIA: [[f64; 3]; 3] = [
    [1.255_528, -0.076_749, -0.178_779],
    [-0.078_411, 0.930_809, 0.147_602],
    [0.004_733, 0.691_367, 0.303_900],
];

/// The least distance, over the three, between what is good and what is bad.
fn apart(name: &str) -> f64 {
    let theme = theme(name, Depth::True);
    let pairs = [
        (Role::DiffAdd, Role::DiffDel),
        (Role::GatePass, Role::GateHold),
        (
            Role::Gate(GateStatus::Verified),
            Role::Gate(GateStatus::FalseSuccess),
        ),
        (
            Role::Gate(GateStatus::Verified),
            Role::Gate(GateStatus::ReadyToResume),
        ),
        (Role::MilestoneReached, Role::MilestoneLost),
        (Role::MilestoneGained, Role::MilestoneLost),
    ];
    let mut least = f64::MAX;
    for without in [PROTANOPIA, DEUTERANOPIA, TRITANOPIA] {
        for (good, bad) in pairs {
            let [good, bad] = [good, bad].map(|role| seen(theme.style(role).fg.unwrap(), &without));
            let squares = good.iter().zip(bad).map(|(a, b)| (a - b).powi(2));
            least = least.min(squares.sum::<f64>().sqrt());
        }
    }
    least
}

#[test]
fn good_and_bad_stay_apart_without_one_kind_of_cones() {
    let (safe, usual) = (apart("colour-blind"), apart("dark"));
    assert!(safe > 80.0, "{safe:.0}");
    // The measure tells: the usual reds and greens fall together.
    assert!(usual < 60.0, "{usual:.0}");
}
