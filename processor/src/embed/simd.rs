//! Vector arithmetic written once for every instruction set, and the choice among them at run time.
//!
//! `pulp` compiles each piece of work for AVX-512, AVX2 with FMA, NEON and plain instructions; [`dispatch`] picks the best of
//! what the machine has. The functions below work on one register of values; all are inlined into the work that calls them.

use pulp::{Arch, Simd, WithSimd};

/// 1.5·2^23: added to a float of less than 2^22, it leaves no room for a fraction.
pub(super) const ROUND: f32 = 12_582_912.0;

/// Bits of a float's fraction.
const FRACTION_BITS: u32 = 23;

/// The least exponent of [`exp2`]: below it, results would lose digits or their sign.
const LEAST_EXPONENT: f32 = -125.0;

/// 2^x on -0.5 ≤ x ≤ 0.5 to 2e-9 of its value (weighted least squares, iterated to equal ripples), by descending power.
const EXP2: [f32; 7] = [
    1.535_336_2e-4,
    1.339_887_5e-3,
    9.618_437e-3,
    5.550_332_4e-2,
    2.402_264_8e-1,
    6.931_472e-1,
    1.0,
];

/// log2 of Φ(-x), the normal distribution's tail, on 0 ≤ x ≤ 6: two to its power is Φ(-x) to 8e-9 (fitted likewise, the
/// error in 2^y weighted), by descending power. Beyond, it falls without end.
const LOG2_TAIL: [f32; 9] = [
    -2.834_913e-6,
    3.937_769e-5,
    -1.861_802_3e-4,
    -1.369_364e-4,
    7.063_42e-3,
    -5.249_618e-2,
    -4.592_082e-1,
    -1.151_105_2,
    -1.0,
];

/// √(2/π), and what it times of x³ in the approximation of GELU by a hyperbolic tangent.
const TANGENT_SCALE: f32 = 0.797_884_6;
const TANGENT_CUBE: f32 = 0.044_715;

/// Does `work` with the best instructions that this machine has.
pub(super) fn dispatch<Work: WithSimd>(work: Work) -> Work::Output {
    Arch::new().dispatch(work)
}

/// `left` × `right` + `sum`, rounded once where the machine can.
#[expect(clippy::inline_always, reason = "compiled inside `dispatch` to get its instruction set")]
#[inline(always)]
pub(super) fn multiply_add<S: Simd>(simd: S, left: S::f32s, right: S::f32s, sum: S::f32s) -> S::f32s {
    if S::IS_SCALAR {
        // A fused one would be a call of the C library here.
        simd.add_f32s(simd.mul_f32s(left, right), sum)
    } else {
        simd.mul_add_e_f32s(left, right, sum)
    }
}

#[expect(clippy::inline_always, reason = "as `multiply_add`")]
#[inline(always)]
fn polynomial<S: Simd, const TERMS: usize>(simd: S, x: S::f32s, coefficients: [f32; TERMS]) -> S::f32s {
    let mut sum = simd.splat_f32s(coefficients[0]);
    for coefficient in &coefficients[1..] {
        sum = multiply_add(simd, sum, x, simd.splat_f32s(*coefficient));
    }
    sum
}

/// 2^x for x < 128, to 2e-7 of its value; 2^-125 for anything below -125.
///
/// x is a whole number and a rest of at most a half; the rest's power is a polynomial, to whose exponent bits the whole
/// number is added. It comes from adding [`ROUND`], in whose last bits it then stands.
#[expect(clippy::inline_always, reason = "as `multiply_add`")]
#[inline(always)]
pub(super) fn exp2<S: Simd>(simd: S, x: S::f32s) -> S::f32s {
    let x = simd.max_f32s(x, simd.splat_f32s(LEAST_EXPONENT));
    let round = simd.splat_f32s(ROUND);
    let shifted = simd.add_f32s(x, round);
    let rest = simd.sub_f32s(x, simd.sub_f32s(shifted, round));
    let power = simd.transmute_u32s_f32s(polynomial(simd, rest, EXP2));
    let whole = simd.wrapping_dyn_shl_u32s(simd.transmute_u32s_f32s(shifted), simd.splat_u32s(FRACTION_BITS));
    simd.transmute_f32s_u32s(simd.add_u32s(power, whole))
}

/// GELU: x·Φ(x), to 2e-7·|x|.
#[expect(clippy::inline_always, reason = "as `multiply_add`")]
#[inline(always)]
pub(super) fn gelu<S: Simd>(simd: S, x: S::f32s) -> S::f32s {
    let size = simd.abs_f32s(x);
    let tail = exp2(simd, polynomial(simd, size, LOG2_TAIL));
    // x·Φ(x) is x - x·Φ(-x) above zero, and x·Φ(-|x|) below: max(x, 0) - |x|·Φ(-|x|) for both.
    let positive = simd.max_f32s(x, simd.splat_f32s(0.0));
    multiply_add(simd, simd.neg_f32s(size), tail, positive)
}

/// 0.5·x·(1 + tanh(u)) with u = √(2/π)·(x + 0.044715·x³), as x·(1 - 1/(e^2u + 1)).
#[expect(clippy::inline_always, reason = "as `multiply_add`")]
#[inline(always)]
pub(super) fn gelu_approximate<S: Simd>(simd: S, x: S::f32s) -> S::f32s {
    let one = simd.splat_f32s(1.0);
    let square = simd.mul_f32s(x, x);
    let factor = multiply_add(simd, square, simd.splat_f32s(TANGENT_CUBE), one);
    let scale = 2.0 * std::f32::consts::LOG2_E * TANGENT_SCALE;
    let doubled = simd.mul_f32s(simd.mul_f32s(x, factor), simd.splat_f32s(scale));
    // Beyond, the tangent is 1 to the last digit.
    let doubled = simd.min_f32s(doubled, simd.splat_f32s(100.0));
    let share = simd.div_f32s(one, simd.add_f32s(exp2(simd, doubled), one));
    simd.sub_f32s(x, simd.mul_f32s(x, share))
}

#[cfg(test)]
pub(super) mod tests;
