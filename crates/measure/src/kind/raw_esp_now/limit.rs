//! Theoretical limits of `esp_now_send`: one frame after the other, with its ACK, and nothing between.

use crate::limit::TheoreticalLimit;
use crate::run;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use esp_now::frame::mpdu_len;
use espbench_dot11::radio::airtime::{ACK_OCTETS, airtime};
use espbench_dot11::radio::name::ESP_NOW_PHY_MODES;
use espbench_dot11::radio::timing::SIFS_NS;
use espbench_dot11::radio::{BasicRates, WifiMode};
use espbench_model::workload::RawEspNow;

/// Returns the limits of a cell's figures at the rate that its facts name.
pub(super) fn limits(work: &RawEspNow, facts: &BTreeMap<String, String>) -> Vec<TheoreticalLimit> {
    let modes = run::told(facts, ESP_NOW_PHY_MODES).unwrap_or_default().0;
    let mode = modes.first().copied().unwrap_or(WifiMode::ESP_NOW);
    let ns = cycle_ns(work, mode);
    let micros = ns as f64 / 1e3;
    let limit = |metric, ours| TheoreticalLimit { metric, ours, published: ours };
    ["interarrival_p05", "interarrival_p50", "interarrival_avg"]
        .map(|metric| limit(metric, micros))
        .into_iter()
        .chain([limit("throughput", f64::from(work.size) * 8e3 / ns as f64)])
        .collect()
}

/// Returns the time of a frame on the air, with the least space before it and its ACK.
fn cycle_ns(work: &RawEspNow, mode: WifiMode) -> u64 {
    let frame = airtime(mode, mpdu_len(work.size as usize) as u32);
    let ack = airtime(BasicRates::NONE.response_to(mode), ACK_OCTETS);
    frame + SIFS_NS + if work.is_broadcast { 0 } else { ack + SIFS_NS }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::raw_esp_now::DEFAULT;

    /// A body of 250 bytes is an MPDU of 293: 192 + 8 x 293 us, and an ACK takes 304.
    #[test]
    fn a_frame_at_one_megabit() {
        let unicast = cycle_ns(&DEFAULT, WifiMode::ESP_NOW);
        assert_eq!(unicast, (2536 + 10 + 304 + 10) * 1000);
        let broadcast = RawEspNow { is_broadcast: true, ..DEFAULT };
        assert_eq!(cycle_ns(&broadcast, WifiMode::ESP_NOW), (2536 + 10) * 1000);
    }
}
