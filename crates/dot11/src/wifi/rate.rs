//! Rate control: the mode of the next frame to a receiver.
//!
//! [`DataRates::Adaptive`] is similar to Minstrel, without its random samples. For each mode it
//! keeps the share of attempts that succeed, takes the mode with the best expected throughput, and
//! now and then sends one packet in the next faster mode, less often where that has failed. It
//! learns from the outcome of each packet, so an A-MPDU counts for as many as it contains.

use super::config::DataRates;
use crate::radio::{Hr, WifiMode};
use alloc::vec::Vec;

/// The rate control of a sender towards one receiver.
#[derive(Clone, Debug)]
pub(super) struct RateControl {
    modes: Vec<RateStats>,
    at: u8,
    /// The packets until the next faster mode is tried, and the interval between such probes.
    until_probe: u16,
    probe_every: u16,
}

/// A mode, and the outcome of packets in it.
#[derive(Clone, Copy, Debug)]
struct RateStats {
    mode: WifiMode,
    /// The share of attempts that succeed, a moving average.
    share: f32,
    attempts: u16,
    successes: u16,
}

/// The number of attempts after which the share is updated.
const WINDOW: u16 = 16;
/// The weight of the newest window.
const NEWEST: f32 = 0.25;
/// The packets between probes of the next faster mode: at first, and at most after failures.
const PROBE_EVERY: u16 = 64;
const PROBE_SELDOM: u16 = 1024;
/// The overhead of an attempt beside its data in microseconds: preamble, spaces, back-off, ACK. It
/// keeps a fast mode with many losses from looking better than it is.
const OVERHEAD_US: f32 = 100.0;
/// The bits of a packet of usual length.
const BITS: f32 = 12_000.0;

/// The constants of the control of rates by name, for lists of constants.
pub const RATE_CONTROL: [(&str, f64); 6] = [
    ("window", WINDOW as f64),
    ("newest", NEWEST as f64),
    ("probe_every", PROBE_EVERY as f64),
    ("probe_seldom", PROBE_SELDOM as f64),
    ("overhead_us", OVERHEAD_US as f64),
    ("bits", BITS as f64),
];

impl RateStats {
    /// Returns the packets that arrive in a microsecond, by the share and the air time of one.
    fn throughput(&self) -> f32 {
        let us = BITS * 1000.0 / self.mode.kbit_s() as f32 + OVERHEAD_US;
        self.share / us
    }

    /// Takes the attempts into the share.
    fn update_share(&mut self) {
        let newest = f32::from(self.successes) / f32::from(self.attempts.max(1));
        self.share += NEWEST * (newest - self.share);
        (self.attempts, self.successes) = (0, 0);
    }
}

impl RateControl {
    pub(super) fn new(rates: &DataRates) -> Self {
        let tried = |&mode| RateStats { mode, share: 1.0, attempts: 0, successes: 0 };
        let modes: Vec<_> = rates.modes().iter().take(16).map(tried).collect();
        Self {
            at: modes.len().saturating_sub(1) as u8,
            modes,
            until_probe: PROBE_EVERY,
            probe_every: PROBE_EVERY,
        }
    }

    /// Returns the mode of the next packet, and its index among those of the sender.
    pub(super) fn pick(&mut self) -> (u8, WifiMode) {
        let mut at = self.at;
        if usize::from(at) + 1 < self.modes.len() {
            self.until_probe = self.until_probe.saturating_sub(1);
            if self.until_probe == 0 {
                self.until_probe = self.probe_every;
                at += 1;
            }
        }
        (at, self.modes.get(usize::from(at)).map_or(WifiMode::Hr(Hr::M1), |it| it.mode))
    }

    /// Takes note of a packet's outcome.
    pub(super) fn learn(&mut self, at: u8, attempts: u8, delivered: bool) {
        if self.modes.len() < 2 {
            return;
        }
        let probe = at > self.at;
        let Some(tried) = self.modes.get_mut(usize::from(at)) else { return };
        tried.attempts += u16::from(attempts);
        tried.successes += u16::from(delivered);
        if probe {
            let good = delivered && attempts == 1;
            let seldom = self.probe_every.saturating_mul(2).min(PROBE_SELDOM);
            self.probe_every = if good { PROBE_EVERY } else { seldom };
            if good {
                // The next probe comes soon, because one success says little.
                self.until_probe = self.until_probe.min(PROBE_EVERY / 4);
            }
            tried.update_share();
        } else if tried.attempts < WINDOW {
            return;
        } else {
            tried.update_share();
        }
        self.choose();
    }

    fn choose(&mut self) {
        let mut best = 0;
        for (at, tried) in self.modes.iter().enumerate() {
            if tried.throughput() > self.modes[best].throughput() {
                best = at;
            }
        }
        if best as u8 != self.at {
            self.at = best as u8;
            self.until_probe = self.probe_every;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::radio::{ChannelWidth, GuardInterval};
    use crate::random::{Chance, Purpose, RngStream};

    /// Returns the percentage of packets sent in each mode in the second half of 20 000 packets,
    /// where `per_cent` of a hundred attempts in each mode succeed.
    fn shares(per_cent: [u32; 8]) -> [u32; 8] {
        let mut rate = RateControl::new(&DataRates::ht(ChannelWidth::Mhz20, GuardInterval::Long));
        let mut random = RngStream::stream(1, 0, Purpose::Board);
        let mut shares = [0; 8];
        for packet in 0..20_000 {
            let (at, mode) = rate.pick();
            assert_eq!(mode, rate.modes[usize::from(at)].mode);
            let chance = Chance::percent(per_cent[usize::from(at)]);
            let hits = |random: &mut RngStream| chance.hit(random);
            let attempts = (1..=7).find(|_| hits(&mut random));
            rate.learn(at, attempts.unwrap_or(7), attempts.is_some());
            shares[usize::from(at)] += u32::from(packet >= 10_000);
        }
        shares.map(|it| it / 100)
    }

    #[test]
    fn the_mode_that_promises_most_is_taken() {
        assert_eq!(shares([100; 8])[7], 100);
        // If the fastest three fail, the next one is taken; the others are still tried now and
        // then.
        let far = shares([100, 100, 100, 100, 100, 20, 5, 0]);
        assert!(far[4] >= 95, "{far:?}");
        // A few losses do not make a slow mode better.
        let some = shares([100, 100, 100, 100, 98, 95, 90, 85]);
        // The next two promise 1 % and 4 % less, which 16 attempts cannot tell apart.
        assert!(some[7] > 50 && some[7] + some[6] + some[5] >= 99, "{some:?}");
        assert!(shares([50, 0, 0, 0, 0, 0, 0, 0])[0] >= 95);
    }

    #[test]
    fn a_better_channel_is_found_out() {
        let mut rate = RateControl::new(&DataRates::ht(ChannelWidth::Mhz20, GuardInterval::Long));
        for good in [false, true] {
            for _ in 0..20_000 {
                let (at, _) = rate.pick();
                let delivered = good || at < 2;
                rate.learn(at, if delivered { 1 } else { 7 }, delivered);
            }
            assert_eq!(rate.at, if good { 7 } else { 1 });
        }
    }
}
