#!/usr/bin/env python3
"""How often `espbench doctor` is right on labelled logs: one's own, or excerpts of other people's.

`bench/doctor_labels.py FOLDER… [--espbench FILE]` reads FOLDER/labels.csv, a line for each log (`name,label`, for FOLDER/name.log), and sends the
logs to the command. A label is the stable name of the first cause (docs/doctor.md), or `healthy`; `one|other`
where either counts. Prints each log that is wrong, and for each folder, and for several together, how many first causes are right, with Wilson's
95 % interval, and how many healthy logs got a finding. Of all logs together it prints how many first causes of each certainty are right, a finding on
a healthy log being wrong. With --least the folders are one of some cases of the tests, and one of a log that tells nothing."""

import collections
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
CERTAINTIES = ("high", "medium", "low")


def first_causes(espbench, logs):
    """Returns the first cause that the doctor tells of each log with its certainty, or its verdict and none."""
    firsts = []
    for at in range(0, len(logs), MOST):
        # Status 2 is an answer, too: no file tells anything.
        told = common.answer([espbench, "doctor", "--no-proof", "--format", "json", *logs[at : at + MOST]], (0, 2))
        for it in told["diagnoses"]:
            first = it["findings"][:1]
            firsts.append((first[0]["cause"], first[0]["certainty"]) if first else (it["verdict"], None))
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


def calibration(certain):
    """Prints how many first causes of each certainty are right; one of a healthy log is wrong."""
    for word in CERTAINTIES:
        right, count = certain[word, True], certain[word, True] + certain[word, False]
        if count:
            low, high = wilson(right, count)
            print(f"certainty {word}: {right} of {count} right ({100 * right / count:.0f} %, {100 * low:.0f} to {100 * high:.0f})")


def folder(espbench, path, certain):
    """Counts the logs of a folder: right, with a cause, false alarms, healthy. Counts first causes by certainty and whether they are right."""
    with (path / "labels.csv").open(newline="") as rows:
        labels = [(row[0].strip(), row[1].strip().split("|")) for row in csv.reader(rows) if len(row) >= 2]
    right = causes = alarms = healthy = 0
    firsts = first_causes(espbench, [path / f"{name}.log" for name, _ in labels])
    for (name, wanted), (first, certainty) in zip(labels, firsts, strict=True):
        is_right = first in ("nothing-wrong", "cannot-tell") if wanted == ["healthy"] else first in wanted
        certain[certainty, is_right] += 1
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
        certain = collections.Counter()
        counts = [folder(args.espbench, it, certain) for it in folders]
    for it, count in zip(folders, counts):
        summary(it.name, count)
    if len(folders) > 1:
        summary("all", [sum(it) for it in zip(*counts)])
    calibration(certain)
    return 0


if __name__ == "__main__":
    sys.exit(main())
