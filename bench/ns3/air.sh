#!/usr/bin/env bash
# Compares air times of HE frames (HE SU and ER SU, all schemes and guard intervals) with those of Debian's ns-3 (libns3-dev),
# to the nanosecond:
#
#   bench/ns3/air.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
scenario=air
# shellcheck source=bench/ns3/build.sh
source bench/ns3/build.sh
cargo build --quiet --release --locked -p espbench-dot11 --example check
"$target/check" --air | "$work/air"
