//! The content of episodes: what is made of it to store it, and whether one copy goes further than another.

use rusqlite::Connection;
use sha2::{Digest, Sha256};

use super::super::index::parse_facets;
use crate::ids::EpisodeId;
use crate::rows::{Facets, NewEpisode};

/// An episode to store, with what is made of it once.
pub(super) struct Content<'e> {
    pub(super) episode: &'e NewEpisode,
    /// The facets as they are stored.
    pub(super) facets: String,
    /// SHA-256 over the texts, each led by its length. What does not change what is found by them, such as the importance,
    /// is no part of it: a late commit makes a whole turn important, and must not cost its frozen parts their embeddings.
    pub(super) hash: [u8; 32],
}

impl<'e> Content<'e> {
    pub(super) fn of(episode: &'e NewEpisode) -> rusqlite::Result<Self> {
        let facets =
            serde_json::to_string(&episode.facets).map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
        let hash = content_hash([&episode.prompt, &episode.answer, &facets]);
        Ok(Self { episode, facets, hash })
    }
}

/// The hash of the texts of an episode: prompt, answer, and facets as they are stored.
pub(crate) fn content_hash(texts: [&str; 3]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    }
    hash.finalize().into()
}

/// The hash of an episode of these texts, as this crate tells whether two are the same: of what is sent elsewhere it is to be made of
/// what is sent.
pub fn content_hash_of(prompt: &str, answer: &str, facets: &Facets) -> [u8; 32] {
    // Lists of text are always JSON.
    let facets = serde_json::to_string(facets).unwrap_or_default();
    content_hash([prompt, answer, &facets])
}

/// The texts of an episode, to tell whether one copy of it goes further than another.
pub(super) struct Texts {
    prompt: String,
    answer: String,
    facets: Facets,
}

impl Texts {
    pub(super) fn of(episode: &NewEpisode) -> Self {
        Self {
            prompt: episode.prompt.clone(),
            answer: episode.answer.clone(),
            facets: episode.facets.clone(),
        }
    }
}

/// The texts of a stored episode.
pub(super) fn texts_of(db: &Connection, id: EpisodeId) -> rusqlite::Result<Texts> {
    db.prepare_cached("SELECT prompt, answer, facets FROM episode_texts WHERE episode_id = :id")?
        .query_row([id], |row| {
            Ok(Texts {
                prompt: row.get(0)?,
                answer: row.get(1)?,
                facets: parse_facets(row.get_ref(2)?.as_str()?)?,
            })
        })
}

/// Whether `longer` is `shorter` with something after it: the same turn, read further.
pub(super) fn goes_further(longer: &Texts, shorter: &Texts) -> bool {
    let holds = |longer: &[String], shorter: &[String]| shorter.iter().all(|item| longer.contains(item));
    longer.prompt == shorter.prompt
        && longer.answer.starts_with(&shorter.answer)
        && holds(&longer.facets.files, &shorter.facets.files)
        && holds(&longer.facets.commands, &shorter.facets.commands)
        && holds(&longer.facets.errors, &shorter.facets.errors)
        && holds(&longer.facets.tools, &shorter.facets.tools)
}
