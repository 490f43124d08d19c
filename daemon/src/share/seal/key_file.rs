//! The file of a team's key: 32 random bytes as base64url, on one line behind the name of its form. A path comes in; the key goes
//! out, or why not, with what to do. Whoever can read the file can read the team's texts, so that it has to be its user's alone.

use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use crate::system;

/// Bytes of a key.
pub(super) const BYTES: usize = 32;
/// What stands before the key.
const FORM: &str = "remembrancer-team-key-1:";
/// How the forms of all versions begin.
const ANY_FORM: &str = "remembrancer-team-key-";
/// Letters of a key: six bits each.
const LETTERS: usize = (BYTES * 8).div_ceil(6);
/// Bytes that are read of a file: more than a key's has.
const MOST_BYTES: u64 = 4_096;
/// The letters of base64url, by their value.
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Why a key's file can't be used, or not be made. What stands in it is never told.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KeyFileError {
    /// There is none.
    #[error(
        "there is no team key at {path}; ask who set up the team for the file, or make one for a new team by `remembrancer share key {path}`"
    )]
    Missing {
        /// Where it should be.
        path: PathBuf,
    },
    /// The file system's error.
    #[error("the team key {path} can't be read")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// Something else is there.
    #[error("{path} is {what}, and no file with a team key; name the file by `share.key_file`")]
    NoFile {
        /// The place.
        path: PathBuf,
        /// What is there.
        what: &'static str,
    },
    /// It belongs to somebody else, who may change it.
    #[error("the team key {path} belongs to another user; copy it to a file of your own of mode 0600")]
    Others {
        /// The file.
        path: PathBuf,
    },
    /// Others may read or change it.
    #[error(
        "others can reach the team key {path} (mode {mode:04o}); `chmod 600 {path}`, and think of a new key where others may have read it"
    )]
    Open {
        /// The file.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// It is in a form of a later version.
    #[error("the team key {path} is of a newer form than this program knows; update it")]
    Newer {
        /// The file.
        path: PathBuf,
    },
    /// It holds no key.
    #[error(
        "{path} holds no whole team key, which is one line that begins with remembrancer-team-key-1:; copy the file again from who set up the team"
    )]
    Form {
        /// The file.
        path: PathBuf,
    },
    /// There is something where the new one should be.
    #[error("{path} is there already and is left as it is; name another file")]
    Exists {
        /// The place.
        path: PathBuf,
    },
    /// It could not be written.
    #[error("the team key {path} can't be written")]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
}

/// The key in the file at `path`.
pub(super) fn read(path: &Path) -> Result<[u8; BYTES], KeyFileError> {
    let at = || path.to_owned();
    let unread = |source: std::io::Error| match source.kind() {
        ErrorKind::NotFound => KeyFileError::Missing { path: at() },
        _ => KeyFileError::Read { path: at(), source },
    };
    // A pipe would be waited for without an end.
    if let Some(what) = system::other_than_a_file(&fs_err::metadata(path).map_err(unread)?) {
        return Err(KeyFileError::NoFile { path: at(), what });
    }
    let file = fs_err::File::open(path).map_err(unread)?;
    // Of what was opened, whatever has taken its name since.
    let metadata = file.metadata().map_err(unread)?;
    if system::owner(&metadata) != system::user_id() {
        return Err(KeyFileError::Others { path: at() });
    }
    let mode = system::mode(&metadata) & 0o777;
    if mode & 0o077 != 0 {
        return Err(KeyFileError::Open { path: at(), mode });
    }
    let mut text = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut text).map_err(unread)?;
    let text = String::from_utf8(text).map_err(|_| KeyFileError::Form { path: at() })?;
    let line = text.trim();
    match line.strip_prefix(FORM) {
        Some(letters) => decoded(letters).ok_or(KeyFileError::Form { path: at() }),
        None if line.starts_with(ANY_FORM) => Err(KeyFileError::Newer { path: at() }),
        None => Err(KeyFileError::Form { path: at() }),
    }
}

/// Makes a new key, in a new file at `path`.
pub(super) fn make(path: &Path) -> Result<[u8; BYTES], KeyFileError> {
    let unwritten = |source: std::io::Error| match source.kind() {
        ErrorKind::AlreadyExists => KeyFileError::Exists { path: path.to_owned() },
        _ => KeyFileError::Write {
            path: path.to_owned(),
            source,
        },
    };
    let mut key = [0; BYTES];
    system::fill_randomly(&mut key).map_err(unwritten)?;
    let mut file = system::opening(0o600)
        .write(true)
        .create_new(true)
        .open(path)
        .map_err(unwritten)?;
    let line = format!("{FORM}{}\n", encoded(&key));
    match file.write_all(line.as_bytes()).and_then(|()| file.sync_all()) {
        Ok(()) => Ok(key),
        Err(error) => {
            // Half a key is none.
            fs_err::remove_file(path).ok();
            Err(unwritten(error))
        }
    }
}

/// The letters of a key.
fn encoded(key: &[u8; BYTES]) -> String {
    let mut letters = String::with_capacity(LETTERS);
    for three in key.chunks(3) {
        let bits = three.iter().fold(0_u32, |bits, byte| (bits << 8) | u32::from(*byte)) << (8 * (3 - three.len()));
        for place in 0..=three.len() {
            let value = (bits >> (18 - 6 * place)) & 0x3f;
            letters.push(char::from(ALPHABET[value as usize]));
        }
    }
    letters
}

/// The key of these letters; none where they are no key, or not as [`encoded`] writes it.
fn decoded(letters: &str) -> Option<[u8; BYTES]> {
    if letters.len() != LETTERS {
        return None;
    }
    let mut key = [0; BYTES];
    let (mut bits, mut held, mut at) = (0_u32, 0, 0);
    for letter in letters.bytes() {
        let value = ALPHABET.iter().position(|known| *known == letter)?;
        bits = (bits << 6) | value as u32;
        held += 6;
        if held >= 8 {
            held -= 8;
            *key.get_mut(at)? = (bits >> held) as u8;
            at += 1;
            bits &= (1 << held) - 1;
        }
    }
    // The last letter has bits over, which are nothing.
    (at == BYTES && bits == 0).then_some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_those_of_base64url() {
        // By another program: base64.urlsafe_b64encode(bytes(range(32))).
        let counted: [u8; BYTES] = std::array::from_fn(|at| at as u8);
        let letters = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
        assert_eq!(encoded(&counted), letters);
        assert_eq!(decoded(letters), Some(counted));
        assert_eq!(encoded(&[0xff; BYTES]), "__________________________________________8");
        assert_eq!(decoded("__________________________________________8"), Some([0xff; BYTES]));
    }

    #[test]
    fn what_is_no_key_is_none() {
        let letters = encoded(&[7; BYTES]);
        let last = |letter: char| format!("{}{letter}", &letters[..LETTERS - 1]);
        for wrong in [
            String::new(),
            letters[1..].to_owned(),
            format!("{letters}A"),
            letters.replacen('B', "+", 1),
            // The same bytes, spelled otherwise.
            last('d'),
        ] {
            assert_eq!(decoded(&wrong), None, "{wrong}");
        }
        assert_eq!(decoded(&letters), Some([7; BYTES]));
    }
}
