#!/usr/bin/env bash
# Real programs at the consoles of simulated boards: pyserial, picocom, minicom, esp-idf-monitor, pytest-embedded.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --locked -p espbench
target/python/bin/python ci/terminals.py target/debug/espbench
