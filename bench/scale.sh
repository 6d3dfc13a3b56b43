#!/usr/bin/env bash
# Measures how fast labs of a thousand whole devices go, and what memory they take: a line of 1000 relays, and a room
# of 1000 devices that each send a message a minute, to one and to all.
#
#   bench/scale.sh [ROW]        ROW: line, one, all or relayed (default: the first three)
#   bench/scale.sh --least      the development profile and one row: whether it runs, and nothing of how fast
#
# Wanted are 50 times real time on one core and less than 1 GB; exits with 1 where one of them is not. `relayed`, in which
# each of a line's relays sends a message a minute that goes along all of it, is shown and wants nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
profile=release rows=${1:-line one all} scope=(-p espbench-sim) least=
# What the tests have compiled: for one package alone cargo would choose other features.
[ "${1:-}" != --least ] || profile=dev rows=line scope=(--workspace) least=1
cargo build --quiet --profile "$profile" --locked "${scope[@]}" --example scale_speed
example=${CARGO_TARGET_DIR:-target}/${profile/dev/debug}/examples/scale_speed
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
for row in $rows; do
    /usr/bin/time -f %M -o "$work/kb" "$example" "$row:" | tee "$work/row"
    kb=$(cat "$work/kb")
    echo "    $((kb / 1024)) MB at most"
    [ "$row" = relayed ] || [ -n "$least" ] && continue
    awk -v kb="$kb" '{ for (i = 2; i <= NF; i++) if ($i == "x") times = $(i - 1) } END { exit !(times >= 50 && kb < 1048576) }' \
        "$work/row" || status=1
done
exit $status
