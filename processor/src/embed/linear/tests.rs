use half::f16;
use proptest::prelude::*;

use super::super::simd::tests::instruction_sets;
use super::super::weights::{Codes, Stored};
use super::*;

/// Numbers between -1 and 1 that look like none in particular.
fn made_up(count: usize, seed: usize) -> Vec<f32> {
    let value = |place: usize| ((place * 7_919 + seed * 104_729 + place * place % 31) % 2_001) as f32 / 1_000.0 - 1.0;
    (0..count).map(value).collect()
}

#[derive(Debug)]
struct Case {
    outputs: usize,
    inputs: usize,
    tokens: usize,
    seed: usize,
}

impl Case {
    fn weights(&self) -> Vec<f32> {
        made_up(self.outputs * self.inputs, self.seed)
    }

    fn bias(&self) -> Vec<f32> {
        made_up(self.outputs, self.seed + 1)
    }

    fn rows(&self) -> Vec<f32> {
        made_up(self.tokens * self.inputs, self.seed + 2)
    }

    fn linear(&self) -> Linear {
        let stored = vec![Stored::Floats(self.weights())];
        Linear::new(Matrix::new(stored, self.outputs, self.inputs), &self.bias(), None)
    }

    /// The plain sum, and the sum of its terms' sizes, to judge rounding by.
    fn exact(&self) -> Vec<(f64, f64)> {
        let (weights, bias, rows) = (self.weights(), self.bias(), self.rows());
        let of = |row: &[f32], output: usize| {
            let terms = row
                .iter()
                .zip(&weights[output * self.inputs..])
                .map(|(x, w)| f64::from(*x) * f64::from(*w));
            let terms: Vec<f64> = terms.chain([f64::from(bias[output])]).collect();
            (terms.iter().sum(), terms.iter().map(|term| term.abs()).sum())
        };
        let rows = rows.chunks(self.inputs);
        rows.flat_map(|row| (0..self.outputs).map(move |output| of(row, output)))
            .collect()
    }
}

fn case() -> impl Strategy<Value = Case> {
    (1usize..150, 1usize..300, 1usize..40, 0usize..1_000).prop_map(|(outputs, inputs, tokens, seed)| Case {
        outputs,
        inputs,
        tokens,
        seed,
    })
}

/// A matrix as the built-in model has them, with `blocks` scales a row.
#[derive(Debug)]
struct Coded {
    outputs: usize,
    blocks: usize,
    seed: usize,
}

impl Coded {
    fn inputs(&self) -> usize {
        64 * self.blocks
    }

    fn bias(&self) -> Vec<f32> {
        made_up(self.outputs, self.seed)
    }

    fn codes(&self) -> Vec<u8> {
        let code = |place: usize| (place * 37 + self.seed * 11 + place * place % 251) as u8;
        (0..self.outputs * self.inputs()).map(code).collect()
    }

    fn scales(&self) -> Vec<f32> {
        let values = made_up(self.outputs * self.blocks, self.seed);
        values.iter().map(|value| f16::from_f32(value * 0.01).to_f32()).collect()
    }

    fn floats(&self) -> Vec<f32> {
        let (codes, scales) = (&self.codes(), self.scales());
        Stored::Codes(Codes { codes, scales }).into_floats()
    }

    fn linear(&self, bytes: Option<ByteSet>) -> Linear {
        let (codes, scales) = (&self.codes(), self.scales());
        let stored = vec![Stored::Codes(Codes { codes, scales })];
        Linear::new(Matrix::new(stored, self.outputs, self.inputs()), &self.bias(), bytes)
    }

    fn of_floats(&self) -> Linear {
        let stored = vec![Stored::Floats(self.floats())];
        Linear::new(Matrix::new(stored, self.outputs, self.inputs()), &self.bias(), None)
    }

    /// The most that rounding a token's `values` to codes can change an output by.
    fn rounding(&self, values: &[f32], output: usize) -> f32 {
        let weights = &self.floats()[output * self.inputs()..];
        let size = |values: &[f32]| values.iter().map(|value| value.abs()).sum::<f32>();
        let step = |values: &[f32]| values.iter().fold(0.0, |largest: f32, value| largest.max(value.abs())) / 127.0;
        let blocks = values.chunks(64).zip(weights.chunks(64));
        blocks.map(|(values, weights)| 0.5 * step(values) * size(weights)).sum()
    }
}

fn coded() -> impl Strategy<Value = Coded> {
    (1usize..100, 1usize..5, 0usize..1_000).prop_map(|(outputs, blocks, seed)| Coded { outputs, blocks, seed })
}

fn laid_out(rows: &[f32], width: usize) -> Inputs {
    let mut inputs = Inputs::default();
    inputs.lay_out(rows, width);
    inputs
}

fn rows_of(linear: &Linear, rows: &[f32]) -> Vec<f32> {
    let mut result = vec![f32::NAN; rows.len() / linear.matrix.inputs() * linear.matrix.outputs()];
    let inputs = laid_out(rows, linear.matrix.inputs());
    linear.apply(&inputs, Target::Rows(&mut result), &mut Room::default());
    result
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_product_is_that_of_its_definition(case in case()) {
        let (linear, inputs, exact) = (case.linear(), laid_out(&case.rows(), case.inputs), case.exact());
        for set in instruction_sets() {
            let mut result = vec![1.0; case.tokens * case.outputs];
            set.dispatch(Product { linear: &linear, inputs: &inputs, target: Target::Sum(&mut result), room: &mut Room::default() });
            for (value, (exact, size)) in result.iter().zip(&exact) {
                prop_assert!((f64::from(*value) - exact - 1.0).abs() <= 4e-6 * (size + 1.0), "{set:?}: {value} {exact}");
            }
        }
    }

    #[test]
    fn a_token_s_result_does_not_depend_on_its_company(case in case()) {
        let (linear, rows) = (case.linear(), case.rows());
        let together = rows_of(&linear, &rows);
        for (row, result) in rows.chunks(case.inputs).zip(together.chunks(case.outputs)) {
            prop_assert_eq!(&rows_of(&linear, row)[..], result);
        }
    }

    #[test]
    fn codes_give_what_their_numbers_give(coded in coded(), tokens in 1usize..9) {
        let (own, floats) = (coded.linear(None), coded.of_floats());
        let inputs = laid_out(&made_up(tokens * coded.inputs(), coded.seed), coded.inputs());
        for set in instruction_sets() {
            let [own, floats] = [&own, &floats].map(|linear| {
                let mut result = vec![0.0; tokens * coded.outputs];
                set.dispatch(Product { linear, inputs: &inputs, target: Target::Rows(&mut result), room: &mut Room::default() });
                result
            });
            prop_assert_eq!(own, floats, "{:?}", set);
        }
    }

    #[test]
    fn a_product_of_codes_differs_by_no_more_than_rounding(coded in coded(), tokens in 1usize..30) {
        let rows = made_up(tokens * coded.inputs(), coded.seed + 1);
        let exact = rows_of(&coded.of_floats(), &rows);
        for set in ByteSet::found() {
            let own = rows_of(&coded.linear(Some(set)), &rows);
            for (place, (own, exact)) in own.iter().zip(&exact).enumerate() {
                let values = &rows[place / coded.outputs * coded.inputs()..][..coded.inputs()];
                let bound = coded.rounding(values, place % coded.outputs) * 1.001 + 1e-4;
                prop_assert!((own - exact).abs() <= bound, "{set:?}: {own} {exact} {bound}");
            }
        }
    }

    #[test]
    fn a_token_s_codes_give_the_same_in_any_company_by_any_instructions(coded in coded(), tokens in 1usize..30) {
        let rows = made_up(tokens * coded.inputs(), coded.seed + 1);
        let mut all = ByteSet::found().map(|set| coded.linear(Some(set))).collect::<Vec<_>>().into_iter();
        let Some(best) = all.next() else { return Ok(()) };
        let together = rows_of(&best, &rows);
        for (row, result) in rows.chunks(coded.inputs()).zip(together.chunks(coded.outputs)) {
            prop_assert_eq!(&rows_of(&best, row)[..], result);
        }
        for other in all {
            prop_assert_eq!(&rows_of(&other, &rows), &together);
        }
    }

    #[test]
    fn a_product_can_be_multiplied_again(case in case()) {
        let (first, mut room) = (case.linear(), Room::default());
        let second = Case { outputs: 5, inputs: case.outputs, ..case }.linear();
        let mut between = rows_of(&first, &case.rows());
        for value in &mut between {
            *value = value.max(0.0);
        }
        let mut inputs = Inputs::default();
        first.apply(&laid_out(&case.rows(), case.inputs), Target::Inputs(Activation::Relu, &mut inputs), &mut room);
        let mut result = vec![0.0; case.tokens * 5];
        second.apply(&inputs, Target::Rows(&mut result), &mut room);
        prop_assert_eq!(result, rows_of(&second, &between));
    }

    #[test]
    fn matrices_are_stacked(heights in prop::collection::vec(1usize..70, 1..4), inputs in 1usize..40) {
        let parts: Vec<Vec<f32>> = heights.iter().map(|height| made_up(height * inputs, *height)).collect();
        let outputs = heights.iter().sum();
        let bias = vec![0.0; outputs];
        let stacked = Matrix::new(parts.iter().cloned().map(Stored::Floats).collect(), outputs, inputs);
        let whole = Matrix::new(vec![Stored::Floats(parts.concat())], outputs, inputs);
        let rows = made_up(inputs * 3, 1);
        prop_assert_eq!(rows_of(&Linear::new(stacked, &bias, None), &rows), rows_of(&Linear::new(whole, &bias, None), &rows));
    }
}
