//! The pages of a damaged database file, read past SQLite: each as the write-ahead log has it last, or else the file.
//! In goes a path, out come bytes. What can't be read is absent, never an error: the file is damaged.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use crate::copy::with_suffix;
use crate::open::PAGE_SIZE;

/// Bytes of a page, in all databases of ours.
pub(super) const SIZE: usize = PAGE_SIZE as usize;
/// Bytes of the log's header, and of a frame's (<https://sqlite.org/fileformat2.html#walformat>).
const LOG_HEADER: usize = 32;
const FRAME_HEADER: usize = 24;
/// The magic number of a log whose checksums are over big-endian words; the other is one less.
const BIG_ENDIAN_LOG: u32 = 0x377f_0683;

/// The pages of a file and of its log.
pub(super) struct Pages {
    file: RefCell<fs_err::File>,
    in_file: u32,
    log: Option<RefCell<fs_err::File>>,
    /// Where in the log a page stands last.
    in_log: HashMap<u32, u64>,
}

impl Pages {
    /// Opens the file, and its log where there is one.
    ///
    /// # Errors
    /// Where the file can't be opened.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = fs_err::File::open(path)?;
        let in_file = (file.metadata()?.len().div_ceil(SIZE as u64)) as u32;
        let mut log = fs_err::File::open(with_suffix(path, "-wal")).ok();
        let in_log = log.as_mut().map(committed_pages).unwrap_or_default();
        Ok(Self {
            file: RefCell::new(file),
            in_file,
            log: log.map(RefCell::new),
            in_log,
        })
    }

    /// The highest number of a page.
    pub(super) fn count(&self) -> u32 {
        self.in_log.keys().copied().max().unwrap_or(0).max(self.in_file)
    }

    /// The page of this number, 1-based.
    pub(super) fn read(&self, number: u32) -> Option<Vec<u8>> {
        let mut page = vec![0; SIZE];
        let (file, offset) = match (self.in_log.get(&number), &self.log) {
            (Some(offset), Some(log)) => (log, *offset),
            _ => (&self.file, u64::from(number.checked_sub(1)?) * SIZE as u64),
        };
        let mut file = file.borrow_mut();
        file.seek(SeekFrom::Start(offset)).ok()?;
        let mut filled = 0;
        // A part of a page, as at the end of a file that was cut, has what it has.
        while filled < SIZE {
            match file.read(&mut page[filled..]) {
                Ok(0) | Err(_) => break,
                Ok(read) => filled += read,
            }
        }
        (filled > 0).then_some(page)
    }
}

/// Where the pages stand that whole transactions wrote into the log: up to the first frame that is not whole.
fn committed_pages(log: &mut fs_err::File) -> HashMap<u32, u64> {
    let mut committed = HashMap::new();
    let mut header = [0; LOG_HEADER];
    if log.read_exact(&mut header).is_err() {
        return committed;
    }
    let big_endian = word(&header, 0) == BIG_ENDIAN_LOG;
    let mut sum = checksum(&header[..24], big_endian, (0, 0));
    if word(&header, 0) | 1 != BIG_ENDIAN_LOG
        || word(&header, 8) as usize != SIZE
        || sum != (word(&header, 24), word(&header, 28))
    {
        return committed;
    }
    let mut open = HashMap::new();
    let mut frame = vec![0; FRAME_HEADER + SIZE];
    let mut offset = LOG_HEADER as u64;
    while log.read_exact(&mut frame).is_ok() {
        sum = checksum(&frame[..8], big_endian, sum);
        sum = checksum(&frame[FRAME_HEADER..], big_endian, sum);
        if frame[8..16] != header[16..24] || sum != (word(&frame, 16), word(&frame, 20)) {
            break;
        }
        open.insert(word(&frame, 0), offset + FRAME_HEADER as u64);
        if word(&frame, 4) > 0 {
            committed.extend(open.drain());
        }
        offset += frame.len() as u64;
    }
    committed
}

/// The log's checksum over an even number of words, going on from `sum`.
fn checksum(bytes: &[u8], big_endian: bool, sum: (u32, u32)) -> (u32, u32) {
    let word = |four: &[u8]| {
        let four = [four[0], four[1], four[2], four[3]];
        if big_endian {
            u32::from_be_bytes(four)
        } else {
            u32::from_le_bytes(four)
        }
    };
    bytes.as_chunks::<8>().0.iter().fold(sum, |(first, second), eight| {
        let first = first.wrapping_add(word(&eight[..4])).wrapping_add(second);
        (first, second.wrapping_add(word(&eight[4..])).wrapping_add(first))
    })
}

/// The big-endian word at `at`.
pub(super) fn word(bytes: &[u8], at: usize) -> u32 {
    bytes
        .get(at..at + 4)
        .map_or(0, |four| u32::from_be_bytes([four[0], four[1], four[2], four[3]]))
}
