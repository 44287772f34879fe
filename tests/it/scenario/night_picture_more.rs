//! Still more edits of the research sample.

use super::support::At::{Instruction, Ledger, Plan, Step};
use super::support::{At, check_table, record, sample};

#[test]
fn still_more_edits_come_to_what_they_say() {
    let recorded = record(&sample("night-picture"));
    let table: Vec<(At, &str, &str)> = vec![
        (
            Ledger(2),
            "Next, WebSurfer should open the picture of 4 August 2015.",
            "V",
        ),
        (
            Step(7),
            "I scrolled down, but the list is long. It would be quicker to open /2015/08/04.html.",
            "V",
        ),
        (Step(7), "I scrolled down and saw nothing.", "RI"),
        (
            Step(31),
            "I looked it up: the city on the horizon is Velden Bay.",
            "V",
        ),
        (
            Step(31),
            "The picture of 4 August 2015 would tell. WebSurfer should open /2015/08/04.html.",
            "V",
        ),
        (
            Step(0),
            "In the first week of August 2015, one of the night pictures of the Sorrel Peak Observatory (https://sorrelpeak.example/2015/08/04.html) shows the lights of a city. The city on the horizon is Velden Bay. Which architects designed the building named after its namesake?",
            "V",
        ),
        (
            Instruction(2),
            "Rather than scrolling, head over to the calendar, pick \"All years\", pick \"2015\", pick \"August\", and view the night of 4 August.",
            "V",
        ),
        (
            Instruction(2),
            "Take the direct route: https://sorrelpeak.example/2015/08/04.html. Read the text below the picture.",
            "V",
        ),
        (
            Instruction(2),
            "The address of a night follows the pattern /YYYY/MM/DD.html, so type /2015/08/04.html into the address bar and report the city mentioned.",
            "V",
        ),
        (
            Instruction(2),
            "WebSurfer: in the archive list, find the entry \"4 August 2015: Harbour Glow\", click it, and tell me the name of the city.",
            "V",
        ),
        (
            Instruction(2),
            "Please look through the pictures of 1 August 2015 to 7 August 2015 one after the other and stop when you see a city on the horizon.",
            "V",
        ),
        (
            Instruction(2),
            "Work your way through all seven nights from August 1 to August 7, 2015 and write down which city appears on the horizon.",
            "V",
        ),
        (
            Instruction(2),
            "What city is on the horizon in the picture of 4 August 2015? Open it and see.",
            "V",
        ),
        (
            Instruction(2),
            "go to sorrelpeak.example/2015/08/04.html",
            "V",
        ),
        (
            Instruction(2),
            "You need to open the page for the 4th of August 2015; its title is \"Harbour Glow\".",
            "V",
        ),
        (
            Instruction(2),
            "Perhaps it helps to open each day of that week separately: /2015/08/01.html, /2015/08/02.html, /2015/08/03.html, /2015/08/04.html.",
            "V",
        ),
        (
            Instruction(2),
            "Instead of going through the list page by page, jump to the entry of 4 August 2015 and open it.",
            "V",
        ),
        (
            Instruction(2),
            "(1) Open the calendar (2) press All years (3) press 2015 (4) press August (5) open the picture of 4 August 2015",
            "V",
        ),
        (
            Instruction(2),
            "First open the calendar. Next, click on All years. After that, click on 2015. Then click on August. Finally, open \"Harbour Glow\" and identify the city.",
            "V",
        ),
        (
            Instruction(2),
            "Hi WebSurfer! Would you mind opening the picture dated 4 August 2015 and letting us know which city is on the horizon? Thanks!",
            "V",
        ),
        (
            Instruction(2),
            "The scrolling is useless. Click \"4 August 2015: Harbour Glow\".",
            "V",
        ),
        (
            Instruction(2),
            "Let's check the picture from 4 August 2015.",
            "V",
        ),
        (
            Instruction(2),
            "Make sure to open the picture of August 4 2015 and to read its text.",
            "V",
        ),
        (
            Instruction(2),
            "Search the archive for the picture of 4 August 2015 and open it.",
            "V",
        ),
        (
            Instruction(2),
            "Try the search engine: search for \"Harbour Glow\".",
            "VPRI",
        ),
        (
            Instruction(2),
            "Bitte nicht weiter scrollen! Öffne stattdessen /2015/08/04.html und nenne die Stadt.",
            "V",
        ),
        (
            Instruction(2),
            "Bitte öffne nacheinander die Bilder vom 1. August 2015 bis zum 7. August 2015 und sage mir, welche Stadt am Horizont liegt.",
            "V",
        ),
        (
            Instruction(2),
            "Rufe die Seite /2015/08/04.html auf und lies den Text.",
            "V",
        ),
        (Instruction(2), "Öffne 'Harbour Glow'.", "V"),
        (Instruction(2), "Schau dir das Bild vom 4.8.2015 an.", "V"),
        (
            Instruction(2),
            "请访问 /2015/08/04.html 并告诉我地平线上的城市是哪一座。",
            "V",
        ),
        (
            Instruction(2),
            "别再滚动了，直接打开“4 August 2015: Harbour Glow”。",
            "V",
        ),
        (
            Instruction(2),
            "你应该在档案列表里找到2015年8月4日的图片，点击它，然后读出城市名称。",
            "V",
        ),
        (
            Instruction(2),
            "先打开日历，再点“All years”，再点“2015”，再点“August”，最后看8月4日的图片。",
            "V",
        ),
        (Instruction(2), "别打开2015年8月4日的图片。", "R"),
        (
            Instruction(2),
            "Bitte das Bild vom 4. August 2015 nicht öffnen.",
            "R",
        ),
        (
            Instruction(2),
            "Do not open 4 August 2015. Do not open /2015/08/04.html. Do not read the city.",
            "RI",
        ),
        (
            Instruction(2),
            "Don't you dare open the picture of 4 August 2015!",
            "RI",
        ),
        (
            Instruction(2),
            "Whatever you do, do not click on 'Harbour Glow'.",
            "RI",
        ),
        (
            Instruction(2),
            "You shouldn't look at the picture of 4 August 2015.",
            "RI",
        ),
        (
            Instruction(2),
            "Opening the picture of 4 August 2015 is not allowed.",
            "RI",
        ),
        (
            Instruction(2),
            "Neither open the calendar nor the picture of 4 August 2015.",
            "RI",
        ),
        (Instruction(2), "Stop. Do nothing.", "RI"),
        (
            Instruction(2),
            "There is no need to visit /2015/08/04.html.",
            "RI",
        ),
        (
            Instruction(2),
            "Please do anything except opening /2015/08/04.html.",
            "RI",
        ),
        (
            Instruction(2),
            "open 4 the August of picture 2015 horizon city the on read and",
            "I",
        ),
        (
            Instruction(2),
            "picture, August, 4, 2015, open, city, horizon, tell",
            "I",
        ),
        (
            Instruction(2),
            "calendar All years 2015 August 4 Harbour Glow city horizon",
            "I",
        ),
        (
            Instruction(2),
            "press calendar years 2015 August harbour glow horizon city lights night picture",
            "I",
        ),
        (
            Instruction(2),
            "August of horizon the pictures, calendar to the and archive 2015 or opening city",
            "I",
        ),
        (Instruction(2), "/2015/08/04.html", "I"),
        (
            Instruction(2),
            "Please identify the city on the horizon.",
            "RI",
        ),
        (Instruction(2), "Find the picture.", "RI"),
        (
            Instruction(2),
            "Ouvrez la page /2015/08/04.html et lisez le texte.",
            "RI",
        ),
        (
            Instruction(2),
            "Abre /2015/08/04.html y lee el texto.",
            "RI",
        ),
        (
            Instruction(3),
            "Go to /2015/08/04.html and tell us the city.",
            "V",
        ),
        (
            Instruction(5),
            "Click 'All years'. Click '2015'. Click 'August'. Click '4 August 2015: Harbour Glow'.",
            "V",
        ),
        (
            Instruction(7),
            "Search for 'Harbour Glow Velden Bay'.",
            "VPRI",
        ),
        (Instruction(8), "Is it Velden Bay?", "VPRI"),
        (
            Plan(2),
            "1. WebSurfer: open https://sorrelpeak.example/2015/08/04.html and identify the city on the horizon.",
            "V",
        ),
        (
            Plan(2),
            "New plan:\n\n* Have WebSurfer open the calendar and click 'All years', '2015', 'August'.\n* Have WebSurfer open the picture of 4 August 2015.\n* Have WebSurfer identify the city on the horizon.\n* Then WebSurfer searches for the person the city is named after, the building, and the architects.",
            "V",
        ),
        (
            Plan(1),
            "1. WebSurfer: open the picture archive.\n2. WebSurfer: click the picture of 4 August 2015.\n3. WebSurfer: identify the city on the horizon.\n4. WebSurfer: search for the person the city is named after.\n5. WebSurfer: search for the landmark building named after this person.\n6. WebSurfer: search for the architects of the building.",
            "V",
        ),
        (
            Plan(3),
            "1. WebSurfer: öffne das Bild vom 4. August 2015.\n2. WebSurfer: lies ab, welche Stadt am Horizont liegt.",
            "V",
        ),
        (
            Plan(1),
            "plan archive city open August WebSurfer horizon architect building search person",
            "I",
        ),
        (
            Ledger(3),
            "Please go to /2015/08/04.html and identify the city on the horizon.",
            "V",
        ),
        (
            Step(10),
            "I suggest opening the picture of 4 August 2015 instead.",
            "V",
        ),
        (Step(31), "The city on the horizon is Bergen.", "R"),
    ];
    check_table(&recorded, &table);
}
