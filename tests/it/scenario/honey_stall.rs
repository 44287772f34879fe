//! Edits of the maths dialogue, with the verdict that an honest reader would expect of three runs.

use super::support::At::{Answer, Step};
use super::support::{At, check_table, record, sample};

#[test]
fn edits_come_to_what_they_say() {
    let recorded = record(&sample("honey-stall"));
    let table: Vec<(At, &str, &str)> = vec![
        // The wrong set-up put right, in figures and in words.
        (
            Step(3),
            "Sunday is two thirds more than Friday and Saturday together. Please compute (60 + 45) * 5 / 3.",
            "V",
        ),
        (Step(3), "Please work out 60 + 45 + (60 + 45) * 2 / 3.", "V"),
        (
            Step(3),
            "Compute two thirds more than 60 and 45 together.",
            "V",
        ),
        (Step(3), "Could you calculate 105 × 5 ÷ 3 for me?", "V"),
        (Step(3), "What is 105 plus two thirds of 105?", "V"),
        (Step(3), "Bitte berechne (60 + 45) * 5 / 3.", "V"),
        (
            Step(3),
            "Berechne zwei Drittel mehr als 60 und 45 zusammen.",
            "V",
        ),
        (Step(5), "Compute 60 + 45 + 175.", "V"),
        (Step(5), "Please add 60 + 45 + (60 + 45) * 5 / 3.", "V"),
        (Step(7), "Calculator, please compute 280 * 6.", "V"),
        // The relation stated beforehand.
        (
            Step(1),
            "Note that Sunday = (Friday + Saturday) * 5 / 3. Calculator, please compute 60 - 60 / 4.",
            "V",
        ),
        (
            Step(0),
            "Mirko sold 60 jars on Friday. Saturday = Friday * 3 / 4. Sunday = (Friday + Saturday) * 5 / 3. A jar costs 6 euros. How many euros did he take?",
            "V",
        ),
        (
            Step(0),
            "Mirko sold 60 jars of honey on Friday. On Saturday he sold a quarter fewer than on Friday. On Sunday he sold two thirds more than on Friday and Saturday together. A jar costs 6 euros. How many euros did he take on the three days?",
            "VI",
        ),
        (
            Step(1),
            "Sunday is two thirds more than Friday and Saturday together. But first, Calculator, please compute 60 - 60 / 4.",
            "VRI",
        ),
        // Results as somebody says them.
        (Step(4), "(60 + 45) * 5 / 3 = 175", "V"),
        (Step(4), "The result is 175.", "V"),
        // Half right.
        (
            Step(3),
            "Please compute (60 + 45) * 5 / 3. From now on, total = Friday + Sunday.",
            "P",
        ),
        // Wrong in another way, or worse than before.
        (Step(3), "Compute (60 + 45) / 3.", "R"),
        (Step(1), "Compute 60 * 0.", "R"),
        (Step(2), "60 - 60 / 4 = 40", "R"),
        (Step(7), "Compute (60 + 45) * 5 / 3.", "R"),
        (Answer, "\\boxed{1700}", "R"),
        // Prohibitions, no sentence, no language of theirs.
        (Step(3), "Do not compute anything.", "R"),
        (Step(3), "Don't calculate (60 + 45) * 5 / 3.", "R"),
        (
            Step(3),
            "honey 45 thirds jar together 60 Sunday compute two total Friday more",
            "I",
        ),
        (Step(3), "Please continue.", "I"),
        (Step(3), "请计算 (60 + 45) * 5 / 3。", "I"),
        (
            Step(3),
            "Calculez donc (60 + 45) * 5 / 3, s'il vous plaît.",
            "I",
        ),
    ];
    check_table(&recorded, &table);
}
