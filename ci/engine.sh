#!/bin/sh
# Builds the engine of the page as a module of WebAssembly, and prints where it is. With `plans` it carries out
# plans, too, for ci/wasm.sh.
#
# Debian's compiler is used with std built from source, since it needs no target to be installed
# by rustup: so a panic can be the end at once, without the texts that nobody would see. With rustup:
# `rustup target add wasm32-unknown-unknown`, then
# `cargo build --release --manifest-path web/engine/Cargo.toml --target wasm32-unknown-unknown`.
set -eu
cd "$(dirname "$0")/.."
target=wasm32-unknown-unknown
features=${1:-}
folder=${CARGO_TARGET_DIR:-$PWD/target}/wasm
release=$folder/$target/release
# Both builds have one file, and may be made side by side: one waits for the other.
mkdir -p "$folder"
exec 9>"$folder/lock"
! command -v flock >/dev/null || flock 9
# Cargo asks for the presence of that file alone.
if [ "$(cat "$folder/features" 2>/dev/null)" != "of $features" ]; then
    rm -f "$release"/page_engine.wasm "$release"/deps/page_engine.wasm
fi
RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR=$folder \
    RUSTFLAGS="-C linker=wasm-ld -Zunstable-options -Cpanic=immediate-abort -Zlocation-detail=none" \
    /usr/bin/cargo build --quiet --release --locked --manifest-path web/engine/Cargo.toml --features "$features" \
    --target $target -Zbuild-std=std,panic_abort >&2
echo "of $features" >"$folder/features"
module=$folder/page_engine${features:+-$features}.wasm
cp "$release/page_engine.wasm" "$module"
echo "$module"
