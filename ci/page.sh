#!/bin/sh
# Builds the page of web/ into web/dist: the engine, types, unit tests, bundle. With `--test` its flows are
# tested in Debian's Chromium, too, beside the command: `--test --built` takes the one in target/debug as it is.
set -eu
cd "$(dirname "$0")/.."
for tool in node npm wasm-ld; do
    command -v $tool >/dev/null && continue
    if [ "${CI:-}" = true ]; then
        echo "$tool is missing" >&2
        exit 1
    fi
    echo "skipped: $tool is not installed (apt-get install nodejs npm lld)" >&2
    exit 0
done
module=$(ci/engine.sh)
cp "$module" web/src/engine/engine.wasm
echo "the engine has $(wc -c <"$module") bytes, $(gzip -9c "$module" | wc -c) with gzip"
cd web
if grep -q '"resolved"' package-lock.json; then
    echo "package-lock.json names a registry: npm install writes it without, by web/.npmrc" >&2
    exit 1
fi
npm ci --silent
npm run --silent check
npm run --silent unit
npm run --silent build
[ "${1:-}" = --test ] || exit 0
if ! command -v "${CHROMIUM:-chromium}" >/dev/null; then
    [ "${CI:-}" = true ] && exit 1
    echo "skipped: chromium is not installed (apt-get install chromium)" >&2
    exit 0
fi
[ "${2:-}" = --built ] || (cd .. && cargo build --quiet --locked -p espbench)
npm run --silent e2e
