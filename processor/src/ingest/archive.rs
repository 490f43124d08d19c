//! Packed transcripts: zstd frames, unpacked piece by piece, so that none is ever held whole.

use std::io::Read;

use ruzstd::decoding::StreamingDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};

/// Bytes that are read of one archive; what unpacks to more is no transcript.
const UNPACKED_CAP: u64 = 8 << 30;
/// Largest window that a frame may ask for, in bytes: what zstd itself grants unasked.
const WINDOW_CAP: u64 = 128 << 20;
/// Bytes unpacked at once.
const PIECE_BYTES: usize = 64 * 1024;

/// An archive that can't be unpacked to its end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Damaged;

/// Gives the bytes of every frame of `packed`, in pieces, up to its end or its damage.
pub(crate) fn unpack(mut packed: &[u8], mut each: impl FnMut(&[u8])) -> Result<(), Damaged> {
    let mut piece = vec![0; PIECE_BYTES];
    let mut left = UNPACKED_CAP;
    while !packed.is_empty() {
        let mut frame = match StreamingDecoder::new_with_max_window_size(&mut packed, WINDOW_CAP) {
            Ok(frame) => frame,
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                packed = packed.get(length as usize..).ok_or(Damaged)?;
                continue;
            }
            Err(_) => return Err(Damaged),
        };
        loop {
            let read = frame.read(&mut piece).map_err(|_| Damaged)?;
            if read == 0 {
                break;
            }
            left = left.checked_sub(read as u64).ok_or(Damaged)?;
            each(&piece[..read]);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;

    fn unpacked(packed: &[u8]) -> (Vec<u8>, Result<(), Damaged>) {
        let mut bytes = Vec::new();
        let whole = unpack(packed, |piece| bytes.extend_from_slice(piece));
        (bytes, whole)
    }

    fn packed(text: &str) -> Vec<u8> {
        compress_to_vec(text.as_bytes(), CompressionLevel::Fastest)
    }

    /// A frame that holds no data of the archive.
    fn skippable(content: &[u8]) -> Vec<u8> {
        let mut frame = vec![0x50, 0x2A, 0x4D, 0x18];
        frame.extend(u32::try_from(content.len()).unwrap().to_le_bytes());
        frame.extend(content);
        frame
    }

    #[test]
    fn frames_are_unpacked_one_after_the_other() {
        let long = "a line\n".repeat(100_000);
        let archive = [packed(&long), skippable(b"index"), packed("the last\n")].concat();
        assert_eq!(unpacked(&archive), (format!("{long}the last\n").into_bytes(), Ok(())));
        assert_eq!(unpacked(b""), (Vec::new(), Ok(())));
    }

    #[test]
    fn what_stands_before_a_damage_is_kept() {
        let whole = packed("a line\n");
        let cut = packed(&"another\n".repeat(1_000));
        let (bytes, result) = unpacked(&[whole.as_slice(), &cut[..cut.len() / 2]].concat());
        assert!(bytes.starts_with(b"a line\n"));
        assert_eq!(result, Err(Damaged));
        for damaged in [&b"no archive"[..], &[0x50, 0x2A, 0x4D, 0x18, 255, 0, 0, 0, 1]] {
            assert_eq!(unpacked(damaged), (Vec::new(), Err(Damaged)));
        }
    }
}
