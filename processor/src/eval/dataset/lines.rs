//! A file of a set, line by line, plain or compressed; it knows where it is, for the error that names the place.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

use super::{DatasetError, LineFault};

/// What some editors put before a file's first line.
const BYTE_ORDER_MARK: char = '\u{FEFF}';

/// The lines of one file that are not blank.
pub(super) struct Lines {
    path: PathBuf,
    reader: Box<dyn BufRead>,
    /// The last line that was read, without its end.
    line: String,
    /// Its number, from 1; 0 before the first.
    number: usize,
}

impl Lines {
    pub(super) fn open(path: &Path) -> Result<Self, DatasetError> {
        let file = fs_err::File::open(path).map_err(|source| unreadable(path, source))?;
        let compressed = path.extension().is_some_and(|extension| extension == "gz");
        let bytes: Box<dyn Read> = if compressed {
            Box::new(MultiGzDecoder::new(file))
        } else {
            Box::new(file)
        };
        Ok(Self {
            path: path.to_owned(),
            reader: Box::new(BufReader::new(bytes)),
            line: String::new(),
            number: 0,
        })
    }

    /// The next line that is not blank; none at the end of the file.
    pub(super) fn next(&mut self) -> Result<Option<&str>, DatasetError> {
        loop {
            self.line.clear();
            let mut bytes = std::mem::take(&mut self.line).into_bytes();
            let read = self.reader.read_until(b'\n', &mut bytes);
            if read.map_err(|source| unreadable(&self.path, source))? == 0 {
                return Ok(None);
            }
            self.number += 1;
            self.line = String::from_utf8(bytes).map_err(|_| self.fault(LineFault::NotUtf8))?;
            if self.number == 1 && self.line.starts_with(BYTE_ORDER_MARK) {
                self.line.drain(..BYTE_ORDER_MARK.len_utf8());
            }
            if !self.line.trim().is_empty() {
                return Ok(Some(self.line.trim_end_matches(['\r', '\n'])));
            }
        }
    }

    /// The error of the line that was read last.
    pub(super) fn fault(&self, fault: LineFault) -> DatasetError {
        DatasetError::Line {
            path: self.path.clone(),
            line: self.number,
            fault,
        }
    }
}

fn unreadable(path: &Path, source: std::io::Error) -> DatasetError {
    DatasetError::Read {
        path: path.to_owned(),
        source,
    }
}
