//! Edits of the web research sample, with the verdict that an honest reader would expect of three runs.

use super::support::At::{Answer, Instruction, Ledger, Plan, Step};
use super::support::{At, check_table, record, sample};

const SALAD: &str = "August 2015 picture city open horizon archive calendar lights click architect namesake first week night";

#[test]
fn edits_come_to_what_they_say() {
    let recorded = record(&sample("night-picture"));
    let assistant = recorded.at(Instruction(8)) + 1;
    let scrolled = recorded.at(Instruction(2)) + 1;
    let table: Vec<(At, &str, &str)> = vec![
        // Clear ways to the picture, in many wordings.
        (
            Instruction(2),
            "Open the calendar, press 'All years', then '2015', then 'August', and open the picture of 4 August 2015. Tell me which city is on the horizon.",
            "V",
        ),
        (
            Instruction(2),
            "Please go to https://sorrelpeak.example/2015/08/04.html and read which city is on the horizon.",
            "V",
        ),
        (
            Instruction(5),
            "Click 'All years', then '2015', then 'August'. Open the picture 'Harbour Glow' and identify the city on the horizon.",
            "V",
        ),
        (
            Instruction(2),
            "You should not scroll. Instead, use the calendar: choose All years, 2015 and August, then look at each picture from 1 to 7 August and note the city.",
            "V",
        ),
        (
            Instruction(2),
            "Opne the calender, then clik 'All years', '2015' and 'August', and open the pictrue of 4 August 2015",
            "V",
        ),
        (
            Instruction(2),
            "I'd like you to view the picture from August 4th, 2015.",
            "V",
        ),
        (
            Instruction(2),
            "- open the calendar\n- click All years\n- click 2015\n- click August\n- open 4 August 2015",
            "V",
        ),
        (
            Instruction(2),
            "Never mind the list; go through every picture from 1 August to 7 August 2015.",
            "V",
        ),
        (
            Instruction(2),
            "Could you check each of the seven pictures of the first week of August 2015, one by one, and say which city you see on the horizon?",
            "V",
        ),
        (
            Instruction(6),
            "WebSurfer, please type /2015/08/04.html into the address bar.",
            "V",
        ),
        // Other languages that it follows, and one that it does not.
        (
            Instruction(2),
            "请打开日历，点击“All years”，再点击“2015”，然后点击“August”，打开2015年8月4日的图片，读出地平线上的城市。",
            "V",
        ),
        (
            Instruction(2),
            "请在档案里打开2015年8月4日的图片，告诉我地平线上是哪座城市。",
            "V",
        ),
        (
            Instruction(2),
            "Öffne bitte das Bild vom 4. August 2015 im Archiv und lies ab, welche Stadt am Horizont zu sehen ist.",
            "V",
        ),
        (
            Instruction(5),
            "Klicke zuerst auf „All years“, dann auf „2015“ und danach auf „August“. Sieh dir anschließend jedes Bild vom 1. bis 7. August an.",
            "V",
        ),
        (
            Instruction(2),
            "Ouvrez le calendrier, cliquez sur « All years », puis ouvrez la photo du 4 août 2015.",
            "I",
        ),
        // Plans and ledgers.
        (
            Plan(2),
            "1. WebSurfer: open the calendar and press 'All years', then '2015', then 'August'.\n2. WebSurfer: open each picture from 1 to 7 August 2015 and identify the city on the horizon.\n3. WebSurfer: search for the person the city is named after.\n4. WebSurfer: search for the landmark building named after this person.\n5. WebSurfer: search for the architects of the building.",
            "V",
        ),
        (
            Plan(1),
            "WebSurfer should visit /2015/08/04.html and identify the city on the horizon. After that it should search for the person the city is named after.",
            "V",
        ),
        (
            Plan(3),
            "* WebSurfer: open the picture of 4 August 2015 and identify the city on the horizon\n* WebSurfer: search for the person the city is named after",
            "V",
        ),
        (
            Plan(2),
            "Ask the Assistant which city on the horizon is likely.",
            "R",
        ),
        (Plan(1), SALAD, "I"),
        (
            Ledger(3),
            "{\"is_request_satisfied\":{\"answer\":false},\"is_progress_being_made\":{\"answer\":true},\"next_speaker\":{\"answer\":\"WebSurfer\"},\"instruction_or_question\":{\"answer\":\"Open /2015/08/04.html and identify the city on the horizon.\"}}",
            "V",
        ),
        // Reports and hearsay.
        (
            Step(scrolled),
            "I could not find the week in this long list. The page /2015/08/04.html shows the lights of a city.",
            "V",
        ),
        (
            Step(assistant),
            "The city on the horizon is Velden Bay.",
            "V",
        ),
        (
            Step(assistant),
            "The city on the horizon is Porto Vela, I am certain.",
            "R",
        ),
        (
            Instruction(9),
            "Search for the person Velden Bay is named after.",
            "V",
        ),
        // Prohibitions repair nothing.
        (Instruction(1), "Do not open the picture archive.", "R"),
        (
            Instruction(2),
            "Do not open the calendar and do not click August 2015.",
            "R",
        ),
        (Instruction(2), "Don't open /2015/08/04.html.", "R"),
        (Instruction(2), "不要打开2015年8月4日的图片。", "R"),
        (
            Instruction(5),
            "Bitte klicke nicht auf „All years“ und öffne auch nicht das Bild vom 4. August 2015.",
            "R",
        ),
        (
            Instruction(2),
            "Without opening the calendar, find the city on the horizon.",
            "I",
        ),
        // No sentence, no meaning, nobody who can.
        (Instruction(2), SALAD, "I"),
        (
            Instruction(2),
            "picture 4 August 2015 open please city the horizon archive calendar years click",
            "I",
        ),
        (Instruction(2), "Good luck!", "I"),
        (
            Instruction(2),
            "Kindly proceed to the first week of August 2015 and identify the city on the horizon.",
            "I",
        ),
        (
            Instruction(8),
            "Open /2015/08/04.html and read the city.",
            "I",
        ),
        (
            Instruction(9),
            "Search for the person Oslo is named after.",
            "I",
        ),
        // Done, and of no use.
        (Instruction(2), "Open the page about the observatory.", "R"),
        (Instruction(2), "Scroll down to the end of the page.", "R"),
        (Instruction(5), "Choose All years.", "R"),
        (Answer, "Magnus Orr", "R"),
        // The right idea, too late: the city is found, but what was concluded from the wrong one stays.
        (
            Instruction(11),
            "Open the picture of 4 August 2015 and identify the city on the horizon.",
            "P",
        ),
        // Understood, but followed only as often as vague words are.
        (
            Instruction(2),
            "Look for the picture of the harbour city at night.",
            "VPRI",
        ),
    ];
    check_table(&recorded, &table);
}
