#!/usr/bin/env bash
# Real programs at the consoles of simulated boards: pyserial, picocom, minicom, esp-idf-monitor, pytest-embedded.
set -euo pipefail
cd "$(dirname "$0")/.."
# Together, as in ci.sh: nothing is compiled again for the wheel.
cargo build --locked -p espbench -p espbench-python --features as-tested
target/python/bin/python ci/terminals.py target/debug/espbench
