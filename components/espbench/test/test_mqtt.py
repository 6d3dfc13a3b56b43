"""Tests of numbered messages, through mosquitto and libmosquitto, against mosquitto's clients and our own command."""

import json
import pathlib
import socket
import subprocess
import tempfile
import time
import unittest

import support
from support import Device, Lines, espbench, free_port, peer, ran


class Mqtt(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not pathlib.Path("/usr/include/mosquitto.h").is_file():
            support.missing("libmosquitto-dev")
        sources, options = [support.HERE / "device.c"], ["-DWITH_MOSQUITTO"]
        cls.program = support.compile_c("device-mqtt", sources, options, ["-lmosquitto"])

    def setUp(self):
        """Starts a broker, which tells of each packet."""
        self.port = free_port()
        self.broker = Lines([peer("mosquitto"), "-v", "-p", str(self.port)])
        self.addCleanup(self.broker.end, kill=True)
        until = time.monotonic() + support.PATIENCE
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return
            except OSError:
                self.assertLess(time.monotonic(), until, "the broker did not start")
                time.sleep(0.05)

    def device(self, *more):
        """Starts a device with an MQTT client."""
        device = Device(self.program, "127.0.0.1", str(self.port), *more)
        self.addCleanup(device.process.kill)
        return device

    def subscribed(self, topic, count):
        """Starts mosquitto's subscriber, once the broker has confirmed it."""
        command = ["stdbuf", "-oL", peer("mosquitto_sub"), "-d", "-p", str(self.port), "-t", topic, "-C", str(count)]
        subscriber = Lines(command)
        self.addCleanup(subscriber.process.kill)
        subscriber.expect("Subscribed")
        return subscriber

    def publish(self, topic, *numbers):
        """Publishes numbers as text."""
        text = "".join(f"{number}\n" for number in numbers)
        command = [peer("mosquitto_pub"), "-p", str(self.port), "-t", topic, "-q", "1", "-l"]
        subprocess.run(command, input=text, text=True, check=True, timeout=support.PATIENCE)

    def test_messages_as_text_come_in_order(self):
        subscriber = self.subscribed("bench/text", 30)
        device = self.device()
        device.type("mqtt-bench -t bench/text -n 30 -r 100 -q 1 -x")
        lines = [line for line in subscriber.end() if line.startswith("Sample")]
        self.assertEqual(lines, [f"Sample #{number}" for number in range(30)])
        device.expect(r"espbench: mqtt-bench \d+:")
        counters = device.counters("mqtt-bench")
        self.assertEqual((counters["packets_out"], counters.get("publish_refused", 0)), (30, 0))

    def test_our_command_counts_every_message(self):
        with tempfile.TemporaryDirectory() as folder:
            options = ["--listen", "--topic", "bench/#", "-t", "5 s", "--store", f"{folder}/s", "--format", "json", "-q"]
            command = [espbench(), "rate", "mqtt", f"127.0.0.1:{self.port}", *options]
            listener = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            self.addCleanup(listener.kill)
            # It counts from the first message that it hears.
            self.broker.expect("Sending SUBACK")
            device = self.device()
            device.type("mqtt-bench -t bench/binary -n 300 -r 150 -s 200 -q 1")
            text = listener.communicate(timeout=support.PATIENCE)[0]
        self.assertEqual(listener.returncode, 0, text)
        report = json.JSONDecoder().raw_decode(text[text.index("{") :])[0]
        cells = {cell["metric"]: cell for cell in report["cells"] if cell["origin"] == "measured"}
        self.assertEqual(cells["loss"]["value"], 0)
        self.assertEqual(cells["message_rate"]["n"], 300)
        # Of n messages over the n - 1 periods between them: the silence after the last is none.
        self.assertAlmostEqual(cells["message_rate"]["value"], 150, delta=20)
        self.assertEqual(device.counters("mqtt-bench")["packets_out"], 300)

    def test_gaps_are_counted_where_messages_come(self):
        device = self.device("bench/in/#")
        number = int(device.expect(r"listening (\d+)")[1])
        self.broker.expect("Sending SUBACK")
        self.publish("bench/in/a", 7, 8, 11, 10, 11, "none", 12)
        device.type(f"sleep 500\nespbench stop {number}")
        counters = device.counters("mqtt-listen")
        names = ["packets_in", "lost", "out_of_order", "duplicates", "strays"]
        self.assertEqual([counters[name] for name in names], [6, 1, 1, 1, 1])

    def test_what_a_client_refuses_is_counted_not_sent_again(self):
        device = self.device()
        device.type("mqtt-bench -n 40 -r 20")
        for _ in range(10):
            self.broker.expect("Received PUBLISH")
        self.broker.process.kill()
        device.expect(r"espbench: mqtt-bench \d+:")
        counters = device.counters("mqtt-bench")
        self.assertEqual(counters["packets_out"] + counters["publish_refused"], 40)
        self.assertGreater(counters["publish_refused"], 5)

    def test_without_a_client_it_says_so(self):
        device = Device(self.program)
        device.type("mqtt-bench")
        device.expect("no MQTT client was set")
        device.end()
