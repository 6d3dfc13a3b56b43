#!/usr/bin/env bash
# Runs the same rooms here and in Debian's ns-3 (libns3-dev), in alternation, and prints the ratios:
#
#   bench/ns3/run.sh                  every room; an hour
#   bench/ns3/run.sh --quick          the three main ones, and one where positions matter; two minutes
#   bench/ns3/run.sh NAME…            these (names: cargo run -p espbench-dot11 --example check -- --list)
#
# Exits with 1 if a throughput is more than 2 % (and three standard errors) off.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=bench/ns3/build.sh
source bench/ns3/build.sh
if [ "${1:-}" = --quick ]; then
    # What the tests have compiled: no figure depends on how fast our side is.
    cargo build --quiet --locked --workspace --example check
    target=${target/release/debug}
else
    cargo build --quiet --release --locked -p espbench-dot11 --example check
fi
python3 bench/ns3/compare.py "$target/check" "$work/room" "$@"
