//! Where the daemon's log is, and its lines. A running daemon tells where its standard error goes; without one, the service that is set
//! up says where it is kept. Lines come out as they stand, the last ones first found, and then those that are added.

use std::io::{BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use fs_err::File;
use remembrancer_hooks::protocol::Request;

use super::super::ask;
use super::super::error::{CliError, Kind};
use super::super::install::service_of_this_system;
use super::super::surroundings::Surroundings;
use crate::system;

/// Lines that are searched for those of a level.
pub(super) const MOST_LINES: usize = 50_000;
/// Bytes at the end of a file that are looked at.
const MOST_BYTES: u64 = 16 * 1024 * 1024;
/// Between two looks at a file that may have grown.
const LOOK: Duration = Duration::from_millis(250);

/// Where the log is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Source {
    /// By systemd, of the unit.
    Journal,
    /// In a file.
    File(PathBuf),
}

impl Source {
    /// Where the log of this user's daemon is.
    ///
    /// # Errors
    /// Where it is kept nowhere, or nobody knows where, with what to do.
    pub(super) fn find(surroundings: &Surroundings) -> Result<Self, CliError> {
        let ping = ask::data(surroundings, &Request::Ping)?;
        let service = service_of_this_system(surroundings, "remembrancer");
        let kept = kept_by_service(&surroundings.home, service.is_installed());
        match ping {
            None => kept.ok_or_else(|| {
                CliError::new(
                    Kind::NotFound,
                    "there is no log: no daemon runs, and none is set up as a service",
                )
                .with_hint(
                    "`remembrancer run` logs to its standard error; `remembrancer install --service` has the system keep it",
                )
            }),
            Some(answer) => {
                let pid = answer["pid"].as_u64().unwrap_or_default();
                of_daemon(answer["log"].as_str(), kept, pid)
            }
        }
    }

    /// What it is called.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Journal => "the journal (journalctl --user -u remembrancer)".to_owned(),
            Self::File(path) => path.display().to_string(),
        }
    }

    /// Gives `each` the last `number` lines, oldest first (a file's last 16 MB at most), and then what can be followed.
    pub(super) fn last_lines(&self, number: usize, each: &mut dyn FnMut(&str)) -> Result<Rest, CliError> {
        match self {
            Self::Journal => {
                let (mut child, mut lines) = journal(&["-n", &number.to_string()])?;
                every_line(&mut lines, each)?;
                let ended = child.wait()?;
                if !ended.success() {
                    return Err(CliError::new(Kind::Failed, format!("journalctl failed ({ended})")));
                }
                Ok(Rest::Journal)
            }
            Self::File(path) => {
                let mut file = File::open(path)?;
                let length = file.metadata()?.len();
                let from = length.saturating_sub(MOST_BYTES);
                file.seek(SeekFrom::Start(from))?;
                let mut text = Vec::new();
                file.by_ref().take(length - from).read_to_end(&mut text)?;
                for line in last_of(&text, number, from > 0) {
                    each(&String::from_utf8_lossy(line));
                }
                Ok(Rest::File {
                    path: path.clone(),
                    file: BufReader::new(file),
                })
            }
        }
    }
}

/// Where a service that is set up has its log, daemon or not.
fn kept_by_service(home: &Path, is_installed: bool) -> Option<Source> {
    if cfg!(target_os = "macos") {
        let file = home.join("Library/Logs/remembrancer.log");
        return file.exists().then_some(Source::File(file));
    }
    is_installed.then_some(Source::Journal)
}

/// Of a daemon whose standard error goes to `place`, as the system calls it.
fn of_daemon(place: Option<&str>, kept: Option<Source>, pid: u64) -> Result<Source, CliError> {
    let nowhere = |what: &str| {
        let message = format!("the daemon (process {pid}) writes its log to {what}, where it can't be read again");
        let hint = "start it with its standard error in a file, `remembrancer run 2>>remembrancer.log`, or as a service, `remembrancer install --service`";
        CliError::new(Kind::NotFound, message).with_hint(hint)
    };
    match place {
        Some(socket) if socket.starts_with("socket:") => Ok(Source::Journal),
        Some(pipe) if pipe.starts_with("pipe:") => Err(nowhere("another program")),
        Some("/dev/null") => Err(nowhere("/dev/null")),
        Some(path) if path.starts_with("/dev/") => Err(nowhere(&format!("the terminal {path}"))),
        Some(path) => Ok(Source::File(path.into())),
        None => kept.ok_or_else(|| nowhere("a place that it can't name")),
    }
}

/// The last `number` lines of `text`; the first is left out where it `is_cut`.
fn last_of(text: &[u8], number: usize, is_cut: bool) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> = text
        .split_inclusive(|byte| *byte == b'\n')
        .skip(usize::from(is_cut))
        .collect();
    lines.split_off(lines.len().saturating_sub(number))
}

/// What comes after the last lines.
pub(super) enum Rest {
    Journal,
    File { path: PathBuf, file: BufReader<File> },
}

impl Rest {
    /// Gives `each` what is logged from now on, until it says that it wants no more.
    pub(super) fn follow(self, each: &mut dyn FnMut(&str) -> bool) -> Result<(), CliError> {
        match self {
            Self::Journal => {
                let (mut child, mut lines) = journal(&["-n", "0", "-f"])?;
                let mut wanted = true;
                let mut line = Vec::new();
                while wanted && lines.read_until(b'\n', &mut line)? > 0 {
                    wanted = each(&String::from_utf8_lossy(&line));
                    line.clear();
                }
                child.kill().ok();
                child.wait()?;
                Ok(())
            }
            Self::File { path, mut file } => loop {
                if !grown(&mut file, each)? {
                    return Ok(());
                }
                std::thread::sleep(LOOK);
                // What was rotated away or emptied is begun anew.
                if is_another(&path, &mut file)? {
                    file = BufReader::new(File::open(&path)?);
                }
            },
        }
    }
}

/// Gives `each` the whole lines that were added; false where it wants no more.
fn grown(file: &mut BufReader<File>, each: &mut dyn FnMut(&str) -> bool) -> Result<bool, CliError> {
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = file.read_until(b'\n', &mut line)?;
        if line.last() != Some(&b'\n') {
            // The rest of it is still to be written.
            file.seek_relative(-(read as i64))?;
            return Ok(true);
        }
        if !each(&String::from_utf8_lossy(&line)) {
            return Ok(false);
        }
    }
}

/// Whether another file is at `path` now, or a shorter one. Where there is none for the moment, the old one is kept.
fn is_another(path: &Path, file: &mut BufReader<File>) -> Result<bool, CliError> {
    let there = match fs_err::metadata(path) {
        Ok(there) => there,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error.into()),
    };
    let open = file.get_ref().metadata()?;
    Ok(system::identity(&there) != system::identity(&open) || there.len() < file.stream_position()?)
}

/// `journalctl` for the unit, with what it writes.
fn journal(options: &[&str]) -> Result<(Child, BufReader<ChildStdout>), CliError> {
    let mut command = Command::new("journalctl");
    command
        .args(["--user", "-u", "remembrancer", "-o", "cat", "--no-pager", "-q"])
        .args(options);
    let failed = |error: std::io::Error| CliError::new(Kind::Failed, format!("cannot run journalctl: {error}"));
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().map_err(failed)?;
    let lines = child
        .stdout
        .take()
        .ok_or_else(|| CliError::new(Kind::Failed, "journalctl has no output"))?;
    Ok((child, BufReader::new(lines)))
}

fn every_line(lines: &mut impl BufRead, each: &mut dyn FnMut(&str)) -> Result<(), CliError> {
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line)? > 0 {
        each(&String::from_utf8_lossy(&line));
        line.clear();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::of_a_service(Some("socket:[4711]"), Ok(Source::Journal))]
    #[case::a_file(Some("/home/ada/daemon.log"), Ok(Source::File("/home/ada/daemon.log".into())))]
    #[case::a_terminal(Some("/dev/pts/3"), Err("the terminal /dev/pts/3"))]
    #[case::a_pipe(Some("pipe:[4711]"), Err("another program"))]
    #[case::thrown_away(Some("/dev/null"), Err("/dev/null"))]
    #[case::not_told(None, Err("can't name"))]
    fn where_a_daemon_logs(#[case] place: Option<&str>, #[case] expected: Result<Source, &str>) {
        match (of_daemon(place, None, 7), expected) {
            (Ok(source), Ok(expected)) => assert_eq!(source, expected),
            (Err(error), Err(part)) => assert!(error.message().contains(part), "{error}"),
            (found, expected) => panic!("{found:?}, not {expected:?}"),
        }
    }

    #[rstest]
    #[case::some(b"a\nb\nc\n", 2, false, &["b\n", "c\n"])]
    #[case::all(b"a\nb", 9, false, &["a\n", "b"])]
    #[case::cut(b"half\nb\n", 9, true, &["b\n"])]
    #[case::none(b"", 3, false, &[])]
    fn the_last_lines(#[case] text: &[u8], #[case] number: usize, #[case] is_cut: bool, #[case] expected: &[&str]) {
        let expected: Vec<&[u8]> = expected.iter().map(|line| line.as_bytes()).collect();
        assert_eq!(last_of(text, number, is_cut), expected);
    }

    #[test]
    fn what_is_added_is_given_by_whole_lines_and_a_new_file_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("daemon.log");
        fs_err::write(&path, "old\n").unwrap();
        let mut told = Vec::new();
        let Rest::File { mut file, .. } = Source::File(path.clone())
            .last_lines(5, &mut |line| told.push(line.to_owned()))
            .unwrap()
        else {
            panic!("a file is followed as one");
        };
        let mut log = fs_err::OpenOptions::new().append(true).open(&path).unwrap();
        let next = |file: &mut BufReader<File>| {
            let mut told = String::new();
            grown(file, &mut |line| {
                told.push_str(line);
                true
            })
            .unwrap();
            told
        };
        log.write_all(b"whole\nha").unwrap();
        assert_eq!(next(&mut file), "whole\n");
        log.write_all(b"lf\n").unwrap();
        assert_eq!(next(&mut file), "half\n");
        assert!(!is_another(&path, &mut file).unwrap());
        fs_err::write(folder.path().join("other"), "new\n").unwrap();
        fs_err::rename(folder.path().join("other"), &path).unwrap();
        assert!(is_another(&path, &mut file).unwrap());
        assert_eq!(told, ["old\n"]);
    }
}
