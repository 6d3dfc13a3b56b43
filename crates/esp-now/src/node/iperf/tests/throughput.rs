use super::*;
use espbench_model::time::Duration;

fn seconds(time: u16) -> IperfOptions {
    IperfOptions { time, interval: 1, len: Some(100), ..IperfOptions::default() }
}

fn one_second_reports() -> IperfOptions {
    IperfOptions { interval: 1, ..IperfOptions::default() }
}

/// Figures that a receiver's total must have.
fn total(world: &TaskTestbed<IperfTask>, n: usize) -> (u64, Option<u64>, Option<u64>) {
    let totals: Vec<_> = intervals(world, n).into_iter().filter(|i| i.total).collect();
    let [total] = totals[..] else { panic!("{totals:?}") };
    (total.bytes, total.datagrams, total.lost)
}

#[test]
fn without_loss_both_ends_print_one_lost() {
    let mut world = world();
    respond(&mut world, one_second_reports());
    initiate(&mut world, seconds(2));
    world.run_for(Duration::from_secs(4));
    assert_eq!(
        world.lines(0)[4..],
        [
            "iperf_cmd: time: 2, interval: 1, len: 100",
            "iperf_cmd: [  Responder MAC  ]   Interval     Transfer     Frame_rate     Bandwidth",
            "iperf_cmd: [24:0a:c4:00:00:02]   0- 1 sec  0.10 MBytes   1000.00 Hz  0.80 Mbps",
            "iperf_cmd: [24:0a:c4:00:00:02]   1- 2 sec  0.10 MBytes   1000.00 Hz  0.80 Mbps",
            "iperf_cmd: initiator Report:",
            "iperf_cmd: [ ID] Interval      Transfer       Bandwidth      Jitter   \
             Lost/Total Datagrams  RSSI  Channel",
            "iperf_cmd: [000]  0- 2 sec    0.20 MBytes    0.80 Mbps    1.00 ms    \
             1/2000 (0.05%)    -40    1",
        ]
    );
    assert_eq!(
        world.lines(1)[5..],
        [
            "iperf_cmd: [24:0a:c4:00:00:01]   0- 1 sec  0.10 MBytes  0.80 Mbps  -40 dbm",
            "iperf_cmd: [ ID] Interval      Transfer       Bandwidth      Jitter   \
             Lost/Total Datagrams",
            "iperf_cmd: [000]  0- 2 sec    0.20 MBytes    0.80 Mbps    1.00 ms    1/2001 (0.05%)",
        ]
    );
    let stop_ack = world.log.iter().find(|l| l.0 == 1).unwrap();
    assert_eq!(head(&stop_ack.2), IperfHead { kind: IperfKind::StopAck, seq: 2000 });
    let config = FrameConfig { filter_adjacent: true, ..FrameConfig::UNICAST };
    assert_eq!((stop_ack.1.config, stop_ack.2.len(), stop_ack.1.dest), (config, 8, mac(0)));
    // The record: nothing is lost.
    assert_eq!(total(&world, 1), (200_000, Some(2000), Some(0)));
    assert_eq!(total(&world, 0), (200_000, Some(2000), None));
    let probes = probes(&world, 0);
    assert_eq!(probes.len(), 2000);
    assert!(probes.iter().all(|p| p.fate == Fate::Delivered && p.acked.is_some()));
    let sender = intervals(&world, 0);
    assert!(sender.iter().all(|i| i.observer == Observer::Sender && i.jitter_ns.is_none()));
    let parts: u64 = sender.iter().filter(|i| !i.total).map(|i| i.bytes).sum();
    assert_eq!(parts, 199_900, "the last message ended with the last interval");
}

#[test]
fn a_known_pattern_of_losses() {
    let mut world = world();
    // Every tenth message, and of the last ten all.
    world.rule = rule(|from, head| match head.kind {
        IperfKind::Bandwidth if from == 0 && (head.seq % 10 == 9 || head.seq >= 990) => Hop::Lost,
        _ => Hop::Arrives,
    });
    respond(&mut world, IperfOptions { broadcast: Some(0), ..one_second_reports() });
    initiate(&mut world, IperfOptions { broadcast: Some(0), ..seconds(1) });
    world.run_for(Duration::from_secs(3));
    assert_eq!(
        world.lines(0).last().unwrap(),
        &"iperf_cmd: [000]  0- 1 sec    0.10 MBytes    0.80 Mbps    1.12 ms    \
         110/1000 (11.00%)    -40    1"
    );
    assert_eq!(
        world.lines(1).last().unwrap(),
        &"iperf_cmd: [000]  0- 1 sec    0.10 MBytes    0.80 Mbps    1.12 ms    110/1001 (10.99%)"
    );
    assert_eq!(total(&world, 1), (89_100, Some(891), Some(109)), "one less than is printed");
    assert_eq!(total(&world, 0), (100_000, Some(1000), None));
    assert!(probes(&world, 0).is_empty(), "a broadcast tells nothing");
}

#[test]
fn unicast_failures_are_tried_again_and_recorded() {
    let mut world = world();
    let mut tries = 0;
    world.rule = rule(move |_, head| {
        tries += u32::from(head.kind == IperfKind::Bandwidth && head.seq == 5);
        match (head.kind, head.seq, tries) {
            (IperfKind::Bandwidth, 5, 1) => Hop::Lost,
            (IperfKind::Bandwidth, 5, 2) => Hop::Unacked,
            _ => Hop::Arrives,
        }
    });
    respond(&mut world, one_second_reports());
    initiate(&mut world, seconds(1));
    world.run_for(Duration::from_secs(3));
    let failed = "iperf_cmd: [espnow_iperf_initiator_task, 264]: <ESP_FAIL> espnow_send";
    assert_eq!(world.lines(0).iter().filter(|l| **l == failed).count(), 2);
    let probes = probes(&world, 0);
    assert_eq!(probes.len(), 1000);
    let lost: Vec<_> = probes.iter().filter(|p| p.fate != Fate::Delivered).map(|p| p.seq).collect();
    assert_eq!(lost, [5, 6]);
    assert_eq!(probes[5].fate, Fate::Lost(Cause::RetryLimit));
    let receiver = *intervals(&world, 1).last().unwrap();
    assert_eq!((receiver.datagrams, receiver.duplicates), (Some(998), Some(1)));
    assert_eq!(receiver.lost, Some(0));
    // The component's count takes the second copy for another message: no loss is printed.
    assert!(world.lines(1).last().unwrap().contains("0/999 (0.00%)"), "{:?}", world.lines(1));
}

#[test]
fn an_acknowledgement_that_does_not_come_counts_as_sent() {
    let mut world = world();
    world.rule = rule(|from, head| match head.seq {
        2 if from == 0 => Hop::Lost,
        _ => Hop::Arrives,
    });
    let options = IperfOptions { broadcast: Some(3), ack: true, ..one_second_reports() };
    respond(&mut world, options);
    initiate(&mut world, IperfOptions { broadcast: Some(3), ack: true, ..seconds(1) });
    world.run_for(Duration::from_secs(3));
    let probes = probes(&world, 0);
    let lost: Vec<_> = probes.iter().filter(|p| p.fate != Fate::Delivered).map(|p| p.seq).collect();
    assert_eq!((lost, probes[2].fate), (std::vec![2], Fate::Lost(Cause::Unknown)));
    assert_eq!(total(&world, 1).2, Some(1));
    assert!(!world.lines(0).iter().any(|l| l.contains("ESP_ERR_WIFI_TIMEOUT")));
}

#[test]
fn a_lost_stop_is_repeated_as_message_zero() {
    let mut world = world();
    world.rule =
        rule(|_, head| if head.kind == IperfKind::Stop { Hop::Lost } else { Hop::Arrives });
    respond(&mut world, IperfOptions { broadcast: Some(0), ..one_second_reports() });
    initiate(&mut world, IperfOptions { broadcast: Some(0), ..seconds(1) });
    world.run_for(Duration::from_secs(10));
    let warning = "iperf_cmd: <ESP_FAIL> Receive responder response failed";
    assert_eq!(world.lines(0).last(), Some(&warning));
    let after: Vec<_> =
        world.log.iter().filter(|l| l.0 == 0).skip(1000).map(|l| head(&l.2)).collect();
    let zero = IperfHead { kind: IperfKind::Bandwidth, seq: 0 };
    assert_eq!(after[0], IperfHead { kind: IperfKind::Stop, seq: 1000 });
    assert_eq!(after[1..], [zero; 5]);
    // The responder prints nothing more; the record has the test, closed by the first repetition.
    assert!(!world.lines(1).iter().any(|l| l.contains("[000]")));
    assert_eq!(total(&world, 1), (100_000, Some(1000), Some(0)));
    world.with(1, |iperf, _| iperf.abort());
    assert_eq!(total(&world, 1).1, Some(1000), "the repetitions are no test");
}

#[test]
fn a_lost_answer_to_stop_leaves_no_final_report() {
    let mut world = world();
    world.rule = rule(|from, _| if from == 1 { Hop::Lost } else { Hop::Arrives });
    respond(&mut world, IperfOptions { broadcast: Some(0), ..one_second_reports() });
    initiate(&mut world, IperfOptions { broadcast: Some(0), ..seconds(1) });
    world.run_for(Duration::from_secs(10));
    assert_eq!(
        world.lines(0).last(),
        Some(&"iperf_cmd: <ESP_FAIL> Receive responder response failed")
    );
    assert_eq!(
        world.lines(1).last(),
        Some(&"iperf_cmd: [espnow_iperf_responder, 424] <ESP_FAIL> <ESP_FAIL> espnow_send")
    );
    assert_eq!(total(&world, 1), (100_000, Some(1000), Some(0)));
}

#[test]
fn a_stop_that_could_not_be_sent_stays_a_stop() {
    let mut world = world();
    let mut stops = 0;
    world.rule = rule(move |_, head| {
        stops += u32::from(head.kind == IperfKind::Stop);
        if head.kind == IperfKind::Stop && stops <= 2 { Hop::Lost } else { Hop::Arrives }
    });
    respond(&mut world, one_second_reports());
    initiate(&mut world, seconds(1));
    world.run_for(Duration::from_secs(3));
    let failed = "iperf_cmd: [espnow_iperf_initiator_task, 289]: <ESP_FAIL> espnow_send";
    assert_eq!(world.lines(0).iter().filter(|l| **l == failed).count(), 2);
    assert!(world.lines(0).last().unwrap().contains("1/1000 (0.10%)"));
}

#[test]
fn losing_message_zero_goes_on_with_the_counters_of_before() {
    let mut world = world();
    respond(&mut world, IperfOptions { broadcast: Some(0), ..one_second_reports() });
    initiate(&mut world, IperfOptions { broadcast: Some(0), ..seconds(1) });
    world.run_for(Duration::from_secs(3));
    // A second run without -a and -s between: the responder listens on.
    let busy = world.with(1, |iperf, cx| {
        iperf.start(cx, &IperfOptions { responder: true, ..IperfOptions::default() })
    });
    assert_eq!(busy, Err(StartError::Running));
    world.rule = rule(|_, head| {
        if head.kind == IperfKind::Bandwidth && head.seq == 0 { Hop::Lost } else { Hop::Arrives }
    });
    initiate(&mut world, IperfOptions { broadcast: Some(0), ..seconds(1) });
    world.run_for(Duration::from_secs(3));
    // 1000 of the first run (999 messages and STOP), 999 messages and STOP of the second: the
    // device counts 2000 of 1001.
    assert_eq!(
        world.lines(1).last().unwrap(),
        &"iperf_cmd: [000]  0- 4 sec    0.10 MBytes    0.20 Mbps    2.00 ms    -999/1001 (429067562.14%)"
    );
    let totals: Vec<_> = intervals(&world, 1).into_iter().filter(|i| i.total).collect();
    assert_eq!(totals.len(), 2);
    assert_eq!((totals[0].datagrams, totals[0].lost), (Some(1000), Some(0)));
    assert_eq!((totals[1].datagrams, totals[1].lost), (Some(999), Some(1)), "message 0");
}

#[test]
fn a_second_run_counts_from_zero() {
    let mut world = world();
    respond(&mut world, one_second_reports());
    for _ in 0..2 {
        initiate(&mut world, seconds(1));
        world.run_for(Duration::from_secs(3));
        assert!(world.lines(1).last().unwrap().contains("1/1001 (0.10%)"));
    }
    let totals: Vec<_> = intervals(&world, 1).into_iter().filter(|i| i.total).collect();
    assert!(totals.iter().all(|t| (t.datagrams, t.lost) == (Some(1000), Some(0))));
    assert_eq!(totals.len(), 2);
}

#[test]
fn abort_of_either_end() {
    let mut world = world();
    respond(&mut world, one_second_reports());
    initiate(&mut world, seconds(60));
    world.run_for(Duration::from_millis(1500));
    world.with(0, |iperf, _| iperf.abort());
    world.run_for(Duration::from_secs(2));
    assert!(!world.nodes[0].part.is_running());
    assert!(world.lines(0).last().unwrap().contains("[000]  0- 1 sec"), "{:?}", world.lines(0));
    initiate(&mut world, seconds(60));
    world.run_for(Duration::from_millis(1500));
    world.with(1, |iperf, _| iperf.abort());
    assert!(!world.nodes[1].part.is_running());
    let totals = intervals(&world, 1).into_iter().filter(|i| i.total).count();
    assert_eq!(totals, 2, "what was received until then is recorded");
}

#[test]
fn an_unreachable_peer_is_tried_until_the_time_is_over() {
    let mut world = world();
    world.rule = rule(|_, _| Hop::Lost);
    initiate(&mut world, IperfOptions { time: 1, ..IperfOptions::default() });
    world.run_for(Duration::from_secs(10));
    let lines = world.lines(0);
    assert_eq!(lines.last(), Some(&"iperf_cmd: <ESP_FAIL> Receive responder response failed"));
    assert!(probes(&world, 0).iter().all(|p| p.fate == Fate::Lost(Cause::RetryLimit)));
    assert_eq!(total(&world, 0), (0, Some(0), None));
    assert!(!world.nodes[0].part.is_running());
}

#[test]
fn interval_zero_reports_every_message() {
    let mut world = world();
    respond(&mut world, IperfOptions { interval: 0, ..IperfOptions::default() });
    initiate(
        &mut world,
        IperfOptions { interval: 0, time: 1, len: Some(100), ..IperfOptions::default() },
    );
    world.run_for(Duration::from_secs(3));
    let line = "iperf_cmd: [24:0a:c4:00:00:02]   0- 0 sec  0.00 MBytes   inf Hz  inf Mbps";
    assert_eq!(world.lines(0)[6], line);
    assert_eq!(total(&world, 1), (100_000, Some(1000), Some(0)));
}
