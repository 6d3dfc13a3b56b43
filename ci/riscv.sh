#!/bin/sh
# Builds a whole node for the ESP32-C3 (riscv32imc) and prints how much of the chip's memory it takes.
#
# Debian's compiler is used with core built from source, since it needs no target to be installed
# by rustup. With rustup: `rustup target add riscv32imc-unknown-none-elf`, then
# `cargo build --manifest-path tests/riscv/Cargo.toml --target riscv32imc-unknown-none-elf`.
set -eu
cd "$(dirname "$0")/.."
target=riscv32imc-unknown-none-elf
export RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1
# The workspace's folder for builds may be set; this one must not be mixed with it.
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}/riscv"
/usr/bin/cargo build --quiet --release --locked --manifest-path tests/riscv/Cargo.toml \
    --target $target -Zbuild-std=core
# The build itself fails where a node takes more than 24 KiB; this says how much it takes.
readelf -sW "$CARGO_TARGET_DIR/$target/release/libriscv.a" 2>/dev/null |
    awk '$8 == "ESPBENCH_NODE" { print "a node takes " $3 " bytes of RAM"; found = 1 }
         END { exit !found }'
