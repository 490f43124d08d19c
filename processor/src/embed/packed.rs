//! The layers on the processor: texts end to end, without padding, in as few steps as there are waits between tokens.
//!
//! All of a layer but attention is done token by token, so the tokens are split into shares, one thread works a share from
//! one layer's attention to the next one's, and threads wait for each other once a layer. A share is small enough for what
//! it needs to stay in the second-level cache, and large enough for a matrix's bytes to be worth turning into numbers.

use std::cell::RefCell;
use std::ops::Range;

use candle_transformers::models::bert::{Config, HiddenAct};
use rayon::prelude::*;

use super::EmbedError;
use super::attention::{self, Attention};
use super::linear::{self, Activation, Inputs, Linear, Target};
use super::norm::{NormParameters, normalise};
use super::tile::TOKENS;
use super::vnni::ByteSet;
use super::weights::Weights;

/// Tokens in a share at most: their widest values (6 KB each) take two fifths of a second-level cache of 2 MB.
const LARGEST_SHARE: usize = 128;

/// Tokens in a share at least: each share turns all weights into numbers anew, at the cost of about three tokens.
const LEAST_SHARE: usize = 8;

/// The model's layers.
pub(crate) struct PackedLayers {
    layers: Vec<Layer>,
    hidden: usize,
}

struct Layer {
    /// Query, key and value in one product.
    attention_in: Linear,
    attention_out: Linear,
    attention_norm: NormParameters,
    intermediate: Linear,
    activation: Activation,
    output: Linear,
    output_norm: NormParameters,
    heads: usize,
}

/// What a thread needs for a share: about 1.8 MB once it has seen a long text. It is kept, as fresh memory would cost a short
/// prompt a page fault every few microseconds.
#[derive(Default)]
struct Room {
    attended: Vec<f32>,
    narrow: Inputs,
    wide: Inputs,
    product: linear::Room,
    attention: attention::Room,
}

thread_local! {
    static ROOM: RefCell<Room> = RefCell::default();
}

impl PackedLayers {
    /// Takes every layer's tensors from `weights`. Those in 8 bits are multiplied by `bytes`, if there are such instructions.
    pub(super) fn load(weights: &Weights<'_>, config: &Config, bytes: Option<ByteSet>) -> Result<Self, EmbedError> {
        let layers: Vec<_> = (0..config.num_hidden_layers)
            .into_par_iter()
            .map(|index| Layer::load(weights, config, &format!("encoder.layer.{index}"), bytes))
            .collect();
        // Of several errors the first layer's is given, whichever thread was faster.
        let layers = layers.into_iter().collect::<Result<_, _>>()?;
        Ok(Self {
            layers,
            hidden: config.hidden_size,
        })
    }

    /// Runs the layers over `rows`, `[tokens, hidden]`, where `lengths` says how many tokens each text has in turn, on the
    /// threads of the current rayon pool. Gives the last layer's rows.
    pub(crate) fn forward(&self, mut rows: Vec<f32>, lengths: &[usize]) -> Vec<f32> {
        let Some(first) = self.layers.first() else {
            return rows;
        };
        let texts = spans(lengths);
        let share = share_of(rows.len() / self.hidden, rayon::current_num_threads());
        let (narrow, triple) = (share * self.hidden, share * 3 * self.hidden);
        let mut together = vec![0.0; 3 * rows.len()];
        let mut following = vec![0.0; 3 * rows.len()];
        rows.par_chunks(narrow)
            .zip(together.par_chunks_mut(triple))
            .for_each(|(rows, together)| ROOM.with_borrow_mut(|room| first.project(rows, together, room)));
        for (index, layer) in self.layers.iter().enumerate() {
            let next = self.layers.get(index + 1);
            let shares = rows.par_chunks_mut(narrow).zip(following.par_chunks_mut(triple)).enumerate();
            shares.for_each(|(index, (rows, following))| {
                ROOM.with_borrow_mut(|room| {
                    layer.attend(&together, &texts, index * share, rows, room);
                    layer.feed_forward(rows, room);
                    if let Some(next) = next {
                        next.project(rows, following, room);
                    }
                });
            });
            std::mem::swap(&mut together, &mut following);
        }
        rows
    }
}

impl Layer {
    fn load(weights: &Weights<'_>, config: &Config, name: &str, bytes: Option<ByteSet>) -> Result<Self, EmbedError> {
        let (hidden, wide) = (config.hidden_size, config.intermediate_size);
        let linear = |part: &str, shape| Linear::load(weights, &[format!("{name}.{part}")], shape, bytes);
        let norm = |part: &str| weights.norm(&format!("{name}.{part}.LayerNorm"), hidden, config.layer_norm_eps);
        let inputs = ["query", "key", "value"].map(|part| format!("{name}.attention.self.{part}"));
        Ok(Self {
            attention_in: Linear::load(weights, &inputs, [hidden, hidden], bytes)?,
            attention_out: linear("attention.output.dense", [hidden, hidden])?,
            attention_norm: norm("attention.output")?,
            intermediate: linear("intermediate.dense", [wide, hidden])?,
            activation: match config.hidden_act {
                HiddenAct::Gelu => Activation::Gelu,
                HiddenAct::GeluApproximate => Activation::GeluApproximate,
                HiddenAct::Relu => Activation::Relu,
            },
            output: linear("output.dense", [hidden, wide])?,
            output_norm: norm("output")?,
            heads: config.num_attention_heads,
        })
    }

    /// Queries, keys and values of a share's `rows`.
    fn project(&self, rows: &[f32], together: &mut [f32], room: &mut Room) {
        room.narrow.lay_out(rows, self.attention_norm.columns());
        self.attention_in
            .apply(&room.narrow, Target::Rows(together), &mut room.product);
    }

    /// Attention, its product and norm for the share whose `rows` begin at token `first`; `together` is of all tokens.
    fn attend(&self, together: &[f32], texts: &[Range<usize>], first: usize, rows: &mut [f32], room: &mut Room) {
        let hidden = self.attention_norm.columns();
        let own = first..first + rows.len() / hidden;
        room.attended.resize(rows.len(), 0.0);
        for text in texts {
            let queries = own.start.max(text.start)..own.end.min(text.end);
            if queries.is_empty() {
                continue;
            }
            let attention = Attention {
                together: &together[3 * hidden * text.start..3 * hidden * text.end],
                queries: queries.start - text.start..queries.end - text.start,
                heads: self.heads,
                result: &mut room.attended[hidden * (queries.start - first)..hidden * (queries.end - first)],
                room: &mut room.attention,
            };
            attention.run();
        }
        room.narrow.lay_out(&room.attended, hidden);
        self.attention_out.apply(&room.narrow, Target::Sum(rows), &mut room.product);
        normalise(rows, &self.attention_norm);
    }

    /// All that follows attention.
    fn feed_forward(&self, rows: &mut [f32], room: &mut Room) {
        room.narrow.lay_out(rows, self.output_norm.columns());
        let wide = Target::Inputs(self.activation, &mut room.wide);
        self.intermediate.apply(&room.narrow, wide, &mut room.product);
        self.output.apply(&room.wide, Target::Sum(rows), &mut room.product);
        normalise(rows, &self.output_norm);
    }
}

/// Where each text's tokens lie among all.
fn spans(lengths: &[usize]) -> Vec<Range<usize>> {
    let mut end = 0;
    let spans = lengths.iter().map(|length| {
        end += length;
        end - length..end
    });
    spans.collect()
}

/// Tokens in a share: as many shares for each thread, unless they'd be too small to be worth it.
fn share_of(tokens: usize, threads: usize) -> usize {
    let wanted = tokens.div_ceil(LARGEST_SHARE).next_multiple_of(threads);
    let shares = wanted.min(tokens / LEAST_SHARE).max(1);
    tokens.div_ceil(shares).next_multiple_of(TOKENS).max(TOKENS)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::a_word_is_not_split(8, 2, 8)]
    #[case::a_question(32, 2, 16)]
    #[case::one_thread(100, 1, 100)]
    #[case::a_long_text(256, 2, 128)]
    #[case::as_many_for_each_thread(300, 2, 76)]
    #[case::nothing(0, 2, 4)]
    fn shares(#[case] tokens: usize, #[case] threads: usize, #[case] expected: usize) {
        assert_eq!(share_of(tokens, threads), expected);
    }

    proptest! {
        #[test]
        fn a_share_is_bounded_and_whole_tiles(tokens in 0usize..5_000, threads in 1usize..64) {
            let share = share_of(tokens, threads);
            prop_assert!((TOKENS..=LARGEST_SHARE).contains(&share) && share.is_multiple_of(TOKENS));
        }
    }
}
