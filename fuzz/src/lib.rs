//! What each fuzz target does with its bytes. The targets in `fuzz_targets/` call these; the test
//! in `tests/corpus.rs` calls them with the stored corpus, without a fuzzer.

mod mqtt;

pub use mqtt::{mqtt_exchange, mqtt_stream};

/// A fuzz target: its name, which is also its corpus folder, and what it does.
pub type Target = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: &[Target] = &[
    ("plan", plan),
    ("echo", echo),
    ("mqtt_stream", mqtt_stream),
    ("mqtt_exchange", mqtt_exchange),
];

/// A plan's text: reading it ends, and what it gives can be printed and read again.
pub fn plan(data: &[u8]) {
    use espbench_measure::plan::{Set, label, print};
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(set) = Set::parse(text) else { return };
    for plan in &set.plans {
        let workloads = &plan.workloads[..plan.workloads.len().min(50)];
        workloads.iter().for_each(|w| assert!(!label(w).is_empty()));
        let again = Set::parse(&print(&plan.name, plan.seed, workloads)).expect("it was read once");
        assert_eq!(again.plans[0].workloads, workloads);
    }
}

/// A sequence of operations on the echo prober: the first bytes choose the workload, then each byte
/// is an operation.
pub fn echo(data: &[u8]) {
    use espbench_proto::node::Output;
    use espbench_proto::node::echo::Prober;
    use espbench_proto::sample::{Cause, Fate, Sample};
    use espbench_proto::time::{Duration, Instant};
    use espbench_proto::workload::{EchoFormat, UdpEcho};
    let [kind, count, window, rest @ ..] = data else { return };
    let format = if kind & 1 == 0 { EchoFormat::Ascii } else { EchoFormat::Binary };
    let work = UdpEcho {
        size: 16 + u32::from(kind >> 4),
        count: u32::from(*count),
        discard: u32::from(kind >> 1 & 1),
        format,
        in_flight: u16::from(*window) + 1,
        interval: (kind & 4 != 0).then_some(Duration::from_micros(700)),
        timeout: Duration::from_millis(5),
    };
    let mut prober = Prober::new(work, 1, Instant::ZERO);
    let (mut now, mut buf, mut last) = (Instant::ZERO, [0; 64], Vec::new());
    let mut fates = 0;
    for (i, byte) in rest.iter().enumerate() {
        match byte & 7 {
            0..=2 => match prober.poll(now, &mut buf) {
                Output::Send { len } => last = buf[..len].to_vec(),
                Output::Sample(Sample::Probe(p)) if p.fate != Fate::Duplicate => fates += 1,
                Output::Sample(_) | Output::WaitUntil(_) | Output::Done => {}
            },
            3 => prober.handle(now, &last, None),
            4 => prober.handle(now, &rest[i..rest.len().min(i + usize::from(byte >> 3))], None),
            5 => {
                if let Some(byte) = last.get_mut(usize::from(byte >> 3)) {
                    *byte ^= 1;
                }
                prober.handle(now, &last, Some(now));
            }
            6 => prober.refused(Cause::NoBuffers),
            _ => now = now + Duration::from_micros(u64::from(byte >> 3) * 400),
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
