"""What the scripts of bench/ share: their flags, free ports, answers of the command, and what a process has used."""

import argparse
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def parser(doc, whole=False, build="release", least="the least counts: whether all of it runs, and nothing of how fast"):
    """Returns a parser that has --espbench and --least. `whole` shows all of the script's text with --help."""
    text = doc if whole else doc.splitlines()[0]
    made = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--espbench", type=program, default=str(ROOT / "target" / build / "espbench"), help="the command under test")
    made.add_argument("--least", action="store_true", help=least)
    return made


def program(name):
    """Returns the whole path of a command, which some scripts run in another folder."""
    found = shutil.which(name)
    if found is None:
        raise argparse.ArgumentTypeError(f"{name} is missing: build it (cargo build, with --release for target/release), or name another one")
    return os.path.abspath(found)


def answer(command, statuses=(0,)):
    """Returns what a command prints as JSON; ends the script where it prints none or its exit status is another one."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)
    try:
        told = json.loads(done.stdout)
    except ValueError:
        told = None
    if done.returncode not in statuses or told is None:
        sys.exit(f"{' '.join(map(str, command[:2]))} ended with {done.returncode}:\n{done.stderr}")
    return told


def free_port(kind=socket.SOCK_STREAM):
    """Returns a port of loopback that is free now."""
    with socket.socket(type=kind) as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(port, udp=False):
    """Waits until something is bound to the port. A trial connection would be a test to some servers."""
    entry = f":{port:04X} 00000000:0000"
    for _ in range(500):
        with open("/proc/net/udp" if udp else "/proc/net/tcp") as table:
            if entry in table.read():
                return
        time.sleep(0.01)
    sys.exit("a server did not open its port")


def end_of(child):
    """Waits for a process; returns its exit status, the seconds of processors that it used, and its peak of memory in MB."""
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return child.returncode, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
