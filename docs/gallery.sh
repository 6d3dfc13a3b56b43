#!/usr/bin/env bash
# Makes README's picture and those of docs/gallery.md: six pages that the commands write and the page of web/, shrunk to at most 80 kB each.
# docs/gallery.sh ESPBENCH, with Chromium and Python installed; the page where ci/page.sh has built it.
set -euo pipefail
espbench=$(realpath "${1:-target/release/espbench}")
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export ESPBENCH_STORE="$work/runs.sqlite"

# Draws the page $1 as the picture $2, $3 times as large.
picture() {
    chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1200,925 \
        --force-device-scale-factor="$3" --screenshot="$work/$1.png" "file://$work/$1.html" 2>/dev/null
    "$here/shrink.py" "$work/$1.png" "$here/$2.png"
    size=$(wc -c <"$here/$2.png")
    echo "$2.png: $size bytes"
    [ "$size" -le 81920 ]
}

"$espbench" run -q -o report.html >/dev/null

"$espbench" run round-trip -q -o suite.html >/dev/null
"$espbench" run power-save -q -o sleep.html >/dev/null
"$espbench" predict fleet --devices 60 --every 5s -q -o fleet.html >/dev/null
cp -r "$here/../examples" .
"$espbench" run examples/research/sweep.toml --on sim:examples/research/hall.toml -q -o sweep.html >/dev/null
"$espbench" respond -q --plain-echo-port 10107 --echo-port 10100 --iperf-port 15001 --sink-port 13333 \
    --source-port 13334 --mqtt-port 11883 --for 60s >/dev/null &
responder=$!
sleep 1
"$espbench" echo 127.0.0.1:10107 --local-port 0 --chip esp32 --mode station-echo --environment home -q \
    -o echo.html >/dev/null
kill "$responder"
picture report report 1
for page in suite sleep fleet sweep echo; do picture "$page" "gallery-$page" 0.75; done
if [ -e "$here/../target/share/espbench/page/index.html" ]; then
    node "$here/../web/test/picture.mjs" "$work/page.png"
    "$here/shrink.py" "$work/page.png" "$here/gallery-page.png"
    [ "$(wc -c <"$here/gallery-page.png")" -le 81920 ]
fi
