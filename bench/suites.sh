#!/usr/bin/env bash
# Measures how long all suites of the virtual lab take: ten of the ESP-NOW report, six over Wi-Fi and
# power-save, one after the other and then all in one run, with THREADS threads (default 2).
#
#   bench/suites.sh [THREADS]
#   bench/suites.sh --least FILE     two short suites with that command: whether it runs, and nothing of how long
#
# The limit is two minutes of processor time for all together, which other work on the machine does not
# change; two free cores need about half of it on the clock. Exits with 1 above it.
set -euo pipefail
cd "$(dirname "$0")/.."
limit=120 threads=2
suites=(one-way-latency round-trip throughput crypto-time one-way-latency-secure round-trip-secure
    multi-device-round-trip ota handshake provisioning
    wifi-udp-echo esp8266-iperf esp32c3-best esp32c3-rank wifi-tcp-rate wifi-mqtt-rate power-save)
if [ "${1:-}" = --least ]; then
    espbench=$2 suites=(one-way-latency esp32c3-best)
else
    threads=${1:-2}
    cargo build --quiet --release --locked -p espbench
    espbench=${CARGO_TARGET_DIR:-target}/release/espbench
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Runs these suites, and leaves the seconds of the wall clock and of processors in $wall and $cpu.
run() {
    TIMEFORMAT='%R %U %S'
    {
        time "$espbench" run "$@" --on sim --quiet --threads "$threads" --store "$work/runs.sqlite" \
            -o "$work/report.html" >"$work/report.txt" 2>"$work/errors"
    } 2>"$work/time" || { cat "$work/errors" >&2; exit 2; }
    read -r wall user system <"$work/time"
    cpu=$(awk "BEGIN { printf \"%.2f\", $user + $system }")
}

printf '%-26s%10s%10s\n' suite 'wall s' 'cpu s'
for suite in "${suites[@]}"; do
    run "$suite"
    printf '%-26s%10s%10s\n' "$suite" "$wall" "$cpu"
done
run "${suites[@]}"
printf '%-26s%10s%10s   %s threads, store and report included\n' 'all in one run' "$wall" "$cpu" "$threads"
awk "BEGIN { exit !($cpu < $limit) }" || {
    echo "that is more than $limit s of processor time" >&2
    exit 1
}
