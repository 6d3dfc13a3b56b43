#!/usr/bin/env python3
"""How often `espbench doctor` is right on labelled logs: one's own, or excerpts of other people's.

`bench/doctor_labels.py FOLDER… [--espbench FILE]` reads FOLDER/labels.csv, a line for each log (`name,label`, for FOLDER/name.log), and sends the
logs to the command. A label is the stable name of the first cause (docs/doctor.md), or `healthy`; `one|other`
where either counts. Prints each log that is wrong, and for each folder and all together how many first causes are right, with Wilson's 95 % interval,
and how many healthy logs got a finding. With --least the folders are one of some cases of the tests, and one of a log that tells nothing."""

import csv
import math
import pathlib
import shutil
import sys
import tempfile

import common

CASES = common.ROOT / "crates/doctor/tests/cases"
# Logs of one call: a command line has an end.
MOST = 100


def first_causes(espbench, logs):
    """Returns the first cause that the doctor tells of each log, or its verdict."""
    firsts = []
    for at in range(0, len(logs), MOST):
        # Status 2 is an answer, too: no file tells anything.
        told = common.answer([espbench, "doctor", "--no-proof", "--format", "json", *logs[at : at + MOST]], (0, 2))
        for it in told["diagnoses"]:
            firsts.append(it["findings"][0]["cause"] if it["findings"] else it["verdict"])
    return firsts


def wilson(right, count):
    """Returns Wilson's interval at 95 % of a share."""
    z = 1.959964
    centre = (right + z * z / 2) / (count + z * z)
    half = z / (count + z * z) * math.sqrt(right * (count - right) / count + z * z / 4)
    return centre - half, centre + half


def summary(name, counts):
    """Prints the counts of a folder."""
    right, causes, alarms, healthy = counts
    if causes:
        low, high = wilson(right, causes)
        print(f"{name}: first cause right in {right} of {causes} ({100 * right / causes:.0f} %, {100 * low:.0f} to {100 * high:.0f})", end="")
        print(f"; a finding on {alarms} of {healthy} healthy ones")
    else:
        print(f"{name}: a finding on {alarms} of {healthy} healthy ones")


def folder(espbench, path):
    """Counts the logs of a folder: right, with a cause, false alarms, healthy."""
    with (path / "labels.csv").open(newline="") as rows:
        labels = [(row[0].strip(), row[1].strip().split("|")) for row in csv.reader(rows) if len(row) >= 2]
    right = causes = alarms = healthy = 0
    for (name, wanted), first in zip(labels, first_causes(espbench, [path / f"{name}.log" for name, _ in labels]), strict=True):
        is_right = first in ("nothing-wrong", "cannot-tell") if wanted == ["healthy"] else first in wanted
        if wanted == ["healthy"]:
            healthy += 1
            alarms += not is_right
        else:
            causes += 1
            right += is_right
        if not is_right:
            print(f"{path.name}/{name}: {first}, labelled {' or '.join(wanted)}")
    return right, causes, alarms, healthy


def of_tests(path):
    """Makes two folders of labelled logs: cases of the tests, and one that tells nothing."""
    mute, path = path / "mute", path / "cases"
    for folder in (mute, path):
        folder.mkdir()
    (mute / "hello.log").write_text("hello\n", encoding="utf-8")
    (mute / "labels.csv").write_text("hello,healthy\n", encoding="utf-8")
    with (CASES / "cases.csv").open(newline="") as rows:
        cases = [row for row in csv.reader(rows) if row[0].endswith(".log") and " " not in row[0]][:20]
    with (path / "labels.csv").open("w", newline="") as labels:
        for name, label in cases:
            shutil.copy(CASES / name, path)
            csv.writer(labels).writerow([name.removesuffix(".log"), "healthy" if label == "nothing-wrong" else label])
    return [path, mute]


def main():
    parser = common.parser(__doc__, whole=True, least="some cases of the tests: whether all of it runs")
    parser.add_argument("folders", type=pathlib.Path, nargs="*")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as own:
        folders = of_tests(pathlib.Path(own)) if args.least else args.folders
        if not folders or any(not (it / "labels.csv").is_file() for it in folders):
            parser.error("a folder with labels.csv is needed")
        counts = [folder(args.espbench, it) for it in folders]
    for it, count in zip(folders, counts):
        summary(it.name, count)
    if len(folders) > 1:
        summary("all", [sum(it) for it in zip(*counts)])
    return 0


if __name__ == "__main__":
    sys.exit(main())
