#!/usr/bin/env bash
# Compares the speed of one saturated TCP stream over HT20 with A-MPDU, here with machines, buffers
# and lwIP's limits, and in Debian's ns-3 (libns3-dev), in alternation: prints simulated seconds a
# second of processor time, the ratio, and both throughputs. Twenty seconds of processor time a round.
#
#   bench/ns3/tcp.sh [TIMES]        TIMES: rounds (default 5)
#
# Exits with 1 if the median of a case is below 10 times ns-3, or 20 times real time, or a throughput is
# more than 10 % off. Debian's ns-3 is not its fastest build: an optimized one of the same version was
# measured at 1.5 times that in this scenario.
set -euo pipefail
cd "$(dirname "$0")/../.."
scenario=tcp
# shellcheck source=bench/ns3/build.sh
source bench/ns3/build.sh
cargo build --quiet --release --locked -p espbench-sim --example tcp_speed
python3 bench/ns3/tcp.py "$target/tcp_speed" "$work/tcp" "${1:-5}"
