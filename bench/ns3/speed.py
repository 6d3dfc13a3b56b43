#!/usr/bin/env python3
"""Compares the speed of whole nodes here and of bare stations in ns-3: see speed.sh."""
import re
import subprocess
import sys

from compare import median, ns3

# The room of ns-3, its simulated seconds, and the lines of the example lab_speed.
SCENARIOS = (("broadcast-100", 15, "a: saturated"), ("crowd-100", 60, "e: 100 a second"))
# Least ratio in each of them.
TIMES = 120


def whole_nodes(example, name):
    """Speeds by line."""
    text = subprocess.run([example, name], capture_output=True, text=True, check=True).stdout
    return {it[1].strip(): float(it[2]) for it in re.finditer(r"^(.*\S) +([\d.]+) x real", text, re.M)}


def main():
    check, example, room, times = sys.argv[1:]
    print(f"{'scenario':28}{'whole nodes':>12}{'ns-3':>8}{'times':>8}   each round")
    slow = []
    for name, seconds, lines in SCENARIOS:
        ours, theirs = [], []
        for seed in range(1, int(times) + 1):
            # Ours take a second: some before and some after theirs, which take long.
            runs = [whole_nodes(example, lines) for _ in range(2)]
            done = ns3(check, room, name, seconds, seed)
            theirs.append(done["seconds"] / done["cpu_s"])
            runs += [whole_nodes(example, lines) for _ in range(2)]
            ours.append({line: median([it[line] for it in runs]) for line in runs[0]})
        for line in ours[0]:
            # Each round by itself: what disturbs the machine disturbs both.
            ratios = [it[line] / other for it, other in zip(ours, theirs)]
            speed, ratio = median([it[line] for it in ours]), median(ratios)
            rounds = " ".join(f"{it:.0f}" for it in ratios)
            print(f"{line:28}{speed:12.1f}{median(theirs):8.2f}{ratio:8.1f}   {rounds}", flush=True)
            if ratio < TIMES:
                slow.append(line)
    if slow:
        sys.exit(f"less than {TIMES} times: {', '.join(slow)}")


if __name__ == "__main__":
    main()
