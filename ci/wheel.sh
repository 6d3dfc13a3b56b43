#!/usr/bin/env bash
# Makes the environment target/wheel-env, builds the wheel and installs it there. `--dev` builds without
# optimization, stripped, with the features that the tests have given to dependencies, which need not be compiled again then.
set -euo pipefail
cd "$(dirname "$0")/.."
profile=(--profile dist)
[ "${1:-}" != --dev ] || profile=(--profile dev --features as-tested --strip)
environment=$PWD/target/wheel-env
if ! cmp -s ci/wheel.txt "$environment/wheel.txt"; then
    python3 -m venv --clear "$environment"
    "$environment/bin/pip" install -q --disable-pip-version-check --no-compile -r ci/wheel.txt
    cp ci/wheel.txt "$environment/"
fi
export PATH=$environment/bin:$PATH VIRTUAL_ENV=$environment
rm -rf target/wheels
packaging/python.sh
# That of a release has the page.
if [ "${CI:-}" = true ] && [ ! -d python/espbench/page ]; then
    echo "wheel.sh: the page is not built: ci/page.sh" >&2
    exit 2
fi
CARGO_TARGET_DIR=$PWD/target maturin build --quiet --locked "${profile[@]}" --manifest-path python/Cargo.toml --out target/wheels
pip install -q --disable-pip-version-check --force-reinstall --no-deps target/wheels/*.whl
echo "the wheel has $(wc -c <target/wheels/*.whl) bytes: $(basename target/wheels/*.whl)"
