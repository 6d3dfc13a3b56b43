use super::*;
use crate::settings::Setting;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_model::overrides::LabOverrides;
use espbench_model::sdkconfig::{self, ConfigOption, OptionValues};
use espbench_model::workload::{
    Bounceback, Direction, EchoFormat, EspNow, EspNowCast, EspNowTest, IpTest, Iperf, Latency,
    LatencyBy, MqttMode, MqttRate, MqttVersion, Name, Ping, TcpRate, Transport, UdpEcho, Wifi,
    WifiJoin,
};
use proptest::prelude::*;

fn usual(kind: &str) -> Workload {
    crate::plan::defaults(kind).unwrap()
}

fn echo() -> UdpEcho {
    let Some(IpTest::UdpEcho(w)) = usual("udp-echo").ip() else { unreachable!() };
    UdpEcho { size: 100, ..w }
}

fn ping() -> Ping {
    let Some(IpTest::Ping(w)) = usual("ping").ip() else { unreachable!() };
    w
}

fn tcp_rate() -> TcpRate {
    let Some(IpTest::TcpRate(w)) = usual("tcp-rate").ip() else { unreachable!() };
    w
}

fn mqtt() -> MqttRate {
    let Some(IpTest::MqttRate(w)) = usual("mqtt-rate").ip() else { unreachable!() };
    w
}

fn join() -> WifiJoin {
    let Some(IpTest::Join(w)) = usual("wifi-join").ip() else { unreachable!() };
    w
}

fn esp_now() -> EspNow {
    let Workload::EspNow(w) = usual("esp-now") else { unreachable!() };
    w
}

fn over_wifi(variant: &str, test: IpTest) -> Workload {
    Workload::Wifi(Wifi::new(Name::new(variant).unwrap(), test))
}

/// Workloads of each kind, plain and with every setting.
fn examples() -> Vec<Workload> {
    let ms = Duration::from_millis;
    let all_of_iperf = Iperf {
        transport: Transport::Udp,
        direction: Direction::Reverse,
        bandwidth: Some(5_500_000),
        parallel: 4,
        window: Some(65_536),
        no_delay: true,
        tos: 0xB8,
        mss: Some(1000),
        congestion: Name::new("cubic"),
        trip_times: true,
        latency: Some(Latency { by: LatencyBy::Udp(10_000), ..Latency::DEFAULT }),
        ..Iperf::DEFAULT
    };
    let bounceback = Bounceback { hold: ms(3), quick_ack: false, ..Bounceback::DEFAULT };
    let cast = EspNowCast::Broadcast { copies: 3, ack: true };
    alloc::vec![
        Workload::UdpEcho(echo()),
        Workload::UdpEcho(UdpEcho { interval: Some(ms(10)), ..echo() }),
        Workload::UdpEcho(UdpEcho { format: EchoFormat::Binary, ..echo() }),
        Workload::UdpEcho(UdpEcho {
            format: EchoFormat::Binary,
            in_flight: 8,
            interval: Some(Duration::from_micros(500)),
            ..echo()
        }),
        over_wifi("arduino", IpTest::UdpEcho(echo())),
        Workload::Ping(ping()),
        Workload::Ping(Ping { tos: Some(16), ttl: Some(3), ..ping() }),
        Workload::Iperf(Iperf::DEFAULT),
        Workload::Iperf(all_of_iperf),
        Workload::Iperf(Iperf { bandwidth: Some(500_000), ..Iperf::DEFAULT }),
        Workload::Iperf(Iperf { bounceback: Some(bounceback), ..Iperf::DEFAULT }),
        Workload::Iperf(Iperf {
            bounceback: Some(Bounceback { period: Duration::ZERO, ..Bounceback::DEFAULT }),
            ..Iperf::DEFAULT
        }),
        over_wifi(
            "rank-iperf",
            IpTest::Iperf(Iperf { direction: Direction::Dual, ..Iperf::DEFAULT }),
        ),
        Workload::TcpRate(tcp_rate()),
        Workload::TcpRate(TcpRate { no_delay: true, run_time: ms(200), ..tcp_rate() }),
        Workload::MqttRate(mqtt()),
        Workload::MqttRate(MqttRate {
            version: MqttVersion::V5,
            qos: 1,
            mode: MqttMode::Offered(0.97),
            clients: 3,
            retain: true,
            clean_start: false,
            session_expiry: Some(60),
            ..mqtt()
        }),
        Workload::MqttRate(MqttRate { mode: MqttMode::Search { low: 5.0, high: 40.5 }, ..mqtt() }),
        Workload::MqttRate(MqttRate { mode: MqttMode::Listen, qos: 2, ..mqtt() }),
        over_wifi("join-esp32-wpa2", IpTest::Join(join())),
        Workload::Join(WifiJoin { cold: false, ..join() }),
        Workload::EspNow(EspNow { test: EspNowTest::OneWay, count: 4, ..esp_now() }),
        Workload::EspNow(EspNow { cast, encrypted: true, count: 4, ..esp_now() }),
        Workload::EspNow(EspNow {
            test: EspNowTest::Throughput,
            time: Duration::from_secs(6),
            ..esp_now()
        }),
        Workload::EspNow(EspNow { test: EspNowTest::Crypto, count: 4, ..esp_now() }),
        Workload::EspNow(EspNow { test: EspNowTest::MultiPing, devices: 30, ..esp_now() }),
        Workload::EspNow(EspNow {
            test: EspNowTest::Ota,
            size: 20_000,
            distance_m: (0.5, 1.0),
            ..esp_now()
        }),
        Workload::EspNow(EspNow { test: EspNowTest::Handshake, devices: 1, ..esp_now() }),
        Workload::EspNow(EspNow { test: EspNowTest::Provisioning, devices: 10, ..esp_now() }),
    ]
}

#[test]
fn words_and_fields_of_each_kind() {
    let mut table = String::new();
    for workload in examples() {
        let all = Settings::of(&workload);
        let beyond = all.beyond_columns();
        table += &format!("{}\n", place(workload.kind(), &all, 0));
        table += &format!("    result: {}\n", result(&beyond).as_deref().unwrap_or("-"));
        table += &format!("    fields: {}\n", serde_json::to_string(&all).unwrap());
        assert_eq!(read(&result(&beyond).unwrap_or_default()), Ok(beyond), "{workload:?}");
    }
    insta::assert_snapshot!(table);
}

#[test]
fn what_is_no_setting_is_refused_with_the_words() {
    for text in ["8 in the air", "binary, fast", "QoS x", "every ms", "TOS 0x100", "a to b"] {
        let error = read(text).unwrap_err().to_string();
        assert!(
            error.contains("is no setting that is known: write settings as reports do"),
            "{error}"
        );
    }
    assert!(read("binary, fast").unwrap_err().to_string().starts_with("`fast`"));
    assert_eq!(read(""), Ok(Settings::default()));
    assert_eq!(read("8 in flight,binary"), read("binary, 8 in flight"), "in any order");
}

#[test]
fn what_cells_share_is_left_out_of_their_short_names() {
    let of = |transport, length| {
        Settings::of(&Workload::Iperf(Iperf { transport, length, ..Iperf::DEFAULT }))
    };
    let cells = [of(Transport::Udp, 100), of(Transport::Tcp, 100)];
    let shared = Settings::shared(cells.iter());
    let brief = |cell| plan("iperf", cell, |word| !word.is_of(cell, &shared));
    // Transport and direction are one word: it is told where either differs.
    assert_eq!(cells.each_ref().map(brief), ["UDP to the device", "TCP to the device"]);
    assert_eq!(plan("iperf", &cells[0], |word| word.is_of(&cells[0], &shared)), "100 B");
    assert!(!differs("iperf", &cells[0], &Settings::shared([&cells[0]].into_iter())));
}

fn name() -> impl Strategy<Value = Name> {
    "[a-zA-Z0-9][a-zA-Z0-9_.-]{0,31}".prop_map(|it| Name::new(&it).unwrap())
}

fn time() -> impl Strategy<Value = Duration> {
    prop_oneof![
        (1_u64..=86_400_000).prop_map(Duration::from_millis),
        (1_u64..=1_000_000_000).prop_map(Duration::from_nanos),
    ]
}

fn of_echo() -> BoxedStrategy<IpTest> {
    let form = prop_oneof![Just(EchoFormat::Ascii), Just(EchoFormat::Binary)];
    (any::<u32>(), form, 1_u16.., proptest::option::of(time()))
        .prop_map(|(size, format, in_flight, interval)| {
            IpTest::UdpEcho(UdpEcho { size, format, in_flight, interval, ..echo() })
        })
        .boxed()
}

fn of_ping() -> BoxedStrategy<IpTest> {
    (any::<u32>(), time(), any::<Option<u8>>(), any::<Option<u8>>())
        .prop_map(|(size, interval, tos, ttl)| {
            IpTest::Ping(Ping { size, interval, tos, ttl, ..ping() })
        })
        .boxed()
}

fn of_iperf() -> BoxedStrategy<IpTest> {
    let transport = prop_oneof![Just(Transport::Udp), Just(Transport::Tcp)];
    let direction = prop_oneof![
        Just(Direction::Forward),
        Just(Direction::Reverse),
        Just(Direction::FullDuplex),
        Just(Direction::Tradeoff),
        Just(Direction::Dual),
    ];
    let bounceback = (1_u16.., prop_oneof![Just(Duration::ZERO), time()], time(), any::<bool>())
        .prop_map(|(burst, period, hold, quick_ack)| Bounceback { burst, period, hold, quick_ack });
    let first = (transport, direction, any::<u32>(), proptest::option::of(1_u64..1 << 50));
    let second = (1_u16.., any::<Option<u32>>(), any::<bool>(), any::<u8>(), any::<Option<u16>>());
    let third = (proptest::option::of(name()), any::<bool>(), proptest::option::of(bounceback));
    (first, second, third)
        .prop_map(|(first, second, third)| {
            let (transport, direction, length, bandwidth) = first;
            let (parallel, window, no_delay, tos, mss) = second;
            let (congestion, trip_times, bounceback) = third;
            IpTest::Iperf(Iperf {
                transport,
                direction,
                length,
                bandwidth,
                parallel,
                window,
                no_delay,
                tos,
                mss,
                congestion,
                trip_times,
                bounceback,
                ..Iperf::DEFAULT
            })
        })
        .boxed()
}

fn of_mqtt() -> BoxedStrategy<IpTest> {
    let rate = || 0.001_f64..1e8;
    let mode = prop_oneof![
        Just(MqttMode::Saturate),
        rate().prop_map(MqttMode::Offered),
        (rate(), rate()).prop_map(|(low, high)| MqttMode::Search { low, high }),
        Just(MqttMode::Listen),
    ];
    let version = prop_oneof![Just(MqttVersion::V311), Just(MqttVersion::V5)];
    let session = (any::<bool>(), any::<bool>(), any::<Option<u32>>());
    (version, 0_u8..=2, any::<u32>(), mode, 1_u16.., 1_u16.., session)
        .prop_map(|(version, qos, size, mode, in_flight, clients, session)| {
            let (retain, clean_start, session_expiry) = session;
            IpTest::MqttRate(MqttRate {
                version,
                qos,
                size,
                mode,
                in_flight,
                clients,
                retain,
                clean_start,
                session_expiry,
                ..mqtt()
            })
        })
        .boxed()
}

fn of_esp_now() -> BoxedStrategy<Workload> {
    let test = prop_oneof![
        Just(EspNowTest::OneWay),
        Just(EspNowTest::Ping),
        Just(EspNowTest::Throughput),
        Just(EspNowTest::Crypto),
        Just(EspNowTest::MultiPing),
        Just(EspNowTest::Ota),
        Just(EspNowTest::Handshake),
        Just(EspNowTest::Provisioning),
    ];
    let cast = prop_oneof![
        Just(EspNowCast::Unicast),
        (0_u8..=31, any::<bool>()).prop_map(|(copies, ack)| EspNowCast::Broadcast { copies, ack }),
    ];
    let metres = (0.01_f32..1e5, 0.01_f32..1e5);
    let numbers = (any::<u32>(), any::<u32>(), any::<u16>());
    (test, cast, numbers, time(), metres, any::<bool>(), lab())
        .prop_map(|(test, cast, (size, count, devices), time, distance_m, encrypted, lab)| {
            let work =
                EspNow { test, cast, size, count, time, devices, distance_m, encrypted, lab };
            Workload::EspNow(work)
        })
        .boxed()
}

/// Returns settings of a lab that a plan may have, with one option of sdkconfig at most.
fn lab() -> BoxedStrategy<LabOverrides> {
    use proptest::option::of;
    let option = of((0..ConfigOption::COUNT, any::<u32>()));
    let clocks = (of(10_u32..1000), of(10_u32..1000));
    (of(name()), of(name()), of(name()), of(-20.0..30.0), clocks, option)
        .prop_map(
            |(profile, environment, phy_rate, power_dbm, (clock_mhz, idle_clock_mhz), option)| {
                let mut sdkconfig = OptionValues::NONE;
                if let Some((at, value)) = option {
                    let fact = sdkconfig::FACTS[at];
                    let value = match fact.kind {
                        sdkconfig::ValueType::Flag => value % 2,
                        sdkconfig::ValueType::Number => value,
                        sdkconfig::ValueType::Choice(words) => {
                            words[value as usize % words.len()].0
                        }
                    };
                    sdkconfig.set(fact.key, value);
                }
                LabOverrides {
                    profile,
                    environment,
                    phy_rate,
                    power_dbm,
                    clock_mhz,
                    idle_clock_mhz,
                    sdkconfig,
                    ..LabOverrides::NONE
                }
            },
        )
        .boxed()
}

/// Strategies of whole workloads are boxed: their value trees hold several workloads side by side, which
/// do not fit the stack of a test's thread.
fn workload() -> BoxedStrategy<Workload> {
    let ip = prop_oneof![
        of_echo(),
        of_ping(),
        of_iperf(),
        (any::<u32>(), any::<bool>(), time()).prop_map(|(size, no_delay, run_time)| {
            IpTest::TcpRate(TcpRate { size, no_delay, run_time, ..tcp_rate() })
        }),
        of_mqtt(),
        any::<bool>().prop_map(|cold| IpTest::Join(WifiJoin { cold, ..join() })),
    ];
    let over_ip = (ip, proptest::option::of((name(), lab()))).prop_map(|(test, room)| match room {
        Some((variant, lab)) => Workload::Wifi(Wifi { lab, ..Wifi::new(variant, test) }),
        None => test.workload(),
    });
    prop_oneof![4 => over_ip, 1 => of_esp_now()].boxed()
}

proptest! {
    #[test]
    fn fields_and_words_come_back(workload in workload()) {
        let all = Settings::of(&workload);
        let json = serde_json::to_string(&all).unwrap();
        prop_assert_eq!(serde_json::from_str::<Settings>(&json).unwrap(), all.clone(), "{}", json);
        let beyond = all.beyond_columns();
        let words = result(&beyond).unwrap_or_default();
        prop_assert_eq!(read(&words).unwrap(), beyond, "{}", words);
    }

    #[test]
    fn different_settings_have_different_words_and_fields(a in workload(), b in workload()) {
        let (a, b) = (Settings::of(&a).beyond_columns(), Settings::of(&b).beyond_columns());
        prop_assert_eq!(a == b, result(&a) == result(&b));
        let json = |it: &Settings| serde_json::to_string(it).unwrap();
        prop_assert_eq!(a == b, json(&a) == json(&b));
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,60}", numbers in "[0-9a-zA-Z ,./%?:]{0,60}") {
        let _ = read(&text);
        if let Ok(settings) = read(&numbers) {
            let words = result(&settings).unwrap_or_default();
            prop_assert!(read(&words).is_ok(), "{}", words);
        }
    }

    #[test]
    fn settings_keep_no_order(workload in workload(), rotate in 0_usize..20) {
        let all = Settings::of(&workload);
        let mut list: Vec<Setting> = all.iter().cloned().collect();
        let middle = rotate % list.len().max(1);
        list.rotate_left(middle);
        prop_assert_eq!(list.into_iter().collect::<Settings>(), all);
    }
}
