#!/usr/bin/env python3
"""Time and memory of `espbench doctor` on a long log.

`bench/doctor.py [GIGABYTES] [--espbench FILE] [--least]` sends a log through a pipe to the command; of 10 GB where nothing is said. The log has what an application says again and again, with times that grow, and after each hundred lines of it one of the logs of
crates/doctor/tests/cases. With `--dense` these logs come without the application between them.

Issue 17: a log of 10 GB streams in constant memory. Fails where the peak with the whole log is more than 1.5 times that of a hundredth of it."""

import subprocess
import sys
import time

import common

CASES = common.ROOT / "crates/doctor/tests/cases"

# Records of an application in order, as ESP-IDF and Arduino print them; each has its time.
APPLICATION = (
    b"I (%d) sensor: temperature 21.4 C, humidity 40.1 %%, pressure 1013.2 hPa\n",
    b"D (%d) app_main: loop took 12 ms, 37 tasks ready, next in 988 ms\n",
    b"I (%d) mqtt_app: published 64 bytes to home/kitchen/temperature, msg_id=23431\n",
    b"[%d][I][main.cpp:112] loop(): battery 3.91 V, light 512, door closed\n",
    b"\x1b[0;32mI (%d) display: drew page 3 of 5 in 18 ms\x1b[0m\n",
    b"V (%d) ring: level 1184 of 4096, 2 readers, 0 dropped\n",
    b"[%d][D][sensor:093]: 'Kitchen CO2': Sending state 612.00000 ppm with 0 decimals of accuracy\n",
    b"I (%d) http_app: GET /api/state 200 in 4 ms\n",
)


def parts():
    """Returns the logs of the cases."""
    logs = [path.read_bytes() for path in sorted(CASES.glob("*.log"))]
    return [log if log.endswith(b"\n") else log + b"\n" for log in logs]


def doctor(espbench, size, dense):
    """Returns the seconds and the peak of memory in MB that the doctor takes for so many bytes, and those bytes."""
    tool = subprocess.Popen([espbench, "doctor", "-"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    logs, sent, turn = parts(), 0, 0
    begun = time.monotonic()
    while sent < size:
        turn += 1
        said = [] if dense else [APPLICATION[k % len(APPLICATION)] % (turn * 1000 + 10 * k) for k in range(100)]
        block = b"".join([*said, logs[turn % len(logs)]])
        tool.stdin.write(block)
        sent += len(block)
    tool.stdin.close()
    status, _, memory = common.end_of(tool)
    took = time.monotonic() - begun
    if status != 0:
        sys.exit(f"bench/doctor.py: {espbench} doctor ended with {status}")
    return took, memory, sent


def main():
    parser = common.parser(__doc__)
    parser.add_argument("gigabytes", type=float, nargs="?", default=10)
    parser.add_argument("--dense", action="store_true")
    args = parser.parse_args()
    size = (0.0004 if args.least else args.gigabytes) * 1e9
    peaks = []
    for part in (size / 100, size):
        took, peak, sent = doctor(args.espbench, part, args.dense)
        peaks.append(peak)
        print(f"{sent / 1e9:.2f} GB: {took:.1f} s, {sent / took / 1e6:.0f} MB/s, at most {peak:.0f} MB of memory", flush=True)
    if not args.least and peaks[1] > 1.5 * peaks[0]:
        sys.exit(f"bench/doctor.py: memory grows with the log: {peaks[0]:.0f} MB, then {peaks[1]:.0f} MB")


if __name__ == "__main__":
    main()
