#!/usr/bin/env bash
# Builds the fuzz targets with libFuzzer, without a sanitizer: `build.sh [FOLDER]`, by the compiler FUZZ_TOOLCHAIN (`nightly`). The last line printed is the folder of their programs.
#
# The product is safe Rust, but for a few lines in `schema`, so a sanitizer finds little and costs half of the speed; `cargo fuzz
# run TARGET` has one. What does count is on: debug assertions and checks of overflow.
set -euo pipefail
cd "$(dirname "$0")"
target=${1:-$PWD/target}
nightly=${FUZZ_TOOLCHAIN:-nightly}
host=$(rustc "+$nightly" -vV | sed -n 's/^host: //p')
# The versions that are released.
cp ../../Cargo.lock Cargo.lock
export RUSTFLAGS="-Cpasses=sancov-module -Ccodegen-units=4"
for option in level=4 inline-8bit-counters pc-table trace-compares; do
  RUSTFLAGS+=" -Cllvm-args=-sanitizer-coverage-$option"
done
cargo "+$nightly" build --release --target "$host" --target-dir "$target" --bin redact
echo "$target/$host/release"
