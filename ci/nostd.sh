#!/bin/sh
# Fails (E0152) where one of the lower crates, or anything below them, links std. See tests/nostd.
set -eu
cd "$(dirname "$0")/.."
exec cargo check --locked --manifest-path tests/nostd/Cargo.toml --target-dir target/nostd
