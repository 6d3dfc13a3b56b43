//! Throughput as the receiver has it, and the time of encryption.

use super::out::EspNowCells;
use crate::run::Recorded;
use crate::series;
use crate::units::megabits;
use alloc::vec::Vec;
use espbench_model::sample::{Interval, Observer, Sample};
use espbench_model::workload::EspNow;
use espbench_stats::Estimate;
use espbench_stats::interval::mean_t;

fn intervals(recorded: &Recorded) -> impl Iterator<Item = &Interval> {
    recorded.samples.iter().filter_map(|sample| match sample {
        Sample::Interval(interval) => Some(interval),
        Sample::Probe(_) => None,
    })
}

/// Adds the figures that the responder's final report prints, and the true ones beside them.
///
/// The report counts STOP as a message, and one loss too many; its bandwidth is that of all
/// messages sent (docs/esp-now.md). The published figures were printed in this way.
pub(super) fn throughput(out: &mut EspNowCells<'_>, workload: &EspNow, recorded: &Recorded) {
    let at_receiver = || intervals(recorded).filter(|i| i.observer == Observer::Receiver);
    let Some(total) = at_receiver().find(|i| i.total) else { return };
    let time = series::span(total);
    let (received, lost) = (total.datagrams.unwrap_or(0), total.lost.unwrap_or(0));
    let sent = received + lost;
    let payload = |packets: u64| packets.saturating_mul(workload.size.into());

    let rates: Vec<f64> = at_receiver()
        .filter(|i| !i.total)
        .filter_map(|i| megabits(i.bytes, series::span(i)))
        .collect();
    let n = rates.len() as u64;
    let received_rate = with_interval(megabits(total.bytes, time), &rates, 1.0);
    let share = if received > 0 { sent as f64 / received as f64 } else { 1.0 };
    let sent_rate = megabits(payload(sent), time);
    let printed = megabits(payload(sent + 1), time).map(|rate| libm::round(rate * 100.0) / 100.0);
    let note = "as the receiver prints it: of what was sent, to 0.01 Mbit/s";
    out.push(
        "throughput",
        "Mbit/s",
        Estimate { value: printed, n, ..Estimate::default() },
        Some(note),
    );
    let note = "as the receiver prints it: STOP counts as a message, and one loss too many";
    out.packets(lost + 1, sent + 1, note);
    out.push("throughput_sent", "Mbit/s", with_interval(sent_rate, &rates, share), None);
    let note = "95 % interval from the scatter of the receiver's intervals";
    out.push("throughput_received", "Mbit/s", received_rate, Some(note));
    out.loss(lost, sent, None);
}

/// Returns a rate over the whole time, with the interval of the mean of its parts' rates times
/// `factor`.
fn with_interval(value: Option<f64>, rates: &[f64], factor: f64) -> Estimate {
    let parts = mean_t(rates).scaled(factor);
    let Some(v) = value else { return Estimate { n: parts.n, ..Estimate::default() } };
    let (low, high) = (parts.low.map(|l| l.clamp(0.0, v)), parts.high.map(|h| h.max(v)));
    Estimate { value, n: parts.n, low, high }
}

/// Adds the mean time of one encryption (link 0) and of one decryption (link 1). `sec_test` prints
/// whole microseconds and cuts the rest.
pub(super) fn crypto(out: &mut EspNowCells<'_>, recorded: &Recorded) {
    for (link, metric, exact) in
        [(0, "encrypt_time", "encrypt_time_exact"), (1, "decrypt_time", "decrypt_time_exact")]
    {
        let of_link = |i: &&Interval| i.total && i.link.0 == link;
        let Some(total) = intervals(recorded).find(of_link) else { continue };
        let n = total.datagrams.unwrap_or(0);
        if n == 0 {
            continue;
        }
        let us = series::span(total).as_secs_f64() * 1e6 / n as f64;
        let cut = Estimate::exact(libm::floor(us), n);
        out.exact(exact, "us", us, n);
        out.push(metric, "us", cut, Some("the device's own mean, cut to whole µs"));
    }
}
