"""Flags of the functions and metrics of results, for type checkers. Made by python/tests/test_flags.py (BLESS=1)."""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import timedelta
from typing import SupportsFloat, TypedDict

from .figures import Figures

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
    devices: _Value
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
    sdkconfig: _Value
    security: _Value
    server_name: _Value
    shard: _Value
    ssid: _Value
    topic: _Value
    username: _Value
    variant: _Value
    wifi_password: _Value


class FleetFlags(TypedDict, total=False):
    """Flags of `predict('fleet')`."""

    ack: bool
    arrivals: _Value
    attempts: _Value
    bare: bool
    battery: _Value
    boot: _Value
    cast: _Value
    channel: _Value
    copies: _Value
    devices: _Value
    distance: _Value
    efficiency: _Value
    encrypt: bool
    every: _Value
    lab: _Value
    loss: _Value
    messages: _Value
    most: _Value
    p99: _Value
    payload: _Value
    phy_rate: _Value
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
    sleep: _Value
    threads: _Value
    time_limit: _Value
    wall: _Value
    walls: _Value


class RateFlags(TypedDict, total=False):
    """Flags of `predict('rate')`."""

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
    efficiency: _Value
    encrypt: bool
    every: _Value
    idf: _Value
    lab: _Value
    loss: _Value
    messages: _Value
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
    wall: _Value
    walls: _Value


class RangeFlags(TypedDict, total=False):
    """Flags of `predict('range')`."""

    cast: _Value
    channel: _Value
    copies: _Value
    distance: _Value
    lab: _Value
    loss: _Value
    payload: _Value
    phy_rates: _Value
    profile: _Value
    published: bool
    room: _Value
    sdkconfig: _Value
    set: _Value
    wall: _Value
    walls: _Value


class FramesFlags(TypedDict, total=False):
    """Flags of `predict('frames')`."""

    cast: _Value
    channel: _Value
    distances: _Value
    frame_sizes: _Value
    idf: _Value
    lab: _Value
    messages: _Value
    payload: _Value
    phy_rate: _Value
    profile: _Value
    published: bool
    room: _Value
    rooms: _Value
    sdkconfig: _Value
    seed: _Value
    set: _Value
    threads: _Value
    wall: _Value
    walls: _Value


class CompareFlags(TypedDict, total=False):
    """Flags of `predict('compare')`."""

    ack: bool
    arrivals: _Value
    attempts: _Value
    bare: bool
    battery: _Value
    boot: _Value
    cast: _Value
    channel: _Value
    copies: _Value
    devices: _Value
    distance: _Value
    efficiency: _Value
    encrypt: bool
    every: _Value
    lab: _Value
    loss: _Value
    messages: _Value
    p99: _Value
    payload: _Value
    phy_rate: _Value
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
    sleep: _Value
    threads: _Value
    wall: _Value
    walls: _Value


class TuneFlags(TypedDict, total=False):
    """Flags of `tune`."""

    battery: _Value
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

    elf: _Value
    explain: _Value
    no_proof: bool
    published: bool
    rules: _Value
    store: _Value
    strict: bool


class MetricNames:
    """Attributes that a result has."""

    acknowledged: Figures
    acknowledgement_p50: Figures
    acknowledgement_p99: Figures
    association_time_avg: Figures
    authentication_time_avg: Figures
    available_heap: Figures
    avg: Figures
    battery_life: Figures
    callback_time_p50: Figures
    callback_time_p99: Figures
    channel_busy: Figures
    charge_per_message: Figures
    client_fairness: Figures
    connect_max: Figures
    connect_mqtt_max: Figures
    connect_mqtt_p50: Figures
    connect_mqtt_p90: Figures
    connect_mqtt_p99: Figures
    connect_p50: Figures
    connect_p90: Figures
    connect_p99: Figures
    connect_rate: Figures
    connect_tcp_max: Figures
    connect_tcp_p50: Figures
    connect_tcp_p90: Figures
    connect_tcp_p99: Figures
    connect_tls_max: Figures
    connect_tls_p50: Figures
    connect_tls_p90: Figures
    connect_tls_p99: Figures
    connect_websocket_max: Figures
    connect_websocket_p50: Figures
    connect_websocket_p90: Figures
    connect_websocket_p99: Figures
    current_mean: Figures
    decrypt_time: Figures
    decrypt_time_exact: Figures
    device_rtt_avg: Figures
    device_rtt_max: Figures
    device_rtt_min: Figures
    device_rtt_stddev: Figures
    device_time_avg: Figures
    device_time_max: Figures
    device_time_min: Figures
    devices_served: Figures
    effective_rate: Figures
    encrypt_time: Figures
    encrypt_time_exact: Figures
    fairness: Figures
    frames_per_message: Figures
    free_heap_min: Figures
    handshake_time: Figures
    handshake_time_avg: Figures
    handshake_time_exact: Figures
    heap_driver_bound: Figures
    heap_driver_peak: Figures
    heap_peak: Figures
    heap_started: Figures
    hop_time_p50: Figures
    hop_time_p99: Figures
    hops_reached_avg: Figures
    in_flight_end: Figures
    interarrival_avg: Figures
    interarrival_max: Figures
    interarrival_p05: Figures
    interarrival_p50: Figures
    interarrival_p90: Figures
    interarrival_p95: Figures
    interarrival_p99: Figures
    jitter: Figures
    jitter_rx: Figures
    jitter_tx: Figures
    join_time_avg: Figures
    join_time_max: Figures
    join_time_min: Figures
    join_time_p50: Figures
    join_time_p99: Figures
    largest_fleet: Figures
    latency_avg: Figures
    latency_max: Figures
    latency_min: Figures
    latency_p50: Figures
    latency_p90: Figures
    latency_p99: Figures
    latency_p999: Figures
    latency_stddev: Figures
    loss: Figures
    loss_idle: Figures
    loss_loaded: Figures
    loss_of_offered: Figures
    loss_rx: Figures
    loss_tx: Figures
    max: Figures
    message_rate: Figures
    message_rate_acked_avg: Figures
    message_rate_avg: Figures
    message_rate_max: Figures
    message_rate_min: Figures
    message_rate_offered: Figures
    message_rate_reliable: Figures
    message_rate_sent_avg: Figures
    message_rate_station: Figures
    message_rate_stddev: Figures
    messages_corrupt: Figures
    messages_duplicate: Figures
    messages_lost: Figures
    messages_out_of_order: Figures
    min: Figures
    ota_time: Figures
    ota_time_exact: Figures
    p50: Figures
    p90: Figures
    p99: Figures
    p999: Figures
    packets_duplicate: Figures
    packets_duplicate_rx: Figures
    packets_duplicate_tx: Figures
    packets_lost: Figures
    packets_lost_rx: Figures
    packets_lost_tx: Figures
    packets_out_of_order: Figures
    packets_out_of_order_rx: Figures
    packets_out_of_order_tx: Figures
    packets_refused: Figures
    packets_total: Figures
    packets_total_rx: Figures
    packets_total_tx: Figures
    probes_corrupt: Figures
    probes_duplicate: Figures
    probes_late: Figures
    provisioning_time: Figures
    provisioning_time_exact: Figures
    queue_drop_rate: Figures
    range: Figures
    requests_rate: Figures
    response_avg: Figures
    response_max: Figures
    response_min: Figures
    response_p50: Figures
    response_p90: Figures
    response_p99: Figures
    response_p999: Figures
    retransmits: Figures
    rtt_3sigma: Figures
    rtt_6sigma: Figures
    rtt_added_p50: Figures
    rtt_added_p95: Figures
    rtt_added_p99: Figures
    rtt_avg: Figures
    rtt_exact_avg: Figures
    rtt_exact_max: Figures
    rtt_exact_min: Figures
    rtt_exact_p50: Figures
    rtt_exact_p90: Figures
    rtt_exact_p99: Figures
    rtt_exact_p999: Figures
    rtt_idle_p50: Figures
    rtt_idle_p95: Figures
    rtt_idle_p99: Figures
    rtt_kernel_max: Figures
    rtt_kernel_p50: Figures
    rtt_kernel_p90: Figures
    rtt_kernel_p99: Figures
    rtt_loaded_p50: Figures
    rtt_loaded_p95: Figures
    rtt_loaded_p99: Figures
    rtt_max: Figures
    rtt_min: Figures
    rtt_p50: Figures
    rtt_p90: Figures
    rtt_p99: Figures
    rtt_p999: Figures
    rtt_stddev: Figures
    scan_time_avg: Figures
    stage_ack_max: Figures
    stage_ack_p50: Figures
    stage_ack_p90: Figures
    stage_ack_p99: Figures
    stage_enqueue_max: Figures
    stage_enqueue_p50: Figures
    stage_enqueue_p90: Figures
    stage_enqueue_p99: Figures
    stage_subscriber_max: Figures
    stage_subscriber_p50: Figures
    stage_subscriber_p90: Figures
    stage_subscriber_p99: Figures
    stage_write_max: Figures
    stage_write_p50: Figures
    stage_write_p90: Figures
    stage_write_p99: Figures
    throughput: Figures
    throughput_best_second: Figures
    throughput_received: Figures
    throughput_received_best_second: Figures
    throughput_rx: Figures
    throughput_rx_best_second: Figures
    throughput_sent: Figures
    throughput_sent_best_second: Figures
    throughput_tx: Figures
    throughput_tx_best_second: Figures
