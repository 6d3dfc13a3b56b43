"""The device's side of espbench for MicroPython: UDP echo, TCP sink and source, iperf 2 server.

    import espbench
    device = espbench.Device()
    device.udp_echo()             # port 10000, replies to port 10001 as the published sketch sends them
    device.tcp_sink()             # port 3333
    device.iperf_server()         # port 5001, TCP and UDP
    device.run()                  # until Ctrl-C; device.step(ms) for a loop of one's own

One loop serves all sockets. Each service allocates its buffer when it starts; MicroPython allocates each datagram that it
receives, so that its collector is part of what is measured.

SPDX-License-Identifier: MIT OR Apache-2.0
"""

import errno
import select
import socket
import struct
import time

ECHO_PORT, ECHO_REPLY_PORT = 10000, 10001
SINK_PORT, SOURCE_PORT, IPERF_PORT = 3333, 3334, 5001
# Silence that ends a flow without a last datagram, and that after which a client has its report.
IDLE_MS, REPORTED_MS = 10000, 500
# Connections or flows of one service; a further one is refused and counted.
STREAMS = 4

VERSION1, EXTEND, SEQNO_64, VERSION2 = 0x80000000, 0x40000000, 0x08000000, 0x04000000


def _port_of(address):
    """Returns the port of an address, which the Unix port has as bytes and boards have as a tuple."""
    return struct.unpack_from(">H", address, 2)[0] if isinstance(address, bytes) else address[1]


def _with_port(address, port):
    """Returns an address with another port."""
    if isinstance(address, bytes):
        return address[:2] + struct.pack(">H", port) + address[4:]
    return (address[0], port)


class Service:
    """What all services count; `counters` holds amounts and drops by name, as the component in C prints them."""

    def __init__(self, device, name):
        self.device, self.name = device, name
        self.counters = {"bytes_in": 0, "bytes_out": 0, "packets_in": 0, "packets_out": 0}

    def count(self, name, more=1):
        """Adds to a counter."""
        self.counters[name] = self.counters.get(name, 0) + more

    def refused(self, error):
        """Counts a send that the system refused."""
        self.count("no_memory" if error.errno in (errno.ENOMEM, errno.ENOBUFS) else "send_errors")

    def tick(self, now):
        """Does what is due without a packet."""

    def line(self):
        """Returns the counters as one line."""
        return "espbench: {}: {}".format(self.name, " ".join("{}={}".format(*item) for item in self.counters.items()))


class UdpEcho(Service):
    """Sends datagrams back as they came."""

    def __init__(self, device, port, reply_port, longest):
        super().__init__(device, "udp-echo")
        self.port, self.reply_port, self.longest = port, reply_port, longest
        self.socket = device.bound(socket.SOCK_DGRAM, port)
        device.watch(self.socket, self)

    def is_service(self, port):
        """Tells whether a service listens there: two echoes would answer each other for ever."""
        return port < 1024 or port in (ECHO_PORT, IPERF_PORT, self.port)

    def ready(self, _, __):
        """Answers what has come."""
        for _ in range(16):
            try:
                data, address = self.socket.recvfrom(self.longest + 1)
            except OSError:
                return
            self.count("packets_in")
            self.count("bytes_in", len(data))
            # Binary probes of espbench go back to where they came from; the published client has a port for replies.
            to = _with_port(address, self.reply_port) if self.reply_port and data[:4] != b"EBe1" else address
            if len(data) > self.longest:
                self.count("truncated")
            elif self.is_service(_port_of(address)) or self.is_service(_port_of(to)):
                self.count("not_answered")
            else:
                try:
                    self.socket.sendto(data, to)
                    self.count("packets_out")
                    self.count("bytes_out", len(data))
                except OSError as error:
                    self.refused(error)


class Stream:
    """One connection: how much it moved since when, and where the current write stands."""

    def __init__(self, number, now):
        self.number, self.start, self.heard = number, now, now
        self.bytes, self.at, self.header = 0, 0, b""


class Tcp(Service):
    """A sink, a source or iperf's TCP server on one port."""

    def __init__(self, device, name, port, buffer):
        super().__init__(device, name)
        self.buffer = bytearray(b"0123456789" * (buffer // 10))
        self.view = memoryview(self.buffer)
        self.streams, self.number = {}, 0
        self.listener = device.bound(socket.SOCK_STREAM, port)
        self.listener.listen(STREAMS)
        device.watch(self.listener, self)

    def ready(self, ready, now):
        """Takes a connection, or moves what a connection has."""
        if ready is self.listener:
            self.accept(now)
            return
        stream = self.streams[id(ready)][1]
        stream.heard = now
        try:
            going = self.pour(ready, stream) if self.name == "tcp-source" else self.drain(ready, stream)
        except OSError as error:
            going = error.errno == errno.EAGAIN
            if not going and self.name != "tcp-source":
                self.count("connections_broken")
        if not going:
            self.close(ready, stream, now)

    def accept(self, now):
        """Takes a connection, or refuses one too many."""
        try:
            client = self.listener.accept()[0]
        except OSError:
            return
        if len(self.streams) >= STREAMS:
            self.count("connections_refused")
            client.close()
            return
        client.setblocking(False)
        self.number += 1
        self.count("connections")
        self.streams[id(client)] = (client, Stream(self.number, now))
        self.device.watch(client, self, select.POLLOUT if self.name == "tcp-source" else select.POLLIN)

    def close(self, client, stream, now):
        """Ends a connection and tells what it moved."""
        self.device.forget(client)
        del self.streams[id(client)]
        client.close()
        _print_line(stream.number, time.ticks_diff(now, stream.start), stream.bytes)

    def drain(self, client, stream):
        """Reads; false at the end of the stream, or where the client asks for what is not served."""
        if self.name == "iperf-tcp" and stream.bytes == 0:
            return self.head(client, stream)
        got = client.readinto(self.buffer)
        if got:
            stream.bytes += got
            self.count("bytes_in", got)
        return got is None or got > 0

    def head(self, client, stream):
        """Reads the first bytes, and answers the header of a client that waits for it."""
        data = client.recv(60 - len(stream.header))
        if not data:
            return False
        stream.header += data
        if len(stream.header) < 4:
            return True
        flags = struct.unpack_from(">I", stream.header)[0]
        extended = bool(flags & EXTEND) and not 0x30 <= stream.header[0] <= 0x39
        if extended and len(stream.header) < 60:
            return True
        if extended and flags & VERSION2:
            self.count("refused_options")
            print("iperf-tcp: -R and --full-duplex are not served here")
            return False
        if extended:
            client.send(struct.pack(">7I", 2, 28, 0, 0x00020001, 0x00080003, 0, 0))
        stream.bytes = len(stream.header)
        self.count("bytes_in", stream.bytes)
        return True

    def pour(self, client, stream):
        """Writes from where the last write ended."""
        put = client.write(self.view[stream.at :])
        if put:
            stream.bytes += put
            stream.at = (stream.at + put) % len(self.buffer)
            self.count("bytes_out", put)
        return put is None or put > 0


class Flow:
    """One UDP flow of iperf: what its numbers told."""

    def __init__(self, number, now):
        self.number, self.start, self.heard, self.heard_us = number, now, now, None
        self.next, self.received, self.lost, self.late, self.bytes = 1, 0, 0, 0, 0
        self.sent, self.jitter, self.ended = None, 0, None

    def take(self, data, now, now_us):
        """Counts a datagram; true where it was the last one."""
        low, seconds, micros = struct.unpack_from(">iII", data) if len(data) >= 12 else (struct.unpack_from(">i", data)[0], 0, 0)
        number = -low if low < 0 else low
        if number == 0 and self.received == 0:
            self.next = 0  # ESP-IDF numbers from 0
        self.received += 1
        self.bytes += len(data)
        if number >= self.next:
            self.lost += number - self.next
            self.next = number + 1
        elif self.lost > 0:
            self.lost -= 1
            self.late += 1
        if self.sent is not None and seconds:
            moved = time.ticks_diff(now_us, self.heard_us)
            step = abs(moved - ((seconds - self.sent[0]) * 1000000 + micros - self.sent[1]))
            self.jitter += step - ((self.jitter + 8) >> 4)
        self.sent, self.heard, self.heard_us = (seconds, micros), now, now_us
        return low < 0

    def report(self):
        """Returns the closing report as version 2.1.8 reads it."""
        took = time.ticks_diff(self.ended, self.start)
        jitter = self.jitter >> 4
        words = (VERSION1 | SEQNO_64, self.bytes >> 32, self.bytes & 0xFFFFFFFF, took // 1000, took % 1000 * 1000)
        words += (self.lost, self.late, self.received + self.lost, jitter // 1000000, jitter % 1000000)
        return bytes(16) + struct.pack(">10I", *words) + bytes(72)


class IperfUdp(Service):
    """iperf's UDP server: receives and reports."""

    def __init__(self, device, port):
        super().__init__(device, "iperf-udp")
        self.flows, self.number = {}, 0
        self.socket = device.bound(socket.SOCK_DGRAM, port)
        device.watch(self.socket, self)

    def ready(self, _, now):
        """Takes what has come."""
        for _ in range(16):
            try:
                data, address = self.socket.recvfrom(1536)
            except OSError:
                return
            self.take(data, address, now)

    def take(self, data, address, now):
        """Counts one datagram of its flow, and answers the last one."""
        flow = self.flows.get(address)
        last = len(data) >= 4 and data[0] & 0x80
        if len(data) < 4 or (flow is None and last):
            self.count("strays")
            return
        if flow is None:
            if len(self.flows) >= STREAMS:
                self.count("connections_refused")
                return
            self.number += 1
            self.count("connections")
            flow = self.flows[address] = Flow(self.number, now)
            if len(data) >= 20 and struct.unpack_from(">I", data, 16)[0] & VERSION2:
                self.count("refused_options")
                print("iperf-udp: -R and --full-duplex are not served here")
                flow.ended = now
        if flow.ended is not None:
            flow.heard = now
            if last and flow.received:
                self.answer(flow, address)
            return
        self.count("packets_in")
        self.count("bytes_in", len(data))
        if flow.take(data, now, time.ticks_us()):
            flow.ended = now
            self.answer(flow, address)
            self.close(flow)

    def answer(self, flow, address):
        """Sends the report, which the client asks for until it comes."""
        try:
            self.socket.sendto(flow.report(), address)
        except OSError as error:
            self.refused(error)

    def close(self, flow):
        """Tells what a flow was."""
        self.count("lost", flow.lost)
        self.count("out_of_order", flow.late)
        _print_line(flow.number, time.ticks_diff(flow.heard, flow.start), flow.bytes, flow)

    def tick(self, now):
        """Ends flows that fell silent."""
        for address, flow in list(self.flows.items()):
            silent = time.ticks_diff(now, flow.heard)
            if flow.ended is not None and silent >= REPORTED_MS:
                del self.flows[address]
            elif flow.ended is None and silent >= IDLE_MS:
                self.close(flow)
                del self.flows[address]


def _scaled(value, base, unit):
    """Returns three digits and a unit, as iperf 2 prints them."""
    for prefix in ("", "K", "M", "G"):
        if value < base or prefix == "G":
            digits = 2 if value < 9.995 else 1 if value < 99.95 else 0
            return "{:4.{}f} {}{}".format(value, digits, prefix, unit)
        value /= base


def _print_line(number, ms, count, flow=None):
    """Prints a line of iperf 2."""
    rate = count * 8000 / max(1, ms)
    text = "[{:3d}] 0.00-{:.2f} sec  {}  {}".format(number, ms / 1000, _scaled(count, 1024, "Bytes"), _scaled(rate, 1000, "bits/sec"))
    if flow is not None:
        sent = flow.received + flow.lost
        share = 100 * flow.lost / max(1, sent)
        text += "  {:6.3f} ms {:4d}/{:5d} ({:.2g}%)".format((flow.jitter >> 4) / 1000, flow.lost, sent, share)
    print(text)


class Device:
    """All services and the loop that serves them."""

    def __init__(self):
        self.poll, self.handlers, self.services = select.poll(), {}, []

    def bound(self, kind, port):
        """Opens a socket on a port of all addresses."""
        opened = socket.socket(socket.AF_INET, kind)
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind(socket.getaddrinfo("0.0.0.0", port)[0][-1])
        opened.setblocking(False)
        return opened

    def watch(self, opened, service, events=select.POLLIN):
        """Has a service told when a socket is ready."""
        self.handlers[id(opened)] = service
        self.poll.register(opened, events)

    def forget(self, opened):
        """Ends watching a socket."""
        del self.handlers[id(opened)]
        self.poll.unregister(opened)

    def udp_echo(self, port=ECHO_PORT, reply_port=ECHO_REPLY_PORT, longest=1472):
        """Starts the echo; a reply_port of 0 answers where a datagram came from."""
        return self.add(UdpEcho(self, port, reply_port, longest))

    def tcp_sink(self, port=SINK_PORT, buffer=4000):
        """Starts the sink, which takes whatever comes."""
        return self.add(Tcp(self, "tcp-sink", port, buffer))

    def tcp_source(self, port=SOURCE_PORT, buffer=4000):
        """Starts the source, which sends without end."""
        return self.add(Tcp(self, "tcp-source", port, buffer))

    def iperf_server(self, port=IPERF_PORT, buffer=4000):
        """Starts iperf 2's servers, over TCP and UDP."""
        return self.add(Tcp(self, "iperf-tcp", port, buffer)), self.add(IperfUdp(self, port))

    def add(self, service):
        """Adds a service of one's own, too: anything with `ready`, `tick` and `line`."""
        self.services.append(service)
        return service

    def step(self, ms=100):
        """Serves what is ready within so many milliseconds."""
        for ready, _ in self.poll.poll(ms):
            service = self.handlers.get(id(ready))
            if service is not None:
                service.ready(ready, time.ticks_ms())
        now = time.ticks_ms()
        for service in self.services:
            service.tick(now)

    def run(self, ms=None):
        """Serves for so many milliseconds, or until Ctrl-C; prints the counters at the end."""
        start = time.ticks_ms()
        try:
            while ms is None or time.ticks_diff(time.ticks_ms(), start) < ms:
                self.step()
        except KeyboardInterrupt:
            pass
        for service in self.services:
            print(service.line())
