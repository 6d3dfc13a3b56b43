//! Plans: what they expand to, and what is said of those that make no sense.

use espbench_measure::label::of_workload as label;
use espbench_measure::plan::{Plan, PlanSet, defaults, print};
use espbench_model::overrides::LabOverrides;
use espbench_model::workload::{
    EchoFormat, EspNow, EspNowCast, EspNowTest, IpTest, Iperf, MqttMode, Name, Transport, Wifi,
    Workload,
};
use proptest::prelude::*;
use std::time::Duration;

fn error(text: &str) -> String {
    Plan::parse(text).unwrap_err().to_string()
}

#[test]
fn lists_multiply_and_the_first_key_varies_slowest() {
    let plan = Plan::parse(
        r#"
        name = "matrix"
        repetitions = 2
        [[measure]]
        kind = "udp-echo"
        format = "binary"
        size = [16, "1 kB"]
        in_flight = [1, 8]
        interval = "2 ms"
        [[measure]]
        kind = "mqtt-rate"
        offered = ["saturate", "12.5 /s", "search 10 /s to 5000 /s", "listen"]
        "#,
    )
    .unwrap();
    let sizes: Vec<_> = plan
        .workloads
        .iter()
        .filter_map(|w| match w {
            Workload::UdpEcho(w) => {
                assert_eq!(w.format, EchoFormat::Binary);
                assert_eq!(w.interval, Some(Duration::from_millis(2)));
                Some((w.size, w.in_flight))
            }
            _ => None,
        })
        .collect();
    assert_eq!(sizes, [(16, 1), (16, 8), (1000, 1), (1000, 8)]);
    let modes: Vec<_> = plan
        .workloads
        .iter()
        .filter_map(|w| if let Workload::MqttRate(w) = w { Some(w.mode) } else { None })
        .collect();
    assert_eq!(
        modes,
        [
            MqttMode::Saturate,
            MqttMode::Offered(12.5),
            MqttMode::Search { low: 10.0, high: 5000.0 },
            MqttMode::Listen,
        ]
    );
    let steps = PlanSet { plans: vec![plan] }.steps();
    let order: Vec<_> = steps.iter().map(|s| (s.repetition, s.ordinal)).collect();
    assert_eq!(order.len(), 16);
    assert_eq!((order[0], order[7], order[8]), ((0, 0), (0, 7), (1, 0)));
}

#[test]
fn thresholds_belong_to_the_cells_of_their_plan() {
    let first = Plan::parse(
        r#"
        name = "first"
        [[measure]]
        kind = "udp-echo"
        size = [10, 100]
        [[threshold]]
        metric = "rtt_p99"
        kind = "udp-echo"
        payload_bytes = 100
        max = "20 ms"
        by = "interval"
        "#,
    )
    .unwrap();
    let second = Plan::parse(
        "name = \"second\"\n[[measure]]\nkind = \"iperf\"\n\
         [[threshold]]\nmetric = \"datagrams_out_of_order\"\nmax = 0\nmin = 0",
    )
    .unwrap();
    let set = PlanSet { plans: vec![first, second] };
    let told: Vec<_> = set.thresholds().into_iter().map(|(r, t)| (r, t.to_string())).collect();
    assert_eq!(
        told,
        [
            (0..2, "rtt_p99 <= 20 ms of udp-echo at 100 B, by its interval".to_string()),
            (2..3, "0 <= datagrams_out_of_order <= 0".to_string()),
        ]
    );
    let again = PlanSet::parse(&set.text()).unwrap();
    assert_eq!(again.thresholds().len(), 2);
}

#[test]
fn mistakes_are_told_with_place_and_remedy() {
    let cases = [
        "",
        "name = \"x\"",
        "name = \"x\"\nmeasures = 3",
        "name = \"x\"\n[[measure]]\nsize = 3",
        "name = \"x\"\n[[measure]]\nkind = \"udp-ecko\"",
        "name = \"x\"\n[[measure]]\nkind = \"udp-echo\"\nsizes = [1]",
        "name = \"x\"\n[[measure]]\nkind = \"udp-echo\"\nsize = [1, 70000]",
        "name = \"x\"\n[[measure]]\nkind = \"udp-echo\"\nsize = []",
        "name = \"x\"\n[[measure]]\nkind = \"udp-echo\"\ntimeout = 3",
        "name = \"x\"\n[[measure]]\nkind = \"udp-echo\"\ntimeout = \"3 MB\"",
        "name = \"x\"\n[[measure]]\nkind = \"udp-echo\"\nin_flight = 4",
        "name = \"x\"\n[[measure]]\nkind = \"udp-echo\"\nformat = \"binary\"\nsize = 4",
        "name = \"x\"\n[[measure]]\nkind = \"iperf\"\nbandwidth = \"40X\"",
        "name = \"x\"\n[[measure]]\nkind = \"iperf\"\ntransport = \"udp\"\nlength = 4",
        "name = \"x\"\n[[measure]]\nkind = \"mqtt-rate\"\noffered = \"fast\"",
        "name = \"x\"\n[[measure]]\nkind = \"mqtt-rate\"\noffered = \"listen\"\ncount = 5",
        "name = \"x\"\n[[measure]]\nkind = \"mqtt-rate\"\noffered = \"search 9 /s to 3 /s\"",
        "name = \"x\"\n[measure]\nkind = \"udp-echo\"",
        "name = \"x\"\n[[measure]]\nkind = \"esp-now\"\ntest = \"pong\"",
        "name = \"x\"\n[[measure]]\nkind = \"esp-now\"\ncast = \"broadcast3\"",
        "name = \"x\"\n[[measure]]\nkind = \"esp-now\"\ncast = \"broadcast 900\"",
        "name = \"x\"\n[[measure]]\nkind = \"esp-now\"\nsize = [10, 231]",
        "name = \"x\"\n[[measure]]\nkind = \"esp-now\"\nsize = 230\nencrypted = true",
        "name = \"x\"\n[[measure]]\nkind = \"esp-now\"\ndevices = 3",
        "name = \"x\"\n[[measure]]\nkind = \"esp-now\"\ndistance = 3",
        "name = \"x\"\n[[measure]]\nkind = \"esp-now\"\ndistance = \"3 ms\"",
        "name = \"x\"\n[[measure]]\nkind = \"esp-now\"\ndistance = \"3 m to 1 m\"",
        "name = \"x\"\n[[measure]]\nkind = \"esp-now\"\ntest = \"ota\"\ncast = \"broadcast\"",
        "name = \"x\"\n[[measure]]\nkind = \"iperf\"\n[[threshold]]\nmax = \"3 ms\"",
        "name = \"x\"\n[[measure]]\nkind = \"iperf\"\n[[threshold]]\nmetric = \"loss\"",
        "name = \"x\"\n[[measure]]\nkind = \"iperf\"\n[[threshold]]\nmetric = \"loss\"\nmax = \"a lot\"",
        "name = \"x\"\n[[measure]]\nkind = \"iperf\"\n[[threshold]]\nmetric = \"loss\"\nmaximum = 3",
        "name = \"x\"\nseed = -1",
        "name = \"x\"\nname = \"y\"",
        "name = ",
    ];
    let told: String =
        cases.iter().map(|text| format!("{text}\n    => {}\n\n", error(text))).collect();
    insta::assert_snapshot!(told);
}

#[test]
fn a_set_of_plans_reads_back_and_counts_lines_through() {
    let one = Plan::parse("name = \"a\"\n[[measure]]\nkind = \"tcp-rate\"\n").unwrap();
    let two = Plan::parse("name = \"b\"\n[[measure]]\nkind = \"iperf\"\n").unwrap();
    let set = PlanSet { plans: vec![one, two] };
    let back = PlanSet::parse(&set.text()).unwrap();
    assert_eq!(back.name(), "a + b");
    assert_eq!(back.steps(), set.steps());
    assert_eq!(back.text(), set.text());

    let broken = set.text().replace("\"iperf\"", "\"iperv\"");
    let error = PlanSet::parse(&broken).unwrap_err();
    assert_eq!(broken.lines().nth(error.line - 1), Some("kind = \"iperv\""));
}

#[test]
fn every_default_has_a_label_and_prints_as_a_plan() {
    for kind in ["udp-echo", "ping", "iperf", "tcp-rate", "mqtt-rate", "esp-now"] {
        let workload = defaults(kind).unwrap();
        assert!(label(&workload).starts_with(kind));
        let text = print("flags", 3, &[workload]);
        assert_eq!(Plan::parse(&text).unwrap().workloads, [workload]);
    }
    assert_eq!(defaults("espnow"), None);
}

#[test]
fn echoes_around_iperf_print_and_read_again() {
    let text = "name = \"x\"\n[[measure]]\nkind = \"iperf\"\nlatency = [\"icmp\", \"udp\", \"udp:7000\"]\n\
                latency_idle = \"2 s\"\n\
                [[threshold]]\nmetric = \"rtt_added_p95\"\nmax = \"100 ms\"\n";
    let plan = Plan::parse(text).unwrap();
    let told: Vec<String> = plan.workloads.iter().map(label).collect();
    assert_eq!(
        told,
        [
            "iperf, TCP to the device, 131072 B, echoes by icmp",
            "iperf, TCP to the device, 131072 B, echoes by udp:10000",
            "iperf, TCP to the device, 131072 B, echoes by udp:7000",
        ]
    );
    let again = Plan::parse(&print("x", 1, &plan.workloads)).unwrap();
    assert_eq!(again.workloads, plan.workloads);
}

#[test]
fn a_variant_makes_it_a_test_over_wifi_and_is_a_column_of_the_matrix() {
    let text = "name = \"x\"\n[[measure]]\nkind = \"iperf\"\ntransport = \"udp\"\n\
                variant = [\"softap-open-sdk-2.2\", \"idf\"]\n\
                direction = [\"forward\", \"reverse\"]\n";
    let plan = Plan::parse(text).unwrap();
    let told: Vec<String> = plan.workloads.iter().map(label).collect();
    assert_eq!(
        told,
        [
            "iperf, UDP to the device, 1470 B, softap-open-sdk-2.2",
            "iperf, UDP from the device, 1470 B, softap-open-sdk-2.2",
            "iperf, UDP to the device, 1470 B, idf",
            "iperf, UDP from the device, 1470 B, idf",
        ]
    );
    let Some(Workload::Iperf(usual)) = defaults("iperf") else { panic!("another kind") };
    let test = Iperf { transport: Transport::Udp, length: 1470, ..usual };
    let variant = Name::new("softap-open-sdk-2.2").unwrap();
    let work = Workload::Wifi(Wifi::new(variant, IpTest::Iperf(test)));
    assert_eq!(plan.workloads[0], work);
    assert_eq!((work.kind(), work.plain()), ("iperf", Workload::Iperf(test)));
    let other = Plan::parse(&text.replace("iperf", "esp-now")).unwrap_err().to_string();
    assert!(other.contains("unknown key `transport`"), "{other}");
    for wrong in ["\"\"", "\"a b\"", "3", "\"a-name-of-thirty-three-characters\""] {
        let text = format!("name = \"x\"\n[[measure]]\nkind = \"tcp-rate\"\nvariant = {wrong}");
        let told = error(&text);
        assert!(told.starts_with("line 4, column 11: `variant`: "), "{told}");
    }
}

#[test]
fn what_a_plan_sets_of_a_lab_is_a_matrix_that_prints_and_reads_again() {
    let text = "name = \"x\"\n[[measure]]\nkind = \"udp-echo\"\nprofile = [\"esp32\", \"esp32c3\"]\n\
                variant = \"home\"\nsize = 100\npower_dbm = [2, 8.5]\nclock_mhz = 160\n\
                environment = \"office\"\nphy_rate = \"HT20-MCS7\"\ndevices = 3\ndistance = \"2.5 m\"\n\
                CONFIG_TCP_WND_DEFAULT = 5744\nCONFIG_LWIP_WND_SCALE = false\n\
                [[measure]]\nkind = \"esp-now\"\nCONFIG_FREERTOS_HZ = [100, 1000]\npower_dbm = -3\n";
    let plan = Plan::parse(text).unwrap();
    let told: Vec<String> = plan.workloads.iter().map(label).collect();
    let rest = "environment office, rate HT20-MCS7, 8.5 dBm, 160 MHz, \
                CONFIG_LWIP_TCP_WND_DEFAULT=5744, CONFIG_LWIP_WND_SCALE=n";
    assert_eq!(told.len(), 6);
    assert_eq!(told[1], format!("udp-echo, 100 B, 3 devices, 2.5 m, home, profile esp32, {rest}"));
    assert!(told[2].contains("profile esp32c3") && told[2].contains("2 dBm"), "{}", told[2]);
    assert!(told[5].ends_with("-3 dBm, CONFIG_FREERTOS_HZ=1000"), "{}", told[5]);
    let again = Plan::parse(&print("x", 1, &plan.workloads)).unwrap();
    assert_eq!(again.workloads, plan.workloads);
}

#[test]
fn what_a_plan_cannot_set_of_a_lab_is_told_with_its_place() {
    let of = |kind: &str, line: &str| {
        error(&format!("name = \"x\"\n[[measure]]\nkind = \"{kind}\"\n{line}"))
    };
    let wifi = |line: &str| of("udp-echo", &format!("variant = \"home\"\n{line}"));
    for (told, place, wanted) in [
        (of("ping", "power_dbm = 8"), "line 2, column 1: ", "name one with `variant`"),
        (wifi("power_dbm = \"8 dBm\""), "line 5, column 13: ", "expected a number"),
        (wifi("power_dbm = 31"), "line 5, column 13: ", "use -20 to 30"),
        (wifi("clock_mhz = 5"), "line 5, column 13: ", "use 10 to 1000"),
        (wifi("profile = \"\""), "line 5, column 11: ", "no name of a profile"),
        (wifi("environment = \"a, b\""), "line 5, column 15: ", "no comma"),
        (wifi("distance = \"3 s\""), "line 5, column 12: ", "unit of length"),
        (
            wifi("CONFIG_LWIP_TCP_WND_DEFAUL = 1"),
            "line 5, column 30: ",
            "CONFIG_LWIP_TCP_WND_DEFAULT",
        ),
        (wifi("CONFIG_LWIP_WND_SCALE = 1"), "line 5, column 25: ", "expected true or false"),
        (
            wifi("CONFIG_TCP_MSS = 1440\nCONFIG_LWIP_TCP_MSS = 1440"),
            "line 6, column 23: ",
            "given twice",
        ),
    ] {
        assert!(told.starts_with(place) && told.contains(wanted), "{told}");
    }
}

/// Each test, and whether it has a choice of sending, many devices, and always encryption.
const TESTS: [(EspNowTest, bool, bool, bool); 8] = [
    (EspNowTest::OneWay, true, false, false),
    (EspNowTest::Ping, true, false, false),
    (EspNowTest::Throughput, true, false, false),
    (EspNowTest::Crypto, true, true, true),
    (EspNowTest::MultiPing, true, true, false),
    (EspNowTest::Ota, false, true, false),
    (EspNowTest::Handshake, false, true, false),
    (EspNowTest::Provisioning, false, true, false),
];

/// A plan that says no more has the values of the report for a test.
#[test]
fn esp_now_plans_leave_out_what_the_report_has() {
    let text = "name = \"x\"\n[[measure]]\nkind = \"esp-now\"\n\
                test = [\"one-way\", \"ping\", \"multi-ping\", \"ota\", \"crypto\"]\n";
    let works = Plan::parse(text).unwrap().workloads;
    let told: Vec<(u32, u32, bool)> = works
        .iter()
        .filter_map(|w| match w {
            Workload::EspNow(w) => Some((w.size, w.count, w.encrypted)),
            _ => None,
        })
        .collect();
    let wanted = [
        (230, 10, false),
        (230, 10_000, false),
        (230, 100, false),
        (1_029_248, 10_000, false),
        (226, 10_000, true),
    ];
    assert_eq!(told, wanted);
}

proptest! {
    #[test]
    fn printed_plans_read_back(
        size in 16_u32..1500, count in 1_u32..100_000, window in 1_u16..100,
        interval in proptest::option::of(1_u64..10_000_000), rate in 0.01_f64..1e7, name in "\\PC*",
        variant in "[a-zA-Z0-9._-]{1,32}",
    ) {
        let all = ["udp-echo", "iperf", "tcp-rate", "mqtt-rate"].map(|kind| defaults(kind).unwrap());
        let Some(Workload::UdpEcho(mut echo)) = defaults("udp-echo") else { unreachable!() };
        echo.format = EchoFormat::Binary;
        (echo.size, echo.count, echo.in_flight) = (size, count, window);
        echo.interval = interval.map(Duration::from_micros);
        let Some(Workload::MqttRate(mut mqtt)) = defaults("mqtt-rate") else { unreachable!() };
        mqtt.mode = MqttMode::Search { low: rate / 2.0, high: rate };
        let workloads = [Workload::UdpEcho(echo), Workload::MqttRate(mqtt)];
        let plan = Plan::parse(&print(&name, 9, &workloads)).unwrap();
        prop_assert_eq!(plan.workloads, workloads);
        prop_assert_eq!(plan.name, name);
        let variant = Name::new(&variant).unwrap();
        let tests = workloads.iter().chain(&all).filter_map(Workload::ip);
        let wifi: Vec<_> = tests.map(|test| Workload::Wifi(Wifi::new(variant, test))).collect();
        prop_assert_eq!(Plan::parse(&print("x", 9, &wifi)).unwrap().workloads, wifi);
    }

    #[test]
    fn printed_esp_now_plans_read_back(
        test in 0_usize..8, copies in proptest::option::of(0_u8..=31), ack: bool, size in 10_u32..=226,
        count in 1_u32..100_000, devices in 1_u16.., near in 0.01_f32..50.0, far in 0.0_f32..50.0,
        encrypted: bool, ms in 10_u64..10_000_000,
    ) {
        let cast = copies.map_or(EspNowCast::Unicast, |copies| EspNowCast::Broadcast { copies, ack });
        let (test, casting, many, sealed) = TESTS[test];
        let work = EspNow {
            test,
            cast: if casting { cast } else { EspNowCast::Unicast },
            size,
            count,
            time: Duration::from_millis(ms),
            devices: if many { devices } else { 1 },
            distance_m: (near, near + far),
            encrypted: encrypted || sealed,
            lab: LabOverrides::NONE,
        };
        let plan = Plan::parse(&print("x", 9, &[Workload::EspNow(work)])).unwrap();
        prop_assert!(label(&plan.workloads[0]).starts_with("esp-now, "));
        prop_assert_eq!(plan.workloads, [Workload::EspNow(work)]);
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,200}") {
        let _ = PlanSet::parse(&text);
    }

    #[test]
    fn no_cut_of_a_good_plan_panics(at in 0_usize..400, insert in "\\PC{0,4}") {
        let text = print("cut", 1, &["udp-echo", "iperf"].map(|k| defaults(k).unwrap()));
        let at = (0..=at.min(text.len())).rev().find(|&i| text.is_char_boundary(i)).unwrap();
        let _ = PlanSet::parse(&format!("{}{insert}{}", &text[..at], &text[at..]));
        let _ = PlanSet::parse(&text[..at]);
    }
}

#[test]
fn options_of_iperf_are_keys_and_printed_again() {
    let text = "name = \"x\"\n[[measure]]\nkind = \"iperf\"\ntos = \"ef\"\nmss = 1000\n\
                congestion = \"reno\"\ntrip_times = true\n\
                [[measure]]\nkind = \"iperf\"\nbounceback = 5\nbounceback_period = \"100 ms\"\n\
                bounceback_hold = \"2 ms\"\nbounceback_quick_ack = false\n";
    let plan = Plan::parse(text).unwrap();
    let [Workload::Iperf(marked), Workload::Iperf(bounced)] = plan.workloads[..] else { panic!() };
    assert_eq!((marked.tos, marked.mss, marked.trip_times), (0xB8, Some(1000), true));
    assert_eq!(marked.congestion.unwrap().as_str(), "reno");
    let how = bounced.bounceback.unwrap();
    assert_eq!(
        (how.burst, how.period, how.hold),
        (5, Duration::from_millis(100), Duration::from_millis(2))
    );
    assert_eq!((how.quick_ack, bounced.length), (false, 100));
    let again = Plan::parse(&print("x", 1, &plan.workloads)).unwrap();
    assert_eq!(again.workloads, plan.workloads);
    for (keys, why) in [
        ("tos = \"gold\"", "no type of service"),
        ("transport = \"udp\"\nmss = 1000", "are TCP's"),
        ("bounceback = 5\ntransport = \"udp\"", "over TCP"),
        ("bounceback = 5\nlength = 10", "64"),
        ("trip_times = true\nlength = 80", "92"),
    ] {
        let text = format!("name = \"x\"\n[[measure]]\nkind = \"iperf\"\n{keys}\n");
        let error = Plan::parse(&text).unwrap_err();
        assert!(error.message.contains(why), "{keys}: {}", error.message);
    }
}

#[test]
fn sessions_of_mqtt_are_printed_as_they_are_read() {
    let plan = |keys: &str| format!("name = \"a\"\n[[measure]]\nkind = \"mqtt-rate\"\n{keys}\n");
    let read = |keys| Plan::parse(&plan(keys)).unwrap_or_else(|e| panic!("{keys}: {e}")).workloads;
    let usual = read("");
    assert!(!print("a", 1, &usual).contains("clean_start"));
    for (keys, clean, expiry) in [
        ("version = \"5\"\nclean_start = true", true, None),
        ("clean_start = false", false, None),
        ("version = \"5\"\nsession_expiry = \"90 s\"", true, Some(90)),
        ("version = \"5\"\nsession_expiry = \"0 s\"", true, Some(0)),
        ("version = \"5\"\nsession_expiry = \"never\"", true, Some(u32::MAX)),
    ] {
        let work = read(keys);
        let [Workload::MqttRate(one)] = work[..] else { panic!("{work:?}") };
        assert_eq!((one.clean_start, one.session_expiry), (clean, expiry), "{keys}");
        assert_eq!(Plan::parse(&print("a", 1, &work)).unwrap().workloads, work, "{keys}");
    }
    let both = read("version = \"5\"\nclean_start = [true, false]");
    assert_ne!(label(&both[0]), label(&both[1]));
    let wrong = |keys| error(&plan(keys));
    assert!(wrong("session_expiry = \"90 s\"").contains("set the version to 5"));
    assert!(wrong("version = \"5\"\nsession_expiry = \"1.5 s\"").contains("whole seconds"));
    assert!(wrong("version = \"5\"\nsession_expiry = \"367 days\"").contains("`session_expiry`"));
}

/// Returns a plan whose matrix has that many values of each of these keys.
fn matrix(values: usize, keys: &[&str]) -> String {
    let mut text = String::from("name = \"a\"\n[[measure]]\nkind = \"udp-echo\"\n");
    for key in keys {
        let value = |it: usize| match *key {
            "interval" | "timeout" => format!("\"{} ms\"", it + 1),
            _ => format!("{}", it + 20),
        };
        let values: Vec<String> = (0..values).map(value).collect();
        text += &format!("{key} = [{}]\n", values.join(","));
    }
    text
}

#[test]
fn cells_are_counted_before_they_are_made() {
    let keys = ["size", "count", "interval", "timeout"];
    let said = |text: &str| PlanSet::parse(text).unwrap_err().to_string();
    let many = "line 2, column 1: the plan has more than 10000 cells: shorten its lists";
    // Made first, these would need up to 2^80 bytes.
    for (values, keys) in
        [(50, &keys[..]), (101, &keys[..2]), (10_000, &keys), (10_001, &keys[..1])]
    {
        assert_eq!(said(&matrix(values, keys)), many, "{values}");
    }
    assert_eq!(Plan::parse(&matrix(10, &keys)).unwrap().workloads.len(), 10_000);
    assert_eq!(Plan::parse(&matrix(100, &keys[..2])).unwrap().workloads.len(), 10_000);
    // Several blocks, and several plans of one text, are counted together.
    let block = matrix(6_000, &keys[..1]);
    let (_, second) = block.split_once('\n').unwrap();
    assert!(said(&format!("{block}{second}")).contains("more than 10000 cells"));
    assert!(said(&format!("#%% plan a\n{block}#%% plan b\n{block}")).contains("than 10000 cells"));
}

#[test]
fn repetitions_are_counted_before_they_are_made() {
    let repeated =
        |times: u32, sizes: usize| format!("repetitions = {times}\n{}", matrix(sizes, &["size"]));
    assert_eq!(PlanSet::parse(&repeated(1000, 100)).unwrap().steps().len(), 100_000);
    let said = PlanSet::parse(&repeated(1000, 101)).unwrap_err().to_string();
    let wanted = "line 3, column 1: the plan has more than 100000 cells with its repetitions: use fewer of them, or \
                  shorten its lists";
    assert_eq!(said, wanted);
}

#[test]
fn thresholds_are_bounded() {
    let block = "[[threshold]]\nmetric = \"rtt_p99\"\nmax = \"30 ms\"\n";
    let of = |count: usize| matrix(1, &["size"]) + &block.repeat(count);
    assert_eq!(Plan::parse(&of(1000)).unwrap().thresholds.len(), 1000);
    assert_eq!(error(&of(1001)), "line 3005, column 1: a plan has at most 1000 thresholds");
}

/// Two cells that nothing tells apart would be one of twice the samples.
#[test]
fn a_list_has_no_value_twice() {
    for size in ["[100, 100]", "[100, \"100 B\"]", "[50, 100, 50]"] {
        let text = format!("name = \"a\"\n[[measure]]\nkind = \"udp-echo\"\nsize = {size}\n");
        let message = error(&text);
        assert!(
            message.contains("line 4, column ")
                && message.contains("`size`: this value is in the list twice"),
            "{message}"
        );
    }
    let other = "name = \"a\"\n[[measure]]\nkind = \"udp-echo\"\nsize = [100, 50]\n";
    assert_eq!(Plan::parse(other).unwrap().workloads.len(), 2);
}
