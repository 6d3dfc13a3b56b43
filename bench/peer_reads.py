#!/usr/bin/env python3
"""Compares espbench's TCP headlines with the counts of a slow reader.

    bench/peer_reads.py [--tests rate,iperf] [--seconds 5,10] [--congestion reno,cubic,bbr]
                   [--within PERCENT] [--espbench PATH] [--least]

A reader of known rate with a small receive buffer (SO_RCVBUF 5744) sits behind a veth pair in a
network namespace that this script makes (user namespaces are enough; it touches nothing else).
`rate tcp` sends messages of 19 bytes to a reader of 1,000 and 4,000 of them a second, `iperf -c` to
one of 2 and 16 Mbit/s, under each congestion control that the system has. A row has the
reader's count from its first read to the sender's end, the headline, and their ratio. Status 1
where one is further off than --within, or where a peer that never reads is a result.
"""
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time

import common

READER, SENDER = "10.9.0.2", "10.9.0.1"
PORT = 5001
BUFFER = 5744
MESSAGE = 19


def run(line):
    subprocess.run(line, shell=True, check=True)


def read_paced(port, rate):
    """Reads `rate` bytes a second of one connection after the other; none where it is 0. Prints a
    line for each connection: seconds from its first to its last read, and the bytes between."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
    listener.bind(("0.0.0.0", port))
    listener.listen()
    print("ready", flush=True)
    while True:
        peer, _ = listener.accept()
        start, count, marks = time.monotonic(), 0, []
        try:
            while True:
                now = time.monotonic()
                due = int((now - start) * rate) - count
                if due < MESSAGE:
                    time.sleep(0.0005)
                    continue
                got = len(peer.recv(min(due, 65536)))
                if not got:
                    break
                count += got
                if not marks or now - marks[-1][0] > 0.01:
                    marks.append((now, count))
        except OSError:
            pass
        peer.close()
        if len(marks) > 1:
            (t0, n0), (t1, n1) = marks[0], marks[-1]
            print(json.dumps({"seconds": t1 - t0, "bytes": n1 - n0}), flush=True)


class Reader:
    """A paced reader in the other namespace."""

    def __init__(self, namespace, rate):
        self.lines = []
        line = ["nsenter", "-t", str(namespace), "-n", sys.executable, __file__, "--read", str(rate)]
        self.child = subprocess.Popen(line, stdout=subprocess.PIPE, text=True)
        assert self.child.stdout.readline() == "ready\n"
        self.thread = threading.Thread(target=self.collect, daemon=True)
        self.thread.start()

    def collect(self):
        for line in self.child.stdout:
            self.lines.append(json.loads(line))

    def rate(self):
        """Bytes a second over all connections, once it has read them to their end."""
        for _ in range(1200):
            if self.lines:
                break
            time.sleep(0.05)
        seconds = sum(it["seconds"] for it in self.lines)
        return sum(it["bytes"] for it in self.lines) / seconds if seconds else None

    def end(self):
        self.child.kill()
        self.child.wait()


def espbench(args, line, folder):
    line = [args.espbench, *line, "--store", os.path.join(folder, "runs.sqlite"), "--format", "json", "-q"]
    done = subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
    cells = json.loads(done.stdout)["cells"] if done.stdout else []
    return done, lambda metric: next(
        (c["value"] for c in cells if c["metric"] == metric and c["origin"] == "measured"), None)


def test_line(test, seconds):
    """The command, its headline, and how many bytes a second one of it is."""
    if test == "rate":
        line = ["rate", "tcp", f"{READER}:{PORT}", "-s", str(MESSAGE), "-n", "1", "--discard", "0",
                "--time", f"{seconds} s", "--nagle", "off"]
        return line, "message_rate_avg", MESSAGE
    return ["iperf", "-c", READER, "-p", str(PORT), "-t", str(seconds)], "throughput_rx", 125_000


def cell(args, namespace, folder, test, rate, seconds):
    """Whether the headline is what the reader counted."""
    line, metric, octets = test_line(test, seconds)
    reader = Reader(namespace, rate * octets)
    try:
        done, value = espbench(args, line, folder)
        ours, best = value(metric), value("throughput_rx_best_second")
        truth = reader.rate()
    finally:
        reader.end()
    if ours is None or truth is None:
        print(f"    nothing measured: status {done.returncode} {done.stderr.strip()[-300:]}")
        return False
    truth /= octets
    good = abs(ours / truth - 1) * 100 <= args.within
    best = f" {best / truth:8.4f}" if best else "         "
    print(f" {truth:10.3f} {ours:10.3f} {ours / truth:8.4f}{best} {value('in_flight_end') or 0:10.0f} B"
          f"  {'ok' if good else 'OFF'}", flush=True)
    return good


def never(args, namespace, folder, test):
    """A peer that never reads: no result, a cause, status 2."""
    line, metric, _ = test_line(test, 2)
    reader = Reader(namespace, 0)
    try:
        done, value = espbench(args, line, folder)
    finally:
        reader.end()
    good = done.returncode == 2 and value(metric) is None and "took nothing" in done.stderr
    print(f"{test:6} a peer that never reads: status {done.returncode}, {metric} {value(metric)}"
          f"  {'ok' if good else 'OFF: ' + done.stderr.strip()[-300:]}", flush=True)
    return good


def compare(args):
    other = subprocess.Popen(["unshare", "-n", "sleep", "100000"])
    good = True
    try:
        time.sleep(0.3)
        run(f"ip link add v0 type veth peer name v1 netns {other.pid}")
        run(f"ip addr add {SENDER}/24 dev v0 && ip link set v0 up && ip link set lo up")
        run(f"nsenter -t {other.pid} -n sh -c 'ip addr add {READER}/24 dev v1 && ip link set v1 up'")
        with open("/proc/sys/net/ipv4/tcp_available_congestion_control") as file:
            there = file.read().split()
        print("test   control  time      truth       ours    ratio     best   in flight")
        with tempfile.TemporaryDirectory() as folder:
            for test in args.tests.split(","):
                for control in args.congestion.split(","):
                    if control not in there:
                        print(f"{test:6} {control}: SKIPPED, this system has no such control")
                        continue
                    run(f"ip route replace 10.9.0.0/24 dev v0 congctl {control}")
                    for rate in {"rate": (1000, 4000), "iperf": (2, 16)}[test]:
                        for seconds in args.seconds.split(","):
                            print(f"{test:6} {control:6} {seconds:>4} s", end="", flush=True)
                            good &= cell(args, other.pid, folder, test, rate, seconds)
                good &= never(args, other.pid, folder, test)
    finally:
        other.kill()
        other.wait()
    return 0 if good else 1


def main():
    if sys.argv[1:2] == ["--read"]:
        return read_paced(PORT, float(sys.argv[2]))
    parser = common.parser(__doc__, whole=True)
    parser.add_argument("--tests", default="rate,iperf")
    parser.add_argument("--seconds", default="5,10")
    parser.add_argument("--congestion", default="reno,cubic,bbr")
    parser.add_argument("--within", type=float, default=2.0, help="percent")
    parser.add_argument("--inside", action="store_true", help="for the script itself: it is in a network of its own")
    args = parser.parse_args()
    if args.least:
        args.seconds, args.congestion, args.within = "1", "reno", float("inf")
    if args.inside:
        return compare(args)
    line = ["unshare", "--user", "--map-root-user", "--net", sys.executable, __file__, "--inside"]
    return subprocess.run(line + sys.argv[1:]).returncode


if __name__ == "__main__":
    sys.exit(main())
