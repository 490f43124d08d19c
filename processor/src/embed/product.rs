//! Matrix products on the processor: candle's tensors and candle's own multiplier (`gemm`), called directly.
//!
//! candle asks for the number of physical cores before each product and reads it from `/proc/cpuinfo` each time: some
//! percent of a short text's time on two cores, and far more on machines whose list is long. It then splits the work by that
//! number, whatever the pool it runs in. Here a product takes the threads that it is given.

#![expect(
    unsafe_code,
    reason = "`gemm` takes pointers and strides; the one call is guarded by the checks before it"
)]

use candle_core::{CpuStorage, CustomOp2, Layout, Result, Shape, Tensor, bail};
use gemm::{Parallelism, gemm};

/// `left` × `right` of `[m, k]` and `[k, n]`, or of `[batch, m, k]` and `[batch, k, n]`, over `threads` threads of the current
/// rayon pool.
pub(crate) fn product(left: &Tensor, right: &Tensor, threads: usize) -> Result<Tensor> {
    left.apply_op2_no_bwd(right, &Product { threads })
}

struct Product {
    threads: usize,
}

/// One operand: a slice, and where its rows and columns lie in it.
struct Operand<'a> {
    values: &'a [f32],
    batch: usize,
    rows: usize,
    columns: usize,
    batch_stride: usize,
    row_stride: usize,
    column_stride: usize,
}

impl<'a> Operand<'a> {
    fn new(storage: &'a CpuStorage, layout: &Layout) -> Result<Self> {
        let CpuStorage::F32(values) = storage else {
            bail!("a product's operand is not f32")
        };
        let (batch, batch_stride, rows, columns, row_stride, column_stride) = match (layout.dims(), layout.stride()) {
            (&[rows, columns], &[row_stride, column_stride]) => (1, 0, rows, columns, row_stride, column_stride),
            (&[batch, rows, columns], &[batch_stride, row_stride, column_stride]) => {
                (batch, batch_stride, rows, columns, row_stride, column_stride)
            }
            _ => bail!("a product's operand has {} dimensions", layout.dims().len()),
        };
        let Some(values) = values.get(layout.start_offset()..) else {
            bail!("a product's operand starts outside its values")
        };
        let operand = Self {
            values,
            batch,
            rows,
            columns,
            batch_stride,
            row_stride,
            column_stride,
        };
        if [batch, rows, columns].contains(&0) || operand.last() >= values.len() {
            bail!("a product's operand is empty or reaches outside its values");
        }
        Ok(operand)
    }

    /// The index of the last value that the strides reach.
    fn last(&self) -> usize {
        (self.batch - 1) * self.batch_stride + (self.rows - 1) * self.row_stride + (self.columns - 1) * self.column_stride
    }
}

impl CustomOp2 for Product {
    fn name(&self) -> &'static str {
        "product"
    }

    fn cpu_fwd(&self, left: &CpuStorage, left_at: &Layout, right: &CpuStorage, right_at: &Layout) -> Result<(CpuStorage, Shape)> {
        let (left, right) = (Operand::new(left, left_at)?, Operand::new(right, right_at)?);
        if left.batch != right.batch || left.columns != right.rows {
            bail!("a product of {:?} and {:?}", left_at.dims(), right_at.dims());
        }
        let (rows, columns) = (left.rows, right.columns);
        let mut out = vec![0.0; left.batch * rows * columns];
        for (index, out) in out.chunks_exact_mut(rows * columns).enumerate() {
            multiply(out, (&left, &right), index, self.threads);
        }
        let shape = match left_at.dims() {
            [_, _] => Shape::from((rows, columns)),
            _ => Shape::from((left.batch, rows, columns)),
        };
        Ok((CpuStorage::F32(out), shape))
    }
}

/// Matrix `index` of both batches; `out` is row-major and has exactly their product's size.
fn multiply(out: &mut [f32], (left, right): (&Operand<'_>, &Operand<'_>), index: usize, threads: usize) {
    assert_eq!(out.len(), left.rows * right.columns, "invariant: the result's size");
    let left_values = &left.values[index * left.batch_stride..];
    let right_values = &right.values[index * right.batch_stride..];
    // SAFETY: `out` has rows × columns values and is written row-major, not read (`read_dst` is false). The operands are read
    // at index·batch_stride + row·row_stride + column·column_stride; `Operand::new` has checked the largest of these against the
    // slice, `cpu_fwd` that both sides agree in batch and inner size. All are plain f32s that outlive the call.
    unsafe {
        gemm(
            left.rows,
            right.columns,
            left.columns,
            out.as_mut_ptr(),
            1,
            right.columns.cast_signed(),
            false,
            left_values.as_ptr(),
            left.column_stride.cast_signed(),
            left.row_stride.cast_signed(),
            right_values.as_ptr(),
            right.column_stride.cast_signed(),
            right.row_stride.cast_signed(),
            0.0,
            1.0,
            false,
            false,
            false,
            // With one thread this is no parallelism, but its cutting of the columns, which is the faster one.
            Parallelism::Rayon(threads.max(1)),
        );
    }
}

#[cfg(test)]
mod tests {
    use candle_core::{Device, Tensor};
    use rstest::rstest;

    use super::*;

    fn made_up(shape: &[usize]) -> Tensor {
        let count: usize = shape.iter().product();
        let values: Vec<f32> = (0..count).map(|place| (place * 37 % 64) as f32 / 64.0 - 0.5).collect();
        Tensor::from_vec(values, shape, &Device::Cpu).unwrap()
    }

    fn check(left: &Tensor, right: &Tensor) {
        let expected = left.matmul(right).unwrap().flatten_all().unwrap().to_vec1::<f32>().unwrap();
        for threads in [1, 3] {
            let own = product(left, right, threads).unwrap();
            assert_eq!(own.dims(), left.matmul(right).unwrap().dims());
            let own = own.flatten_all().unwrap().to_vec1::<f32>().unwrap();
            assert!(own.iter().zip(&expected).all(|(own, expected)| (own - expected).abs() < 1e-4));
        }
    }

    #[rstest]
    #[case::one(&[1, 1], &[1, 1])]
    #[case::narrow(&[96, 40], &[40, 8])]
    #[case::odd(&[7, 13], &[13, 5])]
    #[case::batch(&[3, 7, 13], &[3, 13, 5])]
    #[case::large(&[160, 200], &[200, 170])]
    fn equals_candle_s(#[case] left: &[usize], #[case] right: &[usize]) {
        check(&made_up(left), &made_up(right));
    }

    #[test]
    fn views_are_read_where_they_lie() {
        let whole = made_up(&[3, 4, 8, 20]);
        let part = whole.narrow(3, 5, 11).unwrap();
        let (one, other) = (part.get(1).unwrap(), part.get(2).unwrap());
        check(&one.t().unwrap(), &other);
        check(&made_up(&[6, 8]), &other.get(3).unwrap());
        check(&one, &other.t().unwrap());
    }

    #[rstest]
    #[case::inner(&[2, 3], &[4, 2])]
    #[case::batch(&[2, 2, 3], &[3, 3, 2])]
    #[case::mixed(&[2, 3], &[2, 3, 2])]
    #[case::flat(&[3], &[3, 2])]
    #[case::empty(&[0, 3], &[3, 2])]
    fn shapes_that_don_t_fit_are_an_error(#[case] left: &[usize], #[case] right: &[usize]) {
        assert!(product(&made_up(left), &made_up(right), 1).is_err());
    }
}
