"""Both ends of iperf 2 on this machine, and how their totals are held against each other."""

import unittest

import support
from support import Device, Lines, free_port, intervals, peer

MOST_LOSS = 0.02
# Bytes of a datagram.
LENGTH = 1470


class IperfCase(unittest.TestCase):
    """A test with the device as server or client of iperf."""

    @classmethod
    def setUpClass(cls):
        cls.program = support.compile_c("device", [support.HERE / "device.c"])

    def server(self, interval=1):
        """Starts the device as a server; returns it and its port."""
        port = free_port()
        device = Device(self.program)
        self.addCleanup(device.process.kill)
        device.type(f"iperf -s -i {interval} -p {port}")
        device.expect("iperf-udp .*port")
        return device, port

    def client(self, *options, patience=support.PATIENCE):
        """Runs the device as a client to its end; returns its lines and counters."""
        device = Device(self.program)
        self.addCleanup(device.process.kill)
        device.type(" ".join(["iperf", "-i", "1", *options]))
        device.expect(r"espbench: iperf-client \d+:", patience)
        return device.all, device.counters("iperf-client")

    def iperf_server(self, *options):
        """Starts iperf 2.1.8 as a server; returns it and its port."""
        port = free_port()
        server = Lines(["stdbuf", "-oL", peer("iperf"), "-s", "-i", "1", "-p", str(port), *options])
        self.addCleanup(server.process.kill)
        server.expect("Server listening")
        server.expect("-----")
        return server, port

    def check_tcp(self, ours, theirs):
        """Holds both ends' totals against each other."""
        ours, theirs = intervals(ours)[-1], intervals(theirs)[-1]
        self.assertGreater(ours["bytes"], 10_000_000)
        self.assertAlmostEqual(ours["bytes"] / theirs["bytes"], 1, delta=0.02)

    def check_udp(self, receiver, rate, seconds, skipped=0):
        """Holds a receiver's total against what was offered; `skipped` is what our sender counts as not caught up.

        So a machine that stands still for a while fails nothing.
        """
        offered = (receiver["all"] + skipped) * LENGTH * 8 / seconds
        self.assertAlmostEqual(offered / rate, 1, delta=0.15)
        self.assertAlmostEqual(receiver["to"], seconds, delta=0.5)
        self.assertLessEqual(receiver["lost"], receiver["all"] * MOST_LOSS)
