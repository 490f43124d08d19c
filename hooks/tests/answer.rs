//! The hook against daemons of every kind: prompt, silent, late, garbled, boundless, dying, slow to accept, and absent.
//!
//! Each test has folders of its own and a server of a few lines in a thread; times are read from the library's own clock.

#![expect(clippy::disallowed_methods, reason = "the tests write plain files into their own folders")]
#![expect(clippy::unwrap_used, reason = "the helpers of these tests are tests, too")]

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use remembrancer_hooks::clock::{Deadline, monotonic_ns};
use remembrancer_hooks::places::{Places, create_private_folder};
use remembrancer_hooks::protocol::{RecallReply, Reply, Request};
use remembrancer_hooks::{Agent, Client, ClientError, Environment, MAX_CONTEXT_CHARS, WaitingFor, answer, backoff};
use rstest::rstest;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Long enough for a miss to count, short enough for a test.
const BUDGET: Duration = Duration::from_millis(120);

/// How late a busy machine may notice a deadline.
const TOLERANCE: Duration = Duration::from_millis(60);

/// Without a daemon the hook is done in this time.
const ABSENT_LIMIT: Duration = Duration::from_millis(20);

struct House {
    _root: TempDir,
    environment: Environment,
}

impl House {
    fn new() -> Self {
        let root = tempfile::Builder::new().prefix("rm").tempdir().unwrap();
        let folder = |name: &str| root.path().join(name);
        let environment = Environment {
            data_home: folder("data"),
            state_home: folder("state"),
            config_home: folder("config"),
            runtime_dir: Some(folder("run")),
            explicit_socket: None,
            run_user: folder("users"),
            temporary: folder("tmp"),
            uid: rustix::process::getuid().as_raw(),
            guard: false,
        };
        Self {
            _root: root,
            environment,
        }
    }

    fn places(&self) -> Places {
        Places::new(&self.environment)
    }

    fn socket(&self) -> PathBuf {
        self.places().socket_candidates().remove(0)
    }

    fn listen(&self) -> UnixListener {
        create_private_folder(self.socket().parent().unwrap()).unwrap();
        UnixListener::bind(self.socket()).unwrap()
    }

    /// Serves one connection by `behave`, and gives back what that returned.
    fn serve<T: Send + 'static>(&self, behave: impl FnOnce(UnixStream) -> T + Send + 'static) -> JoinHandle<T> {
        let listener = self.listen();
        thread::spawn(move || behave(listener.accept().unwrap().0))
    }

    fn ask(&self, prompt: &str) -> (Option<String>, Duration) {
        let stdin = payload(prompt);
        let started_ns = monotonic_ns();
        let printed = answer(
            stdin.as_bytes(),
            &self.environment,
            Agent::CLAUDE_CODE,
            Deadline::after(started_ns, BUDGET),
        );
        (printed, Duration::from_nanos(monotonic_ns() - started_ns))
    }

    fn recollection_file(&self) -> PathBuf {
        let path = self.places().recollection_path("claude-code", "s1");
        create_private_folder(path.parent().unwrap()).unwrap();
        path
    }
}

fn payload(prompt: &str) -> String {
    json!({"session_id": "s1", "hook_event_name": "UserPromptSubmit", "prompt": prompt, "cwd": "/src"}).to_string()
}

fn read_request(stream: &UnixStream) -> Request {
    let mut line = Vec::new();
    BufReader::new(stream).read_until(b'\n', &mut line).unwrap();
    Request::parse(&line).unwrap()
}

fn reply_line(context: &str) -> Vec<u8> {
    let reply = RecallReply {
        context: context.to_owned(),
        reason: None,
        ..RecallReply::nothing("")
    };
    Reply::from(reply).to_line().unwrap()
}

/// Waits until the client has closed the connection: a server that is later than any deadline, without a clock.
fn wait_for_close(mut stream: &UnixStream) {
    stream.read_to_end(&mut Vec::new()).ok();
}

#[test]
fn an_immediate_reply_is_printed() {
    let house = House::new();
    let server = house.serve(|mut stream| {
        let request = read_request(&stream);
        stream.write_all(&reply_line("you did this before")).unwrap();
        request
    });
    let (printed, _) = house.ask("why?");
    let printed: Value = serde_json::from_str(&printed.unwrap()).unwrap();
    assert_eq!(printed["hookSpecificOutput"]["additionalContext"], "you did this before");
    let Request::Recall(request) = server.join().unwrap() else {
        panic!("no recall")
    };
    assert_eq!(
        (request.session.as_str(), request.prompt.as_str(), request.cwd.as_deref()),
        ("s1", "why?", Some("/src"))
    );
    assert!(request.deadline_ns.unwrap() > 0);
}

#[test]
fn a_reply_without_a_newline_is_not_whole() {
    let house = House::new();
    let server = house.serve(|mut stream| {
        read_request(&stream);
        stream.write_all(reply_line("x").trim_ascii_end()).unwrap();
    });
    assert_eq!(house.ask("why?").0, None);
    server.join().unwrap();
}

#[test]
fn a_reply_in_pieces_is_put_together() {
    let house = House::new();
    let server = house.serve(|mut stream| {
        read_request(&stream);
        for byte in reply_line("é, piece by piece") {
            stream.write_all(&[byte]).unwrap();
        }
    });
    assert!(house.ask("why?").0.unwrap().contains("é, piece by piece"));
    server.join().unwrap();
}

#[test]
fn tc_23_a_silent_daemon_costs_the_budget_once_and_then_nothing() {
    let house = House::new();
    let server = house.serve(|stream| wait_for_close(&stream));
    let (printed, took) = house.ask("why?");
    assert_eq!(printed, None);
    assert!(
        took + Duration::from_millis(2) >= BUDGET && took < BUDGET + TOLERANCE,
        "{took:?}"
    );
    server.join().unwrap();
    assert!(house.places().backoff_file().exists());

    let recollections = house.recollection_file();
    std::fs::write(&recollections, "of an earlier prompt").unwrap();
    let (printed, took) = house.ask("and now?");
    assert_eq!(printed, None);
    assert!(took < ABSENT_LIMIT, "{took:?}");
    assert!(!recollections.exists(), "a silent hook still takes the stale file away");

    std::fs::remove_file(house.socket()).unwrap();
    let server = house.serve(|mut stream| {
        read_request(&stream);
        stream.write_all(&reply_line("back again")).unwrap();
    });
    backoff::end(&house.places().backoff_file());
    assert!(house.ask("still there?").0.unwrap().contains("back again"));
    server.join().unwrap();
}

#[test]
fn tc_23_a_late_reply_is_not_printed() {
    let house = House::new();
    let server = house.serve(|mut stream| {
        wait_for_close(&stream);
        stream.write_all(&reply_line("too late")).unwrap_err();
    });
    let (printed, took) = house.ask("why?");
    assert_eq!(printed, None);
    assert!(took < BUDGET + TOLERANCE, "{took:?}");
    server.join().unwrap();
}

#[test]
fn half_a_reply_is_waited_for_but_does_not_silence() {
    let house = House::new();
    let server = house.serve(|mut stream| {
        stream.write_all(b"{\"v\":1,").unwrap();
        wait_for_close(&stream);
    });
    assert_eq!(house.ask("why?").0, None);
    server.join().unwrap();
    assert!(!house.places().backoff_file().exists());
}

#[rstest]
#[case::garbage(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec())]
#[case::binary(vec![0xff; 70_000])]
#[case::another_version(b"{\"v\":2,\"context\":\"x\"}\n".to_vec())]
#[case::a_refusal(b"{\"v\":1,\"ok\":false,\"error\":\"no\"}\n".to_vec())]
#[case::nothing_to_say(reply_line(""))]
#[case::tc_21_more_than_a_host_shows(reply_line(&"x".repeat(MAX_CONTEXT_CHARS + 1)))]
#[case::closing_at_once(Vec::new())]
fn a_useless_reply_prints_nothing_at_once(#[case] reply: Vec<u8>) {
    let house = House::new();
    let server = house.serve(move |mut stream| {
        read_request(&stream);
        stream.write_all(&reply).ok();
    });
    let (printed, took) = house.ask("why?");
    assert_eq!(printed, None);
    assert!(took < BUDGET, "{took:?}");
    server.join().unwrap();
    assert!(!house.places().backoff_file().exists());
}

#[test]
fn a_boundless_reply_ends_at_the_bound() {
    let house = House::new();
    let server = house.serve(|mut stream| {
        read_request(&stream);
        let piece = vec![b'x'; 64 * 1024];
        let mut written = 0_usize;
        while let Ok(count) = stream.write(&piece) {
            written += count;
        }
        written
    });
    let (printed, took) = house.ask("why?");
    assert_eq!(printed, None);
    assert!(took < BUDGET + TOLERANCE, "{took:?}");
    assert!(server.join().unwrap() < 16 * 1024 * 1024);
}

#[test]
fn a_daemon_that_is_slow_to_accept_is_still_heard() {
    let house = House::new();
    let listener = house.listen();
    let (go, gone) = mpsc::channel::<()>();
    let server = thread::spawn(move || {
        gone.recv_timeout(Duration::from_millis(30)).unwrap_err();
        let mut stream = listener.accept().unwrap().0;
        read_request(&stream);
        stream.write_all(&reply_line("slow but there")).unwrap();
    });
    assert!(house.ask("why?").0.unwrap().contains("slow but there"));
    server.join().unwrap();
    drop(go);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_queue_is_given_up_at_the_deadline() {
    let house = House::new();
    let listener = house.listen();
    rustix::net::listen(&listener, 0).unwrap();
    let _first = UnixStream::connect(house.socket()).unwrap();
    let (printed, took) = house.ask("why?");
    assert_eq!(printed, None);
    assert!(
        took + Duration::from_millis(2) >= BUDGET && took < BUDGET + TOLERANCE,
        "{took:?}"
    );
}

#[test]
fn tc_39_without_a_daemon_the_hook_is_done_at_once() {
    let house = House::new();
    let (printed, took) = house.ask("why?");
    assert_eq!(printed, None);
    assert!(took < ABSENT_LIMIT, "no socket: {took:?}");

    drop(house.listen());
    assert!(house.socket().exists());
    let (printed, took) = house.ask("why?");
    assert_eq!(printed, None);
    assert!(took < ABSENT_LIMIT, "dead socket: {took:?}");
    assert!(house.socket().exists(), "a client never removes a socket");
}

#[test]
fn tc_39_a_dead_socket_does_not_hide_a_live_one() {
    let house = House::new();
    drop(house.listen());
    let second = house.places().socket_candidates().remove(1);
    create_private_folder(second.parent().unwrap()).unwrap();
    let listener = UnixListener::bind(second).unwrap();
    let server = thread::spawn(move || {
        let mut stream = listener.accept().unwrap().0;
        read_request(&stream);
        stream.write_all(&reply_line("here")).unwrap();
    });
    assert!(house.ask("why?").0.is_some());
    server.join().unwrap();
}

#[test]
fn tc_39_a_short_socket_in_an_open_folder_is_not_used() {
    let mut house = House::new();
    house.environment.runtime_dir = Some(house.environment.data_home.join("x".repeat(120)));
    let folder = house.places().short_socket_dir();
    assert_eq!(house.socket().parent().unwrap(), folder);
    let _listener = house.listen();
    let client = Client::new(house.places());
    let timed_out = client.call(&Request::Ping, Duration::from_millis(5)).unwrap_err();
    assert!(
        matches!(
            timed_out,
            ClientError::TimedOut {
                waiting_for: WaitingFor::Reply
            }
        ),
        "{timed_out}"
    );

    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&folder, open).unwrap();
    let refused = client.call(&Request::Ping, Duration::from_millis(5)).unwrap_err();
    assert!(matches!(refused, ClientError::NoDaemon { .. }), "{refused}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_listener_of_another_user_is_sent_nothing() {
    let mut house = House::new();
    let server = house.serve(|mut stream| {
        let mut received = Vec::new();
        stream.read_to_end(&mut received).unwrap();
        received
    });
    house.environment.uid += 1;
    house.environment.explicit_socket = Some(house.socket());
    assert_eq!(house.ask("a secret").0, None);
    assert_eq!(server.join().unwrap(), b"");
}

#[test]
fn tc_19_a_guarded_hook_says_nothing_and_leaves_word() {
    let mut house = House::new();
    house.environment.guard = true;
    let recollections = house.recollection_file();
    std::fs::write(&recollections, "of the parent").unwrap();
    let server = house.serve(|stream| read_request(&stream));
    let (printed, took) = house.ask("why?");
    assert_eq!(printed, None);
    assert!(took < ABSENT_LIMIT, "{took:?}");
    let expected = Request::ExcludeSession {
        agent: "claude-code".into(),
        session: "s1".into(),
    };
    assert_eq!(server.join().unwrap(), expected);
    assert!(recollections.exists());

    assert!(!house.places().guarded_file().exists(), "the daemon was told");

    // Without one, the word waits for the next.
    let (printed, took) = house.ask("without a daemon");
    assert_eq!(printed, None);
    assert!(took < ABSENT_LIMIT, "{took:?}");
    let word = remembrancer_hooks::guarded::read(&house.places().guarded_file()).unwrap();
    let [noted] = word.sessions.as_slice() else {
        panic!("{word:?}")
    };
    assert_eq!((noted.agent.as_str(), noted.session.as_str()), ("claude-code", "s1"));
    let kept = std::fs::read_to_string(house.places().guarded_file()).unwrap();
    assert!(!kept.contains("without"), "nothing of the prompt is written: {kept}");
}

#[test]
fn tc_46_a_notice_takes_the_stale_file_away_and_asks_nobody() {
    let house = House::new();
    let recollections = house.recollection_file();
    std::fs::write(&recollections, "of the prompt before").unwrap();
    let listener = house.listen();
    listener.set_nonblocking(true).unwrap();
    let (printed, _) = house.ask("<task-notification>\n<status>completed</status>\n</task-notification>");
    assert_eq!(printed, None);
    assert!(!recollections.exists());
    assert_eq!(listener.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}

#[test]
fn tc_29_a_megabyte_prompt_is_cut_and_asked_in_time() {
    let house = House::new();
    let server = house.serve(|mut stream| {
        let request = read_request(&stream);
        stream.write_all(&reply_line("found")).unwrap();
        request
    });
    let (printed, _) = house.ask(&"é\u{1}\"".repeat(300_000));
    assert!(printed.is_some());
    let Request::Recall(request) = server.join().unwrap() else {
        panic!("no recall")
    };
    assert!(request.prompt.len() <= 128 * 1024);
}

#[test]
fn tc_29_a_broken_payload_touches_no_file() {
    let house = House::new();
    let recollections = house.recollection_file();
    std::fs::write(&recollections, "kept").unwrap();
    for stdin in ["", "nonsense", r#"{"session_id":"s1","hook_event_name":"Stop"}"#] {
        let deadline = Deadline::after(monotonic_ns(), BUDGET);
        assert_eq!(
            answer(stdin.as_bytes(), &house.environment, Agent::CLAUDE_CODE, deadline),
            None
        );
    }
    assert!(recollections.exists());
}

#[test]
fn a_call_of_the_command_line_tells_what_was_missing() {
    let house = House::new();
    let client = Client::new(house.places());
    let absent = client.call(&Request::Ping, BUDGET).unwrap_err();
    assert!(absent.to_string().starts_with("no daemon listens at /"), "{absent}");

    let server = house.serve(|mut stream| {
        assert_eq!(read_request(&stream), Request::Ping);
        stream.write_all(b"{\"v\":1,\"ok\":true}\n").unwrap();
    });
    let Reply::Answer(answer) = client.call(&Request::Ping, BUDGET).unwrap() else {
        panic!("no answer")
    };
    assert!(answer.ok && answer.data.is_null());
    server.join().unwrap();
}
