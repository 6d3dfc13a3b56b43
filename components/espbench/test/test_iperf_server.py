"""Tests of the device as iperf 2's server, against iperf 2.1.8 and our own command; and of both ends with the latter."""

import json
import re
import socket
import tempfile

from iperf_case import MOST_LOSS, IperfCase
from support import Lines, espbench, free_port, intervals, peer, ran


class IperfServer(IperfCase):
    def test_server_tcp(self):
        device, port = self.server()
        said = ran([peer("iperf"), "-c", "127.0.0.1", "-p", str(port), "-t", "2", "-i", "1"])
        lines = device.end()
        self.check_tcp(lines, said)
        first, second = intervals(lines)[:2]
        self.assertEqual((first["from"], first["to"], second["from"]), (0, 1, 1))
        self.assertAlmostEqual(second["to"], 2, delta=0.1)

    def test_server_tcp_with_four_streams_and_a_fifth_refused(self):
        device, port = self.server()
        said = ran([peer("iperf"), "-c", "127.0.0.1", "-p", str(port), "-t", "1", "-P", "4"])
        self.assertEqual(len(re.findall(r"connected with", said)), 4)
        counters = device.counters("iperf-tcp")
        self.assertEqual(counters["connections"], 4)
        self.assertNotIn("connections_broken", counters)

    def test_server_tcp_reverse(self):
        device, port = self.server()
        said = ran([peer("iperf"), "-c", "127.0.0.1", "-p", str(port), "-t", "1", "-i", "1", "-R"])
        self.check_tcp(device.end(), said)

    def test_server_udp(self):
        device, port = self.server()
        said = ran([peer("iperf"), "-c", "127.0.0.1", "-p", str(port), "-u", "-b", "5M", "-t", "2", "-i", "1"])
        ours = intervals(device.end())[-1]
        reported = intervals(said)[-1]
        sent = int(re.search(r"Sent (\d+) datagrams", said)[1])
        self.check_udp(ours, 5e6, 2)
        # The last line of theirs is our report, as they read it.
        self.assertIn("Server Report", said)
        self.assertEqual((reported["lost"], reported["all"]), (ours["lost"], ours["all"]))
        self.assertAlmostEqual(ours["all"], sent, delta=1)

    def test_server_udp_reverse(self):
        device, port = self.server()
        options = ["-u", "-R", "-b", "5M", "-t", "1", "-i", "1"]
        said = ran([peer("iperf"), "-c", "127.0.0.1", "-p", str(port), *options])
        skipped = device.counters("iperf-udp").get("skipped", 0)
        self.check_udp(intervals(said)[-1], 5e6, 1, skipped)
        ours = intervals(device.all)[-1]
        self.assertAlmostEqual(ours["bytes"] / intervals(said)[-1]["bytes"], 1, delta=0.02)

    def test_our_command_in_all_directions(self):
        device, port = self.server(interval=0)
        for options in [[], ["-R"], ["-u", "-b", "5M"], ["-u", "-R", "-b", "5M"]]:
            with self.subTest(options=options), tempfile.TemporaryDirectory() as folder:
                command = [espbench(), "iperf", "-c", "127.0.0.1", "-p", str(port), "-t", "1", *options]
                text = ran([*command, "--format", "json", "--store", f"{folder}/s"])
                report = json.JSONDecoder().raw_decode(text[text.index("{") :])[0]
                cells = {cell["metric"]: cell["value"] for cell in report["cells"] if cell["origin"] == "measured"}
                if "-u" in options:
                    self.assertLessEqual(cells["loss"], 100 * MOST_LOSS)
                else:
                    theirs = cells["throughput_tx" if "-R" in options else "throughput_rx"]
                    ours = intervals(device.expect(r"^\[ *\d+\] 0\.00-.*bits/sec$").string)[-1]
                    # Each end has its own second, and a busy machine keeps them apart.
                    self.assertAlmostEqual(theirs * 1e6 / ours["rate"], 1, delta=0.5)
        device.end()
        with tempfile.TemporaryDirectory() as folder:
            own = free_port()
            server = Lines([espbench(), "iperf", "-s", "-p", str(own), "-t", "60", "--store", f"{folder}/s"])
            self.addCleanup(server.process.kill)
            server.expect("listen|serve|port")
            for options in ["", "-R", "-u -b 5M", "-u -R -b 5M"]:
                with self.subTest(server=options):
                    lines, counters = self.client(f"-c 127.0.0.1 -p {own} -t 1 {options}")
                    self.assertNotIn("connections_broken", counters)
                    last = intervals(lines)[-1]
                    self.assertAlmostEqual(last["to"], 1, delta=0.3)
            server.end(kill=True)

    def test_latency_under_load_finds_the_echo_beside_iperf(self):
        device, port = self.server(interval=0)
        echo = free_port()
        device.type(f"udp-echo -p {echo}")
        device.expect(f"udp-echo .*port {echo}")
        with tempfile.TemporaryDirectory() as folder:
            options = ["--latency", f"udp:{echo}", "--latency-idle", "500 ms", "--format", "json", "--store", f"{folder}/s"]
            text = ran([espbench(), "iperf", "-c", "127.0.0.1", "-p", str(port), "-u", "-b", "3M", "-t", "1", *options])
        report = json.JSONDecoder().raw_decode(text[text.index("{") :])[0]
        metrics = {cell["metric"] for cell in report["cells"] if cell["origin"] == "measured"}
        self.assertTrue({"rtt_idle_p50", "rtt_loaded_p50"} <= metrics, metrics)
        self.assertGreater(device.counters("udp-echo")["packets_out"], 20)

    def test_what_is_not_served_is_said(self):
        device, port = self.server()
        ran([peer("iperf"), "-c", "127.0.0.1", "-p", str(port), "-t", "1", "--full-duplex"], patience=20)
        device.expect("asks for --full-duplex, which is not served here")
        with socket.create_connection(("127.0.0.1", port)) as client:
            client.sendall(b"abcdefghijklmnopqrstuvwxyz0123456789\0")
            device.expect("is an iperf3 client")
        device.end()

    def test_a_plain_stream_and_esp_idfs_datagrams_are_counted(self):
        device, port = self.server()
        with socket.create_connection(("127.0.0.1", port)) as client:
            client.sendall(bytes(100_000))
        device.expect(r"\[  1\] 0.00-0.0\d sec  97.7 KBytes")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
            for number in [0, 1, 2, 4, 3, 3, 7]:
                udp.sendto(number.to_bytes(4, "big") + bytes(1466), ("127.0.0.1", port))
        device.expect("silent for 10 s without a last datagram")
        counters = device.counters("iperf-udp")
        self.assertEqual([counters[name] for name in ["packets_in", "lost", "out_of_order", "duplicates"]], [7, 2, 1, 1])
