"""Tests of the MicroPython module in MicroPython's Unix port."""

import json
import os
import random
import re
import shutil
import signal
import socket
import tempfile
import unittest

import support
from support import Lines, espbench, free_port, intervals, peer, ran

MODULE = support.COMPONENT / "micropython"


def micropython():
    """Returns the path of MicroPython: the path's, or what ci/micropython.sh has brought."""
    brought = support.OUT.parent / "micropython" / "micropython"
    return shutil.which("micropython") or (str(brought) if brought.is_file() else support.missing("the program `micropython`"))


class MicroPython(unittest.TestCase):
    def start(self, *calls):
        """Starts a device with these services in MicroPython."""
        lines = ["import espbench", "device = espbench.Device()", *(f"device.{call}" for call in calls), "print('ready')", "device.run()"]
        environment = {**os.environ, "MICROPYPATH": str(MODULE)}
        device = Lines([micropython(), "-c", "\n".join(lines)], env=environment)
        self.addCleanup(device.process.kill)
        device.expect("ready")
        return device

    def counters(self, device, name):
        """Ends a device as Ctrl-C does and returns the counters of a service."""
        device.process.send_signal(signal.SIGINT)
        found = device.expect(rf"espbench: {name}: (.*)")
        device.end()
        return {key: int(value) for key, value in (pair.split("=") for pair in found[1].split())}

    def test_our_echo_is_answered(self):
        port, local = free_port(), free_port()
        device = self.start(f"udp_echo({port}, {local}, 900)")
        with tempfile.TemporaryDirectory() as folder:
            options = ["-n", "100", "-q", "--format", "json", "--local-port", str(local), "--store", f"{folder}/s"]
            text = ran([espbench(), "echo", f"127.0.0.1:{port}", "-s", "16,100,900", "--binary", *options])
        report = json.JSONDecoder().raw_decode(text[text.index("{") :])[0]
        losses = [cell["value"] for cell in report["cells"] if cell["metric"] == "loss" and cell["origin"] == "measured"]
        self.assertEqual(losses, [0, 0, 0])
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
            udp.bind(("127.0.0.1", local))
            udp.settimeout(support.PATIENCE)
            udp.sendto(b"x" * 901, ("127.0.0.1", port))
            udp.sendto(b"the last", ("127.0.0.1", port))
            self.assertEqual(udp.recv(100), b"the last")
        counters = self.counters(device, "udp-echo")
        self.assertEqual(counters["truncated"], 1)
        self.assertGreaterEqual(counters["packets_out"], 300)
        # Ctrl-C may come after the last answer was sent and before it was counted.
        self.assertIn(counters["packets_in"] - counters["packets_out"] - counters["truncated"], (0, 1))

    def test_the_sink_takes_messages_and_the_source_sends_digits(self):
        sink, source = free_port(), free_port()
        device = self.start(f"tcp_sink({sink})", f"tcp_source({source}, 1000)")
        with tempfile.TemporaryDirectory() as folder:
            options = ["-n", "1", "--discard", "0", "-t", "300 ms", "--format", "csv", "-q", "--store", f"{folder}/s"]
            self.assertIn("message_rate", ran([espbench(), "rate", "tcp", f"127.0.0.1:{sink}", *options]))
        got = b""
        with socket.create_connection(("127.0.0.1", source)) as client:
            client.settimeout(support.PATIENCE)
            while len(got) < 500_000:
                got += client.recv(65536)
        self.assertEqual(got, (b"0123456789" * (len(got) // 10 + 1))[: len(got)])
        clients = [socket.create_connection(("127.0.0.1", sink)) for _ in range(5)]
        clients[4].settimeout(support.PATIENCE)
        self.assertEqual(clients[4].recv(1), b"")
        for client in clients:
            client.close()
        self.assertEqual(self.counters(device, "tcp-sink")["connections_refused"], 1)

    def test_iperf_server(self):
        port = free_port()
        device = self.start(f"iperf_server({port})")
        said = ran([peer("iperf"), "-c", "127.0.0.1", "-p", str(port), "-t", "1"])
        ours = intervals(device.expect("bits/sec").string)[-1]
        self.assertAlmostEqual(ours["bytes"] / intervals(said)[-1]["bytes"], 1, delta=0.02)
        said = ran([peer("iperf"), "-c", "127.0.0.1", "-p", str(port), "-u", "-b", "3M", "-t", "1"])
        ours, reported = intervals(device.expect("bits/sec.* ms ").string)[-1], intervals(said)[-1]
        self.assertIn("Server Report", said)
        self.assertEqual((reported["lost"], reported["all"]), (ours["lost"], ours["all"]))
        self.assertAlmostEqual(reported["rate"] / 3e6, 1, delta=0.1)
        self.assertAlmostEqual(ours["all"], int(re.search(r"Sent (\d+) datagrams", said)[1]), delta=1)
        with tempfile.TemporaryDirectory() as folder:
            for options in [[], ["-u", "-b", "3M"]]:
                command = [espbench(), "iperf", "-c", "127.0.0.1", "-p", str(port), "-t", "1", *options]
                ran([*command, "--store", f"{folder}/s"])
        counters = self.counters(device, "iperf-udp")
        self.assertEqual(counters["connections"], 2)
        self.assertEqual(counters.get("strays", 0), 0)

    def test_rubbish_ends_nothing(self):
        echo, iperf = free_port(), free_port()
        device = self.start(f"udp_echo({echo}, 0)", f"iperf_server({iperf})")
        chance = random.Random(1)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
            for size in range(0, 200):
                udp.sendto(chance.randbytes(size), ("127.0.0.1", iperf))
        for size in [1, 3, 4, 24, 60, 400]:
            with socket.create_connection(("127.0.0.1", iperf)) as client:
                client.sendall(chance.randbytes(size))
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
            udp.settimeout(support.PATIENCE)
            udp.sendto(b"still here", ("127.0.0.1", echo))
            self.assertEqual(udp.recv(100), b"still here")
        self.counters(device, "udp-echo")
