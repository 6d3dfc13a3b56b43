#!/bin/sh
# Builds the engine of the page as a module of WebAssembly, and prints where it is. With `plans` it carries out
# plans, too, for ci/wasm.sh; with `--compiler` it prints whose compiler does it. Status 2: there is none.
#
# Debian's compiler comes first, with std built from source: so a panic can be the end at once, without the texts that nobody would
# see. Else it is rustup's, with its target, whose module is larger by these texts.
set -eu
cd "$(dirname "$0")/.."
target=wasm32-unknown-unknown
missing=
[ -x /usr/bin/rustc ] || missing="$missing rustc-web"
[ -x /usr/bin/cargo ] || missing="$missing cargo-web"
[ -d "$(/usr/bin/rustc --print sysroot 2>/dev/null)/lib/rustlib/src/rust/library/std" ] || missing="$missing rust-web-src"
command -v wasm-ld >/dev/null || missing="$missing lld"
if [ -z "$missing" ]; then
    compiler=debian
elif [ -d "$(rustc --print target-libdir --target $target 2>/dev/null)" ] && command -v cargo >/dev/null; then
    compiler=rustup
else
    echo "engine.sh: there is no compiler for $target. Either of these brings one:
  rustup target add $target
  apt-get install$missing" >&2
    exit 2
fi
[ "${1:-}" != --compiler ] || { echo "$compiler"; exit; }
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
set -- build --quiet --release --locked --manifest-path web/engine/Cargo.toml --features "$features" --target $target
if [ $compiler = debian ]; then
    RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR=$folder \
        RUSTFLAGS="-C linker=wasm-ld -Zunstable-options -Cpanic=immediate-abort -Zlocation-detail=none" \
        /usr/bin/cargo "$@" -Zbuild-std=std,panic_abort -Zbuild-std-features=optimize_for_size >&2
else
    CARGO_TARGET_DIR=$folder cargo "$@" >&2
fi
echo "of $features" >"$folder/features"
module=$folder/page_engine${features:+-$features}.wasm
cp "$release/page_engine.wasm" "$module"
echo "$module"
