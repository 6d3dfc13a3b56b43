#!/usr/bin/env python3
"""Measures what a live lab takes of a core, and prints a table in Markdown.

    cargo build --release -p espbench && bench/live_load.py [--espbench FILE] [--time SECONDS] [--least]

Each lab runs twice, for 2 s and for the time beyond that (30 s if nothing is said); the difference of the CPU times is
what running takes, without the start. The labs: devices that nobody asks anything, with consoles on pseudo-terminals and
without; and devices that each send a message of 64 bytes to the PC once a second, which is answered. `late` is the share
of events that were simulated within 1 ms of their time, and the longest lateness. Exit status 2 where a run failed.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import time

import common

LAB = """title = "Devices at home"
source = "bench/live_load.py"
origin = "assumed"
environment = "home"
security = "wpa2"

[device]
profile = "esp32c3"
at = [0, 0, 1]
count = {measured}
idf = "v5.2"

[device.cluster]
least_m = 2
most_m = 8

[access_point]
at = [0, 0, 2]
channel = 6
forward_us = 100
source = "an assumption"
origin = "assumed"
confidence = "low"

[pc]
link = "wire"
wire_mbit = 1000
source = "an assumption"
origin = "assumed"
confidence = "low"

[[variant]]
name = "all"
{more}"""
REPORTS = """
[[variant.group]]
name = "sensor"
profile = "esp32c3"
at = [0, 0, 1]
count = {count}
application = "reports"
report_bytes = 64
report_ms = 1000

[variant.group.cluster]
least_m = 2
most_m = 8
"""
SHORT = 2


def cpu(words, folder):
    """Runs a command; returns its CPU time, the time that it took, and its counts at the end."""
    with subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as child:
        begun = time.monotonic()
        out = child.stdout.read()
        status, processor, _ = common.end_of(child)
    if status != 0:
        raise RuntimeError(f"{' '.join(map(str, words))}: status {status}\n{out[-2000:]}")
    end = [json.loads(it) for it in out.splitlines() if it.startswith('{"') and '"type":"end"' in it]
    return processor, time.monotonic() - begun, end[-1]


def measure(espbench, folder, lab, seconds, flags):
    def run(length):
        words = [espbench, "live", lab, "--format", "json", "--late-most", "1 h", "--for", f"{length} s", *flags]
        return cpu(words if "--pty" in flags else [*words, "--", "sleep", str(length + 60)], folder)

    start, _, _ = run(SHORT)
    whole, took, end = run(SHORT + seconds)
    events = sum(it["events"] for it in end["late"])
    soon = sum(it["events"] for it in end["late"] if it["most_ms"] is not None and it["most_ms"] <= 1)
    return (whole - start) / seconds, took, events, soon / max(events, 1), end


def main():
    parser = common.parser(__doc__, whole=True)
    parser.add_argument("--time", type=int, default=30)
    args = parser.parse_args()
    if args.least:
        args.time = 1
    print("| lab | share of a core | events a second | within 1 ms | longest lateness |")
    print("|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        files = pathlib.Path(folder)
        (files / "quiet.toml").write_text(LAB.format(measured=10, more=""), encoding="utf-8")
        more = REPORTS.format(count=199)
        (files / "talking.toml").write_text(LAB.format(measured=1, more=more), encoding="utf-8")
        for name, lab, flags in [
            ("10 quiet devices", "quiet.toml", []),
            ("10 quiet devices with consoles", "quiet.toml", ["--pty"]),
            ("200 devices, a message a second each", "talking.toml", []),
        ]:
            try:
                share, _, events, soon, end = measure(args.espbench, folder, lab, args.time, flags)
            except (RuntimeError, OSError, KeyError, IndexError, subprocess.SubprocessError) as error:
                print(f"{name}: {error}", file=sys.stderr)
                return 2
            rate = events / (args.time + SHORT)
            print(f"| {name} | {share * 100:.1f} % | {rate:.0f} | {soon * 100:.1f} % | {end['late_longest_ms']:.1f} ms |",
                  flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
