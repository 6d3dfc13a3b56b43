//! One saturated sender and a receiver that gets everything, by arithmetic.

use super::Scenario;
use super::run::settings;
use crate::radio::airtime::{
    ACK_OCTETS, BLOCK_ACK_OCTETS, airtime, most_octets, psdu_airtime, psdu_octets, with_mpdu,
};

/// Returns the MPDUs in each exchange, and the MPDUs a second, if nothing is lost. An exchange
/// takes `AIFS`, half of the first window, the PPDU, SIFS, and the answer.
#[must_use]
pub fn link(scenario: &Scenario) -> (u32, f64) {
    let settings = settings(scenario, 0);
    let (mut mpdus, mut octets) = (1, psdu_octets(scenario.mode, scenario.octets));
    if let Some(ampdu) = scenario.ampdu {
        let most = ampdu.octets.min(most_octets(scenario.mode, ampdu.longest_ns));
        octets = with_mpdu(0, scenario.octets);
        while mpdus < u32::from(ampdu.send.min(ampdu.receive))
            && with_mpdu(octets, scenario.octets) <= most
        {
            octets = with_mpdu(octets, scenario.octets);
            mpdus += 1;
        }
    }
    let answer_octets = if mpdus > 1 { BLOCK_ACK_OCTETS } else { ACK_OCTETS };
    let answer = airtime(settings.basic.response_to(scenario.mode), answer_octets);
    let timing = settings.timing;
    let back_off = f64::from(timing.cw_min) / 2.0 * timing.slot_ns as f64;
    let fixed = timing.difs_ns() + psdu_airtime(scenario.mode, octets) + timing.sifs_ns + answer;
    (mpdus, f64::from(mpdus) * 1e9 / (fixed as f64 + back_off))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::run;

    #[test]
    fn a_link_carries_what_arithmetic_says() {
        for (scenario, mpdus, mbit_s) in
            [(Scenario::ht(), 1, 30.78), (Scenario::ht_ampdu(), 28, 59.75)]
        {
            let (together, good) = link(&scenario);
            assert_eq!(together, mpdus, "{}", scenario.name);
            // Each frame carries 1472 bytes.
            assert!((good * 11_776e-6 - mbit_s).abs() < 0.01, "{}: {good}", scenario.name);
            let is = run(&scenario, 1, 20).good();
            assert!((is / good - 1.0).abs() < 0.004, "{}: {is} {good}", scenario.name);
        }
    }
}
