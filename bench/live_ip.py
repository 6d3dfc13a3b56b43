#!/usr/bin/env python3
"""Measures a simulated device over IP live and in virtual time, and prints a table in Markdown.

    cargo build --release -p espbench && bench/live_ip.py [--espbench FILE] [--repetitions N] [--time SECONDS] [--least]

Live: unmodified iperf 2, sockperf, ping and `espbench run --on udp:` in `espbench live shield-box`. Virtual time: the same
tests with `--on sim:shield-box`. Each repetition has another seed. A live run that was too late for its bound does
not count and is repeated, nine times at most. The lab has no ping in virtual time: its rows have the live figure alone. Exit status 2 where a
run failed.
"""

import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

import common

LAB, VARIANT = "shield-box", "rank-iperf"
# More than the room carries, so that the room decides.
OFFERED = 100_000_000
COUNT = 500
ECHO = 'kind = "udp-echo"\nvariant = "rank-iperf"\nsize = 64\ncount = COUNT\ninterval = "20 ms"\ntimeout = "1 s"\nformat = "binary"'
PATIENCE = 600
TRIES = 10


class Bench:
    """The command under test, and how long it measures."""

    def __init__(self, args, folder):
        self.espbench, self.time, self.dir = args.espbench, args.time, pathlib.Path(folder)
        self.least, self.count = args.least, 20 if args.least else COUNT
        self.work = ECHO.replace("COUNT", str(self.count))

    def run(self, words):
        ran = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=PATIENCE,
                             check=False, cwd=self.dir)
        if ran.returncode != 0:
            raise RuntimeError(f"{' '.join(map(str, words))}: status {ran.returncode}\n{ran.stderr[-2000:]}")
        return ran.stdout

    def live(self, seed, script, *flags):
        """Returns the output of a script in the network of the lab, and the reports of its device."""
        words = [self.espbench, "live", LAB, "--variant", VARIANT, "--seed", str(seed), "--format", "json", *flags]
        if self.least:
            words += ["--late-most", "1 h"]
        # One that is too late for its bound does not count.
        for left in reversed(range(TRIES)):
            try:
                out = self.run([*words, "--", "sh", "-c", script])
                break
            except RuntimeError as error:
                if left == 0 or "what was measured is invalid" not in str(error):
                    raise
        lines = [json.loads(it) for it in out.splitlines() if it.startswith('{"type":')]
        return out, {it["program"]: it["mbit_s"] for it in lines if it["type"] == "report"}

    def virtual(self, seed, table, on, metric):
        """Returns a figure of a plan of one measurement."""
        plan = self.dir / "plan.toml"
        plan.write_text(f'name = "live-ip"\nseed = {seed}\n[[measure]]\n{table}\n', encoding="utf-8")
        out = self.run([self.espbench, "run", str(plan), "--on", on, "--format", "json", "--store",
                        str(self.dir / "runs.sqlite")])
        return value(json.loads(out), metric)

    def iperf(self, transport, direction, seed):
        table = (f'kind = "iperf"\nvariant = "{VARIANT}"\ntransport = "{transport}"\ndirection = "{direction}"\n'
                 f'time = "{self.time} s"\n')
        if (transport, direction) == ("udp", "forward"):
            table += f'bandwidth = "{OFFERED // 1_000_000} Mbit/s"\n'
        metric = "throughput_rx" if direction == "forward" else "throughput_tx"
        return self.virtual(seed, table, f"sim:{LAB}", metric)

    # Each returns the live figure and that of virtual time, or None.
    def udp_to(self, seed):
        _, reports = self.live(seed, f"iperf -c device -u -b {OFFERED} -t {self.time}")
        return reports["iperf-udp"], self.iperf("udp", "forward", seed)

    def tcp_to(self, seed):
        _, reports = self.live(seed, f"iperf -c device -t {self.time}")
        return reports["iperf-tcp"], self.iperf("tcp", "forward", seed)

    def udp_from(self, seed):
        out, _ = self.live(seed, f"timeout {self.time + 4} iperf -s -u -i 1 -f b; true",
                           "--type", f"device@1s=iperf -c pc -u -t {self.time}")
        # The first and the last second are not whole, and the total comes behind them.
        rates = [float(it) / 1e6 for it in re.findall(r" ([0-9.]+) bits/sec", out) if float(it) > 0]
        return statistics.mean(rates[1:-2] or rates), self.iperf("udp", "reverse", seed)

    def tcp_from(self, seed):
        out, _ = self.live(seed, f"timeout {self.time + 20} iperf -s -P 1 -f b",
                           "--type", f"device@1s=iperf -c pc -t {self.time}")
        return float(re.findall(r" ([0-9.]+) bits/sec", out)[-1]) / 1e6, self.iperf("tcp", "reverse", seed)

    def echo(self, seed, size=64):
        real = self.dir / "real.toml"
        work = self.work.replace("size = 64", f"size = {size}")
        text = "\n".join(it for it in work.splitlines() if not it.startswith("variant"))
        real.write_text(f'name = "live-ip"\n[[measure]]\n{text}\n', encoding="utf-8")
        self.live(seed, f"{self.espbench} run {real} --on udp:device --store {self.dir}/runs.sqlite --format json "
                        "> echo.json")
        live = value(json.loads((self.dir / "echo.json").read_text(encoding="utf-8")), "rtt_avg")
        return live, self.virtual(seed, work, f"sim:{LAB}", "rtt_avg")

    def sockperf(self, seed):
        """One message after the other; sockperf tells half of the round trip, in microseconds."""
        out, _ = self.live(seed, f"sockperf ping-pong -i 10.0.0.1 -p 11111 -t {self.time} -m 64")
        work = self.work.replace('interval = "20 ms"\n', "")
        half = float(re.search(r"Latency is ([0-9.]+) usec", out)[1])
        return half * 2 / 1000, self.virtual(seed, work, f"sim:{LAB}", "rtt_avg")

    def ping(self, seed, size=64):
        out, _ = self.live(seed, f"ping -q -c {self.count} -i 0.02 -s {size} device")
        return float(re.search(r"= [0-9.]+/([0-9.]+)/", out)[1]), None


def value(report, metric):
    for cell in report["cells"]:
        if cell["metric"] == metric and cell["value"] is not None:
            return cell["value"]
    raise RuntimeError(f"no {metric} in the report")


def shown(figures):
    spread = f" ({min(figures):.3g}–{max(figures):.3g})" if len(figures) > 1 else ""
    return f"{statistics.mean(figures):.4g}{spread}"


def main():
    parser = common.parser(__doc__, whole=True)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--time", type=int, default=10)
    args = parser.parse_args()
    if args.least:
        args.repetitions, args.time = 1, 2
    print("| measurement | unit | live | virtual time | difference |\n|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(args, folder)
        for name, unit, measure in [
            ("UDP to the device", "Mbit/s", bench.udp_to),
            ("UDP from the device", "Mbit/s", bench.udp_from),
            ("TCP to the device", "Mbit/s", bench.tcp_to),
            ("TCP from the device", "Mbit/s", bench.tcp_from),
            ("UDP echo, 64 bytes, mean", "ms", bench.echo),
            ("UDP echo, 1400 bytes, mean", "ms", lambda seed: bench.echo(seed, 1400)),
            ("sockperf ping-pong, 64 bytes, mean round trip", "ms", bench.sockperf),
            ("ping, 64 bytes, mean", "ms", bench.ping),
            ("ping, 4000 bytes in fragments, mean", "ms", lambda seed: bench.ping(seed, 4000)),
        ]:
            try:
                pairs = [measure(seed) for seed in range(1, args.repetitions + 1)]
            except (RuntimeError, OSError, KeyError, IndexError, subprocess.SubprocessError) as error:
                print(f"{name}: {error}", file=sys.stderr)
                return 2
            live = [it[0] for it in pairs]
            virtual = [it[1] for it in pairs if it[1] is not None]
            if virtual:
                change = statistics.mean(live) / statistics.mean(virtual) - 1
                print(f"| {name} | {unit} | {shown(live)} | {shown(virtual)} | {change * 100:+.1f} % |", flush=True)
            else:
                print(f"| {name} | {unit} | {shown(live)} | | |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
