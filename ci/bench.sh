#!/usr/bin/env bash
# Runs every script of bench/ with the least counts (--least), so that none rots: `ci/bench.sh ESPBENCH`. What is printed are no
# measurements. ci/python.sh runs those that need the wheel, and the step `ns3` of ci.sh those of bench/ns3; common.py is a library of all.
set -euo pipefail
cd "$(dirname "$0")/.."
espbench=$(realpath "${1:-target/debug/espbench}")
work=$(mktemp -d)
# mosquitto becomes another user, and reads certificates there.
chmod 755 "$work"
trap 'rm -rf "$work"' EXIT
elsewhere=(cluster.py python.py ns3 common.py __pycache__)

# Each script, the programs that it needs beside espbench, and its arguments.
scripts=(
    "broker.py||memory" "broker.py||rate" "capture.py||" "doctor.py||" "doctor_labels.py||" "echo.py|sockperf|" "edges.py||"
    "iperf.py|iperf iperf3|" "iperf.py|iperf iperf3|--agree" "live.py||" "live_ip.py|iperf sockperf ping unshare|" "live_load.py|unshare|"
    "mqtt.py|mosquitto mosquitto_pub openssl|--tls" "peer_reads.py|unshare nsenter ip|" "recompute.py||" "scale.sh|/usr/bin/time|" "suites.sh||"
)

# No pipe into `grep -q`: it ends at the first match, and what still writes then fails.
for path in bench/*; do
    [[ " ${elsewhere[*]} ${scripts[*]%%|*} " == *" ${path##*/} "* ]] || { echo "ci/bench.sh: $path is not run" >&2; exit 1; }
done
for script in "${scripts[@]}"; do
    IFS='|' read -r name peers arguments <<<"$script"
    for peer in $peers; do
        command -v "$peer" >/dev/null && continue
        [ "${CI:-}" != true ] || { echo "ci/bench.sh: $name needs $peer, and CI skips nothing" >&2; exit 1; }
        echo "SKIPPED: bench/$name needs $peer" >&2
        continue 2
    done
    case $name in
        scale.sh) words=(--least) ;;
        suites.sh) words=(--least "$espbench") ;;
        *) words=($arguments --least --espbench "$espbench") ;;
    esac
    begun=$SECONDS
    TMPDIR=$work "bench/$name" "${words[@]}" >"$work/out" 2>&1 || {
        status=$?
        cat "$work/out"
        echo "ci/bench.sh: bench/$name ${words[*]} ended with $status" >&2
        exit 1
    }
    echo "bench/$name $arguments: $((SECONDS - begun)) s"
done
