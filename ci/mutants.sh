#!/usr/bin/env bash
# Mutation testing of one area: `ci/mutants.sh AREA [OPTION …]`. Options are cargo-mutants' own, as
# `--shard 0/4`, `--file '**/mpdu.rs'`, `--list`. docs/mutants.md has the areas and results, docs/notes/mutants.md why
# the mutants that no test can catch are equivalent; a mutant that is missed and not there fails.
#
# An area is compiled alone: a copy of its crate with nothing but the modules of the area, so that a
# mutant costs a second or two. With --at-once before the options all mutants are compiled together
# (ci/mutants_at_once.py), so that one costs what its tests cost. Needs cargo-mutants
# (`cargo install cargo-mutants@27.1.0 --locked`).
set -euo pipefail
cd "$(dirname "$0")/.."

area=${1:-}
shift || true
at_once=
[ "${1:-}" != --at-once ] || { at_once=1; shift; }
slow=()
tests=(--lib)
folders=(examples tests)
files=()
level=0
case $area in
    statistics)
        crate=stats package=espbench-stats
        modules="estimate quantile interval binomial bootstrap cluster modes trend special"
        level=1
        ;;
    ieee80211) crate=ieee80211 package=espbench-ieee80211 modules="mac mpdu beacon wlan radiotap" ;;
    esp-now) crate=esp-now package=esp-now modules="frame component" ;;
    wire) crate=proto package=espbench-proto modules="wire" ;;
    dcf)
        crate=dot11 package=espbench-dot11 modules="events random radio air mac check"
        files=(--file 'crates/dot11/src/mac/**')
        folders=(examples)
        slow=(books_balance)
        level=1
        ;;
    *) echo "ci/mutants.sh statistics | ieee80211 | esp-now | wire | dcf [OPTION …]" >&2; exit 2 ;;
esac
case " $* " in *" --file "*) files=() ;; esac

scratch=${TMPDIR:-/tmp}/espbench-mutants/$area
mkdir -p "$scratch"
rm -rf "${scratch:?}/crates"
mkdir "$scratch/crates"
cp -r crates/{model,stats,ieee80211,esp-now,proto,dot11} "$scratch/crates/"
cp Cargo.lock "$scratch/"
for folder in "${folders[@]}"; do
    rm -rf "$scratch/crates/$crate/$folder"
done
{
    printf '[workspace]\nresolver = "3"\nmembers = ["crates/%s"]\n' "$crate"
    awk '/^\[/ { keep = /^\[workspace\./ } keep' Cargo.toml
    printf '\n[profile.dev]\nopt-level = %s\ndebug = false\n' "$level"
    printf '\n[profile.dev.package.%s]\nopt-level = 2\n' libm proptest
} >"$scratch/Cargo.toml"
lib=$scratch/crates/$crate/src/lib.rs
awk -v keep=" $modules " '/^(pub(\(crate\))? )?mod / {
    name = $NF; sub(";", "", name)
    if (index(keep, " " name " ") == 0) next
} { print }' "crates/$crate/src/lib.rs" >"$lib"
if [ "$area" = dcf ]; then
    # The rules one by one become a module of the crate, so that a mutant is compiled once. Rooms of
    # saturated senders, which take minutes, and tests of other modules are left out.
    src=$scratch/crates/dot11/src
    mv "$src/../tests/dcf" "$src/dcf"
    mv "$src/dcf/main.rs" "$src/dcf/mod.rs"
    sed -i '/^mod saturated/d' "$src/dcf/mod.rs"
    sed -i 's/crate::/crate::dcf::/' "$src"/dcf/*.rs
    for file in "$src"/dcf/snapshots/*; do
        mv "$file" "${file%/*}/espbench_dot11__${file##*/}"
    done
    find "$src"/{radio,air,check,random.rs,events.rs} -name '*.rs' \
        -exec sed -i 's/#\[cfg(test)\]/#[cfg(any())]/' {} +
    sed -i 's/^#!\[no_std\]/#![cfg_attr(not(test), no_std)]/' "$src/lib.rs"
    printf '#[cfg(test)]\nextern crate self as espbench_dot11;\n#[cfg(test)]\nmod dcf;\n' >>"$src/lib.rs"
fi

# A test must catch a mutant every time, so failures of proptest are neither kept nor shrunk.
export CI=true PROPTEST_DISABLE_FAILURE_PERSISTENCE=true PROPTEST_MAX_SHRINK_ITERS=0 INSTA_UPDATE=no RUST_BACKTRACE=0
status=0
mutants=(cargo mutants --dir "$scratch" --in-place --package "$package" --no-shuffle "${files[@]}" "$@")
if [ -n "$at_once" ]; then
    "${mutants[@]}" --list --json >"$scratch/mutants.json"
    python3 ci/mutants_at_once.py "$scratch" "$package" "$scratch/mutants.json" "${slow[@]}"
    missed=$scratch/at-once/missed.txt
    [ -f "$missed" ] || exit 0
else
    "${mutants[@]}" --minimum-test-timeout 30 -- "${tests[@]}" || status=$?
    # 2 says that mutants were missed, 3 that tests ran into the time limit, which catches a mutant.
    [ $status -eq 2 ] || { [ $status -eq 3 ] && exit 0 || exit $status; }
    missed=$scratch/mutants.out/missed.txt
fi
new=$(sed -E 's/:[0-9]+:[0-9]+: /: /' "$missed" | while read -r mutant; do
    grep -qF "\`$mutant\`" docs/notes/mutants.md || echo "$mutant"
done)
[ -z "$new" ] || { printf 'missed, and not explained in docs/notes/mutants.md:\n%s\n' "$new" >&2; exit 1; }
