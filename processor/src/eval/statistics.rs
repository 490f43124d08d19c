//! How sure a mean or a difference is: per-query figures in, intervals and p-values out, the same for the same seed.
//!
//! Queries of one conversation are no independent draws. Given the cluster of each query, whole clusters are resampled
//! instead of queries; with fewer than about ten clusters such an interval is rough, and a test can't find much.

use std::collections::BTreeMap;

use serde::Serialize;

use super::random::Random;

/// The share of resampled means that lies within an [`Estimate`]'s interval.
const CONFIDENCE: f64 = 0.95;

/// A mean with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// The interval's lower end.
    pub low: f64,
    /// The interval's upper end.
    pub high: f64,
}

/// How a series differs from another that was measured on the same queries.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The mean of the differences, above 0 where the first series is better.
    pub estimate: Estimate,
    /// The chance of a mean this far from 0, up or down, if both were equally good.
    pub p_value: f64,
}

/// Means are resampled this way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resampling {
    /// Where the random numbers begin: the same seed gives the same figures.
    pub seed: u64,
    /// Resampled means an interval; 1,000 at least for the ends of a 95 % interval to stand still.
    pub bootstrap_rounds: usize,
    /// Random sign flips a test; the smallest p-value is one in as many and one.
    pub permutation_rounds: usize,
}

impl Default for Resampling {
    fn default() -> Self {
        Self {
            seed: 1,
            bootstrap_rounds: 2_000,
            permutation_rounds: 10_000,
        }
    }
}

impl Resampling {
    /// The mean of `values` with its percentile-bootstrap interval (Efron 1979); 0 for no values.
    ///
    /// `clusters`, as long as `values`, names what is drawn together; none: each value is drawn alone.
    pub fn mean(&self, values: &[f64], clusters: Option<&[&str]>) -> Estimate {
        let units = units(values, clusters);
        if units.is_empty() {
            return Estimate {
                mean: 0.0,
                low: 0.0,
                high: 0.0,
            };
        }
        let mut random = Random::new(self.seed);
        let mut means: Vec<f64> = (0..self.bootstrap_rounds)
            .map(|_| mean_of((0..units.len()).map(|_| units[random.below(units.len())])))
            .collect();
        means.sort_unstable_by(f64::total_cmp);
        let mean = mean_of(units.into_iter());
        let tail = (1.0 - CONFIDENCE) / 2.0;
        Estimate {
            mean,
            low: quantile(&means, tail).unwrap_or(mean),
            high: quantile(&means, 1.0 - tail).unwrap_or(mean),
        }
    }

    /// How `first` differs from `second`, value by value of the same queries: the paired bootstrap's interval, and the
    /// p-value of the two-sided sign-flip permutation test (Fisher 1935; the count of Phipson and Smyth 2010, never 0).
    ///
    /// All three slices are equally long.
    pub fn difference(&self, first: &[f64], second: &[f64], clusters: Option<&[&str]>) -> Difference {
        let differences: Vec<f64> = first.iter().zip(second).map(|(first, second)| first - second).collect();
        Difference {
            estimate: self.mean(&differences, clusters),
            p_value: self.sign_flip(&units(&differences, clusters)),
        }
    }

    fn sign_flip(&self, units: &[Unit]) -> f64 {
        // What did not change can be flipped at will.
        let sums: Vec<f64> = units.iter().map(|unit| unit.sum).filter(|sum| *sum != 0.0).collect();
        // Sums of the same numbers in another order may differ in their last bits, and are equal all the same.
        let observed = sums.iter().sum::<f64>().abs() - 1e-9;
        let mut random = Random::new(self.seed);
        let as_far = (0..self.permutation_rounds)
            .filter(|_| flipped_sum(&sums, &mut random).abs() >= observed)
            .count();
        (as_far + 1) as f64 / (self.permutation_rounds + 1) as f64
    }
}

/// The sum with each sign left or turned by chance.
fn flipped_sum(sums: &[f64], random: &mut Random) -> f64 {
    let mut total = 0.0;
    for chunk in sums.chunks(u64::BITS as usize) {
        let bits = random.bits();
        for (at, sum) in chunk.iter().enumerate() {
            total += if bits >> at & 1 == 0 { *sum } else { -sum };
        }
    }
    total
}

/// Holm's correction (1979) of p-values that were looked at together: each is to be held against the level itself.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    let mut adjusted = vec![0.0; p_values.len()];
    let mut largest: f64 = 0.0;
    for (smaller, index) in order.into_iter().enumerate() {
        let others = (p_values.len() - smaller) as f64;
        largest = largest.max((p_values[index] * others).min(1.0));
        adjusted[index] = largest;
    }
    adjusted
}

/// What is drawn together.
#[derive(Clone, Copy, Default)]
struct Unit {
    sum: f64,
    count: usize,
}

fn units(values: &[f64], clusters: Option<&[&str]>) -> Vec<Unit> {
    let Some(clusters) = clusters else {
        return values.iter().map(|value| Unit { sum: *value, count: 1 }).collect();
    };
    let mut units: BTreeMap<&str, Unit> = BTreeMap::new();
    for (value, cluster) in values.iter().zip(clusters) {
        let unit = units.entry(cluster).or_default();
        unit.sum += value;
        unit.count += 1;
    }
    units.into_values().collect()
}

fn mean_of(units: impl Iterator<Item = Unit>) -> f64 {
    let (sum, count) = units.fold((0.0, 0), |(sum, count), unit| (sum + unit.sum, count + unit.count));
    sum / count as f64
}

/// The value below which `share` of the sorted values lies, interpolated; none of no values.
fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let place = share * sorted.len().checked_sub(1)? as f64;
    let below = sorted[place.floor() as usize];
    let above = sorted[place.ceil() as usize];
    Some(below + (above - below) * place.fract())
}

#[cfg(test)]
mod tests;
