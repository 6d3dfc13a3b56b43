use super::*;
use crate::tune::space::Power;
use core::time::Duration;
use espbench_ieee80211::mac::Mac;
use espbench_model::workload::{
    Direction, EchoFormat, EspNowCast, EspNowTest, LatencyBy, MqttVersion, Name, Transport,
};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::string::ToString;

#[test]
fn a_field_has_one_name_and_a_set_one_setting_of_a_key() {
    let names: BTreeSet<&str> = SettingKey::ALL.iter().map(|key| key.name()).collect();
    assert_eq!(names.len(), SettingKey::ALL.len());
    let mut settings = Settings::default();
    assert!(settings.is_empty());
    settings.set(Setting::Nagle(true));
    settings.set(Setting::Qos(1));
    settings.set(Setting::Nagle(false));
    assert_eq!(settings.iter().count(), 2);
    assert!(settings.has(&Setting::Nagle(false)) && !settings.has(&Setting::Nagle(true)));
    assert_eq!(settings.without(&[SettingKey::Qos]), settings.only(&[SettingKey::Nagle]));
    assert_eq!(settings.lab_variant(), None);
    let named = settings.clone().with(Setting::LabVariant(Name::new("home").unwrap()));
    assert_eq!(named.lab_variant().map(Name::as_str), Some("home"));
    assert_eq!(Settings::shared([&settings, &named].into_iter()), settings);
    assert_eq!(Settings::shared(core::iter::empty()), Settings::default());
}

#[test]
fn fields_that_are_not_known_or_of_another_type_are_refused() {
    let error = |json: &str| serde_json::from_str::<Settings>(json).unwrap_err().to_string();
    assert!(error("{\"nagel\": true}").starts_with("no setting `nagel`"));
    assert!(error("{\"nagle\": 1}").starts_with("the setting `nagle` cannot be 1"));
    assert!(error("{\"qos\": 300}").starts_with("the setting `qos` cannot be"));
    assert!(error("{\"interval_s\": -1.5}").starts_with("the setting `interval_s` cannot be"));
    assert!(error("{\"direction\": \"up\"}").starts_with("the setting `direction` cannot be"));
    // A whole number is a number.
    let rate: Settings = serde_json::from_str("{\"offered_per_s\": 100}").unwrap();
    assert!(rate.has(&Setting::Offered(100.0)));
}

/// Reports have the field and its value, which old reports keep. A setting that is read and written again
/// is what it was.
#[test]
fn settings_are_fields_with_the_words_of_the_schema() {
    let name = |text: &str| Name::new(text).unwrap();
    let ms = Duration::from_millis;
    for (setting, json) in [
        (Setting::LabVariant(name("home")), r#"{"lab_variant":"home"}"#),
        (Setting::Test(EspNowTest::OneWay), r#"{"test":"one-way"}"#),
        (Setting::Test(EspNowTest::Ping), r#"{"test":"ping"}"#),
        (Setting::Test(EspNowTest::Throughput), r#"{"test":"throughput"}"#),
        (Setting::Test(EspNowTest::Crypto), r#"{"test":"crypto"}"#),
        (Setting::Test(EspNowTest::MultiPing), r#"{"test":"multi-ping"}"#),
        (Setting::Test(EspNowTest::Ota), r#"{"test":"ota"}"#),
        (Setting::Test(EspNowTest::Handshake), r#"{"test":"handshake"}"#),
        (Setting::Test(EspNowTest::Provisioning), r#"{"test":"provisioning"}"#),
        (Setting::Transport(Transport::Udp), r#"{"iperf_transport":"udp"}"#),
        (Setting::Transport(Transport::Tcp), r#"{"iperf_transport":"tcp"}"#),
        (Setting::Direction(Direction::Forward), r#"{"direction":"forward"}"#),
        (Setting::Direction(Direction::Reverse), r#"{"direction":"reverse"}"#),
        (Setting::Direction(Direction::FullDuplex), r#"{"direction":"full-duplex"}"#),
        (Setting::Direction(Direction::Tradeoff), r#"{"direction":"tradeoff"}"#),
        (Setting::Direction(Direction::Dual), r#"{"direction":"dual"}"#),
        (Setting::MqttVersion(MqttVersion::V311), r#"{"mqtt_version":"3.1.1"}"#),
        (Setting::MqttVersion(MqttVersion::V5), r#"{"mqtt_version":"5"}"#),
        (Setting::Format(EchoFormat::Ascii), r#"{"format":"ascii"}"#),
        (Setting::Format(EchoFormat::Binary), r#"{"format":"binary"}"#),
        (Setting::Cast(EspNowCast::Unicast), r#"{"cast":"unicast"}"#),
        (
            Setting::Cast(EspNowCast::Broadcast { copies: 0, ack: false }),
            r#"{"cast":"broadcast-0"}"#,
        ),
        (
            Setting::Cast(EspNowCast::Broadcast { copies: 3, ack: true }),
            r#"{"cast":"broadcast-3-ack"}"#,
        ),
        (Setting::Echoes(LatencyBy::Icmp), r#"{"echoes":"icmp"}"#),
        (Setting::Echoes(LatencyBy::Udp(9000)), r#"{"echoes":"udp:9000"}"#),
        (Setting::PowerSave(Power::Awake), r#"{"power_save":"awake"}"#),
        (Setting::PowerSave(Power::MinModem), r#"{"power_save":"min-modem"}"#),
        (Setting::PowerSave(Power::MaxModem(10)), r#"{"power_save":"max-modem-10"}"#),
        (Setting::Interval(ms(12_500)), r#"{"interval_s":12.5}"#),
        (Setting::Interval(Duration::from_nanos(1)), r#"{"interval_s":1e-9}"#),
        (Setting::Size(1470), r#"{"size_bytes":1470}"#),
        (Setting::Qos(2), r#"{"qos":2}"#),
        (Setting::Nagle(false), r#"{"nagle":false}"#),
        (Setting::TxPower(-1.5), r#"{"power_dbm":-1.5}"#),
        (Setting::From(Mac([0x24, 10, 0xC4, 0, 0, 1])), r#"{"from_mac":"24:0a:c4:00:00:01"}"#),
    ] {
        let settings = Settings::default().with(setting.clone());
        assert_eq!(serde_json::to_string(&settings).unwrap(), json);
        assert_eq!(serde_json::from_str::<Settings>(json).unwrap(), settings, "{json}");
    }
}

#[test]
fn words_that_are_near_are_not_enough() {
    for json in [
        r#"{"test":"Ping"}"#,
        r#"{"cast":"broadcast"}"#,
        r#"{"cast":"broadcast-"}"#,
        r#"{"cast":"broadcast-300"}"#,
        r#"{"cast":"broadcast-3-acks"}"#,
        r#"{"echoes":"udp:0"}"#,
        r#"{"echoes":"tcp:7"}"#,
        r#"{"power_save":"max-modem"}"#,
        r#"{"power_save":"max-modem-ten"}"#,
        r#"{"power_save":10}"#,
        r#"{"lab_variant":"a name of more than thirty-two bytes"}"#,
        r#"{"lab_variant":"Küche"}"#,
        r#"{"from_mac":"24:0a:c4:00:00"}"#,
        r#"{"interval_s":1e30}"#,
        r#"{"nagle":null}"#,
    ] {
        assert!(serde_json::from_str::<Settings>(json).is_err(), "{json}");
    }
}

/// Options of sdkconfig are fields by their own names: flags are true or false.
#[test]
fn options_are_fields_by_their_names() {
    let settings: Settings = serde_json::from_str(
        r#"{"CONFIG_ESP_WIFI_TX_BA_WIN":6,"CONFIG_LWIP_TCP_WND_DEFAULT":5760}"#,
    )
    .unwrap();
    let options: std::vec::Vec<(SettingKey, u32)> = settings
        .iter()
        .map(|it| match it {
            Setting::Sdkconfig(_, value) => (it.key(), *value),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(options.iter().map(|it| it.1).collect::<std::vec::Vec<_>>(), [6, 5760]);
    assert!(options.iter().all(|(key, _)| key.name().starts_with("CONFIG_")));
    let again = serde_json::to_string(&settings).unwrap();
    assert_eq!(serde_json::from_str::<Settings>(&again).unwrap(), settings);
    for json in [
        r#"{"CONFIG_ESP_WIFI_TX_BA_WIN":true}"#,
        r#"{"CONFIG_ESP_WIFI_TX_BA_WIN":-1}"#,
        r#"{"CONFIG_NOTHING":1}"#,
    ] {
        assert!(serde_json::from_str::<Settings>(json).is_err(), "{json}");
    }
}

proptest! {
    /// Seconds as a number of JSON keep their nanoseconds up to 2^51 of them, which are 26 days.
    #[test]
    fn durations_keep_their_nanoseconds(nanos in 0..1_u64 << 51) {
        let settings = Settings::default().with(Setting::RunTime(Duration::from_nanos(nanos)));
        let json = serde_json::to_string(&settings).unwrap();
        prop_assert_eq!(serde_json::from_str::<Settings>(&json).unwrap(), settings);
    }
}
