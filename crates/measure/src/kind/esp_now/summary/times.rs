//! Delays from pin to pin, and round trips with one device.

use super::out::{CUT, EspNowCells};
use crate::live::LateProbes;
use crate::run::Recorded;
use crate::series;
use crate::summary::round_trips::ProbeCounts;
use alloc::vec::Vec;
use espbench_model::sample::Probe;
use espbench_model::time::Instant;
use espbench_stats::Estimate;
use espbench_stats::interval::{mean, stddev};

/// Adds the times from the falling edge at the sender to the falling edge at the receiver.
pub(super) fn one_way(out: &mut EspNowCells<'_>, recorded: &Recorded, seed: u64) {
    let times = series::responses_ms(recorded);
    let tally = ProbeCounts::of(&recorded.samples);
    out.extremes("latency", &times, seed, None);
    let n = times.len() as u64;
    let spread = Estimate { value: stddev(&times), n, ..Estimate::default() };
    out.push("latency_stddev", "ms", spread, None);
    let (lost, of) = tally.loss_of(LateProbes::Lost);
    out.loss(lost, of, None);
}

/// Adds the round trips with one device, as they were and as its console prints them.
pub(super) fn ping(out: &mut EspNowCells<'_>, recorded: &Recorded, seed: u64) {
    let tally = ProbeCounts::of(&recorded.samples);
    let probes: Vec<&Probe> = series::delivered(recorded).collect();
    let times = exact(&probes);
    out.extremes("rtt_exact", &times, seed, None);
    out.quantiles("rtt_exact", &times, None);
    out.extremes("rtt", &printed(&probes), seed, Some(CUT));
    let (lost, of) = tally.loss_of(LateProbes::Lost);
    out.loss(lost, of, lateness(tally.late));
    out.push("jitter", "ms", jitter(&times), None);
    out.exact("probes_late", "probes", tally.late as f64, tally.probes);
}

/// Returns the note on late answers: the device counts an answer after its time-out as lost.
pub(super) fn lateness(late: u64) -> Option<&'static str> {
    (late > 0).then_some("answers after 3 s count as lost, as the console has it")
}

/// Returns the times from when a ping was due to its answer, in milliseconds.
pub(super) fn exact(probes: &[&Probe]) -> Vec<f64> {
    probes.iter().filter_map(|p| Some(series::milliseconds(p.due, p.received?))).collect()
}

/// Returns the times as `espnow_iperf` prints them, in whole milliseconds: it reads the clock in
/// whole microseconds and divides the difference by a thousand (`espnow_iperf_ping_task`).
pub(super) fn printed(probes: &[&Probe]) -> Vec<f64> {
    let micros = |at: Instant| at.as_nanos() / 1000;
    let ms = |p: &&Probe| Some((micros(p.received?).saturating_sub(micros(p.due)) / 1000) as f64);
    probes.iter().filter_map(ms).collect()
}

/// Returns the mean absolute difference between consecutive round trips: RFC 3393's delay variation
/// of consecutive packets.
pub(super) fn jitter(times: &[f64]) -> Estimate {
    let steps: Vec<f64> = times.windows(2).map(|w| (w[1] - w[0]).abs()).collect();
    Estimate { value: mean(&steps), n: steps.len() as u64, ..Estimate::default() }
}
