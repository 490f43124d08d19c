//! Makes `processor/model/terms.safetensors`, the vectors of single terms, from the built-in model:
//!
//! ```text
//! cargo run --release -p remembrancer-processor --example term_vectors -- processor/model/terms.safetensors
//! ```
//!
//! Every word of the tokenizer's vocabulary that is made of two Latin letters or more is embedded by itself; the mean of all is taken off;
//! the first principal components are kept; words of one term of the full-text index become the mean of their unit vectors; and each
//! component becomes a signed byte, the greatest of a term's being 127. Other processors add up in another order, so that a
//! few bytes may differ by one.

use std::collections::BTreeMap;
use std::io::Write;

use remembrancer_processor::embed::{BertEmbedder, Embed};
use remembrancer_schema::terms;
use safetensors::tensor::{Dtype, TensorView, serialize};

/// Components that are kept. ADR 0058 has what fewer and more of them give.
const DIMENSION: usize = 256;
/// Rounds of the subspace iteration: the last components kept differ from those after them by a few per cent, and need not be exact.
const ROUNDS: usize = 60;
/// Words that are embedded at a time.
const BATCH: usize = 256;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let out = std::env::args().nth(1).ok_or("give the file to write")?;
    let tokenizer: serde_json::Value = serde_json::from_str(include_str!("../model/tokenizer.json"))?;
    let vocabulary = tokenizer["model"]["vocab"].as_object().ok_or("no vocabulary")?;
    let is_word = |word: &&String| word.len() >= 2 && word.bytes().all(|byte| byte.is_ascii_lowercase());
    let mut words: Vec<&str> = vocabulary.keys().filter(is_word).map(String::as_str).collect();
    words.sort_unstable();
    let model = BertEmbedder::embedded()?;
    let mut vectors: Vec<Vec<f64>> = Vec::with_capacity(words.len());
    for batch in words.chunks(BATCH) {
        let embeddings = model.embed_passages(batch)?;
        vectors.extend(
            embeddings
                .iter()
                .map(|one| one.as_slice().iter().copied().map(f64::from).collect()),
        );
    }
    centre(&mut vectors);
    let components = principal_components(&vectors);
    let mut of_terms: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (word, vector) in words.iter().zip(&vectors) {
        if let [term] = &terms(word)[..] {
            let projected = unit(components.iter().map(|component| dot(component, vector)).collect());
            let sum = of_terms.entry(term.clone()).or_insert_with(|| vec![0.0; DIMENSION]);
            sum.iter_mut().zip(&projected).for_each(|(sum, value)| *sum += value);
        }
    }
    let codes: Vec<u8> = of_terms.values().flat_map(|vector| codes(vector)).collect();
    let names: String = of_terms.keys().flat_map(|term| [term, "\n"]).collect();
    let tensors = [
        ("terms", TensorView::new(Dtype::U8, vec![names.len()], names.as_bytes())?),
        (
            "vectors",
            TensorView::new(Dtype::I8, vec![of_terms.len(), DIMENSION], &codes)?,
        ),
    ];
    fs_err::write(&out, serialize(tensors, None)?)?;
    let (words, terms) = (words.len(), of_terms.len());
    writeln!(
        std::io::stdout(),
        "{words} words, {terms} terms of {DIMENSION} bytes in {out}"
    )?;
    Ok(())
}

fn centre(vectors: &mut [Vec<f64>]) {
    let count = vectors.len() as f64;
    let mut mean = vec![0.0; vectors[0].len()];
    for vector in vectors.iter() {
        mean.iter_mut().zip(vector).for_each(|(mean, value)| *mean += value / count);
    }
    for vector in vectors {
        vector.iter_mut().zip(&mean).for_each(|(value, mean)| *value -= mean);
    }
}

/// The first components, by orthogonal iteration on the covariance (Golub, Van Loan: Matrix Computations, 8.2.4).
fn principal_components(vectors: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let width = vectors[0].len();
    let mut covariance = vec![vec![0.0; width]; width];
    for vector in vectors {
        for (row, left) in covariance.iter_mut().zip(vector) {
            row.iter_mut().zip(vector).for_each(|(sum, right)| *sum += left * right);
        }
    }
    let mut components: Vec<Vec<f64>> = (0..DIMENSION)
        .map(|place| (0..width).map(|column| f64::from(u8::from(place == column))).collect())
        .collect();
    for _ in 0..ROUNDS {
        let mut turned: Vec<Vec<f64>> = Vec::with_capacity(DIMENSION);
        for component in &components {
            let mut next: Vec<f64> = covariance.iter().map(|row| dot(row, component)).collect();
            // Twice: once leaves what rounding let through.
            for _ in 0..2 {
                for before in &turned {
                    let share = dot(before, &next);
                    next.iter_mut()
                        .zip(before)
                        .for_each(|(value, before)| *value -= share * before);
                }
            }
            turned.push(unit(next));
        }
        components = turned;
    }
    components
}

fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(left, right)| left * right).sum()
}

fn unit(mut vector: Vec<f64>) -> Vec<f64> {
    let length = dot(&vector, &vector).sqrt().max(f64::MIN_POSITIVE);
    for value in &mut vector {
        *value /= length;
    }
    vector
}

fn codes(vector: &[f64]) -> impl Iterator<Item = u8> {
    let greatest = vector
        .iter()
        .fold(f64::MIN_POSITIVE, |greatest, value| greatest.max(value.abs()));
    vector
        .iter()
        .map(move |value| ((value / greatest * 127.0).round() as i8).cast_unsigned())
}
