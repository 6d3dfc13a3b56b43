"""Flags of the functions, for type checkers. Made of the command's own by python/tests/test_flags.py (BLESS=1)."""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import timedelta
from typing import SupportsFloat, TypedDict

_One = str | SupportsFloat | timedelta | os.PathLike[str]
_Value = _One | Iterable[_One] | None


class RunFlags(TypedDict, total=False):
    """Flags of `run`."""

    battery: _Value
    baud: _Value
    beside: _Value
    ca: _Value
    cert: _Value
    chip: _Value
    client_id: _Value
    distance: _Value
    environment: _Value
    firmware_url: _Value
    insecure: bool
    keep_alive: _Value
    key: _Value
    local_port: _Value
    mode: _Value
    openmetrics: _Value
    password: _Value
    password_file: _Value
    pcap: _Value
    pin: _Value
    published: bool
    resume: _Value
    security: _Value
    server_name: _Value
    shard: _Value
    ssid: _Value
    topic: _Value
    username: _Value
    variant: _Value
    wifi_password: _Value


class PredictFlags(TypedDict, total=False):
    """Flags of `predict`."""

    ack: bool
    arrivals: _Value
    attempts: _Value
    bare: bool
    battery: _Value
    boot: _Value
    cast: _Value
    channel: _Value
    connected: _Value
    copies: _Value
    devices: _Value
    distance: _Value
    distances: _Value
    efficiency: _Value
    encrypt: bool
    every: _Value
    frame_sizes: _Value
    idf: _Value
    lab: _Value
    loss: _Value
    messages: _Value
    most: _Value
    p99: _Value
    payload: _Value
    phy_rate: _Value
    phy_rates: _Value
    profile: _Value
    published: bool
    queue: _Value
    quiescent: _Value
    room: _Value
    rooms: _Value
    sdkconfig: _Value
    seed: _Value
    self_discharge: _Value
    set: _Value
    set_by: _Value
    sleep: _Value
    threads: _Value
    time_limit: _Value
    walls: _Value


class TuneFlags(TypedDict, total=False):
    """Flags of `tune`."""

    battery_mah: _Value
    budget: _Value
    burst: _Value
    chip: _Value
    fragment: _Value
    heap: _Value
    idf: _Value
    lab: _Value
    message_every: _Value
    psram: bool
    published: bool
    rtt: _Value
    seed: _Value
    store: _Value
    streams: _Value
    strict: bool
    threads: _Value
    time: _Value
    udp_sockets: _Value
    variant: _Value


class DoctorFlags(TypedDict, total=False):
    """Flags of `doctor`."""

    no_proof: bool
    published: bool
    store: _Value
    strict: bool
