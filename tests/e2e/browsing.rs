//! Looking into the memory: search, show, sessions, timeline, with a daemon and without; narrowed, paged, and without a trace.

use remembrancer_tests::{sandbox, skip, topic};
use rustix::process::Signal;
use serde_json::{Value, json};

fn text(output: &std::process::Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn ids(list: &Value) -> Vec<&str> {
    list.as_array()
        .unwrap()
        .iter()
        .map(|item| item["id"].as_str().unwrap())
        .collect()
}

#[test]
fn what_is_stored_is_found_listed_and_shown_alike_with_a_daemon_and_without() {
    let sandbox = sandbox!();
    sandbox.transcript("first", "shop").topics(0..3);
    sandbox.transcript("second", "attic").on_day(2).topics(3..6);
    let daemon = sandbox.start();
    daemon.wait_for_model();
    daemon.embed_all();
    daemon.wait_for_vectors();
    let wanted = topic(4).0;
    let searches: [&[&str]; 5] = [
        &["search", &wanted],
        &["search", &wanted, "--mode", "lexical"],
        &["search", &wanted, "--mode", "semantic", "--limit", "2"],
        &["search", &wanted, "--project", "shop"],
        &["search", &wanted, "--until", "1999-01-01"],
    ];
    let lists: [&[&str]; 4] = [
        &["timeline"],
        &["timeline", "--project", "attic", "--agent", "claude-code"],
        &["sessions"],
        &["sessions", "--since", "2026-08-01", "--project", "shop"],
    ];
    let all = |arguments: &[&[&str]]| arguments.iter().map(|arguments| sandbox.json(arguments)).collect::<Vec<_>>();
    let (found, listed) = (all(&searches), all(&lists));
    let best = found[0]["results"][0]["id"].as_str().unwrap().to_owned();
    let shown = sandbox.json(&["show", &best]);
    let session = sandbox.json(&["show", &best, "--session"]);
    daemon.stop(Signal::TERM);
    assert_eq!(all(&lists), listed);
    for (without, with) in all(&searches).iter().zip(&found) {
        for member in ["mode", "degradations", "terms", "next", "found"] {
            assert_eq!(without[member], with[member], "{member}");
        }
        assert_eq!(ids(&without["results"]), ids(&with["results"]));
    }
    assert_eq!(sandbox.json(&["show", &best]), shown);
    assert_eq!(sandbox.json(&["show", "second", "--session"]), session);

    assert_eq!((&found[0]["mode"], &found[0]["degradations"]), (&json!("hybrid"), &json!([])));
    assert!(shown["prompt"].as_str().unwrap().contains(&wanted));
    assert_eq!(ids(&found[1]["results"])[0], best);
    assert_eq!(found[2]["results"].as_array().unwrap().len(), 2);
    assert!(
        found[3]["results"]
            .as_array()
            .unwrap()
            .iter()
            .all(|result| result["project"] == "shop")
    );
    assert_eq!(found[4]["results"], json!([]));
    assert_eq!(
        (
            listed[0]["turns"].as_array().unwrap().len(),
            listed[1]["turns"].as_array().unwrap().len()
        ),
        (6, 3)
    );
    assert_eq!(listed[2]["sessions"].as_array().unwrap().len(), 2);
    assert_eq!(session["turns"].as_array().unwrap().len(), 3);
    let transcript = &shown["transcript"];
    assert_eq!(transcript["exists"], true);
    let source = fs_err::read_to_string(transcript["path"].as_str().unwrap()).unwrap();
    let line = source.lines().nth(transcript["line"].as_u64().unwrap() as usize - 1).unwrap();
    assert!(line.contains(&wanted), "{line}");
    assert!(
        shown["neighbours"]["previous"]["asked"]
            .as_str()
            .unwrap()
            .contains(&topic(3).0)
    );
}

#[test]
fn a_search_counts_as_nothing_and_why_does_not_know_it() {
    let sandbox = sandbox!();
    sandbox.transcript("older", "shop").topics(0..3);
    let daemon = sandbox.start();
    daemon.wait_for_model();
    daemon.embed_all();
    let ids: Vec<_> = sandbox.episodes().iter().map(|episode| episode.id).collect();
    let traces = || {
        let rows = sandbox.reader().candidates(&ids, "").unwrap();
        rows.iter().map(|row| (row.accessed_at, row.access_count)).collect::<Vec<_>>()
    };
    let before = traces();
    let found = sandbox.json(&["search", &topic(1).0]);
    assert!(!found["results"].as_array().unwrap().is_empty());
    sandbox.json(&["timeline"]);
    sandbox.json(&["sessions"]);
    sandbox.json(&["show", "older", "--session"]);
    assert_eq!(traces(), before);
    assert_eq!(sandbox.run(&["why"]).status.code(), Some(3), "no prompt was answered");
    let id = found["results"][0]["id"].as_str().unwrap();
    sandbox.json(&["show", id]);
    assert_ne!(traces(), before, "to look at an episode is to use it");
}

#[test]
fn what_is_excluded_is_listed_as_hidden_and_not_found() {
    let sandbox = sandbox!();
    let attic = sandbox.project("attic");
    sandbox.transcript("first", "shop").topics(0..2);
    sandbox.transcript("second", "attic").on_day(2).topics(2..4);
    let daemon = sandbox.start();
    daemon.flush();
    sandbox.json(&["exclude", &attic]);
    let words = topic(2).0;
    let found = sandbox.json(&["search", &words, "--mode", "lexical"]);
    assert!(
        found["results"]
            .as_array()
            .unwrap()
            .iter()
            .all(|result| result["project"] != "attic")
    );
    let listed = sandbox.json(&["timeline"]);
    let hidden = listed["turns"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|turn| turn["hidden"] == true);
    assert_eq!(hidden.count(), 2);
    assert!(text(&sandbox.run(&["timeline"])).contains("[hidden]"));
    daemon.stop(Signal::TERM);
}

#[test]
fn a_list_is_followed_by_its_bounds() {
    let sandbox = sandbox!();
    sandbox.transcript("first", "shop").topics(0..9);
    let daemon = sandbox.start();
    daemon.flush();
    let all = sandbox.json(&["timeline"]);
    let all = ids(&all["turns"]);
    let some = sandbox.json(&["timeline", "--limit", "4"]);
    assert_eq!(ids(&some["turns"]), all[5..]);
    assert!(some["older"].is_string() && some["newer"].is_null());
    let around = sandbox.json(&["timeline", "--around", all[4], "--limit", "3"]);
    assert_eq!(
        (ids(&around["turns"]), around["around"].as_str()),
        (all[3..6].to_vec(), Some(all[4]))
    );
    daemon.stop(Signal::TERM);
}

#[test]
fn in_a_pipe_lines_are_whole_and_plain() {
    let sandbox = sandbox!();
    sandbox.transcript("first", "shop").topics(0..3);
    let daemon = sandbox.start();
    daemon.flush();
    for arguments in [
        &["search", "case1", "--mode", "lexical"][..],
        &["timeline"],
        &["sessions"],
        &["show", "first", "--session"],
    ] {
        let output = sandbox.command(arguments).env("COLUMNS", "30").output().unwrap();
        let shown = text(&output);
        assert!(!shown.contains('\u{1b}') && !shown.is_empty(), "{arguments:?}: {shown}");
        assert!(!shown.contains('…') || arguments[0] == "search", "{arguments:?}: {shown}");
    }
    daemon.stop(Signal::TERM);
}

#[test]
fn on_an_empty_store_each_says_that_there_is_nothing() {
    let sandbox = sandbox!();
    let daemon = sandbox.start();
    for (arguments, expected) in [
        (&["search", "anything", "--mode", "lexical"][..], "Nothing was found."),
        (&["timeline"], "There are no such turns."),
        (&["sessions"], "There are no such sessions."),
    ] {
        assert_eq!(text(&sandbox.run(arguments)).lines().next(), Some(expected), "{arguments:?}");
    }
    daemon.stop(Signal::TERM);
}

#[test]
fn what_can_t_be_meant_is_refused_with_what_can() {
    let sandbox = sandbox!();
    let daemon = sandbox.start();
    for (arguments, code, message) in [
        (&["search"][..], 2, "QUERY"),
        (&["search", " "], 2, "nothing to search for"),
        (&["search", "x", "--mode", "psychic"], 2, "lexical"),
        (&["search", "x", "--limit", "0"], 2, "--limit"),
        (&["search", "x", "--project", "nowhere"], 3, "no project is named \"nowhere\""),
        (&["timeline", "--since", "soon"], 2, "2026-03-01"),
        (&["timeline", "--since", "1d", "--until", "2d"], 2, "no time lies between"),
        (&["timeline", "--around", "ffffffff"], 3, "no episode's id begins with"),
        (&["sessions", "--agent", "ed"], 2, "claude-code"),
        (&["show", "ffffffff", "--session"], 3, "no session has the id"),
    ] {
        let output = sandbox.run(arguments);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {error}");
        assert!(error.contains(message), "{arguments:?}: {error}");
    }
    daemon.stop(Signal::TERM);
}

#[test]
fn times_are_those_of_the_zone_that_is_named() {
    if !std::path::Path::new("/usr/share/zoneinfo/America/New_York").exists() {
        skip("this system has no table of time zones");
        return;
    }
    let sandbox = sandbox!();
    sandbox.transcript("first", "shop").topics(0..3);
    let daemon = sandbox.start();
    daemon.flush();
    let listed = |zone: &str| text(&sandbox.command(&["timeline"]).env("TZ", zone).output().unwrap());
    let named = listed("America/New_York");
    assert_eq!(named, listed("EST5EDT,M3.2.0,M11.1.0"));
    assert_ne!(named, listed("UTC"));
}
