use super::*;
use crate::cell::Origin;
use crate::run::Site;
use alloc::collections::BTreeMap;
use alloc::{format, vec};
use core::time::Duration;
use espbench_model::sample::{Cause, Fate, Probe, Sample};
use espbench_model::time::Instant;
use espbench_model::workload::{EchoFormat, Workload};

fn workload() -> UdpEcho {
    UdpEcho {
        size: 100,
        count: 1000,
        discard: 1,
        format: EchoFormat::Ascii,
        in_flight: 1,
        interval: None,
        timeout: Duration::from_secs(1),
    }
}

/// Makes a probe with these times in milliseconds.
fn probe(due: u64, sent: u64, received: u64) -> Probe {
    let at = |ms: u64| Instant::from_nanos(ms * 1_000_000);
    Probe {
        due: at(due),
        sent: Some(at(sent)),
        received: Some(at(received)),
        bytes: 100,
        ..Probe::default()
    }
}

fn recorded(workload: UdpEcho, probes: Vec<Probe>) -> Recorded {
    Recorded {
        ordinal: 0,
        repetition: 0,
        workload: Workload::UdpEcho(workload),
        samples: probes.into_iter().map(Sample::Probe).collect(),
        counters: BTreeMap::new(),
        facts: BTreeMap::new(),
        error: None,
    }
}

fn cells(workload: UdpEcho, probes: Vec<Probe>) -> Vec<Cell> {
    let site = Site { chip: "esp32".into(), mode: "station-echo".into(), ..Site::default() };
    let context = SummaryContext { site: &site, origin: Origin::Measured, seed: 1 };
    summarize(&workload, &recorded(workload, probes), &context)
}

#[track_caller]
fn cell<'a>(cells: &'a [Cell], metric: &str) -> &'a Cell {
    let mut found = cells.iter().filter(|c| c.id.metric == metric);
    let cell = found.next().unwrap_or_else(|| panic!("no {metric}"));
    assert!(found.next().is_none(), "two cells of {metric}");
    cell
}

#[test]
fn figures_of_a_small_sample_by_hand() {
    let probes = [2, 4, 4, 4, 5, 5, 7, 9].into_iter().map(|ms| probe(0, 0, ms)).collect();
    let cells = cells(workload(), probes);
    assert_eq!(cell(&cells, "rtt_avg").value, Some(5.0));
    assert_eq!(cell(&cells, "rtt_min").value, Some(2.0));
    assert_eq!(cell(&cells, "rtt_max").value, Some(9.0));
    assert_eq!(cell(&cells, "rtt_p50").value, Some(4.0));
    // Squares sum to 32; over 7 the variance is 4.571.
    let sigma = libm::sqrt(32.0 / 7.0);
    assert_eq!(cell(&cells, "rtt_3sigma").value, Some(3.0 * sigma));
    assert_eq!(cell(&cells, "rtt_6sigma").value, Some(6.0 * sigma));
    // 2 x 8 x 100 bits in 5 ms.
    let rate = cell(&cells, "effective_rate");
    assert!(libm::fabs(rate.value.unwrap() - 320_000.0) < 1e-6);
    assert!(rate.ci_low < rate.value && rate.value < rate.ci_high);
    assert_eq!(cell(&cells, "loss").value, Some(0.0));
    assert_eq!(cell(&cells, "loss").unit, "percent");
    let id = &cells[0].id;
    assert_eq!((id.table.as_str(), id.transport.as_str()), ("udp-echo", "udp"));
    assert_eq!((id.payload_bytes, id.devices, cells[0].n), (Some(100), Some(1), Some(8)));
    assert!(cells[0].settings.is_empty());
    assert!(cells.iter().all(|c| !c.id.metric.starts_with("response")));
    assert!(cells.iter().all(|c| !c.id.metric.starts_with("rtt_kernel")));
}

/// The rows of the document for 100 bytes: its mean and its rate must agree under our formula.
#[test]
fn effective_rate_as_the_document() {
    let rate = bits_over(2.0 * 8.0 * 100.0, &Estimate::exact(0.007_374, 1000)).value.unwrap();
    assert!(libm::fabs(rate - 216_979.0) < 15.0, "{rate}");
}

#[test]
fn fates_are_counted_apart() {
    let with = |fate| Probe { fate, ..probe(0, 0, 5) };
    let probes = vec![
        with(Fate::Delivered),
        with(Fate::Delivered),
        with(Fate::Duplicate),
        with(Fate::Late),
        with(Fate::Corrupt),
        with(Fate::Lost(Cause::Unknown)),
        with(Fate::Lost(Cause::Stopped)),
    ];
    let cells = cells(workload(), probes);
    let loss = cell(&cells, "loss");
    // One did not come, and one came back changed.
    assert_eq!((loss.value, loss.n), (Some(40.0), Some(5)));
    for metric in ["probes_late", "probes_duplicate", "probes_corrupt"] {
        assert_eq!(cell(&cells, metric).value, Some(1.0), "{metric}");
    }
    let average = cell(&cells, "rtt_avg");
    assert_eq!(average.n, Some(2));
    let note = "3 of 5 probes are not in it: 1 lost, 1 later than the time-out of 1 s, 1 corrupt";
    assert_eq!(average.note.as_deref(), Some(note));
}

#[test]
fn a_stalled_sender_shows_in_the_response_time() {
    let open = UdpEcho { interval: Some(Duration::from_millis(10)), ..workload() };
    // Due every 10 ms; a stall of 50 ms held the second and third back.
    let probes = vec![probe(0, 0, 5), probe(10, 60, 65), probe(20, 61, 66)];
    let cells = cells(open, probes);
    assert_eq!(cell(&cells, "rtt_max").value, Some(5.0));
    assert_eq!(cell(&cells, "response_max").value, Some(55.0));
    let words = crate::label::result(&cells[0].settings);
    assert_eq!(words.as_deref(), Some("ASCII, one every 10 ms"));
}

#[test]
fn kernel_stamps_have_cells_of_their_own() {
    let stamped = Probe { stamped: Some(Instant::from_nanos(3_000_000)), ..probe(0, 0, 5) };
    let cells = cells(workload(), vec![stamped]);
    assert_eq!(cell(&cells, "rtt_kernel_p50").value, Some(3.0));
    assert_eq!(cell(&cells, "rtt_kernel_p99").value, Some(3.0));
}

#[test]
fn nothing_received_is_unknown_and_not_zero() {
    let lost = Probe { fate: Fate::Lost(Cause::Unknown), received: None, ..probe(0, 0, 0) };
    for probes in [vec![], vec![lost]] {
        let n = probes.len();
        let cells = cells(workload(), probes);
        for metric in ["rtt_avg", "rtt_p99", "rtt_3sigma", "effective_rate"] {
            assert_eq!(cell(&cells, metric).value, None, "{metric}");
        }
        assert_eq!(cell(&cells, "loss").value, (n > 0).then_some(100.0));
    }
}

#[test]
fn a_cell_and_its_result_spell_the_interval_alike() {
    let Some(Workload::UdpEcho(echo)) = crate::kind::default_of("udp-echo") else { unreachable!() };
    for (interval, words) in
        [(Duration::from_secs(5), "5 s"), (Duration::from_micros(2500), "2500 us")]
    {
        let work = Workload::UdpEcho(UdpEcho { interval: Some(interval), ..echo });
        let place = crate::label::of_workload(&work);
        assert!(place.ends_with(&format!(", every {words}")), "{place}");
        let result = crate::label::result(&crate::settings::Settings::of(&work)).unwrap();
        assert!(result.contains(&format!("one every {words}")), "{result}");
    }
}
