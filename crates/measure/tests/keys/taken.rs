//! Values that a plan may have.

use super::plan;
use espbench_measure::plan::{Plan, label, print};

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
        ("", &["udp-echo 100 B"][..]),
        ("size = 16", &["udp-echo 16 B"][..]),
        (r#"size = "1 kB""#, &["udp-echo 1000 B"][..]),
        (r#"size = "2 KiB""#, &["udp-echo 2048 B"][..]),
        ("size = [16, 64, 256]", &["udp-echo 16 B", "udp-echo 64 B", "udp-echo 256 B"][..]),
        ("count = 5", &["udp-echo 100 B"][..]),
        ("discard = 3", &["udp-echo 100 B"][..]),
        (r#"format = "binary""#, &["udp-echo 100 B, format binary"][..]),
        (r#"format = "ascii""#, &["udp-echo 100 B"][..]),
        ("format = \"binary\"\nin_flight = 8", &["udp-echo 100 B, format binary, in flight 8"][..]),
        (
            "format = \"binary\"\ninterval = \"2 ms\"",
            &["udp-echo 100 B, format binary, interval 2 ms"][..],
        ),
        (
            "format = \"binary\"\nin_flight = [1, 4]\nsize = [16, 32]",
            &[
                "udp-echo 16 B, format binary",
                "udp-echo 32 B, format binary",
                "udp-echo 16 B, format binary, in flight 4",
                "udp-echo 32 B, format binary, in flight 4",
            ][..],
        ),
        (r#"timeout = "250 ms""#, &["udp-echo 100 B"][..]),
        (r#"variant = "ps-none""#, &["udp-echo 100 B, variant ps-none"][..]),
        ("variant = \"ps-none\"\ndevices = 3", &["udp-echo 100 B, variant ps-none, 3 devices"][..]),
        (
            "variant = \"ps-none\"\ndistance = \"10 m\"",
            &["udp-echo 100 B, variant ps-none, 10 m"][..],
        ),
        ("variant = \"ps-none\"\nclock_mhz = 80", &["udp-echo 100 B, variant ps-none, 80 MHz"][..]),
        (
            "variant = \"ps-none\"\nidle_clock_mhz = 80",
            &["udp-echo 100 B, variant ps-none, 80 MHz idle"][..],
        ),
        (
            "variant = \"ps-none\"\npower_dbm = 8.5",
            &["udp-echo 100 B, variant ps-none, 8.5 dBm"][..],
        ),
        (
            "variant = \"ps-none\"\nphy_rate = \"HT20-MCS7\"",
            &["udp-echo 100 B, variant ps-none, rate HT20-MCS7"][..],
        ),
        (
            "variant = \"ps-none\"\nprofile = \"esp32c6\"",
            &["udp-echo 100 B, variant ps-none, profile esp32c6"][..],
        ),
        (
            "variant = \"ps-none\"\nenvironment = \"office\"",
            &["udp-echo 100 B, variant ps-none, environment office"][..],
        ),
        (
            "variant = \"ps-none\"\nCONFIG_FREERTOS_HZ = 1000",
            &["udp-echo 100 B, variant ps-none, CONFIG_FREERTOS_HZ=1000"][..],
        ),
        (r#"interval = "2 ms""#, &["udp-echo 100 B, interval 2 ms"][..]),
    ] {
        makes("udp-echo", keys, cells);
    }
}

#[test]
fn keys_of_ping() {
    for (keys, cells) in [
        ("", &["ping 56 B"][..]),
        ("size = 0", &["ping 0 B"][..]),
        ("size = 1400", &["ping 1400 B"][..]),
        ("count = 3", &["ping 56 B"][..]),
        ("discard = 0", &["ping 56 B"][..]),
        (r#"interval = "200 ms""#, &["ping 56 B, interval 200 ms"][..]),
        (r#"timeout = "2 s""#, &["ping 56 B"][..]),
        ("tos = 184", &["ping 56 B, tos 184"][..]),
        ("ttl = 1", &["ping 56 B, ttl 1"][..]),
        (
            "tos = [0, 184]\nsize = [56, 1400]",
            &[
                "ping 56 B, tos 0",
                "ping 1400 B, tos 0",
                "ping 56 B, tos 184",
                "ping 1400 B, tos 184",
            ][..],
        ),
    ] {
        makes("ping", keys, cells);
    }
}

#[test]
fn keys_of_iperf() {
    for (keys, cells) in [
        ("", &["iperf TCP"][..]),
        (r#"transport = "udp""#, &["iperf UDP, length 1470"][..]),
        (r#"direction = "reverse""#, &["iperf TCP, direction reverse"][..]),
        (
            r#"direction = ["forward", "full-duplex", "tradeoff", "dual"]"#,
            &[
                "iperf TCP",
                "iperf TCP, direction full-duplex",
                "iperf TCP, direction tradeoff",
                "iperf TCP, direction dual",
            ][..],
        ),
        (r#"time = "3 s""#, &["iperf TCP"][..]),
        (r#"bytes = "1 MB""#, &["iperf TCP, bytes 1000000"][..]),
        (r#"interval = "500 ms""#, &["iperf TCP"][..]),
        ("length = 1470", &["iperf TCP, length 1470"][..]),
        (
            "transport = \"udp\"\nbandwidth = \"40 Mbit/s\"",
            &["iperf UDP, length 1470, bandwidth 40000000 bit/s"][..],
        ),
        (
            "transport = \"udp\"\nbandwidth = [\"1 Mbit/s\", \"2 Mbit/s\"]",
            &[
                "iperf UDP, length 1470, bandwidth 1000000 bit/s",
                "iperf UDP, length 1470, bandwidth 2000000 bit/s",
            ][..],
        ),
        ("parallel = 2", &["iperf TCP, parallel 2"][..]),
        ("window = 65536", &["iperf TCP, window 65536"][..]),
        (r#"window = "64 KiB""#, &["iperf TCP, window 65536"][..]),
        ("no_delay = true", &["iperf TCP, no delay"][..]),
        ("tos = 16", &["iperf TCP, tos 16"][..]),
        ("mss = 536", &["iperf TCP, mss 536"][..]),
        (r#"congestion = "cubic""#, &["iperf TCP, congestion cubic"][..]),
        ("trip_times = true", &["iperf TCP, trip times"][..]),
        ("bounceback = 10", &["iperf TCP, length 100, bounceback 10"][..]),
        (
            "bounceback = 10\nbounceback_period = \"1 s\"",
            &["iperf TCP, length 100, bounceback 10"][..],
        ),
        (
            "bounceback = 10\nbounceback_hold = \"10 ms\"",
            &["iperf TCP, length 100, bounceback 10, bounceback hold 10 ms"][..],
        ),
        (
            "bounceback = 10\nbounceback_quick_ack = false",
            &["iperf TCP, length 100, bounceback 10, bounceback quick ack false"][..],
        ),
        (
            r#"latency = "icmp""#,
            &["iperf TCP, latency icmp, latency idle 5 s, latency interval 50 ms"][..],
        ),
        (
            "latency = \"udp\"\nlatency_idle = \"2 s\"",
            &["iperf TCP, latency udp:10000, latency idle 2 s, latency interval 50 ms"][..],
        ),
        (
            "latency = \"icmp\"\nlatency_interval = \"20 ms\"",
            &["iperf TCP, latency icmp, latency idle 5 s, latency interval 20 ms"][..],
        ),
        (r#"bounceback_period = "1 s""#, &["iperf TCP, length 100, bounceback 10"][..]),
        (
            "bounceback = 10\nbounceback_period = \"0 s\"",
            &["iperf TCP, length 100, bounceback 10, bounceback period 0 s"][..],
        ),
        (
            r#"latency_idle = "2 s""#,
            &["iperf TCP, latency icmp, latency idle 2 s, latency interval 50 ms"][..],
        ),
    ] {
        makes("iperf", keys, cells);
    }
}

#[test]
fn keys_of_tcp_rate() {
    for (keys, cells) in [
        ("", &["tcp-rate 64 B, Nagle on"][..]),
        ("size = 1", &["tcp-rate 1 B, Nagle on"][..]),
        (
            r#"size = ["64 B", "1 KiB"]"#,
            &["tcp-rate 64 B, Nagle on", "tcp-rate 1024 B, Nagle on"][..],
        ),
        ("runs = 3", &["tcp-rate 64 B, Nagle on"][..]),
        ("discard = 0", &["tcp-rate 64 B, Nagle on"][..]),
        (r#"run_time = "100 ms""#, &["tcp-rate 64 B, Nagle on"][..]),
        ("no_delay = true", &["tcp-rate 64 B, Nagle off"][..]),
        (
            "size = 64\nno_delay = [false, true]",
            &["tcp-rate 64 B, Nagle on", "tcp-rate 64 B, Nagle off"][..],
        ),
    ] {
        makes("tcp-rate", keys, cells);
    }
}

#[test]
fn keys_of_mqtt_rate() {
    for (keys, cells) in [
        ("", &["mqtt-rate MQTT 3.1.1 QoS 0, 64 B, 100 /s offered"][..]),
        (r#"version = "5""#, &["mqtt-rate MQTT 5 QoS 0, 64 B, 100 /s offered"][..]),
        (
            r#"version = ["3.1.1", "5"]"#,
            &[
                "mqtt-rate MQTT 3.1.1 QoS 0, 64 B, 100 /s offered",
                "mqtt-rate MQTT 5 QoS 0, 64 B, 100 /s offered",
            ][..],
        ),
        ("qos = 1", &["mqtt-rate MQTT 3.1.1 QoS 1, 64 B, 100 /s offered"][..]),
        (
            "qos = [0, 1, 2]",
            &[
                "mqtt-rate MQTT 3.1.1 QoS 0, 64 B, 100 /s offered",
                "mqtt-rate MQTT 3.1.1 QoS 1, 64 B, 100 /s offered",
                "mqtt-rate MQTT 3.1.1 QoS 2, 64 B, 100 /s offered",
            ][..],
        ),
        ("size = 64", &["mqtt-rate MQTT 3.1.1 QoS 0, 64 B, 100 /s offered"][..]),
        (r#"offered = "saturate""#, &["mqtt-rate MQTT 3.1.1 QoS 0, 64 B, saturated"][..]),
        (r#"offered = "12.5 /s""#, &["mqtt-rate MQTT 3.1.1 QoS 0, 64 B, 12.5 /s offered"][..]),
        (r#"offered = "listen""#, &["mqtt-rate MQTT 3.1.1 QoS 0, listening"][..]),
        (
            r#"offered = "search 10 /s to 5000 /s""#,
            &["mqtt-rate MQTT 3.1.1 QoS 0, 64 B, search 10 to 5000 /s"][..],
        ),
        (
            "qos = 1\nin_flight = 10",
            &["mqtt-rate MQTT 3.1.1 QoS 1, 64 B, 100 /s offered, in flight 10"][..],
        ),
        (r#"time = "5 s""#, &["mqtt-rate MQTT 3.1.1 QoS 0, 64 B, 100 /s offered"][..]),
        ("count = 100", &["mqtt-rate MQTT 3.1.1 QoS 0, 64 B, 100 /s offered"][..]),
        (
            "offered = \"10 /s\"\nqueue = 5",
            &["mqtt-rate MQTT 3.1.1 QoS 0, 64 B, 10 /s offered"][..],
        ),
        ("clients = 3", &["mqtt-rate MQTT 3.1.1 QoS 0, 64 B, 100 /s offered, clients 3"][..]),
        ("retain = true", &["mqtt-rate MQTT 3.1.1 QoS 0, 64 B, 100 /s offered, retain"][..]),
        (
            "version = \"5\"\nclean_start = false\nsession_expiry = \"1 h\"",
            &[
                "mqtt-rate MQTT 5 QoS 0, 64 B, 100 /s offered, clean start false, session expiry 3600 s",
            ][..],
        ),
        (r#"offered = "10 Hz""#, &["mqtt-rate MQTT 3.1.1 QoS 0, 64 B, 10 /s offered"][..]),
    ] {
        makes("mqtt-rate", keys, cells);
    }
}

#[test]
fn keys_of_esp_now() {
    for (keys, cells) in [
        ("", &["esp-now round trip, unicast, 230 B, 3 m"][..]),
        (r#"test = "one-way""#, &["esp-now one way, unicast, 230 B, 3 m"][..]),
        ("test = \"throughput\"\ntime = \"5 s\"", &["esp-now throughput, unicast, 230 B, 3 m"][..]),
        (
            "test = \"multi-ping\"\ndevices = [1, 10]",
            &[
                "esp-now round trips at once, unicast, 230 B, 1 device, 3 m",
                "esp-now round trips at once, unicast, 230 B, 10 devices, 3 m",
            ][..],
        ),
        (
            "test = \"ota\"\nsize = 1029248\ndevices = 3",
            &["esp-now OTA, 1029248 B, 3 devices, 3 m"][..],
        ),
        ("test = \"handshake\"\ndevices = 4", &["esp-now handshake, 4 devices, 3 m"][..]),
        ("test = \"provisioning\"\ndevices = 2", &["esp-now provisioning, 2 devices, 3 m"][..]),
        (r#"cast = "broadcast""#, &["esp-now round trip, broadcast, 230 B, 3 m"][..]),
        (r#"cast = "broadcast 3""#, &["esp-now round trip, broadcast 3, 230 B, 3 m"][..]),
        (
            "size = [10, 230]",
            &["esp-now round trip, unicast, 10 B, 3 m", "esp-now round trip, unicast, 230 B, 3 m"]
                [..],
        ),
        ("count = 7", &["esp-now round trip, unicast, 230 B, 3 m"][..]),
        (r#"distance = "3 m""#, &["esp-now round trip, unicast, 230 B, 3 m"][..]),
        (r#"distance = "1 m to 5 m""#, &["esp-now round trip, unicast, 230 B, 1 m to 5 m"][..]),
        (
            "encrypted = true\nsize = 100",
            &["esp-now round trip, unicast, 100 B, 3 m, encrypted"][..],
        ),
        (
            r#"profile = "esp32c3""#,
            &["esp-now round trip, unicast, 230 B, 3 m, profile esp32c3"][..],
        ),
        (r#"phy_rate = "54M""#, &["esp-now round trip, unicast, 230 B, 3 m, rate 54M"][..]),
        ("power_dbm = -5", &["esp-now round trip, unicast, 230 B, 3 m, -5 dBm"][..]),
        (
            r#"environment = "home""#,
            &["esp-now round trip, unicast, 230 B, 3 m, environment home"][..],
        ),
        (
            "clock_mhz = [80, 160]",
            &[
                "esp-now round trip, unicast, 230 B, 3 m, 80 MHz",
                "esp-now round trip, unicast, 230 B, 3 m, 160 MHz",
            ][..],
        ),
        ("idle_clock_mhz = 80", &["esp-now round trip, unicast, 230 B, 3 m, 80 MHz idle"][..]),
    ] {
        makes("esp-now", keys, cells);
    }
}

#[test]
fn keys_of_wifi_join() {
    for (keys, cells) in [
        ("", &["wifi-join"][..]),
        ("count = 5", &["wifi-join"][..]),
        ("discard = 2", &["wifi-join"][..]),
        (r#"interval = "5 s""#, &["wifi-join"][..]),
        (r#"timeout = "30 s""#, &["wifi-join"][..]),
        ("cold = false", &["wifi-join, key known"][..]),
        ("variant = \"ps-none\"\ncount = 3", &["wifi-join, variant ps-none"][..]),
        (r#"interval = "1 h""#, &["wifi-join"][..]),
    ] {
        makes("wifi-join", keys, cells);
    }
}
