#!/usr/bin/env python3
"""Measures the embedded MQTT broker: memory under attack, and message rates beside another binary's.

    cargo build --release
    bench/broker.py memory                  # peak resident memory (VmHWM) after each attack
    bench/broker.py rate [--beside OTHER]   # messages a second through the broker, alternating
    bench/broker.py memory|rate --least     # whether all of it runs: a thousandth of each attack

`memory` starts `espbench respond` afresh for each attack, on loopback, and prints VmHWM from
/proc/PID/status, whether a client that comes then is served, and what the broker counted. Exit status 1
where an attack takes more than --limit (300 MB), or a client is not served. It moves up to 3 GB for each.

`rate` lets `espbench rate mqtt` saturate the broker of each binary in turn with 64-byte messages at QoS 0, 1
and 2, and prints the medians and their ratio. Both run on the same machine as the client: look at the spread.
"""

import pathlib
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import time

import common

# What the counts of attacks are divided by.
PART = 1


def some(count):
    """Returns a count of an attack, or with --least a part of it."""
    return max(count // PART, 2)


def length(number):
    out = b""
    while True:
        digit, number = number % 128, number // 128
        out += bytes([digit | (0x80 if number else 0)])
        if not number:
            return out


def packet(first, body):
    return bytes([first]) + length(len(body)) + body


def string(text):
    text = text if isinstance(text, bytes) else text.encode()
    return len(text).to_bytes(2, "big") + text


def connect(name, clean=True, will=None):
    flags = (2 if clean else 0) | (0x24 if will else 0)
    body = string("MQTT") + bytes([4, flags, 0, 0]) + string(name)
    return packet(0x10, body + (string(will[0]) + string(will[1]) if will else b""))


def connect_5(name):
    return packet(0x10, string("MQTT") + bytes([5, 2, 0, 0, 0]) + string(name))


def subscribe(filters, qos=0):
    filters = [filters] if isinstance(filters, str) else filters
    return packet(0x82, b"\0\1" + b"".join(string(f) + bytes([qos]) for f in filters))


def publish(topic, payload, qos=0, retain=False, number=1):
    number = number.to_bytes(2, "big") if qos else b""
    return packet(0x30 | qos << 1 | retain, string(topic) + number + payload)


class Respond:
    """`espbench respond` with its broker on a port of its own, and nothing else of note."""

    def __init__(self, binary, *options):
        ports = [str(common.free_port()) for _ in range(6)]
        self.port = int(ports[5])
        names = ["echo", "plain-echo", "iperf", "sink", "source", "mqtt"]
        flags = [x for name, port in zip(names, ports) for x in (f"--{name}-port", port)]
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [binary, "respond", *flags, *options], stdout=subprocess.DEVNULL, stderr=self.log
        )
        for _ in range(200):
            try:
                self.open().close()
                return
            except OSError:
                time.sleep(0.05)
        sys.exit("the broker did not start")

    def open(self, first=b"", wait=True):
        s = socket.create_connection(("127.0.0.1", self.port), 20)
        s.settimeout(60)
        if first:
            s.sendall(first)
            if wait:
                s.recv(100)
        return s

    def peak(self):
        """VmHWM in MB."""
        for line in open(f"/proc/{self.process.pid}/status"):
            if line.startswith("VmHWM"):
                return int(line.split()[1]) * 1024 / 1e6
        return None

    def stop(self):
        self.process.send_signal(2)
        self.process.wait(30)
        self.log.seek(0)
        lines = self.log.read().decode().splitlines()
        return [x.split(": ", 1)[1] for x in lines if x.startswith("MQTT broker, port ")]


def drain(s):
    """Reads all that is there."""
    s.settimeout(0.2)
    try:
        while s.recv(1 << 20):
            pass
    except OSError:
        pass
    s.settimeout(60)


def sync(s):
    """Waits until all that was sent is dealt with."""
    s.sendall(b"\xc0\0")
    data = b""
    while not data.endswith(b"\xd0\0"):
        data = (data + s.recv(1 << 16))[-4:]


def retained(broker, topic=lambda n: f"device/{n}/state", count=300_000, size=10_000):
    s, payload = broker.open(connect("p")), b"x" * size
    for start in range(0, some(count), 100):
        s.sendall(b"".join(publish(topic(n), payload, retain=True) for n in range(start, start + 100)))
    sync(s)
    return [s]


def deaf(broker, qos=0):
    deaf = broker.open(connect("deaf"))
    deaf.sendall(subscribe("t", qos))
    s, bytes_ = broker.open(connect("p")), publish("t", b"x" * 100_000, qos)
    for _ in range(some(285)):
        s.sendall(bytes_ * 100)
        if qos:
            drain(s)
    sync(s)
    return [s, deaf]


def slow_thousand(broker):
    slow = [broker.open(connect(f"slow{n}")) for n in range(some(1000))]
    for s in slow:
        s.sendall(subscribe("t"))
    s, bytes_ = broker.open(connect("p")), publish("t", b"x" * 1000)
    for _ in range(some(200)):
        s.sendall(bytes_ * 100)
    sync(s)
    return [s, *slow]


def sessions(broker):
    p = broker.open(connect("p"))
    for n in range(some(20_000)):
        s = broker.open(connect(f"away{n}", clean=False))
        s.sendall(subscribe(f"t/{n}", 1))
        s.recv(10)
        s.close()
        p.sendall(publish(f"t/{n}", b"x" * 1000, 1) * 10)
        if n % 100 == 0:
            drain(p)
    sync(p)
    return [p]


def subscriptions(broker):
    s = broker.open(connect("s"))
    for start in range(0, some(300_000), 1000):
        s.sendall(subscribe([f"{n}/+/some/longer/level/{n}/#" for n in range(start, start + 1000)]))
        s.recv(1 << 16)
    for n in range(some(2000)):
        s.sendall(subscribe(f"{n}/" + "y" * 65_000))
        s.recv(1 << 16)
    return [s]


def half_packets(broker):
    held = []
    begun = publish("t", b"x" * 1_900_000)[:1_800_000]
    for n in range(some(1000)):
        try:
            s = broker.open(connect(f"c{n}"))
            s.sendall(begun)
            held.append(s)
        except OSError:
            pass
    return held


def half_connects(broker):
    held = []
    for n in range(some(3000)):
        try:
            held.append(broker.open(connect("never")[: n % 10], wait=False))
        except OSError:
            pass
    return held


def aliases_and_wills(broker):
    held = []
    for n in range(some(1500)):
        try:
            s = broker.open(connect(f"w{n}", clean=False, will=("w" * 60_000, b"x" * 60_000)))
            s.close()
            s = broker.open(connect_5(f"a{n}"))
            for alias in range(1, 17):
                body = string("z" * 60_000) + bytes([3, 0x23, 0, alias])
                s.sendall(packet(0x30, body))
            held.append(s)
        except OSError:
            pass
    return held


def long_topics(broker):
    topic = "t" * 65_000
    return retained(broker, lambda n: f"{n}/{topic}", 30_000, 1)


def unread_answers(broker):
    held = []
    for n in range(some(1000)):
        s = broker.open(connect(f"c{n}"))
        s.settimeout(0.01)
        try:
            for _ in range(20):
                s.sendall(publish("nobody", b"", 1) * 5000)
        except OSError:
            pass
        held.append(s)
    return held


ATTACKS = {
    "300,000 retained messages of 10 kB": retained,
    "28,500 messages of 100 kB, QoS 0, to one that does not read": deaf,
    "the same at QoS 1": lambda broker: deaf(broker, 1),
    "20,000 messages of 1 kB to 1,000 that do not read": slow_thousand,
    "20,000 sessions away with 10 messages of 1 kB": sessions,
    "300,000 subscriptions, 2,000 of 65 kB": subscriptions,
    "1,000 connections with 1.8 MB of a packet": half_packets,
    "3,000 connections with a part of a CONNECT": half_connects,
    "1,500 wills of 120 kB, 24,000 aliases of 60 kB": aliases_and_wills,
    "30,000 retained messages with topics of 65 kB": long_topics,
    "1,000 publishers that do not read their answers": unread_answers,
}


def is_served(broker):
    """Whether a new client gets its own message back."""
    try:
        s = broker.open(connect("new"))
        s.sendall(subscribe("new"))
        s.recv(10)
        s.sendall(publish("new", b"hello"))
        return s.recv(100) == publish("new", b"hello")
    except OSError:
        return False


def memory(args):
    failed = False
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 20_000), hard))
    for name, attack in ATTACKS.items():
        broker = Respond(args.espbench)
        start = time.monotonic()
        held = attack(broker)
        took = time.monotonic() - start
        # Connections that never said CONNECT have their ten seconds.
        served = is_served(broker) or (time.sleep(11), is_served(broker))[1]
        peak = broker.peak()
        for s in held:
            s.close()
        said = [line for line in broker.stop() if "limit is reached" not in line]
        bad = peak > args.limit or not served
        failed |= bad
        print(f"{peak:6.0f} MB  {took:5.1f} s  {'TOO MUCH' if bad else 'ok'}  {name}")
        if not served:
            print("            a new client is not served")
        for line in said[-12:]:
            print(f"            {line}")
        sys.stdout.flush()
    return int(failed)


def one_rate(client, binary, qos, count, folder):
    broker = Respond(binary)
    command = [
        client, "rate", "mqtt", f"127.0.0.1:{broker.port}", "--qos", str(qos), "--size", "64",
        *(["--in-flight", "100"] if qos else []), "--count", str(count), "--time", "60 s",
        "--store", str(folder / "runs.sqlite"), "--quiet", "--format", "json",
    ]
    report = common.answer(command)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    broker.stop()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime
    cells = {c["metric"]: c["value"] for c in report["cells"]}
    return cells["message_rate"], cells["messages_lost"], cpu


def rate(args):
    binaries = [args.espbench] + ([args.beside] if args.beside else [])
    with tempfile.TemporaryDirectory() as name:
        for qos in (0, 1, 2):
            count = args.messages if qos == 0 else args.messages // 2
            rates = {binary: [] for binary in binaries}
            for _ in range(args.rounds):
                for binary in binaries:
                    each, lost, cpu = one_rate(
                        args.espbench, binary, qos, count, pathlib.Path(name)
                    )
                    rates[binary].append(each)
                    print(f"QoS {qos}: {each:9.0f}/s, {lost:.0f} lost, {cpu:5.2f} s CPU  {binary}")
            medians = [statistics.median(rates[binary]) for binary in binaries]
            ratio = f", ratio {medians[0] / medians[1]:.2f}" if args.beside else ""
            print(f"QoS {qos}: medians {' and '.join(f'{m:.0f}' for m in medians)} messages/s{ratio}")
    return 0


def main():
    parser = common.parser(__doc__)
    parser.add_argument("what", choices=["memory", "rate"])
    parser.add_argument("--limit", type=float, default=300, help="MB that an attack may take")
    parser.add_argument("--beside", help="another binary of espbench to compare with")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--messages", type=int, default=200_000)
    args = parser.parse_args()
    if args.least:
        global PART
        PART, args.rounds, args.messages = 1000, 1, 2000
    return memory(args) if args.what == "memory" else rate(args)


if __name__ == "__main__":
    sys.exit(main())
