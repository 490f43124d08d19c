//! Who is let in to the page and who is not, what is bounded, and what leaves with no answer: by plain HTTP on the real binary.

use std::io::{BufRead, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use remembrancer_tests::{DaemonProcess, Key, Place, Sandbox, Served, VIEWS, encoded, eventually, sandbox, timed, topic};
use rustix::process::Signal;

use crate::PATIENCE;
use crate::page::form_key;

/// A daemon that has read two turns, and the page beside it.
fn serving(sandbox: &Sandbox) -> (DaemonProcess<'_>, Served) {
    sandbox.transcript("one", "shop").topics(0..2);
    let daemon = sandbox.start();
    daemon.flush();
    (daemon, sandbox.serve(&[]))
}

#[test]
fn nobody_is_let_in_without_the_key() {
    let sandbox = sandbox!();
    let (_daemon, served) = serving(&sandbox);
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
    let (_daemon, served) = serving(&sandbox);
    let key = served.key();
    let id = sandbox.id_of(&topic(0).0);
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
    // Who asks and who does not say so are told apart.
    for (lines, words) in [
        (vec!["sec-fetch-site: cross-site"], "Another site asked"),
        (vec!["sec-fetch-site: none"], "Nothing says that this page asks"),
        (vec![], "Nothing says that this page asks"),
    ] {
        let answer = key.ask("GET", "live", &lines, "");
        assert!(
            answer.status == 403 && answer.body.contains(words),
            "{lines:?}: {}",
            answer.body
        );
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
    let (_daemon, served) = serving(&sandbox);
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
    let id = sandbox.id_of("onerror");
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
    assert!(shown.contains("&lt;script&gt;alert('q')"), "{shown}");
    let acting = key.get(&format!("episode?id={}", sandbox.id_of("this"))).body;
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
        let answer = key.place.send(request.as_bytes()).unwrap();
        assert_eq!(answer.status, 200, "{asset}");
        // The icon says by that name what it is, and nobody goes there.
        let text = answer.body.replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
        for never in ["https:", "http:", "@import", "url("] {
            assert!(!text.contains(never), "{never} in {asset}");
        }
    }
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
    key.get(&format!("episode?id={}", sandbox.id_of("xylophone")));
    key.ask("GET", "timeline", &["sec-fetch-site: cross-site"], "");
    let token = served.opening.split_once("token=").unwrap().1;
    let log = served.log();
    assert!(!log.is_empty(), "it logs at this level");
    for never in ["xylophone", token, key.cookie.split('=').nth(1).unwrap()] {
        assert!(!log.contains(never), "{never}: {log}");
    }
}
