#!/usr/bin/env python3
"""Times of the Python package: a call of a small lab, samples to data frames, the import. Medians of so many tries.

    target/wheel-env/bin/python bench/python.py [--least]

Fails where a budget is missed by more than a machine that does other work explains.
"""

import statistics
import subprocess
import sys
import time

import espbench

SMALL = {
    "name": "small",
    "measure": [{"kind": "esp-now", "test": "ping", "cast": "unicast", "size": 230, "count": 20, "distance": "3 m"}],
}
# Medians of a machine whose cores other work shares are up to twice as long.
NOISE = 2.0

PROBES = {"name": "many", "measure": [{**SMALL["measure"][0], "count": 10_000}]}


def median(job, tries=30):
    """Returns the median of a job's times, in milliseconds."""
    times = []
    for _ in range(tries):
        begun = time.perf_counter()
        job()
        times.append(1e3 * (time.perf_counter() - begun))
    return statistics.median(times)


def main():
    # With --least each is tried once, and no budget is held: whether all of it runs.
    least = "--least" in sys.argv[1:]
    tries = 1 if least else 30
    first = median(lambda: espbench.run(SMALL, seed=1, progress=False), 1)
    small = median(lambda: espbench.run(SMALL, seed=1, progress=False), tries)
    many = espbench.run(PROBES, seed=1, progress=False)
    rows = [("first call of a small lab (20 round trips), which reads the library", first, None), ("each further call", small, 5.0)]
    for name in ("arrow", "polars", "pandas"):

        def frame(method=f"to_{name}"):
            table = many._report.samples(False)
            assert len(getattr(table, method)()) == 10_000

        frame()
        rows.append((f"10,000 probes to {name}", median(frame, tries), 50.0))
    imported = median(lambda: subprocess.run([sys.executable, "-c", "import espbench"], check=True), min(tries, 10))
    bare = median(lambda: subprocess.run([sys.executable, "-c", ""], check=True), min(tries, 10))
    rows.append(("import espbench, without Python's own start", imported - bare, None))
    for what, took, budget in rows:
        print(f"{what}: {took:.1f} ms" + (f" (budget {budget:.0f} ms)" if budget else ""))
    missed = [f"{what} takes {took:.1f} ms, {took / budget:.1f} times its budget" for what, took, budget in rows if budget and took > NOISE * budget]
    if missed and not least:
        sys.exit("bench/python.py: " + "; ".join(missed) + ". Is the wheel a release build, and the machine otherwise idle?")


if __name__ == "__main__":
    main()
