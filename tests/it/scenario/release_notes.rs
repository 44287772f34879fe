//! Edits of the publishing job, with the verdict that an honest reader would expect of three runs, gates aside.

use super::support::At::{Answer, Call, Instruction, Ledger, Plan, Step};
use super::support::{At, blocks, check_table, record, sample};

#[test]
fn edits_come_to_what_they_say() {
    let recorded = record(&sample("release-notes"));
    let draft = recorded.at(Instruction(1)) + 1;
    let table: Vec<(At, &str, &str)> = vec![
        (
            Instruction(6),
            "Open the build log, note the build number, and update the release notes with it.",
            "V",
        ),
        (
            Instruction(6),
            "Update the release notes to build 2417.",
            "V",
        ),
        (
            Instruction(6),
            "Please correct the build number in the notes to 2417.",
            "V",
        ),
        (
            Instruction(6),
            "Could you have a look at the build log and fix the number in the notes accordingly?",
            "V",
        ),
        (
            Instruction(6),
            "You should read the build log first. Then update the notes with the build number that it gives.",
            "V",
        ),
        (
            Instruction(6),
            "Open the biuld log and then updaet the release notes.",
            "V",
        ),
        (
            Instruction(6),
            "Öffne das Buildprotokoll, notiere die Buildnummer und aktualisiere dann die Release Notes.",
            "V",
        ),
        (
            Instruction(5),
            "Look up the build log; then set the right build number in the notes.",
            "V",
        ),
        (
            Instruction(1),
            "Open the build log and note the build number of the release.",
            "V",
        ),
        (
            Plan(2),
            "1. Publisher: open the build log and read the build number.\n2. Publisher: update the release notes with the build number.\n3. Editor: sign off the release notes.\n4. Publisher: publish the release notes.",
            "V",
        ),
        (
            Plan(1),
            "1. Publisher: open the build log and note the build number.\n2. Publisher: update the release notes with it.\n3. Publisher: open the ticket for the web team.\n4. Publisher: send the announcement to the mailing list.\n5. Editor: sign off the release notes.\n6. Publisher: publish the release notes.",
            "V",
        ),
        (
            Ledger(6),
            "The Publisher must open the build log and update the release notes with the build number.",
            "V",
        ),
        (Call(5), "{\"build\":\"2417\",\"file\":\"notes.md\"}", "V"),
        (
            Step(draft),
            "The draft names an old build. The build number of the release is 2417.",
            "V",
        ),
        (Answer, "The notes are published as revision r58.", "V"),
        // Plans in other shapes: no line of theirs is left out.
        (
            Plan(2),
            "1. Publisher: open the build log and note the released build.\n2. Publisher: update the release notes with the build number.\n3. Editor: sign off the release notes.\n4. Publisher: publish the release notes.",
            "V",
        ),
        (
            Plan(2),
            "Der neue Plan:\n1. Publisher: Öffne das Buildprotokoll und lies die Buildnummer ab.\n2. Publisher: Aktualisiere die Release Notes mit der Buildnummer.\n3. Editor: Gib die Release Notes frei.\n4. Publisher: Veröffentliche die Release Notes.",
            "V",
        ),
        (
            Plan(2),
            "Since the approval is pending, let us do the following:\n- Publisher looks up the released build in the build log and corrects the notes accordingly\n- Editor then reviews and approves them\n- Publisher puts the notes online",
            "V",
        ),
        (
            Plan(2),
            "* The Publisher opens the build log and notes the build number.\n* The Publisher then updates the release notes with it.\n* The Editor signs off the release notes.\n* Finally, the Publisher publishes the release notes.",
            "V",
        ),
        (
            Plan(2),
            "We will proceed as follows. First, the Publisher should open the build log and note the build number. Second, the Publisher updates the notes with it. Third, the Editor signs them off. At last the Publisher publishes the notes.",
            "V",
        ),
        (
            Plan(2),
            "- Publisher never updates the notes\n- Editor does not approve them",
            "R",
        ),
        (
            Plan(2),
            "The plan:\n1. Publisher: do not consult the build log.\n2. Editor: don't approve the notes.\n3. Publisher: never publish the notes.",
            "R",
        ),
        (
            Instruction(6),
            "Bitte korrigiere die Release Notes: die Buildnummer ist 2417.",
            "V",
        ),
        (
            Instruction(6),
            "The build number is 2417. Update the release notes accordingly.",
            "V",
        ),
        (
            Instruction(6),
            "The build number is 2410. Update the release notes accordingly.",
            "R",
        ),
        // Half of it.
        (
            Instruction(6),
            "Update the release notes to build 2417, and do not sign off anything.",
            "P",
        ),
        // Done, and of no use, or worse.
        (
            Instruction(6),
            "Update the release notes to build 2400.",
            "R",
        ),
        (Instruction(6), "Read the check list.", "R"),
        (
            Instruction(3),
            "Send the announcement to press@lantern.example.",
            "R",
        ),
        (Instruction(2), "Do not open the ticket.", "R"),
        (
            Instruction(3),
            "Under no circumstances send the announcement.",
            "R",
        ),
        (Instruction(6), "Do not update the release notes.", "R"),
        (
            Instruction(6),
            "Bitte aktualisiere die Release Notes nicht.",
            "R",
        ),
        // Cannot be done, or not understood.
        (Instruction(6), "Publish the release notes.", "I"),
        (Instruction(7), "Open the build log.", "I"),
        (Instruction(8), "Sign off the release notes anyway.", "I"),
        (Plan(2), "Just publish the release notes.", "I"),
        (
            Instruction(6),
            "build log notes update 2417 number release correct Editor approval publish open",
            "I",
        ),
        (Instruction(6), "打开构建日志，然后更新发布说明。", "I"),
        (Call(5), "build 2417", "I"),
    ];
    check_table(&recorded, &table);
}

#[test]
fn repairing_edits_lie_before_and_after_the_effects() {
    let recorded = record(&sample("release-notes"));
    let effects: Vec<_> = recorded
        .made
        .iter()
        .flat_map(|made| &made.effects)
        .collect();
    let tools: Vec<&str> = effects.iter().map(|e| e.tool.as_str()).collect();
    assert_eq!(tools, ["open_ticket", "send_mail"]);
    assert!(effects.iter().all(|e| blocks(e.class)));
    let last = effects.iter().map(|e| e.step).max().unwrap();
    assert!(recorded.at(Instruction(1)) < last);
    assert!(recorded.at(Plan(2)) > last);
    assert!(recorded.at(Instruction(6)) > last);
}

/// Edits that were thought of after the first table, once the engine had passed it.
#[test]
fn further_edits_come_to_what_they_say() {
    let recorded = record(&sample("release-notes"));
    let table: Vec<(At, &str, &str)> = vec![
        (
            Instruction(6),
            "First look at the build log to find the released build number, then update the release notes accordingly.",
            "V",
        ),
        (
            Instruction(6),
            "The draft is stale. Set the build number in the release notes to 2417.",
            "V",
        ),
        (
            Instruction(6),
            "Please check the build log. Then correct the notes.",
            "V",
        ),
        (
            Instruction(6),
            "Use the build number 2417 and update the release notes.",
            "V",
        ),
        (
            Instruction(6),
            "Replace build 2409 by 2417 in the release notes.",
            "V",
        ),
        (
            Instruction(6),
            "Go to https://intranet.lantern.example/builds, read the number of the released build and fix the release notes.",
            "V",
        ),
        (Instruction(6), "Call update_notes with \"2417\".", "V"),
        (
            Instruction(6),
            "Korrigiere die Buildnummer in den Release Notes auf 2417.",
            "V",
        ),
        (
            Instruction(6),
            "Bitte sieh im Buildprotokoll nach und berichtige die Release Notes.",
            "V",
        ),
        (
            Plan(2),
            "- Publisher: read the build log\n- Publisher: correct the release notes\n- Editor: sign off the release notes\n- Publisher: publish the release notes",
            "V",
        ),
        (
            Plan(2),
            "Publisher, read the build log and update the notes. Editor, sign off the notes. Publisher, publish the notes.",
            "V",
        ),
        (
            Plan(2),
            "The Publisher should first open the build log, then update the notes with the build number. After that the Editor signs off and the Publisher publishes the notes.",
            "V",
        ),
        (
            Instruction(6),
            "Do not open the build log and do not update the release notes.",
            "RI",
        ),
        (Instruction(6), "Open the build log.", "RI"),
        (
            Instruction(6),
            "notes release build log 2417 correct update sign publish Editor",
            "I",
        ),
        (
            Instruction(6),
            "Mettez à jour les notes avec le numéro 2417.",
            "I",
        ),
        (Instruction(7), "Approve everything.", "RI"),
        (
            Instruction(7),
            "Ask the Publisher to open the build log and update the notes.",
            "VRI",
        ),
        (
            Instruction(2),
            "Leave the ticket alone; do not open it.",
            "R",
        ),
        (
            Step(4),
            "I opened the draft, but it is stale. Please open the build log, it has the right number.",
            "V",
        ),
        (Step(4), "The build number of the release is 2417.", "V"),
        (
            Instruction(6),
            "Consult the build log and, with the number found there, update the release notes.",
            "V",
        ),
        (
            Instruction(6),
            "Before anything else, read the build log. The released build is what the notes must name, so update the notes.",
            "V",
        ),
        (
            Instruction(6),
            "Change the build in the notes from 2409 to 2417.",
            "V",
        ),
        (
            Instruction(6),
            "The build number of the release is 2417. Update the release notes with it.",
            "V",
        ),
        (
            Instruction(6),
            "Update the release notes with build number 2417, not 2409.",
            "V",
        ),
        (
            Instruction(6),
            "Ändere die Buildnummer in den Release Notes auf 2417.",
            "V",
        ),
        (
            Instruction(6),
            "Lies das Buildprotokoll. Aktualisiere danach die Release Notes mit der Buildnummer.",
            "V",
        ),
        (
            Instruction(5),
            "Open the build log, read the build number and correct the notes; do not publish yet.",
            "V",
        ),
        (
            Plan(2),
            "1. Publisher: look at the build log.\n2. Publisher: update the notes.\n3. Editor: sign off.\n4. Publisher: publish the notes.",
            "V",
        ),
        (
            Plan(2),
            "Have the Publisher read the build log and correct the release notes. Have the Editor sign them off. Have the Publisher publish them.",
            "V",
        ),
        (
            Plan(2),
            "Do not update, sign off or publish anything.",
            "RI",
        ),
        (Instruction(6), "Don't correct the notes.", "RI"),
        (Instruction(6), "Please read the draft again.", "RI"),
        (Instruction(6), "2417", "RI"),
        (
            Instruction(6),
            "the build update of 2417 notes and correct to release the",
            "I",
        ),
        (
            Instruction(8),
            "Publisher must fix the build number first.",
            "VPRI",
        ),
        (Call(5), "{\"build\":\"2409\",\"file\":\"notes.md\"} ", "RI"),
        (
            Ledger(6),
            "{\"next_speaker\":{\"answer\":\"Publisher\"},\"instruction_or_question\":{\"answer\":\"Open the build log and update the release notes with the build number.\"}}",
            "V",
        ),
    ];
    check_table(&recorded, &table);
}
