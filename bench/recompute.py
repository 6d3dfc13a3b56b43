#!/usr/bin/env python3
"""Recomputes the figures of a run from its raw samples, without espbench's statistics.

    cargo build && bench/recompute.py [--espbench target/debug/espbench] [--seed 2] [--plans round-trip ...]

Carries the plans out in the virtual lab, exports results (`-o results.csv`) and raw samples (`espbench samples`),
and computes counts, means, quantiles, loss and throughput again with Python's own arithmetic:

- a quantile q of n samples is the sample of rank ceil(q n); a mean is fsum / n
- loss is what did not come, or came changed or late, over what was sent
- throughput is octets over the time of the observer's total row, and of several streams the sum

Prints each figure that differs, and how many agree: to the sixth digit, but throughput to one percent (of several streams
five), since consoles count whole seconds, and a console's times to the millisecond that it cuts off. Also checks for every cell that
min <= mean <= max, p50 <= p90 <= p99 <= p999 <= max, and that no time is below, and no rate above, its theoretical limit.
Exit status 1 where a figure differs, 2 where nothing could be compared.
"""

import collections
import csv
import math
import pathlib
import subprocess
import sys
import tempfile

import common

PLANS = ["round-trip", "wifi-udp-echo", "wifi-mqtt-rate", "esp32c3-best", "throughput", "wifi-join"]
TOLERANCE = 1e-9
CONSOLE = ("rtt_avg", "rtt_min", "rtt_max")


def quantile(ordered, q):
    """Returns the order statistic of rank ceil(q n)."""
    return ordered[max(math.ceil(q * len(ordered)), 1) - 1]


def statistics_of(values):
    """Returns count, extremes, mean and quantiles of values in ms."""
    ordered = sorted(values)
    found = {"avg": math.fsum(ordered) / len(ordered), "min": ordered[0], "max": ordered[-1]}
    for name, q in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p999", 0.999)):
        found[name] = quantile(ordered, q)
    return found


def number(row, name):
    """Returns a field as a number, or None where it is empty."""
    return float(row[name]) if row.get(name) else None


def seconds(row, late, early):
    """Returns the milliseconds between two stamps of a probe."""
    a, b = number(row, late), number(row, early)
    return None if a is None or b is None else (a - b) * 1e3


def recompute_probes(rows):
    """Returns the figures of one cell, by metric, from its probes."""
    found = {}
    rows = [row for row in rows if row.get("purpose", "test") == "test"]
    delivered = [row for row in rows if row["fate"] == "delivered"]
    sent = [row for row in rows if row["fate"] != "duplicate"]
    if sent:
        found["loss"] = 100 * sum(row["fate"] != "delivered" for row in sent) / len(sent)
    for prefix, late, early in (
        ("rtt", "received_s", "sent_s"),
        ("rtt_exact", "received_s", "sent_s"),
        ("latency", "received_s", "due_s"),
        ("response", "received_s", "due_s"),
        ("join_time", "received_s", "due_s"),
    ):
        times = [it for it in (seconds(row, late, early) for row in delivered) if it is not None]
        if times:
            found.update({f"{prefix}_{name}": value for name, value in statistics_of(times).items()})
    return found


def recompute_intervals(rows):
    """Returns the figures of one cell, by metric, from the intervals of its streams."""
    found = {}
    totals = [row for row in rows if row.get("total") == "true"]
    parts = [row for row in rows if row.get("total") != "true"]
    for observer in ("receiver", "peer", "sender"):
        seen = [row for row in totals if row["observer"] == observer] or [row for row in parts if row["observer"] == observer]
        if not seen:
            continue
        # Each stream over its own time: one straggler does not make the others slower.
        spans = collections.defaultdict(list)
        for row in seen:
            spans[row["link"]].append(row)
        rate = 0.0
        for rows_of in spans.values():
            span = max(number(row, "end_s") for row in rows_of) - min(number(row, "start_s") for row in rows_of)
            rate += sum(number(row, "bytes") for row in rows_of) * 8 / span / 1e6 if span > 0 else 0.0
        if rate > 0:
            found["streams"] = len(spans)
            for name in ("throughput_sent",) if observer == "sender" else ("throughput_rx", "throughput_tx", "throughput_received"):
                # Who counts at the receiving end is the receiver where it is ours, else the peer.
                found.setdefault(name, rate)
    return found


def check_order(cell, figures):
    """Yields what is out of order among the figures of one cell."""
    stems = collections.defaultdict(dict)
    for metric, row in figures.items():
        stem, _, last = metric.rpartition("_")
        if last in ("min", "avg", "p50", "p90", "p99", "p999", "max") and row["value"]:
            stems[stem][last] = float(row["value"])
    for stem, found in stems.items():
        for low, high in (("min", "avg"), ("avg", "max"), ("min", "p50"), ("p50", "p90"), ("p90", "p99"), ("p99", "p999"), ("p999", "max")):
            if low in found and high in found and found[low] > found[high] * (1 + TOLERANCE):
                yield f"{cell}: {stem}_{low} {found[low]} is above {stem}_{high} {found[high]}"
    for metric, row in figures.items():
        times = number(row, "times_limit")
        if times is not None and times < 1:
            yield f"{cell}: {metric} {row['value']} {row['unit']} is beyond its limit {row['limit']}"


def main():
    parser = common.parser(__doc__, whole=True, build="debug", least="three short plans")
    parser.add_argument("--seed", default="2")
    parser.add_argument("--plans", nargs="+", default=PLANS)
    parser.add_argument("--on", help="a lab, as of `espbench run`")
    parser.add_argument("--show", action="store_true", help="print every figure")
    given = parser.parse_args()
    if given.least:
        given.plans = ["wifi-udp-echo", "wifi-join", "esp32c3-best"]

    with tempfile.TemporaryDirectory() as folder:
        store, results = f"{folder}/runs.sqlite", f"{folder}/results.csv"
        lab = ["--on", given.on] if given.on else []
        command = [given.espbench, "run", *given.plans, *lab, "--seed", given.seed, "--store", store, "-o", results, "-q"]
        done = subprocess.run(command, capture_output=True, text=True)
        # Status 1 is a threshold of a plan.
        if done.returncode not in (0, 1) or not pathlib.Path(results).exists():
            print(f"no results: {done.stderr}", file=sys.stderr)
            sys.exit(2)
        cells = collections.defaultdict(dict)
        for row in csv.DictReader(open(results)):
            # What a radio sends without a network (`raw`) is no iperf stream.
            if row["cell"] and not row["trial"] and row["origin"] != "published" and row["mode"] != "raw":
                cells[row["cell"], row["repetition"]][row["metric"]] = row
        recomputed = collections.defaultdict(dict)
        for table, compute in (("probes", recompute_probes), ("intervals", recompute_intervals)):
            file = f"{folder}/{table}.csv"
            done = subprocess.run([given.espbench, "samples", "last", "--table", table, "--store", store, "-o", file], capture_output=True, text=True)
            if done.returncode != 0:
                # A run of probes alone has no intervals, and the other way round.
                continue
            groups = collections.defaultdict(list)
            for row in csv.DictReader(open(file)):
                groups[row["cell"], row["repetition"]].append(row)
            for key, rows in groups.items():
                recomputed[key].update(compute(rows))

    without = [key for key in cells if key not in recomputed]
    if without:
        print(f"no samples of {len(without)} cells, such as {without[0]}", file=sys.stderr)
        sys.exit(2)
    compared, wrong = 0, []
    for key, figures in cells.items():
        for metric, value in recomputed[key].items():
            row = figures.get(metric)
            if row is None or not row["value"]:
                continue
            ours = float(row["value"])
            compared += 1
            if metric in CONSOLE and "rtt_exact_avg" in figures:
                # A console prints whole milliseconds, cut off: each is up to 1 ms below the exact time.
                agrees = -1 <= ours - value <= 0
            else:
                # Whole seconds of a console may differ by a percent; streams side by side end at different times.
                several = recomputed[key].get("streams", 1) > 1
                tolerance = (5e-2 if several else 1e-2) if metric.startswith("throughput") else 1e-6
                agrees = math.isclose(ours, value, rel_tol=tolerance, abs_tol=1e-9)
            if given.show or not agrees:
                line = f"{'' if agrees else 'DIFFERS '}{row['suite']} cell {key[0]}.{key[1]} {row['mode']} {row['payload_bytes']} B {metric}: {ours} {row['unit']}, from samples {value}"
                print(line)
            if not agrees:
                wrong.append(metric)
        for complaint in check_order(f"{next(iter(figures.values()))['suite']} cell {key[0]}.{key[1]}", figures):
            print("ORDER", complaint)
            wrong.append("order")
    print(f"{compared} figures compared, {len(wrong)} wrong: {dict(collections.Counter(wrong))}")
    sys.exit(2 if compared == 0 else 1 if wrong else 0)


if __name__ == "__main__":
    main()
