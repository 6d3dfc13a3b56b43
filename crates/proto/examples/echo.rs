//! Measures round trips over a network in memory: `cargo run -p espbench-proto --example echo`.

use espbench_model::sample::{Fate, Sample};
use espbench_model::time::{Duration, Instant};
use espbench_model::workload::{EchoFormat, UdpEcho};
use espbench_proto::node::Output;
use espbench_proto::node::echo::Prober;

fn main() {
    let work = UdpEcho {
        size: 32,
        count: 5,
        discard: 0,
        format: EchoFormat::Ascii,
        in_flight: 1,
        interval: None,
        timeout: Duration::from_millis(100),
    };
    let (mut now, mut buf) = (Instant::ZERO, [0; 64]);
    let mut prober = Prober::new(work, 7, now);
    // The peer echoes after 2 ms, but for the fourth datagram, which is lost.
    let (mut sent, mut reply, mut fates) = (0, None, Vec::new());
    loop {
        match prober.poll(now, &mut buf) {
            Output::Send { len } => {
                sent += 1;
                reply = (sent != 4).then(|| (now + Duration::from_millis(2), buf[..len].to_vec()));
            }
            Output::WaitUntil(at) => match reply.take() {
                Some((arrival, datagram)) => {
                    now = arrival;
                    prober.handle(now, &datagram, None);
                }
                None => now = at,
            },
            Output::Sample(Sample::Probe(probe)) => {
                println!(
                    "probe {}: {:?}, {:?}",
                    probe.seq,
                    probe.fate,
                    probe.received.map(|at| at.since(probe.due))
                );
                fates.push(probe.fate == Fate::Delivered);
            }
            Output::Sample(Sample::Interval(_)) => {}
            Output::Done => break,
        }
    }
    fates.sort_unstable();
    assert_eq!(fates, [false, true, true, true, true]);
}
