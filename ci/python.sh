#!/usr/bin/env bash
# Builds the wheel, installs it into an environment of its own, and runs its tests, types, the example project and the
# notebooks with it. `ci/python.sh --dev` builds without optimization, from what cargo has already compiled.
set -euo pipefail
cd "$(dirname "$0")/.."
profile=(--release)
[ "${1:-}" != --dev ] || profile=(--profile dev)
environment=$PWD/target/wheel-env
if ! cmp -s ci/wheel.txt "$environment/wheel.txt"; then
    python3 -m venv --clear "$environment"
    "$environment/bin/pip" install -q --disable-pip-version-check -r ci/wheel.txt
    cp ci/wheel.txt "$environment/"
fi
export PATH=$environment/bin:$PATH VIRTUAL_ENV=$environment
cargo fmt --check --manifest-path python/Cargo.toml
rm -rf target/wheels
CARGO_TARGET_DIR=$PWD/target maturin build --quiet --locked "${profile[@]}" --manifest-path python/Cargo.toml --out target/wheels
pip install -q --disable-pip-version-check --force-reinstall --no-deps target/wheels/*.whl
echo "the wheel has $(wc -c <target/wheels/*.whl) bytes: $(basename target/wheels/*.whl)"

PYO3_BUILD_EXTENSION_MODULE=1 CARGO_TARGET_DIR=$PWD/target \
    cargo clippy --quiet --locked --manifest-path python/Cargo.toml -- -D warnings

# Where the installed package is meant, the sources must not be found first.
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
cp -r python/tests python/pyproject.toml "$work/"
repository=$PWD
(cd "$work" && ESPBENCH_REPOSITORY=$repository pytest -q)
(cd python && mypy && pyright --pythonpath "$environment/bin/python")
cp -r examples/esp-idf-pytest "$work/project"
(cd "$work/project" && pytest -q -p no:cacheprovider)
[ "${1:-}" = --dev ] || python bench/python.py
for notebook in examples/notebooks/*.py; do
    echo "$notebook"
    docs/notebooks.py "$notebook" --check
done
