use proptest::prelude::*;

use super::*;

/// Φ by the power series of erf, in f64: exact to more digits than are compared, for |x| ≤ 6.
fn gelu_exact(x: f64) -> f64 {
    let z = x / std::f64::consts::SQRT_2;
    let (mut term, mut sum) = (z, z);
    for n in 1..200 {
        term *= -z * z / f64::from(n);
        sum += term / f64::from(2 * n + 1);
    }
    0.5 * x * (1.0 + sum * 2.0 / std::f64::consts::PI.sqrt())
}

#[test]
fn exponential_is_exact_to_two_places() {
    for step in 0..200_000 {
        let x = -86.9 + step as f32 * 8.7e-4;
        let exact = f64::from(x).exp();
        let error = (f64::from(exponential(x)) - exact).abs() / exact;
        assert!(error < 2.4e-7, "{x}: {error}");
    }
    assert!(exponential(-1e30) < 1e-37);
}

#[test]
fn gelu_is_exact_to_the_stated_error() {
    for step in -50_000..50_000 {
        let x = step as f32 * 1e-4;
        let error = (f64::from(gelu(x)) - gelu_exact(f64::from(x))).abs();
        assert!(error <= 3e-7 * f64::from(x.abs()).max(1e-3), "{x}: {error}");
    }
    assert!((gelu(30.0) - 30.0).abs() < 1e-5 && gelu(-30.0).abs() < 1e-5);
}

#[test]
fn the_approximation_is_near_the_exact() {
    for step in -500..500 {
        let x = step as f32 * 0.01;
        assert!((gelu_approximate(x) - gelu(x)).abs() < 5e-3, "{x}");
    }
    assert!((gelu_approximate(100.0) - 100.0).abs() < 1e-4);
    assert!(gelu_approximate(-100.0).abs() < 1e-4);
}

fn norm(columns: usize) -> NormParameters {
    NormParameters {
        scale: vec![2.0; columns],
        shift: vec![0.5; columns],
        epsilon: 1e-12,
    }
}

#[test]
fn a_normalised_row_has_the_scale_and_shift() {
    let columns = 37;
    let mut row: Vec<f32> = (0..columns).map(|value| value as f32).collect();
    normalise(&mut row, &norm(columns));
    let mean = row.iter().sum::<f32>() / columns as f32;
    let variance = row.iter().map(|value| (value - mean).powi(2)).sum::<f32>() / columns as f32;
    assert!(
        (mean - 0.5).abs() < 1e-5 && (variance - 4.0).abs() < 1e-4,
        "{mean} {variance}"
    );
}

proptest! {
    #[test]
    fn weights_are_those_of_the_definition(scores in prop::collection::vec(-80f32..80.0, 1..400)) {
        let columns = scores.len().isqrt();
        let scores = &scores[..columns * columns];
        let mut weights = scores.to_vec();
        softmax(&mut weights, columns);
        for column in 0..columns {
            let score = |row: usize| f64::from(scores[row * columns + column]);
            let largest = (0..columns).map(score).fold(f64::NEG_INFINITY, f64::max);
            let total: f64 = (0..columns).map(|row| (score(row) - largest).exp()).sum();
            for row in 0..columns {
                let exact = (score(row) - largest).exp() / total;
                prop_assert!((f64::from(weights[row * columns + column]) - exact).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn threads_do_not_change_the_result(matrices in 1usize..20, columns in 20usize..90, seed in 0u32..1000) {
        let start = made_up(matrices * columns * columns, seed);
        let work = || {
            let mut values = start.clone();
            softmax(&mut values, columns);
            values
        };
        let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        prop_assert_eq!(pool(1).install(work), pool(3).install(work));
    }

    #[test]
    fn tokens_in_columns_get_the_norm_of_tokens_in_rows(tokens in 1usize..40, seed in 0u32..1000) {
        let hidden = 24;
        let (mut columns, residual) = (made_up(hidden * tokens, seed), made_up(hidden * tokens, seed + 1));
        let bias = made_up(hidden, seed + 2);
        let mut rows = vec![0.0; hidden * tokens];
        for (place, value) in rows.iter_mut().enumerate() {
            let (token, feature) = (place / hidden, place % hidden);
            *value = columns[feature * tokens + token] + residual[feature * tokens + token] + bias[feature];
        }
        normalise(&mut rows, &norm(hidden));
        add_and_normalise(&mut columns, &residual, &bias, tokens, &norm(hidden));
        for (place, value) in rows.iter().enumerate() {
            let (token, feature) = (place / hidden, place % hidden);
            prop_assert!((value - columns[feature * tokens + token]).abs() < 1e-4);
        }
    }
}

fn made_up(count: usize, seed: u32) -> Vec<f32> {
    (0..count)
        .map(|place| ((place as u32 * 31 + seed * 7) % 97) as f32 / 20.0 - 2.0)
        .collect()
}

#[test]
fn a_bias_belongs_to_a_row() {
    let mut values = vec![1.0, -2.0, 3.0, -4.0];
    add_bias(&mut values, &[0.5, 1.0], 2);
    assert_eq!(values, [1.5, -1.5, 4.0, -3.0]);
    activate(&mut values, &[0.0, 1.0], 2, Activation::Relu);
    assert_eq!(values, [1.5, 0.0, 5.0, 0.0]);
}
