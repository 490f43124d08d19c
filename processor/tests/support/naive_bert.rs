//! A BERT sequence classifier value by value, as its paper has it: slow, and sharing nothing with the crate.

use std::collections::BTreeMap;

/// Tensors by name: shape and row-major values.
pub(crate) type Tensors = BTreeMap<String, (Vec<usize>, Vec<f32>)>;

type Rows = Vec<Vec<f32>>;

/// One forward pass.
pub(crate) struct NaiveBert<'a> {
    pub(crate) tensors: &'a Tensors,
    pub(crate) layers: usize,
    pub(crate) heads: usize,
}

impl NaiveBert<'_> {
    /// The sigmoid of the one logit for a text of `(token, type)`s.
    pub(crate) fn score(&self, tokens: &[(usize, usize)]) -> f32 {
        let mut rows = self.input(tokens);
        for layer in 0..self.layers {
            rows = self.layer(&format!("encoder.layer.{layer}"), &rows);
        }
        let pooled: Vec<f32> = self.linear("pooler.dense", &rows[0]).into_iter().map(f32::tanh).collect();
        let logit = self.linear("classifier", &pooled)[0];
        1.0 / (1.0 + (-logit).exp())
    }

    fn input(&self, tokens: &[(usize, usize)]) -> Rows {
        let row = |table: &str, index: usize| {
            let (shape, values) = &self.tensors[&format!("embeddings.{table}_embeddings.weight")];
            values[index * shape[1]..(index + 1) * shape[1]].to_vec()
        };
        let sums = tokens.iter().enumerate().map(|(position, (token, kind))| {
            let sum = add(&row("word", *token), &row("position", position));
            self.normalise("embeddings.LayerNorm", &add(&sum, &row("token_type", *kind)))
        });
        sums.collect()
    }

    fn layer(&self, name: &str, rows: &Rows) -> Rows {
        let attended = self.attention(&format!("{name}.attention.self"), rows);
        let layer = rows.iter().zip(attended).map(|(row, attended)| {
            let attended = self.linear(&format!("{name}.attention.output.dense"), &attended);
            let row = self.normalise(&format!("{name}.attention.output.LayerNorm"), &add(row, &attended));
            let wide = self.linear(&format!("{name}.intermediate.dense"), &row);
            let wide: Vec<f32> = wide.into_iter().map(gelu).collect();
            let narrow = self.linear(&format!("{name}.output.dense"), &wide);
            self.normalise(&format!("{name}.output.LayerNorm"), &add(&row, &narrow))
        });
        layer.collect()
    }

    fn attention(&self, name: &str, rows: &Rows) -> Rows {
        let all = |part: &str| -> Rows { rows.iter().map(|row| self.linear(&format!("{name}.{part}"), row)).collect() };
        let (queries, keys, values) = (all("query"), all("key"), all("value"));
        let size = queries[0].len() / self.heads;
        let attend = |query: &Vec<f32>| {
            let heads = (0..self.heads).flat_map(|head| {
                let own = head * size..(head + 1) * size;
                let scores = keys
                    .iter()
                    .map(|key| dot(&query[own.clone()], &key[own.clone()]) / (size as f32).sqrt());
                let powers: Vec<f32> = scores.map(f32::exp).collect();
                let total: f32 = powers.iter().sum();
                let weighed = |feature: usize| -> f32 {
                    let products = powers.iter().zip(&values).map(|(power, value)| power * value[feature]);
                    products.sum::<f32>() / total
                };
                own.clone().map(weighed).collect::<Vec<_>>()
            });
            heads.collect()
        };
        queries.iter().map(attend).collect()
    }

    fn linear(&self, name: &str, row: &[f32]) -> Vec<f32> {
        let (_, weights) = &self.tensors[&format!("{name}.weight")];
        let (_, bias) = &self.tensors[&format!("{name}.bias")];
        let rows = weights.chunks(row.len()).zip(bias);
        rows.map(|(weights, bias)| dot(weights, row) + bias).collect()
    }

    fn normalise(&self, name: &str, row: &[f32]) -> Vec<f32> {
        let (_, scale) = &self.tensors[&format!("{name}.weight")];
        let (_, shift) = &self.tensors[&format!("{name}.bias")];
        let count = row.len() as f32;
        let mean = row.iter().sum::<f32>() / count;
        let variance = row.iter().map(|value| (value - mean).powi(2)).sum::<f32>() / count;
        let parameters = scale.iter().zip(shift);
        let values = row.iter().zip(parameters);
        values
            .map(|(value, (scale, shift))| (value - mean) / (variance + 1e-12).sqrt() * scale + shift)
            .collect()
    }
}

fn add(left: &[f32], right: &[f32]) -> Vec<f32> {
    left.iter().zip(right).map(|(left, right)| left + right).collect()
}

fn dot(left: &[f32], right: &[f32]) -> f32 {
    left.iter().zip(right).map(|(left, right)| left * right).sum()
}

fn gelu(value: f32) -> f32 {
    0.5 * value * (1.0 + error_function(value / 2f32.sqrt()))
}

/// Abramowitz and Stegun 7.1.26, to 1.5e-7.
fn error_function(value: f32) -> f32 {
    const TERMS: [f32; 5] = [1.061_405_4, -1.453_152, 1.421_413_8, -0.284_496_74, 0.254_829_6];
    let t = 1.0 / (1.0 + 0.327_591_1 * value.abs());
    let sum = TERMS.iter().fold(0.0, |sum, term| (sum + term) * t);
    (1.0 - sum * (-value * value).exp()).copysign(value)
}
