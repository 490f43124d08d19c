//! What the page is asked and sent, by plain HTTP on the real binary: a prompt that is put, what is refused and in which words, what of
//! the sender's own text comes back, and what arrived in great number.

use std::io::BufRead;

use remembrancer_tests::{Answer, Key, VIEWS, encoded, eventually, sandbox, topic};
use rustix::process::Signal;

use crate::PATIENCE;
use crate::page::form_key;

/// Views that need to be told of what.
const FURTHER: [&str; 7] = ["found", "late", "episode", "session", "project", "decide", "recollection"];

/// Fails unless it is a whole page of ours with this status, which says `words` and is closed to script.
fn is_our_page(answer: &Answer, status: u16, words: &str) {
    assert_eq!(answer.status, status, "{}", answer.body);
    assert!(
        answer.body.starts_with("<!DOCTYPE html>") && answer.body.contains(words),
        "{words}: {}",
        answer.body
    );
    assert!(answer.line("content-type").starts_with("text/html"), "{:?}", answer.head);
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("cache-control", "no-store"),
        ("x-frame-options", "DENY"),
    ] {
        assert_eq!(answer.line(name), value);
    }
    assert!(answer.line("content-security-policy").starts_with("default-src 'none'"));
}

fn put(key: &Key, fields: &[(&str, &str)]) -> Answer {
    let secret = form_key(key, "put");
    let mut sent = vec![("key", secret.as_str())];
    sent.extend_from_slice(fields);
    key.post("put", &sent)
}

#[test]
fn a_prompt_that_is_put_is_explained_and_leaves_no_trace() {
    let sandbox = sandbox!();
    sandbox.transcript("one", "shop").topics(0..4);
    let daemon = sandbox.start();
    daemon.wait_for_model();
    daemon.embed_all();
    sandbox.configure("[log]\nlevel = \"trace\"\n");
    let served = sandbox.serve(&[]);
    let key = served.key();
    let (prompt, id) = (format!("{} xylophone", topic(1).0), sandbox.id_of(&topic(1).0));
    assert!(key.get("recollections").body.contains("action=\"put\""));
    let folder = sandbox.project("shop");
    for project in ["", "shop", folder.as_str()] {
        let fields = [("prompt", prompt.as_str()), ("project", project), ("everywhere", "yes")];
        // On a busy machine an answer may come too late.
        let told = eventually("an explanation", PATIENCE, || {
            let answer = put(&key, &fields);
            assert_eq!(answer.status, 200, "{}", answer.body);
            answer.body.contains(&id).then_some(answer.body)
        });
        assert_eq!(told.matches("<svg class=\"chart\"").count(), 2, "ranks and time: {told}");
        for expected in [
            "would be reminded of",
            "Candidates, best first",
            "As a table",
            "xylophone",
            " · page · ",
        ] {
            assert!(told.contains(expected), "{expected}: {told}");
        }
        assert!(!told.contains("is no project of which"), "{told}");
        let (_, title) = told.split_once("<title>").unwrap();
        assert!(
            !title.split("</title>").next().unwrap().contains("xylophone"),
            "histories keep titles"
        );
    }
    // Nothing was kept, counted or logged, and what an address says is not put.
    assert!(key.get("recollections").body.contains("No prompt has been answered yet."));
    assert_eq!(sandbox.json(&["explain", "--list"])["prompts"].as_array().unwrap().len(), 0);
    let by_address = key.get(&format!("put?prompt={}", encoded(&topic(1).0)));
    assert!(
        by_address.status == 200 && !by_address.body.contains(&id),
        "{}",
        by_address.body
    );
    for log in [served.log(), daemon.log()] {
        assert!(!log.contains("xylophone"), "{log}");
    }

    // What is named and is no project is not passed over.
    let nowhere = eventually("an answer in no project", PATIENCE, || {
        let answer = put(&key, &[("prompt", &prompt), ("project", "/nowhere/at/all")]);
        answer.body.contains("is no project").then_some(answer)
    });
    is_our_page(&nowhere, 200, "/nowhere/at/all is no project of which anything is remembered");

    // Whatever the field takes is taken, in whatever letters: an end of a line counts once, and a form sends a letter in up to twelve.
    for fits in ["é".repeat(15_990), "a\r\n".repeat(8_000), "😀".repeat(16_000)] {
        is_our_page(&put(&key, &[("prompt", &fits)]), 200, "would be reminded of");
    }
    is_our_page(&put(&key, &[("prompt", &"😀".repeat(18_000))]), 413, "oo long");
    is_our_page(&put(&key, &[("prompt", " ")]), 400, "There is no prompt in it.");
    is_our_page(
        &put(&key, &[("prompt", &"x".repeat(16_001))]),
        413,
        "at most 16000 characters",
    );
    is_our_page(
        &put(&key, &[("prompt", "why?"), ("project", "attic")]),
        400,
        "called &quot;attic&quot;",
    );
    is_our_page(&key.post("put", &[("prompt", &prompt)]), 403, "The form is too old");

    // By words alone where no daemon runs.
    daemon.stop(Signal::TERM);
    let told = put(&key, &[("prompt", &prompt), ("project", "shop")]).body;
    assert!(told.contains(&id) && told.contains("No daemon runs"), "{told}");
    assert_eq!(sandbox.json(&["explain", "--list"])["prompts"].as_array().unwrap().len(), 0);
}

#[test]
fn what_is_refused_is_refused_in_the_page_s_own_words() {
    let sandbox = sandbox!();
    sandbox.start().stop(Signal::TERM);
    let served = sandbox.serve(&[]);
    let key = served.key();
    let secret = form_key(&key, "remember");
    for (view, status, words) in [
        ("nowhere", 404, "There is no view at"),
        (
            "decide?act=forget-project&id=",
            400,
            "No episode, session or project is named",
        ),
        ("episode", 400, "does not say &quot;id&quot;"),
        ("project", 400, "does not say &quot;name&quot;"),
        ("decide?act=mute", 400, "does not say &quot;id&quot;"),
        ("timeline?before=1-1&before=2-2", 400, "more than once"),
        ("decisions?episodes=%3Cb%3E", 400, "no meaning there"),
        ("search?q=x&mode=%3Cb%3E", 400, "&lt;b&gt;"),
        ("search?q=x&offset=many", 400, "no number"),
        ("episode?id=%1b%5b2J", 404, "Not there"),
        ("decide?act=forget&id=%1b%5b2J", 400, "no form gives back"),
    ] {
        let answer = key.get(view);
        is_our_page(&answer, status, words);
        assert!(
            !answer.body.contains("eserialize") && !answer.body.contains("<b>") && !answer.body.contains('\u{1b}'),
            "{view}: {}",
            answer.body
        );
    }
    let own = format!("origin: http://{}", key.place.host());
    let form = "content-type: application/x-www-form-urlencoded";
    let keyed = format!("key={secret}");
    let long = format!("key={secret}&text={}", "x".repeat(70_000));
    for (method, view, kind, body, status, words) in [
        ("POST", "decide", form, keyed.as_str(), 400, "does not say &quot;act&quot;"),
        ("POST", "remember", form, keyed.as_str(), 400, "nothing in it to remember"),
        (
            "POST",
            "remember",
            "content-type: application/json",
            "{}",
            415,
            "That is no form",
        ),
        ("POST", "remember", "x-no: type", keyed.as_str(), 415, "That is no form"),
        ("POST", "remember", form, long.as_str(), 413, "The form is too long"),
        ("POST", "remember", form, "\0=%zz&&=", 403, "The form is too old"),
        ("POST", "timeline", form, keyed.as_str(), 405, "Not in this way"),
        ("PUT", "put", form, keyed.as_str(), 405, "Not in this way"),
    ] {
        let answer = key.ask(method, view, &[&own, kind], body);
        is_our_page(&answer, status, words);
        assert!(answer.body.contains("To the timeline"), "{method} {view}");
    }
    let bad_fact = key.post("remember", &[("key", &secret), ("fact", "pins")]);
    is_our_page(&bad_fact, 400, "is no fact");

    // Who has no key learns nothing from any of it: neither which views there are, nor what a form must hold.
    let stranger = Key {
        cookie: "remembrancer=0".to_owned(),
        ..key.clone()
    };
    let answers = [
        stranger.get("nowhere"),
        stranger.get("timeline"),
        stranger.get("episode"),
        stranger.ask("POST", "remember", &[&own, "content-type: application/json"], "{}"),
        stranger.ask("POST", "remember", &[&own, form], "text=x"),
        stranger.ask("PUT", "put", &[&own, form], ""),
    ];
    for answer in &answers {
        is_our_page(answer, 401, "No key");
        assert_eq!(answer.body, answers[0].body);
        assert!(!answer.body.contains("href=\"timeline\""), "{}", answer.body);
    }
}

#[test]
fn nothing_that_acts_comes_back_of_what_is_sent() {
    let sandbox = sandbox!();
    let _daemon = sandbox.start();
    let served = sandbox.serve(&[]);
    let key = served.key();
    let acting = "a\u{1b}[2J\u{7}\u{9b}b\u{202e}c\u{200b}d";
    let is_quiet = |answer: &Answer, what: &str| {
        let is_loud = |c: &char| (c.is_control() && !matches!(*c, '\n' | '\t')) || ['\u{200b}', '\u{202e}'].contains(c);
        let loud = answer.body.chars().find(is_loud);
        assert_eq!(loud, None, "{what}: {}", answer.body);
    };
    for name in [
        "q", "project", "agent", "since", "until", "mode", "offset", "before", "id", "act", "done", "name",
    ] {
        for view in VIEWS.into_iter().chain(FURTHER) {
            is_quiet(
                &key.get(&format!("{view}?{name}={}", encoded(acting))),
                &format!("{view}, {name}"),
            );
        }
    }
    let both = key.get(&format!("decide?act=forget-project&id={}", encoded(acting)));
    is_quiet(&both, "both");
    assert_eq!(both.status, 400);
    let again = put(&key, &[("prompt", acting), ("everywhere", "yes")]);
    assert_eq!(again.status, 200, "{}", again.body);
    is_quiet(&again, "a prompt that was put");

    // What is asked about a fact is quiet, and what is remembered is what was said.
    let secret = form_key(&key, "remember");
    let fact = "Pins:\n\tleft is \u{1b}[31mred\u{202e}, \"right\" is <blue> \\n.";
    let asked = key.post("remember", &[("key", &secret), ("text", fact)]);
    assert_eq!(asked.status, 200, "{}", asked.body);
    let (_, carried) = asked.body.split_once("name=\"fact\" value=\"").unwrap();
    let carried = carried.split('"').next().unwrap();
    assert!(!carried.contains(|c: char| c.is_control() || c == '\u{202e}'), "{carried}");
    let carried = carried
        .replace("&quot;", "\"")
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&");
    let done = key.post("remember", &[("key", &secret), ("fact", &carried)]);
    assert_eq!(done.status, 303, "{}", done.body);
    let stored = sandbox.episodes().pop().unwrap();
    let stored = format!("{}{}", stored.prompt, stored.answer);
    assert!(stored.contains("Pins:\n\tleft is"), "{stored:?}");
    // To say the same twice is to say it once: the command says what the page was told.
    assert!(sandbox.run(&["remember", "--everywhere", fact]).status.success());
    assert_eq!(sandbox.episodes().len(), 1);
    is_quiet(&key.get(done.line("location")), "the fact");
}

/// The value of the first attribute of this name.
fn attribute(body: &str, name: &str) -> Option<String> {
    let (_, rest) = body.split_once(&format!("{name}=\""))?;
    Some(rest.split('"').next().unwrap().to_owned())
}

#[test]
fn what_is_stored_late_is_told_of_and_what_is_new_is_not_taken_for_it() {
    let sandbox = sandbox!();
    sandbox.transcript("one", "shop").on_day(2).topics(0..2);
    let daemon = sandbox.start();
    daemon.flush();
    let served = sandbox.serve(&[]);
    let key = served.key();
    let timeline = key.get("timeline").body;
    let (stored, newest) = (
        attribute(&timeline, "data-stored").unwrap(),
        attribute(&timeline, "data-newest").unwrap(),
    );
    assert!(
        !key.get("timeline?after=1-1").body.contains("data-stored"),
        "a page of the past"
    );
    // The stream says up to where the store is filled.
    let mut events = key.live().unwrap();
    let mut filled = || {
        let mut line = String::new();
        while !line.starts_with("id:") {
            line.clear();
            assert!(events.read_line(&mut line).unwrap() > 0, "the stream ended");
        }
        line["id:".len()..].trim().to_owned()
    };
    assert_eq!(filled(), stored);
    sandbox.transcript("late", "shop").topics(2..4);
    daemon.flush();
    sandbox.transcript("new", "shop").on_day(3).topics(4..5);
    daemon.flush();
    while filled() == stored {}
    let late = |narrowed: &str| {
        let told = key.get(&format!("late?{narrowed}from={stored}&to=999999&newest={newest}"));
        assert_eq!(told.status, 200, "{}", told.body);
        let ids = attribute(&told.body, "data-late").unwrap();
        let mut ids: Vec<String> = ids.split_whitespace().map(str::to_owned).collect();
        ids.sort();
        ids
    };
    let mut expected = [sandbox.id_of(&topic(2).0), sandbox.id_of(&topic(3).0)];
    expected.sort();
    assert_eq!(late(""), expected);
    assert_eq!(late("project=shop&"), expected);
    assert!(late("agent=codex&").is_empty() && late("since=2026-08-20&").is_empty());
}

#[test]
fn more_than_a_piece_that_arrived_at_once_comes_in_order_and_whole() {
    let sandbox = sandbox!();
    let mut transcript = sandbox.transcript("long", "shop");
    transcript.turn("what was there before?", "this");
    let daemon = sandbox.start();
    daemon.flush();
    let served = sandbox.serve(&[]);
    let key = served.key();
    let timeline = key.get("timeline").body;
    assert!(timeline.contains("id=\"more\" hidden"), "{timeline}");
    let mut known = attribute(&timeline, "data-newest").unwrap();
    for number in 0..250 {
        transcript.turn(&format!("question number {number:03} of many"), "answered");
    }
    daemon.flush();
    let (mut seen, mut pieces) = (Vec::new(), 0);
    loop {
        let piece = key.get(&format!("arrivals?after={known}")).body;
        let numbers = piece
            .split(">question number ")
            .skip(1)
            .map(|rest| rest[..3].parse::<usize>().unwrap());
        let mut numbers: Vec<usize> = numbers.collect();
        assert!(numbers.len() <= 100, "{piece}");
        // The newest of a piece stands on top.
        numbers.reverse();
        seen.extend(numbers);
        pieces += 1;
        known = attribute(&piece, "data-until").unwrap();
        if attribute(&piece, "data-more").is_none() {
            break;
        }
    }
    assert_eq!((seen, pieces), ((0..250).collect::<Vec<_>>(), 3));
    // Where nothing stood in the page, it is the newest, and the older are told of.
    let newest = key.get("arrivals").body;
    assert!(
        newest.contains("question number 249") && attribute(&newest, "data-more").as_deref() == Some("older"),
        "{newest}"
    );
}
