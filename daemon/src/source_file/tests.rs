//! What is read of a document, and of what lies beside a transcript.

use remembrancer_processor::ingest::Agent;
use rstest::rstest;

use super::*;

/// A file of `size` bytes, none of which takes room.
fn sized(path: &Path, size: u64) {
    File::create(path).unwrap().set_len(size).unwrap();
}

#[rstest]
#[case::line_by_line(Shape::Lines, LARGEST_DOCUMENT as u64, true)]
#[case::small_enough(Shape::Document, LARGEST_DOCUMENT as u64 - 1, true)]
#[case::too_large(Shape::Document, LARGEST_DOCUMENT as u64, false)]
#[case::packed(Shape::Archive, LARGEST_DOCUMENT as u64, false)]
fn a_document_that_is_too_large_is_not_even_opened(#[case] shape: Shape, #[case] size: u64, #[case] expected: bool) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    sized(&path, size);
    let stat = scan::stat(&path).unwrap();
    let opened = SourceFile::open(Agent::CLAUDE_CODE, shape, &stat, None, false);
    let refused = opened.err().map(|error| error.kind());
    assert_eq!(refused, (!expected).then_some(std::io::ErrorKind::FileTooLarge));
}

#[test]
fn only_small_files_and_folders_are_looked_into() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs_err::write(at("small"), "text").unwrap();
    sized(&at("large"), LARGEST_BESIDE + 1);
    // To read a pipe would be to wait for whoever writes into it.
    let made = std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap();
    assert!(made.success());
    assert_eq!(beside(&at("small")).as_deref(), Some(&b"text"[..]));
    assert_eq!(
        [beside(&at("large")), beside(&at("pipe")), beside(&at("none"))],
        [None, None, None]
    );
    let names = String::from_utf8(beside(folder.path()).unwrap()).unwrap();
    assert_eq!(names.lines().count(), 3);
}
