//! One cell of each kind of workload, by the one way to carry out any.

use super::*;
use crate::lab::record::KeptRecord;
use alloc::string::ToString as _;
use core::time::Duration;
use espbench_model::overrides::LabOverrides;
use espbench_model::workload::{
    EchoFormat, EspNow, EspNowCast, EspNowTest, IpTest, Iperf, MqttMode, MqttRate, MqttVersion,
    Name, Ping, TcpRate, UdpEcho, Wifi, WifiJoin,
};

const SECOND: Duration = Duration::from_secs(1);
const ECHO: UdpEcho = UdpEcho {
    size: 100,
    count: 3,
    discard: 0,
    format: EchoFormat::Binary,
    in_flight: 1,
    interval: None,
    timeout: SECOND,
};

fn of(test: IpTest) -> Workload {
    Workload::Wifi(Wifi::new(Name::new("ps-none").unwrap(), test))
}

fn esp_now() -> Workload {
    Workload::EspNow(EspNow {
        test: EspNowTest::Ping,
        cast: EspNowCast::Unicast,
        size: 100,
        count: 3,
        time: SECOND,
        devices: 1,
        distance_m: (1.0, 1.0),
        encrypted: false,
        lab: LabOverrides::NONE,
    })
}

/// Carries a cell out where it usually is, and gives the number of samples.
fn samples(workload: &Workload) -> Result<usize, SuiteError> {
    let (library, mut kept) = (Library::built_in(), KeptRecord::default());
    check(workload, &library, None)?;
    run(workload, &library, None, Seeds::both(1), &mut kept)?;
    assert!(["lab", "seed"].iter().all(|name| kept.facts.contains_key(*name)));
    Ok(kept.samples.len())
}

#[test]
fn pings_over_esp_now() {
    assert_eq!(samples(&esp_now()), Ok(3));
}

#[test]
fn echoes_over_udp() {
    assert_eq!(samples(&of(IpTest::UdpEcho(ECHO))), Ok(3));
}

#[test]
fn a_stream_of_iperf() {
    let test = Iperf { time: SECOND, ..Iperf::DEFAULT };
    assert!(samples(&of(IpTest::Iperf(test))).unwrap() >= 2, "an interval and a total at least");
}

#[test]
fn messages_over_tcp() {
    let run_time = Duration::from_millis(200);
    let test = TcpRate { size: 16, runs: 2, discard: 0, run_time, no_delay: false };
    assert!(samples(&of(IpTest::TcpRate(test))).unwrap() >= 2, "one a run at least");
}

#[test]
fn messages_over_mqtt() {
    let test = MqttRate {
        version: MqttVersion::V311,
        qos: 0,
        size: 16,
        mode: MqttMode::Offered(10.0),
        in_flight: 4,
        time: SECOND,
        count: Some(5),
        queue: 10,
        clients: 1,
        retain: false,
        clean_start: true,
        session_expiry: None,
    };
    assert!(samples(&of(IpTest::MqttRate(test))).unwrap() >= 5, "one a message at least");
}

#[test]
fn joins_of_a_network() {
    let test = WifiJoin { count: 2, discard: 0, interval: SECOND, timeout: SECOND, cold: false };
    assert_eq!(samples(&of(IpTest::Join(test))), Ok(2));
}

#[test]
fn what_a_lab_cannot_do_is_said_before_it_is_tried() {
    let ping = Ping {
        size: 56,
        count: 1,
        discard: 0,
        interval: SECOND,
        timeout: SECOND,
        tos: None,
        ttl: None,
    };
    let said =
        |workload: &Workload| check(workload, &Library::built_in(), None).unwrap_err().to_string();
    assert!(said(&of(IpTest::Ping(ping))).contains("do not speak ICMP"));
    let marked = Iperf { tos: 8, ..Iperf::DEFAULT };
    assert!(said(&of(IpTest::Iperf(marked))).contains("does not carry out iperf's tos"));
    let plain = Workload::UdpEcho(ECHO);
    assert_eq!(check(&plain, &Library::built_in(), None), Err(SuiteError::NoDevice));
    assert_eq!(samples(&plain), Err(SuiteError::NoDevice));
    assert!(
        !is_for_lab(&plain) && is_for_lab(&esp_now()) && is_for_lab(&of(IpTest::UdpEcho(ECHO)))
    );
}

#[test]
fn where_our_own_lab_stretches_a_model_the_reader_is_not_told_and_where_a_plan_does_it_is() {
    let library = Library::built_in();
    let of = |distance_m: Option<f32>| {
        let mut work = Wifi::new(Name::new("40-on-1-router").unwrap(), IpTest::UdpEcho(ECHO));
        work.lab.distance_m = distance_m;
        let work = Workload::Wifi(work);
        scene(&work, &library, None, 1).unwrap().beyond_model()
    };
    assert_eq!(of(None), None);
    assert!(of(Some(20.0)).is_some_and(|it| it.1 == 10.0));
}
