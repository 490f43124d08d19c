//! Vectors of single terms: how near two words are in meaning, without the model.
//!
//! A table made from the built-in model by `examples/term_vectors.rs`, as model2vec (Tulkens, van Dongen: Minish, 2024) makes its own: the
//! vocabulary's words are embedded one by one, their mean is taken off, and their first principal components are kept, a byte
//! each. In goes a term as the full-text index has it, out comes its row, if the vocabulary has a word of it; and of two rows
//! the cosine. What the vocabulary lacks (identifiers, most names) is near nothing but itself.

use std::collections::HashMap;
use std::path::Path;
use std::sync::LazyLock;

use safetensors::SafeTensors;

use super::EmbedError;

static TERMS: &[u8] = include_bytes!("../../model/terms.safetensors");
/// The tensor of the terms: UTF-8, in order, each ended by a line end.
const NAMES: &str = "terms";
/// The tensor of their vectors, `[terms, dimension]`, signed bytes.
const VECTORS: &str = "vectors";

/// A row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct TermRow(u32);

/// The table.
pub(crate) struct TermVectors {
    rows: HashMap<&'static str, TermRow>,
    codes: &'static [u8],
    /// One over the length of each row.
    inverse_lengths: Vec<f32>,
    dimension: usize,
}

impl TermVectors {
    /// The table in the binary, read once. An empty one, in which nothing is near anything, if it can't be read: a test holds that it can.
    pub(crate) fn built_in() -> &'static Self {
        static TABLE: LazyLock<TermVectors> = LazyLock::new(|| {
            TermVectors::parse(TERMS).unwrap_or_else(|error| {
                tracing::error!(%error, "the table of term vectors can't be read");
                TermVectors::empty()
            })
        });
        &TABLE
    }

    fn empty() -> Self {
        Self {
            rows: HashMap::new(),
            codes: &[],
            inverse_lengths: Vec::new(),
            dimension: 0,
        }
    }

    fn parse(bytes: &'static [u8]) -> Result<Self, EmbedError> {
        let refuse = |reason: String| EmbedError::Weights {
            path: Path::new("terms.safetensors").to_owned(),
            reason,
        };
        let tensors = SafeTensors::deserialize(bytes).map_err(|error| refuse(error.to_string()))?;
        let tensor = |name| tensors.tensor(name).map_err(|error| refuse(error.to_string()));
        let (names, vectors) = (tensor(NAMES)?, tensor(VECTORS)?);
        let names = str::from_utf8(names.data()).map_err(|error| refuse(error.to_string()))?;
        let rows: HashMap<&'static str, TermRow> = names.lines().zip((0..).map(TermRow)).collect();
        let &[count, dimension] = vectors.shape() else {
            return Err(refuse(format!("{VECTORS} is no matrix")));
        };
        let codes = vectors.data();
        if rows.len() != count || dimension == 0 || codes.len() != count * dimension {
            return Err(refuse(format!(
                "{} terms, but {VECTORS} is {count} by {dimension} in {} bytes",
                rows.len(),
                codes.len()
            )));
        }
        let inverse = |row: &[u8]| (dot(row, row).max(1) as f32).sqrt().recip();
        Ok(Self {
            rows,
            inverse_lengths: codes.chunks_exact(dimension).map(inverse).collect(),
            codes,
            dimension,
        })
    }

    /// The row of a term, as [`remembrancer_schema::terms`] gives it.
    pub(crate) fn row(&self, term: &str) -> Option<TermRow> {
        self.rows.get(term).copied()
    }

    /// The cosine of two terms, −1 to 1: about 0 of unrelated ones.
    pub(crate) fn cosine(&self, left: TermRow, right: TermRow) -> f32 {
        let lengths = self.inverse_lengths[left.0 as usize] * self.inverse_lengths[right.0 as usize];
        dot(self.codes_of(left), self.codes_of(right)) as f32 * lengths
    }

    fn codes_of(&self, row: TermRow) -> &'static [u8] {
        let start = row.0 as usize * self.dimension;
        &self.codes[start..start + self.dimension]
    }
}

/// The product of two rows of signed bytes. No sum of so few overflows: 127 · 127 · 384 is 6 million.
fn dot(left: &[u8], right: &[u8]) -> i32 {
    let products = left
        .iter()
        .zip(right)
        .map(|(left, right)| i32::from(i16::from(left.cast_signed()) * i16::from(right.cast_signed())));
    products.sum()
}

#[cfg(test)]
mod tests {
    use remembrancer_schema::terms;
    use rstest::rstest;
    use sha2::{Digest, Sha256};

    use super::*;
    use crate::embed::{BertEmbedder, Embed};

    fn cosine(left: &str, right: &str) -> f32 {
        let table = TermVectors::built_in();
        let row = |word: &str| table.row(&terms(word)[0]).unwrap();
        table.cosine(row(left), row(right))
    }

    /// Of the file that ADR 58's figures are of.
    const SHA256: &str = "30795cca5d90dcb7f0a7250d2d3c2298c2324968b3a38e106418e151e215de94";

    #[test]
    fn the_file_is_the_one_that_was_measured() {
        let sum = Sha256::digest(TERMS)
            .iter()
            .fold(String::new(), |sum, byte| sum + &format!("{byte:02x}"));
        assert_eq!(sum, SHA256);
    }

    #[test]
    fn the_table_is_read_and_names_each_term_as_the_index_does() {
        let table = TermVectors::parse(TERMS).unwrap();
        assert!(table.rows.len() > 10_000 && table.dimension <= 384);
        for term in ["groceri", "purchas", "databas"] {
            assert!(table.row(term).is_some(), "{term}");
        }
        assert_eq!((table.row("groceries"), table.row("getusername")), (None, None));
    }

    #[rstest]
    #[case::bought("buy", "purchase", "kernel")]
    #[case::driven("car", "vehicle", "parliament")]
    #[case::treated("doctor", "physician", "guitar")]
    #[case::wed("wedding", "marriage", "compiler")]
    #[case::kept("folder", "directory", "horse")]
    fn words_of_one_meaning_are_near(#[case] word: &str, #[case] near: &str, #[case] far: &str) {
        assert!(cosine(word, near) > 0.5, "{word}, {near}: {}", cosine(word, near));
        assert!(cosine(word, far) < 0.3, "{word}, {far}: {}", cosine(word, far));
        assert!((cosine(word, word) - 1.0).abs() < 1e-3);
        assert!((cosine(word, near) - cosine(near, word)).abs() < 1e-6);
    }

    /// The table is of the model that is built in: what lies nearest there lies nearest here.
    #[test]
    fn the_nearest_of_the_model_is_the_nearest_of_the_table() {
        let words = [
            "buy",
            "purchase",
            "car",
            "vehicle",
            "doctor",
            "physician",
            "train",
            "railway",
            "tired",
            "sleepy",
            "house",
            "home",
            "song",
            "music",
            "rain",
            "weather",
            "error",
            "mistake",
            "fast",
            "quick",
            "begin",
            "start",
            "ship",
            "boat",
        ];
        let vectors = BertEmbedder::embedded().unwrap().embed_passages(&words).unwrap();
        let nearest = |of: usize, cosine: &dyn Fn(usize) -> f32| {
            let others = (0..words.len()).filter(|other| *other != of);
            others.max_by(|a, b| cosine(*a).total_cmp(&cosine(*b))).unwrap()
        };
        let agree = (0..words.len()).filter(|of| {
            let model = |other: usize| {
                let pairs = vectors[*of].as_slice().iter().zip(vectors[other].as_slice());
                pairs.map(|(left, right)| left * right).sum::<f32>()
            };
            nearest(*of, &model) == nearest(*of, &|other| cosine(words[*of], words[other]))
        });
        assert!(agree.count() + 2 >= words.len());
    }

    #[test]
    fn a_table_that_is_none_is_refused() {
        assert!(TermVectors::parse(b"none").is_err());
        assert_eq!(TermVectors::empty().row("buy"), None);
    }
}
