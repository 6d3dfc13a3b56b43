//! Values that a plan may have.

use super::plan;
use espbench_measure::label::of_workload as label;
use espbench_measure::plan::{Plan, print};

/// Checks that keys make these cells, each with its label, and that the cells print as a plan that makes them again.
#[track_caller]
fn makes(kind: &str, keys: &str, cells: &[&str]) {
    let plan = Plan::parse(&plan(kind, keys)).unwrap_or_else(|error| panic!("{keys}: {error}"));
    let labels: Vec<String> = plan.workloads.iter().map(label).collect();
    assert_eq!(labels, cells, "{kind}: {keys}");
    let again = Plan::parse(&print("again", 1, &plan.workloads)).unwrap();
    assert_eq!(again.workloads, plan.workloads, "{kind}: {keys}");
}

#[test]
fn keys_of_udp_echo() {
    for (keys, cells) in [
        ("", &["udp-echo, 100 B"][..]),
        ("size = 16", &["udp-echo, 16 B"][..]),
        (r#"size = "1 kB""#, &["udp-echo, 1000 B"][..]),
        (r#"size = "2 KiB""#, &["udp-echo, 2048 B"][..]),
        ("size = [16, 64, 256]", &["udp-echo, 16 B", "udp-echo, 64 B", "udp-echo, 256 B"][..]),
        ("count = 5", &["udp-echo, 100 B"][..]),
        ("discard = 3", &["udp-echo, 100 B"][..]),
        (r#"format = "binary""#, &["udp-echo, 100 B, binary"][..]),
        (r#"format = "ascii""#, &["udp-echo, 100 B"][..]),
        ("format = \"binary\"\nin_flight = 8", &["udp-echo, 100 B, binary, 8 in flight"][..]),
        ("format = \"binary\"\ninterval = \"2 ms\"", &["udp-echo, 100 B, binary, every 2 ms"][..]),
        (
            "format = \"binary\"\nin_flight = [1, 4]\nsize = [16, 32]",
            &[
                "udp-echo, 16 B, binary",
                "udp-echo, 32 B, binary",
                "udp-echo, 16 B, binary, 4 in flight",
                "udp-echo, 32 B, binary, 4 in flight",
            ][..],
        ),
        (r#"timeout = "250 ms""#, &["udp-echo, 100 B"][..]),
        (r#"variant = "ps-none""#, &["udp-echo, 100 B, ps-none"][..]),
        ("variant = \"ps-none\"\ndevices = 3", &["udp-echo, 100 B, 3 devices, ps-none"][..]),
        ("variant = \"ps-none\"\ndistance = \"10 m\"", &["udp-echo, 100 B, 10 m, ps-none"][..]),
        ("variant = \"ps-none\"\nclock_mhz = 80", &["udp-echo, 100 B, ps-none, 80 MHz"][..]),
        (
            "variant = \"ps-none\"\nidle_clock_mhz = 80",
            &["udp-echo, 100 B, ps-none, 80 MHz idle"][..],
        ),
        ("variant = \"ps-none\"\npower_dbm = 8.5", &["udp-echo, 100 B, ps-none, 8.5 dBm"][..]),
        (
            "variant = \"ps-none\"\nphy_rate = \"HT20-MCS7\"",
            &["udp-echo, 100 B, ps-none, rate HT20-MCS7"][..],
        ),
        (
            "variant = \"ps-none\"\nprofile = \"esp32c6\"",
            &["udp-echo, 100 B, ps-none, profile esp32c6"][..],
        ),
        (
            "variant = \"ps-none\"\nenvironment = \"office\"",
            &["udp-echo, 100 B, ps-none, environment office"][..],
        ),
        (
            "variant = \"ps-none\"\nCONFIG_FREERTOS_HZ = 1000",
            &["udp-echo, 100 B, ps-none, CONFIG_FREERTOS_HZ=1000"][..],
        ),
        (r#"interval = "2 ms""#, &["udp-echo, 100 B, every 2 ms"][..]),
    ] {
        makes("udp-echo", keys, cells);
    }
}

#[test]
fn keys_of_ping() {
    for (keys, cells) in [
        ("", &["ping, 56 B, one every 100 ms"][..]),
        ("size = 0", &["ping, 0 B, one every 100 ms"][..]),
        ("size = 1400", &["ping, 1400 B, one every 100 ms"][..]),
        ("count = 3", &["ping, 56 B, one every 100 ms"][..]),
        ("discard = 0", &["ping, 56 B, one every 100 ms"][..]),
        (r#"interval = "200 ms""#, &["ping, 56 B, one every 200 ms"][..]),
        (r#"timeout = "2 s""#, &["ping, 56 B, one every 100 ms"][..]),
        ("tos = 184", &["ping, 56 B, one every 100 ms, TOS 0xb8"][..]),
        ("ttl = 1", &["ping, 56 B, one every 100 ms, TTL 1"][..]),
        (
            "tos = [0, 184]\nsize = [56, 1400]",
            &[
                "ping, 56 B, one every 100 ms, TOS 0x00",
                "ping, 1400 B, one every 100 ms, TOS 0x00",
                "ping, 56 B, one every 100 ms, TOS 0xb8",
                "ping, 1400 B, one every 100 ms, TOS 0xb8",
            ][..],
        ),
    ] {
        makes("ping", keys, cells);
    }
}

#[test]
fn keys_of_iperf() {
    for (keys, cells) in [
        ("", &["iperf, TCP to the device, 131072 B"][..]),
        (r#"transport = "udp""#, &["iperf, UDP to the device, 1470 B"][..]),
        (r#"direction = "reverse""#, &["iperf, TCP from the device, 131072 B"][..]),
        (
            r#"direction = ["forward", "full-duplex", "tradeoff", "dual"]"#,
            &[
                "iperf, TCP to the device, 131072 B",
                "iperf, TCP both ways (full duplex), 131072 B",
                "iperf, TCP to, then from the device, 131072 B",
                "iperf, TCP both ways (dual), 131072 B",
            ][..],
        ),
        (r#"time = "3 s""#, &["iperf, TCP to the device, 131072 B"][..]),
        (r#"bytes = "1 MB""#, &["iperf, TCP to the device, 131072 B"][..]),
        (r#"interval = "500 ms""#, &["iperf, TCP to the device, 131072 B"][..]),
        ("length = 1470", &["iperf, TCP to the device, 1470 B"][..]),
        (
            "transport = \"udp\"\nbandwidth = \"40 Mbit/s\"",
            &["iperf, UDP to the device, 1470 B, 40 Mbit/s offered"][..],
        ),
        (
            "transport = \"udp\"\nbandwidth = [\"1 Mbit/s\", \"2 Mbit/s\"]",
            &[
                "iperf, UDP to the device, 1470 B, 1 Mbit/s offered",
                "iperf, UDP to the device, 1470 B, 2 Mbit/s offered",
            ][..],
        ),
        ("parallel = 2", &["iperf, TCP to the device, 131072 B, 2 streams"][..]),
        ("window = 65536", &["iperf, TCP to the device, 131072 B, window 65536 B"][..]),
        (r#"window = "64 KiB""#, &["iperf, TCP to the device, 131072 B, window 65536 B"][..]),
        ("no_delay = true", &["iperf, TCP to the device, 131072 B, Nagle off"][..]),
        ("tos = 16", &["iperf, TCP to the device, 131072 B, TOS 0x10"][..]),
        ("mss = 536", &["iperf, TCP to the device, 131072 B, MSS 536 B"][..]),
        (
            r#"congestion = "cubic""#,
            &["iperf, TCP to the device, 131072 B, congestion control cubic"][..],
        ),
        ("trip_times = true", &["iperf, TCP to the device, 131072 B, trip times"][..]),
        ("bounceback = 10", &["iperf, TCP bounceback, 100 B, 10 requests every 1 s"][..]),
        (
            "bounceback = 10\nbounceback_period = \"1 s\"",
            &["iperf, TCP bounceback, 100 B, 10 requests every 1 s"][..],
        ),
        (
            "bounceback = 10\nbounceback_hold = \"10 ms\"",
            &["iperf, TCP bounceback, 100 B, 10 requests every 1 s, held 10 ms"][..],
        ),
        (
            "bounceback = 10\nbounceback_quick_ack = false",
            &["iperf, TCP bounceback, 100 B, 10 requests every 1 s, no quick ack"][..],
        ),
        (r#"latency = "icmp""#, &["iperf, TCP to the device, 131072 B, echoes by icmp"][..]),
        (
            "latency = \"udp\"\nlatency_idle = \"2 s\"",
            &["iperf, TCP to the device, 131072 B, echoes by udp:10000"][..],
        ),
        (
            "latency = \"icmp\"\nlatency_interval = \"20 ms\"",
            &["iperf, TCP to the device, 131072 B, echoes by icmp"][..],
        ),
        (
            r#"bounceback_period = "1 s""#,
            &["iperf, TCP bounceback, 100 B, 10 requests every 1 s"][..],
        ),
        (
            "bounceback = 10\nbounceback_period = \"0 s\"",
            &["iperf, TCP bounceback, 100 B, requests back to back"][..],
        ),
        (r#"latency_idle = "2 s""#, &["iperf, TCP to the device, 131072 B, echoes by icmp"][..]),
    ] {
        makes("iperf", keys, cells);
    }
}

#[test]
fn keys_of_tcp_rate() {
    for (keys, cells) in [
        ("", &["tcp-rate, 64 B, Nagle on"][..]),
        ("size = 1", &["tcp-rate, 1 B, Nagle on"][..]),
        (
            r#"size = ["64 B", "1 KiB"]"#,
            &["tcp-rate, 64 B, Nagle on", "tcp-rate, 1024 B, Nagle on"][..],
        ),
        ("runs = 3", &["tcp-rate, 64 B, Nagle on"][..]),
        ("discard = 0", &["tcp-rate, 64 B, Nagle on"][..]),
        (r#"run_time = "100 ms""#, &["tcp-rate, 64 B, Nagle on"][..]),
        ("no_delay = true", &["tcp-rate, 64 B, Nagle off"][..]),
        (
            "size = 64\nno_delay = [false, true]",
            &["tcp-rate, 64 B, Nagle on", "tcp-rate, 64 B, Nagle off"][..],
        ),
    ] {
        makes("tcp-rate", keys, cells);
    }
}

#[test]
fn keys_of_mqtt_rate() {
    for (keys, cells) in [
        ("", &["mqtt-rate, MQTT 3.1.1, QoS 0, 64 B, 100 messages/s offered"][..]),
        (r#"version = "5""#, &["mqtt-rate, MQTT 5, QoS 0, 64 B, 100 messages/s offered"][..]),
        (
            r#"version = ["3.1.1", "5"]"#,
            &[
                "mqtt-rate, MQTT 3.1.1, QoS 0, 64 B, 100 messages/s offered",
                "mqtt-rate, MQTT 5, QoS 0, 64 B, 100 messages/s offered",
            ][..],
        ),
        (
            "qos = 1",
            &["mqtt-rate, MQTT 3.1.1, QoS 1, 64 B, 100 messages/s offered, 20 in flight"][..],
        ),
        (
            "qos = [0, 1, 2]",
            &[
                "mqtt-rate, MQTT 3.1.1, QoS 0, 64 B, 100 messages/s offered",
                "mqtt-rate, MQTT 3.1.1, QoS 1, 64 B, 100 messages/s offered, 20 in flight",
                "mqtt-rate, MQTT 3.1.1, QoS 2, 64 B, 100 messages/s offered, 20 in flight",
            ][..],
        ),
        ("size = 64", &["mqtt-rate, MQTT 3.1.1, QoS 0, 64 B, 100 messages/s offered"][..]),
        (
            r#"offered = "saturate""#,
            &["mqtt-rate, MQTT 3.1.1, QoS 0, 64 B, as fast as it goes"][..],
        ),
        (
            r#"offered = "12.5 /s""#,
            &["mqtt-rate, MQTT 3.1.1, QoS 0, 64 B, 12.5 messages/s offered"][..],
        ),
        (r#"offered = "listen""#, &["mqtt-rate, MQTT 3.1.1, QoS 0, listening"][..]),
        (
            r#"offered = "search 10 /s to 5000 /s""#,
            &["mqtt-rate, MQTT 3.1.1, QoS 0, 64 B, search 10 to 5000 messages/s"][..],
        ),
        (
            "qos = 1\nin_flight = 10",
            &["mqtt-rate, MQTT 3.1.1, QoS 1, 64 B, 100 messages/s offered, 10 in flight"][..],
        ),
        (r#"time = "5 s""#, &["mqtt-rate, MQTT 3.1.1, QoS 0, 64 B, 100 messages/s offered"][..]),
        ("count = 100", &["mqtt-rate, MQTT 3.1.1, QoS 0, 64 B, 100 messages/s offered"][..]),
        (
            "offered = \"10 /s\"\nqueue = 5",
            &["mqtt-rate, MQTT 3.1.1, QoS 0, 64 B, 10 messages/s offered"][..],
        ),
        (
            "clients = 3",
            &["mqtt-rate, MQTT 3.1.1, QoS 0, 64 B, 100 messages/s offered, 3 clients"][..],
        ),
        (
            "retain = true",
            &["mqtt-rate, MQTT 3.1.1, QoS 0, 64 B, 100 messages/s offered, retained"][..],
        ),
        (
            "version = \"5\"\nclean_start = false\nsession_expiry = \"1 h\"",
            &[
                "mqtt-rate, MQTT 5, QoS 0, 64 B, 100 messages/s offered, session resumed, session kept 3600 s",
            ][..],
        ),
        (
            r#"offered = "10 Hz""#,
            &["mqtt-rate, MQTT 3.1.1, QoS 0, 64 B, 10 messages/s offered"][..],
        ),
    ] {
        makes("mqtt-rate", keys, cells);
    }
}

#[test]
fn keys_of_esp_now() {
    for (keys, cells) in [
        ("", &["esp-now, round trip, unicast, 230 B, 3 m"][..]),
        (r#"test = "one-way""#, &["esp-now, one way, unicast, 230 B, 3 m"][..]),
        (
            "test = \"throughput\"\ntime = \"5 s\"",
            &["esp-now, throughput, unicast, 230 B, 3 m, 5 s"][..],
        ),
        (
            "test = \"multi-ping\"\ndevices = [1, 10]",
            &[
                "esp-now, round trips at once, unicast, 230 B, 1 device, 3 m",
                "esp-now, round trips at once, unicast, 230 B, 10 devices, 3 m",
            ][..],
        ),
        (
            "test = \"ota\"\nsize = 1029248\ndevices = 3",
            &["esp-now, OTA, 1029248 B, 3 devices, 3 m"][..],
        ),
        ("test = \"handshake\"\ndevices = 4", &["esp-now, handshake, 4 devices, 3 m"][..]),
        ("test = \"provisioning\"\ndevices = 2", &["esp-now, provisioning, 2 devices, 3 m"][..]),
        (r#"cast = "broadcast""#, &["esp-now, round trip, broadcast, 230 B, 3 m"][..]),
        (r#"cast = "broadcast 3""#, &["esp-now, round trip, broadcast 3, 230 B, 3 m"][..]),
        (
            "size = [10, 230]",
            &[
                "esp-now, round trip, unicast, 10 B, 3 m",
                "esp-now, round trip, unicast, 230 B, 3 m",
            ][..],
        ),
        ("count = 7", &["esp-now, round trip, unicast, 230 B, 3 m, 7 pings"][..]),
        (r#"distance = "3 m""#, &["esp-now, round trip, unicast, 230 B, 3 m"][..]),
        (r#"distance = "1 m to 5 m""#, &["esp-now, round trip, unicast, 230 B, 1 m to 5 m"][..]),
        (
            "encrypted = true\nsize = 100",
            &["esp-now, round trip, unicast, 100 B, 3 m, encrypted"][..],
        ),
        (
            r#"profile = "esp32c3""#,
            &["esp-now, round trip, unicast, 230 B, 3 m, profile esp32c3"][..],
        ),
        (r#"phy_rate = "54M""#, &["esp-now, round trip, unicast, 230 B, 3 m, rate 54M"][..]),
        ("power_dbm = -5", &["esp-now, round trip, unicast, 230 B, 3 m, -5 dBm"][..]),
        (
            r#"environment = "home""#,
            &["esp-now, round trip, unicast, 230 B, 3 m, environment home"][..],
        ),
        (
            "clock_mhz = [80, 160]",
            &[
                "esp-now, round trip, unicast, 230 B, 3 m, 80 MHz",
                "esp-now, round trip, unicast, 230 B, 3 m, 160 MHz",
            ][..],
        ),
        ("idle_clock_mhz = 80", &["esp-now, round trip, unicast, 230 B, 3 m, 80 MHz idle"][..]),
    ] {
        makes("esp-now", keys, cells);
    }
}

#[test]
fn keys_of_wifi_join() {
    for (keys, cells) in [
        ("", &["wifi-join, cold"][..]),
        ("count = 5", &["wifi-join, cold"][..]),
        ("discard = 2", &["wifi-join, cold"][..]),
        (r#"interval = "5 s""#, &["wifi-join, cold"][..]),
        (r#"timeout = "30 s""#, &["wifi-join, cold"][..]),
        ("cold = false", &["wifi-join, key known"][..]),
        ("variant = \"ps-none\"\ncount = 3", &["wifi-join, cold, ps-none"][..]),
        (r#"interval = "1 h""#, &["wifi-join, cold"][..]),
    ] {
        makes("wifi-join", keys, cells);
    }
}
