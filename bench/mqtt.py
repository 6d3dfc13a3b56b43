#!/usr/bin/env python3
"""MQTT messages a second through one mosquitto: mosquitto_pub with mosquitto_sub, and espbench.

    cargo build --release && bench/mqtt.py [--rounds 5] [--messages 200000]

Needs mosquitto, mosquitto_pub and mosquitto_sub (Debian: mosquitto, mosquitto-clients). Starts a broker
of its own on loopback, with max_queued_messages 0 so that it loses nothing, then alternates: the
pair, espbench, the pair, ... with 64-byte messages at QoS 0 and QoS 1. The rate of the pair is that of
its subscriber: messages over the time from its publisher's start to its last message. The rate of espbench is the
cell message_rate: the same, without the start of a process. To take the start of mosquitto_pub out, the
pair is also timed with one message, and the median of that is subtracted.

Prints each figure, then the medians and their ratio; exit status 1 where a ratio is below the one
wanted (1.5 at QoS 0, 1.2 at QoS 1). A busy machine makes both slower, not always equally: look at the
spread of the rounds.
"""

import argparse
import json
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import tempfile
import time

WANTED = {0: 1.5, 1: 1.2}
SIZE = 64
ROOT = pathlib.Path(__file__).resolve().parent.parent


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def start_broker(folder, port):
    conf = folder / "mosquitto.conf"
    conf.write_text(
        f"listener {port} 127.0.0.1\nallow_anonymous true\nmax_queued_messages 0\nlog_type error\n"
    )
    broker = subprocess.Popen(["mosquitto", "-c", str(conf)])
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return broker
        except OSError:
            time.sleep(0.05)
    broker.kill()
    sys.exit("mosquitto did not start")


def pair(port, qos, lines, count):
    """Messages a second of mosquitto_pub with mosquitto_sub."""
    common = ["-h", "127.0.0.1", "-p", str(port), "-t", "bench", "-q", str(qos)]
    sub = subprocess.Popen(
        ["mosquitto_sub", *common, "-C", str(count), "-W", "60"], stdout=subprocess.DEVNULL
    )
    time.sleep(0.3)
    with open(lines, "rb") as text:
        start = time.monotonic()
        pub = subprocess.Popen(["mosquitto_pub", *common, "-l"], stdin=text)
        status = sub.wait()
        seconds = time.monotonic() - start
    pub.wait()
    return seconds if status == 0 else None


def ours(espbench, port, qos, count, folder):
    """Messages a second of espbench."""
    command = [
        espbench, "rate", "mqtt", f"127.0.0.1:{port}", "--qos", str(qos), "--size", str(SIZE),
        "--in-flight", "100", "--count", str(count), "--time", "60 s",
        "--store", str(folder / "runs.sqlite"), "--quiet", "--format", "json",
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"espbench failed:\n{done.stderr}")
    cells = {c["metric"]: c["value"] for c in json.loads(done.stdout)["cells"]}
    if cells["messages_lost"] != 0:
        sys.exit(f"espbench lost {cells['messages_lost']} messages")
    return cells["message_rate"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--messages", type=int, default=200_000)
    parser.add_argument("--espbench", default=str(ROOT / "target/release/espbench"))
    args = parser.parse_args()
    if not os.access(args.espbench, os.X_OK):
        sys.exit(f"{args.espbench} is missing: cargo build --release, or name it with --espbench")
    low = False
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        port = free_port()
        broker = start_broker(folder, port)
        try:
            for qos, wanted in WANTED.items():
                # At QoS 1 runs of 75,000 lines and more did not end within mosquitto_sub's 60 s here,
                # for a reason not looked into; runs of 20,000 do.
                count = args.messages if qos == 0 else min(args.messages, 20_000)
                lines, one = folder / "lines", folder / "one"
                lines.write_bytes((b"x" * SIZE + b"\n") * count)
                one.write_bytes(b"x" * SIZE + b"\n")
                start = statistics.median(pair(port, qos, one, 1) or 60 for _ in range(3))
                theirs, mine = [], []
                for _ in range(args.rounds):
                    seconds = pair(port, qos, lines, count)
                    if seconds is None:
                        print(f"QoS {qos}: mosquitto_sub did not get all messages: round not counted")
                        continue
                    theirs.append(count / (seconds - start))
                    mine.append(ours(args.espbench, port, qos, count, folder))
                    print(f"QoS {qos}: mosquitto_pub|sub {theirs[-1]:9.0f}  espbench {mine[-1]:9.0f}")
                if not theirs:
                    sys.exit(f"QoS {qos}: no round of mosquitto_pub and mosquitto_sub was complete")
                a, b = statistics.median(theirs), statistics.median(mine)
                verdict = "ok" if b / a >= wanted else "TOO LOW"
                low |= b / a < wanted
                print(
                    f"QoS {qos}: medians {a:.0f} and {b:.0f} messages/s, ratio {b / a:.2f} "
                    f"(wanted {wanted}): {verdict}"
                )
        finally:
            broker.terminate()
            broker.wait()
    return 1 if low else 0


if __name__ == "__main__":
    sys.exit(main())
