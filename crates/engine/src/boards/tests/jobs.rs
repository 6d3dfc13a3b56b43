//! Jobs that one board does for others, at the consoles of the lab: images, keys, credentials.

use super::bench::{KeptBoards, LabBench};
use super::lab::{WORK, probes, text};
use crate::boards::{BoardError, BoardMemory, BoardSetup, run};
use alloc::string::String;
use alloc::vec::Vec;
use espbench_model::sample::{Fate, Interval, Sample};
use espbench_model::workload::{EspNow, EspNowTest};
use espbench_sim::lab::nodes::{FirmwareImage, NodeId};

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

#[test]
fn an_image_for_two_devices() {
    let work = EspNow { test: EspNowTest::Ota, size: 65_536, devices: 2, ..WORK };
    let mut bench = LabBench::of(&work);
    let url = "http://192.168.0.6:8070/Resp.bin";
    let image = FirmwareImage::synthetic(work.size, "2.0.0", 1);
    bench.lab.board_mut(NodeId(0)).offers.insert(url.into(), image);
    let (kept, total) = served(&work, &BoardSetup::default(), &mut bench);
    let seconds = total.end.since(total.start).as_secs_f64();
    assert!((1.0..60.0).contains(&seconds), "{seconds}");
    assert!(kept.facts["printed-summary"].contains("successed_num: 2"), "{:?}", kept.facts);
    assert!(kept.counters["rounds"] > 0 && !kept.facts.contains_key("image-bytes"));
}

#[test]
fn without_an_image_the_download_is_named() {
    let work = EspNow { test: EspNowTest::Ota, size: 65_536, ..WORK };
    let (_, result) = carry_out(&work, &BoardSetup::default(), &mut LabBench::of(&work));
    let Err(BoardError::NotPrinted { what, .. }) = result else { panic!("{result:?}") };
    assert_eq!(what, "that the image is there");
}

#[test]
fn the_key_for_three_devices_by_the_application() {
    let work = EspNow { test: EspNowTest::Handshake, devices: 3, ..WORK };
    let mut bench = LabBench::of(&work);
    bench.hands_out = true;
    let (kept, total) = served(&work, &BoardSetup::default(), &mut bench);
    let seconds = total.end.since(total.start).as_secs_f64();
    assert!((2.5..10.0).contains(&seconds), "with its search: {seconds}");
    assert!(kept.facts["printed"].contains("App key is sent"));
}

#[test]
fn a_board_without_a_key_is_told_so() {
    let work = EspNow { test: EspNowTest::Handshake, devices: 1, ..WORK };
    let (_, result) = carry_out(&work, &BoardSetup::default(), &mut LabBench::of(&work));
    assert_eq!(result, Err(BoardError::NoKey { port: "port0".into() }));
}

#[test]
fn encrypted_round_trips_agree_on_a_key_first() {
    let work = EspNow { encrypted: true, ..WORK };
    let mut bench = LabBench::of(&work);
    bench.hands_out = true;
    let (kept, result) = carry_out(&work, &BoardSetup::default(), &mut bench);
    result.unwrap_or_else(|error| panic!("{error}\n{}", text(&kept)));
    assert_eq!(probes(&kept).len(), 20);
    assert!(text(&kept).contains("Get APP key"));
}

#[test]
fn credentials_for_three_devices() {
    let work = EspNow { test: EspNowTest::Provisioning, devices: 3, ..WORK };
    let mut bench = LabBench::of(&work);
    let router = &bench.scene.routers[0];
    let network = (String::from(router.ssid.as_str()), String::from(router.password.as_str()));
    let setup = BoardSetup { network: Some(network), image: None };
    let (kept, _) = served(&work, &setup, &mut bench);
    assert_eq!(kept.facts["served-at"], "credentials");
    let (_, result) = carry_out(&work, &BoardSetup::default(), &mut bench);
    assert!(matches!(result, Err(BoardError::NotTold { flag: "--ssid NAME", .. })), "{result:?}");
}
