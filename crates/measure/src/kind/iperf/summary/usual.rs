//! The result of a test in the line that iperf prints of it.

use super::{ObserverCounts, one_way};
use crate::kind::iperf::lines::unit::ADAPTIVE;
use crate::run::Recorded;
use alloc::format;
use alloc::string::String;
use espbench_model::sample::Observer;
use espbench_model::workload::Iperf;

/// Says amount and rate of the whole test as iperf does, as the receiver has them, or else the sender; `None`
/// where streams go both ways.
pub(in crate::kind::iperf) fn usual_line(workload: &Iperf, recorded: &Recorded) -> Option<String> {
    one_way(workload.direction)?;
    let of = |observer| ObserverCounts::of(observer, workload, recorded);
    let all = [Observer::Receiver, Observer::Peer, Observer::Sender].map(of);
    let counts = all.iter().find(|it| !it.totals.is_empty())?;
    let (bytes, rate) = (counts.sum(|it| Some(it.bytes))?, counts.total_rate()?);
    let seconds = counts.totals.iter().map(|it| it.end.since(it.start).as_secs_f64());
    let seconds = seconds.reduce(f64::max)?;
    // A few octets are there within milliseconds.
    let decimals = if seconds < 1.0 { 3 } else { 1 };
    Some(format!(
        "total: {} in {seconds:.decimals$} s, {}/sec",
        ADAPTIVE.amount(bytes as f64),
        ADAPTIVE.rate(rate * 1e6 / 8.0)
    ))
}
