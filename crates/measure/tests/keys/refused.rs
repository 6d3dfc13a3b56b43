//! Values that a plan may not have, each with its place and what would do.

use super::plan;
use espbench_measure::plan::Plan;

/// Checks what is said of keys. Behind it there may be a list of all keys of the kind.
#[track_caller]
fn refused(kind: &str, keys: &str, said: &str) {
    let error = Plan::parse(&plan(kind, keys)).expect_err(keys).to_string();
    let error = error.split(" Known here: ").next().unwrap_or_default();
    assert_eq!(error, said, "{kind}: {keys}");
}

/// Keys of udp-echo, with what is said of them.
const UDP_ECHO: &[(&str, &str)] = &[
    ("size = 0", "line 4, column 8: `size`: 0 is out of range: use 1 to 65507"),
    ("size = -1", "line 4, column 8: `size`: -1 is out of range: use 1 to 65507"),
    ("size = 1.5", "line 4, column 8: `size`: expected a whole number, found a number"),
    (
        r#"size = "ten""#,
        "line 4, column 8: `size`: `ten` is not a size: write a number and a unit, such as `10 B`",
    ),
    (
        r#"size = "10 ms""#,
        "line 4, column 8: `size`: `ms` is not a unit of size: use one of B, kB, KiB, MB, MiB, GB, GiB",
    ),
    ("size = true", "line 4, column 8: `size`: expected a whole number, found true or false"),
    (
        r#"size = [1, "x"]"#,
        "line 4, column 12: `size`: `x` is not a size: write a number and a unit, such as `10 B`",
    ),
    ("size = [[1]]", "line 4, column 9: `size`: expected a value, found a TOML array"),
    ("count = 0", "line 4, column 9: `count`: 0 is out of range: use 1 to 100000000"),
    (r#"count = "5""#, "line 4, column 9: `count`: expected a whole number, found a text"),
    ("count = 1e3", "line 4, column 9: `count`: expected a whole number, found a number"),
    ("discard = -2", "line 4, column 11: `discard`: -2 is out of range: use 0 to 1000000"),
    (
        r#"format = "hex""#,
        "line 4, column 10: `format`: `hex` is not known here: use one of ascii, binary",
    ),
    ("format = 3", "line 4, column 10: `format`: expected a text in quotes, found a whole number"),
    (
        "format = \"binary\"\nin_flight = 0",
        "line 5, column 13: `in_flight`: 0 is out of range: use 1 to 1024",
    ),
    (
        "format = \"binary\"\nin_flight = 70000",
        "line 5, column 13: `in_flight`: 70000 is out of range: use 1 to 1024",
    ),
    (
        "format = \"binary\"\ninterval = \"0 s\"",
        "line 5, column 12: `interval`: `0 s` is out of range: use 1 us to 24 h",
    ),
    (
        "format = \"binary\"\ninterval = 5",
        "line 5, column 12: `interval`: a bare number has no unit: write it as \"10 s\"",
    ),
    (r#"timeout = "0 s""#, "line 4, column 11: `timeout`: `0 s` is out of range: use 1 ms to 1 h"),
    (
        r#"timeout = "2 days""#,
        "line 4, column 11: `timeout`: `days` is not a unit of time: use one of ns, us, µs, ms, s, min, h, d",
    ),
    ("payload = 16", "line 4, column 1: unknown key `payload`. Did you mean `size`?"),
    ("in-flight = 4", "line 4, column 1: unknown key `in-flight`. Did you mean `in_flight`?"),
    (
        "devices = 3",
        "line 2, column 1: only devices of a lab have that; name one with `variant`, such as variant = \"ps-none\" (`espbench lab list` shows all)",
    ),
    (
        r#"distance = "10 m""#,
        "line 2, column 1: only devices of a lab have that; name one with `variant`, such as variant = \"ps-none\" (`espbench lab list` shows all)",
    ),
    (
        r#"variant = "two words""#,
        "line 4, column 11: `variant`: `two words` is no name of a variant: 1 to 32 letters, digits, `-`, `_` and `.`",
    ),
    (
        "variant = 7",
        "line 4, column 11: `variant`: expected a text in quotes, found a whole number",
    ),
    (
        "variant = \"ps-none\"\ndevices = 0",
        "line 5, column 11: `devices`: 0 is out of range: use 1 to 1000",
    ),
    (
        "variant = \"ps-none\"\ndistance = \"0 m\"",
        "line 5, column 12: `distance`: `0 m` is out of range: use 0.01 m to 100 km",
    ),
    (
        "variant = \"ps-none\"\ndistance = 10",
        "line 5, column 12: `distance`: expected a text in quotes, found a whole number",
    ),
    (
        "variant = \"ps-none\"\nclock_mhz = 5",
        "line 5, column 13: `clock_mhz`: 5 is out of range: use 10 to 1000",
    ),
    (
        "variant = \"ps-none\"\npower_dbm = 40",
        "line 5, column 13: `power_dbm`: 40 is out of range: use -20 to 30",
    ),
    (
        "variant = \"ps-none\"\nCONFIG_FREERTOS_HZ = \"fast\"",
        "line 5, column 22: `CONFIG_FREERTOS_HZ`: expected a whole number, found a text",
    ),
    (
        "variant = \"ps-none\"\nCONFIG_NO_SUCH = 1",
        "line 5, column 18: `CONFIG_NO_SUCH`: no option of sdkconfig that shapes links has this name. `docs/labs.md` lists them",
    ),
    (
        "CONFIG_FREERTOS_HZ = 1000",
        "line 2, column 1: only devices of a lab have that; name one with `variant`, such as variant = \"ps-none\" (`espbench lab list` shows all)",
    ),
    ("size = 16\nsize = 17", "line 5, column 1: not TOML: duplicate key"),
];

#[test]
fn values_that_udp_echo_refuses() {
    for (keys, said) in UDP_ECHO {
        refused("udp-echo", keys, said);
    }
}

/// Keys of ping, with what is said of them.
const PING: &[(&str, &str)] = &[
    ("size = 70000", "line 4, column 8: `size`: 70000 is out of range: use 0 to 65507"),
    ("tos = 256", "line 4, column 7: `tos`: 256 is out of range: use 0 to 255"),
    (r#"tos = "EF""#, "line 4, column 7: `tos`: expected a whole number, found a text"),
    ("ttl = 0", "line 4, column 7: `ttl`: 0 is out of range: use 1 to 255"),
    ("ttl = 300", "line 4, column 7: `ttl`: 300 is out of range: use 1 to 255"),
    (
        r#"interval = "0 ms""#,
        "line 4, column 12: `interval`: `0 ms` is out of range: use 1 ms to 24 h",
    ),
    (
        "interval = 1",
        "line 4, column 12: `interval`: a bare number has no unit: write it as \"10 s\"",
    ),
    (
        r#"timeout = "-1 s""#,
        "line 4, column 11: `timeout`: `-1 s` must not be negative or infinite",
    ),
    (r#"format = "binary""#, "line 4, column 1: unknown key `format`."),
];

#[test]
fn values_that_ping_refuses() {
    for (keys, said) in PING {
        refused("ping", keys, said);
    }
}

/// Keys of iperf, with what is said of them.
const IPERF: &[(&str, &str)] = &[
    (
        r#"transport = "sctp""#,
        "line 4, column 13: `transport`: `sctp` is not known here: use one of tcp, udp",
    ),
    (
        r#"transport = "UDP""#,
        "line 4, column 13: `transport`: `UDP` is not known here: use one of tcp, udp",
    ),
    (
        r#"direction = "back""#,
        "line 4, column 13: `direction`: `back` is not known here: use one of forward, reverse, full-duplex, tradeoff, dual",
    ),
    (r#"time = "0 s""#, "line 4, column 8: `time`: `0 s` is out of range: use 10 ms to 24 h"),
    (
        r#"time = "ten seconds""#,
        "line 4, column 8: `time`: `ten seconds` is not a time: write a number and a unit, such as `10 ns`",
    ),
    ("time = 10", "line 4, column 8: `time`: a bare number has no unit: write it as \"10 s\""),
    ("bytes = 0", "line 4, column 9: `bytes`: 0 is out of range: use 1 to 1125899906842624"),
    (
        r#"bytes = "1 Mbit/s""#,
        "line 4, column 9: `bytes`: `Mbit/s` is not a unit of size: use one of B, kB, KiB, MB, MiB, GB, GiB",
    ),
    (
        r#"interval = "1 us""#,
        "line 4, column 12: `interval`: `1 us` is out of range: use 5 ms to 24 h",
    ),
    ("length = 0", "line 4, column 10: `length`: 0 is out of range: use 1 to 16777216"),
    (
        r#"length = "1 GB""#,
        "line 4, column 10: `length`: `1 GB` is out of range: use 1 B to 16777216 B",
    ),
    (
        "bandwidth = 40",
        "line 4, column 13: `bandwidth`: a bare number has no unit: write it as \"40 Mbit/s\"",
    ),
    (
        r#"bandwidth = "40 MB""#,
        "line 4, column 13: `bandwidth`: `MB` is not a unit of bit rate: use one of bit/s, kbit/s, Mbit/s, Gbit/s",
    ),
    (
        r#"bandwidth = "40""#,
        "line 4, column 13: `bandwidth`: `40` has no unit: add one of bit/s, kbit/s, Mbit/s, Gbit/s",
    ),
    (
        "transport = \"udp\"\nbandwidth = \"0 bit/s\"",
        "line 5, column 13: `bandwidth`: out of range: use 1 bit/s to 10000 Gbit/s",
    ),
    ("parallel = 0", "line 4, column 12: `parallel`: 0 is out of range: use 1 to 128"),
    ("parallel = 129", "line 4, column 12: `parallel`: 129 is out of range: use 1 to 128"),
    ("window = 0", "line 4, column 10: `window`: 0 is out of range: use 1 to 1073741824"),
    ("no_delay = 1", "line 4, column 12: `no_delay`: expected true or false, found a whole number"),
    (r#"no_delay = "yes""#, "line 4, column 12: `no_delay`: expected true or false, found a text"),
    ("tos = 300", "line 4, column 7: `tos`: 300 is out of range: use 0 to 255"),
    ("mss = 10", "line 4, column 7: `mss`: 10 is out of range: use 48 to 65495"),
    (
        r#"congestion = """#,
        "line 4, column 14: `congestion`: `` is no name of a congestion control: Linux has reno, cubic, bbr, bic, cdg, dctcp, highspeed, htcp, hybla, illinois, lp, nv, scalable, vegas, veno, westwood, yeah",
    ),
    (
        r#"trip_times = "on""#,
        "line 4, column 14: `trip_times`: expected true or false, found a text",
    ),
    ("bounceback = 0", "line 4, column 14: `bounceback`: 0 is out of range: use 1 to 10000"),
    (
        r#"latency = "tcp""#,
        "line 4, column 11: `latency`: `tcp` is no way to probe: use icmp, udp or udp:PORT",
    ),
    (
        r#"latency = "udp:99999""#,
        "line 4, column 11: `latency`: `udp:99999` is no way to probe: use icmp, udp or udp:PORT",
    ),
    (
        "latency = \"icmp\"\nlatency_interval = \"0 s\"",
        "line 5, column 20: `latency_interval`: `0 s` is out of range: use 1 ms to 24 h",
    ),
];

#[test]
fn values_that_iperf_refuses() {
    for (keys, said) in IPERF {
        refused("iperf", keys, said);
    }
}

/// Keys of tcp-rate, with what is said of them.
const TCP_RATE: &[(&str, &str)] = &[
    ("size = 0", "line 4, column 8: `size`: 0 is out of range: use 1 to 1048576"),
    ("size = 2000000", "line 4, column 8: `size`: 2000000 is out of range: use 1 to 1048576"),
    ("runs = 0", "line 4, column 8: `runs`: 0 is out of range: use 1 to 10000"),
    ("runs = 20000", "line 4, column 8: `runs`: 20000 is out of range: use 1 to 10000"),
    ("discard = 2000", "line 4, column 11: `discard`: 2000 is out of range: use 0 to 1000"),
    (
        r#"run_time = "0 s""#,
        "line 4, column 12: `run_time`: `0 s` is out of range: use 10 ms to 24 h",
    ),
    (
        "run_time = 1",
        "line 4, column 12: `run_time`: a bare number has no unit: write it as \"10 s\"",
    ),
    (r#"no_delay = "x""#, "line 4, column 12: `no_delay`: expected true or false, found a text"),
    ("count = 3", "line 4, column 1: unknown key `count`. Did you mean `runs`?"),
];

#[test]
fn values_that_tcp_rate_refuses() {
    for (keys, said) in TCP_RATE {
        refused("tcp-rate", keys, said);
    }
}

/// Keys of mqtt-rate, with what is said of them.
const MQTT_RATE: &[(&str, &str)] = &[
    (
        r#"version = "4""#,
        "line 4, column 11: `version`: `4` is not known here: use one of 3.1.1, 5",
    ),
    (
        "version = 5",
        "line 4, column 11: `version`: expected a text in quotes, found a whole number",
    ),
    ("qos = 3", "line 4, column 7: `qos`: 3 is out of range: use 0 to 2"),
    (r#"qos = "one""#, "line 4, column 7: `qos`: expected a whole number, found a text"),
    ("size = 3", "line 4, column 8: `size`: 3 is out of range: use 16 to 1048576"),
    (
        r#"offered = "0 /s""#,
        "line 4, column 11: `offered`: `0 /s` is out of range: use 0.001 /s to 100000000 /s; or \"saturate\", \"listen\" or \"search 10 /s to 5000 /s\"",
    ),
    (
        "offered = 10",
        "line 4, column 11: `offered`: expected a text in quotes, found a whole number",
    ),
    (
        r#"offered = "search 10 /s""#,
        "line 4, column 11: `offered`: write a search as \"search 10 /s to 5000 /s\"",
    ),
    (
        r#"offered = "search 10 to 20""#,
        "line 4, column 11: `offered`: `10` has no unit: add one of /s, messages/s, probes/s, Hz",
    ),
    ("in_flight = 0", "line 4, column 13: `in_flight`: 0 is out of range: use 1 to 65535"),
    (r#"time = "0 s""#, "line 4, column 8: `time`: `0 s` is out of range: use 10 ms to 24 h"),
    ("count = 0", "line 4, column 9: `count`: 0 is out of range: use 1 to 100000000"),
    ("queue = -1", "line 4, column 9: `queue`: -1 is out of range: use 1 to 10000000"),
    ("clients = 0", "line 4, column 11: `clients`: 0 is out of range: use 1 to 10000"),
    ("clients = 70000", "line 4, column 11: `clients`: 70000 is out of range: use 1 to 10000"),
    (r#"retain = "true""#, "line 4, column 10: `retain`: expected true or false, found a text"),
    (
        r#"session_expiry = "1 h""#,
        "line 2, column 1: MQTT 3.1.1 has no session expiry: set the version to 5, or leave out `session_expiry`",
    ),
    (
        "version = \"5\"\nsession_expiry = \"forever\"",
        "line 5, column 18: `session_expiry`: `forever` is not a time: write a number and a unit, such as `10 ns`",
    ),
    (r#"topic = "a""#, "line 4, column 1: unknown key `topic`."),
];

#[test]
fn values_that_mqtt_rate_refuses() {
    for (keys, said) in MQTT_RATE {
        refused("mqtt-rate", keys, said);
    }
}

/// Keys of esp-now, with what is said of them.
const ESP_NOW: &[(&str, &str)] = &[
    (
        "test = \"crypto\"\nsize = 230",
        "line 2, column 1: the payload of an encrypted message is 8 to 226 bytes: set `size`",
    ),
    (
        r#"cast = "broadcast 3 ack""#,
        "line 4, column 8: `cast`: `3 ack` copies: use \"unicast\", \"broadcast\", \"broadcast 3\" or \"broadcast 3 + ack\"; up to 31 copies",
    ),
    (
        "test = \"round-trip\"",
        "line 4, column 8: `test`: `round-trip` is not known here: did you mean `ping`? Use one of one-way, ping, throughput, crypto, multi-ping, ota, handshake, provisioning",
    ),
    (
        r#"test = "two-way""#,
        "line 4, column 8: `test`: `two-way` is not known here: did you mean `one-way`? Use one of one-way, ping, throughput, crypto, multi-ping, ota, handshake, provisioning",
    ),
    ("test = 1", "line 4, column 8: `test`: expected a text in quotes, found a whole number"),
    (
        r#"cast = "multicast""#,
        "line 4, column 8: `cast`: `multicast` is no way to send: use \"unicast\", \"broadcast\", \"broadcast 3\" or \"broadcast 3 + ack\"",
    ),
    (
        r#"cast = "broadcast 0""#,
        "line 4, column 8: `cast`: `0` copies: use \"unicast\", \"broadcast\", \"broadcast 3\" or \"broadcast 3 + ack\"; up to 31 copies",
    ),
    (
        r#"cast = "broadcast 3 nak""#,
        "line 4, column 8: `cast`: `3 nak` copies: use \"unicast\", \"broadcast\", \"broadcast 3\" or \"broadcast 3 + ack\"; up to 31 copies",
    ),
    ("size = 0", "line 4, column 8: `size`: 0 is out of range: use 1 to 16777216"),
    ("size = 7", "line 2, column 1: the payload is 8 to 230 bytes: set `size`"),
    ("size = 251", "line 2, column 1: the payload is 8 to 230 bytes: set `size`"),
    ("count = 0", "line 4, column 9: `count`: 0 is out of range: use 1 to 100000000"),
    (
        "devices = 2",
        "line 2, column 1: `ping` is between two devices: leave out `devices`, or set test = \"multi-ping\"",
    ),
    (
        "test = \"multi-ping\"\ndevices = 0",
        "line 5, column 11: `devices`: 0 is out of range: use 1 to 65535",
    ),
    (
        r#"distance = "0.001 m""#,
        "line 4, column 12: `distance`: `0.001 m` is out of range: use 0.01 m to 100 km; or a range such as \"0.5 m to 1 m\"",
    ),
    (
        r#"distance = "200 km""#,
        "line 4, column 12: `distance`: `200 km` is out of range: use 0.01 m to 100 km; or a range such as \"0.5 m to 1 m\"",
    ),
    (
        r#"distance = "5 m to""#,
        "line 4, column 12: `distance`: `m to` is not a unit of length: use one of m, km, cm, mm; or a range such as \"0.5 m to 1 m\"",
    ),
    (
        "test = \"throughput\"\ntime = \"0 s\"",
        "line 5, column 8: `time`: `0 s` is out of range: use 10 ms to 24 h",
    ),
    (
        r#"encrypted = "yes""#,
        "line 4, column 13: `encrypted`: expected true or false, found a text",
    ),
    (r#"power_dbm = "high""#, "line 4, column 13: `power_dbm`: expected a number, found a text"),
    ("clock_mhz = 0", "line 4, column 13: `clock_mhz`: 0 is out of range: use 10 to 1000"),
    (
        "idle_clock_mhz = 5",
        "line 4, column 18: `idle_clock_mhz`: 5 is out of range: use 10 to 1000",
    ),
    (r#"variant = "ps-none""#, "line 4, column 1: unknown key `variant`."),
    ("channel = 6", "line 4, column 1: unknown key `channel`."),
    (
        "environment = \"\"",
        "line 4, column 15: `environment`: `` is no name of an environment: 1 to 32 characters of ASCII, no space and no comma",
    ),
    (
        "phy_rate = \"3M\"",
        "line 4, column 12: `phy_rate`: `3M` is not a Wi-Fi mode: write 1M, 5.5M-short, 54M, HT20-MCS7, HT40-MCS7-SGI, HE20-MCS9, HE20-MCS0-DCM, HE20-ER-MCS0 or LR-250K",
    ),
    (
        "phy_rate = [\"54M\", \"HT20-MCS8\"]",
        "line 4, column 20: `phy_rate`: `HT20-MCS8` is not a Wi-Fi mode: write 1M, 5.5M-short, 54M, HT20-MCS7, HT40-MCS7-SGI, HE20-MCS9, HE20-MCS0-DCM, HE20-ER-MCS0 or LR-250K",
    ),
];

#[test]
fn values_that_esp_now_refuses() {
    for (keys, said) in ESP_NOW {
        refused("esp-now", keys, said);
    }
}

/// Keys of wifi-join, with what is said of them.
const WIFI_JOIN: &[(&str, &str)] = &[
    ("count = 0", "line 4, column 9: `count`: 0 is out of range: use 1 to 1000000"),
    ("cold = 1", "line 4, column 8: `cold`: expected true or false, found a whole number"),
    ("size = 3", "line 4, column 1: unknown key `size`."),
];

#[test]
fn values_that_wifi_join_refuses() {
    for (keys, said) in WIFI_JOIN {
        refused("wifi-join", keys, said);
    }
}

#[test]
fn kinds_that_there_are_not() {
    let error = Plan::parse(&plan("udp_echo", "")).expect_err("udp_echo").to_string();
    assert!(error.contains("did you mean `udp-echo`?"), "{error}");
    for kind in ["udp_echo", "echo", "wifi", "", "UDP-ECHO"] {
        let error = Plan::parse(&plan(kind, "")).expect_err(kind).to_string();
        let said = format!("line 3, column 8: `kind`: `{kind}` is not known: ");
        assert!(error.starts_with(&said), "{error}");
        assert!(error.contains("se one of udp-echo, ping, "), "{error}");
    }
}
