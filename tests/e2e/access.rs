//! Who may ask, read and write: other users, clients that misbehave, ids that are paths, files that are open or lead elsewhere.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, lchown};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use fs_err::os::unix::fs::symlink;
use remembrancer_hooks::Client;
use remembrancer_hooks::protocol::Request;
use remembrancer_tests::{DaemonProcess, Sandbox, eventually, sandbox, skip, topic};
use rustix::process::Signal;
use serde_json::json;

use crate::{LENIENCY, PATIENCE};

/// A user who owns nothing here: `nobody` of most systems.
const STRANGER: u32 = 65_534;

fn is_root() -> bool {
    rustix::process::getuid().is_root()
}

fn mode(path: &Path) -> u32 {
    fs_err::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    fs_err::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

fn connect(sandbox: &Sandbox) -> UnixStream {
    let stream = UnixStream::connect(&sandbox.places().socket_candidates()[0]).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// Sends bytes and says that they are all; returns the reply.
fn converse(sandbox: &Sandbox, sent: &[u8]) -> String {
    let mut stream = connect(sandbox);
    let mut reply = String::new();
    // The daemon may have had enough before it was all.
    stream.write_all(sent).ok();
    stream.shutdown(std::net::Shutdown::Write).ok();
    stream.read_to_string(&mut reply).ok();
    reply
}

fn refused(daemon: &DaemonProcess<'_>, name: &str) -> u64 {
    daemon.status()["requests_refused"][name].as_u64().unwrap_or_default()
}

#[test]
fn tc_39_another_user_is_refused_at_the_socket() {
    if !is_root() {
        return skip("only the superuser can ask as another user");
    }
    let sandbox = sandbox!();
    let daemon = sandbox.start();
    // The folders keep everybody else away; without them the socket itself has to.
    let socket = sandbox.places().socket_candidates().remove(0);
    for folder in socket.ancestors().skip(1).take_while(|folder| *folder != Path::new("/tmp")) {
        set_mode(folder, 0o755);
    }
    set_mode(&socket, 0o666);
    let script = r#"
        use IO::Socket::UNIX;
        $SIG{PIPE} = "IGNORE";
        my $s = IO::Socket::UNIX->new(Type => SOCK_STREAM, Peer => $ARGV[0]) or die "unreached: $!";
        print $s "{\"v\":1,\"op\":\"ping\"}\n";
        my $reply = <$s>;
        print defined $reply ? "answered $reply" : "closed";
    "#;
    let ask_as = |user: u32| {
        let mut command = Command::new("setpriv");
        let user = user.to_string();
        command.args(["--reuid", &user, "--regid", &user, "--clear-groups", "perl", "-e", script]);
        command.arg(&socket).stdin(Stdio::null()).output()
    };
    let Ok(own) = ask_as(0) else {
        return skip("there is no setpriv");
    };
    let own = String::from_utf8_lossy(&own.stdout).into_owned();
    if own.is_empty() {
        return skip("there is no perl with sockets");
    }
    assert!(own.starts_with("answered {\"v\":1,\"ok\":true"), "{own}");
    let theirs = ask_as(STRANGER).unwrap();
    let said = String::from_utf8_lossy(&theirs.stdout).into_owned();
    assert_eq!(said, "closed", "{}", String::from_utf8_lossy(&theirs.stderr));
    assert_eq!(refused(&daemon, "another-user"), 1);
}

#[test]
fn tc_29_no_line_hurts_the_daemon_and_each_is_counted() {
    let sandbox = sandbox!();
    let daemon = sandbox.start();
    let deep = format!(
        "{{\"v\":1,\"op\":\"ping\",\"x\":{}{}}}\n",
        "[".repeat(9_000),
        "]".repeat(9_000)
    );
    let recall = |member: &str, value: &str| {
        let mut line = json!({"v": 1, "op": "recall", "agent": "a", "session": "s", "prompt": "x"});
        line[member] = value.into();
        format!("{line}\n").into_bytes()
    };
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("malformed", b"hello\n".to_vec()),
        ("malformed", b"\n".to_vec()),
        ("malformed", b"{\"v\":1,\"op\":\"pi".to_vec()),
        ("invalid-member", b"{\"v\":1,\"op\":\"ping\",\"x\":\"\xff\xfe\"}\n".to_vec()),
        ("malformed", b"{\"v\":1,\"op\":\"ping\",\"x\":\"\xe2\x82".to_vec()),
        ("malformed", b"{\"v\":1e999,\"op\":\"ping\"}\n".to_vec()),
        ("malformed", b"{\"v\":-1,\"op\":\"ping\"}\n".to_vec()),
        ("invalid-member", deep.into_bytes()),
        ("other-version", b"{\"v\":18446744073709551615,\"op\":\"ping\"}\n".to_vec()),
        ("unknown-operation", b"{\"v\":1,\"op\":\"\\u0000\\u001b[2J\"}\n".to_vec()),
        ("invalid-member", b"{\"v\":1,\"op\":\"pause\",\"until_ms\":1e300}\n".to_vec()),
        ("invalid-member", b"{\"v\":1,\"op\":\"show\",\"id\":{\"a\":1}}\n".to_vec()),
        ("line-too-long", vec![b'x'; 3 << 20]),
        ("member-too-long", recall("session", &"s".repeat(257))),
        ("member-too-long", recall("agent", &"a".repeat(65))),
        ("member-too-long", recall("cwd", &"/d".repeat(3_000))),
        ("member-too-long", recall("prompt_id", &"p".repeat(300))),
    ];
    for (name, line) in &cases {
        let before = refused(&daemon, name);
        let reply = converse(&sandbox, line);
        let shown = String::from_utf8_lossy(&line[..line.len().min(80)]).into_owned();
        // One that sends more than it may be answered may never read it.
        assert!(reply.contains("\"ok\":false") || *name == "line-too-long", "{shown}: {reply}");
        assert_eq!(refused(&daemon, name), before + 1, "{shown}");
    }
    let unknown = converse(&sandbox, b"{\"v\":1,\"op\":\"ping\",\"later\":[{\"a\":null}]}\n");
    assert!(
        unknown.contains("\"ok\":true"),
        "a member that is not known is passed over: {unknown}"
    );
    for absurd in [
        &b"{\"v\":1,\"op\":\"recall\",\"agent\":\"a\",\"session\":\"s\",\"prompt\":\"x\",\"deadline_ns\":0}\n"[..],
        b"{\"v\":1,\"op\":\"recall\",\"agent\":\"a\",\"session\":\"t\",\"prompt\":\"x\",\"deadline_ns\":18446744073709551615}\n",
    ] {
        assert!(converse(&sandbox, absurd).contains("\"context\""));
    }
    let human = String::from_utf8(sandbox.run(&["status"]).stdout).unwrap();
    assert!(human.contains("refused:    ") && human.contains("malformed 6"), "{human}");
}

#[test]
fn tc_29_a_session_id_of_unseemly_length_is_counted() {
    let sandbox = sandbox!();
    let daemon = sandbox.start();
    let shop = sandbox.project("shop");
    assert_eq!(sandbox.hook(&"s".repeat(300), &shop, "why is it cold?").stdout, "");
    eventually("the count", PATIENCE, || {
        (refused(&daemon, "member-too-long") == 1).then_some(())
    });
}

#[test]
fn who_says_nothing_keeps_nobody_out() {
    let sandbox = sandbox!(alone);
    sandbox.transcript("older", "shop").topics(0..3);
    let daemon = sandbox.start();
    daemon.wait_for_model();
    daemon.embed_all();
    let mut limits = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    limits.current = limits.maximum;
    rustix::process::setrlimit(rustix::process::Resource::Nofile, limits).unwrap();
    let idle: Vec<UnixStream> = (0..1_000).map(|_| connect(&sandbox)).collect();
    let mut slow: Vec<UnixStream> = (0..20).map(|_| connect(&sandbox)).collect();
    for stream in &mut slow {
        stream.write_all(b"{\"v\":1,").unwrap();
    }
    let shop = sandbox.project("shop");
    let mut attempt = 0;
    let took = eventually("a prompt to be answered among them", PATIENCE, || {
        attempt += 1;
        let output = sandbox.hook(&format!("asks-{attempt}"), &shop, &topic(1).0);
        (!output.stdout.is_empty()).then_some(output.took)
    });
    eprintln!("answered in {took:?} beside 1,020 idle connections, at try {attempt}");
    assert!(took <= sandbox.budget() * LENIENCY, "{took:?}");
    eventually("the idle ones to be counted", PATIENCE, || {
        (refused(&daemon, "idle") >= 1_000 && refused(&daemon, "slow") >= 20).then_some(())
    });
    for mut stream in idle.into_iter().chain(slow) {
        assert_eq!(
            stream.read(&mut [0; 8]).unwrap_or_default(),
            0,
            "each is closed, without a word"
        );
    }
}

#[test]
fn a_flood_of_hooks_is_served_or_shed() {
    let sandbox = sandbox!(alone);
    sandbox.transcript("older", "shop").topics(0..3);
    let daemon = sandbox.start();
    daemon.wait_for_model();
    daemon.embed_all();
    let shop = sandbox.project("shop");
    let outputs = std::thread::scope(|scope| {
        let fire = |number: u32| {
            let (sandbox, shop) = (&sandbox, &shop);
            scope.spawn(move || sandbox.hook(&format!("flood-{number}"), shop, &topic(1).0))
        };
        let firing: Vec<_> = (0..200).map(fire).collect();
        firing.into_iter().map(|hook| hook.join().unwrap()).collect::<Vec<_>>()
    });
    // That each exits with 0 and without a word to stderr is checked where it is fired.
    let answered = outputs.iter().filter(|output| !output.stdout.is_empty()).count();
    let status = daemon.status();
    eprintln!(
        "of 200 hooks at once {answered} were answered; {} {}",
        status["recalls"], status["requests_refused"]
    );
    let anonymous = status["daemon"]["memory"]["anonymous_bytes"].as_u64().unwrap_or_default();
    assert!(anonymous < 600_000_000, "{anonymous}");
    let reply = daemon.recall("afterwards", &shop, &topic(1).0);
    assert!(reply.context.contains("case1"), "{reply:?}");
}

#[test]
fn large_lines_take_bounded_memory() {
    let sandbox = sandbox!(alone);
    let daemon = sandbox.start();
    let resident = || {
        daemon.status()["daemon"]["memory"]["anonymous_bytes"]
            .as_u64()
            .unwrap_or_default()
    };
    let before = resident();
    let line = vec![b'x'; 1 << 20];
    std::thread::scope(|scope| {
        for _ in 0..120 {
            scope.spawn(|| {
                let mut stream = connect(&sandbox);
                stream.set_write_timeout(Some(Duration::from_secs(4))).unwrap();
                stream.write_all(&line).ok();
                stream.read_exact(&mut [0; 1]).ok();
            });
        }
    });
    let grown = resident().saturating_sub(before);
    eprintln!("120 lines of a MiB at once: {} KiB more", grown >> 10);
    assert!(grown < 64 << 20, "{grown}");
}

/// All paths below a folder but the daemon's own log.
fn paths_below(folder: &Path) -> BTreeSet<PathBuf> {
    walkdir::WalkDir::new(folder)
        .into_iter()
        .flatten()
        .map(walkdir::DirEntry::into_path)
        .collect()
}

#[test]
fn tc_29_no_id_is_a_path() {
    let sandbox = sandbox!();
    sandbox.transcript("older", "shop").topics(0..3);
    let daemon = sandbox.start();
    daemon.wait_for_model();
    daemon.embed_all();
    let shop = sandbox.project("shop");
    let victim = sandbox.home().join("x.md");
    fs_err::write(&victim, "a year's work").unwrap();
    let folder = sandbox.places().recollections_dir();
    let before = paths_below(&sandbox.home());
    let ids = [
        "../../x",
        "..",
        ".",
        "/etc/passwd",
        "a\u{0}b",
        "x.md\n",
        "../".repeat(80).as_str(),
        "．．／x",
        "a/../../../../x",
        "~",
        "$HOME",
        "CON",
        "%2e%2e%2f",
        "\u{202e}dm.x",
        "-rf",
        victim.to_str().unwrap(),
    ]
    .map(str::to_owned);
    for id in &ids {
        sandbox.hook(id, &shop, &topic(1).0);
        for agent in ["codex", "gemini-cli", "qwen-code"] {
            let event = if agent == "gemini-cli" {
                "BeforeAgent"
            } else {
                "UserPromptSubmit"
            };
            let payload =
                json!({"session_id": id, "cwd": id, "hook_event_name": event, "prompt": topic(2).0, "transcript_path": id});
            sandbox.hook_of(agent, payload.to_string().as_bytes(), &[]);
        }
        for agent in [id.as_str(), "a"] {
            let line = json!({"v": 1, "op": "recall", "agent": agent, "session": id, "prompt": topic(1).0, "cwd": id});
            converse(&sandbox, format!("{line}\n").as_bytes());
        }
        for line in [
            json!({"v": 1, "op": "changed", "agent": "codex", "transcript": id}),
            json!({"v": 1, "op": "show", "id": id}),
            json!({"v": 1, "op": "why", "session": id}),
        ] {
            converse(&sandbox, format!("{line}\n").as_bytes());
        }
    }
    daemon.flush();
    let made: Vec<PathBuf> = paths_below(&sandbox.home()).difference(&before).cloned().collect();
    let outside: Vec<&PathBuf> = made.iter().filter(|path| path.parent() != Some(folder.as_path())).collect();
    let places = sandbox.places();
    // A busy machine may have kept a hook waiting, which it notes.
    let of_the_database =
        |path: &&&PathBuf| path.parent() == Some(places.data_dir().as_path()) || **path == &places.backoff_file();
    assert_eq!(
        outside.iter().filter(|path| !of_the_database(path)).collect::<Vec<_>>(),
        Vec::<&&PathBuf>::new()
    );
    assert!(
        made.iter().any(|path| path.parent() == Some(folder.as_path())),
        "some were answered"
    );
    assert_eq!(fs_err::read_to_string(&victim).unwrap(), "a year's work");
}

/// Starts the daemon under a mask of the user's, and waits for it.
fn start_under(sandbox: &Sandbox, umask: &str) -> std::process::Child {
    let mut command = sandbox.command_of(Path::new("/bin/sh"));
    let program = env!("CARGO_BIN_EXE_remembrancer-under-test");
    let child = command.args(["-c", &format!("umask {umask}; exec {program} run")]);
    let child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    eventually("the daemon", PATIENCE, || {
        Client::new(sandbox.places())
            .call(&Request::Ping, Duration::from_secs(5))
            .ok()
    });
    child
}

#[test]
fn tc_40_all_that_is_ours_is_private_under_any_mask_and_at_every_start() {
    let sandbox = sandbox!();
    sandbox.transcript("older", "shop").topics(0..3);
    let places = sandbox.places();
    let roots = [places.data_dir(), places.state_dir(), sandbox.home().join("run/remembrancer")];
    for umask in ["000", "0777"] {
        let mut daemon = start_under(&sandbox, umask);
        Client::new(places.clone()).call(&Request::Flush, PATIENCE).unwrap();
        sandbox.hook("asks", &sandbox.project("shop"), &topic(1).0);
        let mut seen = 0;
        for path in roots.iter().flat_map(|root| paths_below(root)) {
            let expected = if path.is_dir() { 0o700 } else { 0o600 };
            assert_eq!(mode(&path), expected, "umask {umask}: {}", path.display());
            seen += 1;
        }
        assert!(seen >= 8, "{seen}");
        daemon.kill().unwrap();
        daemon.wait().unwrap();
        // What an older version, a copy or a mistake left open is closed again at the next start.
        for path in roots
            .iter()
            .flat_map(|root| paths_below(root))
            .filter(|path| !path.is_symlink())
        {
            set_mode(&path, if path.is_dir() { 0o777 } else { 0o666 });
        }
        fs_err::write(places.data_dir().join("memory.db.v3.bak"), "an older copy").unwrap();
        let logs = places.state_dir().join("logs");
        fs_err::create_dir_all(&logs).unwrap();
        fs_err::write(logs.join("daemon.log"), "").unwrap();
    }
}

#[test]
fn tc_29_what_is_another_user_s_is_refused_in_words() {
    if !is_root() {
        return skip("only the superuser can make files of another user");
    }
    let sandbox = sandbox!();
    drop(sandbox.start());
    let places = sandbox.places();
    let victim = sandbox.home().join("victim");
    fs_err::create_dir(&victim).unwrap();
    set_mode(&victim, 0o755);
    let refusal = |what: &Path| {
        let output = sandbox.run(&["run"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{said}");
        assert!(
            said.contains(&what.display().to_string()) && said.contains("another user"),
            "{said}"
        );
    };
    // A file in each of our folders.
    for file in [places.database_file(), places.state_dir().join("recollections")] {
        let owner = fs_err::metadata(&file).unwrap().uid();
        lchown(&file, Some(STRANGER), None).unwrap();
        refusal(&file);
        lchown(&file, Some(owner), None).unwrap();
    }
    // A link in the place of each folder, and of the database.
    for ours in [places.data_dir(), places.state_dir(), places.database_file()] {
        let aside = ours.with_extension("aside");
        fs_err::rename(&ours, &aside).unwrap();
        symlink(&victim, &ours).unwrap();
        lchown(&ours, Some(STRANGER), None).unwrap();
        refusal(&ours);
        fs_err::remove_file(&ours).unwrap();
        fs_err::rename(&aside, &ours).unwrap();
    }
    assert_eq!(fs_err::read_dir(&victim).unwrap().count(), 0, "nothing was written there");
    assert_eq!(mode(&victim), 0o755);
    drop(sandbox.start());
}

#[test]
fn tc_29_links_in_the_place_of_our_files_are_not_written_through() {
    let sandbox = sandbox!();
    sandbox.transcript("older", "shop").topics(0..3);
    let places = sandbox.places();
    drop(sandbox.start());
    let victim = sandbox.home().join("victim");
    fs_err::write(&victim, "a year's work").unwrap();
    let shop = sandbox.project("shop");
    let recollection = places.recollection_path("claude-code", "asks");
    for ours in [&places.backoff_file(), &recollection] {
        symlink(&victim, ours).unwrap();
    }
    let daemon = sandbox.start();
    daemon.flush();
    let reply = daemon.recall("asks", &shop, &topic(1).0);
    eventually("the file", PATIENCE, || {
        sandbox.recollection_file("asks").filter(|file| *file == reply.context)
    });
    assert!(!recollection.is_symlink());
    assert_eq!(fs_err::read_to_string(&victim).unwrap(), "a year's work");
    drop(daemon);
    // The socket's place: what is no socket stays, and the daemon listens elsewhere.
    if sandbox.has_real_runtime_folder() {
        skip("in part: the daemon would listen in the user's own runtime folder");
    } else {
        let socket = places.socket_candidates().remove(0);
        fs_err::remove_file(&socket).ok();
        symlink(&victim, &socket).unwrap();
        let daemon = sandbox.start();
        assert_ne!(daemon.status()["daemon"]["socket"], socket.display().to_string());
        assert_eq!(fs_err::read_to_string(&victim).unwrap(), "a year's work");
    }
    // The lock.
    let lock = places.data_dir().join("daemon.lock");
    fs_err::remove_file(&lock).unwrap();
    symlink(&victim, &lock).unwrap();
    let said = String::from_utf8_lossy(&sandbox.run(&["run"]).stderr).into_owned();
    assert!(said.contains("daemon.lock"), "{said}");
    fs_err::remove_file(&lock).unwrap();
    fs_err::hard_link(&victim, &lock).unwrap();
    drop(sandbox.start());
    assert_eq!(fs_err::metadata(&lock).unwrap().nlink(), 1, "it is another file now");
    assert_eq!(fs_err::read_to_string(&victim).unwrap(), "a year's work");
}

/// The files directly in a folder, with what they hold, without the index of a log, which who only reads writes as well.
fn files_in(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let files = fs_err::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.is_file() && !path.to_string_lossy().ends_with("-shm"));
    let mut files: Vec<_> = files.map(|path| (path.clone(), fs_err::read(&path).unwrap())).collect();
    files.sort_unstable();
    files
}

#[test]
fn tc_29_a_snapshot_by_hard_links_stops_nothing_and_stays_as_it_was() {
    let sandbox = sandbox!();
    sandbox.transcript("older", "shop").topics(0..3);
    let daemon = sandbox.start();
    daemon.flush();
    let data = sandbox.places().data_dir();
    // As `cp -al` does, in the middle of the daemon's work, which is killed then.
    let snapshot = sandbox.home().join("snapshot");
    fs_err::create_dir(&snapshot).unwrap();
    daemon.stop(Signal::KILL);
    for (file, _) in files_in(&data) {
        fs_err::hard_link(&file, snapshot.join(file.file_name().unwrap())).unwrap();
    }
    let before = files_in(&snapshot);
    assert!(before.len() >= 3, "{before:?}");
    let told = sandbox.run(&["doctor"]);
    assert!(
        String::from_utf8_lossy(&told.stdout).contains("have a second name elsewhere"),
        "{told:?}"
    );

    sandbox.transcript("newer", "shop").topics(3..5);
    let daemon = sandbox.start();
    daemon.flush();
    let told = sandbox.run(&["doctor"]);
    assert!(
        !String::from_utf8_lossy(&told.stdout).contains("have a second name elsewhere"),
        "{told:?}"
    );
    drop(daemon);
    assert_eq!(sandbox.episodes().len(), 5);
    assert_eq!(files_in(&snapshot), before);
    // A copy can be gone back to.
    for (file, _) in files_in(&data)
        .iter()
        .filter(|(file, _)| file.to_string_lossy().contains("memory.db"))
    {
        fs_err::remove_file(file).unwrap();
    }
    for (file, bytes) in &before {
        fs_err::write(data.join(file.file_name().unwrap()), bytes).unwrap();
    }
    let daemon = sandbox.start();
    daemon.flush();
    drop(daemon);
    assert_eq!(sandbox.episodes().len(), 5);
}
