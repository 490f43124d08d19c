#![expect(clippy::float_cmp, reason = "what is compared is exact, or added up in the same order")]

use proptest::prelude::*;

use super::super::vnni::ByteSet;
use super::*;

/// Values of very different sizes from block to block, as tokens have them.
fn values(count: usize) -> impl Strategy<Value = Vec<f32>> {
    prop::collection::vec(
        (-1.0f32..1.0, -12i32..12).prop_map(|(value, size)| value * 2f32.powi(size)),
        count,
    )
}

/// Weights' words and scales for one block of a panel.
fn weights() -> impl Strategy<Value = (Vec<u32>, Vec<f32>)> {
    let scales = prop::collection::vec(1e-4f32..1.0, PANEL);
    (prop::collection::vec(any::<u32>(), WORDS * PANEL), scales)
}

fn block(values: &[f32]) -> Block {
    let mut block = Block::EMPTY;
    block.take(values.as_array().unwrap());
    block
}

/// Code `place` of a block.
fn code(block: &Block, place: usize) -> i32 {
    i32::from(block.codes.as_flattened()[place].cast_signed())
}

/// Output `output` of one block, added to `sum`: the definition, in whole numbers as far as it goes.
fn plain(block: &Block, words: &[u32], scales: &[f32], output: usize, sum: f32) -> f32 {
    let weight = |place: usize| i32::from(words[place / CODES * PANEL + output].to_le_bytes()[place % CODES]) - 128;
    let products = (0..BLOCK).map(|place| code(block, place) * weight(place));
    (products.sum::<i32>() as f32 * block.scale).mul_add(scales[output], sum)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_code_is_the_nearest(values in values(BLOCK)) {
        let block = block(&values);
        for (place, value) in values.iter().enumerate() {
            let code = code(&block, place);
            prop_assert!((-127..=127).contains(&code));
            prop_assert!((value - code as f32 * block.scale).abs() <= block.scale * 0.5001, "{value} {code} {}", block.scale);
        }
    }

    #[test]
    fn sums_are_exactly_those_of_the_definition(tokens in 1usize..8, values in values(8 * 4 * BLOCK), (words, scales) in weights()) {
        let blocks: Vec<Block> = values.chunks(BLOCK).take(4 * tokens).map(block).collect();
        let rows: Vec<[u32; PANEL]> = words.as_chunks().0.to_vec();
        let weights = WeightBlock { words: rows.as_array().unwrap(), scales: scales.as_array().unwrap() };
        for set in ByteSet::found() {
            let mut sums = vec![[0.5; PANEL]; blocks.len()];
            set.run(AccumulateBytes { values: &blocks, weights, sums: &mut sums });
            for (block, sums) in blocks.iter().zip(&sums) {
                for (output, sum) in sums.iter().enumerate() {
                    prop_assert_eq!(*sum, plain(block, &words, &scales, output, 0.5), "{:?}", set);
                }
            }
        }
    }
}

#[test]
fn the_largest_sums_are_exact() {
    let blocks = [block(&[1.0; BLOCK]), block(&[-1.0; BLOCK])].repeat(2);
    for word in [0, u32::MAX] {
        let (words, scales) = ([[word; PANEL]; WORDS], [1.0; PANEL]);
        let weights = WeightBlock {
            words: &words,
            scales: &scales,
        };
        for set in ByteSet::found() {
            let mut sums = vec![[0.0; PANEL]; blocks.len()];
            set.run(AccumulateBytes {
                values: &blocks,
                weights,
                sums: &mut sums,
            });
            for (block, sums) in blocks.iter().zip(sums) {
                assert_eq!(sums, [plain(block, words.as_flattened(), &scales, 0, 0.0); PANEL], "{set:?}");
            }
        }
    }
}

#[test]
fn nothing_stays_nothing() {
    let block = block(&[0.0; BLOCK]);
    assert!((0..BLOCK).all(|place| code(&block, place) == 0));
    assert_eq!(block.scale, 0.0);
}

#[test]
fn what_is_no_number_stays_none() {
    for odd in [f32::NAN, -f32::NAN] {
        let mut values = [1.0; BLOCK];
        values[17] = odd;
        assert!(block(&values).scale.is_nan());
    }
}
