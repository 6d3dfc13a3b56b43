use super::*;
use crate::node::print::LogLevel;
use crate::transcript::item::IperfLine;
use crate::transcript::{ConsoleLine, TranscriptItem};
use espbench_model::time::Duration;

fn ping(count: u32) -> IperfOptions {
    IperfOptions { ping: true, count, len: Some(10), ..IperfOptions::default() }
}

fn broadcast(copies: u8) -> IperfOptions {
    IperfOptions { broadcast: Some(copies), ..IperfOptions::default() }
}

#[test]
fn unicast() {
    let mut world = world();
    respond(&mut world, IperfOptions::default());
    initiate(&mut world, ping(3));
    world.run_for(Duration::from_secs(1));
    assert_eq!(
        world.lines(1),
        [
            "iperf_cmd: ------------------------------------------------------------",
            "iperf_cmd: responder 24:0a:c4:00:00:02 listening",
            "iperf_cmd: ESP-NOW window size: 230 bytes",
            "iperf_cmd: ------------------------------------------------------------",
            "iperf_cmd: [  Initiator MAC  ] Interval       Transfer     Bandwidth   RSSI",
        ]
    );
    assert_eq!(
        world.lines(0),
        [
            "iperf_cmd: ------------------------------------------------------------",
            "iperf_cmd: initiator 24:0a:c4:00:00:01 send to 24:0a:c4:00:00:02",
            "iperf_cmd: espnow channel: 1",
            "iperf_cmd: ------------------------------------------------------------",
            "iperf_cmd: time: 60, interval: 3, len: 10",
            "iperf_cmd: 10 bytes from 24:0a:c4:00:00:02: seq=0 rssi=-40 time=2 ms",
            "iperf_cmd: 10 bytes from 24:0a:c4:00:00:02: seq=1 rssi=-40 time=2 ms",
            "iperf_cmd: 10 bytes from 24:0a:c4:00:00:02: seq=2 rssi=-40 time=2 ms",
            "iperf_cmd: initiator ping report:",
            "iperf_cmd: ping statistics for 24:0a:c4:00:00:02",
            "iperf_cmd: 3 packets transmitted, 3 received, 0.00% packet loss, \
             time: total 6 ms, max: 2, min: 2, average 2.00 ms",
        ]
    );
    let probes = probes(&world, 0);
    assert_eq!(probes.len(), 3);
    for (i, probe) in probes.iter().enumerate() {
        assert_eq!((probe.seq, probe.bytes, probe.fate), (i as u64, 10, Fate::Delivered));
        let sent = probe.sent.unwrap();
        assert_eq!(probe.due, sent);
        assert_eq!(probe.acked.unwrap().since(sent), Duration::from_millis(1));
        assert_eq!(probe.received.unwrap().since(sent), Duration::from_micros(2100));
    }
    assert!(!world.nodes[0].part.is_running() && world.nodes[1].part.is_responder());
    let listens = |n: usize| world.nodes[n].shared.air.enabled & 1 << 15 != 0;
    assert_eq!((listens(0), listens(1)), (false, true));
    let answer = world.log.iter().find(|(n, ..)| *n == 1).unwrap();
    assert_eq!((answer.1.config, answer.2.len()), (FrameConfig::UNICAST, 10));
}

#[test]
fn unicast_with_acknowledgement_and_a_loss() {
    let mut world = world();
    world.rule =
        rule(|from, head| if from == 0 && head.seq == 1 { Hop::Lost } else { Hop::Arrives });
    respond(&mut world, IperfOptions { ack: true, ..IperfOptions::default() });
    initiate(&mut world, IperfOptions { ack: true, ..ping(3) });
    world.run_for(Duration::from_secs(1));
    assert_eq!(
        world.lines(0)[5..],
        [
            "iperf_cmd: 10 bytes from 24:0a:c4:00:00:02: seq=0 rssi=-40 time=2 ms",
            "iperf_cmd: [espnow_iperf_ping_task, 469]: <ESP_ERR_WIFI_TIMEOUT> espnow_send",
            "iperf_cmd: 10 bytes from 24:0a:c4:00:00:02: seq=2 rssi=-40 time=2 ms",
            "iperf_cmd: initiator ping report:",
            "iperf_cmd: ping statistics for 24:0a:c4:00:00:02",
            "iperf_cmd: 3 packets transmitted, 2 received, 33.33% packet loss, \
             time: total 5 ms, max: 2, min: 2, average 2.00 ms",
        ]
    );
    let mut fates: Vec<_> = probes(&world, 0).iter().map(|p| (p.seq, p.fate)).collect();
    fates.sort_by_key(|f| f.0);
    assert_eq!(
        fates,
        [(0, Fate::Delivered), (1, Fate::Lost(Cause::Unknown)), (2, Fate::Delivered)]
    );
    assert!(world.log.iter().all(|(_, out, _)| out.config.ack && !out.config.broadcast));
}

#[test]
fn broadcast_without_an_answer() {
    let mut world = world();
    world.rule =
        rule(|from, head| if from == 0 && head.seq == 0 { Hop::Lost } else { Hop::Arrives });
    respond(&mut world, broadcast(0));
    initiate(&mut world, IperfOptions { broadcast: Some(0), ..ping(2) });
    world.run_for(Duration::from_secs(5));
    assert_eq!(
        world.lines(0)[5..],
        [
            "iperf_cmd: seq=0 Destination Host Unreachable",
            "iperf_cmd: 10 bytes from 24:0a:c4:00:00:02: seq=1 rssi=-40 time=2 ms",
            "iperf_cmd: initiator ping report:",
            "iperf_cmd: ping statistics for 24:0a:c4:00:00:02",
            "iperf_cmd: 2 packets transmitted, 1 received, 50.00% packet loss, \
             time: total 3003 ms, max: 2, min: 2, average 2.00 ms",
        ]
    );
    let probes = probes(&world, 0);
    let lost = probes.iter().find(|p| p.seq == 0).unwrap();
    assert_eq!((lost.fate, lost.acked, lost.received), (Fate::Lost(Cause::Unknown), None, None));
    assert_eq!(probes.len(), 2);
    assert!(world.log.iter().all(|(_, out, _)| out.config.broadcast && !out.dest.is_broadcast()));
}

#[test]
fn nobody_answers_at_all() {
    let mut world = world();
    initiate(&mut world, IperfOptions { broadcast: Some(3), ..ping(2) });
    world.run_for(Duration::from_secs(7));
    assert_eq!(
        world.lines(0)[5..],
        [
            "iperf_cmd: seq=0 Destination Host Unreachable",
            "iperf_cmd: seq=1 Destination Host Unreachable",
            "iperf_cmd: initiator ping report:",
            "iperf_cmd: ping statistics for 24:0a:c4:00:00:02",
            "iperf_cmd: 2 packets transmitted, 0 received, 100.00% packet loss, \
             time: total 6006 ms, max: 0, min: -1, average nan ms",
        ]
    );
}

#[test]
fn no_pings_asked_for() {
    let mut world = world();
    initiate(&mut world, ping(0));
    let line = "iperf_cmd: 0 packets transmitted, 0 received, nan% packet loss, \
                time: total 0 ms, max: 0, min: -1, average nan ms";
    assert_eq!(world.lines(0).last(), Some(&line));
    assert!(probes(&world, 0).is_empty());
}

#[test]
fn a_group_answers_once() {
    let mut world = world();
    let group = Mac([1, 2, 3, 4, 5, 6]);
    world.nodes[1].shared.air.groups.push(group).unwrap();
    respond(&mut world, broadcast(1));
    let options = IperfOptions { broadcast: Some(1), group: true, ..ping(2) };
    let options = IperfOptions { initiator: Some(Ok(group)), ..options };
    world.with(0, |iperf, cx| iperf.start(cx, &options)).unwrap();
    world.run_for(Duration::from_secs(5));
    // The answer's address takes the place of the group's, and no one is in a group of that name.
    assert_eq!(
        world.lines(0)[5..],
        [
            "iperf_cmd: 10 bytes from 24:0a:c4:00:00:02: seq=0 rssi=-40 time=2 ms",
            "iperf_cmd: seq=1 Destination Host Unreachable",
            "iperf_cmd: initiator ping report:",
            "iperf_cmd: ping statistics for 24:0a:c4:00:00:02",
            "iperf_cmd: 2 packets transmitted, 1 received, 50.00% packet loss, \
             time: total 3003 ms, max: 2, min: 2, average 2.00 ms",
        ]
    );
    let dests: Vec<_> = world.log.iter().filter(|l| l.0 == 0).map(|l| l.1.dest).collect();
    assert_eq!(dests, [group, mac(1)]);
}

#[test]
fn late_and_duplicate_answers_are_stale_lines_and_one_sample_each() {
    let mut world = world();
    // The MAC's acknowledgement of ping 0 is lost, so its answer comes while ping 1 waits.
    world.rule =
        rule(|from, head| if from == 0 && head.seq == 0 { Hop::Unacked } else { Hop::Arrives });
    respond(&mut world, IperfOptions::default());
    initiate(&mut world, ping(6));
    world.run_for(Duration::from_secs(1));
    let lines = world.lines(0);
    assert_eq!(lines[5], "iperf_cmd: [espnow_iperf_ping_task, 469]: <ESP_FAIL> espnow_send");
    assert_eq!(lines[6], "iperf_cmd: data_size: 10, send_seq: 1, recv_seq: 0");
    assert_eq!(lines[7], "iperf_cmd: 10 bytes from 24:0a:c4:00:00:02: seq=1 rssi=-40 time=2 ms");
    let probes = probes(&world, 0);
    let fates: Vec<_> = probes.iter().map(|p| (p.seq, p.fate)).collect();
    let delivered = (1..6).map(|seq| (seq, Fate::Delivered));
    let expected: Vec<_> = core::iter::once((0, Fate::Late)).chain(delivered).collect();
    assert_eq!(fates, expected);
    assert!(probes[0].acked.is_none() && probes[0].received.is_some());
}

#[test]
fn the_pin_falls_at_both_ends_and_stays_low_without_an_answer() {
    let mut world = world();
    world.rule =
        rule(|from, head| if from == 0 && head.seq == 1 { Hop::Lost } else { Hop::Arrives });
    respond(&mut world, IperfOptions { gpio: Some(17), ..broadcast(0) });
    initiate(&mut world, IperfOptions { gpio: Some(4), broadcast: Some(0), ..ping(3) });
    world.run_for(Duration::from_secs(5));
    let pins = |n: usize, pin| -> Vec<bool> {
        world.nodes[n].board.pins.iter().map(|&(p, high)| (p == pin) && high).collect()
    };
    assert_eq!(pins(0, 4), [true, false, true, false, false, true]);
    assert_eq!(pins(1, 17), [true, false, true, false, true]);
}

#[test]
fn the_edges_are_logged_with_microseconds_where_debug_is_on() {
    let run = |level: LogLevel, gpio: Option<u8>| {
        let mut world = world();
        world.rule =
            rule(|from, head| if from == 0 && head.seq == 1 { Hop::Lost } else { Hop::Arrives });
        for node in &mut world.nodes {
            node.shared.print.uart = level;
        }
        respond(&mut world, IperfOptions { gpio, ..broadcast(0) });
        initiate(&mut world, IperfOptions { gpio, broadcast: Some(0), ..ping(3) });
        world.run_for(Duration::from_secs(5));
        let edges = |node: usize| -> Vec<IperfLine<'static>> {
            let lines = world.lines(node);
            let read = |line: &&str| {
                let text = line.strip_prefix("iperf_cmd: ")?;
                match TranscriptItem::of(&ConsoleLine::parse(text, false)) {
                    TranscriptItem::Iperf(IperfLine::Edges { seq, low_us, high_us }) => {
                        Some(IperfLine::Edges { seq, low_us, high_us })
                    }
                    _ => None,
                }
            };
            lines.iter().filter_map(read).collect()
        };
        (edges(0), edges(1))
    };
    let (sender, receiver) = run(LogLevel::Debug, Some(4));
    let stamps = |edges: &[IperfLine<'_>]| -> Vec<(u32, u64, Option<u64>)> {
        let of = |edge: &IperfLine<'_>| match *edge {
            IperfLine::Edges { seq, low_us, high_us } => (seq, low_us, high_us),
            _ => unreachable!(),
        };
        edges.iter().map(of).collect()
    };
    let (sender, receiver) = (stamps(&sender), stamps(&receiver));
    assert_eq!(
        sender.iter().map(|it| (it.0, it.2.is_some())).collect::<Vec<_>>(),
        [(0, true), (1, false), (2, true)]
    );
    assert_eq!(
        receiver.iter().map(|it| (it.0, it.2.is_some())).collect::<Vec<_>>(),
        [(0, true), (2, true)]
    );
    // One clock drives both here: a ping is there between its sending and its answer.
    for (seq, at, _) in receiver {
        let (_, low, high) = sender[seq as usize];
        assert!(low <= at && at <= high.unwrap(), "{seq}: {low} {at} {high:?}");
    }
    // As in the component, nothing of it is printed at INFO, nor without a pin.
    assert_eq!(run(LogLevel::Info, Some(4)), (Vec::new(), Vec::new()));
    assert_eq!(run(LogLevel::Debug, None), (Vec::new(), Vec::new()));
}

#[test]
fn abort_ends_with_a_report_after_the_wait() {
    let mut world = world();
    initiate(&mut world, IperfOptions { broadcast: Some(1), ..ping(64) });
    world.run_for(Duration::from_millis(10));
    world.with(0, |iperf, _| iperf.abort());
    assert!(world.nodes[0].part.is_running());
    let again = IperfOptions { responder: true, ..IperfOptions::default() };
    let refused = world.with(0, |iperf, cx| iperf.start(cx, &again));
    assert_eq!(refused, Err(StartError::Running));
    world.run_for(Duration::from_secs(4));
    assert!(!world.nodes[0].part.is_running());
    assert!(world.lines(0).last().unwrap().contains("1 packets transmitted, 0 received"));
    assert_eq!(probes(&world, 0).len(), 1);
}

#[test]
fn the_tick_decides_how_long_it_waits() {
    let mut world = world();
    world.nodes[0].shared.settings.tick = crate::node::tick::Tick::from_hz(100);
    initiate(&mut world, IperfOptions { broadcast: Some(1), ..ping(1) });
    world.run_for(Duration::from_secs(4));
    assert!(world.lines(0).last().unwrap().contains("time: total 3000 ms"), "on a tick of 10 ms");
}

#[test]
fn every_ping_has_one_fate_under_heavy_loss() {
    let mut world = world();
    world.rule = crate::node::tests::tasks::random_loss(7, 30);
    respond(&mut world, broadcast(1));
    initiate(&mut world, IperfOptions { broadcast: Some(1), ..ping(200) });
    world.run_for(Duration::from_secs(400));
    let probes = probes(&world, 0);
    assert_eq!(probes.len(), 200);
    let mut seqs: Vec<_> = probes.iter().map(|p| p.seq).collect();
    seqs.sort_unstable();
    assert!(seqs.iter().copied().eq(0..200));
    let received = probes.iter().filter(|p| p.fate == Fate::Delivered).count();
    let report = world.lines(0).last().copied().unwrap_or_default().to_string();
    assert!(
        report.contains(&std::format!("200 packets transmitted, {received} received")),
        "{report}"
    );
}
