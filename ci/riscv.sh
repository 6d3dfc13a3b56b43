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
export CARGO_TARGET_RISCV32IMC_UNKNOWN_NONE_ELF_LINKER=ld.lld
# The folder of ci/icount.sh, with the same core. A node that needed a heap would not link: nothing gives it one.
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}/icount"
/usr/bin/cargo build --quiet --release --locked --manifest-path tests/riscv/Cargo.toml \
    --target $target -Zbuild-std=core,alloc
# The build itself fails where a node takes more than 24 KiB; this says how much it takes.
readelf -sW "$CARGO_TARGET_DIR/$target/release/libriscv.a" 2>/dev/null |
    awk '$8 == "ESPBENCH_NODE" { print "a node takes " $3 " bytes of RAM"; found = 1 }
         END { exit !found }'
