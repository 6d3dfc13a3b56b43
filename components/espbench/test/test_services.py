"""Tests of UDP echo, TCP sink and source, and the console's commands."""

import json
import os
import pathlib
import random
import socket
import sys
import tempfile
import unittest

import support
from support import Device, espbench, free_port, peer, ran


class Services(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.program = support.compile_c("device", [support.HERE / "device.c"])

    def device(self, *commands):
        """Starts a device and types commands."""
        device = Device(self.program)
        self.addCleanup(device.process.kill)
        for command in commands:
            device.type(command)
        return device

    def test_unit(self):
        for standard in ["c99", "c11"]:
            program = support.compile_c(f"unit-{standard}", [support.HERE / "unit.c"], standard=standard)
            self.assertIn("all hold", ran([program]))

    def echo(self, reply):
        """Runs our own echo against the device and returns its cells."""
        port, local = free_port(), free_port()
        device = self.device(f"udp-echo -p {port} -r {local if reply else 0}")
        device.expect(f"port {port}")
        with tempfile.TemporaryDirectory() as folder:
            options = ["-n", "200", "-q", "--format", "json", "--local-port", str(local), "--store", f"{folder}/s"]
            host = f"127.0.0.1:{port}"
            ascii_form = ran([espbench(), "echo", host, "-s", "1,100,900", *options])
            binary = ran([espbench(), "echo", host, "-s", "16,1472", "--binary", "-w", "8", *options])
        cells = []
        for text in [ascii_form, binary]:
            report = json.JSONDecoder().raw_decode(text[text.index("{") :])[0]
            cells += [cell for cell in report["cells"] if cell["origin"] == "measured"]
        counters = device.counters("udp-echo")
        self.assertEqual(counters["packets_in"], counters["packets_out"])
        self.assertGreaterEqual(counters["packets_out"], 5 * 200)
        self.assertEqual(counters["bytes_in"], counters["bytes_out"])
        losses = {cell["payload_bytes"]: cell["value"] for cell in cells if cell["metric"] == "loss"}
        self.assertEqual(losses, dict.fromkeys([1, 100, 900, 16, 1472], 0.0))

    def test_our_echo_is_answered_where_it_listens(self):
        self.echo(reply=True)

    def test_our_echo_is_answered_where_it_sent_from(self):
        self.echo(reply=False)

    def test_binary_probes_are_answered_where_they_came_from(self):
        port = free_port()
        device = self.device(f"udp-echo -p {port} -r {free_port()}")
        device.expect(f"port {port}")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
            udp.settimeout(support.PATIENCE)
            udp.sendto(b"digits\n", ("127.0.0.1", port))
            udp.sendto(b"EBe1" + bytes(12), ("127.0.0.1", port))
            self.assertEqual(udp.recv(100), b"EBe1" + bytes(12))
        self.assertEqual(device.counters("udp-echo")["packets_out"], 2)

    def test_a_plan_runs_on_the_device(self):
        port, local = free_port(), free_port()
        device = self.device(f"udp-echo -p {port} -r 0")
        device.expect(f"port {port}")
        with tempfile.TemporaryDirectory() as folder:
            plan = pathlib.Path(folder) / "plan.toml"
            plan.write_text('name = "device"\n[[measure]]\nkind = "udp-echo"\nsize = [20, 200]\ncount = 100\n')
            target = f"udp:127.0.0.1:{port}"
            options = ["-q", "--format", "csv", "--store", f"{folder}/s", "--local-port", str(local)]
            rows = ran([espbench(), "run", str(plan), "--on", target, *options])
        self.assertIn("rtt_avg", rows)
        self.assertGreaterEqual(device.counters("udp-echo")["packets_out"], 200)

    def test_the_published_client_runs(self):
        sources = os.environ.get("ESPBENCH_SOURCES") or support.missing("the folder of the published documents (ESPBENCH_SOURCES)")
        text = (pathlib.Path(sources) / "smellbomb-udp.txt").read_text()
        port, local = free_port(), free_port()
        client = text[text.index("import time\n") :]
        client = client.replace('("xxx.xxx.xxx.xxx", 10000)', f'("127.0.0.1", {port})', 1)
        client = client.replace('("xxx.xxx.xxx.xxx", 10001)', f'("127.0.0.1", {local})', 1)
        self.assertNotIn("xxx", client)
        device = self.device(f"udp-echo -p {port} -r {local}")
        device.expect(f"port {port}")
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "client.py").write_text(client)
            said = ran([sys.executable, "client.py"], cwd=folder)
            rows = (pathlib.Path(folder) / "udp_benchmark_pc.csv").read_text().splitlines()
        self.assertNotIn("err", said)
        self.assertEqual(len(rows), 24)
        self.assertTrue(all(len(row.split(",")) == 1001 for row in rows))
        counters = device.counters("udp-echo")
        self.assertEqual((counters["packets_in"], counters["packets_out"]), (24 * 1001, 24 * 1001))

    def test_what_echo_does_not_answer_is_counted(self):
        port = free_port()
        device = self.device(f"udp-echo -p {port} -r 0 -l 100")
        device.expect(f"port {port}")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
            udp.settimeout(support.PATIENCE)
            for size in [101, 1400, 100, 0]:
                udp.sendto(b"x" * size, ("127.0.0.1", port))
            self.assertEqual([len(udp.recv(2000)) for _ in range(2)], [100, 0])
        counters = device.counters("udp-echo")
        self.assertEqual((counters["truncated"], counters["packets_out"]), (2, 2))
        # Replies to the port of the echo itself would go to and fro for ever.
        device = self.device(f"udp-echo -p {port} -r {port}")
        device.expect(f"udp-echo .*port {port}")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
            udp.sendto(b"forged", ("127.0.0.1", port))
            device.expect("is not answered")
        counters = device.counters("udp-echo")
        self.assertEqual((counters["not_answered"], counters["packets_out"]), (1, 0))

    def test_the_sink_takes_messages_and_refuses_a_fifth_client(self):
        port = free_port()
        device = self.device(f"tcp-sink -p {port}")
        device.expect(f"port {port}")
        with tempfile.TemporaryDirectory() as folder:
            options = ["-n", "2", "--discard", "0", "-t", "300 ms", "--format", "csv", "-q", "--store", f"{folder}/s"]
            rows = ran([espbench(), "rate", "tcp", f"127.0.0.1:{port}", *options])
        self.assertIn("message_rate", rows)
        clients = [socket.create_connection(("127.0.0.1", port)) for _ in range(4)]
        for _ in clients:
            device.expect(r"\[ +\d+\] tcp-sink")
        with socket.create_connection(("127.0.0.1", port)) as fifth:
            fifth.settimeout(support.PATIENCE)
            self.assertEqual(fifth.recv(1), b"")
        for client in clients:
            client.sendall(b"x" * 100_000)
            client.close()
        for _ in clients:
            device.expect("left after 100000 bytes")
        counters = device.counters("tcp-sink")
        self.assertEqual(counters["connections_refused"], 1)
        self.assertGreater(counters["bytes_in"], 400_000)
        self.assertNotIn("connections_broken", counters)

    def test_the_source_sends_digits_without_a_seam(self):
        port = free_port()
        device = self.device(f"tcp-source -p {port} -l 1000")
        device.expect(f"port {port}")
        got = b""
        with socket.create_connection(("127.0.0.1", port)) as client:
            client.settimeout(support.PATIENCE)
            while len(got) < 3_000_000:
                got += client.recv(65536)
        self.assertEqual(got, (b"0123456789" * (len(got) // 10 + 1))[: len(got)])
        device.expect("left after")
        self.assertGreaterEqual(device.counters("tcp-source")["bytes_out"], 3_000_000)

    def test_a_taken_port_is_an_error_in_words(self):
        port = free_port()
        device = self.device(f"udp-echo -p {port}", f"udp-echo -p {port}", f"tcp-sink -p {port}", f"tcp-source -p {port}")
        device.expect(f"port {port}")
        device.expect("udp-echo: the port is taken")
        device.expect("tcp-source: the port is taken")
        device.end()

    def test_services_stop_and_start_again_on_their_ports(self):
        port = free_port()
        device = self.device()
        for number in range(1, 6):
            device.type(f"udp-echo -p {port}")
            device.expect(f"udp-echo {number}: port {port}")
            device.type(f"espbench stop {number}")
            device.expect(f"espbench: udp-echo {number}: bytes_in=0")
        device.type("espbench stop 99")
        device.expect("no service has that number")
        device.end()

    def test_rubbish_ends_no_service(self):
        ports = [free_port() for _ in range(4)]
        commands = [f"udp-echo -p {ports[0]} -r 0", f"tcp-sink -p {ports[1]}", f"tcp-source -p {ports[2]}", f"iperf -s -p {ports[3]}"]
        device = self.device(*commands)
        device.expect("iperf-udp")
        chance = random.Random(1)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
            for _ in range(3000):
                udp.sendto(chance.randbytes(chance.randrange(300)), ("127.0.0.1", chance.choice([ports[0], ports[3]])))
        for port in ports[1:]:
            for _ in range(10):
                with socket.create_connection(("127.0.0.1", port)) as client:
                    try:
                        client.sendall(chance.randbytes(chance.randrange(1, 400)))
                    except OSError:
                        pass
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
            udp.settimeout(support.PATIENCE)
            udp.sendto(b"still here", ("127.0.0.1", ports[0]))
            self.assertEqual(udp.recv(100), b"still here")
        for command in ["\x01\x02", "iperf -c", "udp-echo " + "9" * 200, "x" * 600]:
            device.type(command)
        device.end()
