use proptest::prelude::*;

use super::super::simd::tests::instruction_sets;
use super::*;

fn made_up(count: usize, seed: usize) -> Vec<f32> {
    let value = |place: usize| ((place * 7_919 + seed * 104_729 + place * place % 31) % 2_001) as f32 / 500.0 - 2.0;
    (0..count).map(value).collect()
}

/// The definition, in f64.
fn exact(together: &[f32], hidden: usize, heads: usize, query: usize) -> Vec<f64> {
    let size = hidden / heads;
    let rows: Vec<&[f32]> = together.chunks(3 * hidden).collect();
    let mut result = vec![0.0; hidden];
    for head in 0..heads {
        let part = |row: &[f32], part: usize| -> Vec<f64> {
            let first = part * hidden + head * size;
            row[first..first + size].iter().map(|value| f64::from(*value)).collect()
        };
        let dot = |left: &[f64], right: &[f64]| -> f64 { left.iter().zip(right).map(|(left, right)| left * right).sum() };
        let own = part(rows[query], 0);
        let scores: Vec<f64> = rows
            .iter()
            .map(|row| dot(&own, &part(row, 1)) / (size as f64).sqrt())
            .collect();
        let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = scores.iter().map(|score| (score - largest).exp()).sum();
        for (row, score) in rows.iter().zip(&scores) {
            let weight = (score - largest).exp() / total;
            for (sum, value) in result[head * size..].iter_mut().zip(part(row, 2)) {
                *sum += weight * value;
            }
        }
    }
    result
}

fn shape() -> impl Strategy<Value = (usize, usize, usize, usize)> {
    let size = prop_oneof![1usize..40, Just(32), Just(64), Just(130)];
    (
        1usize..4,
        size,
        prop_oneof![1usize..50, 120usize..140, 250usize..262],
        0usize..1_000,
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn it_is_that_of_its_definition((heads, size, tokens, seed) in shape()) {
        let hidden = heads * size;
        let together = made_up(tokens * 3 * hidden, seed);
        for set in instruction_sets() {
            let (mut result, mut room) = (vec![f32::NAN; tokens * hidden], Room::default());
            let attention = Attention { together: &together, queries: 0..tokens, heads, result: &mut result, room: &mut room };
            set.dispatch(attention);
            for query in [0, tokens / 2, tokens - 1] {
                let own = &result[query * hidden..(query + 1) * hidden];
                for (own, exact) in own.iter().zip(exact(&together, hidden, heads, query)) {
                    prop_assert!((f64::from(*own) - exact).abs() < 2e-5, "{set:?}: {own} {exact}");
                }
            }
        }
    }

    #[test]
    fn a_query_s_result_does_not_depend_on_the_other_queries((heads, size, tokens, seed) in shape(), from in 0.0f64..1.0, to in 0.0f64..1.0) {
        let hidden = heads * size;
        let together = made_up(tokens * 3 * hidden, seed);
        // One room for both, as a thread has: what an earlier text left in it must not matter.
        let mut room = Room::default();
        let mut run = |queries: Range<usize>| {
            let mut result = vec![f32::NAN; queries.len() * hidden];
            Attention { together: &together, queries, heads, result: &mut result, room: &mut room }.run();
            result
        };
        let start = (from * tokens as f64) as usize;
        let end = start + 1 + (to * (tokens - start - 1) as f64) as usize;
        let whole = run(0..tokens);
        prop_assert_eq!(&run(start..end)[..], &whole[start * hidden..end * hidden]);
    }
}
