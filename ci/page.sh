#!/bin/sh
# Builds the page into target/share/espbench/page, where `espbench serve` of this checkout finds it and releases take it from: the engine,
# types, unit tests, bundle. With `--test` its flows are tested in Debian's Chromium, too, beside the command: `--test --built`
# takes the one in target/debug as it is. Status 2: something is missing, which is said.
set -eu
cd "$(dirname "$0")/.."
need() { # TOOL PACKAGE
    command -v "$1" >/dev/null && return
    echo "page.sh: $1 is missing: apt-get install $2" >&2
    missing=true
}
missing=false
need node nodejs
need npm npm
[ "${1:-}" != --test ] || need "${CHROMIUM:-chromium}" chromium
ci/engine.sh --compiler >/dev/null || missing=true
[ $missing = false ] || exit 2
module=$(ci/engine.sh)
cp "$module" web/src/engine/engine.wasm
echo "the engine has $(wc -c <"$module") bytes, $(gzip -9c "$module" | wc -c) with gzip"
cd web
if grep -q '"resolved"' package-lock.json; then
    echo "package-lock.json names a registry: npm install writes it without, by web/.npmrc" >&2
    exit 1
fi
npm ci --loglevel=error >/dev/null
npm run --silent check
npm run --silent unit
npm run --silent build
[ "${1:-}" = --test ] || exit 0
[ "${2:-}" = --built ] || (cd .. && cargo build --quiet --locked -p espbench)
npm run --silent e2e
