#!/bin/sh
# Builds the engine of the page as a module of WebAssembly that carries out plans, too, runs it, and compares its
# reports with those of the same code on this machine: to the byte. Prints the size of the module.
set -eu
cd "$(dirname "$0")/.."
command -v node >/dev/null || { echo "wasm.sh: node is missing: apt-get install nodejs" >&2; exit 2; }
module=$(ci/engine.sh plans)
echo "the module has $(wc -c <"$module") bytes, $(gzip -9c "$module" | wc -c) with gzip"

work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
# Of the whole workspace, as the tests have it: for one package alone cargo would choose other features, and compile all again.
cargo build --quiet --locked --workspace --features as-tested --example report
here=${CARGO_TARGET_DIR:-target}/debug/examples/report
for plan in esp-now wifi; do
    "$here" "ci/plans/$plan.toml" "" 7 >"$work/here.json"
    node web/engine/test/report.mjs "$module" "ci/plans/$plan.toml" "" 7 >"$work/wasm.json"
    cmp "$work/here.json" "$work/wasm.json"
    echo "$plan: $(wc -c <"$work/here.json") bytes of report, the same"
done
