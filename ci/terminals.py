#!/usr/bin/env python3
"""Real programs at the consoles of `espbench live --pty`: pyserial, picocom, minicom, esp-idf-monitor and
pytest-embedded. A program that is missing is a failure.

    target/python/bin/python ci/terminals.py target/debug/espbench
"""

import json
import os
import pty
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

import serial

PATIENCE = 60
# What `version` prints on each simulated ESP32.
ANSWER = b"chip_name: esp32"

PYTEST = """
def test_board_answers(dut):
    dut.write("\\r")
    dut.expect_exact("esp32> ")
    dut.serial.proc.write(b"version\\r")
    dut.expect("IDF Version:v[0-9.]+")
    dut.expect_exact("chip_name: esp32")
"""


class Boards:
    """`espbench live --pty`, until it is left."""

    def __init__(self, espbench, *flags):
        self.dir = tempfile.mkdtemp()
        self.links = os.path.join(self.dir, "boards")
        command = [espbench, "live", "--pty", "--link", self.links, "--format", "json"]
        self.process = subprocess.Popen([*command, *flags], stdout=subprocess.PIPE, text=True)
        for line in self.process.stdout:
            if json.loads(line)["type"] == "ready":
                break
        # The boards start, and print their last line of the start after 5 s.
        time.sleep(6)

    def port(self, node):
        return os.path.join(self.links, f"node{node}")

    def end(self):
        """Ends it as Ctrl-C does, and returns its counts."""
        self.process.send_signal(2)
        lines = [json.loads(line) for line in self.process.stdout]
        assert self.process.wait(PATIENCE) == 0
        assert not os.path.exists(self.links), "links are left"
        shutil.rmtree(self.dir)
        return lines[-1]


def read_until(read, wanted):
    """Reads until bytes are there, or fails with all that was read."""
    got, end = b"", time.monotonic() + PATIENCE
    while wanted not in got:
        assert time.monotonic() < end, f"no {wanted!r} in {got!r}"
        got += read()
    return got


def pyserial(boards):
    """Round trips between two boards, by typing at both."""
    ports = [serial.Serial(boards.port(node), 115200, timeout=0.1) for node in (0, 1)]

    def command(port, text, wanted):
        port.write(text + b"\r")
        return read_until(lambda: port.read(4096), wanted)

    command(ports[1], b"espnow_iperf -s", b"listening")
    got = command(ports[0], b"espnow_iperf -c 24:0a:c4:00:00:02 -p -C 20", b"packets transmitted")
    assert b"20 packets transmitted, 20 received" in got + ports[0].read(200), got
    for port in ports:
        port.close()


def terminal(boards, command):
    """Starts a program on a terminal of its own, types `version` and reads the answer."""
    child, terminal = pty.fork()
    if child == 0:
        os.environ["TERM"] = "vt102"
        os.execvp(command[0], command)

    def read():
        if not select.select([terminal], [], [], 0.1)[0]:
            return b""
        try:
            return os.read(terminal, 4096)
        except OSError as error:
            raise AssertionError(f"{command[0]} has ended") from error

    try:
        # It has begun once the board's prompt comes through, which a return draws anew.
        got, end = b"", time.monotonic() + PATIENCE
        while b"esp32> " not in got:
            assert time.monotonic() < end, f"no prompt in {got!r}"
            os.write(terminal, b"\r")
            time.sleep(0.5)
            got += read()
        os.write(terminal, b"version")
        time.sleep(0.2)
        os.write(terminal, b"\r")
        read_until(read, ANSWER)
    finally:
        os.kill(child, 15)
        deadline = time.monotonic() + 5
        while os.waitpid(child, os.WNOHANG)[0] == 0:
            if time.monotonic() > deadline:
                os.kill(child, 9)
            select.select([terminal], [], [], 0.05)
            try:
                os.read(terminal, 4096)
            except OSError:
                pass
        os.close(terminal)


def picocom(boards):
    terminal(boards, ["picocom", "-q", "-b", "115200", boards.port(0)])


def minicom(boards):
    """A terminal itself: it answers cursor queries."""
    terminal(boards, ["minicom", "-o", "-b", "115200", "-D", boards.port(0)])


def bridge(path):
    """Joins a TCP port of loopback to a terminal, until either ends. Returns the port."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        client, _ = listener.accept()
        port = serial.Serial(path, 115200, timeout=0)
        with client, port:
            while True:
                for end in select.select([client, port], [], [])[0]:
                    try:
                        data = client.recv(4096) if end is client else port.read(4096)
                    except OSError:
                        return
                    if end is client and not data:
                        return
                    (port.write if end is client else client.sendall)(data)

    threading.Thread(target=serve, daemon=True).start()
    return listener.getsockname()[1]


def esp_idf_monitor(boards):
    """On a pseudo-terminal it ends at once, as it sets DTR and RTS; over a socket it reads and types."""
    monitor = [sys.executable, "-m", "esp_idf_monitor", "--no-reset", "--port"]
    child, end = pty.fork()
    if child == 0:
        os.execvp(monitor[0], monitor + [boards.port(0)])
    said = b""
    while select.select([end], [], [], PATIENCE)[0]:
        try:
            said += os.read(end, 4096)
        except OSError:
            break
    os.waitpid(child, 0)
    os.close(end)
    assert b"Inappropriate ioctl for device" in said and b"failed" in said, said
    terminal(boards, monitor + [f"socket://127.0.0.1:{bridge(boards.port(0))}"])


def pytest_embedded(boards):
    test = os.path.join(boards.dir, "test_board.py")
    with open(test, "w", encoding="utf-8") as file:
        file.write(PYTEST)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", test]
    command += ["--embedded-services", "serial", "--port", boards.port(1), "--baud", "115200"]
    ran = subprocess.run(command, cwd=boards.dir, capture_output=True, timeout=PATIENCE, check=False)
    assert ran.returncode == 0, (ran.stdout + ran.stderr).decode(errors="replace")


def main():
    for program in ("picocom", "minicom"):
        assert shutil.which(program), f"{program} is missing"
    espbench = os.path.abspath(sys.argv[1])
    for flags, steps in (
        ([], [pyserial, picocom, esp_idf_monitor, pytest_embedded, minicom]),
        (["--answer-cursor"], [pyserial]),
    ):
        boards = Boards(espbench, *flags)
        for step in steps:
            step(boards)
            print(f"{step.__name__}: passed", flush=True)
        end = boards.end()
        for device in end["devices"]:
            assert device["typed_lost"] == device["overrun"] == 0, end
        times, longest = end["behind_times"], end["behind_longest_ms"]
        print(f"behind the clock: {times} times, {longest:.0f} ms at most")


if __name__ == "__main__":
    main()
