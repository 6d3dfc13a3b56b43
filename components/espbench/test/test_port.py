"""Tests of the port to FreeRTOS, which runs here over stand-ins for the SDK's headers (stubs/README.md)."""

import os
import re
import socket
import subprocess
import unittest

import sdk
import support
from support import Device, Lines, free_port, intervals, peer, ran

# Not the defaults, so that a setting which is not heeded shows.
SETTINGS = {"CONFIG_ESPBENCH_SERVICES": "5", "CONFIG_ESPBENCH_STREAMS": "2", "CONFIG_ESPBENCH_TASK_STACK": "5120"}


class Port(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        kind = sdk.idf((5, 3))
        folder = sdk.sdkconfig("device-freertos", {**kind.settings, "CONFIG_ESP_CONSOLE_UART_DEFAULT": "1", **SETTINGS})
        options = ["-DESP_PLATFORM", *sdk.includes(kind, folder)]
        sources = [support.HERE / "device.c", sdk.STUBS / "console.c"]
        cls.program = support.compile_c("device-freertos", sources, options, standard="gnu99")

    def device(self, **environment):
        """Starts a device on the port to FreeRTOS."""
        os.environ.update(environment)
        try:
            device = Device(self.program)
        finally:
            for name in environment:
                del os.environ[name]
        self.addCleanup(device.process.kill)
        return device

    def test_services_run_on_ticks_of_ten_milliseconds(self):
        device, port = self.device(), free_port()
        device.type(f"iperf -s -p {port}")
        device.expect("iperf-udp .*port")
        received = []
        for options in [["-R"], ["-u", "-b", "5M"], ["-u", "-R", "-b", "5M"]]:
            said = ran([peer("iperf"), "-c", "127.0.0.1", "-p", str(port), "-t", "1", *options])
            received.append(intervals(said)[-1])
        device.type("nothing")
        device.expect("status 1")
        # What this machine stood still for is skipped, and counted, where the device sends.
        skipped = device.counters("iperf-udp").get("skipped", 0)
        for last, missed in zip(received[1:], [0, skipped]):
            self.assertAlmostEqual((last["all"] + missed) * 1470 * 8 / 5e6, 1, delta=0.15)
            self.assertLessEqual(last["lost"], last["all"] * 0.02)

    def test_settings_of_the_sdk_bound_services_and_streams(self):
        device, port = self.device(STUB_TASKS="1"), free_port()
        device.type(f"tcp-sink -p {port}")
        device.expect("task tcp-sink: stack 5120, priority 1")
        connections = [socket.create_connection(("127.0.0.1", port), timeout=support.PATIENCE) for _ in range(3)]
        self.assertEqual(connections[2].recv(1), b"")
        for _ in range(4):
            device.type(f"udp-echo -p {free_port()}")
        device.type(f"udp-echo -p {free_port()}")
        device.expect("too many services are running")
        for connection in connections:
            connection.close()
        counters = device.counters("tcp-sink")
        self.assertEqual((counters["connections"], counters["connections_refused"]), (2, 1))

    def test_a_refused_send_keeps_its_number(self):
        port = free_port()
        server = Lines(["stdbuf", "-oL", peer("iperf"), "-s", "-u", "-p", str(port)])
        self.addCleanup(server.process.kill)
        server.expect("Server listening")
        device = self.device(STUB_REFUSE="20")
        device.type(f"iperf -c 127.0.0.1 -u -b 2M -t 2 -p {port}")
        device.expect("Server Report")
        device.expect(r"espbench: iperf-client \d+:")
        counters = device.counters("iperf-client")
        report = intervals(device.all)[-1]
        self.assertGreater(counters["no_memory"], 10)
        self.assertEqual((report["lost"], counters.get("lost", 0)), (0, 0))
        # All that came due in two seconds was sent, or counted as skipped where this machine stood still.
        due = 2 * 2_000_000 / (1470 * 8)
        self.assertAlmostEqual((counters["packets_out"] + counters.get("skipped", 0)) / due, 1, delta=0.05)
        server.end(kill=True)

    def test_all_sources_are_in_the_build_and_documented_settings_exist(self):
        listed = set(re.findall(r"src/(\w+\.c)", (support.COMPONENT / "CMakeLists.txt").read_text()))
        there = {path.name for path in (support.COMPONENT / "src").glob("*.c")}
        self.assertEqual(there - listed, {"espbench_port_posix.c"})
        self.assertEqual(listed - there, set())
        settings = set(re.findall(r"^ +config (\w+)", (support.COMPONENT / "Kconfig").read_text(), re.M))
        sources = "".join(path.read_text() for path in support.COMPONENT.glob("*/*.[ch]"))
        used = set(re.findall(r"CONFIG_(ESPBENCH_\w+)", sources))
        self.assertEqual(settings, used)

    def test_an_esp8266_of_arduino_is_refused_with_words(self):
        source = support.COMPONENT / "src" / "espbench_net.c"
        command = ["gcc", "-fsyntax-only", "-DARDUINO_ARCH_ESP8266", "-I", str(support.COMPONENT / "include"), str(source)]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("use ESP8266_RTOS_SDK", done.stderr)
