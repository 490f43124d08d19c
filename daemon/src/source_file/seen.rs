//! What was read last of a growing file, by which it is known again. The fingerprints that are stored are of the very bytes that were
//! parsed: to read them again would miss a file that was cut and written anew in between.

use std::io::{Read, Seek, SeekFrom};

use remembrancer_schema::SourcePosition;

use crate::scan::{FINGERPRINT_BYTES, Fingerprints};

/// The ends of what was read of a file.
pub(super) struct Seen {
    /// Its first bytes.
    head: Vec<u8>,
    /// The last bytes that were read.
    tail: Vec<u8>,
    /// How many bytes were read.
    read: u64,
    /// Where the last whole line ended, and the fingerprints there.
    whole: (u64, Fingerprints),
}

impl Seen {
    /// Of a file of which nothing was read.
    pub(super) fn nothing() -> Self {
        Self {
            head: Vec::new(),
            tail: Vec::new(),
            read: 0,
            whole: (0, Fingerprints::of_ends(&[], &[])),
        }
    }

    /// Of a file that was read up to `read`, where a line ended.
    ///
    /// # Errors
    /// The file system's error.
    pub(super) fn up_to(file: &mut (impl Read + Seek), read: u64) -> std::io::Result<Self> {
        let length = read.min(FINGERPRINT_BYTES);
        let mut part = |from| {
            file.seek(SeekFrom::Start(from))?;
            let mut bytes = Vec::with_capacity(length as usize);
            file.by_ref().take(length).read_to_end(&mut bytes)?;
            std::io::Result::Ok(bytes)
        };
        let (head, tail) = (part(0)?, part(read - length)?);
        let whole = (read, Fingerprints::of_ends(&head, &tail));
        Ok(Self { head, tail, read, whole })
    }

    /// The last bytes that were read: what is read next must follow on them.
    pub(super) fn tail(&self) -> &[u8] {
        &self.tail
    }

    /// Whether these are the ends that `position` tells of, which may be of an older version and cover more of the head.
    pub(super) fn is_at(&self, position: &SourcePosition) -> bool {
        let (head, tail) = (position.prefix_len as usize, position.tail_len as usize);
        let begin = self.tail.len().checked_sub(tail);
        let ends = self.head.get(..head).zip(begin.and_then(|begin| self.tail.get(begin..)));
        self.read == position.read_offset.0
            && ends.is_some_and(|(head, tail)| Fingerprints::of_all(head, tail) == Fingerprints::of(position))
    }

    /// The fingerprints where the last whole line ended.
    #[cfg(test)]
    fn whole(&self) -> Fingerprints {
        self.whole.1
    }

    /// Takes the bytes that follow; the last whole line ends at `whole` now. Gives the fingerprints there, and where reading ended.
    pub(super) fn took(&mut self, bytes: &[u8], whole: u64) -> (Fingerprints, Fingerprints) {
        let room = (FINGERPRINT_BYTES as usize).saturating_sub(self.head.len());
        self.head.extend_from_slice(&bytes[..bytes.len().min(room)]);
        self.tail.extend_from_slice(bytes);
        self.read += bytes.len() as u64;
        if whole != self.whole.0 {
            // Behind what was read before, so that the bytes before it are here.
            let behind = (self.read - whole) as usize;
            self.whole = (whole, self.at(whole, self.tail.len() - behind));
        }
        let read = self.at(self.read, self.tail.len());
        let surplus = self.tail.len().saturating_sub(FINGERPRINT_BYTES as usize);
        self.tail.drain(..surplus);
        (self.whole.1, read)
    }

    /// The fingerprints at an offset of the file, which is at `end` of the tail.
    fn at(&self, offset: u64, end: usize) -> Fingerprints {
        let length = offset.min(FINGERPRINT_BYTES) as usize;
        Fingerprints::of_ends(&self.head[..length], &self.tail[end - length..end])
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use proptest::prelude::*;
    use remembrancer_schema::ByteOffset;

    use super::*;

    proptest! {
        #[test]
        fn they_are_those_of_the_file_however_it_is_read(
            file in proptest::collection::vec(prop_oneof![9 => any::<u8>(), 1 => Just(b'\n')], 0..6_000),
            steps in proptest::collection::vec(0_usize..3_000, 1..8),
            again in 0_usize..8,
        ) {
            let mut seen = Seen::nothing();
            let mut read = 0;
            for (number, step) in steps.into_iter().enumerate() {
                let next = (read + step).min(file.len());
                let whole = file[..next].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
                let told = seen.took(&file[read..next], whole as u64);
                let of = |offset: usize| Fingerprints::at(&file, ByteOffset(offset as u64));
                prop_assert_eq!(told, (of(whole), of(next)));
                prop_assert!(file[..next].ends_with(seen.tail()));
                read = next;
                if number == again {
                    // As after a restart, which begins behind a whole line.
                    seen = Seen::up_to(&mut Cursor::new(&file), whole as u64).unwrap();
                    prop_assert_eq!(seen.whole(), of(whole));
                    let length = whole.min(FINGERPRINT_BYTES as usize);
                    // As an older version stored it, with more of the head.
                    let older = Fingerprints::of_all(&file[..length], &file[whole - length..whole]);
                    for prints in [of(whole), older] {
                        prop_assert!(seen.is_at(&prints.position(whole)));
                        prop_assert!(!seen.is_at(&prints.position(whole + 1)));
                    }
                    read = whole;
                }
            }
        }
    }
}
