//! Products of bytes by the instructions made for them (VNNI), chosen at run time as in `simd`.
//!
//! `pulp` does not have these, so here is the only `unsafe` of `embed`: two instructions, and the two entries to code that is
//! compiled for them. NEON has such instructions, too, but Rust 1.95 does not offer them.

use pulp::Simd;

/// A set of instructions that multiplies bytes, beside all that [`Simd`] does.
pub(super) trait ByteSimd: Copy {
    /// The other instructions.
    type Simd: Simd;

    fn simd(self) -> Self::Simd;

    /// Adds to each word of `sums` the products of its four bytes in `unsigned` by those in `signed`, which are two's
    /// complements. Nothing saturates.
    fn multiply_add_bytes(self, unsigned: Words<Self>, signed: Words<Self>, sums: Words<Self>) -> Words<Self>;

    /// Does `work` in code that is compiled for these instructions.
    fn run<Work: WithBytes>(self, work: Work);
}

/// A register of words.
type Words<Bytes> = <<Bytes as ByteSimd>::Simd as Simd>::u32s;

/// Work on bytes, written once for every set of instructions. Its method is to be `#[inline(always)]`.
pub(super) trait WithBytes {
    fn with_bytes<Bytes: ByteSimd>(self, bytes: Bytes);
}

/// The sets of instructions that this program knows.
#[derive(Debug, Clone, Copy)]
pub(super) enum ByteSet {
    #[cfg(target_arch = "x86_64")]
    Wide(x86::Wide),
    #[cfg(target_arch = "x86_64")]
    Narrow(x86::Narrow),
}

#[cfg(target_arch = "x86_64")]
impl ByteSet {
    /// Those that this machine has, the best one first.
    pub(super) fn found() -> impl Iterator<Item = Self> {
        let wide = x86::Wide::find().map(Self::Wide);
        wide.into_iter().chain(x86::Narrow::find().map(Self::Narrow))
    }

    /// Does `work` in code that is compiled for these instructions.
    pub(super) fn run<Work: WithBytes>(self, work: Work) {
        match self {
            Self::Wide(set) => set.run(work),
            Self::Narrow(set) => set.run(work),
        }
    }
}

/// Elsewhere there are none.
#[cfg(not(target_arch = "x86_64"))]
impl ByteSet {
    pub(super) fn found() -> impl Iterator<Item = Self> {
        std::iter::empty()
    }

    pub(super) fn run<Work: WithBytes>(self, _: Work) {
        match self {}
    }
}

#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "these instructions have no safe wrapper")]
mod x86 {
    use std::arch::x86_64::{_mm256_dpbusd_avx_epi32, _mm512_dpbusd_epi32};

    use pulp::x86::{V3, V4};
    use pulp::{cast, u32x8, u32x16};

    use super::{ByteSimd, WithBytes};

    /// AVX-512 with VNNI. There is a value only where the machine has both.
    #[derive(Debug, Clone, Copy)]
    pub(in super::super) struct Wide(V4);

    impl Wide {
        pub(super) fn find() -> Option<Self> {
            V4::try_new().filter(|_| is_x86_feature_detected!("avx512vnni")).map(Self)
        }
    }

    impl ByteSimd for Wide {
        type Simd = V4;

        #[expect(clippy::inline_always, reason = "as `multiply_add_bytes`")]
        #[inline(always)]
        fn simd(self) -> V4 {
            self.0
        }

        #[expect(clippy::inline_always, reason = "compiled inside `run` to get its instruction set")]
        #[inline(always)]
        fn multiply_add_bytes(self, unsigned: u32x16, signed: u32x16, sums: u32x16) -> u32x16 {
            // SAFETY: the machine has AVX-512 and VNNI, since there is a `Wide`.
            cast(unsafe { _mm512_dpbusd_epi32(cast(sums), cast(unsigned), cast(signed)) })
        }

        fn run<Work: WithBytes>(self, work: Work) {
            #[target_feature(enable = "avx512bw,avx512cd,avx512dq,avx512f,avx512vl,avx512vnni")]
            #[target_feature(enable = "bmi1,bmi2,fma,fxsr,lzcnt,popcnt")]
            fn compiled<Work: WithBytes>(set: Wide, work: Work) {
                work.with_bytes(set);
            }
            // SAFETY: the machine has VNNI and all that `V4` stands for, since there is a `Wide`.
            unsafe { compiled(self, work) }
        }
    }

    /// AVX2 with VNNI. There is a value only where the machine has both.
    #[derive(Debug, Clone, Copy)]
    pub(in super::super) struct Narrow(V3);

    impl Narrow {
        pub(super) fn find() -> Option<Self> {
            V3::try_new().filter(|_| is_x86_feature_detected!("avxvnni")).map(Self)
        }
    }

    impl ByteSimd for Narrow {
        type Simd = V3;

        #[expect(clippy::inline_always, reason = "as `multiply_add_bytes`")]
        #[inline(always)]
        fn simd(self) -> V3 {
            self.0
        }

        #[expect(clippy::inline_always, reason = "compiled inside `run` to get its instruction set")]
        #[inline(always)]
        fn multiply_add_bytes(self, unsigned: u32x8, signed: u32x8, sums: u32x8) -> u32x8 {
            // SAFETY: the machine has AVX2 and VNNI, since there is a `Narrow`.
            cast(unsafe { _mm256_dpbusd_avx_epi32(cast(sums), cast(unsigned), cast(signed)) })
        }

        fn run<Work: WithBytes>(self, work: Work) {
            #[target_feature(enable = "avx2,avxvnni,bmi1,bmi2,fma,fxsr,lzcnt,popcnt")]
            fn compiled<Work: WithBytes>(set: Narrow, work: Work) {
                work.with_bytes(set);
            }
            // SAFETY: the machine has VNNI and all that `V3` stands for, since there is a `Narrow`.
            unsafe { compiled(self, work) }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A register of each set: unsigned, signed and sums, all from `words`, to be given back as words.
    struct Once<'a> {
        words: [u32; 3],
        result: &'a mut Vec<u32>,
    }

    impl WithBytes for Once<'_> {
        #[expect(clippy::inline_always, reason = "compiled by `run` for each instruction set")]
        #[inline(always)]
        fn with_bytes<Bytes: ByteSimd>(self, bytes: Bytes) {
            let [unsigned, signed, sums] = self.words.map(|word| bytes.simd().splat_u32s(word));
            self.result.resize(Bytes::Simd::U32_LANES, 0);
            Bytes::Simd::as_mut_simd_u32s(self.result).0[0] = bytes.multiply_add_bytes(unsigned, signed, sums);
        }
    }

    fn check(words: [u32; 3]) {
        let [unsigned, signed] = [words[0], words[1]].map(u32::to_le_bytes);
        let products = unsigned
            .iter()
            .zip(signed)
            .map(|(unsigned, signed)| i32::from(*unsigned) * i32::from(signed.cast_signed()));
        let expected = words[2].wrapping_add_signed(products.sum());
        for set in ByteSet::found() {
            let mut result = Vec::new();
            set.run(Once {
                words,
                result: &mut result,
            });
            assert!(result.iter().all(|word| *word == expected), "{set:?}: {words:x?} {result:x?}");
        }
    }

    #[test]
    fn the_largest_products_are_not_cut() {
        check([u32::MAX, 0x8080_8080, 0]);
        check([u32::MAX, 0x7F7F_7F7F, 0]);
        check([0x8080_8080, u32::MAX, u32::MAX]);
    }

    proptest! {
        #[test]
        fn bytes_are_multiplied_as_by_definition(words in any::<[u32; 3]>()) {
            check(words);
        }
    }
}
