//! A walk through the page by the keyboard alone, whose steps stand in `docs/page.md`.

use std::fmt::Write as _;

use remembrancer_tests::book::writes;
use remembrancer_tests::{Sandbox, sandbox};

use crate::browser::{Browser, browse, keys};
use crate::home::{daemon_of_samples, enter};
use crate::repository;

/// Where the steps stand on the page.
const BEGIN: &str = "<!-- The steps, written by tests/page/walk.rs. -->\n";
const END: &str = "<!-- End of the steps. -->";

/// The steps that were taken, as they are told.
#[derive(Default)]
struct Steps(String);

impl Steps {
    fn took(&mut self, pressed: &str, came: &str) {
        let number = self.0.lines().count() + 1;
        writeln!(self.0, "{number}. {pressed}: {came}").unwrap();
    }
}

/// What has the focus, in words.
fn focus(browser: &Browser) -> String {
    let told =
        browser.tell("return (document.activeElement.textContent || document.activeElement.getAttribute('name') || '').trim()");
    told.as_str().unwrap_or_default().to_owned()
}

fn heading(browser: &Browser, expected: &str) -> String {
    browser.wait_for(expected, || browser.text("main h1").filter(|text| text.contains(expected)))
}

#[test]
fn all_can_be_done_by_the_keyboard() {
    browse(|browser| {
        let sandbox = sandbox!();
        let _daemon = daemon_of_samples(&sandbox);
        let served = sandbox.serve(&[]);
        browser.size(1_280, 900);
        enter(browser, &served.opening);
        let mut walk = Walk {
            browser,
            sandbox: &sandbox,
            steps: Steps::default(),
        };
        walk.begin();
        walk.search();
        walk.look();
        walk.mute_and_undo();
        walk.go_round();
        walk.search_again();
        told(&walk.steps.0);
    });
}

/// Somebody without a mouse.
struct Walk<'a> {
    browser: &'a Browser,
    sandbox: &'a Sandbox,
    steps: Steps,
}

impl Walk<'_> {
    fn muted(&self) -> usize {
        self.sandbox.json(&["mute", "--list"])["turns"].as_array().unwrap().len()
    }

    fn begin(&mut self) {
        let browser = self.browser;
        browser.press(keys::TAB);
        assert_eq!(focus(browser), "Skip to the content");
        browser.press(keys::ENTER);
        self.steps.took("Tab, Enter", "past the navigation, to the timeline itself");
        browser.press("?");
        browser.wait_for("the keys", || browser.text("dialog[open] h2"));
        browser.press(keys::ESCAPE);
        browser.wait_for("their end", || browser.text("dialog[open] h2").is_none().then_some(()));
        self.steps.took("`?`, then Esc", "the list of keys, and away with it");
    }

    fn search(&mut self) {
        let browser = self.browser;
        browser.press("/");
        browser.wait_for("the field", || (focus(browser) == "q").then_some(()));
        browser.press("amounts on receipts off by a cent");
        browser.press(keys::ENTER);
        heading(browser, "Search");
        browser.wait_for("results", || browser.text(".results .asked"));
        self.steps.took("`/`, some words, Enter", "the search, with what was found");
        browser.press("j");
        let first = focus(browser);
        browser.press("j");
        assert_ne!(focus(browser), first);
        browser.press("k");
        assert_eq!(focus(browser), first);
        self.steps
            .took("`j`, `j`, `k`", "the first result, the second, the first again");
    }

    fn look(&mut self) {
        let browser = self.browser;
        browser.press(keys::ENTER);
        let opened = browser.wait_for("the episode", || browser.text(".whole h2").and(browser.text("main h1")));
        self.steps.took("Enter", &format!("the episode: “{opened}”"));
        browser.press("s");
        browser.wait_for("the session", || browser.address().contains("/session?").then_some(()));
        browser.wait_for("its turns", || browser.text(".exchange h2"));
        self.steps.took("`s`", "its session, at that turn");
        browser.press("j");
        browser.press(keys::ENTER);
        browser.wait_for("the episode again", || browser.address().contains("/episode?").then_some(()));
        browser.wait_for("its text", || browser.text(".whole h2"));
        self.steps.took("`j`, Enter", "from a turn of the session to its episode");
    }

    fn mute_and_undo(&mut self) {
        let browser = self.browser;
        browser.press("m");
        heading(browser, "Mute this memory?");
        assert_eq!(self.muted(), 0);
        self.steps.took(
            "`m`",
            "the question whether to mute it, with what that does; nothing is done yet",
        );
        // To the button, wherever it stands: nothing but Tab.
        for _ in 0..30 {
            if focus(browser) == "Mute it" {
                break;
            }
            browser.press(keys::TAB);
        }
        assert_eq!(focus(browser), "Mute it");
        browser.press(keys::ENTER);
        browser.wait_for("what was done", || {
            browser.text(".notice").filter(|text| text.contains("Muted"))
        });
        assert_eq!(self.muted(), 1);
        self.steps
            .took("Tab to “Mute it”, Enter", "muted; the episode says so, and offers to undo it");
        browser.press("u");
        browser.wait_for("the undoing", || {
            browser.text(".notice").filter(|text| text.contains("Unmuted"))
        });
        assert_eq!(self.muted(), 0);
        self.steps.took("`u`", "undone");
    }

    fn go_round(&mut self) {
        let views = [
            ("s", "Sessions"),
            ("p", "Projects"),
            ("r", "Recollections"),
            ("d", "Decisions"),
            ("h", "Health"),
            ("t", "Timeline"),
        ];
        for (key, title) in views {
            self.browser.press("g");
            self.browser.press(key);
            heading(self.browser, title);
        }
        self.steps.took(
            "`g` and then `s`, `p`, `r`, `d`, `h`, `t`",
            "sessions, projects, recollections, decisions, health, and back to the timeline",
        );
    }

    fn search_again(&mut self) {
        let browser = self.browser;
        browser.press("/");
        browser.wait_for("the field", || (focus(browser) == "q").then_some(()));
        browser.press("refund");
        browser.press(keys::ENTER);
        browser.wait_for("results", || browser.text(".results .asked"));
        browser.press("/");
        browser.press(keys::DOWN);
        browser.wait_for("a result", || focus(browser).to_lowercase().contains("refund").then_some(()));
        self.steps
            .took("`/`, a word, Enter, `/`, ↓", "from the field straight to the first result");
    }
}

/// Holds the page of the documentation against the steps, or writes them there.
fn told(steps: &str) {
    let path = repository("docs/page.md");
    let page = fs_err::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).expect("docs/page.md says where the steps stand");
    let (there, after) = rest.split_once(END).expect("docs/page.md says where the steps end");
    if writes() {
        fs_err::write(&path, format!("{before}{BEGIN}{steps}{END}{after}")).unwrap();
    } else {
        assert_eq!(
            there, steps,
            "docs/page.md tells other steps: REMEMBRANCER_WRITE_DOCUMENTS=1 writes them"
        );
    }
}
