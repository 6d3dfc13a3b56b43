#!/usr/bin/env python3
"""Measures `espbench espnow edges` on a long capture: processor time and memory.

    cargo build --release && bench/edges.py [--edges 100000000] [--format vcd|saleae] [--least]

Writes a capture of two pins with known delays (3.0 to 3.2 ms) into the standard input of the command: four
edges a packet, one packet in a thousand lost. Exit status 1 where the command takes more than a minute of
processor time or more than 200 MB for 100 million edges, or where its counts are wrong.
"""

import json
import os
import subprocess
import sys
import tempfile
import time

import common

SECONDS = 60.0
MEGABYTES = 200.0
# Microseconds from one packet to the next, from an edge to the other one of its pulse.
PERIOD, PULSE = 10_000, 100


def packet(number):
    """Returns the times of a packet's edges in microseconds: sender's and receiver's, the latter or None."""
    sent = 1000 + PERIOD * number
    return sent, None if number % 1000 == 999 else sent + 3000 + 50 * (number % 5)


def vcd_packet(number):
    sent, received = packet(number)
    text = f"#{sent}\n0!\n#{sent + PULSE}\n1!\n"
    return text if received is None else f'{text}#{received}\n0"\n#{received + PULSE}\n1"\n'


def saleae_packet(number):
    rows = []
    sent, received = packet(number)
    rows += [(sent, 0, 1), (sent + PULSE, 1, 1)]
    if received is not None:
        rows += [(received, 1, 0), (received + PULSE, 1, 1)]
    return "".join(f"{at // 10**6}.{at % 10**6:06}000,{a},{b}\n" for at, a, b in rows)


def ends_late(name, packets):
    """Returns a change long after the last packet, so that its window is over."""
    at = 2_000_000 + PERIOD * packets
    return f"#{at}\n1!\n" if name == "vcd" else f"{at // 10**6}.{at % 10**6:06}000,1,1\n"


FORMATS = {
    "vcd": (
        "$timescale 1 us $end\n$scope module top $end\n$var wire 1 ! TX $end\n"
        '$var wire 1 " RX $end\n$upscope $end\n$enddefinitions $end\n#0\n1!\n1"\n',
        vcd_packet,
    ),
    "saleae": ("Time [s],Channel 0,Channel 1\n0.000000000,1,1\n", saleae_packet),
}


def main():
    options = common.parser(__doc__)
    options.add_argument("--edges", type=int, default=100_000_000)
    options.add_argument("--format", choices=FORMATS, default="vcd")
    args = options.parse_args()
    if args.least:
        args.edges = 40_000
    head, write = FORMATS[args.format]
    packets = args.edges // 4
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        began = time.monotonic()
        child = subprocess.Popen(
            [args.espbench, "espnow", "edges", "-", "-o", report], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
        )
        with child.stdin as out:
            out.write(head.encode())
            for first in range(0, packets, 10_000):
                numbers = range(first, min(first + 10_000, packets))
                out.write("".join(map(write, numbers)).encode())
            out.write(ends_late(args.format, packets).encode())
        status, processor, megabytes = common.end_of(child)
        elapsed = time.monotonic() - began
        if status != 0:
            sys.exit(f"espbench espnow edges ended with status {status}")
        with open(report, encoding="utf-8") as file:
            cells = json.load(file)["cells"]
    cells = [cell for cell in cells if cell["metric"] == "latency_avg"]
    sent = sum(cell["probes"] for cell in cells)
    lost = sum(cell["lost"] for cell in cells)
    print(f"{args.format}: {packets:,} packets, {args.edges:,} edges at most, {elapsed:.1f} s with their making")
    print(f"processor {processor:.1f} s, {args.edges / processor / 1e6:.2f} M edges a second, {megabytes:.0f} MB at most")
    print(f"{len(cells)} cells, {sent:,} sent, {lost:,} lost")
    if (sent, lost) != (packets, packets // 1000):
        sys.exit(f"wanted {packets:,} sent and {packets // 1000:,} lost")
    scale = args.edges / 100_000_000
    if not args.least and (processor > SECONDS * max(scale, 0.01) or megabytes > MEGABYTES):
        sys.exit(f"wanted at most {SECONDS:.0f} s for 100 million edges, and {MEGABYTES:.0f} MB")


if __name__ == "__main__":
    main()
