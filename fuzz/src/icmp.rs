//! ICMP: messages of any bytes, and a prober that is given them.

use espbench_model::sample::{Cause, Fate, Sample};
use espbench_model::time::{Duration, Instant};
use espbench_model::workload::Ping;
use espbench_proto::node::Output;
use espbench_proto::node::echo::Prober;
use espbench_proto::wire::icmp::{Echo, EchoType, IcmpFailure, IcmpVersion, after_ipv4_header};

/// Parses bytes as a message of either version: it is written back to the same bytes, except for
/// the data.
pub fn icmp_message(data: &[u8]) {
    let message = after_ipv4_header(data);
    for version in [IcmpVersion::V4, IcmpVersion::V6] {
        if let [kind, code, ..] = message {
            let _ = IcmpFailure::parse(version, *kind, *code);
        }
        let quoted = Echo::parse_quoted(version, message);
        let Ok((echo, body)) = Echo::parse(version, message) else { continue };
        assert_eq!(quoted, Ok(echo), "a whole message can be quoted");
        let mut out = vec![0; message.len()];
        assert_eq!(echo.emit(version, body.len(), &mut out), Some(out.len()));
        let (again, pattern) = Echo::parse(version, &out).expect("it was just written");
        assert!(again == echo && again.matches(body.len(), pattern));
        assert_eq!(echo.matches(body.len(), body), body == pattern);
    }
}

/// Runs a prober over ICMP: the first bytes choose the workload, then each byte is an operation.
pub fn icmp_prober(data: &[u8]) {
    let [kind, count, rest @ ..] = data else { return };
    let version = if kind & 1 == 0 { IcmpVersion::V4 } else { IcmpVersion::V6 };
    let work = Ping {
        size: u32::from(kind >> 4),
        count: u32::from(*count),
        discard: u32::from(kind >> 1 & 1),
        interval: Duration::from_micros(700),
        timeout: Duration::from_millis(5),
        tos: None,
        ttl: None,
    };
    let mut prober = Prober::ping(work, version, 0xBEEF, Instant::ZERO);
    let (mut now, mut buf, mut last) = (Instant::ZERO, [0; 64], Vec::new());
    let mut fates = 0;
    for (i, byte) in rest.iter().enumerate() {
        let by = usize::from(byte >> 3);
        let raw = &rest[i..rest.len().min(i + by)];
        match byte & 7 {
            0 | 1 => match prober.poll(now, &mut buf) {
                Output::Send { len } => last = buf[..len].to_vec(),
                Output::Sample(Sample::Probe(p)) if p.fate != Fate::Duplicate => fates += 1,
                Output::Sample(_) | Output::WaitUntil(_) | Output::Done => {}
            },
            2 => {
                let mut reply = last.clone();
                if let Ok((echo, data)) = Echo::parse(version, &last) {
                    let sequence = echo.sequence.wrapping_sub(by as u16 / 4);
                    let echo = Echo { kind: EchoType::Reply, sequence, ..echo };
                    echo.emit(version, data.len(), &mut reply);
                }
                prober.handle(now, &reply, (by & 1 == 0).then_some(now));
            }
            3 => prober.handle(now, raw, None),
            4 => prober.failed(&last, IcmpFailure::HopLimit),
            5 => prober.failed(raw, IcmpFailure::Prohibited),
            6 => prober.refused(Cause::NoBuffers),
            _ => now = now + Duration::from_micros(by as u64 * 400),
        }
    }
    prober.stop();
    for _ in 0..4096 {
        match prober.poll(now, &mut buf) {
            Output::Sample(Sample::Probe(p)) if p.fate != Fate::Duplicate => fates += 1,
            Output::Sample(_) => {}
            Output::Done => break,
            other => panic!("a stopped prober wants {other:?}"),
        }
    }
    assert!(fates <= prober.sent(), "no probe has two fates");
}
