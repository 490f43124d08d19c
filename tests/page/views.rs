//! Every view as a browser shows it: at four widths, in light and dark, with script and without, and while something arrives.

use std::os::unix::fs::PermissionsExt;

use remembrancer_tests::{Sandbox, VIEWS, sandbox};

use crate::browser::{Browser, browse};
use crate::home::{daemon_of_samples, enter};

/// From a telephone to a wide screen, in pixels.
const WIDTHS: [u32; 4] = [375, 768, 1_280, 1_600];

/// What is wrong with a page, in sentences.
const CHECKS: &str = include_str!("checks.js");

/// All views of a home with samples.
pub(crate) fn views(sandbox: &Sandbox) -> Vec<String> {
    let id = sandbox.id_of("one cent lower");
    let mut views: Vec<String> = [
        "timeline",
        "timeline?project=till",
        "search",
        "search?q=rounding+of+the+receipt",
        "search?q=zzzz&mode=lexical",
        "sessions",
        "projects",
        "project?name=kiosk",
        "recollections",
        "recollection?id=p1",
        "recollection?id=p2",
        "decisions",
        "health",
        "remember",
        "put",
        "nowhere",
    ]
    .map(str::to_owned)
    .to_vec();
    for view in ["episode?id=", "session?id=", "decide?act=mute&id=", "decide?act=forget&id="] {
        views.push(format!("{view}{id}"));
    }
    // One with a line of code that is wider than a telephone.
    let wide = sandbox.id_of("the last customer's language");
    views.extend([format!("episode?id={wide}"), format!("session?id={wide}")]);
    views
}

/// Fails with everything that is wrong with the page at hand.
pub(crate) fn check(browser: &Browser, what: &str) {
    let told = browser.tell(CHECKS);
    let mut wrong: Vec<String> = told["wrong"]
        .as_array()
        .unwrap()
        .iter()
        .map(|said| said.as_str().unwrap().to_owned())
        .collect();
    let expects_failure = what.contains("nowhere");
    wrong.extend(
        browser
            .complaints()
            .into_iter()
            .filter(|said| !(expects_failure && said.contains("404"))),
    );
    assert!(wrong.is_empty(), "{what}:\n  {}", wrong.join("\n  "));
}

#[test]
fn every_view_fits_is_legible_and_asks_nothing_outside() {
    browse(|browser| {
        let sandbox = sandbox!();
        let _daemon = daemon_of_samples(&sandbox);
        let served = sandbox.serve(&[]);
        browser.size(1_280, 900);
        let inside = enter(browser, &served.opening);
        for view in views(&sandbox) {
            browser.goto(&format!("{inside}{view}"));
            for scheme in ["light", "dark"] {
                browser.prefer(scheme);
                for width in WIDTHS {
                    browser.size(width, 900);
                    check(browser, &format!("{view} at {width}, {scheme}"));
                }
            }
        }
    });
}

#[test]
fn an_empty_memory_is_as_well_made() {
    browse(|browser| {
        let sandbox = sandbox!();
        let _daemon = sandbox.start();
        let served = sandbox.serve(&[]);
        let inside = enter(browser, &served.opening);
        for view in VIEWS {
            browser.goto(&format!("{inside}{view}"));
            for width in [375, 1_600] {
                browser.size(width, 900);
                check(browser, &format!("{view} of nothing at {width}"));
            }
        }
    });
}

#[test]
fn all_of_it_works_without_script() {
    browse(|browser| {
        let sandbox = sandbox!();
        let _daemon = daemon_of_samples(&sandbox);
        let served = sandbox.serve(&[]);
        browser.script(false);
        browser.size(1_280, 900);
        let inside = enter(browser, &served.opening);
        browser.write("#find", "drawer opens twice\u{e007}");
        let first = browser.wait_for("results", || browser.text(".results .asked"));
        assert!(first.contains("drawer"), "{first}");
        browser.click(".results .asked");
        browser.wait_for("the episode", || {
            browser.text(".whole").filter(|text| text.contains("ten milliseconds"))
        });
        browser.click("[data-key=m]");
        let asked = browser.wait_for("the question", || browser.text(".confirm"));
        assert!(asked.contains("never recalled again"), "{asked}");
        browser.click(".confirm button");
        let done = browser.wait_for("what was done", || browser.text(".notice"));
        assert!(done.contains("Muted"), "{done}");
        assert_eq!(sandbox.json(&["mute", "--list"])["turns"].as_array().unwrap().len(), 1);
        browser.click(".notice button");
        browser.wait_for("the undoing", || {
            browser.text(".notice").filter(|text| text.contains("may be recalled again"))
        });
        assert_eq!(sandbox.json(&["mute", "--list"])["turns"].as_array().unwrap().len(), 0);
        browser.goto(&format!("{inside}timeline?project=kiosk"));
        assert!(browser.text("#turns").unwrap().contains("cent lower"));
    });
}

#[test]
fn what_arrives_appears_and_is_said() {
    browse(|browser| {
        let sandbox = sandbox!();
        let _daemon = daemon_of_samples(&sandbox);
        let served = sandbox.serve(&[]);
        enter(browser, &served.opening);
        browser.wait_for("the stream", || {
            (browser.tell("return document.querySelector('#live').hidden") == false).then_some(())
        });
        let mut transcript = sandbox.transcript("now", "till").on_day(27);
        transcript.turn("Which lamp is for the printer?", "The left one.");
        let first = browser.wait_for("the arrival", || {
            browser.text("#turns .asked").filter(|text| text.contains("lamp"))
        });
        assert_eq!(first, "Which lamp is for the printer?");
        let said = browser.tell("return document.querySelector('#said').textContent");
        assert_eq!(said, "A new turn: Which lamp is for the printer?");
        check(browser, "the timeline after an arrival");
        transcript.turn("And the right one?", "For the scanner.");
        browser.wait_for("the next arrival", || {
            browser.text("#turns .asked").filter(|text| text.contains("right one"))
        });
        let twice = browser
            .tell("return [...document.querySelectorAll('#turns .asked')].filter(a => a.textContent.includes('lamp')).length");
        assert_eq!(twice, 1, "nothing stands there twice");
    });
}

#[test]
fn what_is_focused_covers_nothing() {
    browse(|browser| {
        let sandbox = sandbox!();
        let prompt = "Which of the lamps beside the counter is for the printer and which is for the scanner? ".repeat(5);
        sandbox
            .transcript("long", "till")
            .turn(prompt.trim(), "The left one.")
            .turn("Thanks!", "Yes.");
        let daemon = sandbox.start();
        daemon.flush();
        let served = sandbox.serve(&[]);
        enter(browser, &served.opening);
        browser.size(375, 900);
        browser.press("jj");
        let focused =
            browser.tell("return document.activeElement.matches('.asked:focus-visible') && document.activeElement.textContent");
        assert!(
            focused.as_str().is_some_and(|text| text.starts_with("Which of the lamps")),
            "{focused}"
        );
        // How far its letters are painted below what follows it in its row: not at all.
        let below = browser.tell(
            "const asked = document.activeElement; const letters = document.createRange(); letters.selectNodeContents(asked);\
             const shown = getComputedStyle(asked).overflowY === 'visible' ? letters : asked;\
             const next = asked.nextElementSibling.getBoundingClientRect();\
             return Math.max(...[...shown.getClientRects()].map((box) => box.bottom)) - next.top",
        );
        assert!(below.as_f64().is_some_and(|pixels| pixels <= 1.0), "{below}");
    });
}

#[test]
fn older_turns_that_are_stored_late_are_told_of() {
    browse(|browser| {
        let sandbox = sandbox!();
        let _daemon = daemon_of_samples(&sandbox);
        let served = sandbox.serve(&[]);
        let mut newest = sandbox.transcript("now", "till").on_day(27);
        newest.turn("Which lamp is for the printer?", "The left one.");
        let inside = enter(browser, &served.opening);
        browser.wait_for("the newest", || {
            browser.text("#turns .asked").filter(|text| text.contains("lamp"))
        });
        browser.wait_for("the stream", || {
            (browser.tell("return document.querySelector('#live').hidden") == false).then_some(())
        });
        // A transcript that was copied here, say, of long ago.
        sandbox
            .transcript("late", "till")
            .turn("Where was the till before?", "By the door.")
            .turn("And before that?", "Nowhere.");
        let told = browser.wait_for("the line", || {
            browser.text("#late").filter(|text| text.contains("2 older turns"))
        });
        assert!(
            told.starts_with("2 older turns were added.") && told.contains("Load the page anew"),
            "{told}"
        );
        let said = browser.tell("return document.querySelector('#said').textContent");
        assert!(said.as_str().is_some_and(|said| said.contains("older turn")), "{said}");
        check(browser, "the timeline after late turns");
        // What arrives on top is put there, and is not late.
        newest.turn("And the right one?", "For the scanner.");
        browser.wait_for("the arrival", || {
            browser.text("#turns .asked").filter(|text| text.contains("right one"))
        });
        assert!(browser.text("#late").unwrap().starts_with("2 older turns"));
        browser.click("#late a");
        browser.wait_for("the late turns", || {
            browser
                .text("#turns")
                .filter(|text| text.contains("Where was the till before?"))
        });
        assert_eq!(browser.tell("return document.querySelector('#late').hidden"), true);
        browser.goto(&format!("{inside}timeline?project=kiosk"));
        assert!(!browser.text("#turns").unwrap().contains("Where was the till before?"));
    });
}

#[test]
fn many_turns_that_arrive_at_once_all_appear_in_order() {
    browse(|browser| {
        let sandbox = sandbox!();
        let _daemon = daemon_of_samples(&sandbox);
        let served = sandbox.serve(&[]);
        enter(browser, &served.opening);
        browser.wait_for("the stream", || {
            (browser.tell("return document.querySelector('#live').hidden") == false).then_some(())
        });
        let mut transcript = sandbox.transcript("now", "till").on_day(27);
        for number in 0..230 {
            transcript.turn(&format!("Which lamp has the number {number:03}?"), "That one.");
        }
        let numbers = "return [...document.querySelectorAll('#turns .asked')].map(a => a.textContent.match(/number ([0-9]+)/)?.[1])\
            .filter(Boolean).map(Number)";
        let shown = browser.wait_for("all arrivals", || {
            let shown = browser.tell(numbers);
            (shown.as_array()?.len() == 230).then_some(shown)
        });
        let expected: Vec<u64> = (0..230).rev().collect();
        assert_eq!(shown, serde_json::json!(expected));
        assert_eq!(browser.tell("return document.querySelector('#more').hidden"), true);
        assert_eq!(
            browser.tell("return document.querySelector('#late').hidden"),
            true,
            "none of them is late"
        );
    });
}

#[test]
fn a_prompt_is_put_without_script() {
    browse(|browser| {
        let sandbox = sandbox!();
        let _daemon = daemon_of_samples(&sandbox);
        let served = sandbox.serve(&[]);
        browser.script(false);
        let inside = enter(browser, &served.opening);
        browser.goto(&format!("{inside}put"));
        browser.write("textarea[name=prompt]", "where do we cut instead of rounding a receipt?");
        browser.click(".remember button");
        let told = browser.wait_for("the explanation", || {
            browser.text("h1").filter(|text| text.contains("would be reminded of"))
        });
        assert_eq!(told, "What your prompt would be reminded of");
        assert!(!browser.address().contains("receipt"), "{}", browser.address());
    });
}

#[test]
fn a_search_answers_while_somebody_types() {
    browse(|browser| {
        let sandbox = sandbox!();
        let _daemon = daemon_of_samples(&sandbox);
        let served = sandbox.serve(&[]);
        let inside = enter(browser, &served.opening);
        browser.goto(&format!("{inside}search"));
        browser.write("#q", "refund button grey");
        let first = browser.wait_for("results", || browser.text("#found .asked"));
        assert!(first.contains("refund button"), "{first}");
        browser.wait_for("the address", || {
            browser.address().contains("q=refund+button+grey").then_some(())
        });
        browser.write("#q", " zzzz".repeat(3).as_str());
        browser.wait_for("other results", || browser.address().contains("zzzz").then_some(()));
        check(browser, "a search while typing");
    });
}

#[test]
fn a_page_that_was_opened_by_a_file_goes_on_by_itself() {
    browse(|browser| {
        let sandbox = sandbox!();
        let _daemon = sandbox.start();
        // In the place of the user's browser: it writes down what it is to open.
        let programs = sandbox.home().join("programs");
        fs_err::create_dir_all(&programs).unwrap();
        for name in ["xdg-open", "open"] {
            let program = programs.join(name);
            fs_err::write(
                &program,
                "#!/bin/sh\nprintf '%s' \"$*\" > \"$HOME/opened.part\"\nmv \"$HOME/opened.part\" \"$HOME/opened\"\n",
            )
            .unwrap();
            fs_err::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).unwrap();
        }
        let path = format!("{}:/usr/bin:/bin", programs.display());
        let served = sandbox.serve_with(&["--open"], &[("PATH", &path)]);
        let opened = browser.wait_for("the browser's start", || {
            fs_err::read_to_string(sandbox.home().join("opened")).ok()
        });
        assert!(!opened.contains("token"), "a command line is for all to see: {opened}");
        assert_eq!(fs_err::metadata(&opened).unwrap().permissions().mode() & 0o777, 0o600);
        browser.goto(&format!("file://{opened}"));
        browser.wait_for("the timeline", || browser.text("main h1").filter(|text| text == "Timeline"));
        assert!(!browser.address().contains("token"));
        drop(served);
    });
}
