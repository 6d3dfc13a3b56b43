//! `espnow_iperf`: its messages, and any order of calls on its machine.

use esp_now::component::DataType;
use esp_now::component::iperf::{IperfHead, IperfKind};
use esp_now::console::command::BadMac;
use esp_now::node::board::BareBoard;
use esp_now::node::iperf::{IperfOptions, IperfTask};
use esp_now::node::print::LogLevel;
use esp_now::node::task::{Cx, NodeSettings, Received, Shared, Task, TaskStep, TransmitOutcome};
use esp_now::node::tick::Tick;
use espbench_ieee80211::mac::Mac;
use espbench_model::sample::{Fate, Sample};
use espbench_model::time::{Duration, Instant};

const PEER: Mac = Mac([0x24, 0x0A, 0xC4, 0, 0, 2]);

/// Observations from outside of the part.
#[derive(Default)]
struct Seen {
    composed: u64,
    received: u64,
    fates: u64,
}

/// Parses one message; then runs a sequence of calls: run, compose, sent, receive, abort, start,
/// time.
pub fn esp_now_iperf(data: &[u8]) {
    message(data);
    let [flags, more, rest @ ..] = data else { return };
    let settings = NodeSettings {
        tick: Tick::from_hz(if flags & 1 == 0 { 1000 } else { 100 }),
        ..NodeSettings::default()
    };
    let mut shared = Shared::new(Mac([0x24, 0x0A, 0xC4, 0, 0, 1]), settings);
    if flags & 2 == 0 {
        shared.print.uart = LogLevel::None;
    }
    let (mut board, mut part, mut seen) = (BareBoard(1), IperfTask::default(), Seen::default());
    let (mut now, mut buf, mut seq) = (Instant::ZERO, [0xEE; 250], 0u32);
    let mut options = options(*flags, *more);
    {
        let mut cx = Cx { now, board: &mut board, shared: &mut shared };
        let _ = part.start(&mut cx, &options);
    }
    for (i, byte) in rest.iter().take(100).enumerate() {
        let high = byte >> 4;
        let mut cx = Cx { now, board: &mut board, shared: &mut shared };
        match byte & 15 {
            0..=3 => run(&mut part, &mut cx, &mut buf, &mut seen, &mut seq),
            4 => {
                seen.composed += 1;
                let _ = part.compose(&mut cx, &mut buf);
            }
            5 | 6 => part.sent(&mut cx, outcome(high)),
            7 => {
                hear(&mut part, &mut cx, IperfKind::PingAck, seq.wrapping_sub(u32::from(high & 3)))
            }
            8 => hear(
                &mut part,
                &mut cx,
                IperfKind::Bandwidth,
                seq.wrapping_add(u32::from(high & 1)),
            ),
            9 => hear(&mut part, &mut cx, IperfKind::from_number(u32::from(high)), seq),
            10 => {
                let raw = &rest[i..rest.len().min(i + 12)];
                seen.received += 1;
                receive(&mut part, &mut cx, raw, usize::from(high & 1));
            }
            11 => seq = if high & 1 == 0 { 0 } else { seq.wrapping_mul(u32::from(high) << 4) },
            12 => now = now + Duration::from_millis(u64::from(high) * u64::from(high) * 20),
            13 => drain(&mut cx, &mut seen),
            14 => part.abort(),
            _ => {
                options.responder = high & 1 != 0;
                options.initiator = (high & 1 == 0).then_some(Ok(PEER));
                options.ping = high & 2 != 0;
                let _ = part.start(&mut cx, &options);
            }
        }
        if matches!(byte & 15, 7..=9) {
            seen.received += 1;
            seq = seq.wrapping_add(u32::from(byte & 15 == 8));
        }
    }
    wind_up(&mut part, now, &mut board, &mut shared, &mut seen);
    assert!(seen.fates <= seen.composed + seen.received, "no probe has two fates");
    assert_eq!(shared.lost, 0, "no sample is recorded where there is no room");
}

fn message(data: &[u8]) {
    let Some(head) = IperfHead::parse(data) else { return };
    let mut out = [0xFF; 64];
    let len = data.len().min(64);
    assert_eq!(head.emit(&mut out, len), Some(len));
    assert_eq!(IperfHead::parse(&out[..len]), Some(head));
    assert_eq!(out[..8], data[..8]);
}

fn options(flags: u8, more: u8) -> IperfOptions {
    IperfOptions {
        initiator: (flags & 4 == 0).then_some(if flags & 0x80 == 0 {
            Ok(PEER)
        } else {
            Err(BadMac)
        }),
        responder: flags & 4 != 0,
        ping: flags & 8 != 0,
        count: u32::from(more >> 4) + 1,
        interval: u16::from(more & 3),
        time: u16::from(more >> 2 & 7),
        len: (flags & 0x40 != 0).then_some(u16::from(more)),
        broadcast: (flags & 0x10 != 0).then_some(more),
        group: more & 0x80 != 0,
        ack: flags & 0x20 != 0,
        gpio: (more & 1 != 0).then_some(more),
    }
}

fn outcome(bits: u8) -> TransmitOutcome {
    match bits & 7 {
        0 => TransmitOutcome::Failed,
        1 => TransmitOutcome::TimedOut,
        2 => TransmitOutcome::Refused,
        attempts => TransmitOutcome::Done { attempts },
    }
}

/// Turns without end of which a part is said to spin: it yields once for each line that it prints,
/// and its queue is shorter than this.
const YIELDS: usize = 64;

/// Drives the part as a node would: runs it as long as it only yields, and composes when asked to.
fn run(part: &mut IperfTask, cx: &mut Cx<'_>, buf: &mut [u8], seen: &mut Seen, seq: &mut u32) {
    for _ in 0..YIELDS {
        match part.run(cx) {
            TaskStep::Send => {
                seen.composed += 1;
                let Some(out) = part.compose(cx, buf) else { return };
                assert!((8..=250).contains(&out.len) && out.data_type == DataType::Reserved);
                let head = IperfHead::parse(&buf[..out.len]).expect("it was just written");
                if matches!(head.kind, IperfKind::Ping | IperfKind::Bandwidth) {
                    *seq = head.seq;
                }
                return;
            }
            TaskStep::Until(at) if at > cx.now || !cx.sample_room() => return,
            TaskStep::Until(_) => {}
            TaskStep::Idle => return,
        }
    }
    panic!("it must wait for something");
}

fn hear(part: &mut IperfTask, cx: &mut Cx<'_>, kind: IperfKind, seq: u32) {
    let mut payload = [0; 20];
    IperfHead { kind, seq }.emit(&mut payload, 20);
    receive(part, cx, &payload, 0);
}

fn receive(part: &mut IperfTask, cx: &mut Cx<'_>, data: &[u8], from: usize) {
    let from = Mac([0x24, 0x0A, 0xC4, 0, 0, 2 + from as u8]);
    let at = cx.now;
    let frame = Received { from, data_type: DataType::Reserved, data, rssi: -50, channel: 1, at };
    part.receive(cx, &frame);
}

fn drain(cx: &mut Cx<'_>, seen: &mut Seen) {
    while let Some(sample) = cx.shared.take_sample() {
        match sample {
            Sample::Probe(probe) => {
                seen.fates += u64::from(probe.fate != Fate::Duplicate);
                assert!(probe.sent.is_none_or(|sent| probe.due <= sent));
            }
            Sample::Interval(interval) => {
                assert!(interval.start <= interval.end);
                assert!(interval.datagrams <= Some(seen.received + seen.composed));
            }
        }
    }
    while cx.shared.print.take_output(&mut [0; 2048]) > 0 {}
}

/// Checks that the part ends after an abort, whatever it was doing, when nothing more comes.
fn wind_up(
    part: &mut IperfTask,
    mut now: Instant,
    board: &mut BareBoard,
    shared: &mut Shared,
    seen: &mut Seen,
) {
    let mut buf = [0; 250];
    part.abort();
    for _ in 0..300 {
        let mut cx = Cx { now, board, shared };
        drain(&mut cx, seen);
        match part.run(&mut cx) {
            TaskStep::Send => {
                seen.composed += 1;
                if part.compose(&mut cx, &mut buf).is_some() {
                    part.sent(&mut cx, TransmitOutcome::Done { attempts: 1 });
                }
            }
            TaskStep::Until(at) => now = now.max(at),
            // A send that the bytes began and did not end.
            TaskStep::Idle if part.is_running() => part.sent(&mut cx, TransmitOutcome::Failed),
            TaskStep::Idle => return drain(&mut cx, seen),
        }
    }
    panic!("an aborted part does not end");
}
