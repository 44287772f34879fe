//! A world of another domain plays by the same rules, and every world comes to an end.

use dover::model::EffectState;
use dover::runtime::scenario::{parse, play};

use super::support::At::{Call, Instruction, Plan};
use super::support::{check_table, record, run, sample};

/// Another domain, its own words, a tool that needs an approval by somebody else.
const KITCHEN: &str = r#"
title = "The soup"
task = "Season the soup of the day as the recipe says and tell the guests how salty it is."
answer = "{salt} grams"
expected = "12 grams"
verifier = "answer"
start = "counter"

[[agent]]
name = "Cook"
skills = ["open", "read", "call"]
tools = ["season_soup"]
languages = ["en", "zh"]
vague = 1.0

[[agent]]
name = "Taster"
skills = ["guess"]

[orchestrator]
name = "Chef"
stall_limit = 2
plan = ["1. Taster: tell us the amount of salt.\n2. Cook: season the soup."]

[[fact]]
id = "salt"
about = "the amount of salt"
also = ["盐的量"]
value = "12"
guess = "40"

[[fact]]
id = "seasoned"
about = "the seasoned soup"
value = "well"
guess = "badly"
needs = ["salt"]

[[page]]
address = "counter"
title = "Counter"
text = ["A pot, a spoon, a cookbook."]
link = [{ name = "Cookbook", to = "cookbook", also = ["食谱"] }]

[[page]]
address = "cookbook"
title = "Cookbook"
text = ["Soup of the day: 12 grams of salt."]
states = [{ fact = "salt" }]

[[tool]]
name = "season_soup"
about = "the soup"
also = ["汤"]
verbs = ["season", "salt", "调味"]
class = "permanent"
operation_key = "pot"
args = { pot = "pot-1", grams = "{salt}" }
named = "grams"
result = "{grams} grams of salt are in the soup."
states = [{ fact = "seasoned", given = { salt = "12" } }]
log = "pots"

[[milestone]]
title = "The recipe was read"
check = { page = "cookbook" }
[[milestone]]
title = "The soup is seasoned well"
check = { fact = "seasoned" }

[[lexicon.language]]
code = "en"
[lexicon.language.verbs]
open = ["leaf through"]
"#;

#[test]
fn a_world_of_another_domain_plays_by_the_same_rules() {
    let recorded = record(KITCHEN);
    assert_eq!(recorded.finish.answer.as_deref(), Some("40 grams"));
    let effects: Vec<_> = recorded.made.iter().flat_map(|m| &m.effects).collect();
    assert_eq!(effects.len(), 1);
    assert_eq!(
        (effects[0].operation_key.as_str(), effects[0].state),
        ("pot-1", EffectState::Pending)
    );
    check_table(
        &recorded,
        &[
            (
                Plan(1),
                "1. Cook: leaf through the cookbook and read the amount of salt.\n2. Cook: season the soup.",
                "V",
            ),
            (
                Plan(1),
                "The Cook opens the cookbook and then seasons the soup.",
                "V",
            ),
            (Plan(1), "Cook: 打开食谱，然后给汤调味。", "V"),
            (
                Instruction(2),
                "Open the cookbook, read the amount of salt, and season the soup.",
                "V",
            ),
            (Instruction(2), "Do not season the soup.", "R"),
            (
                Instruction(2),
                "Season the soup with 99 grams of salt.",
                "R",
            ),
            (Instruction(1), "Open the cookbook.", "I"),
        ],
    );
}

#[test]
fn a_kept_effect_is_answered_from_the_record() {
    let recorded = record(&sample("release-notes"));
    let mail = recorded.at(Call(2));
    let mut kept = recorded.made[mail].effects[0].clone();
    kept.state = EffectState::Reconciled;
    kept.result = Some("Sent long ago.".to_owned());
    let mut restore = recorded.restore(recorded.at(Instruction(3)), None, 5);
    restore.kept = vec![kept];
    let (made, _) = run(restore);
    assert!(made.iter().any(|m| m.step.text == "Sent long ago."));
    assert!(
        made.iter()
            .flat_map(|m| &m.effects)
            .all(|effect| effect.tool != "send_mail")
    );
    let unkept = run(recorded.restore(recorded.at(Instruction(3)), None, 5)).0;
    assert!(
        unkept
            .iter()
            .flat_map(|m| &m.effects)
            .any(|effect| effect.tool == "send_mail")
    );
}

#[test]
fn every_world_comes_to_an_end() {
    for text in [sample("night-picture"), KITCHEN.to_owned()] {
        let world = parse(&text).unwrap();
        for seed in 0..20 {
            let (made, finish) = play(&world, seed).unwrap();
            assert!(finish.answer.is_some(), "seed {seed}: {} steps", made.len());
        }
    }
}
