#!/usr/bin/env bash
# Publishes crates and the Python package, in the order in which each finds what it needs: crates on crates.io from the lowest up,
# then the source distribution and wheels on PyPI. Everything is made and tried first.
#
#     packaging/publish.sh --dry-run [--quick]
#     packaging/publish.sh [WHEEL...]
#
# With `--dry-run` nothing is uploaded. With `--quick`, as in CI, what is packed is checked by the compiler with what the tests
# have compiled, and no wheel is built of it.
#
# It asks for `cargo login` or CARGO_REGISTRY_TOKEN, and MATURIN_PYPI_TOKEN. The wheels are those of a release: ci/wheel.sh,
# ci/cross.sh wheel, ci/cross.sh musl.
set -euo pipefail
cd "$(dirname "$0")/.."
fail() { echo "publish.sh: $*" >&2; exit 1; }

dry_run='' quick='' wheels=()
while [ $# -gt 0 ]; do
    case $1 in
        --dry-run) dry_run=true ;;
        --quick) quick=true ;;
        -*) echo "publish.sh: no flag $1" >&2; exit 2 ;;
        *) wheels+=("$1") ;;
    esac
    shift
done
[ -n "$dry_run" ] || [ -z "$quick" ] || { echo "publish.sh: --quick is a dry run's: --dry-run --quick" >&2; exit 2; }

[ -n "$dry_run" ] || [ -d target/share/espbench/page ] || fail "the page is not built: ci/page.sh"

# The package of Python is published by maturin, and not as a crate.
crates=(--workspace --exclude espbench-python --locked)
compiled=$PWD/target
target=$compiled/publish
rm -rf "$target/sdist" "$target/from-sdist" "$target"/package/*.crate
mkdir -p "$target"

# Packs one crate after another; each is compiled of what is packed of those below it.
pack() {
    local options=(--offline --target-dir "$target")
    [ -z "$quick" ] || options+=(--no-verify)
    # A change that is not committed would be published without a trace: only a dry run may have one.
    [ -z "$dry_run" ] || options+=(--allow-dirty)
    cargo package "${crates[@]}" "${options[@]}"
    packaging/crates.py "$target/package"
}

# Packs the sources of the Python package, with all crates and the licences of what is linked in.
pack_sources() {
    if ! cmp -s ci/wheel.txt "$target/tools/wheel.txt"; then
        python3 -m venv --clear "$target/tools"
        "$target/tools/bin/pip" install -q --disable-pip-version-check --no-compile "$(grep '^maturin==' ci/wheel.txt)"
        cp ci/wheel.txt "$target/tools/"
    fi
    packaging/python.sh
    "$target/tools/bin/maturin" sdist --manifest-path python/Cargo.toml --out "$target/sdist"
}

# Compiles the sources where nothing of the repository is.
unpack_sources() {
    local sdist
    sdist=$(echo "$target"/sdist/espbench-*.tar.gz)
    mkdir "$target/from-sdist"
    if [ -n "$quick" ]; then
        # The archive's own times are always the same, by which cargo would take what has changed for what it has compiled.
        tar xzmf "$sdist" -C "$target/from-sdist" --strip-components 1
        (cd "$target/from-sdist" && CARGO_TARGET_DIR=$compiled PYO3_BUILD_EXTENSION_MODULE=1 \
            cargo check --quiet --offline --locked -p espbench-python --features as-tested)
        echo "the sources of the Python package compile: $(basename "$sdist"), $(wc -c <"$sdist") bytes"
    else
        python3 -m venv "$target/from-sdist/empty"
        "$target/from-sdist/empty/bin/pip" wheel -q --disable-pip-version-check --no-deps -w "$target/from-sdist" "$sdist"
        "$target/from-sdist/empty/bin/pip" install -q --disable-pip-version-check "$target"/from-sdist/*.whl
        (cd "$target/from-sdist" && empty/bin/espbench run crypto-time --on sim -q --format csv | grep simulated >/dev/null)
    fi
}

# What the lock file names; all that follows needs no network.
cargo fetch --quiet --locked
pack
pack_sources
unpack_sources
if [ -n "$dry_run" ]; then
    echo "publish: nothing was uploaded; what would be is in target/publish/package and target/publish/sdist"
    exit
fi
[ ${#wheels[@]} -gt 0 ] || fail "name the wheels of the release"
cargo publish "${crates[@]}"
"$target/tools/bin/maturin" upload "$target"/sdist/espbench-*.tar.gz "${wheels[@]}"
