#!/usr/bin/env python3
"""Reduces each fuzz target's stored corpus to at most MOST inputs by coverage.

    ci/corpus.py [TARGET …]      # builds the targets; prints, for each, inputs and edges before and after

libFuzzer tells which edges of the code each input reaches (its merge, counters of executions left out).
The input that reaches most edges that no kept input reaches is kept next, until none adds an edge or
MOST are kept. Inputs beyond that are removed: a fuzzer finds them again in seconds, and every checkout
has to carry what is stored.
"""

import pathlib
import subprocess
import sys
import tempfile

from fuzz_long import build

MOST = 30
ROOT = pathlib.Path(__file__).resolve().parent.parent / "fuzz"


def edges(program, corpus):
    """Returns the edges that each input reaches, by the input's path."""
    with tempfile.TemporaryDirectory() as scratch:
        control = pathlib.Path(scratch) / "control"
        kept = pathlib.Path(scratch) / "kept"
        kept.mkdir()
        command = [program, "-set_cover_merge=1", "-use_counters=0", f"-merge_control_file={control}"]
        subprocess.run([*command, kept, corpus], check=True, capture_output=True)
        lines = control.read_text().splitlines()
    count = int(lines[0])
    # After the counts come the inputs' paths, then for each input a line of the edges that it reaches
    # ("FT") and one of those that it was the first to reach ("COV").
    paths = [pathlib.Path(line) for line in lines[2 : 2 + count]]
    reached = {path: set() for path in paths}
    for line in lines[2 + count :]:
        kind, *numbers = line.split()
        if kind == "FT":
            reached[paths[int(numbers[0])]].update(map(int, numbers[1:]))
    return reached


def reduce(folder, target):
    """Removes the inputs of a target that the kept ones make needless; prints what it did."""
    reached = edges(folder / target, ROOT / "corpus" / target)
    everything = set().union(*reached.values())
    # Of inputs that reach as much, the shorter one is easier to read.
    rest = sorted(reached, key=lambda path: (path.stat().st_size, path.name))
    covered, kept = set(), []
    while rest and len(kept) < MOST:
        best = max(rest, key=lambda path: len(reached[path] - covered))
        if not reached[best] - covered:
            break
        kept.append(best)
        covered |= reached[best]
        rest.remove(best)
    for path in rest:
        path.unlink()
    print(f"{target}: {len(reached)} inputs, {len(everything)} edges -> {len(kept)}, {len(covered)}")


if __name__ == "__main__":
    built = build()
    for name in sys.argv[1:] or sorted(path.name for path in (ROOT / "corpus").iterdir()):
        if len(list((ROOT / "corpus" / name).iterdir())) > MOST:
            reduce(built, name)
