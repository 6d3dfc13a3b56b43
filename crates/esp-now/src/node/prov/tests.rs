//! Conversations on virtual time. Node 0 holds the credentials.

use super::*;
use crate::component::{Compat, Idf};
use crate::node::tests::tasks::{Hop, TaskTestbed, mac, random_loss};
use std::boxed::Box;
use std::format;
use std::vec::Vec;

fn world(devices: usize, channel: u8) -> TaskTestbed<Prov> {
    let mut world = TaskTestbed::new(devices + 1, Prov::receive);
    world.nodes[0].shared.air.channel = channel;
    world
}

fn hold(world: &mut TaskTestbed<Prov>, ms: u32) {
    world.with(0, |prov, cx| prov.hold(cx, ms, Some(b"home"), b"secret12")).unwrap();
}

fn seek(world: &mut TaskTestbed<Prov>, n: usize) {
    world.with(n, |prov, cx| prov.seek(cx));
}

fn has_credentials(world: &TaskTestbed<Prov>, n: usize) -> bool {
    let mut wanted = [0; STORED_LEN];
    wanted[..4].copy_from_slice(b"home");
    wanted[32..40].copy_from_slice(b"secret12");
    let stored = &world.nodes[n].board.stored;
    stored.iter().any(|(key, value)| *key == NvsKey::Wifi && value == &wanted)
}

#[test]
fn one_device_on_another_channel() {
    let mut world = world(1, 6);
    hold(&mut world, 30_000);
    seek(&mut world, 1);
    seek(&mut world, 1);
    world.run_for(Duration::from_secs(2));
    assert_eq!(
        world.lines(1),
        [
            "espnow_cmd: Start provisioning",
            "espnow_cmd: Already start provisioning",
            "espnow_cmd: MAC: 24:0a:c4:00:00:01, Channel: 6, RSSI: -40, \
             Product_id: debug_board, Device Name: ",
            "espnow_cmd: MAC: 24:0a:c4:00:00:01, Channel: 6, RSSI: -40, wifi_mode: 0, ssid: home, \
             password: secret12, token: ",
            "espnow_cmd: provisioning initiator exit",
        ]
    );
    assert_eq!(
        world.lines(0),
        [
            "espnow_cmd: Find provisioning devices",
            "espnow_prov: Responder beacon start, timer: 30s",
            "espnow_cmd: Add device to the network: home",
            "espnow_cmd: NUM: 1, MAC: 24:0a:c4:00:00:02, Channel: 6, RSSI: -40, \
             Product_id: debug_board, Device Name: , Auth Mode: 0, device_secret: ",
        ]
    );
    assert!(has_credentials(&world, 1));
    assert_eq!(world.nodes[1].events, [EspNowEvent::Provisioned(mac(0))]);
    assert!(!world.nodes[1].part.is_seeking() && world.nodes[0].part.is_holding());
    assert_eq!(world.nodes[1].shared.air.enabled & DataType::Prov.mask(), 0);
    seek(&mut world, 1);
    assert_eq!(world.lines(1).last(), Some(&"espnow_cmd: Already start provisioning"));
}

#[test]
fn frames_are_those_of_the_component() {
    let mut world = world(1, 1);
    hold(&mut world, 1000);
    seek(&mut world, 1);
    world.run_for(Duration::from_millis(500));
    let beacons: Vec<_> = world.log.iter().filter(|l| l.2[0] == 0).collect();
    assert!(beacons.len() >= 3);
    assert!(beacons.windows(2).all(|two| two[0].1.magic != two[1].1.magic));
    let config = FrameConfig { filter_adjacent: true, ..FrameConfig::default() };
    assert!(beacons.iter().all(|b| b.1.config == config && b.1.dest == Mac::BROADCAST));
    assert!(beacons.iter().all(|b| b.2.len() == 33));
    let device = world.log.iter().find(|l| l.2[0] == 1).unwrap();
    let unicast = FrameConfig { filter_adjacent: true, ..FrameConfig::UNICAST };
    assert_eq!((device.1.config, device.1.dest, device.2.len()), (unicast, mac(0), 218));
    assert!(device.2[33..].iter().all(|&b| b == 0), "no memory leaks out");
    let wifi = world.log.iter().find(|l| l.2[0] == 2).unwrap();
    assert_eq!((wifi.1.config, wifi.1.dest), (FrameConfig::default(), mac(1)));
    assert_eq!((wifi.2.len(), wifi.2[101]), (218, 1), "scan method");
}

#[test]
fn the_holder_ends_after_its_time() {
    let mut world = world(0, 1);
    hold(&mut world, 950);
    world.run_for(Duration::from_secs(3));
    assert_eq!(world.lines(0)[1], "espnow_prov: Responder beacon start, timer: 0s");
    assert_eq!(world.lines(0).last(), Some(&"espnow_prov: Responder beacon end"));
    assert!(!world.nodes[0].part.is_holding());
    let beacons = world.log.iter().filter(|l| l.2[0] == 0).count();
    assert_eq!(beacons, 9, "at 100 ms and every 100 ms until 900 ms");
    assert_eq!(world.nodes[0].shared.air.enabled & DataType::Prov.mask(), 0);
}

#[test]
fn ten_devices_on_many_channels_with_loss() {
    for seed in 0..5 {
        let mut world = world(10, 11);
        world.airtime = Duration::from_micros(500);
        world.rule = random_loss(seed, 30);
        for n in 1..=10 {
            world.nodes[n].shared.air.channel = n as u8;
            seek(&mut world, n);
            world.run_for(Duration::from_millis(37));
        }
        hold(&mut world, 60_000);
        world.run_for(Duration::from_secs(60));
        for n in 1..=10 {
            assert!(has_credentials(&world, n), "seed {seed}, node {n}");
            assert_eq!(world.nodes[n].shared.air.channel, 11);
            assert_eq!(world.nodes[n].events.len(), 1);
        }
        assert_eq!(world.nodes[0].part.dropped, 0);
    }
}

#[test]
fn a_device_tries_again_until_it_is_delivered() {
    let mut world = world(1, 1);
    let mut tries = 0;
    world.rule = Box::new(move |flight| {
        tries += u32::from(flight.payload[0] == 1);
        match (flight.payload[0], tries) {
            // DEVICE is lost once, then WIFI in all its copies once.
            (1, 1) | (2, ..=2) => Hop::Lost,
            _ => Hop::Arrives,
        }
    });
    hold(&mut world, 30_000);
    seek(&mut world, 1);
    world.run_for(Duration::from_secs(15));
    let lines = world.lines(1);
    let has = |line: &str| lines.contains(&line);
    assert!(has("espnow_prov: [espnow_prov_initiator_send, 212] <ESP_FAIL> espnow_write"));
    let again = "espnow_cmd: [provisioning_initiator, 318]: <ESP_FAIL> espnow_prov_responder_add";
    assert_eq!(lines.iter().filter(|l| **l == again).count(), 2);
    assert_eq!(lines.last(), Some(&"espnow_cmd: provisioning initiator exit"));
    assert!(world.lines(0).last().unwrap().contains("NUM: 2"));
}

#[test]
fn nobody_there_means_it_hops_on() {
    let mut world = world(1, 1);
    seek(&mut world, 1);
    let mut seen = Vec::new();
    for _ in 0..40 {
        seen.push(world.nodes[1].shared.air.channel);
        world.run_for(Duration::from_millis(110));
    }
    let expected: Vec<u8> = (0..40).map(|i| i % 11 + 1).collect();
    assert_eq!(seen, expected, "after three rounds a new scan, from the first channel");
    assert_eq!(world.lines(1), ["espnow_cmd: Start provisioning"]);
    assert!(world.nodes[1].part.is_seeking());
}

#[test]
fn a_locked_radio_stays() {
    let mut world = world(1, 1);
    world.nodes[1].shared.air.locked = true;
    world.nodes[1].shared.air.channel = 4;
    seek(&mut world, 1);
    world.run_for(Duration::from_secs(1));
    assert_eq!(world.nodes[1].shared.air.channel, 4);
}

#[test]
fn esp_idf_5_4_under_espnow_v1_cannot_ask() {
    let mut world = world(1, 1);
    world.nodes[1].shared.settings.compat = Compat { idf: Idf::V5_4, ..Compat::default() };
    hold(&mut world, 30_000);
    seek(&mut world, 1);
    world.run_for(Duration::from_secs(5));
    let line = "espnow_prov: [espnow_prov_initiator_send, 212] <ESP_ERR_INVALID_ARG> espnow_write";
    assert!(world.lines(1).contains(&line));
    assert!(!has_credentials(&world, 1));
}

#[test]
fn the_command_says_what_is_missing() {
    let mut world = world(0, 1);
    world.with(0, |prov, cx| {
        assert_eq!(prov.hold(cx, 1000, None, b""), Err(HoldError::Missing));
        assert_eq!(prov.hold(cx, 1000, Some(&[b'x'; 33]), b""), Err(HoldError::TooLong));
        assert_eq!(prov.hold(cx, 1000, Some(b"x"), &[b'x'; 65]), Err(HoldError::TooLong));
        assert!(!prov.is_holding());
    });
    assert_eq!(world.lines(0)[0], "espnow_cmd: Please set wifi ssid and password");
}

#[test]
fn erase_forgets_and_restarts() {
    let mut world = world(0, 1);
    world.nodes[0].board.stored.push((NvsKey::Wifi, std::vec![1; 96]));
    world.with(0, |prov, cx| prov.erase(cx));
    assert!(world.nodes[0].board.stored.is_empty());
    assert_eq!(world.nodes[0].events, [EspNowEvent::Restart]);
}

#[test]
fn more_devices_than_fit_are_counted() {
    let mut world = world(0, 1);
    hold(&mut world, 1000);
    let message = ProvMessage::Device(crate::component::prov::ProvDevice::default());
    let mut payload = [0; 256];
    let len = message.emit(&mut payload, Compat::default()).unwrap();
    let now = world.now;
    world.with(0, |prov, cx| {
        for n in 0..20 {
            let data_type = DataType::Prov;
            let data = &payload[..len];
            let from = mac(n);
            prov.receive(cx, &Received { from, data_type, data, rssi: 0, channel: 1, at: now });
            while cx.shared.print.take_output(&mut [0; 256]) > 0 {}
        }
        assert_eq!(prov.dropped, 4);
    });
    world.run_for(Duration::from_millis(300));
    assert_eq!(world.log.iter().filter(|l| l.2[0] == 2).count(), ASKED_MAX);
}

#[test]
fn the_password_is_not_shown_and_the_size_is_known() {
    let mut world = world(0, 1);
    hold(&mut world, 1000);
    assert!(!format!("{:?}", world.nodes[0].part).contains("secret12"));
    let size = size_of::<Prov>();
    std::println!("Prov: {size} bytes");
    assert!(size <= 600, "{size}");
}
