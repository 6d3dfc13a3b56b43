#!/usr/bin/env python3
"""Compares UDP round trips of 64 bytes on loopback: espbench echo and sockperf ping-pong.

    cargo build --release && bench/echo.py [--rounds 5] [--probes 50000] [--least]

Needs sockperf (Debian: sockperf). Each program has a server of its own; they take turns. sockperf prints
half of the round trip, so its figures are doubled. Prints each round, then the medians and their ratio;
exit status 1 where a ratio is above the one wanted (1.1).
"""

import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile

import common

WANTED = 1.1
SIZE = 64


def sockperf(probes):
    """Round trip in microseconds: median and 99th percentile."""
    port = str(common.free_port(socket.SOCK_DGRAM))
    server = subprocess.Popen(["sockperf", "server", "-i", "127.0.0.1", "-p", port],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        common.wait_for(int(port), udp=True)
        # It takes a time, not a number of messages: about as long as the probes take.
        seconds = max(1, probes * 30 // 1_000_000)
        out = subprocess.run(["sockperf", "ping-pong", "-i", "127.0.0.1", "-p", port, "-m", str(SIZE),
                              "-t", str(seconds)], capture_output=True, text=True, timeout=120).stdout
    finally:
        server.kill()
        server.wait()
    figure = lambda p: 2 * float(re.search(rf"percentile {p}0* *= *([\d.]+)", out)[1])
    return figure("50."), figure("99.")


def espbench(binary, probes, folder):
    respond = subprocess.Popen([binary, "respond", "--quiet", "--echo-port", "0", "--echo-reply-port", "0",
                                "--plain-echo-port", "0", "--iperf-port", "0", "--sink-port", "0",
                                "--source-port", "0", "--mqtt-port", "0", "--for", "120 s"],
                               stdout=subprocess.PIPE, text=True)
    try:
        address = respond.stdout.readline().split()[-1]
        report = common.answer([binary, "echo", address, "--binary", "--size", str(SIZE), "-n", str(probes),
                                "--discard", "100", "--local-port", "0", "--format", "json", "-q",
                                "--store", os.path.join(folder, "runs.sqlite")])
    finally:
        respond.kill()
        respond.wait()
    cells = {c["metric"]: c["value"] for c in report["cells"] if c["origin"] == "measured"}
    return cells["rtt_p50"] * 1000, cells["rtt_p99"] * 1000


def main():
    parser = common.parser(__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--probes", type=int, default=50_000)
    args = parser.parse_args()
    if args.least:
        args.rounds, args.probes = 1, 500
    theirs, ours = [], []
    print(f"round trip of {SIZE} B in us      sockperf p50    p99   espbench p50    p99")
    with tempfile.TemporaryDirectory() as folder:
        for round in range(args.rounds):
            theirs.append(sockperf(args.probes))
            ours.append(espbench(args.espbench, args.probes, folder))
            print(f"round {round + 1}                          {theirs[-1][0]:8.2f} {theirs[-1][1]:6.2f}"
                  f"       {ours[-1][0]:8.2f} {ours[-1][1]:6.2f}")
    worst = 0
    for i, name in enumerate(["p50", "p99"]):
        a, b = (statistics.median(x[i] for x in xs) for xs in (ours, theirs))
        worst = max(worst, a / b)
        print(f"{name}: espbench / sockperf = {a:.2f} / {b:.2f} = {a / b:.3f} (wanted: at most {WANTED})")
    sys.exit(not args.least and worst > WANTED)


if __name__ == "__main__":
    main()
