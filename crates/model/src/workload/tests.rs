//! Work with and without a variant, and names.

use super::*;
use std::format;
use std::string::String;

fn echo() -> UdpEcho {
    UdpEcho {
        size: 100,
        count: 10,
        discard: 0,
        format: EchoFormat::Ascii,
        in_flight: 1,
        interval: None,
        timeout: Duration::from_secs(1),
    }
}

fn tests() -> [IpTest; 6] {
    let second = Duration::from_secs(1);
    [
        IpTest::UdpEcho(echo()),
        IpTest::Ping(Ping {
            size: 56,
            count: 10,
            discard: 0,
            interval: second,
            timeout: second,
            tos: None,
            ttl: None,
        }),
        IpTest::Iperf(Iperf::DEFAULT),
        IpTest::TcpRate(TcpRate {
            size: 100,
            runs: 5,
            discard: 1,
            run_time: second,
            no_delay: true,
        }),
        IpTest::MqttRate(MqttRate {
            version: MqttVersion::V311,
            qos: 1,
            size: 64,
            mode: MqttMode::Saturate,
            in_flight: 4,
            time: second,
            count: None,
            queue: 100,
            clients: 1,
            retain: false,
            clean_start: true,
            session_expiry: None,
        }),
        IpTest::Join(WifiJoin {
            count: 5,
            discard: 0,
            interval: second,
            timeout: second,
            cold: false,
        }),
    ]
}

/// A test is the same with and without a variant, and its name tells it from all others.
#[test]
fn a_variant_changes_nothing_of_its_test() {
    let variant = Name::new("esp32c3").unwrap();
    let mut kinds = std::collections::BTreeSet::new();
    for test in tests() {
        let plain = test.workload();
        let mut wifi = Workload::Wifi(Wifi::new(variant, test));
        assert_eq!((plain.kind(), wifi.kind()), (test.kind(), test.kind()));
        assert!(kinds.insert(test.kind()), "{}", test.kind());
        assert_eq!((plain.ip(), wifi.ip()), (Some(test), Some(test)));
        assert_eq!((plain.plain(), wifi.plain()), (plain, plain));
        assert_eq!(plain.variant(), None);
        assert_eq!(wifi.variant().map(Name::as_str), Some("esp32c3"));
        // Only work in a lab has a lab that may be changed.
        assert_eq!((plain.lab(), wifi.lab()), (&LabOverrides::NONE, &LabOverrides::NONE));
        assert!({ plain }.lab_mut().is_none());
        assert!(wifi.lab_mut().is_some());
    }
    assert!(!kinds.contains("esp-now"));
}

#[test]
fn esp_now_is_no_test_over_ip() {
    let mut work = Workload::EspNow(EspNow {
        test: EspNowTest::Ping,
        cast: EspNowCast::default(),
        size: 100,
        count: 10,
        time: Duration::from_secs(1),
        devices: 1,
        distance_m: (1.0, 1.0),
        encrypted: false,
        lab: LabOverrides::NONE,
    });
    assert_eq!((work.kind(), work.ip(), work.variant()), ("esp-now", None, None));
    assert_eq!(work.plain(), work);
    assert!(work.lab_mut().is_some());
}

#[test]
fn a_name_is_short_and_ascii() {
    let longest = "abcdefghijklmnopqrstuvwxyz012345";
    assert_eq!(longest.len(), Name::LEN);
    for name in ["", "a", "esp32-c3 at 2 m", longest] {
        let held = Name::new(name).expect(name);
        assert_eq!(held.as_str(), name);
        assert_eq!(format!("{held:?}"), format!("{name:?}"));
    }
    let longer: String = [longest, "6"].concat();
    assert_eq!(Name::new(&longer), None);
    assert_eq!(Name::new("Küche"), None);
    assert_eq!(Name::default().as_str(), "");
    // Names sort as their texts, and those that differ are different.
    let mut names = ["b", "a10", "a", "a1"].map(|it| Name::new(it).unwrap());
    names.sort_unstable();
    assert_eq!(names.map(|it| String::from(it.as_str())), ["a", "a1", "a10", "b"]);
    assert_ne!(Name::new("a"), Name::new("a\0"));
}
