use super::*;
use esp_now::transcript::item::iperf::{Final, IperfRole, Statistics};
use esp_now::transcript::session::{PingResult, ThroughputResult};
use espbench_ieee80211::mac::Mac;
use espbench_model::sample::{Fate, Interval, Link, Observer, Probe};
use espbench_model::time::Instant;

const ENDS: LinkEnds =
    LinkEnds { from: Some(Mac([2, 0, 0, 0, 0, 1])), to: Some(Mac([2, 0, 0, 0, 0, 2])) };

fn ms(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

fn ping(times: &[Option<u64>]) -> Test {
    let probe = |(seq, time): (usize, &Option<u64>)| {
        let fate = if time.is_some() { Fate::Delivered } else { Fate::Lost(Default::default()) };
        let sent = time.map(|_| ms(1000));
        let received = time.map(|time| ms(1000 + time));
        let probe = Probe { seq: seq as u64, bytes: 10, sent, received, fate, ..Probe::default() };
        Sample::Probe(probe)
    };
    let lost = times.iter().filter(|time| time.is_none()).count() as u32;
    let transmitted = times.len() as u32;
    let printed = Statistics {
        transmitted,
        received: transmitted - lost,
        loss: None,
        total_ms: 0,
        max_ms: 0,
        min_ms: None,
        average_ns: None,
    };
    let finding = TestResult::Ping(PingResult {
        device: ENDS.from,
        link: Some(Link(0)),
        printed,
        len: Some(10),
        replies: transmitted - lost,
        unreachable: lost,
        late: 0,
        missing: 0,
    });
    let samples = times.iter().enumerate().map(probe).collect();
    Test {
        console: String::new(),
        finding,
        ends: Some(ENDS),
        mode: Some("unicast".into()),
        samples,
    }
}

fn stream(right: Option<(u64, u64)>, printed: (i64, i64)) -> Test {
    let interval = |seq, total, bytes| {
        let (start, end) =
            if total { (ms(0), ms(6000)) } else { (ms(3000 * seq), ms(3000 * seq + 3000)) };
        let observer = Observer::Receiver;
        Sample::Interval(Interval {
            seq,
            total,
            observer,
            start,
            end,
            bytes,
            ..Interval::default()
        })
    };
    let mut samples = alloc::vec![interval(0, false, 300_000), interval(1, false, 450_000)];
    samples.extend(right.map(|_| interval(2, true, 600_000)));
    let printed = Final {
        role: IperfRole::Responder,
        from: 0,
        to: 6,
        bytes: 1,
        bits_per_second: None,
        spacing_ns: None,
        lost: printed.0,
        total: printed.1,
        loss: None,
        heard: None,
    };
    let finding = TestResult::Throughput(ThroughputResult {
        device: ENDS.to,
        link: Some(Link(0)),
        printed,
        total: right.map(|right| right.1),
        lost: right.map(|right| right.0),
        continued: right.is_none(),
        len: Some(230),
        intervals: 2,
    });
    Test { console: String::new(), finding, ends: Some(ENDS), mode: None, samples }
}

fn made(tests: Vec<Test>) -> Report {
    report(&RunFacts::default(), &LogContents { tests, ..LogContents::default() }, &[])
}

fn cell(report: &Report, metric: &str) -> Cell {
    report.cells.iter().find(|cell| cell.id.metric == metric).expect(metric).clone()
}

#[test]
fn a_ping_is_summed_up_from_its_samples() {
    let report = made(alloc::vec![ping(&[Some(5), Some(3), None, Some(10)])]);
    let average = cell(&report, "rtt_avg");
    assert_eq!((average.value, average.n), (Some(6.0), Some(3)));
    assert_eq!(
        (cell(&report, "rtt_min").value, cell(&report, "rtt_max").value),
        (Some(3.0), Some(10.0))
    );
    let loss = cell(&report, "loss");
    assert_eq!((loss.value, loss.n), (Some(25.0), Some(4)));
    assert_eq!((loss.id.transport.as_str(), loss.id.mode.as_str()), ("esp-now", "unicast"));
    assert_eq!((loss.id.payload_bytes, loss.id.table.as_str()), (Some(10), "round-trip"));
    assert!(loss.settings.is_empty(), "one pair of devices needs no name");
    assert_eq!((report.losses[0].probes, report.losses[0].lost()), (4, 1));
    assert!(average.note.expect("a note").contains("1 ms more"));
}

#[test]
fn no_answer_at_all_has_no_times() {
    let report = made(alloc::vec![ping(&[None, None])]);
    assert_eq!((cell(&report, "rtt_avg").value, cell(&report, "rtt_max").value), (None, None));
    assert_eq!(cell(&report, "loss").value, Some(100.0));
}

#[test]
fn a_stream_goes_by_its_total_or_by_its_lines() {
    let report = made(alloc::vec![stream(Some((2, 100)), (3, 101))]);
    assert_eq!(cell(&report, "throughput").value, Some(0.8));
    assert_eq!(cell(&report, "packets_lost").value, Some(2.0));
    assert_eq!(cell(&report, "loss").value, Some(2.0));
    let row = &report.tables[0].rows[0];
    assert!(row.contains(&Some("3/101".into())), "{row:?}");
    assert!(row.contains(&Some("it counts STOP as a message, and one loss too many".into())));
    let report = made(alloc::vec![stream(None, (-499, 501))]);
    assert_eq!(cell(&report, "throughput").value, Some(1.0));
    assert!(!report.cells.iter().any(|cell| cell.id.metric == "packets_lost"));
}

#[test]
fn several_pairs_of_devices_are_told_apart() {
    let mut other = ping(&[Some(1)]);
    other.ends = Some(LinkEnds { from: ENDS.to, to: None });
    let report = made(alloc::vec![ping(&[Some(1)]), other]);
    let words = |cell: &Cell| label::result(&cell.settings).expect("settings");
    assert_eq!(words(&report.cells[0]), "02:00:00:00:00:01 to 02:00:00:00:00:02");
    assert_eq!(words(report.cells.last().expect("cells")), "02:00:00:00:00:02 to ?");
}

#[test]
fn remarks_have_a_console_where_there_are_several() {
    let remark = |console: &str| Remark { console: console.into(), count: 2, text: "x".into() };
    let read = LogContents { problems: alloc::vec![remark("a.log")], ..LogContents::default() };
    let report = report(&RunFacts::default(), &read, &[]);
    assert_eq!(report.tables[0].columns.len(), 3);
    assert_eq!(report.sections()[0].id, "warnings");
}
