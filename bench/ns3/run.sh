#!/usr/bin/env bash
# The same rooms here and in Debian's ns-3 (libns3-dev), in alternation, and the ratios:
#
#   bench/ns3/run.sh                  every room; an hour
#   bench/ns3/run.sh --quick          the three main ones, and one where positions matter; two minutes
#   bench/ns3/run.sh NAME…            these (names: cargo run -p espbench-sim --example check -- --list)
#
# Exits with 1 if a throughput is more than 2 % (and three standard errors) off.
set -euo pipefail
cd "$(dirname "$0")/../.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
modules="ns3-wifi ns3-mobility ns3-propagation"
pkg-config --exists $modules || {
    echo "ns-3 is not installed: apt-get install libns3-dev" >&2
    exit 2
}
# Debian's pkg-config files name development files of GSL, which nothing here needs.
libs=$(pkg-config --libs $modules | tr ' ' '\n' | grep -v gsl | tr '\n' ' ')
# shellcheck disable=SC2086,SC2046
g++ -O2 -std=c++17 bench/ns3/room.cc -o "$work/room" $(pkg-config --cflags $modules) $libs
cargo build --quiet --release --locked -p espbench-sim --example check
target=${CARGO_TARGET_DIR:-target}
python3 bench/ns3/compare.py "$target/release/examples/check" "$work/room" "$@"
