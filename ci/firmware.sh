#!/bin/bash
# Tests the part of the firmware that knows no chip, builds the images for ESP32-C3, C2 and C6, prints what
# they take, and holds bounds. A warning of the compiler fails for each chip. By itself clippy would check all dependencies again;
# it compiles the tests and the image for the C3, which may be some 100 bytes larger so. Nothing is run on a board.
#
# Debian's compiler is used with core built from source, since it needs no target to be installed by rustup,
# and lld from its package; with rustup see firmware/README.md.
#
# What is counted are the sections of the ELF file. An image has a header for each segment and padding
# beside them, less than 1 kB.
set -euo pipefail
cd "$(dirname "$0")/../firmware"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/../target}/firmware"

RUSTC_WORKSPACE_WRAPPER=clippy-driver RUSTFLAGS="-D warnings" \
    cargo test --quiet --locked -p espbench-firmware-core --target-dir "$CARGO_TARGET_DIR/host"
cargo fmt --all --check

export RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1
# What is loaded has no lines of the source; without them an image takes less time.
export CARGO_PROFILE_RELEASE_DEBUG=false
export CARGO_TARGET_RISCV32IMC_UNKNOWN_NONE_ELF_LINKER=ld.lld
export CARGO_TARGET_RISCV32IMAC_UNKNOWN_NONE_ELF_LINKER=ld.lld

# Prints the sizes of an image and holds its bounds: bytes in flash, and bytes of RAM that are left.
image() {
    local chip=$1 target=$2 flash_most=$3 free_least=$4 elf
    /usr/bin/cargo build --quiet --release --locked --target "$target" --features "$chip" -Zbuild-std=core,alloc \
        -Zbuild-std-features=optimize_for_size \
        --config "target.$target.rustflags=['-D', 'warnings']"
    elf="$CARGO_TARGET_DIR/$target/release/espbench-firmware"
    readelf -SW "$elf" | tr -d '[]' | awk -v chip="$chip" -v most="$flash_most" -v least="$free_least" '
        function hex(text,  i, n) { n = 0; for (i = 1; i <= length(text); i++) n = n * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1; return n }
        # Number, name, type, address, offset, size, entry size, flags.
        $3 == "PROGBITS" && $8 ~ /A/ { flash += hex($6) }
        $2 ~ /^\.(trap|rwtext)/ { iram += hex($6) }
        $2 ~ /^\.(data|bss|noinit)/ { data += hex($6) }
        $2 ~ /^\.dram2_uninit/ { reclaimed += hex($6) }
        $2 == ".stack" { stack = hex($6) }
        END {
            printf "%s: image %d bytes, IRAM %d, static RAM %d, reclaimed for the heap %d, left for the stack %d\n", chip, flash, iram, data, reclaimed, stack
            if (flash == 0 || flash > most) { printf "%s: the image may have %d bytes\n", chip, most; bad = 1 }
            if (stack < least) { printf "%s: at least %d bytes of RAM must be left\n", chip, least; bad = 1 }
            exit bad
        }'
}

RUSTC_WORKSPACE_WRAPPER=/usr/bin/clippy-driver image esp32c3 riscv32imc-unknown-none-elf 900000 120000
image esp32c2 riscv32imc-unknown-none-elf 900000 32000
image esp32c6 riscv32imac-unknown-none-elf 1000000 120000
