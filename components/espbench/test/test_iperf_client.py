"""Tests of the device as iperf 2's client, against iperf 2.1.8."""

from iperf_case import IperfCase
from support import Device, free_port, intervals


class IperfClient(IperfCase):
    def test_client_tcp(self):
        server, port = self.iperf_server()
        lines, counters = self.client(f"-c 127.0.0.1 -p {port} -t 2")
        server.expect(r"0\.0+-(1\.[89]|[2-9]).*bits/sec")
        self.check_tcp(lines, server.end(kill=True))
        self.assertNotIn("connections_broken", counters)

    def test_client_tcp_at_a_rate_and_by_bytes(self):
        server, port = self.iperf_server()
        lines, counters = self.client(f"-c 127.0.0.1 -p {port} -t 2 -b 8M")
        offered = intervals(lines)[-1]["rate"] + counters.get("skipped", 0) * 4096 * 8 / 2
        self.assertAlmostEqual(offered, 8e6, delta=1.2e6)
        lines, counters = self.client(f"-c 127.0.0.1 -p {port} -n 3M")
        self.assertEqual(counters["bytes_out"], 3_000_000)
        server.end(kill=True)

    def test_client_tcp_reverse(self):
        server, port = self.iperf_server()
        lines, counters = self.client(f"-c 127.0.0.1 -p {port} -t 1 -R")
        server.expect(r"0\.0+-(0\.[89]|[1-9]).*bits/sec")
        self.check_tcp(lines, server.end(kill=True))
        self.assertNotIn("connections_broken", counters)

    def test_client_udp(self):
        server, port = self.iperf_server("-u")
        lines, counters = self.client(f"-c 127.0.0.1 -p {port} -u -b 5M -t 2")
        self.assertIn("[  1] Server Report:", lines)
        report = intervals(lines)[-1]
        self.check_udp(report, 5e6, 2, counters.get("skipped", 0))
        theirs = intervals(server.end(kill=True))[-1]
        self.assertEqual((theirs["lost"], theirs["all"]), (report["lost"], report["all"]))
        self.assertAlmostEqual(counters["packets_out"], report["all"], delta=1)

    def test_client_udp_reverse(self):
        server, port = self.iperf_server("-u")
        lines, counters = self.client(f"-c 127.0.0.1 -p {port} -u -R -b 5M -t 1")
        self.check_udp(intervals(lines)[-1], 5e6, 1)
        self.assertNotIn("strays", counters)
        server.end(kill=True)

    def test_client_says_why_it_cannot(self):
        lines, counters = self.client(f"-c 127.0.0.1 -p {free_port()} -t 1")
        self.assertIn("nothing listens on that port", "\n".join(lines))
        self.assertEqual(counters["connections_broken"], 1)
        lines, _ = self.client(f"-c no-such-host.invalid -p {free_port()} -t 1", patience=60)
        self.assertIn("no IPv4 address", "\n".join(lines))
        lines, counters = self.client(f"-c 127.0.0.1 -p {free_port()} -u -t 1")
        self.assertIn("no report came", "\n".join(lines))

    def test_a_client_is_stopped_in_the_midst(self):
        _, port = self.iperf_server()
        device = Device(self.program)
        self.addCleanup(device.process.kill)
        device.type(f"iperf -c 127.0.0.1 -p {port} -t 1000")
        device.expect("iperf-client 127")
        echo = free_port()
        device.type(f"udp-echo -p {echo}")
        device.expect("udp-echo 2")
        device.type("iperf -a")
        device.expect("espbench: iperf-client 1: ")
        device.type("espbench list")
        device.expect("espbench: udp-echo 2 runs")
        device.end()
