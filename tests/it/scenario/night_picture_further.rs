//! Further edits of the research sample: wordings that a person new to it tries.

use super::support::At::{Instruction, Ledger, Plan};
use super::support::{At, check_table, record, sample};

#[test]
fn further_edits_come_to_what_they_say() {
    let recorded = record(&sample("night-picture"));
    let table: Vec<(At, &str, &str)> = vec![
        (
            Instruction(2),
            "Navigate to the calendar page, then select All years, 2015, August and finally the entry for August 4.",
            "V",
        ),
        (
            Instruction(2),
            "Use the calendar instead of scrolling: All years > 2015 > August > 4 August 2015.",
            "V",
        ),
        (
            Instruction(2),
            "Don't scroll through the list. Go straight to the page of 4 August 2015 and tell me which city's lights can be seen on the horizon.",
            "V",
        ),
        (
            Instruction(2),
            "The pictures have addresses like /2015/08/01.html. Please visit /2015/08/01.html, /2015/08/02.html, /2015/08/03.html and /2015/08/04.html and report the city.",
            "V",
        ),
        (
            Instruction(2),
            "Visit the pages for August 1, 2, 3, 4, 5, 6 and 7, 2015, one by one, and identify the city on the horizon.",
            "V",
        ),
        (
            Instruction(2),
            "Find \"Harbour Glow\" in the archive and read its caption.",
            "V",
        ),
        (
            Instruction(2),
            "Every night has its own page under /YYYY/MM/DD.html. Open https://sorrelpeak.example/2015/08/04.html.",
            "V",
        ),
        (
            Instruction(2),
            "Please look at the picture taken on 2015-08-04.",
            "V",
        ),
        (
            Instruction(2),
            "could you pls open the picture of the 4th of august 2015 and tell us the name of the city",
            "V",
        ),
        (
            Instruction(2),
            "It would be better to open the picture for 4 August 2015 directly. Which city does it show?",
            "V",
        ),
        (
            Instruction(2),
            "I want you to click on the link \"4 August 2015: Harbour Glow\" on this page.",
            "V",
        ),
        (
            Instruction(2),
            "Step 1: go to the calendar. Step 2: click \"All years\". Step 3: click \"2015\". Step 4: click \"August\". Step 5: open the picture of 4 August. Step 6: note the city.",
            "V",
        ),
        (
            Instruction(2),
            "Check out each night from the 1st to the 7th of August 2015 in the archive until you see a city on the horizon; then give its name.",
            "V",
        ),
        (Instruction(2), "Open 4 August 2015.", "V"),
        (
            Instruction(2),
            "Scroll to 4 August 2015 in the list, open it, and read the description.",
            "V",
        ),
        (
            Instruction(2),
            "Open the picture from the first week of August 2015 which shows city lights on the horizon.",
            "VPRI",
        ),
        (
            Instruction(5),
            "There is no '2015' here. Press 'All years' first, then '2015', then 'August', then open the picture of 4 August 2015 and identify the city.",
            "V",
        ),
        (
            Instruction(5),
            "Since the years are hidden behind \"All years\", click that, choose 2015, choose August, and go through all the pictures of 1–7 August.",
            "V",
        ),
        (
            Instruction(5),
            "Go back to the archive and open the picture of 4 August 2015.",
            "V",
        ),
        (
            Instruction(4),
            "Open the calendar, choose \"All years\", then \"2015\", then \"August\", then \"4 August 2015: Harbour Glow\".",
            "V",
        ),
        (
            Instruction(3),
            "Click the picture of August 4, 2015 in the list.",
            "V",
        ),
        (
            Instruction(7),
            "Visit https://sorrelpeak.example/2015/08/04.html instead and identify the city on the horizon.",
            "V",
        ),
        (
            Instruction(1),
            "Open https://sorrelpeak.example/2015/08/04.html and identify the city on the horizon.",
            "V",
        ),
        (
            Instruction(1),
            "Open the archive, and there the picture of 4 August 2015. Which city is on the horizon?",
            "V",
        ),
        (
            Instruction(2),
            "打开https://sorrelpeak.example/2015/08/04.html，看看地平线上是哪座城市。",
            "V",
        ),
        (
            Instruction(2),
            "不要滚动页面。请打开日历，选择“All years”，然后选择2015和八月，再打开8月4日的图片。",
            "V",
        ),
        (
            Instruction(2),
            "请依次打开2015年8月1日到7日的每一张图片，找出地平线上的城市。",
            "V",
        ),
        (
            Instruction(2),
            "请不要点击日历，也不要打开八月的图片。",
            "R",
        ),
        (
            Instruction(2),
            "Geh zum Kalender, klicke auf „All years“, „2015“ und „August“ und öffne das Bild vom 4. August.",
            "V",
        ),
        (
            Instruction(2),
            "Du sollst das Bild vom 4. August 2015 öffnen und die Stadt am Horizont nennen.",
            "V",
        ),
        (
            Instruction(2),
            "Kannst du bitte die Seite /2015/08/04.html aufrufen?",
            "V",
        ),
        (
            Instruction(2),
            "Öffne auf keinen Fall das Bild vom 4. August 2015.",
            "R",
        ),
        (
            Instruction(2),
            "Please never open the picture of 4 August 2015.",
            "R",
        ),
        (Instruction(2), "You must not visit /2015/08/04.html.", "R"),
        (
            Instruction(2),
            "Avoid opening the picture of 4 August 2015.",
            "R",
        ),
        (
            Instruction(2),
            "Do NOT click on \"4 August 2015: Harbour Glow\".",
            "R",
        ),
        (
            Instruction(2),
            "Refrain from using the calendar and from opening 4 August 2015.",
            "R",
        ),
        (
            Instruction(2),
            "It is forbidden to open the picture of 4 August 2015.",
            "R",
        ),
        (
            Instruction(2),
            "Under no circumstances should you open the picture of 4 August 2015 or read the name of the city.",
            "RI",
        ),
        (
            Instruction(2),
            "No need to open the picture of 4 August 2015.",
            "RI",
        ),
        (
            Instruction(2),
            "I don't want you to open the picture of 4 August 2015.",
            "RI",
        ),
        (Instruction(2), "Skip the picture of 4 August 2015.", "RI"),
        (
            Instruction(2),
            "Please leave out the picture of 4 August 2015.",
            "RI",
        ),
        (
            Instruction(2),
            "4 August 2015 Harbour Glow picture calendar open",
            "I",
        ),
        (
            Instruction(2),
            "open august picture 2015 4 click calendar harbour glow city horizon",
            "I",
        ),
        (
            Instruction(2),
            "horizon the city of 4 open and August glow picture which to 2015 harbour calendar please years all click",
            "I",
        ),
        (
            Instruction(2),
            "calendar calendar calendar August August 2015 2015 open open open",
            "I",
        ),
        (
            Instruction(2),
            "city lights horizon week first August picture night observatory Sorrel Peak open read",
            "I",
        ),
        (Instruction(2), "glow harbour the open 4 2015 august", "I"),
        (
            Instruction(2),
            "Velden Bay Ingrid Solheim conservatory Aurelie architects",
            "I",
        ),
        (Instruction(2), "asdf qwer zxcv", "I"),
        (Instruction(2), "...", "I"),
        (
            Instruction(2),
            "The weather is nice today and the sea is calm.",
            "I",
        ),
        (
            Instruction(2),
            "Abre la imagen del 4 de agosto de 2015 y dime la ciudad.",
            "I",
        ),
        (Instruction(2), "Open the calendar.", "RI"),
        (Instruction(2), "Open the picture of 3 August 2015.", "RI"),
        (Instruction(2), "Open /about.html.", "RI"),
        (Instruction(2), "Search for pictures of August 2015.", "RI"),
        (
            Instruction(8),
            "Open the picture of 4 August 2015 and identify the city on the horizon.",
            "I",
        ),
        (
            Instruction(8),
            "Tell us which city is the most likely one, but think harder.",
            "RI",
        ),
        (
            Instruction(9),
            "Go back to the picture of 4 August 2015 in the archive first: which city is on the horizon?",
            "VPI",
        ),
        (
            Instruction(10),
            "Open /2015/08/04.html and identify the city on the horizon.",
            "P",
        ),
        (
            Instruction(10),
            "Search for the landmark building named after Christopher Wren.",
            "RI",
        ),
        (
            Plan(1),
            "1. Open the picture of 4 August 2015: https://sorrelpeak.example/2015/08/04.html\n2. Identify the city on the horizon\n3. Search for the person the city is named after\n4. Search for the landmark building named after this person\n5. Search for the architects of the building",
            "V",
        ),
        (
            Plan(2),
            "Use the calendar: press All years, then 2015, then August. Look at each picture of 1 to 7 August 2015. Then search for whom the city is named after, for the building, and for its architects.",
            "V",
        ),
        (
            Plan(3),
            "Do not guess the city. WebSurfer opens /2015/08/04.html and identifies the city on the horizon.",
            "V",
        ),
        (
            Plan(3),
            "Plan:\n- WebSurfer goes to https://sorrelpeak.example/2015/08/04.html\n- WebSurfer reads the city on the horizon\n- WebSurfer searches for the person the city is named after",
            "V",
        ),
        (
            Plan(2),
            "请WebSurfer打开2015年8月4日的图片，找出地平线上的城市。",
            "V",
        ),
        (Plan(1), "1. Do nothing.", "RI"),
        (Plan(1), "Do not open anything.", "R"),
        (
            Ledger(2),
            "{\"is_request_satisfied\": {\"reason\": \"no\", \"answer\": false}, \"is_in_loop\": {\"reason\": \"\", \"answer\": false}, \"is_progress_being_made\": {\"reason\": \"\", \"answer\": true}, \"next_speaker\": {\"reason\": \"\", \"answer\": \"WebSurfer\"}, \"instruction_or_question\": {\"reason\": \"\", \"answer\": \"Open the picture of 4 August 2015 and identify the city on the horizon.\"}}",
            "V",
        ),
    ];
    check_table(&recorded, &table);
}
