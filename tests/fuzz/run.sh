#!/usr/bin/env bash
# Fuzzes every target, or those named, for so many seconds each: `run.sh SECONDS [TARGET…]`, as many at once as FUZZ_JOBS says.
#
# Inputs grow in FUZZ_FOLDER (here: work/). Prints a line a target, and fails where a promise was broken: the inputs then lie in
# FUZZ_FOLDER/artifacts/TARGET/. To run one again: `cargo run -p remembrancer-tests --bin fuzz -- run TARGET FILE`.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
seconds=${1:?how many seconds for each target}
shift
folder=${FUZZ_FOLDER:-$here/work}
programs=$("$here/build.sh" | tail -1)
cargo run --quiet --locked -p remembrancer-tests --manifest-path "$here/../../Cargo.toml" --bin fuzz -- seeds "$folder/corpus"
targets=("$@")
[ ${#targets[@]} -gt 0 ] || mapfile -t targets < <(cd "$here/fuzz_targets" && ls | sed 's/\.rs$//')

# Databases are made anew for every run: in memory, where the system has such a folder.
[ -w /dev/shm ] && export TMPDIR=${TMPDIR:-/dev/shm}

fuzz() {
  local target=$1 log="$folder/$1.log" status=held
  mkdir -p "$folder/artifacts/$target"
  "$programs/$target" "$folder/corpus/$target" -max_total_time="$seconds" -dict="$here/dictionary" -max_len=30000 -timeout=60 \
    -rss_limit_mb=4000 -artifact_prefix="$folder/artifacts/$target/" -print_final_stats=1 >"$log" 2>&1 || status=BROKEN
  echo "$target: $status, $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") executions, $(grep -a -o 'cov: [0-9]*' "$log" | tail -1)"
  [ "$status" = held ]
}
export -f fuzz
export folder here programs seconds
printf '%s\n' "${targets[@]}" | xargs -P "${FUZZ_JOBS:-1}" -I{} bash -c 'fuzz {}'
