#!/usr/bin/env python3
"""Runs every fuzz target for a number of executions, in pieces that may be cut, and prints what was reached.

    ci/fuzz_long.py                          # ten million executions of each target, one for each processor at a time
    ci/fuzz_long.py --executions 1e6 plan    # a million of one
    ci/fuzz_long.py --longest 512 doctor_log # inputs of at most 512 bytes: what is slow by its length has more of them
    ci/fuzz_long.py --table                  # what was reached so far, as the table of docs/notes/fuzz.md

Each piece starts from the stored corpus and from what earlier pieces found (target/fuzz-long/corpus), and adds a
line to target/fuzz-long/pieces.jsonl: target, executions, seconds, the revision of the source, the longest input. A run that is
stopped goes on where it was. A crash leaves its input in target/fuzz-long/artifacts and fails.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / "target" / "fuzz-long"
# Seconds of a piece: this much is lost where a run is stopped.
PIECE = 300


def build():
    """Builds all targets, optimized, and returns the folder they are in."""
    done = subprocess.run([ROOT / "ci/fuzz.sh", "--build"], check=True, stdout=subprocess.PIPE, text=True)
    return pathlib.Path(done.stdout.strip())


def pieces():
    """Returns the pieces that were carried out."""
    path = WORK / "pieces.jsonl"
    return [json.loads(it) for it in path.read_text().splitlines()] if path.exists() else []


def reached():
    """Returns the executions of each target so far."""
    total = {}
    for it in pieces():
        total[it["target"]] = total.get(it["target"], 0) + it["executions"]
    return total


def run_piece(folder, target, executions, revision, longest):
    """Runs one target for at most PIECE seconds and notes what it did; says whether it found nothing."""
    corpus = WORK / "corpus" / target
    artifacts = WORK / "artifacts"
    for it in (corpus, artifacts):
        it.mkdir(parents=True, exist_ok=True)
    words = ROOT / "fuzz" / "dictionaries" / f"{target}.dict"
    begun = time.monotonic()
    done = subprocess.run(
        [folder / target, corpus, ROOT / "fuzz" / "corpus" / target, f"-runs={executions}", f"-max_total_time={PIECE}", "-timeout=60",
         "-rss_limit_mb=2048", "-print_final_stats=1", "-reload=0", f"-artifact_prefix={artifacts}/{target}-",
         *([f"-max_len={longest}"] if longest else []), *([f"-dict={words}"] if words.exists() else [])],
        capture_output=True, text=True, errors="replace", cwd=ROOT / "fuzz",
    )
    found = re.search(r"stat::number_of_executed_units: (\d+)", done.stderr)
    count = int(found[1]) if found else 0
    piece = {"target": target, "executions": count, "seconds": round(time.monotonic() - begun), "revision": revision, "longest": longest}
    with (WORK / "pieces.jsonl").open("a") as log:
        log.write(json.dumps(piece) + "\n")
    if done.returncode != 0 or count == 0:
        print(f"{target} failed:\n{done.stderr[-3000:]}", file=sys.stderr)
        return False
    print(f"{target}: {count} executions in {piece['seconds']} s", flush=True)
    return True


def run_target(folder, target, executions, revision, longest):
    """Runs one target until it has had so many executions; says whether it found nothing."""
    while (left := executions - reached().get(target, 0)) > 0:
        if not run_piece(folder, target, left, revision, longest):
            return False
    return True


def bounded(own):
    """Returns how many executions of a target had inputs of at most so many bytes, for each bound, as text."""
    count = {}
    for it in own:
        if it["longest"] is not None:
            count[it["longest"]] = count.get(it["longest"], 0) + it["executions"]
    return "; ".join(f"{executions:,} of at most {longest} B" for longest, executions in sorted(count.items()))


def table(targets):
    """Prints the executions and the seconds of each target, and which had a bound for their inputs, as rows of a table."""
    print("| Target | Executions | Seconds | Per second | Bounded |")
    print("|---|---:|---:|---:|---|")
    for target in targets:
        own = [it for it in pieces() if it["target"] == target]
        count, seconds = (sum(it[key] for it in own) for key in ("executions", "seconds"))
        if own:
            print(f"| `{target}` | {count:,} | {seconds:,} | {count / max(seconds, 1):,.0f} | {bounded(own)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", help="targets; default: all")
    parser.add_argument("--executions", type=float, default=1e7, help="executions of each target")
    parser.add_argument("--longest", type=int, help="bytes of the longest input; default: 4096, or the longest that is stored")
    parser.add_argument("--folder", type=pathlib.Path, help="targets that are built already")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="targets that run side by side")
    parser.add_argument("--table", action="store_true", help="print what was reached, and run nothing")
    said = parser.parse_args()
    known = sorted(it.stem for it in (ROOT / "fuzz" / "fuzz_targets").glob("*.rs") if it.stem != "any")
    for it in said.targets:
        if it not in known:
            parser.error(f"no target {it!r}; there are: {' '.join(known)}")
    targets = said.targets or known
    if said.table:
        table(targets)
        return 0
    # A target is run in another folder.
    folder = said.folder.resolve() if said.folder else build()
    revision = subprocess.run(["git", "rev-parse", "--short", "HEAD"], check=True, capture_output=True, text=True, cwd=ROOT).stdout.strip()
    with concurrent.futures.ThreadPoolExecutor(said.jobs) as pool:
        found = list(pool.map(lambda it: run_target(folder, it, int(said.executions), revision, said.longest), targets))
    return 0 if all(found) else 1


if __name__ == "__main__":
    sys.exit(main())
