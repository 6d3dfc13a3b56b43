#!/usr/bin/env bash
# Builds every fuzz target, runs it over its stored corpus, then for SECONDS each (default 5).
# `ci/fuzz.sh 600 plan` runs one target for ten minutes. New inputs go to fuzz/corpus/TARGET only
# with KEEP=1; a crash leaves its input in fuzz/artifacts and fails. ci/corpus.py then reduces what is
# stored to at most thirty inputs a target, by coverage. `ci/fuzz.sh --build` builds the targets, optimized,
# and prints the folder that they are in, for ci/fuzz_long.py and ci/corpus.py. `ci/fuzz.sh 0` builds what a short
# run needs, and runs nothing.
#
# These are the flags that cargo-fuzz passes, but for the sanitizer, which needs a nightly compiler:
# the code has no unsafe to speak of, so panics and hangs are what is looked for.
set -euo pipefail
cd "$(dirname "$0")/../fuzz"
seconds=${1:-5}
shift || true
export RUSTFLAGS="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table --cfg fuzzing"
# Comparisons that are told to the fuzzer find more in a short time; in a long one, twice the executions do.
[ "$seconds" = --build ] || RUSTFLAGS+=" -Cllvm-args=-sanitizer-coverage-trace-compares"
folder=${CARGO_TARGET_DIR:-target}
host=$(rustc -vV | sed -n 's/^host: //p')
# A short run is mostly compiling: its code is optimized less, and one program has all targets. A long one gains
# from each execution.
profile=release
programs=(--bins)
if [ "$seconds" != --build ] && [ "$seconds" -le 30 ]; then
    profile=short
    programs=(--bin any)
fi
cargo build --quiet --profile "$profile" --locked --target "$host" "${programs[@]}"
if [ "$seconds" = --build ]; then
    realpath "$folder/$host/$profile"
    exit
fi
[ "$seconds" -gt 0 ] || exit 0
mapfile -t known < <(ls fuzz_targets | sed 's/\.rs$//' | grep -vx any)
targets=("${@:-${known[@]}}")
mkdir -p artifacts
run_one() {
    local target=$1 scratch program=$1
    [ "$profile" = release ] || program=any
    scratch=$(mktemp -d)
    local corpus=("$scratch" "corpus/$target")
    [ "${KEEP:-0}" = 1 ] && corpus=("corpus/$target")
    # Words of the target's language, where it has a list of them.
    local words="dictionaries/$target.dict"
    [ -f "$words" ] && corpus+=("-dict=$words")
    if ! FUZZ_TARGET=$target "$folder/$host/$profile/$program" "${corpus[@]}" -max_total_time="$seconds" -timeout=10 \
        -rss_limit_mb=2048 -artifact_prefix="artifacts/$target-" >"$scratch.log" 2>&1; then
        tail -n 30 "$scratch.log" >&2
        return 1
    fi
    echo "$target: $(grep -a '^Done\|DONE' "$scratch.log" | tail -n 1)"
    rm -rf "$scratch" "$scratch.log"
}
export -f run_one
export folder host seconds profile
# A target has one thread: as many run side by side as there are processors.
printf '%s\n' "${targets[@]}" | xargs -P "$(nproc)" -I{} bash -c 'set -euo pipefail; run_one {}'
