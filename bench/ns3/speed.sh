#!/usr/bin/env bash
# How fast whole nodes go here, and bare stations in Debian's ns-3 (libns3-dev), in alternation:
# simulated seconds a second of processor time, and the ratio. About two minutes.
#
#   bench/ns3/speed.sh [TIMES]        TIMES: rounds, 3 if not said
set -euo pipefail
cd "$(dirname "$0")/../.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
modules="ns3-wifi ns3-mobility ns3-propagation"
pkg-config --exists $modules || {
    echo "ns-3 is not installed: apt-get install libns3-dev" >&2
    exit 2
}
libs=$(pkg-config --libs $modules | tr ' ' '\n' | grep -v gsl | tr '\n' ' ')
# shellcheck disable=SC2086,SC2046
g++ -O2 -std=c++17 bench/ns3/room.cc -o "$work/room" $(pkg-config --cflags $modules) $libs
cargo build --quiet --release --locked -p espbench-sim --example check --example lab_speed
target=${CARGO_TARGET_DIR:-target}/release/examples
python3 bench/ns3/speed.py "$target/check" "$target/lab_speed" "$work/room" "${1:-3}"
