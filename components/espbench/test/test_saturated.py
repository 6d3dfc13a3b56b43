"""Tests that the prompt of a device answers within a second while a service is sent more than it can take."""

import re
import unittest

import sdk
import support
from support import COMPONENT, ran
from test_fuzz import WRAPPED

SERVICES = "tcp-sink tcp-source udp-echo iperf-tcp iperf-udp iperf-client-tcp iperf-client-udp".split()
# Priorities of the tasks that read commands: esp_console's in ESP-IDF, Arduino's loop(). The main task of ESP8266_RTOS_SDK has
# at least that of loop().
ESP_CONSOLE, LOOP = 2, 1
DEFAULT = int(sdk.kconfig(COMPONENT / "Kconfig")["CONFIG_ESPBENCH_TASK_PRIORITY"])


class Saturated(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        options = [f"-Wl,--wrap={name}" for name in WRAPPED]
        cls.program = support.compile_c("saturated", [support.HERE / "saturated.c"], options)

    def answered(self, service, priority, console):
        """Returns the microseconds in which the console answers; None where it never does."""
        said = ran([self.program, service, str(priority), str(console)])
        told = re.search(r"(\d+) bytes, answered (?:after (\d+) us|never)", said)
        # The service was busy all the time.
        self.assertGreater(int(told[1]), 50_000_000, said)
        return int(told[2]) if told[2] else None

    def test_a_console_answers_within_a_second_beside_each_service(self):
        for service in SERVICES:
            for console in [ESP_CONSOLE, LOOP]:
                with self.subTest(service=service, console=console):
                    self.assertLessEqual(self.answered(service, DEFAULT, console), 1_000_000)

    def test_a_console_below_a_service_never_answers(self):
        for service in SERVICES:
            with self.subTest(service=service):
                self.assertIsNone(self.answered(service, 5, ESP_CONSOLE))

    def test_the_default_is_one_everywhere_and_is_no_higher_than_a_console(self):
        # Arduino has no Kconfig.
        port = (COMPONENT / "src" / "espbench_port_freertos.c").read_text()
        own = int(re.search(r"#define CONFIG_ESPBENCH_TASK_PRIORITY (\d+)", port)[1])
        self.assertEqual(own, DEFAULT)
        self.assertLessEqual(DEFAULT, LOOP)
        console = re.search(r"ESP_CONSOLE_REPL_CONFIG_DEFAULT\(\) \{NULL, 4096, (\d+)\}", (sdk.STUBS / "esp_console.h").read_text())
        self.assertEqual(int(console[1]), ESP_CONSOLE)
