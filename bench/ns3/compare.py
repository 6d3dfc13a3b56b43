#!/usr/bin/env python3
"""Runs rooms in two simulators in alternation and prints their results: see run.sh."""
import json
import math
import subprocess
import sys
import tempfile

# Name: simulated seconds of a run of ns-3, and how many. The room here goes on for much longer.
ROOMS = {
    "broadcast-1": (20, 2), "broadcast-2": (200, 3), "broadcast-5": (200, 3), "broadcast-10": (200, 3),
    "broadcast-20": (150, 3), "broadcast-50": (100, 4), "broadcast-100": (60, 6),
    "unicast-1": (60, 2), "unicast-2": (300, 4), "unicast-5": (200, 3), "unicast-10": (150, 3),
    "unicast-20": (100, 3), "unicast-50": (60, 4), "unicast-100": (30, 4),
    "crowd-100": (100, 3),
    "rate-1M": (200, 2), "rate-2M": (100, 3), "rate-5.5M": (60, 3), "rate-11M": (60, 3),
    "rate-6M": (60, 3), "rate-54M": (30, 3), "ht20-mcs7": (30, 2), "ht20-mcs7-ampdu": (30, 2),
    "he20-mcs9": (30, 2), "he20-mcs0-ampdu": (60, 2), "he20-mcs4-ampdu": (30, 2), "he20-mcs7-ampdu": (30, 2),
    "he20-mcs9-ampdu": (30, 2),
    "hidden": (300, 3), "hidden-near-far": (300, 3), "slope-10": (100, 3),
    "slope-10-capture": (100, 2), "ring-20": (100, 3), "channels": (60, 3),
}
QUICK = {"broadcast-10": (120, 2), "unicast-10": (100, 2), "crowd-100": (60, 1), "hidden": (300, 2)}
LIMIT = 0.02


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return done.stdout


def here(check, name, seconds, seed):
    return json.loads(run(check, name, str(seconds), str(seed)))


def ns3(check, room, name, seconds, seed):
    with tempfile.NamedTemporaryFile("w", suffix=".room") as file:
        file.write(run(check, "--for-ns3", name, str(seconds)))
        file.flush()
        return json.loads(run(room, file.name, str(seed)))


def mean(results, key):
    """Weighted by time, or for shares by frames: as one long run would have it."""
    by = "frames" if key in ("collide", "dropped") else "seconds"
    total = sum(it[by] for it in results)
    return sum(it[key] * it[by] for it in results) / total if total else 0.0


def median(values):
    values = sorted(values)
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2


def per_cent(a, b):
    return f"{(a / b - 1) * 100:+6.2f}" if b else "      "


def main():
    check, room, *names = sys.argv[1:]
    rooms = QUICK if names == ["--quick"] else {it: ROOMS[it] for it in names or ROOMS}
    print("good frames a second, collided, given up; simulated seconds a second of processor time")
    print(f"{'room':18}{'good':>9}{'ns-3':>9}{'%':>7} {'se %':>5}{'collide':>9}{'ns-3':>8}{'%':>7}"
          f"{'given up':>9}{'ns-3':>8}{'speed':>8}{'ns-3':>8}{'times':>7}", flush=True)
    bad = []
    for name, (seconds, times) in rooms.items():
        ours, theirs = [], []
        for seed in range(1, times + 1):
            ours.append(here(check, name, max(2000, 10 * seconds), seed))
            theirs.append(ns3(check, room, name, seconds, seed))
        good, other = mean(ours, "good"), mean(theirs, "good")
        collide, collide_other = mean(ours, "collide"), mean(theirs, "collide")
        # Of ns-3's figure: frames that get through come in about evenly, collisions add to it.
        frames = sum(it["frames"] for it in theirs)
        error = math.sqrt(max(collide_other, 0.01) / max(1, frames)) * (2 if "hidden" in name else 1)
        if name.startswith("crowd"):
            error = 1 / math.sqrt(frames)
        speed = median([it["seconds"] / max(it["cpu_s"], 1e-4) for it in ours])
        slow = median([it["seconds"] / max(it["cpu_s"], 1e-4) for it in theirs])
        print(f"{name:18}{good:9.2f}{other:9.2f}{per_cent(good, other):>7} {error * 100:5.2f}"
              f"{collide:9.4f}{collide_other:8.4f}{per_cent(collide, collide_other):>7}"
              f"{mean(ours, 'dropped'):9.4f}{mean(theirs, 'dropped'):8.4f}"
              f"{speed:8.0f}{slow:8.2f}{speed / slow:7.0f}", flush=True)
        if abs(good / other - 1) > LIMIT + 3 * error:
            bad.append(name)
    if bad:
        sys.exit(f"off by more than 2 %: {', '.join(bad)}")


if __name__ == "__main__":
    main()
