//! Which transcripts there are, and whether a file still continues what was read of it. The scan is the truth; the
//! watcher only says when to look.

use std::collections::BTreeMap;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use remembrancer_processor::ingest::Shape;
use remembrancer_schema::{ByteOffset, Layout, SourcePosition, SourceRow, SourceUpdate, UnixMillis};
use sha2::{Digest, Sha256};
use walkdir::WalkDir;

use crate::causes::root_cause;
use crate::clock;
use crate::exclusions::Exclusions;
use crate::files::{is_gone, means_gone};
use crate::roots::Roots;
use crate::system;

/// Bytes at the head of a file, and before the read position, by which a file is known again.
pub(crate) const FINGERPRINT_BYTES: u64 = 1_024;
/// Shorter lines tell nothing of a file by themselves (`[`, an empty line): the next ones belong to the head.
const LEAST_HEAD: usize = 64;

/// A transcript as the file system describes it; a session as its database does (see `databases`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileStat {
    /// Where it is.
    pub path: PathBuf,
    /// The device's number.
    pub device: u64,
    /// The inode on that device.
    pub inode: u64,
    /// Bytes.
    pub size: u64,
    /// When it was last written.
    pub mtime: UnixMillis,
}

/// What was read of a transcript, as far as reading on needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KnownFile {
    /// The file as it was when it was read to its end; a size of 0 where it was not.
    pub stat: FileStat,
    /// How far it was read.
    pub position: SourcePosition,
    /// How often it was rewritten or replaced.
    pub generation: u32,
    /// Whether it was gone at the last scan.
    pub missing: bool,
}

impl From<SourceRow> for KnownFile {
    fn from(row: SourceRow) -> Self {
        let stat = FileStat {
            path: row.path.into(),
            device: row.device,
            inode: row.inode,
            size: row.size,
            mtime: row.mtime,
        };
        Self {
            stat,
            position: row.position,
            generation: row.generation,
            missing: row.missing,
        }
    }
}

impl From<&SourceUpdate> for KnownFile {
    fn from(update: &SourceUpdate) -> Self {
        let stat = FileStat {
            path: PathBuf::from(&update.path),
            device: update.device,
            inode: update.inode,
            size: update.size,
            mtime: update.mtime,
        };
        Self {
            stat,
            position: update.position.clone(),
            generation: update.generation,
            missing: false,
        }
    }
}

/// A place that can't be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ScanProblem {
    /// The folder or file.
    pub path: PathBuf,
    /// What is wrong and what to do.
    pub message: String,
}

/// What a look at all roots found.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    /// The transcripts, last written first.
    pub files: Vec<FileStat>,
    /// The databases in which there may be others.
    pub databases: Vec<(PathBuf, Layout)>,
    /// What could not be read.
    pub problems: Vec<ScanProblem>,
    /// Files that seem to be transcripts by their names and are not read, such as archives of an unknown kind: by what follows the
    /// transcript's own suffix, how many, and one of them.
    pub unknown: BTreeMap<String, (u64, PathBuf)>,
}

/// Looks for transcripts below `roots`. A root that does not exist holds none.
pub(crate) fn scan(roots: &Roots, exclusions: &Exclusions) -> Scan {
    let mut scan = Scan::default();
    for root in roots.folders().filter(|root| !is_gone(root)) {
        let deepest = if roots.is_flat(root) { 1 } else { usize::MAX };
        let entries = WalkDir::new(root).max_depth(deepest).follow_links(false).into_iter();
        for entry in entries.filter_entry(|entry| !exclusions.cover(entry.path())) {
            match entry {
                Ok(entry) if entry.file_type().is_file() => scan.add(entry.path(), roots),
                Ok(_) => {}
                Err(error) => scan.problems.extend(walk_problem(root, &error)),
            }
        }
    }
    newest_first(&mut scan.files);
    scan.files.dedup_by(|a, b| a.path == b.path);
    scan.databases.sort_by(|a, b| a.0.cmp(&b.0));
    scan.databases.dedup();
    scan
}

impl Scan {
    fn add(&mut self, path: &Path, roots: &Roots) {
        match roots.claim(path) {
            Some((_, Shape::Database(layout))) => self.databases.push((path.to_owned(), layout)),
            Some(_) => match look(path) {
                Ok(found) => self.files.extend(found),
                Err(error) => self.problems.push(ScanProblem {
                    message: unreadable(path, &error),
                    path: path.to_owned(),
                }),
            },
            None => self.pass_over(path),
        }
    }

    fn pass_over(&mut self, path: &Path) {
        if let Some(suffix) = unknown_suffix(path) {
            let (count, _) = self.unknown.entry(suffix.to_owned()).or_insert_with(|| (0, path.to_owned()));
            *count += 1;
        }
    }
}

/// What follows a transcript's own suffix in a file's name: `.jsonl.gz` of `session.jsonl.gz`.
fn unknown_suffix(path: &Path) -> Option<&str> {
    let name = path.file_name()?.to_str()?;
    name.find(".jsonl.").map(|at| &name[at..])
}

/// Puts what was last written first.
pub(crate) fn newest_first(files: &mut [FileStat]) {
    files.sort_by(|a, b| b.mtime.cmp(&a.mtime).then_with(|| a.path.cmp(&b.path)));
}

fn walk_problem(root: &Path, error: &walkdir::Error) -> Option<ScanProblem> {
    let io = error.io_error()?;
    if io.kind() == std::io::ErrorKind::NotFound {
        return None;
    }
    let path = error.path().unwrap_or(root).to_owned();
    Some(ScanProblem {
        message: unreadable(&path, io),
        path,
    })
}

/// What is wrong with a path that can't be read, and what to do.
pub(crate) fn unreadable(path: &Path, error: &std::io::Error) -> String {
    let remedy = match error.kind() {
        std::io::ErrorKind::FileTooLarge => {
            "it is held in memory as a whole, and larger than 64 MiB; exclude it with `remembrancer exclude`"
        }
        std::io::ErrorKind::PermissionDenied => "make it readable for your user, or exclude it with `remembrancer exclude`",
        _ => "it is tried again at the next rescan",
    };
    format!("cannot read {}: {}; {remedy}", path.display(), root_cause(error))
}

/// As [`look`]; `None`, too, where that can't be told.
pub(crate) fn stat(path: &Path) -> Option<FileStat> {
    look(path).ok().flatten()
}

/// The file's description; `None` where there is none (any more).
///
/// # Errors
/// Where it can't be told whether there is one: no permission, or an error of the disk.
pub(crate) fn look(path: &Path) -> std::io::Result<Option<FileStat>> {
    let metadata = match fs_err::metadata(path) {
        Ok(metadata) if metadata.is_file() => metadata,
        Ok(_) => return Ok(None),
        Err(error) if means_gone(&error) => return Ok(None),
        Err(error) => return Err(error),
    };
    let (device, inode) = system::identity(&metadata);
    Ok(Some(FileStat {
        path: path.to_owned(),
        device,
        inode,
        size: metadata.len(),
        mtime: clock::of_file(&metadata),
    }))
}

/// How a file relates to what was read of it before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Continuity {
    /// It continues what was read: only appended bytes are new.
    Continues,
    /// It begins as before and then differs: what is gone from it was taken back (a rewind).
    Rewritten,
    /// It is another file under the same name: what the old one held stays.
    Replaced,
}

/// Compares the file's head and the bytes before the read position with what was stored.
///
/// Size alone does not do: a file cut by a rewind may have grown past its old size since (CASES TC-11).
///
/// # Errors
/// The file system's error.
pub(crate) fn continuity(file: &mut (impl Read + Seek), size: u64, position: &SourcePosition) -> std::io::Result<Continuity> {
    let prefix_len = u64::from(position.prefix_len);
    if size < prefix_len || hash_of(file, 0, prefix_len)? != position.prefix_hash {
        return Ok(Continuity::Replaced);
    }
    let tail_len = u64::from(position.tail_len);
    let read_to = position.read_offset.0;
    if size < read_to || hash_of(file, read_to - tail_len, tail_len)? != position.tail_hash {
        return Ok(Continuity::Rewritten);
    }
    Ok(Continuity::Continues)
}

/// Hashes that know a file again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fingerprints {
    /// Of the first `prefix_length` bytes.
    pub prefix_hash: [u8; 32],
    /// Of the `tail_length` bytes before the read position.
    pub tail_hash: [u8; 32],
    /// The first record's bytes, up to [`FINGERPRINT_BYTES`].
    pub prefix_length: u32,
    /// As many bytes as there are, up to [`FINGERPRINT_BYTES`].
    pub tail_length: u32,
}

impl Fingerprints {
    /// Of all of `content` up to `read_offset`.
    pub(crate) fn at(content: &[u8], read_offset: ByteOffset) -> Self {
        let read = read_offset.0 as usize;
        let length = read.min(FINGERPRINT_BYTES as usize);
        Self::of_ends(&content[..length], &content[read - length..read])
    }

    /// Of the head of a file, of which the first record counts, and of as many bytes before the read position.
    pub(crate) fn of_ends(head: &[u8], tail: &[u8]) -> Self {
        Self::of_all(first_record(head), tail)
    }

    /// Of all of these bytes.
    pub(crate) fn of_all(head: &[u8], tail: &[u8]) -> Self {
        Self {
            prefix_hash: Sha256::digest(head).into(),
            tail_hash: Sha256::digest(tail).into(),
            prefix_length: head.len() as u32,
            tail_length: tail.len() as u32,
        }
    }

    /// As they are stored.
    pub(crate) fn of(position: &SourcePosition) -> Self {
        Self {
            prefix_hash: position.prefix_hash,
            tail_hash: position.tail_hash,
            prefix_length: position.prefix_len,
            tail_length: position.tail_len,
        }
    }
}

/// What tells one file from another at its head: its first record names session and time. More of it would not do: a file that is
/// cut further back by a rewind would be another one then, and what was taken back would stay.
fn first_record(head: &[u8]) -> &[u8] {
    let end = head.iter().skip(LEAST_HEAD - 1).position(|byte| *byte == b'\n');
    &head[..end.map_or(head.len(), |end| end + LEAST_HEAD)]
}

#[cfg(test)]
impl Fingerprints {
    /// A position behind so many bytes of a file that is known by these.
    pub(crate) fn position(self, read: usize) -> SourcePosition {
        SourcePosition {
            read_offset: ByteOffset(read as u64),
            read_line: 0,
            committed_offset: ByteOffset(0),
            committed_line: 0,
            committed_turn: 0,
            parser_state: None,
            prefix_hash: self.prefix_hash,
            prefix_len: self.prefix_length,
            tail_hash: self.tail_hash,
            tail_len: self.tail_length,
        }
    }
}

fn hash_of(file: &mut (impl Read + Seek), from: u64, length: u64) -> std::io::Result<[u8; 32]> {
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::with_capacity(length as usize);
    file.take(length).read_to_end(&mut bytes)?;
    Ok(Sha256::digest(&bytes).into())
}

/// Whether nothing was written since `known` was read, by what the file system says.
pub(crate) fn is_untouched(stat: &FileStat, known: &KnownFile) -> bool {
    !known.missing && *stat == known.stat
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use remembrancer_processor::ingest::Agent;
    use rstest::rstest;

    use super::*;
    use crate::roots::Root;

    fn position(content: &[u8], read: usize) -> SourcePosition {
        Fingerprints::at(content, ByteOffset(read as u64)).position(read)
    }

    fn content(lines: usize, mark: char) -> Vec<u8> {
        (0..lines)
            .flat_map(|line| format!("{mark} line {line} of the transcript\n").into_bytes())
            .collect()
    }

    #[rstest]
    #[case::same(content(100, 'a'), Continuity::Continues)]
    #[case::appended([content(100, 'a'), content(5, 'b')].concat(), Continuity::Continues)]
    #[case::cut(content(60, 'a'), Continuity::Rewritten)]
    #[case::cut_to_little(content(4, 'a'), Continuity::Rewritten)]
    #[case::cut_to_little_and_grown([content(4, 'a'), content(200, 'b')].concat(), Continuity::Rewritten)]
    #[case::cut_and_grown([content(60, 'a'), content(90, 'b')].concat(), Continuity::Rewritten)]
    #[case::another_file(content(200, 'b'), Continuity::Replaced)]
    #[case::emptied(Vec::new(), Continuity::Replaced)]
    fn tc_11_a_file_is_known_again(#[case] now: Vec<u8>, #[case] expected: Continuity) {
        let before = content(100, 'a');
        let position = position(&before, before.len());
        assert_eq!(
            continuity(&mut Cursor::new(&now), now.len() as u64, &position).unwrap(),
            expected
        );
    }

    #[test]
    fn a_small_file_is_known_by_all_of_it() {
        let position = position(b"short\n", 6);
        assert_eq!(
            continuity(&mut Cursor::new(b"short\nmore\n"), 11, &position).unwrap(),
            Continuity::Continues
        );
    }

    fn roots(folders: &[PathBuf]) -> Roots {
        let root = |folder: &PathBuf| Root {
            agent: Agent::CLAUDE_CODE,
            folder: folder.clone(),
            flat: false,
        };
        Roots::new(folders.iter().map(root).collect())
    }

    #[test]
    fn only_transcripts_are_found_newest_first_and_nothing_excluded() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("projects");
        for name in ["a/1.jsonl", "a/1/subagents/agent-x.jsonl", "a/notes.md", "secret/2.jsonl"] {
            fs_err::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            fs_err::write(root.join(name), "{}\n").unwrap();
        }
        let found = scan(
            &roots(&[root.clone(), place.path().join("none")]),
            &Exclusions::of_settings(&[root.join("secret")]),
        );
        let mut names: Vec<_> = found
            .files
            .iter()
            .map(|file| file.path.strip_prefix(&root).unwrap().to_owned())
            .collect();
        names.sort();
        assert_eq!(
            names,
            [PathBuf::from("a/1/subagents/agent-x.jsonl"), PathBuf::from("a/1.jsonl")]
        );
        assert!(found.files.windows(2).all(|pair| pair[0].mtime >= pair[1].mtime));
    }
}
