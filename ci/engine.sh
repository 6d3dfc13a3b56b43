#!/bin/sh
# Builds the engine of the page as a module of WebAssembly, and prints where it is.
#
# Debian's compiler is used with std built from source, since it needs no target to be installed
# by rustup. With rustup: `rustup target add wasm32-unknown-unknown`, then
# `cargo build --release --manifest-path web/engine/Cargo.toml --target wasm32-unknown-unknown`.
set -eu
cd "$(dirname "$0")/.."
target=wasm32-unknown-unknown
folder=${CARGO_TARGET_DIR:-$PWD/target}/wasm
RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR=$folder RUSTFLAGS="-C linker=wasm-ld" \
    /usr/bin/cargo build --quiet --release --locked --manifest-path web/engine/Cargo.toml \
    --target $target -Zbuild-std=std,panic_abort >&2
echo "$folder/$target/release/page_engine.wasm"
