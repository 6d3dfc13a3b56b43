//! Words that people type: quantities with a unit, settings of a result, wants of a search, batteries.

use espbench_measure::label;
use espbench_measure::predict::battery::Battery;
use espbench_measure::threshold::Quantity;
use espbench_measure::tune::Want;
use espbench_measure::units::{self, Dimension};

#[test]
fn quantities_come_in_their_base_unit() {
    for (dimension, text, value) in [
        (Dimension::Time, "1 ns", 1e-9),
        (Dimension::Time, "1 us", 1e-6),
        (Dimension::Time, "1 µs", 1e-6),
        (Dimension::Time, "1.5 ms", 0.0015),
        (Dimension::Time, "2 s", 2.0),
        (Dimension::Time, "3 min", 180.0),
        (Dimension::Time, "2 h", 7200.0),
        (Dimension::Time, "1_000 ms", 1.0),
        (Dimension::Time, "1e3 us", 0.001),
        (Dimension::Time, "+5 s", 5.0),
        (Dimension::Time, ".5 s", 0.5),
        (Dimension::Time, "0 s", 0.0),
        (Dimension::Time, "5. s", 5.0),
        (Dimension::BitRate, "1 bit/s", 1.0),
        (Dimension::BitRate, "9.6 kbit/s", 9600.0),
        (Dimension::BitRate, "40 Mbit/s", 40e6),
        (Dimension::BitRate, "1 Gbit/s", 1e9),
        (Dimension::Size, "1 B", 1.0),
        (Dimension::Size, "1 kB", 1000.0),
        (Dimension::Size, "1 KiB", 1024.0),
        (Dimension::Size, "1 MB", 1e6),
        (Dimension::Size, "1 MiB", 1_048_576.0),
        (Dimension::Size, "1 GB", 1e9),
        (Dimension::Size, "1.5 KiB", 1536.0),
        (Dimension::Rate, "12.5 /s", 12.5),
        (Dimension::Rate, "10 Hz", 10.0),
        (Dimension::Rate, "10/s", 10.0),
        (Dimension::Length, "1 m", 1.0),
        (Dimension::Length, "10 cm", 0.1),
        (Dimension::Length, "1 km", 1000.0),
        (Dimension::Length, "1 mm", 0.001),
        (Dimension::Proportion, "1 %", 0.01),
        (Dimension::Proportion, "0.5 %", 0.005),
        (Dimension::Proportion, "100 percent", 1.0),
        (Dimension::Proportion, "200 %", 2.0),
        (Dimension::Current, "5 mA", 0.005),
        (Dimension::Current, "1 A", 1.0),
    ] {
        assert_eq!(units::parse(text, dimension), Ok(value), "{text}");
    }
}

/// Asserts that each text is no quantity of its dimension, and that this is said.
fn assert_refused(cases: &[(Dimension, &str, &str)]) {
    for (dimension, text, said) in cases {
        assert_eq!(units::parse(text, *dimension), Err((*said).into()), "{text}");
    }
}

#[test]
fn times_that_are_none_say_what_would_do() {
    assert_refused(&[
        (
            Dimension::Time,
            "1 D",
            "`D` is not a unit of time: use one of ns, us, µs, ms, s, min, h, d",
        ),
        (
            Dimension::Time,
            "1 sec",
            "`sec` is not a unit of time: use one of ns, us, µs, ms, s, min, h, d",
        ),
        (Dimension::Time, "s", "`s` is not a time: write a number and a unit, such as `10 ns`"),
        (Dimension::Time, "5", "`5` has no unit: add one of ns, us, µs, ms, s, min, h, d"),
        (
            Dimension::Time,
            "--5 s",
            "`--5 s` is not a time: write a number and a unit, such as `10 ns`",
        ),
        (
            Dimension::Time,
            "1e s",
            "`e s` is not a unit of time: use one of ns, us, µs, ms, s, min, h, d",
        ),
        (Dimension::Time, "1e400 s", "`1e400 s` must not be negative or infinite"),
        (
            Dimension::Time,
            "NaN s",
            "`NaN s` is not a time: write a number and a unit, such as `10 ns`",
        ),
        (
            Dimension::Time,
            "1 S",
            "`S` is not a unit of time: use one of ns, us, µs, ms, s, min, h, d",
        ),
        (
            Dimension::Time,
            "10 ms s",
            "`ms s` is not a unit of time: use one of ns, us, µs, ms, s, min, h, d",
        ),
        (Dimension::Time, "", "`` is not a time: write a number and a unit, such as `10 ns`"),
    ]);
}

#[test]
fn quantities_that_are_none_say_what_would_do() {
    assert_refused(&[
        (
            Dimension::BitRate,
            "40 Mbps",
            "`Mbps` is not a unit of bit rate: use one of bit/s, kbit/s, Mbit/s, Gbit/s",
        ),
        (
            Dimension::BitRate,
            "40 MB/s",
            "`MB/s` is not a unit of bit rate: use one of bit/s, kbit/s, Mbit/s, Gbit/s",
        ),
        (
            Dimension::BitRate,
            "40X",
            "`X` is not a unit of bit rate: use one of bit/s, kbit/s, Mbit/s, Gbit/s",
        ),
        (Dimension::BitRate, "-1 bit/s", "`-1 bit/s` must not be negative or infinite"),
        (
            Dimension::Size,
            "1 KB",
            "`KB` is not a unit of size: use one of B, kB, KiB, MB, MiB, GB, GiB",
        ),
        (
            Dimension::Size,
            "1 b",
            "`b` is not a unit of size: use one of B, kB, KiB, MB, MiB, GB, GiB",
        ),
        (Dimension::Size, "B", "`B` is not a size: write a number and a unit, such as `10 B`"),
        (
            Dimension::Rate,
            "1 /min",
            "`/min` is not a unit of rate: use one of /s, messages/s, probes/s, Hz",
        ),
        (Dimension::Rate, "/s", "`/s` is not a rate: write a number and a unit, such as `10 /s`"),
        (Dimension::Length, "3 ft", "`ft` is not a unit of length: use one of m, km, cm, mm"),
        (Dimension::Proportion, "1", "`1` has no unit: add one of %, percent"),
        (Dimension::Current, "5 ma", "`ma` is not a unit of current: use one of mA, uA, A"),
        (Dimension::Charge, "1 mAh", "`mAh` is not a unit of charge: use one of mC, uC, mAs, C"),
        (Dimension::Charge, "1 nC", "`nC` is not a unit of charge: use one of mC, uC, mAs, C"),
        (Dimension::Charge, "2 Ah", "`Ah` is not a unit of charge: use one of mC, uC, mAs, C"),
    ]);
}

#[test]
fn times_print_with_the_largest_unit_that_keeps_them_whole() {
    for (text, printed) in [
        ("1 s", "1 s"),
        ("1000 ms", "1 s"),
        ("1500 ms", "1500 ms"),
        ("90 min", "90 min"),
        ("1 min", "60 s"),
        ("61 s", "61 s"),
        ("1 us", "1 us"),
        ("1000 us", "1 ms"),
        ("999 ns", "999 ns"),
        ("0 ms", "0 s"),
        ("2 h", "2 h"),
        ("0.001 us", "1 ns"),
        ("8760 h", "8760 h"),
    ] {
        assert_eq!(units::duration(text).map(units::print_duration), Ok(printed.into()), "{text}");
    }
    assert_eq!(units::duration("8761 h"), Err("`8761 h` is longer than a year".into()));
}

#[test]
fn settings_are_read_as_reports_write_them() {
    for text in [
        "binary",
        "ASCII",
        "binary, 8 in flight",
        "saturated",
        "listening",
        "retained",
        "session resumed",
        "session kept for ever",
        "session kept 60 s",
        "reverse",
        "full duplex",
        "tradeoff",
        "dual",
        "Nagle on",
        "Nagle off",
        "trip times",
        "requests back to back",
        "5 requests every 100 ms",
        "no quick ack",
        "key known",
        "encrypted",
        "MQTT 3.1.1",
        "MQTT 5",
        "discarded",
        "periodic",
        "Poisson",
        "radios alone",
        "awake",
        "min modem",
        "max modem, 3",
        "3 clients",
        "2 streams",
        "1 device",
        "10 devices",
        "8.5 dBm",
        "80 MHz",
        "100 packets",
        "20 pings",
        "50 times",
        "40 Mbit/s offered",
        "5 s",
        "broadcast",
        "broadcast 3",
        "unicast",
        "device ps-none",
        "rate 54M",
        "profile esp32c3",
        "environment office",
        "walls: 2",
        "wall of 14.7 dB",
        "CONFIG_FREERTOS_HZ=1000",
        "congestion control cubic",
        "QoS 1",
        "TOS 0xb8",
        "TTL 64",
        "MSS 536 B",
        "window 65536 B",
        "image of 8192 bytes",
        "queue of 10",
        "one every 2 ms",
        "held 10 ms",
        "runs of 1 s",
        "offered 12.5/s",
        "loss at most 1 %",
        "p99 at most 20 ms",
        "search 10/s to 5000/s",
        "3 m",
        "1 m to 5 m",
        "8/16/16 BA 16/6 16K/16K",
        "24:0a:c4:00:00:01 to 24:0a:c4:00:00:02",
        "? to 24:0a:c4:00:00:02",
    ] {
        let settings = label::read(text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(label::result(&settings).as_deref(), Some(text));
    }
}

#[test]
fn settings_in_another_form_are_written_as_reports_do() {
    assert!(label::read("").unwrap().is_empty());
    for (text, written) in
        [("TOS 184", "TOS 0xb8"), (" binary ,, 8 in flight ", "binary, 8 in flight")]
    {
        assert_eq!(label::result(&label::read(text).unwrap()).as_deref(), Some(written));
    }
}

#[test]
fn words_that_are_no_setting_are_told() {
    for (text, word) in [
        ("hex", "hex"),
        ("8", "8"),
        ("8 in flights", "8 in flights"),
        ("-1 in flight", "-1 in flight"),
        ("99999 in flight", "99999 in flight"),
        ("QoS one", "QoS one"),
        ("TOS 0x100", "TOS 0x100"),
        ("TOS 300", "TOS 300"),
        ("MSS 536", "MSS 536"),
        ("window 64 KiB", "window 64 KiB"),
        ("max modem", "max modem"),
        ("max modem, often", "max modem"),
        ("3 ms m", "3 ms m"),
        ("offered fast", "offered fast"),
        ("loss at most a lot %", "loss at most a lot %"),
        ("search 10 to 20", "search 10 to 20"),
        ("1 m to far", "1 m to far"),
        ("binary 8 in flight", "binary 8 in flight"),
        ("CONFIG_NO=1", "CONFIG_NO=1"),
        ("CONFIG_FREERTOS_HZ=fast", "CONFIG_FREERTOS_HZ=fast"),
        ("1/2 BA 3/4 5/6", "1/2 BA 3/4 5/6"),
        ("24:0a:c4 to ?", "24:0a:c4 to ?"),
        ("nonsense, binary", "nonsense"),
    ] {
        let error = label::read(text).expect_err(text).to_string();
        let said = format!("`{word}` is no setting that is known: write settings as reports do, ");
        assert!(error.starts_with(&said), "{error}");
    }
}

#[test]
fn wants_print_in_the_unit_of_their_metric() {
    for (text, printed) in [
        ("tcp-tx>=20Mbit/s", "tcp-tx>=20Mbit/s"),
        ("tcp-rx>=500kbit/s", "tcp-rx>=0.5Mbit/s"),
        ("udp-tx >= 20 Mbit/s", "udp-tx>=20Mbit/s"),
        ("udp-rx>=1Gbit/s", "udp-rx>=1000Mbit/s"),
        ("udp-latency<=10ms", "udp-latency<=10ms"),
        ("udp-latency-p99<=0.02s", "udp-latency-p99<=20ms"),
        ("heap>=100KB", "heap>=100KB"),
        ("heap>=1MB", "heap>=1024KB"),
        ("heap>=65536B", "heap>=64KB"),
        ("heap>=64KiB", "heap>=64KB"),
        ("current<=5mA", "current<=5mA"),
        ("current<=500uA", "current<=0.5mA"),
        ("current<=0.1A", "current<=100mA"),
        ("battery>=30d", "battery>=30days"),
        ("battery>=2years", "battery>=730days"),
        ("battery>=720h", "battery>=30days"),
        ("battery>=6months", "battery>=180days"),
        ("tcp-tx>=1e2Mbit/s", "tcp-tx>=100Mbit/s"),
    ] {
        let want: Want = text.parse().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(want.to_string(), printed);
        assert_eq!(printed.parse::<Want>().as_ref(), Ok(&want), "it is read again");
    }
}

#[test]
fn wants_that_cannot_be_say_why() {
    for (text, said) in [
        ("tcp-tx", "`tcp-tx` has no limit: write it as tcp-tx>=20Mbit/s"),
        ("tcp-tx>20Mbit/s", "of tcp-tx more is better: write tcp-tx>=…"),
        ("tcp-tx<=20Mbit/s", "of tcp-tx more is better: write tcp-tx>=…"),
        ("tcp-tx=20Mbit/s", "of tcp-tx more is better: write tcp-tx>=…"),
        ("tcp-tx>=20", "`20` has no unit: add one of bit/s, kbit/s, Mbit/s, Gbit/s"),
        ("tcp-tx>=", "`` is not a bit rate: write a number and a unit, such as `10 bit/s`"),
        ("tcp-tx>=fast", "`fast` is not a bit rate: write a number and a unit, such as `10 bit/s`"),
        ("tcp-tx>=0Mbit/s", "`tcp-tx>=0Mbit/s` asks for nothing: write it as tcp-tx>=20Mbit/s"),
        ("tcp-tx>=-1Mbit/s", "`-1Mbit/s` must not be negative or infinite"),
        (
            "tcp-tx>=99Gbit/s",
            "`tcp-tx>=99Gbit/s` is beyond anything: at most 10000Mbit/s, as tcp-tx>=20Mbit/s",
        ),
        ("tcp-tx>=1ms", "`ms` is not a unit of bit rate: use one of bit/s, kbit/s, Mbit/s, Gbit/s"),
        ("tcptx>=1Mbit/s", "`tcptx` is no goal that --want knows; did you mean tcp-tx?"),
        ("udp-latency>=10ms", "of udp-latency less is better: write udp-latency<=…"),
        ("udp-latency<=10", "`10` has no unit: add one of ns, us, µs, ms, s, min, h, d"),
        ("current>=5mA", "of current less is better: write current<=…"),
        ("current<=5V", "`5V` is no value of current: write a number and a unit, as 5mA"),
        ("battery<=30d", "of battery more is better: write battery>=…"),
        ("battery>=30", "`30` is no value of battery: write a number and a unit, as 30d"),
        (
            "battery>=999years",
            "`battery>=999years` is beyond anything: at most 36500days, as battery>=30d",
        ),
        ("heap<=100KB", "of heap more is better: write heap>=…"),
        ("heap>=100MHz", "`100MHz` is no value of heap: write a number and a unit, as 100KB"),
        ("streams>=2", "`streams` is no want, but a flag: --streams 2"),
        ("rtt<=20ms", "`rtt` is no want, but a flag: --rtt 20ms"),
        ("burst>=16", "`burst` is no want, but a flag: --check FILE --burst 16"),
        (
            "loss<=1%",
            "`loss` is no goal that --want knows; there are tcp-tx, tcp-rx, udp-tx, udp-rx, udp-latency, udp-latency-p99, heap, current, battery",
        ),
        (
            "throughput>=1Mbit/s",
            "`throughput` is no goal that --want knows; there are tcp-tx, tcp-rx, udp-tx, udp-rx, udp-latency, udp-latency-p99, heap, current, battery",
        ),
        (
            "tcp-tx>=1Mbit/s,heap>=1KB",
            "say each by itself: --want 'tcp-tx>=1Mbit/s' --want 'heap>=1KB'",
        ),
        (
            ">=5",
            "`` is no goal that --want knows; there are tcp-tx, tcp-rx, udp-tx, udp-rx, udp-latency, udp-latency-p99, heap, current, battery",
        ),
        ("", "`` has no limit: write it as tcp-tx>=20Mbit/s"),
        (
            "latency<=1ms",
            "`latency` is no goal that --want knows; there are tcp-tx, tcp-rx, udp-tx, udp-rx, udp-latency, udp-latency-p99, heap, current, battery",
        ),
    ] {
        assert_eq!(text.parse::<Want>(), Err(said.into()), "{text}");
    }
}

/// Words for batteries, and the days that they last with a mean current of 1 mA.
#[test]
fn batteries_by_their_names() {
    for (text, words, days) in [
        (
            "AA",
            "AA: 2500 mAh at 1.25 V, boost converter with 85 % and 19 uA of its own, loses 2.5 % of what is left a year",
            33.3,
        ),
        (
            "2xAA",
            "2xAA: 2500 mAh at 2.50 V, boost converter with 85 % and 19 uA of its own, loses 2.5 % of what is left a year",
            66.1,
        ),
        (
            "3xAA",
            "3xAA: 2500 mAh at 3.75 V, linear regulator with 5 uA of its own, loses 2.5 % of what is left a year",
            103.3,
        ),
        (
            "4xAAA",
            "4xAAA: 1100 mAh at 5.00 V, linear regulator with 5 uA of its own, loses 2.5 % of what is left a year",
            45.5,
        ),
        (
            "CR123A",
            "CR123A: 1500 mAh at 2.90 V, boost converter with 85 % and 19 uA of its own, loses 1.5 % of what is left a year",
            46.0,
        ),
        (
            "CR2032",
            "CR2032: 220 mAh at 2.90 V, boost converter with 85 % and 19 uA of its own, loses 1.5 % of what is left a year",
            6.8,
        ),
        (
            "18650",
            "18650: 3000 mAh at 3.60 V, linear regulator with 5 uA of its own, loses 24.0 % of what is left a year",
            118.9,
        ),
        (
            "2x18650",
            "2x18650: 3000 mAh at 7.20 V, linear regulator with 5 uA of its own, loses 24.0 % of what is left a year",
            118.9,
        ),
        (
            "LiPo-500",
            "LiPo-500: 500 mAh at 3.70 V, linear regulator with 5 uA of its own, loses 24.0 % of what is left a year",
            20.6,
        ),
        (
            "LiPo-2000",
            "LiPo-2000: 2000 mAh at 3.70 V, linear regulator with 5 uA of its own, loses 24.0 % of what is left a year",
            80.4,
        ),
        ("2500mAh", "2500mAh: 2500 mAh", 104.2),
        (
            "LiPo",
            "LiPo: 1000 mAh at 3.70 V, linear regulator with 5 uA of its own, loses 24.0 % of what is left a year",
            40.8,
        ),
        (
            "aa",
            "aa: 2500 mAh at 1.25 V, boost converter with 85 % and 19 uA of its own, loses 2.5 % of what is left a year",
            33.3,
        ),
        (
            "2xLiPo-500",
            "2xLiPo-500: 500 mAh at 7.40 V, linear regulator with 5 uA of its own, loses 24.0 % of what is left a year",
            20.6,
        ),
    ] {
        let battery: Battery = text.parse().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(battery.words(), words);
        assert!((battery.days(1.0) - days).abs() < 0.05, "{text}: {}", battery.days(1.0));
        assert!(battery.days(2.0) < days && battery.days(0.5) > days, "{text}");
        assert_eq!(battery.is_boosted(), words.contains("boost"), "{text}");
    }
}

#[test]
fn batteries_that_there_are_not() {
    for text in
        ["LiPo-0", "LiPo-x", "AAAA", "x2AA", "2xx", "2500", "2500Ah", "0mAh", "9999999mAh", ""]
    {
        let error = text.parse::<Battery>().expect_err(text);
        assert!(
            error.starts_with(&format!("`{text}` is no battery: use cells (AA, AAA, ")),
            "{error}"
        );
    }
    for text in ["0xAA", "9xAA", "100xAA", "5x18650"] {
        let error = text.parse::<Battery>().expect_err(text);
        assert_eq!(error, format!("`{text}`: use 1 to 8 cells in series, of 16 V at most"));
    }
}

#[test]
fn limits_of_a_plan_are_quantities_with_a_unit() {
    for (text, printed) in [
        ("20 ms", "20 ms"),
        ("1 %", "1 %"),
        ("40 Mbit/s", "40 Mbit/s"),
        ("20ms", "20 ms"),
        ("1_000 us", "1000 us"),
        ("0.5 s", "0.5 s"),
        ("3 B", "3 B"),
        ("10 /s", "10 /s"),
        ("5 mA", "5 mA"),
        ("1 m", "1 m"),
        ("1e2 ms", "100 ms"),
    ] {
        assert_eq!(Quantity::parse(text).map(|it| it.to_string()), Ok(printed.into()), "{text}");
    }
    for text in ["20", "20 m s", "m", "-1 ms", "inf ms", "20 furlongs", ""] {
        let said = "is no quantity: write a number and a unit, such as `20 ms` or `1 %`";
        assert_eq!(Quantity::parse(text), Err(format!("`{text}` {said}")));
    }
}
