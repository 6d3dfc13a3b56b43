//! A made-up run of all four kinds, as a device like the published one might have given: for
//! snapshots of the drawings and for looking at them. No number in it was measured.

use espbench_measure::report::{Builder, Check, Overhead, Report};
use espbench_measure::run::{Recorded, RunFacts, Site};
use espbench_model::sample::{Cause, Fate, Interval, Link, Observer, Probe, Sample};
use espbench_model::time::{Duration, Instant};
use espbench_model::workload::{
    Direction, EchoFormat, Iperf, MqttMode, MqttRate, MqttVersion, TcpRate, Transport, UdpEcho,
    Workload,
};
use std::collections::BTreeMap;

/// SplitMix64 (Steele, Lea and Flood 2014), so that the run is the same everywhere.
pub(crate) struct SplitMix(pub(crate) u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number from 0 up to, not including, 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns a number that is nearly normal: the sum of twelve.
    pub(crate) fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }
}

pub(crate) fn at(ms: f64) -> Instant {
    Instant::from_nanos((ms * 1e6) as u64)
}

pub(crate) fn recorded(ordinal: u32, workload: Workload, samples: Vec<Sample>) -> Recorded {
    Recorded {
        ordinal,
        repetition: 0,
        workload,
        samples,
        counters: BTreeMap::new(),
        facts: BTreeMap::new(),
        error: None,
    }
}

/// Makes round trips with a floor that grows with the size, a tail, and now and then a stall.
fn echo(ordinal: u32, size: u32, count: u32, random: &mut SplitMix) -> Recorded {
    let mut now = 0.0;
    let mut samples = Vec::new();
    for seq in 0..u64::from(count) {
        let floor = 2.6 + f64::from(size) * 0.0033;
        let tail = 2.2 * (0.55 * random.normal()).exp();
        let stall = if random.unit() < 0.012 { 12.0 + 40.0 * random.unit() } else { 0.0 };
        let lost = random.unit() < 0.004;
        let end = now + floor + tail + stall;
        samples.push(Sample::Probe(Probe {
            seq,
            bytes: size,
            due: at(now),
            sent: Some(at(now)),
            received: (!lost).then(|| at(end)),
            fate: if lost { Fate::Lost(Cause::Unknown) } else { Fate::Delivered },
            ..Probe::default()
        }));
        now = end + 0.05;
    }
    let workload = UdpEcho {
        size,
        count,
        discard: 1,
        format: EchoFormat::Ascii,
        in_flight: 1,
        interval: None,
        timeout: Duration::from_secs(1),
    };
    recorded(ordinal, Workload::UdpEcho(workload), samples)
}

fn iperf(
    ordinal: u32,
    transport: Transport,
    direction: Direction,
    megabits: f64,
    random: &mut SplitMix,
) -> Recorded {
    let udp = transport == Transport::Udp;
    let length = if udp { 1470 } else { 1460 };
    let observer =
        if direction == Direction::Forward { Observer::Peer } else { Observer::Receiver };
    let mut samples = Vec::new();
    let mut total = 0;
    let second = |n: u64| Instant::from_nanos(n * 1_000_000_000);
    for seq in 0..10 {
        let dip = if seq == 6 { 0.55 } else { 1.0 };
        let bytes = (megabits * dip * (1.0 + 0.03 * random.normal()) * 125_000.0) as u64;
        total += bytes;
        samples.push(Sample::Interval(Interval {
            seq,
            observer: if udp && direction == Direction::Forward {
                Observer::Sender
            } else {
                observer
            },
            start: second(seq),
            end: second(seq + 1),
            bytes,
            datagrams: udp.then_some(bytes / length),
            ..Interval::default()
        }));
    }
    let total_of = |observer| Interval {
        link: Link(0),
        seq: 10,
        total: true,
        observer,
        start: second(0),
        end: second(10),
        bytes: total,
        datagrams: udp.then_some(total / length),
        ..Interval::default()
    };
    if direction == Direction::Forward {
        samples.push(Sample::Interval(total_of(Observer::Sender)));
    }
    samples.push(Sample::Interval(Interval {
        link: Link(0),
        seq: 0,
        total: true,
        observer,
        start: second(0),
        end: second(10),
        bytes: total,
        datagrams: udp.then_some(total / length),
        lost: udp.then_some(total / length / 160),
        out_of_order: udp.then_some(3),
        duplicates: udp.then_some(0),
        jitter_ns: udp.then_some(412_000),
        ..Interval::default()
    }));
    let workload = Iperf {
        transport,
        direction,
        time: Duration::from_secs(10),
        bytes: None,
        interval: Duration::from_secs(1),
        length: length as u32,
        bandwidth: udp.then_some(40_000_000),
        parallel: 1,
        window: None,
        no_delay: false,
        ..Iperf::DEFAULT
    };
    recorded(ordinal, Workload::Iperf(workload), samples)
}

fn tcp_rate(ordinal: u32, no_delay: bool, rate: f64, random: &mut SplitMix) -> Recorded {
    let run = |seq: u64| {
        let messages = (rate * (1.0 + 0.12 * random.normal())) as u64;
        Sample::Interval(Interval {
            seq,
            observer: Observer::Peer,
            start: Instant::from_nanos(seq * 1_000_000_000),
            end: Instant::from_nanos((seq + 1) * 1_000_000_000),
            bytes: messages * 64,
            datagrams: Some(messages),
            ..Interval::default()
        })
    };
    let samples = (0..10).map(run).collect();
    let workload =
        TcpRate { size: 64, runs: 10, discard: 2, run_time: Duration::from_secs(1), no_delay };
    recorded(ordinal, Workload::TcpRate(workload), samples)
}

/// Makes messages at a fixed rate through a client whose queue fills from 14 a second on.
fn mqtt(ordinal: u32, qos: u8, rate: f64, random: &mut SplitMix) -> Recorded {
    let count = (rate * 10.0) as u64;
    let samples = (0..count).map(|seq| {
        let due = seq as f64 * 1000.0 / rate;
        let dropped = rate > 14.0 && random.unit() < 1.0 - 14.0 / rate;
        let queued = due + 0.05;
        let sent = queued + 0.4 * (0.5 * random.normal()).exp();
        let acked = sent + 9.0 * (0.4 * random.normal()).exp();
        let received = sent + 6.0 * (0.4 * random.normal()).exp();
        let probe = Probe { seq, bytes: 64, due: at(due), ..Probe::default() };
        Sample::Probe(if dropped {
            Probe { fate: Fate::Lost(Cause::ApplicationQueue), ..probe }
        } else {
            Probe {
                queued: Some(at(queued)),
                sent: Some(at(sent)),
                acked: (qos > 0).then(|| at(acked)),
                received: Some(at(received)),
                ..probe
            }
        })
    });
    let samples = samples.collect();
    let workload = MqttRate {
        version: MqttVersion::V311,
        qos,
        size: 64,
        mode: MqttMode::Offered(rate),
        in_flight: 20,
        time: Duration::from_secs(10),
        count: None,
        queue: 100,
        clients: 1,
        retain: false,
        clean_start: true,
        session_expiry: None,
    };
    recorded(ordinal, Workload::MqttRate(workload), samples)
}

/// Returns the cells of the run, with `count` round trips of each size.
pub(crate) fn cells(sizes: &[u32], count: u32) -> Vec<Recorded> {
    let mut random = SplitMix(1);
    let mut cells: Vec<Recorded> = Vec::new();
    for &size in sizes {
        cells.push(echo(cells.len() as u32, size, count, &mut random));
    }
    for (transport, direction, megabits) in [
        (Transport::Udp, Direction::Forward, 28.4),
        (Transport::Udp, Direction::Reverse, 21.7),
        (Transport::Tcp, Direction::Forward, 16.1),
        (Transport::Tcp, Direction::Reverse, 11.9),
    ] {
        cells.push(iperf(cells.len() as u32, transport, direction, megabits, &mut random));
    }
    for (no_delay, rate) in [(false, 4100.0), (true, 3300.0)] {
        cells.push(tcp_rate(cells.len() as u32, no_delay, rate, &mut random));
    }
    for qos in [0, 1] {
        for rate in [6.0, 12.0, 20.0, 40.0] {
            cells.push(mqtt(cells.len() as u32, qos, rate, &mut random));
        }
    }
    let failing = cells.len() - 1;
    cells[failing].error = Some(
        "192.0.2.7:1883: the broker closed the connection after 3 s; look at its log for the reason"
            .into(),
    );
    cells[0].counters.insert("socket-overflow".into(), 2);
    for cell in &mut cells {
        if matches!(cell.workload, Workload::Iperf(_)) {
            cell.facts.insert("peer".into(), "iperf 2.1.8".into());
        }
    }
    cells
}

/// Returns the facts of the run. The names hold what must be escaped.
pub(crate) fn facts() -> RunFacts {
    RunFacts {
        name: "2026-11-21-esp32-desk".into(),
        tool: "espbench 0.1.0".into(),
        started: "2026-11-21T20:00:00Z".into(),
        target: "udp:192.0.2.7:10000 <desk> & \"lamp\"".into(),
        seed: 1,
        plan_name: "udp-echo + iperf + tcp-rate + mqtt-rate".into(),
        plan_text: "[plan]\nname = \"udp-echo\"\n# <script>alert(1)</script>\n".into(),
        site: Site {
            chip: "esp32".into(),
            mode: "station-echo".into(),
            distance_m: Some(2.0),
            security: Some("wpa2".into()),
            environment: Some("home".into()),
        },
        host: BTreeMap::from([
            ("kernel".into(), "Linux 6.1.0".into()),
            ("cpu".into(), "2 x AMD EPYC".into()),
            ("clock source".into(), "tsc".into()),
        ]),
        ..RunFacts::default()
    }
}

/// Returns the report of the run.
pub(crate) fn report(sizes: &[u32], count: u32) -> Report {
    let mut builder = Builder::new(&facts());
    let cells = cells(sizes, count);
    cells.iter().for_each(|cell| builder.add(cell.clone()));
    let overhead = Overhead {
        clock_step_ns: 1,
        clock_read_ns: 24.0,
        rtt_p50_us: Some(11.2),
        rtt_p99_us: Some(19.8),
        wake_p50_us: None,
        n: 10_000,
    };
    let published = espbench_engine::published::built_in();
    let mut report = builder.finish(Some(overhead), cells.len() + 2, &published);
    let check = |number, threshold: &str, value, passed| Check {
        number,
        threshold: threshold.into(),
        place: "udp-echo, 100 B".into(),
        value: Some(value),
        unit: "ms".into(),
        passed,
        beyond: 0.0,
    };
    report.checks.push(check(1, "rtt_p99 <= 30 ms", 12.4, true));
    report.checks.push(check(2, "rtt_avg <= 2 ms", 5.41, false));
    report.stored = Some("espbench.db".into());
    report
}
