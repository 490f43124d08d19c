//! The file: what is damaged, torn, foreign or too long in it.

use std::os::unix::fs::PermissionsExt;

use tempfile::TempDir;

use super::*;

struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        Self { folder }
    }

    fn database(&self) -> PathBuf {
        self.folder.path().join("memory.db")
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("memory.db.journal")
    }

    fn open(&self) -> (Journal, Vec<(Number, Choice)>) {
        Journal::open(&self.database(), "one").expect("opens")
    }

    fn bytes(&self) -> Vec<u8> {
        fs_err::read(self.file()).expect("reads")
    }

    fn write(&self, bytes: &[u8]) {
        fs_err::write(self.file(), bytes).expect("writes");
    }
}

fn exclude(path: &str) -> Choice {
    Choice::Exclude {
        path: path.to_owned(),
        at: 7,
    }
}

fn include(path: &str) -> Choice {
    Choice::Include { path: path.to_owned() }
}

fn forget(turn: u8) -> Choice {
    Choice::Forget {
        turns: vec![format!("{turn:032x}")],
        at: 5,
    }
}

#[test]
fn every_kind_of_choice_comes_back_in_order_from_a_private_file() {
    let place = Place::new();
    let key = || ("codex".to_owned(), "s-1".to_owned());
    let (path, line) = ("/p/GEMINI.md".to_owned(), Some("@./x.md".to_owned()));
    let choices = [
        forget(1),
        exclude("/a \"b\"\nc"),
        include("/a"),
        Choice::ExcludeSession {
            agent: key().0,
            session: key().1,
        },
        Choice::IncludeSession {
            agent: key().0,
            session: key().1,
        },
        Choice::Pause { until: Some(9) },
        Choice::Pause { until: None },
        Choice::Resume,
        Choice::Instruct {
            path: path.clone(),
            line: line.clone(),
            folder: "/p".to_owned(),
            made: None,
            tracked: true,
            at: 3,
        },
        Choice::Uninstruct { path, line },
    ];
    let (mut journal, lines) = place.open();
    assert!(lines.is_empty());
    journal.append(&choices).expect("appends");
    let (again, lines) = place.open();
    let numbered: Vec<(Number, Choice)> = (1..).zip(choices).collect();
    assert_eq!(lines, numbered);
    assert_eq!(again.position(), "one:10");
    let mode = fs_err::metadata(place.file()).expect("is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(
        place.bytes().split(|byte| *byte == b'\n').count(),
        12,
        "a line a choice, and nothing behind the last"
    );
}

#[test]
fn a_last_line_without_its_end_is_cut_off_wherever_it_is_torn() {
    let place = Place::new();
    let (mut journal, _) = place.open();
    journal.append(&[exclude("/a")]).expect("appends");
    let whole = place.bytes();
    journal.append(&[exclude("/b")]).expect("appends");
    let both = place.bytes();
    for length in whole.len() + 1..both.len() {
        place.write(&both[..length]);
        let (mut journal, lines) = place.open();
        assert_eq!(lines, [(1, exclude("/a"))], "{length}");
        assert_eq!(place.bytes(), whole);
        journal.append(&[include("/a")]).expect("appends");
        assert_eq!(place.open().1, [(1, exclude("/a")), (2, include("/a"))]);
    }
}

#[test]
fn a_line_of_garbage_is_left_out_and_the_others_hold() {
    let place = Place::new();
    let (mut journal, _) = place.open();
    journal.append(&[exclude("/a"), exclude("/b"), forget(3)]).expect("appends");
    let whole = place.bytes();
    let second = whole.windows(2).position(|two| two == b"/b").expect("is there");
    for garbage in [b'x', 0xff, b' ', 0] {
        let mut bytes = whole.clone();
        bytes[second + 1] = garbage;
        place.write(&bytes);
        let contents = Contents::read(&place.file()).expect("reads");
        assert_eq!(contents.damaged, 1, "{garbage}");
        assert_eq!(place.open().1, [(1, exclude("/a")), (3, forget(3))]);
        assert_eq!(Contents::read(&place.file()).expect("reads").damaged, 0, "it is written anew");
    }
    // The first line, too: the journal is another then, which every database follows from its beginning.
    let mut bytes = whole;
    bytes[3] ^= 1;
    place.write(&bytes);
    let (journal, lines) = Journal::open(&place.database(), "two").expect("opens");
    assert_eq!((journal.position().as_str(), lines.len()), ("two:3", 3));
    assert_eq!((journal.number_in(Some("one:3")), journal.number_in(Some("two:2"))), (0, 2));
}

#[test]
fn what_a_newer_version_wrote_is_kept_and_not_followed() {
    let place = Place::new();
    let (mut journal, _) = place.open();
    journal.append(&[exclude("/a"), include("/a")]).expect("appends");
    let newer = |json: &str| {
        let sum = <sha2::Sha256 as sha2::Digest>::digest(json);
        let first = sum.iter().take(8).fold(0_u64, |digits, byte| digits << 8 | u64::from(*byte));
        format!("{first:016x} {json}\n")
    };
    let pin = newer(r#"{"v":1,"n":3,"kind":"pin","episode":"ab"}"#);
    let later = newer(r#"{"v":2,"n":4,"what":["else"]}"#);
    place.write(&[place.bytes(), pin.clone().into_bytes(), later.clone().into_bytes()].concat());
    let (mut journal, lines) = place.open();
    assert_eq!(lines[2..], [(3, Choice::Unknown), (4, Choice::Unknown)]);
    journal
        .write_anew(&Contents::read(&place.file()).expect("reads"))
        .expect("writes");
    let text = String::from_utf8(place.bytes()).expect("is text");
    assert!(text.contains(&pin) && text.contains(&later), "{text}");
    assert_eq!(
        place.open().1,
        [(2, include("/a")), (3, Choice::Unknown), (4, Choice::Unknown)]
    );
}

#[test]
fn a_journal_that_grew_is_written_anew_with_the_last_word_on_each_thing() {
    let place = Place::new();
    let (mut journal, _) = place.open();
    journal.append(&[forget(1)]).expect("appends");
    let long = format!("/{}", "x".repeat(4_000));
    let mut most = 0;
    for _ in 0..100 {
        journal.append(&[exclude(&long), include(&long)]).expect("appends");
        most = most.max(place.bytes().len());
    }
    assert!((SMALL as usize..SMALL as usize * 2).contains(&most), "{most}");
    let (again, lines) = place.open();
    assert_eq!(again.position(), "one:201", "numbers go on");
    assert!(lines.len() < 200, "{}", lines.len());
    assert_eq!((&lines[0], lines.last()), (&(1, forget(1)), Some(&(201, include(&long)))));
}

#[test]
fn what_is_taken_back_is_gone_and_its_number_is_not_given_again() {
    let place = Place::new();
    let (mut journal, _) = place.open();
    journal.append(&[exclude("/a")]).expect("appends");
    let mark = journal.append(&[exclude("/b")]).expect("appends");
    journal.take_back(mark).expect("takes back");
    journal.append(&[exclude("/c")]).expect("appends");
    assert_eq!(place.open().1, [(1, exclude("/a")), (3, exclude("/c"))]);
}

#[test]
fn what_failed_and_could_not_be_cut_off_is_in_no_journal_that_is_written_anew() {
    let refused = |place: &Place, journal: &mut Journal| {
        let mut bytes = place.bytes();
        bytes.extend_from_slice(line::write(900_000, &exclude("/refused")).expect("is a line").as_bytes());
        place.write(&bytes);
        journal.is_torn = true;
    };
    let is_there = |place: &Place| place.open().1.iter().any(|(_, choice)| *choice == exclude("/refused"));
    let changed = Place::new();
    let (mut journal, _) = changed.open();
    journal.append(&[exclude("/a")]).expect("appends");
    refused(&changed, &mut journal);
    journal
        .change(|choice| (*choice == exclude("/a")).then(|| exclude("/b")))
        .expect("changes");
    assert!(!is_there(&changed));
    let compacted = Place::new();
    let (mut journal, _) = compacted.open();
    let many: Vec<Choice> = (0..6_000).map(|_| exclude("/some/folder/that/is/kept/out")).collect();
    journal.append(&many).expect("appends");
    refused(&compacted, &mut journal);
    journal.append(&[exclude("/a")]).expect("appends");
    assert!(compacted.bytes().len() < 4_096, "it was written anew");
    assert!(!is_there(&compacted));
}
