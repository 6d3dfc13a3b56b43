#!/usr/bin/env bash
# Builds the wheel, installs it into an environment of its own, and runs its tests, types, the example project, the
# notebooks and the bench with it. `ci/python.sh --dev` builds without optimization, from what cargo has already
# compiled, and takes of the bench the least counts. clippy and rustfmt see the crate with the workspace.
set -euo pipefail
cd "$(dirname "$0")/.."
ci/wheel.sh "$@"
environment=$PWD/target/wheel-env
export PATH=$environment/bin:$PATH VIRTUAL_ENV=$environment

# Where the installed package is meant, the sources must not be found first.
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
cp -r python/tests python/pyproject.toml "$work/"
repository=$PWD
(cd "$work" && ESPBENCH_REPOSITORY=$repository pytest -q)
# What the tests give to functions is what checkers let them give.
(cd python && mypy && mypy --strict tests/test_arguments.py && pyright --pythonpath "$environment/bin/python")
cp -r examples/esp-idf-pytest "$work/project"
(cd "$work/project" && pytest -q -p no:cacheprovider)
if [ "${1:-}" = --dev ]; then least=(--least); else least=(); fi
python bench/python.py "${least[@]}"
python bench/cluster.py --least
for notebook in examples/notebooks/*.py; do
    echo "$notebook"
    docs/notebooks.py "$notebook" --check
done
