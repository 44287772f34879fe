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

/// Edits that were thought of after the first table, once the engine had passed it.
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
