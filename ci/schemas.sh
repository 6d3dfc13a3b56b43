#!/usr/bin/env bash
# Schemas that tests hold outputs against and that are not ours: that of SARIF, from a package of Microsoft's (MIT).
set -euo pipefail
cd "$(dirname "$0")/.."

file=target/schemas/sarif-2.1.0.json
[ -s "$file" ] && exit 0
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
(cd "$folder" && npm pack --silent @microsoft/jest-sarif@1.0.0-beta.0 >/dev/null && tar xzf ./*.tgz)
mkdir -p target/schemas
cp "$folder/package/lib/schemas/sarif-2.1.0-rtm.5.json" "$file"
