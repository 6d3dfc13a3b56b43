//! Jobs that one board does for others, at the consoles of the lab: images, keys, credentials.

use super::bench::{KeptBoards, LabBench, Mishap};
use super::lab::{WORK, probes, text};
use crate::boards::{BoardError, BoardFault, BoardMemory, BoardSetup, run};
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_model::sample::{Fate, Interval, Sample};
use espbench_model::workload::{EspNow, EspNowTest};
use espbench_sim::lab::live::ExampleApp;
use espbench_sim::lab::nodes::FirmwareImage;

fn carry_out(
    work: &EspNow,
    setup: &BoardSetup,
    bench: &mut LabBench,
) -> (KeptBoards, Result<(), BoardError>) {
    let ports: Vec<usize> = (0..=usize::from(work.devices)).collect();
    let mut kept = KeptBoards::default();
    let result = run(work, &ports, 1, setup, &mut BoardMemory::default(), bench, &mut kept);
    (kept, result)
}

/// Returns the total of a job in which all were served.
fn served(work: &EspNow, setup: &BoardSetup, bench: &mut LabBench) -> (KeptBoards, Interval) {
    let (kept, result) = carry_out(work, setup, bench);
    result.unwrap_or_else(|error| panic!("{error}\n{:?}\n{}", kept.facts, text(&kept)));
    let read = probes(&kept);
    assert_eq!(read.len(), usize::from(work.devices));
    assert!(read.iter().all(|it| it.fate == Fate::Delivered), "{read:?}\n{}", text(&kept));
    let total = kept.samples.iter().find_map(|sample| match sample {
        Sample::Interval(it) if it.total => Some(*it),
        _ => None,
    });
    let total = total.expect("a total");
    assert_eq!((total.datagrams, total.lost), (Some(work.devices.into()), Some(0)));
    (kept, total)
}

/// Returns how long a job took in seconds.
fn seconds(total: &Interval) -> f64 {
    total.end.since(total.start).as_secs_f64()
}

#[test]
fn an_image_for_two_devices_each_time_anew() {
    let work = EspNow { test: EspNowTest::Ota, size: 65_536, devices: 2, ..WORK };
    let mut bench = LabBench::with_app(&work, ExampleApp::Ota);
    for _ in 0..3 {
        let (kept, total) = served(&work, &BoardSetup::default(), &mut bench);
        assert!((1.0..60.0).contains(&seconds(&total)), "{total:?}");
        assert!(kept.facts["printed-summary"].contains("successed_num: 2"), "{:?}", kept.facts);
        assert!(kept.counters["rounds"] > 0 && !kept.facts.contains_key("image-bytes"));
    }
}

#[test]
fn without_an_image_the_download_is_named() {
    let work = EspNow { test: EspNowTest::Ota, size: 65_536, ..WORK };
    let (_, result) = carry_out(&work, &BoardSetup::default(), &mut LabBench::of(&work));
    let Err(BoardError::NotPrinted { what, .. }) = result else { panic!("{result:?}") };
    assert_eq!(what, "that the image is there");
}

#[test]
fn an_image_that_a_device_runs_already_is_told() {
    let work = EspNow { test: EspNowTest::Ota, size: 65_536, ..WORK };
    let mut bench = LabBench::with_app(&work, ExampleApp::Solution);
    bench.lab.offer(&FirmwareImage::synthetic(work.size, "3.0.0", 1));
    served(&work, &BoardSetup::default(), &mut bench);
    let (_, result) = carry_out(&work, &BoardSetup::default(), &mut bench);
    let error = result.unwrap_err();
    assert_eq!(error, BoardError::SameImage { port: "port1".into() });
    assert!(error.remedy().contains("another build"), "{}", error.remedy());
}

#[test]
fn devices_that_take_no_images_are_not_found() {
    let work = EspNow { test: EspNowTest::Ota, size: 65_536, ..WORK };
    let mut bench = LabBench::with_app(&work, ExampleApp::GetStarted);
    bench.lab.offer_builds(work.size);
    let (_, result) = carry_out(&work, &BoardSetup::default(), &mut bench);
    let Err(BoardError::NotPrinted { what, .. }) = result else { panic!("{result:?}") };
    assert_eq!(what, "that it found a device");
}

#[test]
fn the_key_for_three_devices_by_the_application_each_time_anew() {
    let work = EspNow { test: EspNowTest::Handshake, devices: 3, ..WORK };
    let mut bench = LabBench::with_app(&work, ExampleApp::Security);
    for _ in 0..2 {
        let (kept, total) = served(&work, &BoardSetup::default(), &mut bench);
        assert!((2.5..10.0).contains(&seconds(&total)), "with its search: {total:?}");
        assert!(kept.facts["printed"].contains("App key is sent"));
    }
}

#[test]
fn an_application_that_hands_the_key_to_many_is_waited_for() {
    let work = EspNow { test: EspNowTest::Handshake, devices: 40, ..WORK };
    let mut bench = LabBench::with_app(&work, ExampleApp::Security);
    let (kept, total) = served(&work, &BoardSetup::default(), &mut bench);
    assert!(seconds(&total) > 12.0, "longer than a board is watched for its beginning: {total:?}");
    assert!(!kept.facts["commands"].contains("security -f"), "{:?}", kept.facts);
}

#[test]
fn a_device_that_a_copy_of_the_command_restarts_once_more_is_served() {
    let work = EspNow { test: EspNowTest::Handshake, devices: 2, ..WORK };
    let command = "command FF:FF:FF:FF:FF:FF \"security -e\"";
    let restarted = |work: &EspNow, after_ms| {
        let mut bench = LabBench::with_app(work, ExampleApp::Security);
        let after = Duration::from_millis(after_ms);
        bench.mishap_after = Some((command, after, 2, Mishap::Prints(b"")));
        bench
    };
    // Before the prompt of the first start, and after it.
    for after in [700, 2000] {
        served(&work, &BoardSetup::default(), &mut restarted(&work, after));
    }
    // Later no copy comes any more; so many devices take longer.
    let work = EspNow { devices: 20, ..work };
    let (_, result) = carry_out(&work, &BoardSetup::default(), &mut restarted(&work, 5500));
    let restarted = BoardFault::Restarted { reason: String::new() };
    assert_eq!(result, Err(BoardError::Fault { port: "port2".into(), fault: restarted }));
}

#[test]
fn a_board_without_a_key_is_told_so() {
    let work = EspNow { test: EspNowTest::Handshake, devices: 1, ..WORK };
    let (_, result) = carry_out(&work, &BoardSetup::default(), &mut LabBench::of(&work));
    assert_eq!(result, Err(BoardError::NoKey { port: "port0".into() }));
}

#[test]
fn encrypted_round_trips_agree_on_a_key_first_and_keep_it() {
    let work = EspNow { encrypted: true, ..WORK };
    let mut bench = LabBench::with_app(&work, ExampleApp::Security);
    for cell in 0..3 {
        let (kept, result) = carry_out(&work, &BoardSetup::default(), &mut bench);
        result.unwrap_or_else(|error| panic!("cell {cell}: {error}\n{}", text(&kept)));
        assert_eq!(probes(&kept).len(), 20);
        assert!(text(&kept).contains("Get APP key"), "cell {cell}");
    }
}

#[test]
fn encryption_is_timed_by_the_application_that_has_it() {
    let work = EspNow { test: EspNowTest::Crypto, size: 200, count: 50, ..WORK };
    let mut bench = LabBench::with_app(&work, ExampleApp::Security);
    let (kept, result) = carry_out(&work, &BoardSetup::default(), &mut bench);
    result.unwrap_or_else(|error| panic!("{error}\n{}", text(&kept)));
    assert_eq!(kept.samples.len(), 2);
}

#[test]
fn credentials_for_three_devices_until_each_has_an_address_each_time_anew() {
    let work = EspNow { test: EspNowTest::Provisioning, devices: 3, ..WORK };
    let mut bench = LabBench::with_app(&work, ExampleApp::Provisioning);
    let router = &bench.scene.routers[0];
    let network = (String::from(router.ssid.as_str()), String::from(router.password.as_str()));
    let setup = BoardSetup { network: Some(network), image: None, pin: None };
    for _ in 0..2 {
        let (kept, total) = served(&work, &setup, &mut bench);
        assert_eq!(kept.facts["served-at"], "address");
        assert!(text(&kept).contains("sta ip: 192.168.0.3, mask: 255.255.0.0, gw: 192.168.0.1"));
        assert!((1.0..40.0).contains(&seconds(&total)), "{total:?}");
    }
    let (_, result) = carry_out(&work, &BoardSetup::default(), &mut bench);
    assert!(matches!(result, Err(BoardError::NotTold { flag: "--ssid NAME", .. })), "{result:?}");
}

#[test]
fn devices_that_print_no_address_are_served_with_their_credentials() {
    let work = EspNow { test: EspNowTest::Provisioning, devices: 2, ..WORK };
    let mut bench = LabBench::of(&work);
    let router = &bench.scene.routers[0];
    let network = (String::from(router.ssid.as_str()), String::from(router.password.as_str()));
    let setup = BoardSetup { network: Some(network), image: None, pin: None };
    let (kept, _) = served(&work, &setup, &mut bench);
    assert_eq!(kept.facts["served-at"], "credentials");
}

#[test]
fn one_application_does_all_tests_without_a_key() {
    for test in
        [EspNowTest::Ping, EspNowTest::Throughput, EspNowTest::OneWay, EspNowTest::MultiPing]
    {
        let devices = if test == EspNowTest::MultiPing { 3 } else { 1 };
        let work = EspNow { test, size: 230, count: 5, devices, ..WORK };
        let mut bench = LabBench::with_app(&work, ExampleApp::Solution);
        let (kept, result) = carry_out(&work, &BoardSetup::default(), &mut bench);
        result.unwrap_or_else(|error| panic!("{test:?}: {error}\n{}", text(&kept)));
        assert!(!kept.samples.is_empty(), "{test:?}");
    }
}

#[test]
fn a_port_that_stands_still_while_a_command_is_typed_does_not_make_it_pasted_text() {
    let mut bench = LabBench::of(&WORK);
    bench.stalls = Some(("espnow_iperf -c", Duration::from_millis(800)));
    let (kept, result) = carry_out(&WORK, &BoardSetup::default(), &mut bench);
    result.unwrap_or_else(|error| panic!("{error}\n{}", text(&kept)));
    assert_eq!(probes(&kept).len(), 20);
}
