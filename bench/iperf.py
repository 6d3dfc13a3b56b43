#!/usr/bin/env python3
"""Compares espbench's iperf with iperf 2 and iperf3 on loopback, side by side.

    bench/iperf.py [--runs N] [--seconds S] [--tests tcp,udp64,udp1470] [--espbench PATH] [--least]
    bench/iperf.py --agree        compares the reported figures instead, in every combination of both ends

UDP: espbench offers 2.3 times what the faster peer got through, and none may be lost (in the median run);
a run as fast as it goes is shown beside it. The programs take turns within each run, so that a busy
machine slows all of them. CPU time is that of client and server together (getrusage). Only ratios of figures taken side by side mean anything.
Needs iperf and iperf3 in the PATH, and `cargo build --release`.
"""
import json
import os
import re
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

import common

OFFER = 2.3


class Process:
    """A process whose output and CPU time are kept."""

    def __init__(self, args):
        self.out = tempfile.TemporaryFile("w+")
        self.child = subprocess.Popen(args, stdin=subprocess.DEVNULL, stdout=self.out,
                                      stderr=subprocess.DEVNULL)

    def end(self, sig=None, patience=60):
        if sig:
            time.sleep(0.7)
            self.child.send_signal(sig)
        deadline = time.monotonic() + patience
        while True:
            pid, _, usage = os.wait4(self.child.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > deadline:
                self.child.kill()
                deadline += 10
            time.sleep(0.01)
        self.child.returncode = 0
        self.out.seek(0)
        return self.out.read(), usage.ru_utime + usage.ru_stime


def pair(server, client, port, udp, sig=signal.SIGINT):
    """Runs a client against a server: both outputs, and the CPU seconds of both."""
    server = Process(server)
    common.wait_for(port, udp)
    text, cpu = Process(client).end()
    served, server_cpu = server.end(sig)
    return text, served, cpu, server_cpu


def result(received, seconds, cpu, lost=0, total=0, sent=0):
    return {"rate": received / seconds, "cpu": cpu, "lost": lost, "total": total,
            "sent": sent / seconds, "cost": cpu / received if received else float("nan")}


def udp_args(length):
    return ["-u", "-l", str(length)]


def test_cpu(args):
    """CPU seconds of our client's test alone: a calibration runs before it, the report after."""
    with sqlite3.connect(os.path.join(args.folder, "runs.sqlite")) as store:
        (facts,) = store.execute("select facts from cell order by id desc limit 1").fetchone()
    return float(json.loads(facts)["cpu-time"].split()[0])


def ours(args, length, offered=None):
    """Our client against our server; `offered` datagrams a second, or as fast as it goes."""
    port = common.free_port()
    udp = length is not None
    server = [args.espbench, "iperf", "-s", "-B", "127.0.0.1", "-p", str(port), "--format", "json"]
    client = [args.espbench, "iperf", "-c", "127.0.0.1", "-p", str(port), "-t", str(args.seconds),
              "--store", os.path.join(args.folder, "runs.sqlite"), "--format", "csv", "-q"]
    rate = str(int(offered * length * 8)) if offered else "0"
    client += udp_args(length) + ["-b", rate] if udp else []
    _, served, _, server_cpu = pair(server + (["-u"] if udp else []), client, port, udp)
    cpu = test_cpu(args)
    totals = [json.loads(line) for line in served.splitlines() if '"total":true' in line]
    total = totals[0]
    seconds = total["end_s"] - total["start_s"]
    if not udp:
        return result(total["bytes"], seconds, cpu + server_cpu)
    assert total["bytes"] == total["datagrams"] * length, f"each datagram is one of its own: {total}"
    return result(total["datagrams"], seconds, cpu + server_cpu, total["lost"],
                  total["datagrams"] + total["lost"])


def iperf2(args, length):
    port = common.free_port()
    udp = length is not None
    server = ["iperf", "-s", "-B", "127.0.0.1", "-p", str(port), "-y", "C"]
    client = ["iperf", "-c", "127.0.0.1", "-p", str(port), "-t", str(args.seconds), "-y", "C"]
    if udp:
        server, client = server + ["-u"], client + udp_args(length) + ["-b", "100g"]
    _, served, cpu, server_cpu = pair(server, client, port, udp)
    line = [l.split(",") for l in served.splitlines() if l.count(",") >= 8][0]
    received, bits = int(line[7]), float(line[8])
    seconds = received * 8 / bits
    if not udp:
        return result(received, seconds, cpu + server_cpu)
    lost, total = int(line[10]), int(line[11])
    return result(total - lost, seconds, cpu + server_cpu, lost, total)


def iperf3(args, length):
    port = common.free_port()
    server = ["iperf3", "-s", "-1", "-B", "127.0.0.1", "-p", str(port)]
    client = ["iperf3", "-c", "127.0.0.1", "-p", str(port), "-t", str(args.seconds), "-J"]
    client += udp_args(length) + ["-b", "0"] if length else []
    text, _, cpu, server_cpu = pair(server, client, port, False, None)
    end = json.loads(text)["end"]
    if not length:
        got = end["sum_received"]
        return result(got["bytes"], got["seconds"], cpu + server_cpu)
    got = end["sum"]
    lost, total = got["lost_packets"], got["packets"]
    return result(total - lost, got["seconds"], cpu + server_cpu, lost, total)


def compare(args):
    tests = {"tcp": None, "udp64": 64, "udp1470": 1470}
    peers = {"iperf 2": iperf2, "iperf3": iperf3}
    failed = False
    for name in args.tests.split(","):
        length = tests[name]
        runs = {tool: [] for tool in ["espbench", *peers]}
        flat_out = []
        for _ in range(args.runs):
            for tool, run in peers.items():
                runs[tool].append(run(args, length))
            # UDP: loss counts, so what is held against the peers is a rate that is kept without loss,
            # offered at a little over twice what the faster of them just got through.
            offered = OFFER * max(runs[peer][-1]["rate"] for peer in peers) if length else None
            runs["espbench"].append(ours(args, length, offered))
            flat_out += [ours(args, length)] if length else []
        print(f"\n{name}: {args.runs} runs of {args.seconds} s, medians")
        unit, scale = ("datagrams/s received", 1) if length else ("Gbit/s", 8e-9)
        cost_unit, cost_scale = ("us CPU/datagram", 1e6) if length else ("s CPU/GB", 1e9)
        median = {t: statistics.median(r["rate"] for r in rs) for t, rs in runs.items()}
        cost = {t: statistics.median(r["cost"] for r in rs) for t, rs in runs.items()}
        for tool, results in runs.items():
            lost, total = sum(r["lost"] for r in results), sum(r["total"] for r in results)
            loss = f", lost {lost} of {total} ({100 * lost / total:.2f} %)" if total else ""
            rates = " ".join(f"{r['rate'] * scale:.4g}" for r in results)
            print(f"  {tool:9} {median[tool] * scale:10.4g} {unit}, "
                  f"{cost[tool] * cost_scale:.3f} {cost_unit}{loss}   [{rates}]")
        if flat_out:
            lost, total = sum(r["lost"] for r in flat_out), sum(r["total"] for r in flat_out)
            rate = statistics.median(r["rate"] for r in flat_out)
            print(f"  espbench, as fast as it goes: {rate:.4g} {unit}, lost {100 * lost / total:.2f} %")
        for peer in peers:
            ratios = [o["rate"] / p["rate"] for o, p in zip(runs["espbench"], runs[peer])]
            costs = [o["cost"] / p["cost"] for o, p in zip(runs["espbench"], runs[peer])]
            need = 2.0 if length else 1.0
            ratio, dear = statistics.median(ratios), statistics.median(costs)
            lossless = statistics.median(r["lost"] for r in runs["espbench"]) == 0
            good = ratio >= need and dear <= 1.0 and lossless
            failed |= not good
            print(f"  espbench / {peer}: {ratio:.2f} x the rate (wanted {need}), {dear:.2f} x the "
                  f"CPU each: {'ok' if good else 'NOT REACHED'}")
    return 1 if failed else 0


def agree(args):
    """Our figures against iperf 2's, for the same test: within 1 %."""
    worst = 0.0

    def row(what, ours, theirs):
        nonlocal worst
        off = abs(ours - theirs) / theirs
        worst = max(worst, off)
        print(f"  {what:42} ours {ours:14.4f}  theirs {theirs:14.4f}  off {100 * off:.3f} %")

    for udp in (False, True):
        rate = ["-b", "40m"]
        flag = ["-u"] if udp else []
        name = "UDP" if udp else "TCP"
        for way in ([], ["-R"]):
            label = f"{name} {'-R' if way else 'forward'}"
            port = common.free_port()
            text, served, _, _ = pair(
                ["iperf", "-s", "-B", "127.0.0.1", "-p", str(port), "-y", "C"] + flag,
                [args.espbench, "iperf", "-c", "127.0.0.1", "-p", str(port), "-t",
                 str(args.seconds), "--store", os.path.join(args.folder, "runs.sqlite"),
                 "--format", "text"] + flag + way + rate, port, udp)
            line = [l.split(",") for l in served.splitlines() if l.count(",") >= 8][0]
            whole = re.findall(r"^\[  1\] 0\.0000-([\d.]+) sec .* ([\d.]+) Mbits/sec", text, re.M)
            mine = [float(rate) for end, rate in whole if float(end) > args.seconds - 0.5][0]
            row(f"{label}, our client, their server: Mbit/s", mine, float(line[8]) / 1e6)

            port = common.free_port()
            text, served, _, _ = pair(
                [args.espbench, "iperf", "-s", "-B", "127.0.0.1", "-p", str(port), "--format",
                 "json"],
                ["iperf", "-c", "127.0.0.1", "-p", str(port), "-t", str(args.seconds), "-f", "k"]
                + flag + way + rate, port, udp)
            total = [json.loads(l) for l in served.splitlines() if '"total":true' in l][0]
            theirs = re.findall(r"([\d.]+) Kbits/sec", text)[0]
            row(f"{label}, their client, our server: Mbit/s", total["mbit_per_s"],
                float(theirs) / 1e3)
    print(f"  worst: {100 * worst:.3f} %")
    return 1 if worst > 0.01 else 0


def main():
    parser = common.parser(__doc__, whole=True)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--tests", default="tcp,udp64,udp1470")
    parser.add_argument("--agree", action="store_true")
    args = parser.parse_args()
    if args.least:
        args.runs, args.seconds = 1, 1
    with tempfile.TemporaryDirectory() as args.folder:
        missed = agree(args) if args.agree else compare(args)
    return 0 if args.least else missed


if __name__ == "__main__":
    sys.exit(main())
