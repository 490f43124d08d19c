//! The page, by plain HTTP on the real binary: what every view shows, what a decision does, and where it is served. Who is let in and what
//! is bounded is tested in `page_guard.rs`, what a browser makes of it in `tests/page`.

use std::io::BufRead;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use remembrancer_tests::{Key, Place, VIEWS, encoded, eventually, sandbox, topic};
use rustix::process::Signal;

use crate::PATIENCE;

/// The key that the forms of a view carry.
pub(super) fn form_key(key: &Key, view: &str) -> String {
    field(key, view, "key").unwrap()
}

/// A field of a form that is not seen.
fn field(key: &Key, view: &str, name: &str) -> Option<String> {
    let body = key.get(view).body;
    let (_, rest) = body.split_once(&format!("name=\"{name}\" value=\""))?;
    Some(rest.split('"').next()?.to_owned())
}

#[test]
fn what_is_asked_in_a_wrong_way_has_its_status() {
    let sandbox = sandbox!();
    sandbox.start().stop(Signal::TERM);
    let served = sandbox.serve(&[]);
    let key = served.key();
    for (method, view, status) in [
        ("GET", "nowhere", 404),
        ("GET", "episode?id=ffffffff", 404),
        ("GET", "episode?id=zz", 404),
        ("GET", "session?id=none", 404),
        ("GET", "recollection?id=p1", 404),
        ("GET", "episode", 400),
        ("GET", "timeline?before=x", 400),
        ("GET", "timeline?since=yesterday", 400),
        ("GET", "timeline?agent=ed", 404),
        ("GET", "search?q=x&mode=fuzzy", 400),
        ("GET", "decide?act=drop&id=ffffffff", 400),
        ("GET", "decide?act=forget&id=ffffffff", 404),
        ("GET", "decide?act=forget-project&id=", 400),
        ("GET", "decide?act=forget-session&id=+", 400),
        ("GET", "late?from=1&to=2", 400),
        ("GET", "late?from=1&to=many&newest=1-1", 400),
        ("HEAD", "timeline", 200),
    ] {
        let answer = key.ask(method, view, &["sec-fetch-site: same-origin"], "");
        assert_eq!(answer.status, status, "{method} {view}: {}", answer.body);
        assert_eq!(answer.line("cache-control"), "no-store", "{view}");
    }
    assert_eq!(key.post("timeline", &[]).status, 405);
    let own = format!("origin: http://{}", key.place.host());
    assert_eq!(key.ask("DELETE", "decide", &[&own], "").status, 405);
}

#[test]
fn what_is_stored_is_shown_found_and_explained() {
    let sandbox = sandbox!();
    sandbox.transcript("older", "shop").topics(0..4);
    let mut growing = sandbox.transcript("newer", "attic").on_day(2);
    growing.topics(4..6);
    let daemon = sandbox.start();
    daemon.wait_for_model();
    daemon.embed_all();
    let shop = sandbox.project("shop");
    let prompt = topic(1).0;
    let reply = daemon.recall("asks", &shop, &prompt);
    daemon.why("asks");
    let served = sandbox.serve(&[]);
    let key = served.key();
    let body = |view: &str| {
        let answer = key.get(view);
        assert_eq!(answer.status, 200, "{view}: {}", answer.body);
        answer.body
    };
    let short: String = prompt.chars().take(20).collect();
    assert!(body("timeline").contains(&short) && body("timeline?project=shop").contains(&short));
    assert!(!body("timeline?project=attic").contains(&short));
    assert!(body(&format!("search?q={}", encoded(&prompt))).contains("<mark>"));
    assert!(!body("search?q=zzzzqqqq&mode=lexical").contains("<mark>"));
    let id = &reply.shown[0].id;
    let episode = body(&format!("episode?id={id}"));
    assert!(
        episode.contains("older.jsonl:") && episode.contains("Around it in the session"),
        "{episode}"
    );
    assert!(body(&format!("session?id={id}")).contains(&format!("id=\"turn-{id}\"")));
    assert!(body("sessions").contains("4 turns") && body("projects").contains("attic"));
    assert!(body("project?name=shop").contains("Latest turns"));
    let prompts = body("recollections");
    assert!(
        prompts.contains("shown") && prompts.contains("recollection?id=p1"),
        "{prompts}"
    );
    let explained = body("recollection?id=p1");
    assert_eq!(explained.matches("<svg class=\"chart\"").count(), 2);
    assert!(
        explained.contains(id.as_str()) && explained.contains("As a table"),
        "{explained}"
    );
    assert!(body("health").contains("data-state=\"well\"") || body("health").contains("data-state=\"behind\""));

    // What arrives while somebody looks is told, and the script gets the rows for it.
    let mut events = key.live().unwrap();
    let mut place = || {
        let mut told = String::new();
        while !told.starts_with("data:") {
            told.clear();
            assert!(events.read_line(&mut told).unwrap() > 0, "the stream ended");
        }
        told["data:".len()..].trim().to_owned()
    };
    let newest = place();
    growing.turn("what arrived meanwhile?", "this did");
    let next = place();
    assert_ne!(newest, next);
    let arrived = body(&format!("arrivals?after={newest}"));
    assert!(
        arrived.contains("what arrived meanwhile?") && !arrived.contains(&short),
        "{arrived}"
    );
}

#[test]
fn pages_go_on_where_they_ended() {
    let sandbox = sandbox!();
    let mut transcript = sandbox.transcript("long", "shop");
    for number in 0..120 {
        transcript.turn(&format!("question number {number:03} of many"), "answered");
    }
    let daemon = sandbox.start();
    daemon.flush();
    let served = sandbox.serve(&[]);
    let key = served.key();
    let mut view = "timeline".to_owned();
    let mut seen = Vec::new();
    loop {
        let body = key.get(&view).body;
        let numbers = body
            .split(">question number ")
            .skip(1)
            .map(|rest| rest[..3].parse::<usize>().unwrap());
        seen.extend(numbers);
        let Some((before, _)) = body.split_once("\" data-key=\"n\"") else {
            break;
        };
        view = before.rsplit("href=\"").next().unwrap().replace("&amp;", "&");
    }
    assert_eq!(seen, (0..120).rev().collect::<Vec<_>>());
}

/// What is so already is so as before, and what an address says is believed where it is so.
fn already_so_and_not_so(key: &Key, secret: &str, id: &str) {
    let again = key.post("decide", &[("key", secret), ("act", "mute"), ("id", id)]);
    let told = key.get(again.line("location")).body;
    assert!(told.contains("Muted, as before") && !told.contains("Muted: "), "{told}");
    for (done, words) in [("unmute", "Unmuted"), ("forget", "Forgotten"), ("remember", "Remembered")] {
        let told = key.get(&format!("episode?id={id}&done={done}")).body;
        assert!(!told.contains(words) && !told.contains("class=\"notice\""), "{done}: {told}");
    }
    assert!(!key.get("decisions?done=mute&id=ffffffff").body.contains("class=\"notice\""));
}

/// Nothing is left of the session that could be looked at or forgotten, and nothing is asked of nothing.
fn nothing_is_left(key: &Key, sent: &[(&str, &str)]) {
    let gone = key.get("session?id=one");
    assert!(
        gone.status == 404 && gone.body.contains("No turn is stored of the session one.") && !gone.body.contains("Forget the"),
        "{}",
        gone.body
    );
    let asked = key.get("decide?act=forget-session&id=one");
    assert!(
        asked.status == 404 && asked.body.contains("What to do") && !asked.body.contains("Forget for good"),
        "{}",
        asked.body
    );
    assert_eq!(key.post("decide", sent).status, 404, "as who asked before it was gone");
}

#[test]
fn a_memory_is_muted_and_no_more_and_forgotten_for_good() {
    let sandbox = sandbox!();
    let mut one = sandbox.transcript("one", "shop");
    one.topics(0..3);
    let daemon = sandbox.start();
    daemon.flush();
    let served = sandbox.serve(&[]);
    let key = served.key();
    let id = sandbox.id_of(&topic(1).0);
    let asked = key.get(&format!("decide?act=mute&id={id}")).body;
    assert!(
        asked.contains("never recalled again") && asked.contains("method=\"post\""),
        "{asked}"
    );
    assert_eq!(sandbox.json(&["mute", "--list"])["turns"].as_array().unwrap().len(), 0);
    let secret = form_key(&key, &format!("decide?act=mute&id={id}"));
    let decide = |act: &str, id: &str| {
        let seen = field(&key, &format!("decide?act={act}&id={id}"), "seen").unwrap();
        let done = key.post("decide", &[("key", &secret), ("act", act), ("id", id), ("seen", &seen)]);
        assert_eq!(done.status, 303, "{act}: {}", done.body);
        key.get(done.line("location")).body
    };
    let after = decide("mute", &id);
    assert!(
        after.contains("Muted: it is never recalled again.") && after.contains("value=\"unmute\""),
        "{after}"
    );
    assert_eq!(sandbox.json(&["mute", "--list"])["turns"][0]["id"], id.as_str());
    assert!(key.get("decisions").body.contains(&id));
    already_so_and_not_so(&key, &secret, &id);
    assert!(decide("unmute", &id).contains("may be recalled again"));
    assert_eq!(sandbox.json(&["mute", "--list"])["turns"].as_array().unwrap().len(), 0);
    assert!(decide("boost", &id).contains("Boosted"));
    assert!(decide("unboost", &id).contains("Unboosted"));

    let preview = key.get("decide?act=forget-session&id=one").body;
    assert!(
        preview.contains("3 episodes of 3 turns in 1 session") && preview.contains("can't be undone"),
        "{preview}"
    );
    let forgotten = decide("forget", &id);
    assert!(forgotten.contains("Forgotten: 1 episode, for good."), "{forgotten}");
    assert!(
        !forgotten.contains("read before"),
        "what is not read yet is of no single one: {forgotten}"
    );
    assert_eq!(sandbox.episodes().len(), 2);
    assert_eq!(key.get(&format!("episode?id={id}")).status, 404);
    // What came while somebody read what would go was not agreed to.
    let seen = field(&key, "decide?act=forget-session&id=one", "seen").unwrap();
    one.topics(7..8);
    eventually("what was added to be stored", PATIENCE, || {
        daemon.flush();
        (sandbox.episodes().len() == 3).then_some(())
    });
    let sent = [("key", &*secret), ("act", "forget-session"), ("id", "one"), ("seen", &*seen)];
    let again = key.post("decide", &sent);
    assert!(
        again.status == 200 && again.body.contains("has changed since"),
        "{}",
        again.body
    );
    assert_eq!(sandbox.episodes().len(), 3);
    decide("forget-session", "one");
    assert_eq!(sandbox.episodes().len(), 0);
    nothing_is_left(&key, &sent);
    daemon.flush();
    assert!(key.get("timeline").body.contains("Nothing is remembered yet."));
}

#[test]
fn a_fact_is_remembered_once_it_is_confirmed() {
    let sandbox = sandbox!();
    let _daemon = sandbox.start();
    let served = sandbox.serve(&[]);
    let key = served.key();
    let secret = form_key(&key, "remember");
    let fact = "Amounts are whole <b>cents</b>, never floats.";
    let asked = key.post("remember", &[("key", &secret), ("text", fact), ("project", "")]);
    assert_eq!(asked.status, 200);
    assert!(
        asked.body.contains("Remember this?") && asked.body.contains("whole &lt;b&gt;cents"),
        "{}",
        asked.body
    );
    assert_eq!(sandbox.episodes().len(), 0);
    let agreed = serde_json::json!({"text": fact, "project": null}).to_string();
    let done = key.post("remember", &[("key", &secret), ("fact", &agreed)]);
    assert_eq!(done.status, 303, "{}", done.body);
    let shown = key.get(done.line("location")).body;
    assert!(
        shown.contains("a fact that you had remembered") && shown.contains("Remembered, as it stands here."),
        "{shown}"
    );
    assert!(!shown.contains("answer is stored"), "nothing answers a fact: {shown}");
    let again = key.post("remember", &[("key", &secret), ("fact", &agreed)]);
    let shown = key.get(again.line("location")).body;
    assert!(shown.contains("That was remembered before"), "{shown}");
    assert_eq!(sandbox.episodes().len(), 1);
    let refused = key.post(
        "remember",
        &[
            ("key", &secret),
            ("fact", "{\"text\":\"<private>x</private>\",\"project\":null}"),
        ],
    );
    assert!(refused.status == 400 && refused.body.contains("private"), "{}", refused.body);
    assert_eq!(key.post("remember", &[("key", &secret), ("text", " ")]).status, 400);
}

#[test]
fn nobody_is_asked_whether_to_remember_what_would_be_refused() {
    let sandbox = sandbox!();
    sandbox.transcript("one", "shop").topics(0..1);
    let daemon = sandbox.start();
    daemon.flush();
    let served = sandbox.serve(&[]);
    let key = served.key();
    let secret = form_key(&key, "remember");
    let (shop, gone) = (sandbox.project("shop"), format!("{}/gone", sandbox.home().display()));
    let ask = |text: &str, project: &str| key.post("remember", &[("key", &secret), ("text", text), ("project", project)]);
    let long = "é".repeat(2_001);
    let refuses = || {
        for (text, project, status, words) in [
            ("Cents.", "till", 400, "No project with a folder is called"),
            ("Cents.", "./shop", 400, "whole folder"),
            ("Cents.", gone.as_str(), 400, "there is no folder"),
            (long.as_str(), "", 413, "at most 2000 characters"),
            ("It is <private>4711</private>.", "", 400, "private"),
        ] {
            let answer = ask(text, project);
            assert_eq!(answer.status, status, "{project}: {}", answer.body);
            assert!(
                answer.body.contains(words) && answer.body.contains("What to do") && !answer.body.contains("Remember this?"),
                "{words}: {}",
                answer.body
            );
        }
        for project in ["shop", shop.as_str(), ""] {
            let answer = ask("Amounts are cents.", project);
            assert_eq!(answer.status, 200, "{project}: {}", answer.body);
            let about = if project.is_empty() {
                "in all projects"
            } else {
                "about the project shop ("
            };
            assert!(
                answer.body.contains(about) && answer.body.contains("Remember it"),
                "{}",
                answer.body
            );
        }
    };
    refuses();
    assert_eq!(sandbox.episodes().len(), 1, "nothing is stored by asking");
    assert!(sandbox.run(&["pause"]).status.success());
    let paused = ask("Amounts are cents.", "");
    assert!(
        paused.status == 400 && paused.body.contains("it is paused"),
        "{}",
        paused.body
    );
    assert!(sandbox.run(&["resume"]).status.success());
    // The same without a daemon.
    daemon.stop(Signal::TERM);
    refuses();
}

#[test]
fn it_works_without_a_daemon_and_when_one_comes_and_goes() {
    let sandbox = sandbox!();
    // No memory at all: each view says what to do.
    let served = sandbox.serve(&[]);
    let key = served.key();
    let empty = key.get("timeline");
    assert!(
        empty.status == 503 && empty.body.contains("remembrancer run"),
        "{}",
        empty.body
    );
    sandbox.transcript("one", "shop").topics(0..3);
    let daemon = sandbox.start();
    daemon.flush();
    let note = "No daemon runs: you see the memory as it stands.";
    let with = key.get("timeline");
    assert!(with.status == 200 && !with.body.contains(note));
    // It dies in between.
    daemon.signal(Signal::KILL);
    drop(daemon);
    let without = key.get("timeline").body;
    assert!(
        without.contains(note) && without.contains(&topic(0).0.chars().take(20).collect::<String>()),
        "{without}"
    );
    for view in VIEWS {
        assert_eq!(key.get(view).status, 200, "{view}");
    }
    assert!(key.get("health").body.contains("data-state=\"off\""));
    let found = key.get(&format!("search?q={}", encoded(&topic(2).0))).body;
    assert!(found.contains("<mark>") && found.contains("words alone"), "{found}");
    let by_meaning = key.get(&format!("search?q={}&mode=semantic", encoded(&topic(2).0)));
    assert!(
        by_meaning.status == 503 && by_meaning.body.contains("choose “Words”") && !by_meaning.body.contains("lexical"),
        "{}",
        by_meaning.body
    );
    let id = sandbox.id_of(&topic(1).0);
    let secret = form_key(&key, &format!("decide?act=mute&id={id}"));
    let decide = |act: &str| {
        let seen = field(&key, &format!("decide?act={act}&id={id}"), "seen").unwrap();
        let sent = [("key", &*secret), ("act", act), ("id", &*id), ("seen", &*seen)];
        key.post("decide", &sent).status
    };
    assert_eq!((decide("mute"), decide("unmute"), decide("forget")), (303, 303, 303));
    assert_eq!(sandbox.episodes().len(), 2);
    // Without a daemon nobody has looked for what was written since: what is named by a session may still come.
    let seen = field(&key, "decide?act=forget-session&id=one", "seen").unwrap();
    let sent = [("key", &*secret), ("act", "forget-session"), ("id", "one"), ("seen", &*seen)];
    let told = key.get(key.post("decide", &sent).line("location")).body;
    assert!(
        told.contains("Forgotten: 2 episodes, for good.") && told.contains("was read before"),
        "{told}"
    );
    let fact = "{\"text\":\"Pins are blue.\",\"project\":null}";
    let said = key.post("remember", &[("key", &secret), ("fact", fact)]);
    assert_eq!(said.status, 303, "{}", said.body);
    // And comes back.
    let daemon = sandbox.start();
    daemon.flush();
    assert!(!key.get("timeline").body.contains(note));
}

#[test]
fn an_empty_memory_has_words_in_every_view() {
    let sandbox = sandbox!();
    let _daemon = sandbox.start();
    let served = sandbox.serve(&[]);
    let key = served.key();
    for (view, words) in [
        ("timeline", "Nothing is remembered yet."),
        ("search", "Ask in your own words."),
        ("search?q=anything", "Nothing was found."),
        ("sessions", "Nothing is remembered yet."),
        ("projects", "Nothing is remembered yet."),
        ("recollections", "No prompt has been answered yet."),
        ("decisions", "Nothing is muted or boosted."),
        ("health", "Episodes"),
        ("timeline?since=2026-01-01", "There are no such turns."),
    ] {
        let answer = key.get(view);
        assert!(answer.status == 200 && answer.body.contains(words), "{view}: {}", answer.body);
    }
}

#[test]
fn it_is_served_at_a_socket_of_its_user() {
    let sandbox = sandbox!();
    let daemon = sandbox.start();
    let served = sandbox.serve(&["--socket"]);
    let Place::Socket(path) = served.place.clone() else {
        panic!("a socket: {}", served.opening)
    };
    assert_eq!(fs_err::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(path.parent(), sandbox.places().socket_candidates()[0].parent());
    let key = served.key();
    assert_eq!(key.get("timeline").status, 200);
    // The socket keeps other users out, and the key what a forwarded port lets in.
    let request = format!(
        "GET {}timeline HTTP/1.1\r\nhost: localhost:8080\r\nconnection: close\r\n\r\n",
        key.folder
    );
    assert_eq!(served.place.send(request.as_bytes()).unwrap().status, 401);
    assert_eq!(
        sandbox.run(&["serve", "--socket"]).status.code(),
        Some(1),
        "one is served there"
    );
    assert!(served.stop(Signal::INT).0.success());
    assert!(!path.exists());
    daemon.ask(&remembrancer_hooks::protocol::Request::Ping);
}

#[test]
fn the_daemon_serves_it_where_the_settings_say_so() {
    let sandbox = sandbox!();
    sandbox.configure("[page]\nserve = \"port\"\n");
    sandbox.transcript("one", "shop").topics(0..2);
    let daemon = sandbox.start();
    daemon.flush();
    let token_file = sandbox.places().state_dir().join("page-daemon.token");
    eventually("the page to be served", PATIENCE, || token_file.exists().then_some(()));
    let printed = sandbox.run(&["serve"]);
    let printed = String::from_utf8(printed.stdout).unwrap();
    let opening = printed.lines().next().unwrap();
    let port = opening
        .strip_prefix("http://127.0.0.1:")
        .unwrap()
        .split('/')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    let key = Key::of(&Place::Port(port), opening);
    assert!(key.get("timeline").body.contains("data-newest"));
    assert_eq!(key.get("health").status, 200);
    let token = opening.split_once("token=").unwrap().1;
    assert!(
        !daemon.log().contains(token) && daemon.log().contains("the page is served"),
        "{}",
        daemon.log()
    );
    let _held = key.live().unwrap();
    let (status, took) = daemon.stop(Signal::TERM);
    assert!(status.success() && took < Duration::from_secs(5), "{status} after {took:?}");
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
    assert!(!token_file.exists());
}

#[test]
fn a_port_that_is_taken_keeps_no_prompt_waiting() {
    let sandbox = sandbox!();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    sandbox.configure(&format!("[page]\nserve = \"port\"\nport = {port}\n"));
    let daemon = sandbox.start();
    eventually("the page to be given up", PATIENCE, || {
        daemon.log().contains("the daemon goes on without it").then_some(())
    });
    daemon.recall("asks", &sandbox.project("shop"), &topic(0).0);
    // Whoever looks is told that what the settings want is not so, and why.
    let is_told = || {
        let why = daemon.status()["health"]["why"].clone();
        why.as_array().unwrap().iter().any(|why| why["part"] == "page")
    };
    assert!(is_told(), "{}", daemon.status());
    for command in ["status", "doctor"] {
        let said = String::from_utf8(sandbox.run(&[command]).stdout).unwrap();
        let expected = format!("cannot listen at 127.0.0.1:{port}");
        assert!(
            said.contains("the page that `page.serve` wants can't be served") && said.contains(&expected),
            "{said}"
        );
    }
    let refused = sandbox.run(&["serve"]);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(
        refused.status.code() == Some(1) && said.contains("`page.port` of the settings names it") && said.contains("--port N"),
        "{said}"
    );
    // The flag goes before the setting, with a port of its own and with any that is free.
    let free = sandbox.serve(&["--port", "0"]);
    assert_ne!(free.place, Place::Port(port));
    let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let other_port = other.local_addr().unwrap().port().to_string();
    let refused = sandbox.run(&["serve", "--port", &other_port]);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(
        refused.status.code() == Some(1) && said.contains("`--port` names it") && said.contains(&other_port),
        "{said}"
    );
    drop(other);
    let served = sandbox.serve(&["--port", &other_port]);
    assert_eq!(served.place, Place::Port(other_port.parse().unwrap()));
    // The daemon tries again by itself.
    drop(taken);
    let token_file = sandbox.places().state_dir().join("page-daemon.token");
    eventually("the page to be served after all", PATIENCE, || {
        (token_file.exists() && !is_told()).then_some(())
    });
    let printed = String::from_utf8(sandbox.run(&["serve"]).stdout).unwrap();
    assert!(printed.starts_with(&format!("http://127.0.0.1:{port}/?token=")), "{printed}");
}
