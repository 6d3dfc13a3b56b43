"""What the tests share: building, the device on this machine, peers and ports."""

import fcntl
import itertools
import os
import pathlib
import queue
import re
import shutil
import socket
import subprocess
import threading
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
COMPONENT = HERE.parent
ROOT = COMPONENT.parent.parent
OUT = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "component"
PATIENCE = 30

WARNINGS = ["-Wall", "-Wextra", "-Werror", "-Wshadow", "-Wstrict-prototypes", "-Wconversion", "-Wno-sign-conversion"]
SANITIZERS = ["-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]


def missing(what):
    """Skips a test where a peer is missing; in CI, where all are installed, fails it."""
    if os.environ.get("CI") == "true":
        raise AssertionError(f"{what} is missing")
    raise unittest.SkipTest(f"{what} is missing")


def peer(program):
    """Returns the path of a program that tests talk to."""
    found = shutil.which(program) or shutil.which(program, path="/usr/sbin:/usr/bin")
    return found or missing(f"the program `{program}`")


def espbench():
    """Returns the path of our own command."""
    named = os.environ.get("ESPBENCH")
    path = pathlib.Path(named) if named else OUT.parent / "debug" / "espbench"
    if not path.is_file():
        missing(f"{path} (cargo build -p espbench)")
    return str(path)


def compile_c(name, sources, options=(), libraries=(), standard="c99"):
    """Builds a program under the sanitizers, with the component's sources; returns its path.

    One that is newer than all sources and headers is kept; files of tests run beside each other, so that one builds
    and the others wait.
    """
    OUT.mkdir(parents=True, exist_ok=True)
    program = OUT / name
    core = sorted(str(path) for path in (COMPONENT / "src").glob("*.c"))
    folders = ["-I", str(COMPONENT / "include"), "-I", str(COMPONENT / "src")]
    command = ["gcc", f"-std={standard}", "-D_DEFAULT_SOURCE", *SANITIZERS, *WARNINGS, *options, *folders]
    with open(OUT / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        newest = max(path.stat().st_mtime for path in COMPONENT.rglob("*") if path.suffix in {".c", ".h", ".py"})
        if not program.is_file() or program.stat().st_mtime < newest:
            subprocess.run([*command, *core, *map(str, sources), "-o", str(program), "-lpthread", *libraries], check=True)
    return str(program)


# Files of tests run beside each other, each in a process of its own.
_ports = itertools.count(os.getpid() % 97 * 211)


def free_port():
    """Returns a port that nothing has, for UDP and TCP. It is below those that the system gives to sockets without one."""
    while True:
        port = 10_500 + next(_ports) % 21_000
        try:
            for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):
                with socket.socket(socket.AF_INET, kind) as probe:
                    probe.bind(("127.0.0.1", port))
        except OSError:
            continue
        return port


class Lines:
    """A program whose lines are kept as they come."""

    def __init__(self, command, **options):
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options
        )
        self.all = []
        self.queue = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.queue.put(line.rstrip("\n"))
        self.queue.put(None)

    def expect(self, pattern, patience=PATIENCE):
        """Waits for a line and returns its match; fails where the program ends or is silent."""
        until = time.monotonic() + patience
        while True:
            try:
                line = self.queue.get(timeout=max(0.01, until - time.monotonic()))
            except queue.Empty:
                line = None
            if line is None:
                raise AssertionError(f"no line like {pattern!r} in:\n" + "\n".join(self.all))
            self.all.append(line)
            found = re.search(pattern, line)
            if found:
                return found

    def type(self, line):
        """Types a line."""
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def end(self, kill=False):
        """Waits for the end and returns all lines; the status is 0 unless it was killed."""
        if kill:
            self.process.terminate()
        elif not self.process.stdin.closed:
            self.process.stdin.close()
        status = self.process.wait(timeout=PATIENCE)
        while (line := self.queue.get(timeout=PATIENCE)) is not None:
            self.all.append(line)
        self.process.stdout.close()
        if not kill and status != 0:
            raise AssertionError(f"status {status}:\n" + "\n".join(self.all))
        return self.all


class Device(Lines):
    """The component as a program of this machine: typed at as a board's console is."""

    def __init__(self, program, *arguments):
        super().__init__([program, *arguments])

    def counters(self, name):
        """Ends all and returns the last counters of a service by their names."""
        lines = self.end()
        merged = {}
        for line in lines:
            found = re.match(rf"espbench: {re.escape(name)} \d+: (.*)", line)
            if found:
                pairs = (pair.split("=") for pair in found[1].split())
                merged.update((key, int(value)) for key, value in pairs)
        if not merged:
            raise AssertionError(f"no counters of {name} in:\n" + "\n".join(lines))
        return merged


def ran(command, status=0, patience=PATIENCE, **options):
    """Runs a program to its end and returns what it printed."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=patience, **options)
    if done.returncode != status:
        raise AssertionError(f"{command}: status {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout + done.stderr


RATE = re.compile(
    r"\[ *\*?(?P<id>\d+)\] +(?P<begin>[\d.]+)- *(?P<end>[\d.]+) sec +(?P<amount>[\d.]+) (?P<unit>[KMG]?)Bytes +"
    r"(?P<rate>[\d.]+) (?P<scale>[KMG]?)bits/sec(?: +(?P<jitter>[\d.]+) ms +(?P<lost>\d+)/ *(?P<all>\d+) )?"
)


def intervals(text):
    """Reads the lines of iperf 2: from, to, bytes, bit/s, lost and all datagrams."""
    powers = {"": 0, "K": 1, "M": 2, "G": 3}
    found = []
    for line in text if isinstance(text, list) else text.splitlines():
        match = RATE.search(line)
        if match:
            found.append(
                {
                    "from": float(match["begin"]),
                    "to": float(match["end"]),
                    "bytes": float(match["amount"]) * 1024 ** powers[match["unit"]],
                    "rate": float(match["rate"]) * 1000 ** powers[match["scale"]],
                    "lost": int(match["lost"]) if match["lost"] else None,
                    "all": int(match["all"]) if match["all"] else None,
                }
            )
    return found
