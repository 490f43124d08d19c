//! Asking git about a repository that a transcript or the user names, which anybody may have made: in bounded time and memory, and so
//! that nothing that its settings name is run and nothing is fetched. In go a folder and what to ask, out comes what git wrote.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// How long git may take: a repository of a million commits, or on a slow disk, must not hold up the transcripts.
const PATIENCE: Duration = Duration::from_secs(2);

/// How much git may write: the names in the last two thousand commits of a large repository are some megabytes.
const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// Variables by which whoever started this program may have pointed git at a repository of theirs (`git rev-parse --local-env-vars`).
const OF_A_REPOSITORY: [&str; 16] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// What git writes when it is asked in `folder`, where it is no text with U+FFFD in its place; `None` where it fails, is not there,
/// takes too long, or writes too much.
///
/// A repository's own settings may name programs (of file watchers, hooks, and of the other side of a fetch, which reading a history
/// that is not there in full begins by itself; of whatever checks a signature): none of these is run. What compares the content of
/// files (`status`, `diff`) is not to be asked, since it runs the filters that a repository names, and no option keeps it from that.
pub(crate) fn ask(folder: &Path, arguments: &[&str], file: Option<&Path>) -> Option<String> {
    let mut git = Command::new("git");
    for name in OF_A_REPOSITORY {
        git.env_remove(name);
    }
    git.env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_TERMINAL_PROMPT", "0")
        // What is not there is not fetched; git before 2.44 knows only the second: no protocol is allowed, not even that of files.
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_ALLOW_PROTOCOL", "")
        .args(["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"])
        .args(["-c", "safe.bareRepository=explicit", "-c", "log.showSignature=false"])
        // A file of the repository's choice would be read.
        .args(["-c", "diff.orderFile=/dev/null"])
        .arg("-C")
        .arg(folder)
        .args(arguments)
        .args(file);
    first_output(git, PATIENCE)
}

/// What `command` writes, as text; `None` where it fails, writes too much, or takes longer than `patience`. It is killed then, and whoever asks waits
/// no longer: a process that hangs in a file system whose server is gone ends when it can.
pub(crate) fn first_output(mut command: Command, patience: Duration) -> Option<String> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let output = child.stdout.take().expect("invariant: the output is piped");
    let (sender, receiver) = mpsc::channel();
    let reading = std::thread::Builder::new().name("git-output".to_owned()).spawn(move || {
        let mut bytes = Vec::new();
        let read = output.take(MOST_BYTES + 1).read_to_end(&mut bytes).map(|_| bytes);
        // Whoever asked may have lost patience.
        sender.send(read).ok();
    });
    let Some(bytes) = reading.ok().and_then(|_| receiver.recv_timeout(patience).ok()) else {
        child.kill().ok();
        leave(child);
        return None;
    };
    let whole = bytes.ok().filter(|bytes| bytes.len() as u64 <= MOST_BYTES);
    if whole.is_none() {
        child.kill().ok();
    }
    let succeeded = child.wait().is_ok_and(|status| status.success());
    let text = String::from_utf8_lossy(&whole?).into_owned();
    succeeded.then_some(text)
}

/// Has a killed process taken off the system's table once it has ended.
fn leave(mut child: Child) {
    let wait = move || drop(child.wait());
    // Without a thread it stays in the table until this program ends.
    drop(std::thread::Builder::new().name("git-end".to_owned()).spawn(wait));
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::answers("echo commit", Some("commit\n"))]
    #[case::hangs("echo half; exec sleep 600", None)]
    fn a_command_that_hangs_is_ended(#[case] script: &str, #[case] expected: Option<&str>) {
        let mut shell = Command::new("sh");
        shell.args(["-c", script]);
        let patience = expected.map_or(Duration::from_millis(50), |_| Duration::from_mins(1));
        assert_eq!(first_output(shell, patience).as_deref(), expected);
    }

    #[rstest]
    #[case::history("rev-list", &["rev-list", "--max-parents=0", "--max-count=1", "HEAD"])]
    #[case::index("ls-files", &["ls-files", "--", "file"])]
    #[case::changes("log", &["log", "-z", "--no-renames", "--name-only", "--format=%x01%at", "HEAD"])]
    #[case::states("ls-files --debug", &["ls-files", "-z", "-t", "--debug", "--", "file"])]
    fn no_program_that_a_repository_names_is_run(#[case] what: &str, #[case] arguments: &[&str]) {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("repository");
        fs_err::create_dir_all(&folder).unwrap();
        let marker = place.path().join("was-run");
        let run = |arguments: &[&str]| {
            let mut git = Command::new("git");
            git.arg("-C")
                .arg(&folder)
                .args(arguments)
                .env("GIT_CONFIG_GLOBAL", "/dev/null");
            git.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap()
        };
        run(&["init", "--quiet"]);
        fs_err::write(folder.join("file"), "text").unwrap();
        run(&["add", "file"]);
        let program = format!("touch '{}'; false", marker.display());
        // A history whose commits are said to lie elsewhere, and a watcher of files.
        fs_err::write(folder.join(".git/HEAD"), format!("{}\n", "1".repeat(40))).unwrap();
        let place_of_commits = place.path().join("elsewhere").display().to_string();
        for (key, value) in [
            ("core.repositoryFormatVersion", "1"),
            ("extensions.partialClone", "origin"),
            ("remote.origin.url", &place_of_commits),
            ("remote.origin.promisor", "true"),
            ("remote.origin.uploadpack", &program),
            ("core.fsmonitor", &program),
        ] {
            assert!(run(&["config", key, value]).success(), "{key}");
        }
        run(arguments);
        let was_run = fs_err::remove_file(&marker).is_ok();
        drop(ask(&folder, arguments, None));
        assert!(!marker.exists(), "git ran what the repository names for {what}");
        // The test would show nothing if git by itself ran nothing.
        assert!(was_run, "git as it is runs what the repository names for {what}");
    }
    #[test]
    fn no_signature_is_checked_by_a_program_of_the_repository() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path();
        let marker = folder.join("was-run");
        let git = |arguments: &[&str]| {
            let mut git = Command::new("git");
            git.arg("-C")
                .arg(folder)
                .args(arguments)
                .env("GIT_CONFIG_GLOBAL", "/dev/null");
            git.args(["--"]).stderr(Stdio::null()).output().unwrap()
        };
        git(&["init", "--quiet", "."]);
        let tree = String::from_utf8(git(&["write-tree"]).stdout).unwrap();
        let signed = format!(
            "tree {}\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\nsigned\n",
            tree.trim()
        );
        fs_err::write(folder.join("commit"), signed).unwrap();
        let mut write = Command::new("git");
        write
            .arg("-C")
            .arg(folder)
            .args(["hash-object", "-t", "commit", "-w", "commit"]);
        let commit = String::from_utf8(write.output().unwrap().stdout).unwrap().trim().to_owned();
        let program = folder.join("gpg");
        fs_err::write(&program, format!("#!/bin/sh\ntouch '{}'\n", marker.display())).unwrap();
        fs_err::set_permissions(&program, crate::system::permissions(0o755)).unwrap();
        for (key, value) in [("log.showSignature", "true"), ("gpg.program", program.to_str().unwrap())] {
            let mut set = Command::new("git");
            assert!(
                set.arg("-C")
                    .arg(folder)
                    .args(["config", key, value])
                    .status()
                    .unwrap()
                    .success()
            );
        }
        git(&["log", &commit]);
        assert!(
            fs_err::remove_file(&marker).is_ok(),
            "git as it is runs what checks signatures"
        );
        assert!(ask(folder, &["log", "--format=%at", &commit], None).is_some());
        assert!(!marker.exists());
    }

    #[test]
    fn what_writes_too_much_gives_nothing() {
        let mut shell = Command::new("sh");
        shell.args(["-c", "exec head -c 17000000 /dev/zero"]);
        assert_eq!(first_output(shell, Duration::from_mins(1)), None);
        let mut shell = Command::new("sh");
        shell.args(["-c", r"printf 'a\377b'"]);
        assert_eq!(first_output(shell, Duration::from_mins(1)).as_deref(), Some("a\u{fffd}b"));
    }
}
