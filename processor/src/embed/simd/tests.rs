use proptest::prelude::*;
use pulp::{Arch, Simd, WithSimd};

use super::*;

/// Every set of instructions that this machine has.
pub(in super::super) fn instruction_sets() -> Vec<Arch> {
    let mut sets = vec![Arch::Scalar, Arch::new()];
    #[cfg(target_arch = "x86_64")]
    sets.extend(pulp::x86::V3::try_new().map(Arch::V3));
    sets
}

#[derive(Clone, Copy)]
enum Function {
    Exp2,
    Gelu,
    GeluApproximate,
}

/// A function of all values, whose number is a multiple of sixteen.
struct Mapped<'a>(Function, &'a [f32]);

impl WithSimd for Mapped<'_> {
    type Output = Vec<f32>;

    #[expect(clippy::inline_always, reason = "compiled by `vectorize` for each instruction set")]
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Vec<f32> {
        let mut values = self.1.to_vec();
        let (registers, rest) = S::as_mut_simd_f32s(&mut values);
        assert!(rest.is_empty());
        for register in registers {
            *register = match self.0 {
                Function::Exp2 => exp2(simd, *register),
                Function::Gelu => gelu(simd, *register),
                Function::GeluApproximate => gelu_approximate(simd, *register),
            };
        }
        values
    }
}

/// Compares `function` of `values` on every set of instructions: `check` gets x and f(x).
fn check(function: Function, values: &[f32], check: impl Fn(f64, f64)) {
    for set in instruction_sets() {
        let results = set.dispatch(Mapped(function, values));
        for (x, result) in values.iter().zip(results) {
            check(f64::from(*x), f64::from(result));
        }
    }
}

/// `count` values, evenly from `first` to `last`.
fn spread(first: f32, last: f32, count: usize) -> Vec<f32> {
    let step = (last - first) / (count - 1) as f32;
    (0..count).map(|place| first + place as f32 * step).collect()
}

/// Φ by the power series of erf: exact to more digits than are compared, for |x| ≤ 6.
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
fn powers_of_two_have_the_stated_error() {
    check(Function::Exp2, &spread(-124.9, 127.9, 1 << 17), |x, result| {
        let error = (result - x.exp2()).abs() / x.exp2();
        assert!(error < 2e-7, "{x}: {error}");
    });
}

#[test]
fn powers_below_the_least_are_next_to_nothing() {
    check(
        Function::Exp2,
        &[-126.0, -1e3, -1e30, f32::MIN, -125.0, -200.0, -1e9, -127.0].repeat(2),
        |x, result| {
            assert!(result > 0.0 && result < 3e-38, "{x}: {result}");
        },
    );
}

#[test]
fn gelu_has_the_stated_error() {
    check(Function::Gelu, &spread(-6.0, 6.0, 1 << 15), |x, result| {
        let error = (result - gelu_exact(x)).abs();
        assert!(error <= 2e-7 * x.abs(), "{x}: {error}");
    });
    check(
        Function::Gelu,
        &[-1e4, -30.0, -7.0, 0.0, 7.0, 30.0, 1e4, 1e30].repeat(2),
        |x, result| {
            assert!((result - x.max(0.0)).abs() <= 1e-7 * x.abs(), "{x}: {result}");
        },
    );
}

#[test]
fn the_approximation_is_that_of_its_definition() {
    check(Function::GeluApproximate, &spread(-12.0, 12.0, 1 << 13), |x, result| {
        let u = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x.powi(3));
        let exact = 0.5 * x * (1.0 + u.tanh());
        assert!((result - exact).abs() <= 1e-6 * x.abs().max(1.0), "{x}: {result} {exact}");
    });
    check(
        Function::GeluApproximate,
        &[-1e4, -100.0, 100.0, 1e4].repeat(4),
        |x, result| {
            assert!((result - x.max(0.0)).abs() < 1e-4, "{x}: {result}");
        },
    );
}

proptest! {
    #[test]
    fn a_product_is_added(values in prop::array::uniform3(-1e3f32..1e3)) {
        struct Once([f32; 3]);
        impl WithSimd for Once {
            type Output = f32;
            #[expect(clippy::inline_always, reason = "compiled by `vectorize` for each instruction set")]
            #[inline(always)]
            fn with_simd<S: Simd>(self, simd: S) -> f32 {
                let [left, right, sum] = self.0.map(|value| simd.splat_f32s(value));
                simd.reduce_max_f32s(multiply_add(simd, left, right, sum))
            }
        }
        let [left, right, sum] = values.map(f64::from);
        for set in instruction_sets() {
            let result = f64::from(set.dispatch(Once(values)));
            prop_assert!((result - (left * right + sum)).abs() <= 0.2);
        }
    }
}
