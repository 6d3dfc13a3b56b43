//! Theoretical limit of joining: one probe request and its answer; authentication, association and keys,
//! each with its ACK, at 1 Mbit/s.

use crate::limit::TheoreticalLimit;
use crate::limit::wifi::{DataFrames, of_metrics};
use alloc::vec::Vec;
use espbench_dot11::radio::airtime::{ACK_OCTETS, airtime};
use espbench_dot11::radio::timing::SIFS_NS;
use espbench_dot11::radio::{Hr, WifiMode};
use espbench_dot11::wifi::{Capabilities, WifiSecurity, joining_octets};

/// The octets of the SSID.
const SSID: u8 = 8;

/// Returns the limits of a cell's figures.
pub(super) fn limits(frames: DataFrames) -> Vec<TheoreticalLimit> {
    let once = joining(frames.security) as f64 / 1e6;
    of_metrics(["join_time_min", "join_time_avg", "join_time_p50", "join_time_max"], once)
}

/// Returns the air time of the frames of joining, in nanoseconds.
fn joining(security: WifiSecurity) -> u64 {
    let mode = WifiMode::Hr(Hr::M1);
    let ack = SIFS_NS + airtime(mode, ACK_OCTETS);
    let frames = joining_octets(security, Capabilities::default(), SSID);
    let all: u64 = frames.map(|octets| airtime(mode, octets) + ack).sum();
    // The first frame goes to all, and has no ACK.
    all - ack
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks an open network: 6 frames, of which five are acknowledged. Each takes 192 us of
    /// preamble and 8 us an octet; an ACK takes 304 us and SIFS.
    #[test]
    fn joining_is_its_frames_at_one_megabit() {
        let open: Vec<u32> =
            joining_octets(WifiSecurity::Open, Capabilities::default(), SSID).collect();
        let octets: u64 = open.iter().map(|it| u64::from(*it)).sum();
        assert_eq!(joining(WifiSecurity::Open), (6 * 192 + octets * 8 + 5 * 314) * 1000);
        let [open, wpa2, wpa3] =
            [WifiSecurity::Open, WifiSecurity::Wpa2, WifiSecurity::Wpa3].map(joining);
        assert!((6_000_000..10_000_000).contains(&open) && open < wpa2 && wpa2 < wpa3);
    }
}
