#!/usr/bin/env python3
"""Time and memory of `espbench capture`: `bench/capture.py [GIGABYTES] [--least] [--espbench FILE]` writes a capture (radiotap,
ESP-NOW, acknowledgements, TCP over Wi-Fi) and reads it with the command.

Issue 17: one gigabyte in under 20 s and 300 MB; memory does not grow with the file."""

import os
import struct
import subprocess
import sys
import tempfile
import time

import common


def radiotap(us, rate):
    fields = struct.pack("<QBBHHb", us, 0, rate, 2437, 0x00A0, -50)
    return struct.pack("<BBHI", 0, 0, 8 + len(fields), 0x2F) + fields


def round_of(turn):
    """A second of traffic of twenty stations, as packets without their times."""
    out = []
    ap = bytes([2, 0, 0, 0, 0, 1])
    for station in range(20):
        mac = bytes([0x24, 0x0A, 0xC4, 0, 0, station])
        for k in range(60):
            number = (turn * 60 + k) & 0xFFF
            if station < 10:
                body = struct.pack("<HH", 0xD0, 0) + ap + mac + b"\xff" * 6 + struct.pack("<H", number << 4)
                body += b"\x7f\x18\xfe\x34" + b"\1\2\3\4" + b"\xdd" + bytes([5 + 40 + 4 * station]) + b"\x18\xfe\x34\x04\x01"
                body += bytes(40 + 4 * station)
                rate = 2
            else:
                sequence = (turn * 60 + k) * 1000 & 0xFFFFFFFF
                tcp = struct.pack(">HHIIBBHHH", 4000 + station, 5001, sequence, 1, 0x50, 24, 60000, 0, 0) + bytes(1000)
                ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(tcp), 0, 0, 64, 6, 0) + bytes([10, 0, 0, station, 10, 0, 0, 1])
                body = struct.pack("<HH", 0x0108, 0) + ap + mac + ap + struct.pack("<H", number << 4)
                body += b"\xaa\xaa\3\0\0\0\x08\0" + ip + tcp
                rate = 108
            out.append((rate, body))
            out.append((48, b"\xd4\0\0\0" + mac))
    return out


def write(path, size):
    us, turn = 1_000_000, 0
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 127))
        while out.tell() < size:
            parts = []
            for rate, body in round_of(turn):
                us += 400
                packet = radiotap(us, rate) + body
                parts.append(struct.pack("<IIII", us // 1_000_000, us % 1_000_000, len(packet), len(packet)))
                parts.append(packet)
            out.write(b"".join(parts))
            turn += 1


def main():
    parser = common.parser(__doc__)
    parser.add_argument("gigabytes", type=float, nargs="?", default=1.0)
    args = parser.parse_args()
    size = 0.002 if args.least else args.gigabytes
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        path = os.path.join(folder, "large.pcap")
        write(path, size * 1e9)
        begin = time.monotonic()
        child = subprocess.Popen([args.espbench, "capture", path], stdout=subprocess.PIPE, text=True)
        text = child.stdout.read()
        status, processor, memory = common.end_of(child)
        seconds = time.monotonic() - begin
        print(text)
        print(f"{os.path.getsize(path) / 1e9:.2f} GB: {seconds:.1f} s, of which {processor:.1f} s of the processor; "
              f"{memory:.0f} MB at most")
        sys.exit(status != 0)


main()
