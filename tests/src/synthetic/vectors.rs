//! Vectors of synthetic episodes: real ones, each with something of its own added, so that an episode has the neighbours that
//! texts have.

use std::sync::LazyLock;

use remembrancer_processor::embed::{BertEmbedder, Embed};

use super::{Numbers, Synthetic};

/// The model whose vectors they are.
pub static MODEL: LazyLock<String> = LazyLock::new(|| BertEmbedder::embedded().unwrap().model_id().to_owned());
/// Texts that are embedded.
const CENTRES: usize = 2_000;
/// Length of a vector's own part beside the embedded text's 1: it is at a cosine of about 0.8 to the text.
const OWN_PART: f32 = 0.75;
/// Makes the numbers of own parts others than those of turns.
const OWN_SEED: u64 = 1 << 41;

/// Vectors of real texts, to be varied.
#[derive(Debug)]
pub struct Vectors {
    centres: Vec<Vec<f32>>,
}

impl Vectors {
    /// Embeds texts of `synthetic`, which takes a few seconds.
    ///
    /// # Panics
    /// Where the built-in model fails.
    pub fn new(synthetic: &Synthetic) -> Self {
        let model = BertEmbedder::embedded().unwrap();
        let prompts: Vec<String> = (0..CENTRES as u64)
            .map(|number| synthetic.prompt(OWN_SEED + number, 24))
            .collect();
        let texts: Vec<&str> = prompts.iter().map(String::as_str).collect();
        let centres = model.embed_passages(&texts).unwrap();
        Self {
            centres: centres
                .into_iter()
                .map(remembrancer_processor::embed::Embedding::into_vec)
                .collect(),
        }
    }

    /// How many components each has.
    pub fn dimension(&self) -> usize {
        self.centres[0].len()
    }

    /// The unit vector of an episode.
    pub fn of(&self, number: u64) -> Vec<f32> {
        let mut numbers = Numbers::new(OWN_SEED + number);
        let centre = &self.centres[numbers.below(self.centres.len())];
        let mut value = || numbers.below(1 << 20) as f32 / (1 << 19) as f32 - 1.0;
        let own = unit(centre.iter().map(|_| value() + value() + value()).collect());
        unit(centre.iter().zip(own).map(|(centre, own)| centre + OWN_PART * own).collect())
    }
}

fn unit(mut vector: Vec<f32>) -> Vec<f32> {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    for value in &mut vector {
        *value /= length;
    }
    vector
}
