"""Tests of the port to FreeRTOS and of the examples, against stand-ins for the SDKs' headers (stubs/README.md)."""

import os
import re
import subprocess
import unittest

import support
from support import Device, Lines, free_port, intervals, peer, ran

STUBS = support.HERE / "stubs"
EXAMPLES = support.COMPONENT / "examples"


class Port(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        options = ["-DESP_PLATFORM", "-I", str(STUBS)]
        sources = [support.HERE / "device.c", STUBS / "console.c"]
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
        for options in [["-R"], ["-u", "-R", "-b", "5M"], ["-u", "-b", "5M"]]:
            said = ran([peer("iperf"), "-c", "127.0.0.1", "-p", str(port), "-t", "1", *options])
            last = intervals(said)[-1]
            if "-u" in options:
                self.assertAlmostEqual(last["rate"] / 5e6, 1, delta=0.15)
                self.assertLessEqual(last["lost"], last["all"] * 0.02)
        device.type("nothing")
        device.expect("status 1")
        device.end()

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
        self.assertAlmostEqual(report["rate"] / 2e6, 1, delta=0.15)
        server.end(kill=True)

    def test_examples_compile_in_their_variants(self):
        flags = ["-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-I", str(STUBS), "-I", str(support.COMPONENT / "include")]
        idf, rtos = EXAMPLES / "idf" / "main" / "main.c", EXAMPLES / "rtos-sdk" / "main" / "main.c"
        stations = [["-DCONFIG_EXAMPLE_STATION"], ["-DCONFIG_EXAMPLE_STATION", "-DCONFIG_EXAMPLE_PS_NONE"], ["-DCONFIG_EXAMPLE_SOFTAP"]]
        idfs = [[], ["-DESP_IDF_VERSION=0x040400"], ["-DCONFIG_ESP_CONSOLE_USB_SERIAL_JTAG"], ["-DCONFIG_ESP_CONSOLE_USB_CDC"]]
        variants = [(idf, [*mode, *version]) for mode in stations for version in idfs]
        variants += [(rtos, [*mode, "-DCONFIG_IDF_TARGET_ESP8266"]) for mode in stations]
        for source, variant in variants:
            with self.subTest(source=source.parent.parent.name, variant=variant):
                for password in ["", "12345678"]:
                    secret = [f'-DCONFIG_EXAMPLE_PASSWORD="{password}"']
                    # What strncpy cuts is cut on purpose: an SSID of 32 bytes has no zero behind it.
                    command = ["gcc", "-std=gnu11", "-DESP_PLATFORM", "-D_DEFAULT_SOURCE", *flags, *variant, *secret, str(source)]
                    subprocess.run(command, check=True)
        for name in ["Station", "SoftAP"]:
            sketch = EXAMPLES / name / f"{name}.ino"
            subprocess.run(["g++", "-std=gnu++11", "-x", "c++", *flags, str(sketch)], check=True)

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
