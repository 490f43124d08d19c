//! What a team keeps from the shared store itself: texts sealed with the team's key, and names that only who has the key can tell.
//!
//! In go an episode and the team's key, out come bytes for the column `sealed`: a version, a random nonce of 24 bytes, and the
//! texts under XChaCha20-Poly1305, bound to the team and to the episode's uid, so that no row passes for another. The other way
//! round come the texts, or an error that says which of it does not fit. Two keys follow from the team's by HKDF-SHA-256, one for
//! texts and one for names. The key itself is read by [`key_file`]; nothing here is logged.

mod key_file;

use std::fmt;
use std::path::Path;

use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use hkdf::Hkdf;
use hmac::{Hmac, KeyInit, Mac};
pub(crate) use key_file::KeyFileError;
use remembrancer_hooks::hex;
use remembrancer_schema::{EpisodeUid, Facets, SharedEpisode};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use crate::system;

/// The form of `sealed`, its first byte.
const VERSION: u8 = 1;
/// Bytes of the nonce: so many that random ones never meet.
const NONCE: usize = 24;
/// Bytes that a name keeps of its HMAC.
const NAME: usize = 16;
/// What the seal is bound to, before the team and the uid.
const BOUND_TO: &[u8] = b"remembrancer-seal-1";
/// How a name begins that only the key tells.
const HIDDEN: &str = "h:";

/// Why something was not sealed or not opened. No text of it is told.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SealError {
    /// The system gave no random bytes.
    #[error("the system has no random bytes for a seal")]
    Random(#[source] std::io::Error),
    /// The texts are no JSON, which can't be, or are longer than the cipher takes.
    #[error("an episode could not be sealed")]
    Unsealable,
    /// It was sealed by a program that knows more forms than this one.
    #[error("sealed in form {0}, and this program knows form 1 alone; update it")]
    Version(u8),
    /// Too short to be one.
    #[error("what should be sealed is cut short")]
    Cut,
    /// Another key, another team, another episode, or a changed byte: the cipher does not tell which.
    #[error("sealed with another key, or changed since; see that `share.key_file` is the key of this team")]
    Foreign,
    /// It opened, and holds something else.
    #[error("what was sealed is no episode; who shared it may run a newer program")]
    Form,
}

/// The texts of an episode that was sealed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Opened {
    /// What was asked.
    pub(crate) prompt: String,
    /// What came of it.
    pub(crate) answer: String,
    /// What it touched.
    pub(crate) facets: Facets,
    /// The branch at that turn.
    #[serde(default)]
    pub(crate) git_branch: Option<String>,
    /// The project's name.
    pub(crate) project_name: String,
    /// The project's keys, as they are.
    pub(crate) project_keys: Vec<String>,
}

/// The same, as it is sealed.
#[derive(Serialize)]
struct ToSeal<'a> {
    prompt: &'a str,
    answer: &'a str,
    facets: &'a Facets,
    git_branch: Option<&'a str>,
    project_name: &'a str,
    project_keys: &'a [String],
}

/// A team's key, as the two keys that follow from it.
#[derive(Clone)]
pub(crate) struct TeamKey {
    texts: XChaCha20Poly1305,
    names: Hmac<Sha256>,
}

impl fmt::Debug for TeamKey {
    /// Never what it is.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("TeamKey")
    }
}

impl TeamKey {
    /// The key in the file at `path`, which has to be this user's alone.
    ///
    /// # Errors
    /// [`KeyFileError`], naming the file and the remedy.
    pub(crate) fn read(path: &Path) -> Result<Self, KeyFileError> {
        Ok(Self::of(&key_file::read(path)?))
    }

    /// A new key, in a new file at `path` of mode 0600. What is there already is left alone.
    ///
    /// # Errors
    /// [`KeyFileError`], naming the file and the remedy.
    pub(crate) fn generate(path: &Path) -> Result<Self, KeyFileError> {
        Ok(Self::of(&key_file::make(path)?))
    }

    fn of(key: &[u8; key_file::BYTES]) -> Self {
        let derived = |info: &[u8]| {
            let mut out = [0; 32];
            let hkdf = Hkdf::<Sha256>::new(None, key);
            hkdf.expand(info, &mut out).expect("invariant: HKDF-SHA-256 gives 32 bytes");
            out
        };
        let names = Hmac::<Sha256>::new_from_slice(&derived(b"name")).expect("invariant: HMAC takes a key of any length");
        Self {
            texts: XChaCha20Poly1305::new(&derived(b"seal").into()),
            names,
        }
    }

    /// Seals the texts of `episode`, for a row of the team of this name.
    ///
    /// # Errors
    /// [`SealError::Random`]; [`SealError::Unsealable`].
    pub(crate) fn seal(&self, team: &str, episode: &SharedEpisode) -> Result<Vec<u8>, SealError> {
        let texts = ToSeal {
            prompt: &episode.prompt,
            answer: &episode.answer,
            facets: &episode.facets,
            git_branch: episode.git_branch.as_deref(),
            project_name: &episode.project_name,
            project_keys: &episode.project_keys,
        };
        let texts = serde_json::to_vec(&texts).map_err(|_| SealError::Unsealable)?;
        let mut nonce = [0; NONCE];
        system::fill_randomly(&mut nonce).map_err(SealError::Random)?;
        let payload = Payload {
            msg: &texts,
            aad: &bound(team, episode.uid),
        };
        let encrypted = self.texts.encrypt(&XNonce::from(nonce), payload);
        let encrypted = encrypted.map_err(|_| SealError::Unsealable)?;
        Ok([&[VERSION][..], &nonce, &encrypted].concat())
    }

    /// What was sealed of the episode `uid` in the team of this name.
    ///
    /// # Errors
    /// [`SealError`]: of another form, cut, of another key, team or episode, changed, or no episode.
    pub(crate) fn open(&self, team: &str, uid: EpisodeUid, sealed: &[u8]) -> Result<Opened, SealError> {
        let (version, rest) = sealed.split_first().ok_or(SealError::Cut)?;
        if *version != VERSION {
            return Err(SealError::Version(*version));
        }
        let (nonce, encrypted) = rest.split_first_chunk::<NONCE>().ok_or(SealError::Cut)?;
        let payload = Payload {
            msg: encrypted,
            aad: &bound(team, uid),
        };
        let texts = self.texts.decrypt(&XNonce::from(*nonce), payload);
        serde_json::from_slice(&texts.map_err(|_| SealError::Foreign)?).map_err(|_| SealError::Form)
    }

    /// What stands for the key of a project or the id of a session in columns that the server can read: the same for the same text,
    /// so that it can be compared, and nothing that leads back to it without the key.
    pub(crate) fn name(&self, text: &str) -> String {
        format!("{HIDDEN}{}", hex(&cut(self.mac(&[text.as_bytes()]))))
    }

    /// What stands for the hash of an episode's texts, of which who guesses a text could otherwise learn that it is the right one.
    pub(crate) fn hash(&self, content_hash: &[u8; 32]) -> [u8; 32] {
        self.mac(&[b"hash", content_hash])
    }

    /// By what the server knows, without the key, that two members have the same one.
    pub(crate) fn check(&self) -> [u8; NAME] {
        cut(self.mac(&[b"check"]))
    }

    fn mac(&self, parts: &[&[u8]]) -> [u8; 32] {
        let mut mac = self.names.clone();
        for part in parts {
            mac.update(part);
        }
        mac.finalize().into_bytes().into()
    }
}

/// The first bytes of a MAC.
fn cut(mac: [u8; 32]) -> [u8; NAME] {
    let mut first = [0; NAME];
    first.copy_from_slice(&mac[..NAME]);
    first
}

/// What a seal holds for alone. The uid has a fixed length, so that no two teams and uids read as the same bytes.
fn bound(team: &str, uid: EpisodeUid) -> Vec<u8> {
    [BOUND_TO, team.as_bytes(), &uid.0].concat()
}

#[cfg(test)]
mod tests;
