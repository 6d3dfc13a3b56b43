#!/usr/bin/env bash
# Compares the speed of whole nodes here and of bare stations in Debian's ns-3 (libns3-dev), in
# alternation: simulated seconds a second of processor time, and the ratio. About a minute a round.
#
#   bench/ns3/speed.sh [TIMES]        TIMES: rounds (default 3)
#
# Exits with 1 if it is less than 120 times in one of them. Debian's ns-3 is not its fastest build:
# an optimized one of the same version was measured at 1.15 to 1.41 times that.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=bench/ns3/build.sh
source bench/ns3/build.sh
cargo build --quiet --release --locked -p espbench-dot11 -p espbench-sim --example check --example lab_speed
python3 bench/ns3/speed.py "$target/check" "$target/lab_speed" "$work/room" "${1:-3}"
