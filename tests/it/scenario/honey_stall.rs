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
        // Several steps in words: all of them are done, or none.
        (
            Step(3),
            "Calculator, take the sum of Friday and Saturday, multiply it by five and divide it by three; that is Sunday.",
            "V",
        ),
        (
            Step(3),
            "Dear Calculator, on Sunday Mirko sold as many jars as on the two days before together, and two thirds of that on top. Friday had 60 and Saturday had 45. Could you therefore please be so kind as to add 60 and 45, and then add two thirds of that sum to the sum?",
            "V",
        ),
        (
            Step(3),
            "Sonntag: Addiere 60 und 45 und rechne zwei Drittel davon noch dazu.",
            "V",
        ),
        (
            Step(3),
            "Please multiply the sum of Friday and Saturday by five thirds.",
            "V",
        ),
        (
            Step(3),
            "Compute 60 + 45, and multiply the result by 5/3.",
            "V",
        ),
        (
            Step(3),
            "Compute 60 + 45. Then multiply that by 5 and divide the result by 3.",
            "V",
        ),
        (
            Step(3),
            "Bitte multipliziere 105 mit 5 und teile durch 3.",
            "V",
        ),
        (
            Step(3),
            "Bitte addiere 60 und 45, multipliziere das Ergebnis mit fünf und teile es durch drei.",
            "V",
        ),
        (
            Step(3),
            "- Friday and Saturday: 60 + 45 = 105\n- two thirds of it: 105 * 2 / 3 = 70\n- Sunday: 105 + 70\nPlease compute the last line.",
            "V",
        ),
        (Step(3), "Sunday is 175.", "V"),
        (Step(3), "Sunday was 175 jars.", "V"),
        (
            Step(5),
            "Wait: 70 is only what came on top. Sunday was 105 + 70 = 175, so the total is 60 + 45 + 175. Calculator, please compute that.",
            "V",
        ),
        (
            Step(3),
            "Compute 60 + 45, then raise it by five thirds of a wonder and divide.",
            "I",
        ),
        (Step(3), "Sunday is 70.", "R"),
        (Step(3), "Sunday is not 175.", "RI"),
        (
            Step(3),
            "Add 60 and 45 and multiply the result by three.",
            "R",
        ),
        (
            Step(3),
            "Don't add 60 and 45, and don't multiply the result by 5/3.",
            "R",
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

/// Edits that were thought of after the first table, once the engine had passed it.
#[test]
fn further_edits_come_to_what_they_say() {
    let recorded = record(&sample("honey-stall"));
    let table: Vec<(At, &str, &str)> = vec![
        (
            Step(3),
            "Sunday: Friday plus Saturday plus two thirds of their sum. So compute 105 + 105 * 2 / 3.",
            "V",
        ),
        (
            Step(3),
            "Calculator, please evaluate (60+45)+(60+45)*2/3",
            "V",
        ),
        (Step(3), "Multiply 105 by 5/3.", "V"),
        (
            Step(3),
            "You should take 60 + 45 = 105 and add two thirds of 105 to 105.",
            "V",
        ),
        (Step(3), "please calculate 105*1.6666666667", "V"),
        (
            Step(3),
            "Two thirds on top of 105 makes Sunday. Calculate that.",
            "VPRI",
        ),
        (Step(3), "Can you tell me what 175 * 1 is?", "V"),
        (
            Step(1),
            "Keep in mind: Sunday = (Friday + Saturday) + (Friday + Saturday) * 2 / 3. For now, compute 60 * 3 / 4.",
            "V",
        ),
        (
            Step(5),
            "Sunday was wrong, it is 175. Compute 60 + 45 + 175.",
            "V",
        ),
        (Step(5), "Addiere 60 + 45 + 175.", "V"),
        (
            Step(7),
            "So the takings are 280 * 6. Please compute that.",
            "V",
        ),
        (Step(7), "Compute 175 * 6.", "R"),
        (Step(3), "Never compute two thirds more than 105.", "RI"),
        (Step(3), "Do not calculate 105 * 5 / 3, please.", "RI"),
        (Step(3), "Berechne bitte nicht (60 + 45) * 5 / 3.", "RI"),
        (Step(3), "compute", "RI"),
        (
            Step(3),
            "thirds 5 more 105 Sunday jars honey 3 Friday calculator Saturday sum",
            "I",
        ),
        (Step(3), "105 5 3 compute multiply", "I"),
        (Step(4), "I get 175.", "V"),
        (Step(4), "I do not know.", "RI"),
        (
            Step(0),
            "Mirko sold 60 jars on Friday and a quarter fewer on Saturday. On Sunday he sold two thirds more than on Friday and Saturday together. A jar costs 6 euros. What are the takings?",
            "VRI",
        ),
        (
            Step(3),
            "Take the two days together (105) and increase them by two thirds: compute 105 * (1 + 2/3).",
            "V",
        ),
        (
            Step(3),
            "Would you please work out five thirds of 105?",
            "V",
        ),
        (Step(3), "Solve 60 + 45 + 2/3 * (60 + 45).", "V"),
        (Step(3), "What's (60 + 45) / 3 * 5?", "V"),
        (
            Step(3),
            "Multiply the sum of 60 and 45 by 5 and divide by 3: (60 + 45) * 5 / 3",
            "V",
        ),
        (Step(3), "Rechne bitte 105 * 5 / 3 aus.", "V"),
        (Step(3), "Sunday two thirds", "I"),
        (
            Step(1),
            "Saturday is 60 * 3 / 4. Sunday is (Friday + Saturday) * 5 / 3. Compute 60 * 3 / 4.",
            "V",
        ),
        (Step(5), "Compute 60 + 45.", "R"),
        (
            Step(5),
            "The total is Friday plus Saturday plus 175. Calculator, compute 60 + 45 + 175.",
            "V",
        ),
        (
            Step(3),
            "Without computing anything, tell me the total.",
            "RI",
        ),
        (Step(3), "Please do not work out 105 * 5 / 3.", "RI"),
        (Step(3), "Rechne das nicht aus: 105 * 5 / 3.", "RI"),
        (Step(3), "* / + 105 3 5 thirds compute ( )", "I"),
    ];
    check_table(&recorded, &table);
}
