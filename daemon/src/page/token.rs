//! What lets a browser in: a token of 256 random bits, and what follows from it. The token stands in a private file and in the address
//! that is printed once; a browser is given neither it nor anything from which it follows, but a key for its cookie.
//!
//! Nothing here is logged, and no comparison tells by its time how much of a guess was right.

use std::path::{Path, PathBuf};
use std::time::Duration;

use hmac::{Hmac, KeyInit, Mac};
use remembrancer_hooks::hex;
use remembrancer_processor::Deadline;
use sha2::{Digest, Sha256};

use crate::files::{private_folder, read_text, write_atomically};
use crate::system;

/// Bytes of a token: 256 bits can't be guessed.
const BYTES: usize = 32;
/// Hexadecimal digits of the folder of addresses: enough that no other site comes upon it.
const PLACE_DIGITS: usize = 16;
/// How long the file may take to be written.
const PATIENCE: Duration = Duration::from_secs(5);
/// How the names of the files begin and end.
const PREFIX: &str = "page-";
const SUFFIX: &str = ".token";

/// A token.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Token {
    bytes: [u8; BYTES],
}

impl std::fmt::Debug for Token {
    /// Never what it is.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Token")
    }
}

impl Token {
    /// A new one.
    ///
    /// # Errors
    /// Where the system has no random source.
    pub(crate) fn new() -> std::io::Result<Self> {
        let mut bytes = [0; BYTES];
        system::fill_randomly(&mut bytes)?;
        Ok(Self { bytes })
    }

    /// As it stands in the address.
    pub(crate) fn digits(&self) -> String {
        hex(&self.bytes)
    }

    fn parse(digits: &str) -> Option<Self> {
        let mut bytes = [0; BYTES];
        if digits.len() != 2 * BYTES || !digits.is_ascii() {
            return None;
        }
        for (byte, pair) in bytes.iter_mut().zip(digits.as_bytes().chunks(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
        }
        Some(Self { bytes })
    }

    /// Whether `said` is this token.
    pub(crate) fn is(&self, said: &str) -> bool {
        same(&self.digits(), said)
    }

    /// What a browser keeps in its cookie.
    pub(crate) fn key_of_cookie(&self) -> String {
        self.derived("cookie")
    }

    /// What every form carries, so that no other site can send one in the user's name.
    pub(crate) fn key_of_forms(&self) -> String {
        self.derived("forms")
    }

    /// The folder of all addresses. Browsers do not keep the ports of one host apart: the cookie is for this folder alone, which no
    /// page at another port knows to ask for.
    pub(crate) fn place(&self) -> String {
        let mut place = self.derived("place");
        place.truncate(PLACE_DIGITS);
        place
    }

    fn derived(&self, what: &str) -> String {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.bytes).expect("invariant: HMAC takes a key of any length");
        mac.update(what.as_bytes());
        hex(&mac.finalize().into_bytes())
    }
}

/// Whether two secrets are the same, in a time that does not depend on where they differ: their digests are compared, of which a guess
/// tells nothing.
pub(crate) fn same(one: &str, other: &str) -> bool {
    let (one, other) = (Sha256::digest(one), Sha256::digest(other));
    let differing = one
        .iter()
        .zip(other.iter())
        .fold(0, |bits, (one, other)| bits | (one ^ other));
    std::hint::black_box(differing) == 0
}

/// The token that is in force at one address, as its file says: whoever replaces the file's token takes the old one out of force.
#[derive(Debug)]
pub(crate) struct TokenFile {
    path: PathBuf,
}

impl TokenFile {
    /// Writes `token` and the address that it opens to the file of `name`, which is this user's alone.
    ///
    /// # Errors
    /// The file system's error, naming the path.
    pub(crate) fn write(state_dir: &Path, name: &str, token: &Token, address: &str) -> std::io::Result<Self> {
        private_folder(state_dir)?;
        let path = path_of(state_dir, name);
        let text = format!("{}\n{address}\n", token.digits());
        if !write_atomically(&path, &text, Deadline::after(PATIENCE))? {
            return Err(std::io::Error::new(
                std::io::ErrorKind::TimedOut,
                format!("{} could not be written in time", path.display()),
            ));
        }
        Ok(Self { path })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The token in force; none where the file is gone or says nothing. It is read each time: a file that takes the place of another
    /// may have its number in the file system, too.
    pub(crate) fn token(&self) -> Option<Token> {
        Said::read(&self.path).map(|said| said.token)
    }

    /// Removes it: its token is in force nowhere any more.
    pub(crate) fn remove(&self) {
        fs_err::remove_file(&self.path).ok();
    }
}

/// What a file of a token says.
#[derive(Debug)]
pub(crate) struct Said {
    token: Token,
    /// The address, without the token.
    pub(crate) address: String,
}

impl Said {
    fn read(path: &Path) -> Option<Self> {
        let text = read_text(path).ok()?;
        let (token, address) = text.trim_end().split_once('\n')?;
        Some(Self {
            token: Token::parse(token)?,
            address: address.to_owned(),
        })
    }

    /// The address that lets a browser in.
    pub(crate) fn opening(&self) -> String {
        opening(&self.address, &self.token)
    }
}

/// The address that lets a browser in.
pub(crate) fn opening(address: &str, token: &Token) -> String {
    format!("{address}?token={}", token.digits())
}

/// What the file of `name` says; none where there is none.
pub(crate) fn said(state_dir: &Path, name: &str) -> Option<Said> {
    Said::read(&path_of(state_dir, name))
}

fn path_of(state_dir: &Path, name: &str) -> PathBuf {
    state_dir.join(format!("{PREFIX}{name}{SUFFIX}"))
}

/// Puts a new token in the place of every one that is in force, and gives the addresses that open now. `is_served` says whether anybody
/// serves an address: the file of one that nobody does is removed.
///
/// # Errors
/// The file system's error.
pub(crate) fn renew_all(state_dir: &Path, is_served: impl Fn(&str) -> bool) -> std::io::Result<Vec<String>> {
    let mut renewed = Vec::new();
    let Ok(entries) = fs_err::read_dir(state_dir) else {
        return Ok(renewed);
    };
    for entry in entries.flatten() {
        let (path, file) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        let Some(name) = file.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(SUFFIX)) else {
            continue;
        };
        match Said::read(&path) {
            Some(said) if is_served(&said.address) => {
                let token = Token::new()?;
                TokenFile::write(state_dir, name, &token, &said.address)?;
                renewed.push(opening(&said.address, &token));
            }
            _ => fs_err::remove_file(&path)?,
        }
    }
    renewed.sort();
    Ok(renewed)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[test]
    fn what_follows_from_a_token_tells_nothing_of_it_and_differs() {
        let (one, other) = (Token::new().unwrap(), Token::new().unwrap());
        assert_ne!(one, other);
        let derived = [one.digits(), one.key_of_cookie(), one.key_of_forms()];
        for (place, secret) in derived.iter().enumerate() {
            assert_eq!(secret.len(), 64);
            assert!(derived.iter().skip(place + 1).all(|later| later != secret));
        }
        assert_eq!(one.place().len(), PLACE_DIGITS);
        assert_ne!(one.key_of_forms(), other.key_of_forms());
        assert_eq!(format!("{one:?}"), "Token");
    }

    #[rstest]
    #[case::same("abc", "abc", true)]
    #[case::other("abc", "abd", false)]
    #[case::shorter("abc", "ab", false)]
    #[case::empty("abc", "", false)]
    #[case::both_empty("", "", true)]
    fn secrets_are_compared_whole(#[case] one: &str, #[case] other: &str, #[case] expected: bool) {
        assert_eq!(same(one, other), expected);
    }

    #[test]
    fn a_token_is_read_as_it_was_written_and_nothing_else_is_one() {
        let token = Token::new().unwrap();
        assert!(token.is(&token.digits()) && !token.is(&token.key_of_cookie()));
        assert_eq!(Token::parse(&token.digits()), Some(token.clone()));
        for wrong in ["", "00", &"g".repeat(64), &"é".repeat(32), &token.digits()[1..]] {
            assert_eq!(Token::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_file_is_private_and_its_token_ends_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        let token = Token::new().unwrap();
        let file = TokenFile::write(&state, "7420", &token, "http://127.0.0.1:7420/").unwrap();
        assert_eq!(system::mode(&fs_err::metadata(file.path()).unwrap()) & 0o777, 0o600);
        assert_eq!(file.token(), Some(token.clone()));
        assert_eq!(
            said(&state, "7420").unwrap().opening(),
            format!("http://127.0.0.1:7420/?token={}", token.digits())
        );
        file.remove();
        assert_eq!(file.token(), None);
        assert!(said(&state, "7420").is_none());
    }

    #[test]
    fn a_new_token_takes_the_old_one_out_of_force_where_somebody_serves() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        let token = Token::new().unwrap();
        let served = TokenFile::write(&state, "1", &token, "http://127.0.0.1:1/").unwrap();
        let dead = TokenFile::write(&state, "2", &token, "http://127.0.0.1:2/").unwrap();
        fs_err::write(state.join("page-3.token"), "half").unwrap();
        assert_eq!(served.token(), Some(token.clone()));
        let opened = renew_all(&state, |address| address.contains(":1/")).unwrap();
        let now = served.token().unwrap();
        assert_ne!(now, token);
        assert_eq!(opened, [format!("http://127.0.0.1:1/?token={}", now.digits())]);
        assert_eq!(dead.token(), None);
        assert!(!state.join("page-3.token").exists());
        // Of two that follow each other, the second file may have the number of the one that was read.
        for _ in 0..4 {
            renew_all(&state, |address| address.contains(":1/")).unwrap();
            let opened = renew_all(&state, |address| address.contains(":1/")).unwrap();
            let now = served.token().unwrap();
            assert_eq!(opened, [format!("http://127.0.0.1:1/?token={}", now.digits())]);
        }
    }
}
