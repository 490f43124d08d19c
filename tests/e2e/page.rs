//! The page, by plain HTTP on the real binary: who is let in and who is not, what is bounded, what every view shows, and what a decision
//! does. What a browser makes of it is tested in `tests/page`.

use std::io::{BufRead, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use remembrancer_tests::{Key, Place, Sandbox, encoded, eventually, sandbox, timed, topic};
use rustix::process::Signal;

use crate::PATIENCE;

/// Every view that needs no id.
const VIEWS: [&str; 9] = [
    "",
    "timeline",
    "search",
    "sessions",
    "projects",
    "recollections",
    "decisions",
    "health",
    "remember",
];

/// The id of the first episode whose prompt holds `words`.
fn id_of(sandbox: &Sandbox, words: &str) -> String {
    let episode = sandbox
        .episodes()
        .into_iter()
        .find(|episode| episode.prompt.contains(words))
        .unwrap();
    episode.uid.short()
}

/// The key that the forms of a view carry.
fn form_key(key: &Key, view: &str) -> String {
    field(key, view, "key").unwrap()
}

/// A field of a form that is not seen.
fn field(key: &Key, view: &str, name: &str) -> Option<String> {
    let body = key.get(view).body;
    let (_, rest) = body.split_once(&format!("name=\"{name}\" value=\""))?;
    Some(rest.split('"').next()?.to_owned())
}

#[test]
fn nobody_is_let_in_without_the_key() {
    let sandbox = sandbox!();
    sandbox.transcript("one", "shop").topics(0..2);
    let daemon = sandbox.start();
    daemon.flush();
    let served = sandbox.serve(&[]);
    let key = served.key();
    assert_eq!(key.get("timeline").status, 200);
    let host = key.place.host();
    let without = |path: &str, cookie: &str| {
        let request = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n{cookie}\r\n");
        key.place.send(request.as_bytes()).unwrap()
    };
    let inside = format!("{}timeline", key.folder);
    let folder = format!("/{}/timeline", "0".repeat(16));
    let token = served.opening.split_once("token=").unwrap().1;
    for (path, cookie, status) in [
        ("/", String::new(), 401),
        (inside.as_str(), String::new(), 401),
        (inside.as_str(), format!("cookie: remembrancer={token}\r\n"), 401),
        (inside.as_str(), format!("cookie: remembrancer={}\r\n", "0".repeat(64)), 401),
        (folder.as_str(), format!("cookie: {}\r\n", key.cookie), 401),
        ("/timeline", format!("cookie: {}\r\n", key.cookie), 401),
        ("/?token=0000", String::new(), 401),
        ("/style.css", String::new(), 200),
        (inside.as_str(), format!("cookie: {}\r\n", key.cookie), 200),
    ] {
        let answer = without(path, &cookie);
        assert_eq!(answer.status, status, "{path} {cookie}");
        assert!(status == 200 || !answer.body.contains(&topic(0).0), "{path}");
    }
}

#[test]
fn the_token_stands_in_a_private_file_and_in_no_address_but_the_first() {
    let sandbox = sandbox!();
    sandbox.start().stop(Signal::TERM);
    let served = sandbox.serve(&[]);
    let Place::Port(port) = served.place else { panic!("a port") };
    let file = sandbox.places().state_dir().join(format!("page-{port}.token"));
    assert_eq!(fs_err::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let token = served.opening.split_once("token=").unwrap().1.to_owned();
    assert!(token.len() == 64 && fs_err::read_to_string(&file).unwrap().contains(&token));
    let key = served.key();
    assert!(!key.folder.contains(&token) && !key.cookie.contains(&token));
    for view in VIEWS {
        let body = key.get(view).body;
        assert!(
            !body.contains(&token) && !body.contains(key.cookie.split('=').nth(1).unwrap()),
            "{view}"
        );
    }

    let renewed = sandbox.run(&["serve", "--new-token"]);
    let printed = String::from_utf8(renewed.stdout).unwrap();
    assert_eq!(key.get("timeline").status, 401, "the old token has ended");
    let key = Key::of(&served.place, printed.trim());
    assert_eq!(key.get("timeline").status, 200);

    let (status, took) = served.stop(Signal::TERM);
    assert!(status.success() && took < Duration::from_secs(5), "{status} after {took:?}");
    assert!(!file.exists(), "the token ends with its page");
    assert_eq!(sandbox.run(&["serve", "--new-token"]).status.code(), Some(3));
}

#[test]
fn other_sites_are_refused_and_nothing_is_done_for_them() {
    let sandbox = sandbox!();
    sandbox.transcript("one", "shop").topics(0..2);
    let daemon = sandbox.start();
    daemon.flush();
    let served = sandbox.serve(&[]);
    let key = served.key();
    let id = id_of(&sandbox, &topic(0).0);
    let secret = form_key(&key, &format!("decide?act=forget&id={id}"));
    let form = format!("key={secret}&act=forget&id={id}");
    let kind = "content-type: application/x-www-form-urlencoded";
    let own = format!("origin: http://{}", key.place.host());
    for (lines, status) in [
        (vec![kind, "origin: http://evil.example"], 403),
        (vec![kind, "origin: null"], 403),
        (vec![kind, "origin: http://127.0.0.1:1"], 403),
        (vec![kind, "sec-fetch-site: cross-site"], 403),
        (vec![kind, "sec-fetch-site: same-site"], 403),
        (vec![kind, own.as_str(), "sec-fetch-site: cross-site"], 403),
        // Nothing says that the page itself asks.
        (vec![kind], 403),
        (vec![kind, "sec-fetch-site: none"], 403),
    ] {
        let answer = key.ask("POST", "decide", &lines, &form);
        assert_eq!(answer.status, status, "{lines:?}");
    }
    for wrong in ["", "0000", &secret[..63]] {
        let answer = key.post("decide", &[("key", wrong), ("act", "forget"), ("id", &id)]);
        assert_eq!(answer.status, 403, "{wrong}");
    }
    assert_eq!(
        key.get(&format!("decide?act=forget&id={id}&key={secret}")).status,
        200,
        "asked, and not done"
    );
    assert_eq!(sandbox.episodes().len(), 2);
    for (site, status) in [("cross-site", 403), ("same-site", 403), ("none", 200), ("same-origin", 200)] {
        let line = format!("sec-fetch-site: {site}");
        assert_eq!(key.ask("GET", "timeline", &[&line], "").status, status, "{site}");
    }
    for site in ["cross-site", "none"] {
        let line = format!("sec-fetch-site: {site}");
        assert_eq!(key.ask("GET", "live", &[&line], "").status, 403, "{site}");
    }
    for host in ["evil.example", "127.0.0.1.evil.example:80", "127.0.0.1", "localhost"] {
        let request = key.request("GET", "timeline", &[], "").replace(&key.place.host(), host);
        assert_eq!(key.place.send(request.as_bytes()).unwrap().status, 421, "{host}");
    }
    let Place::Port(port) = key.place else { panic!("a port") };
    for host in [format!("localhost:{port}"), format!("[::1]:{port}")] {
        let request = key.request("GET", "timeline", &[], "").replace(&key.place.host(), &host);
        assert_eq!(key.place.send(request.as_bytes()).unwrap().status, 200, "{host}");
    }
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
fn what_is_too_much_is_refused() {
    let sandbox = sandbox!();
    sandbox.start().stop(Signal::TERM);
    let served = sandbox.serve(&[]);
    let key = served.key();
    let long = format!("x-long: {}", "x".repeat(200_000));
    assert_eq!(key.ask("GET", "timeline", &[&long], "").status, 431);
    let many: Vec<String> = (0..200).map(|number| format!("x-{number}: 1")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(key.ask("GET", "timeline", &many, "").status, 431);
    let own = format!("origin: http://{}", key.place.host());
    let body = format!("key={}", "x".repeat(200_000));
    assert_eq!(key.ask("POST", "remember", &[&own], &body).status, 413);
    assert_eq!(key.get(&format!("timeline?project={}", "x".repeat(100_000))).status / 100, 4);
}

#[test]
fn who_is_slow_is_given_up() {
    let sandbox = sandbox!();
    sandbox.start().stop(Signal::TERM);
    let served = sandbox.serve(&[]);
    let key = served.key();
    let Place::Port(port) = key.place else { panic!("a port") };
    let connect = || {
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    };
    // A head that never ends, a body that never comes, one that says nothing.
    let mut head = connect();
    head.write_all(b"GET / HTTP/1.1\r\nhost: ").unwrap();
    let own = format!("origin: http://{}", key.place.host());
    let mut body = connect();
    let request = key.request("POST", "remember", &[&own], &"x".repeat(1_000));
    body.write_all(&request.as_bytes()[..request.len() - 500]).unwrap();
    let mut silent = connect();
    let read = |stream: &mut TcpStream| {
        let (read, took) = timed(|| {
            let mut all = Vec::new();
            stream.read_to_end(&mut all).ok();
            String::from_utf8_lossy(&all).into_owned()
        });
        assert!(took < PATIENCE, "{took:?}");
        read
    };
    let said = read(&mut head);
    assert!(said.is_empty() || said.contains(" 408 "), "{said}");
    assert!(read(&mut body).contains(" 408 "));
    read(&mut silent);
    assert_eq!(key.get("timeline").status, 200);
}

#[test]
fn connections_and_streams_are_bounded_and_come_free_again() {
    let sandbox = sandbox!();
    sandbox.transcript("one", "shop").topics(0..2);
    let daemon = sandbox.start();
    daemon.flush();
    let served = sandbox.serve(&[]);
    let key = served.key();
    let mut streams: Vec<_> = (0..8).map(|_| key.live().unwrap()).collect();
    let mut first = String::new();
    while !first.starts_with("event:") {
        first.clear();
        assert!(streams[0].read_line(&mut first).unwrap() > 0, "the stream ended");
    }
    assert_eq!(first.trim(), "event: newest");
    assert_eq!(key.live().unwrap_err(), 503);
    streams.pop();
    // The other end notices with the next sign of life at the latest.
    eventually("a place for a stream", PATIENCE, || key.live().ok());
    drop(streams);

    let Place::Port(port) = key.place else { panic!("a port") };
    let idle: Vec<TcpStream> = (0..80).map(|_| TcpStream::connect(("127.0.0.1", port)).unwrap()).collect();
    eventually("a refusal", PATIENCE, || {
        let request = key.request("GET", "timeline", &[], "");
        let answer = key.place.send(request.as_bytes()).ok()?;
        (answer.status == 503).then_some(())
    });
    drop(idle);
    eventually("a place for a connection", PATIENCE, || {
        let request = key.request("GET", "timeline", &[], "");
        let answer = key.place.send(request.as_bytes()).ok()?;
        (answer.status == 200).then_some(())
    });
}

#[test]
fn every_view_is_closed_to_script_and_asks_nothing_of_anybody() {
    let sandbox = sandbox!();
    let evil = "why <script>alert('q')</script> \"onload=x\" <img src=http://evil.example/x onerror=alert(1)>?";
    let mut transcript = sandbox.transcript("one", "<b>shop");
    transcript
        .turn(
            evil,
            "since `<script>` </code></pre><script>alert(2)</script>\n```\n</code><script>alert(3)</script>\n```",
        )
        .turn("and \u{202e}this\u{1b}[2J?", "yes");
    let daemon = sandbox.start();
    daemon.wait_for_model();
    daemon.embed_all();
    let shop = sandbox.project("<b>shop");
    daemon.recall("asks", &shop, evil);
    daemon.why("asks");
    let served = sandbox.serve(&[]);
    let key = served.key();
    let id = id_of(&sandbox, "onerror");
    let views = VIEWS.map(str::to_owned).into_iter().chain([
        format!("episode?id={id}"),
        format!("session?id={id}"),
        format!("decide?act=forget&id={id}"),
        format!("search?q={}", encoded("script alert <b>")),
        format!("found?q={}", encoded(evil)),
        "arrivals".to_owned(),
        format!("project?name={}", encoded("<b>shop")),
        "recollection?id=p1".to_owned(),
        format!("episode?id={}", encoded("<script>x</script>")),
        format!("timeline?project={}", encoded("\"><script>x</script>")),
    ]);
    for view in views {
        let answer = key.get(&view);
        let policy = answer.line("content-security-policy");
        assert!(
            policy.starts_with("default-src 'none'; style-src 'self'; script-src 'self';"),
            "{view}: {policy}"
        );
        assert!(policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe") && !policy.contains("http"));
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "same-origin"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
            ("cache-control", "no-store"),
        ] {
            assert_eq!(answer.line(name), value, "{view}");
        }
        let body = answer.body.replace("<script src=\"/script.js\" defer></script>", "");
        for never in [
            "<script",
            "<img",
            " style=",
            "<style",
            " onload=x\"",
            "<b>shop",
            "\u{202e}",
            "\u{1b}",
            "src=\"http",
            "href=\"http",
            "</code><script",
        ] {
            assert!(!body.contains(never), "{never} in {view}: {body}");
        }
    }
    let shown = key.get(&format!("episode?id={id}")).body;
    assert!(
        shown.contains("&lt;script&gt;alert(&#39;q&#39;)") || shown.contains("&lt;script&gt;alert('q')"),
        "{shown}"
    );
    let acting = key.get(&format!("episode?id={}", id_of(&sandbox, "this"))).body;
    assert!(acting.contains("\\u202e"), "what acts is spelled out: {acting}");
}

#[test]
fn style_and_script_lead_nowhere() {
    let sandbox = sandbox!();
    sandbox.start().stop(Signal::TERM);
    let served = sandbox.serve(&[]);
    let key = served.key();
    for asset in ["/style.css", "/script.js", "/icon.svg"] {
        let request = format!(
            "GET {asset} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n",
            key.place.host()
        );
        let text = key.place.send(request.as_bytes()).unwrap().body;
        assert!(
            !text.contains("https:") && !text.contains("@import") && !text.contains("url("),
            "{asset}"
        );
    }
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
            .split("question number ")
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

#[test]
fn a_memory_is_muted_and_no_more_and_forgotten_for_good() {
    let sandbox = sandbox!();
    let mut one = sandbox.transcript("one", "shop");
    one.topics(0..3);
    let daemon = sandbox.start();
    daemon.flush();
    let served = sandbox.serve(&[]);
    let key = served.key();
    let id = id_of(&sandbox, &topic(1).0);
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
    assert!(decide("unmute", &id).contains("may be recalled again"));
    assert_eq!(sandbox.json(&["mute", "--list"])["turns"].as_array().unwrap().len(), 0);
    assert!(decide("boost", &id).contains("Boosted"));
    assert!(decide("unboost", &id).contains("Unboosted"));

    let preview = key.get("decide?act=forget-session&id=one").body;
    assert!(
        preview.contains("3 episodes of 3 turns in 1 session") && preview.contains("can&#39;t be undone")
            || preview.contains("can't be undone"),
        "{preview}"
    );
    assert!(decide("forget", &id).contains("Forgotten, for good."));
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
    let done = key.post(
        "remember",
        &[("key", &secret), ("text", fact), ("project", ""), ("sure", "yes")],
    );
    assert_eq!(done.status, 303, "{}", done.body);
    assert!(key.get(done.line("location")).body.contains("a fact that you had remembered"));
    assert_eq!(sandbox.episodes().len(), 1);
    let refused = key.post(
        "remember",
        &[("key", &secret), ("text", "<private>x</private>"), ("sure", "yes")],
    );
    assert!(refused.status == 404 && refused.body.contains("private"), "{}", refused.body);
    assert_eq!(key.post("remember", &[("key", &secret), ("text", " ")]).status, 400);
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
    assert_eq!(
        key.get(&format!("search?q={}&mode=semantic", encoded(&topic(2).0))).status,
        404
    );
    let id = id_of(&sandbox, &topic(1).0);
    let secret = form_key(&key, &format!("decide?act=mute&id={id}"));
    let decide = |act: &str| {
        let seen = field(&key, &format!("decide?act={act}&id={id}"), "seen").unwrap();
        let sent = [("key", &*secret), ("act", act), ("id", &*id), ("seen", &*seen)];
        key.post("decide", &sent).status
    };
    assert_eq!((decide("mute"), decide("unmute"), decide("forget")), (303, 303, 303));
    assert_eq!(sandbox.episodes().len(), 2);
    let said = key.post("remember", &[("key", &secret), ("text", "Pins are blue."), ("sure", "yes")]);
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
    assert!(!sandbox.places().state_dir().join("page-daemon.token").exists());
}

#[test]
fn a_port_that_is_taken_keeps_no_prompt_waiting() {
    let sandbox = sandbox!();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    sandbox.configure(&format!("[page]\nserve = \"port\"\nport = {port}\n"));
    let daemon = sandbox.start();
    assert!(daemon.log().contains("the daemon goes on without it"), "{}", daemon.log());
    let refused = sandbox.run(&["serve"]);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(refused.status.code() == Some(1) && said.contains("--port"), "{said}");
}

#[test]
fn no_log_holds_text_or_a_token() {
    let sandbox = sandbox!();
    sandbox
        .transcript("one", "shop")
        .turn("where is the xylophone kept?", "in the attic");
    let daemon = sandbox.start();
    daemon.flush();
    sandbox.configure("[log]\nlevel = \"trace\"\n");
    let served = sandbox.serve(&[]);
    let key = served.key();
    assert!(key.get("search?q=xylophone&mode=lexical").body.contains("<mark>"));
    key.get(&format!("episode?id={}", id_of(&sandbox, "xylophone")));
    key.ask("GET", "timeline", &["sec-fetch-site: cross-site"], "");
    let token = served.opening.split_once("token=").unwrap().1;
    let log = served.log();
    assert!(!log.is_empty(), "it logs at this level");
    for never in ["xylophone", token, key.cookie.split('=').nth(1).unwrap()] {
        assert!(!log.contains(never), "{never}: {log}");
    }
}
