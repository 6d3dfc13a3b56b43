#!/usr/bin/env python3
"""Writes the captures among the cases: `./captures.py` in this folder, the same bytes each time.

Frames are put together by IEEE Std 802.11-2020, clause 9, radiotap and RFC 9293, with nothing of espbench."""

import struct
import zlib

AP, STA, STB, PEER = (bytes.fromhex(it) for it in ("02aabbcc0001", "240ac4000001", "240ac4000002", "240ac40000fe"))
ALL = b"\xff" * 6


def radiotap(tsft, rate, signal):
    """TSFT, flags (FCS at the end), rate, channel 6, signal."""
    fields = struct.pack("<QBBHHb", tsft, 0x10, rate, 2437, 0x00A0, signal)
    return struct.pack("<BBHI", 0, 0, 8 + len(fields), 0x2F) + fields


class Air:
    """A capture with radiotap. Frames at 1 Mbit/s: 192 us of preamble, 8 us an octet."""

    def __init__(self):
        self.packets, self.us, self.numbers = [], 0, {}

    def frame(self, body, signal=-50, rate=2, begin=None):
        mpdu = body + struct.pack("<I", zlib.crc32(body))
        lead = 192 if rate in (2, 4, 11, 22) else 20
        begin = self.us if begin is None else begin
        end = begin + lead + len(mpdu) * 16 // rate
        self.packets.append((end, radiotap(begin + lead, rate, signal) + mpdu))
        self.us = max(self.us, end)

    def header(self, control, to, source, third, retry=False, flags=0):
        number = self.numbers.get(source, 0)
        if not retry:
            number = (number + 1) & 0xFFF
            self.numbers[source] = number
        return struct.pack("<HH", control | (0x800 if retry else 0) | flags, 0) + to + source + third + struct.pack("<H", number << 4)

    def ack(self, to, signal=-45):
        self.us += 10
        self.frame(b"\xd4\x00\x00\x00" + to, signal)

    def beacon(self, tim=b"\x00\x01\x00\x00"):
        body = self.header(0x80, ALL, AP, AP) + bytes(8) + struct.pack("<HH", 100, 0x0421)
        self.frame(body + b"\x00\x04home" + b"\x05" + bytes([len(tim)]) + tim, -40)

    def esp_now(self, to, source, data, acked=True, retry=False, signal=-50, begin=None):
        body = self.header(0xD0, to, source, ALL, retry) + b"\x7f\x18\xfe\x34" + b"\x01\x02\x03\x04"
        body += b"\xdd" + bytes([5 + len(data)]) + b"\x18\xfe\x34\x04\x01" + data
        self.frame(body, signal, begin=begin)
        if acked:
            self.ack(source)

    def data(self, to, source, packet, acked=True, retry=False, signal=-50, rate=24, up=True, flags=0):
        body = self.header(0x08, to, source, AP, retry, (0x100 if up else 0x200) | flags) + b"\xaa\xaa\x03\0\0\0" + packet
        self.frame(body, signal, rate)
        if acked:
            self.ack(source)

    def write(self, name):
        self.packets.sort(key=lambda it: it[0])
        write(name, 127, self.packets)


def write(name, link, packets):
    with open(name, "wb") as out:
        out.write(struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, link))
        for us, packet in packets:
            # Of IP the headers are enough: 60 octets, as with tcpdump -s 60.
            kept = packet[:60] if link == 101 else packet
            out.write(struct.pack("<IIII", 1_700_000_000 + us // 1_000_000, us % 1_000_000, len(kept), len(packet)) + kept)


class Tcp:
    """A connection as a PC's interface shows it, without checksums."""

    def __init__(self, window=5760):
        self.packets, self.us, self.window = [], 0, window

    def segment(self, up, sequence, ack, flags, length=0, window=None, wait=200):
        self.us += wait
        a, b = bytes([192, 0, 2, 10]), bytes([192, 0, 2, 20])
        ends, ports = ((a, b), (40000, 5001)) if up else ((b, a), (5001, 40000))
        window = (64000 if up else self.window) if window is None else window
        tcp = struct.pack(">HHIIBBHHH", *ports, sequence, ack, 0x50, flags, window, 0, 0) + b"x" * length
        ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(tcp), 0, 0x4000, 64, 6, 0) + ends[0] + ends[1]
        self.packets.append((self.us, ip + tcp))

    def open(self):
        self.segment(True, 1000, 0, 2)
        self.segment(False, 5000, 1001, 18, wait=4000)
        self.segment(True, 1001, 5001, 16)


def captures():
    air = Air()
    for turn in range(60):
        air.us = turn * 20_000
        air.esp_now(STB, STA, b"reading %d" % turn)
    air.write("capture-healthy-espnow.pcap")

    air = Air()
    for turn in range(30):
        air.us = turn * 50_000
        air.esp_now(ALL, STB, b"beacon", acked=False)
        for attempt in range(6):
            air.esp_now(PEER, STA, b"are you there?", acked=False, retry=attempt > 0)
        air.esp_now(STB, STA, b"hello")
    air.write("capture-espnow-unheard.pcap")

    # Two sensors that do not hear each other: the second begins in the midst of the first one's frame.
    air = Air()
    for turn in range(40):
        air.us = turn * 25_000
        begin = air.us
        air.esp_now(AP, STA, b"from the one side" * 8, acked=False, begin=begin)
        if turn % 2:
            air.esp_now(AP, STB, b"from the other side" * 8, acked=False, begin=begin + 700)
            air.us += 3000
            air.esp_now(AP, STA, b"from the one side" * 8, retry=True)
            air.us += 500
            air.esp_now(AP, STB, b"from the other side" * 8, retry=True)
        else:
            air.ack(STA)
    air.write("capture-hidden-nodes.pcap")

    air = Air()
    for turn in range(80):
        air.us = turn * 20_000
        air.data(AP, STA, b"\x08\x00" + b"E" + bytes(60), acked=turn % 3 == 0, signal=-88, rate=12)
        if turn % 3:
            air.data(AP, STA, b"\x08\x00" + b"E" + bytes(60), retry=True, signal=-88, rate=2)
    air.write("capture-weak-signal.pcap")

    # The access point sends message 1 again, and in the end sends the station away with reason 15.
    air = Air()
    key = lambda info: b"\x88\x8e\x01\x03\x00\x5f\x02" + struct.pack(">H", info) + bytes(92)
    for turn in range(4):
        air.us = turn * 1_000_000
        air.beacon()
        air.data(STA, AP, key(0x008A), up=False)
        air.data(AP, STA, key(0x010A))
    air.frame(air.header(0xC0, STA, AP, AP) + b"\x0f\x00")
    air.write("capture-password.pcap")

    air = Air()
    for turn in range(5):
        air.us = turn * 1_000_000
        air.beacon()
        air.frame(air.header(0xB0, STA, AP, AP) + b"\x00\x00\x02\x00\x00\x00")
        air.ack(AP)
        air.frame(air.header(0x10, STA, AP, AP) + b"\x21\x04\x11\x00\x00\x00")
        air.ack(AP)
    air.write("capture-ap-full.pcap")

    # A listen interval of ten: the packet waits through beacons that tell of it.
    air = Air()
    air.frame(air.header(0x10, STA, AP, AP) + b"\x21\x04\x00\x00\x01\xc0")
    air.ack(AP)
    air.data(AP, STA, b"\x08\x00E" + bytes(40), flags=0x1000)
    for turn in range(60):
        air.us = 102_400 * (turn + 1)
        waits = turn % 10 > 4
        air.beacon(b"\x00\x01\x00\x02" if waits else b"\x00\x01\x00\x00")
        if turn % 10 == 9:
            air.data(STA, AP, b"\x08\x00E" + bytes(40), up=False)
            air.data(AP, STA, b"\x08\x00E" + bytes(40), flags=0x1000)
    air.write("capture-sleep.pcap")

    air = Air()
    air.frame(air.header(0x10, STA, AP, AP) + b"\x21\x04\x00\x00\x01\xc0")
    air.ack(AP)
    for turn in range(60):
        air.us = 102_400 * (turn + 1)
        air.beacon()
        air.data(AP, STA, b"\x08\x00E" + bytes(40), flags=0x1000)
        air.data(STA, AP, b"\x08\x00E" + bytes(40), up=False)
    air.write("capture-healthy-station.pcap")

    tcp = Tcp()
    tcp.open()
    sequence = 1001
    for turn in range(60):
        tcp.segment(True, sequence, 5001, 24, 1000, wait=3000)
        sequence += 1000
        tcp.segment(False, 5001, sequence, 16, wait=2000)
    write("capture-healthy-tcp.pcap", 101, tcp.packets)

    tcp = Tcp()
    tcp.open()
    sequence = 1001
    for turn in range(8):
        for _ in range(4):
            tcp.segment(True, sequence, 5001, 24, 1440)
            sequence += 1440
        tcp.segment(False, 5001, sequence, 16, window=0, wait=3000)
        tcp.segment(False, 5001, sequence, 16, window=5760, wait=400_000)
    write("capture-zero-window.pcap", 101, tcp.packets)

    tcp = Tcp(window=2880)
    tcp.open()
    sequence = 1001
    for turn in range(60):
        for _ in range(2):
            tcp.segment(True, sequence, 5001, 24, 1440, wait=100)
            sequence += 1440
        tcp.segment(False, 5001, sequence, 16, wait=20_000)
    write("capture-small-window.pcap", 101, tcp.packets)

    tcp = Tcp()
    tcp.open()
    sequence = 1001
    for turn in range(60):
        tcp.segment(True, sequence, 5001, 24, 1000, wait=3000)
        if turn % 6 == 5:
            tcp.segment(True, sequence, 5001, 24, 1000, wait=300_000)
        sequence += 1000
        tcp.segment(False, 5001, sequence, 16, wait=3000)
    write("capture-tcp-losses.pcap", 101, tcp.packets)

    tcp = Tcp()
    for turn in range(5):
        tcp.segment(True, 1000, 0, 2, wait=1_000_000)
    write("capture-no-server.pcap", 101, tcp.packets)

    # Bluetooth's link type, and a frame that is cut.
    write("capture-bluetooth.pcap", 201, [(turn * 1000, bytes([0, 0, 0, 1, 4, 0x3E, 10]) + bytes(10)) for turn in range(20)])
    air = Air()
    for turn in range(60):
        air.us = turn * 20_000
        air.esp_now(STB, STA, b"reading %d" % turn)
    air.write("capture-cut.pcap")
    with open("capture-cut.pcap", "r+b") as out:
        out.truncate(4001)


captures()
