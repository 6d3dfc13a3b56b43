//! Theoretical limit of a round trip: the request with its ACK, and the answer.

use crate::limit::TheoreticalLimit;
use crate::limit::wifi::{DATAGRAM, DataFrames, IP, UDP, of_metrics};
use alloc::vec::Vec;
use espbench_model::workload::UdpEcho;

/// Returns the limits of a cell's figures.
pub(super) fn limits(w: &UdpEcho, frames: DataFrames) -> Vec<TheoreticalLimit> {
    if w.size >= DATAGRAM {
        return Vec::new();
    }
    // The line feed is on the air as well.
    let body = IP + UDP + w.size + 1;
    let once = (frames.acknowledged(body) + frames.frame(body)) as f64 / 1e6;
    of_metrics(["rtt_min", "rtt_avg", "rtt_p50", "rtt_max"], once)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limit::wifi::tests::frames;

    #[test]
    fn a_round_trip_is_two_frames_and_an_ack() {
        let work = UdpEcho { size: 100, ..super::super::DEFAULT };
        // 30 + 8 + 28 + 101 octets at 6 Mbit/s take 57 symbols and 26 us, each way; the ACK takes
        // 44 us and SIFS.
        let limits = limits(&work, frames("6M", 1));
        let wanted = (2.0 * (57.0 * 4.0 + 26.0) + 10.0 + 50.0) / 1e3;
        assert!((limits[0].ours - wanted).abs() < 1e-9, "{} {wanted}", limits[0].ours);
        assert!(limits.iter().all(|it| it.ours == it.published));
    }
}
