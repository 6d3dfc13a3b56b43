#!/usr/bin/env bash
# Fails where a source file has more than 600 lines: it should be split.
set -euo pipefail
cd "$(dirname "$0")/.."
long=$(git ls-files '*.rs' '*.py' '*.sh' '*.c' '*.h' | while read -r file; do
    lines=$(wc -l <"$file")
    [ "$lines" -le 600 ] || echo "$lines $file"
done)
if [ -n "$long" ]; then
    printf 'files over 600 lines:\n%s\n' "$long" >&2
    exit 1
fi
