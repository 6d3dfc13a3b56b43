//! Theoretical limit of short messages over TCP: Nagle's algorithm may fill segments, so that of a stream.

use crate::limit::TheoreticalLimit;
use crate::limit::wifi::{DataFrames, of_metrics};
use alloc::vec::Vec;
use espbench_model::workload::TcpRate;

/// Returns the limits of a cell's figures; of several stations those of their channels together.
pub(super) fn limits(w: &TcpRate, frames: DataFrames, channels: usize) -> Vec<TheoreticalLimit> {
    let rate = channels.max(1) as f64 * frames.stream() * 1e9 / f64::from(w.size.max(1));
    let metrics = ["message_rate", "message_rate_min", "message_rate_max", "message_rate_avg"];
    of_metrics(metrics, rate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limit::wifi::tests::frames;

    /// At 54 Mbit/s a symbol of 4 us carries 216 bits. A segment of 1440 octets is a frame of 1518 with
    /// headers: 57 symbols, 254 us; one without data of 78 octets: 3 symbols, 38 us, for every second.
    /// SIFS and an ACK of 34 us follow each.
    #[test]
    fn messages_share_full_segments() {
        let work = TcpRate { size: 64, ..super::super::DEFAULT };
        let of = |channels| limits(&work, frames("54M", 1), channels)[0].ours;
        let wanted = 1440.0 / (298.0 + 82.0 / 2.0) * 1e6 / 64.0;
        assert!((of(1) - wanted).abs() < 1e-6, "{} {wanted}", of(1));
        assert!((of(3) - 3.0 * wanted).abs() < 1e-6, "stations of three channels");
    }
}
