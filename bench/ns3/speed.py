#!/usr/bin/env python3
"""Whole nodes here, and bare stations in ns-3, in alternation: see speed.sh."""
import re
import subprocess
import sys
import tempfile

from compare import median, ns3

# The room of ns-3, its simulated seconds, and the lines of the example lab_speed.
SCENARIOS = (("broadcast-100", 15, "a: saturated"), ("crowd-100", 60, "e: 100 a second"))


def whole_nodes(example, name):
    """Speeds by line."""
    text = subprocess.run([example, name], capture_output=True, text=True, check=True).stdout
    return {it[1].strip(): float(it[2]) for it in re.finditer(r"^(.*\S) +([\d.]+) x real", text, re.M)}


def main():
    check, example, room, times = sys.argv[1:]
    print(f"{'scenario':28}{'whole nodes':>12}{'ns-3':>8}{'times':>8}")
    for name, seconds, lines in SCENARIOS:
        ours, theirs = [], []
        for seed in range(1, int(times) + 1):
            ours.append(whole_nodes(example, lines))
            done = ns3(check, room, name, seconds, seed)
            theirs.append(done["seconds"] / done["cpu_s"])
        other = median(theirs)
        for line in ours[0]:
            speed = median([it[line] for it in ours])
            print(f"{line:28}{speed:12.1f}{other:8.2f}{speed / other:8.1f}", flush=True)


if __name__ == "__main__":
    main()
