use super::*;
use crate::lab::file::{Library, Overrides};
use alloc::collections::BTreeSet;
use core::time::Duration;
use std::string::String;
use std::vec;

const INITIATOR: NodeId = NodeId(0);

fn scene() -> Scene {
    Library::built_in().scene("two-boards", &Overrides::default(), 1).unwrap()
}

fn lab(answers: bool) -> LiveLab {
    let mut lab = LiveLab::new(&scene(), LiveSetup { seed: 1, baud: None }, ());
    lab.answer_cursor(INITIATOR, answers);
    lab
}

fn ms(n: u64) -> Instant {
    Instant::from_nanos(n * 1_000_000)
}

/// Lets time go on to each of these instants and types there; returns all that was printed.
fn converse(
    lab: &mut LiveLab,
    typed: &[(u64, u16, &[u8])],
    until: u64,
    step: u64,
) -> Vec<Vec<(Instant, u8)>> {
    let mut printed = vec![Vec::new(); 2];
    let mut times: BTreeSet<u64> = (0..=until).step_by(step as usize).collect();
    times.extend(typed.iter().map(|(at, _, _)| *at));
    times.insert(until);
    for at in times {
        lab.advance(ms(at)).unwrap();
        for (_, node, bytes) in typed.iter().filter(|it| it.0 == at) {
            assert_eq!(lab.type_bytes(NodeId(*node), bytes), bytes.len());
        }
        for (node, all) in printed.iter_mut().enumerate() {
            all.extend(core::iter::from_fn(|| lab.take_printed(NodeId(node as u16))));
        }
    }
    printed
}

fn text(printed: &[(Instant, u8)]) -> String {
    printed.iter().map(|(_, byte)| char::from(*byte)).collect()
}

/// A command, and its return later than a person's finger.
const PING: &[(u64, u16, &[u8])] = &[
    (6000, 1, b"espnow_iperf -s"),
    (6101, 1, b"\r"),
    (6501, 0, b"espnow_iperf -c 24:0a:c4:00:00:02 -p -C 20"),
    (6601, 0, b"\r"),
];

#[test]
fn commands_from_outside_are_carried_out_and_their_output_comes_at_the_line_s_rate() {
    let mut lab = lab(true);
    let printed = converse(&mut lab, PING, 9000, 10);
    let [initiator, responder] = &printed[..] else { panic!() };
    assert!(text(responder).contains("espnow_iperf -s"), "{}", text(responder));
    assert!(text(initiator).contains("20 packets transmitted, 20 received"), "{}", text(initiator));
    let byte = Duration::from_nanos(86_805);
    for pair in initiator.windows(2) {
        assert!(pair[1].0.since(pair[0].0) >= byte, "{pair:?}");
    }
    let bytes = lab.bytes(INITIATOR);
    assert_eq!((bytes.typed, bytes.typed_lost, bytes.printed_lost), (43, 0, 0));
    assert_eq!(bytes.printed, initiator.len() as u64);
}

#[test]
fn the_same_bytes_at_the_same_times_give_the_same_bytes_however_time_is_cut() {
    let [fine, coarse, again] =
        [1, 500, 500].map(|step| converse(&mut lab(true), PING, 9000, step));
    assert!(fine[0].len() > 1000 && fine[1].len() > 300);
    assert_eq!(fine, coarse);
    assert_eq!(coarse, again);
    let other: LiveLab = LiveLab::new(&scene(), LiveSetup { seed: 2, baud: None }, ());
    assert_ne!(converse(&mut { other }, PING, 9000, 500), coarse, "chance is the seed's");
}

#[test]
fn what_is_typed_for_later_keeps_its_distance_though_time_stands_still() {
    let typed = |gap: u64| {
        let mut lab = lab(true);
        lab.advance(ms(6000)).unwrap();
        lab.type_bytes(INITIATOR, b"version");
        lab.type_bytes_at(INITIATOR, ms(6000 + gap), b"\r");
        lab.advance(ms(7000)).unwrap();
        let printed: Vec<_> = core::iter::from_fn(|| lab.take_printed(INITIATOR)).collect();
        text(&printed)
    };
    assert!(typed(40).contains("IDF Version"), "{}", typed(40));
    assert!(!typed(0).contains("IDF Version"), "pasted text");
}

#[test]
fn an_example_has_its_initiator_on_the_first_device_and_its_responder_on_the_others() {
    let build = |app: ExampleApp, encrypt| {
        let mut scene = scene();
        app.build(&mut scene, encrypt);
        scene.nodes
    };
    let [first, second] = &build(ExampleApp::Security, false)[..] else { panic!() };
    assert!(first.hands_out_key && !second.hands_out_key);
    assert!(!first.services.security && second.services.security && second.services.commands);
    assert!(first.settings.encrypt.enabled && !first.settings.encrypt.debug);
    assert!(second.services.ota.is_none() && second.settings.compat.app_security);
    let [first, second] = &build(ExampleApp::Solution, true)[..] else { panic!() };
    assert!(first.hands_out_key && first.settings.encrypt.debug && second.services.ota.is_some());
    let [first, second] = &build(ExampleApp::Solution, false)[..] else { panic!() };
    assert!(!first.hands_out_key && !second.services.security && second.services.control.is_some());
    for device in build(ExampleApp::GetStarted, false) {
        let it = &device.services;
        assert!(it.data && !(it.commands || it.monitor || it.security || it.ota.is_some()));
        assert_eq!(device.remote_log, esp_now::node::print::LogLevel::None);
    }
}

#[test]
fn who_does_not_answer_the_cursor_s_query_loses_the_head_of_a_command() {
    let version: &[(u64, u16, &[u8])] = &[(6000, 0, b"version"), (6100, 0, b"\r")];
    let mut quiet = lab(false);
    let printed = converse(&mut quiet, version, 7000, 10);
    assert!(!text(&printed[0]).contains("> "), "{}", text(&printed[0]));
    let answered: &[(u64, u16, &[u8])] =
        &[(6000, 0, b"\x1b[1;1R\x1b[1;80R"), (6100, 0, b"version"), (6200, 0, b"\r")];
    let printed = converse(&mut lab(false), answered, 7000, 10);
    assert!(text(&printed[0]).contains("> version"), "{}", text(&printed[0]));
}

#[test]
fn a_query_that_nobody_has_answered_is_answered_inside_once_asked_for() {
    let mut lab = lab(false);
    lab.advance(ms(2000)).unwrap();
    lab.answer_cursor(INITIATOR, true);
    lab.advance(ms(2100)).unwrap();
    let printed: Vec<_> = core::iter::from_fn(|| lab.take_printed(INITIATOR)).collect();
    assert!(text(&printed).ends_with("> "), "{}", text(&printed));
    // Answered from outside: a second answer would be typed text.
    lab.answer_cursor(INITIATOR, false);
    lab.reset(INITIATOR);
    lab.advance(ms(4000)).unwrap();
    lab.type_bytes(INITIATOR, b"\x1b[1;1R\x1b[1;80R");
    lab.advance(ms(4100)).unwrap();
    lab.answer_cursor(INITIATOR, true);
    lab.advance(ms(4200)).unwrap();
    let printed: Vec<_> = core::iter::from_fn(|| lab.take_printed(INITIATOR)).collect();
    assert!(text(&printed).ends_with("> "), "{}", text(&printed));
}

#[test]
fn a_reset_board_starts_again_and_bytes_for_it_meanwhile_are_counted() {
    let mut lab = lab(true);
    lab.advance(ms(3000)).unwrap();
    while lab.take_printed(INITIATOR).is_some() {}
    lab.reset(INITIATOR);
    assert_eq!(lab.type_bytes(INITIATOR, b"help\r"), 5);
    lab.advance(ms(3002)).unwrap();
    assert_eq!(lab.bytes(INITIATOR).typed_off, 5);
    lab.advance(ms(5000)).unwrap();
    let printed: Vec<_> = core::iter::from_fn(|| lab.take_printed(INITIATOR)).collect();
    assert!(text(&printed).contains("> "), "{}", text(&printed));
}

#[test]
fn a_console_that_nobody_reads_is_bounded_and_so_is_what_is_typed() {
    let mut lab = lab(true);
    lab.advance(ms(2000)).unwrap();
    let flood = [b'x'; TYPED_MAX + 10];
    assert_eq!(lab.type_bytes(INITIATOR, &flood), TYPED_MAX);
    assert_eq!((lab.room(INITIATOR), lab.type_bytes(INITIATOR, b"x")), (0, 0));
    for second in 3..120 {
        lab.type_bytes(INITIATOR, b"help");
        lab.advance(ms(second * 1000 + 50)).unwrap();
        lab.type_bytes(INITIATOR, b"\r");
        lab.advance(ms(second * 1000 + 900)).unwrap();
    }
    let bytes = lab.bytes(INITIATOR);
    assert!(bytes.printed_lost > 0 && bytes.printed == 0, "{bytes:?}");
    let kept = core::iter::from_fn(|| lab.take_printed(INITIATOR)).count();
    assert_eq!(kept, PRINTED_MAX);
    assert_eq!(lab.lab.lines(INITIATOR), [], "a lab of days keeps nothing");
}

#[test]
fn a_rate_of_one_s_own_is_that_of_line_and_firmware() {
    let setup = LiveSetup { seed: 1, baud: Some(9600) };
    let mut lab = LiveLab::new(&scene(), setup, ());
    let printed = converse(&mut lab, PING, 9000, 100);
    let byte = Duration::from_nanos(1_041_666);
    assert!(printed[0].windows(2).all(|it| it[1].0.since(it[0].0) >= byte));
    assert!(!text(&printed[0]).contains("20 packets transmitted"), "printing takes longer");
}

#[test]
fn time_stands_at_the_next_event_or_byte() {
    let mut lab = lab(true);
    let first = lab.next_due().unwrap();
    assert!(first <= ms(103), "devices start, and routers send beacons");
    lab.advance(ms(500)).unwrap();
    lab.type_bytes(INITIATOR, b"x");
    assert!(lab.next_due().unwrap() <= ms(500) + Duration::from_nanos(86_805));
    lab.advance(ms(501)).unwrap();
    assert_eq!(lab.now(), ms(501));
}

/// An ICMP echo request (RFC 792) from the PC of a lab with one device, without checksums.
const ICMP_ECHO: [u8; 28] =
    [0x45, 0, 0, 28, 0, 1, 0, 0, 64, 1, 0, 0, 10, 0, 0, 2, 10, 0, 0, 1, 8, 0, 0, 0, 0, 7, 0, 1];

#[test]
fn a_packet_of_the_real_pc_is_answered_by_a_device() {
    let scene = Library::built_in().variant_scene("shield-box", "rank-iperf").unwrap();
    let mut replies = Vec::new();
    for step in [1, 7] {
        let mut lab = LiveNetwork::new(&scene, 1, None).unwrap();
        assert_eq!(lab.hosts()[1].name, PC_NAME);
        assert_eq!((lab.now(), lab.hosts()[0].address), (ms(0), [10, 0, 0, 1]));
        let mut at = 49;
        lab.advance(ms(at)).unwrap();
        lab.come_in(&ICMP_ECHO);
        // IPv6, one that is cut.
        for strange in [&[0x60; 40][..], &ICMP_ECHO[..27], &[]] {
            lab.come_in(strange);
        }
        let reply = loop {
            at += step;
            lab.advance(ms(at)).unwrap();
            // The device asks for its address meanwhile.
            if let Some(reply) = core::iter::from_fn(|| lab.take()).find(|it| it[9] == 1) {
                break reply;
            }
            assert!(at < 100, "no reply");
        };
        let mut checked = reply.clone();
        crate::net::fill_checksums(&mut checked);
        assert_eq!(checked, reply, "checksums are there");
        assert_eq!(
            (&reply[12..16], &reply[16..20], reply[20]),
            (&ICMP_ECHO[16..20], &ICMP_ECHO[12..16], 0)
        );
        let counts = lab.packets();
        assert_eq!((counts.came_in, counts.strange), (1, 3));
        assert!(counts.went_out >= 1);
        replies.push(reply);
    }
    assert_eq!(replies[0], replies[1], "however time was cut into steps");
}
