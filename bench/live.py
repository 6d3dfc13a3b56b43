#!/usr/bin/env python3
"""Runs all ESP-NOW suites at the consoles of simulated boards in real time and in virtual time, and compares.

    cargo build --release -p espbench && bench/live.py [--espbench FILE] [--suite NAME …] [--full] [--keep DIR] [--least]

Each suite has a fleet of `espbench live --pty` of its own, at whose consoles `espbench run --on serial:…` carries
out a short form of the suite; then the same plan runs with `--on sim` in virtual time. `espbench compare` says
whether the results differ: shares by Wilson's interval, means by the scatter of the repetitions and MOVER. Prints
a table in Markdown (of what leads, or with --full of everything), and for each fleet how far it was behind the
clock. It takes some ten minutes, all fleets at once. A console prints whole milliseconds: `rtt_exact_*` is left out.
Exit status 1 where more pairs differ than chance explains, 2 where a run failed.
"""

import json
import math
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import common

# Repetitions in real time and in virtual time.
REAL, VIRTUAL = 4, 12
# What stands for all with --least.
LEAST = ("crypto-time", "two-boards --app security --late-most 1h", [], ['test = "crypto"\nsize = 10\ncount = 10'])
TIMEOUT = 3000
# What is in the short table.
LEADING = {"loss", "rtt_avg", "throughput", "encrypt_time", "decrypt_time", "ota_time", "handshake_time",
           "provisioning_time"}
# The network of the lab `provisioning`.
NETWORK = ["--ssid", "office", "--wifi-password", "office-password"]

# Name, lab and flags of the fleet, flags of the run, and the plan's `measure` tables.
SUITES = [
    ("one-way-latency", "two-boards --app solution", [],
     ['test = "one-way"\nsize = [10, 230]\ncount = 20\ncast = "unicast"\ndistance = "0.5 m"']),
    ("round-trip", "two-boards --app solution", [],
     ['test = "ping"\nsize = [50, 230]\ncount = 500\n'
      'cast = ["broadcast 3", "broadcast 3 + ack", "unicast"]\ndistance = "0.5 m"']),
    # A responder of `solution` sends its log while packets come; the report's firmware for this test does not.
    ("throughput", "two-boards --app get-started", [],
     ['test = "throughput"\nsize = [50, 230]\ntime = "10 s"\n'
      'cast = ["unicast", "broadcast"]\ndistance = "0.5 m"']),
    ("crypto-time", "two-boards --app security", [],
     ['test = "crypto"\nsize = [10, 226]\ncount = 1000']),
    ("one-way-latency-secure", "two-boards --app security --encrypt", [],
     ['test = "one-way"\nsize = 226\ncount = 20\ncast = "unicast"\ndistance = "0.5 m"\nencrypted = true']),
    ("round-trip-secure", "two-boards --app security --encrypt", [],
     ['test = "ping"\nsize = [10, 226]\ncount = 500\ncast = "broadcast"\ndistance = "0.5 m"\n'
      "encrypted = true"]),
    ("multi-device-round-trip", "many-boards --app solution --devices 11", [],
     ['test = "multi-ping"\ncast = ["unicast", "broadcast"]\ndevices = 10\nsize = 230\ncount = 100\n'
      'distance = "0.5 m"']),
    ("ota", "ota --app ota --image 262144 --devices 4", [],
     ['test = "ota"\nsize = 262144\ndevices = 3\ndistance = "0.5 m to 1 m"']),
    ("handshake", "handshake --app security --devices 11", [],
     ['test = "handshake"\ndevices = 10\ndistance = "1 m"']),
    ("provisioning", "provisioning --app provisioning --devices 11", NETWORK,
     ['test = "provisioning"\ndevices = 10\ndistance = "1 m"']),
]


class Suite(threading.Thread):
    """A suite at work."""

    def __init__(self, espbench, folder, suite, counts):
        super().__init__()
        self.real, self.virtual = counts
        self.espbench, self.dir = espbench, folder / suite[0]
        self.suite, self.flags, self.run_flags, self.measures = suite
        self.lab, *self.flags = self.flags.split(" ")
        self.pairs, self.error, self.end = [], None, {}

    def plan(self, name, repetitions):
        tables = "".join(f'[[measure]]\nkind = "esp-now"\n{it}\n' for it in self.measures)
        path = self.dir / f"{name}.toml"
        path.write_text(f'name = "{self.suite}"\nrepetitions = {repetitions}\n{tables}', encoding="utf-8")
        return str(path)

    def command(self, *words, fine=(0,)):
        store = ["--store", str(self.dir / "runs.sqlite")]
        ran = subprocess.run([self.espbench, *words, *store], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True, timeout=TIMEOUT, check=False)
        if ran.returncode not in fine:
            raise RuntimeError(f"{' '.join(words)}: status {ran.returncode}\n{ran.stderr[-3000:]}")
        return ran.stdout

    def run(self):
        try:
            self.dir.mkdir()
            self.live()
            self.command("run", self.plan("virtual", self.virtual), "--on", "sim", "--format", "json")
            # Status 2 says that consoles, of which no place is stated, are not comparable: the pairs are told all the same.
            self.pairs = json.loads(self.command("compare", "last~1", "last", "--format", "json", fine=(0, 2)))
        except (RuntimeError, OSError, ValueError, subprocess.SubprocessError) as error:
            self.error = error

    def live(self):
        distance = next(it.split('"')[1] for it in ("\n".join(self.measures) + '\ndistance = "0.5 m"').split("\n")
                        if it.startswith("distance"))
        distance = distance.replace(" m to ", "-").replace(" m", "")
        fleet = [self.espbench, "live", "--pty", "--lab", self.lab, *self.flags, "--distance", distance]
        fleet = subprocess.Popen([*fleet, "--format", "json"], stdout=subprocess.PIPE, text=True)
        try:
            ports = []
            for line in fleet.stdout:
                line = json.loads(line)
                if line["type"] == "ready":
                    break
                ports.append(line["port"])
            # Whatever else it tells is read, so that it does not wait for a reader.
            told = []
            reader = threading.Thread(target=lambda: told.extend(fleet.stdout))
            reader.start()
            on = "serial:" + ",".join(ports)
            self.command("run", self.plan("real", self.real), "--on", on, "--format", "json", *self.run_flags)
        finally:
            fleet.send_signal(signal.SIGINT)
            fleet.wait()
        reader.join()
        self.end = json.loads(told[-1])


def figure(cell):
    low, high = cell.get("ci_low"), cell.get("ci_high")
    interval = "" if low is None or high is None else f" ({low:.4g}–{high:.4g})"
    return f"{cell['value']:.4g}{interval}"


def row(suite, pair):
    """Returns a row of the table, whether the two differ, whether it leads, and whether there are intervals;
    None for nothing to compare."""
    ours, other = pair["ours"], pair.get("other")
    low, high = pair.get("difference_low"), pair.get("difference_high")
    if other is None or None in (ours["value"], other["value"]) or ours["metric"].startswith("rtt_exact"):
        return None
    verdicts, has_interval = ("overlap", "differ"), low is not None and high is not None
    if not has_interval:
        # Values that do not scatter, such as times of encryption, have no interval: these are equal within 1 %.
        low = high = int(not math.isclose(ours["value"], other["value"], rel_tol=0.01))
        verdicts = "equal", "not equal"
    what = ", ".join(str(it) for it in (ours.get("mode"), ours.get("payload_bytes")) if it is not None)
    differs = not low <= 0 <= high
    words = [suite, ours["metric"], what, ours.get("unit", ""), figure(ours), figure(other),
             verdicts[differs]]
    return "| " + " | ".join(words) + " |", differs, ours["metric"] in LEADING, has_interval


def main():
    parser = common.parser(__doc__, whole=True)
    parser.add_argument("--suite", action="append", choices=[it[0] for it in SUITES], help="only this one")
    parser.add_argument("--full", action="store_true", help="print all metrics")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for stores and plans, which is made")
    args = parser.parse_args()
    all_suites, counts = ([LEAST], (1, 2)) if args.least else (SUITES, (REAL, VIRTUAL))
    folder = args.keep or pathlib.Path(tempfile.mkdtemp())
    folder.mkdir(exist_ok=True)
    suites = [Suite(args.espbench, folder, it, counts) for it in all_suites
              if not args.suite or it[0] in args.suite]
    begun = time.monotonic()
    for suite in suites:
        suite.start()
    for suite in suites:
        suite.join()
    print("| suite | metric | cast, bytes | unit | real time | virtual time | |\n|---|---|---|---|---|---|---|")
    rows = [it for suite in suites for pair in suite.pairs if (it := row(suite.suite, pair))]
    for text, _, leads, _ in rows:
        if leads or args.full:
            print(text)
    judged, failed = [it[1] for it in rows if it[3]], [it for it in suites if it.error]
    plain = [it[1] for it in rows if not it[3]]
    differ, count = sum(judged), len(judged)
    print(f"\n{differ} of {count} pairs with intervals differ; chance alone makes about {count / 20:.0f} differ. "
          f"{sum(plain)} of {len(plain)} without are not equal. {time.monotonic() - begun:.0f} s.\n")
    for suite in suites:
        end = suite.end
        if suite.error:
            print(f"{suite.suite}: {suite.error}")
        else:
            print(f"{suite.suite}: behind the clock {end['behind_times']} times, "
                  f"{end['behind_longest_ms']:.0f} ms at most, {end['behind_given_up_s']:.1f} s given up")
    if not args.keep:
        shutil.rmtree(folder)
    if failed:
        sys.exit(2)
    # Three standard deviations above what chance alone makes.
    sys.exit(int(not args.least and differ > count / 20 + 3 * math.sqrt(count * 0.05 * 0.95)))


if __name__ == "__main__":
    main()
