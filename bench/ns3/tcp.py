#!/usr/bin/env python3
"""Compares a TCP stream here and in ns-3, in alternation: see tcp.sh."""
import json
import re
import subprocess
import sys

from compare import median

# Line of the example tcp_speed, and the options of tcp.cc for the same stream; none where ns-3 has no such thing.
CASES = (
    ("up, 64 kB windows", "--up=1"),
    ("down, 64 kB windows", "--up=0"),
    ("up, 1 MB windows", "--up=1 --window=1048576 --segment=1460"),
    ("down, 1 MB windows", "--up=0 --window=1048576 --segment=1460"),
    ("up, 8 kB A-MPDUs", "--up=1 --ampdu=8191"),
    ("down, 8 kB A-MPDUs", "--up=0 --ampdu=8191"),
    ("up, ESP32-C3", None),
    ("down, ESP32-C3", None),
)
# Simulated seconds: ours, and ns-3's.
SECONDS = (60, 5)
# What is wanted: so many times ns-3, and real time; throughputs that are so near.
TIMES, REAL, OFF = 10, 20, 0.10


def here(example, name):
    """Speed and Mbit/s."""
    text = subprocess.run([example, name, str(SECONDS[0])], capture_output=True, text=True, check=True).stdout
    speed, mbps = re.search(r"([\d.]+) x real time +([\d.]+) Mbit/s", text).groups()
    return float(speed), float(mbps)


def ns3(program, words, run):
    done = subprocess.run([program, *words.split(), f"--seconds={SECONDS[1]}", f"--run={run}"],
                          capture_output=True, text=True, check=True)
    it = json.loads(done.stdout)
    return it["seconds"] / it["cpu_s"], it["mbps"]


def main():
    example, program, times = sys.argv[1:]
    ours = {name: [] for name, _ in CASES}
    theirs = {name: [] for name, words in CASES if words}
    for run in range(1, int(times) + 1):
        for name, words in CASES:
            # Ours before and after theirs: what disturbs the machine disturbs both.
            done = [here(example, name)]
            if words:
                theirs[name].append(ns3(program, words, run))
                done.append(here(example, name))
            ours[name].append(tuple(sum(it) / len(done) for it in zip(*done)))
    print("simulated seconds a second of processor time, and what the stream carried")
    print(f"{'stream':20}{'here':>8}{'ns-3':>8}{'times':>8}{'Mbit/s':>9}{'ns-3':>8}{'%':>7}   each round")
    bad = []
    for name, words in CASES:
        speed, mbps = (median(column) for column in zip(*ours[name]))
        if speed < REAL:
            bad.append(f"{name}: less than {REAL} times real time")
        if not words:
            print(f"{name:20}{speed:8.1f}{'':16}{mbps:9.2f}", flush=True)
            continue
        other, other_mbps = (median(column) for column in zip(*theirs[name]))
        ratios = [mine[0] / its[0] for mine, its in zip(ours[name], theirs[name])]
        off = mbps / other_mbps - 1
        rounds = " ".join(f"{it:.1f}" for it in ratios)
        print(f"{name:20}{speed:8.1f}{other:8.2f}{median(ratios):8.1f}{mbps:9.2f}{other_mbps:8.2f}"
              f"{off * 100:+7.1f}   {rounds}", flush=True)
        if median(ratios) < TIMES:
            bad.append(f"{name}: less than {TIMES} times ns-3")
        if abs(off) > OFF:
            bad.append(f"{name}: another throughput")
    if bad:
        sys.exit("; ".join(bad))


if __name__ == "__main__":
    main()
