//! The settings of an ideal medium: who hears whom, what is lost, how long it takes.

use crate::lab::nodes::device::NodeId;
use alloc::collections::BTreeMap;
use core::time::Duration;
use esp_now::frame::mpdu_len;
use espbench_dot11::radio::airtime::ACK_OCTETS;
use espbench_dot11::radio::timing::SIFS_NS;
use espbench_dot11::radio::{Hr, WifiMode, airtime};
use espbench_dot11::random::Chance;

/// Retries of a unicast frame without an acknowledgement before its sender gives up: the default of
/// `dot11ShortRetryLimit` (IEEE 802.11-2020, annex C). Espressif documents no number.
pub const MAC_RETRIES: u8 = 7;

/// The link in one direction between two stations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MediumLink {
    /// Signal strength at the receiver, dBm.
    pub rssi: i8,
    /// Frames lost, instead of [`IdealMediumConfig::loss`].
    pub loss: Option<Chance>,
}

impl MediumLink {
    /// Makes a link with that signal strength and the medium's own loss.
    #[must_use]
    pub const fn at(rssi: i8) -> Self {
        Self { rssi, loss: None }
    }
}

/// The settings of an ideal medium with faults. Stations on one channel hear each other, whatever else is on the
/// air at that time; what is lost, late or doubled is drawn for each frame and receiver alone.
#[derive(Clone, Debug)]
pub struct IdealMediumConfig {
    /// Frames lost on their way to a receiver, and MAC acknowledgements on their way back.
    pub loss: Chance,
    /// Time from the end of a frame until its receiver has it.
    pub delay: Duration,
    /// Further time, uniform from zero to this. Where it is longer than the time between two
    /// frames, they may overtake each other.
    pub jitter: Duration,
    /// Frames that a receiver has twice.
    pub duplicate: Chance,
    /// Frames held back by up to [`hold`](Self::hold) more, so that later ones come first.
    pub reorder: Chance,
    /// Longest time that a frame is held back.
    pub hold: Duration,
    /// Signal strength where no link says otherwise, dBm.
    pub rssi: i8,
    /// Retries of a unicast frame by the MAC.
    pub mac_retries: u8,
    /// Whether a receiver's MAC drops the retry of a frame that it has (IEEE 802.11-2020,
    /// 10.3.2.14). Without, a lost acknowledgement hands the frame up twice.
    pub mac_filter: bool,
    /// Air time of a frame of so many bytes of ESP-NOW data; `true` for unicast, whose
    /// acknowledgement is part of it.
    pub frame_time: fn(usize, bool) -> Duration,
    /// Only stations with a link of their own hear each other.
    pub only_linked: bool,
    /// Differences of one direction, sender first; `None`: nothing is heard.
    pub links: BTreeMap<(NodeId, NodeId), Option<MediumLink>>,
}

impl Default for IdealMediumConfig {
    fn default() -> Self {
        Self {
            loss: Chance::NEVER,
            delay: Duration::ZERO,
            jitter: Duration::ZERO,
            duplicate: Chance::NEVER,
            reorder: Chance::NEVER,
            hold: Duration::from_millis(5),
            rssi: -40,
            mac_retries: MAC_RETRIES,
            mac_filter: true,
            frame_time: dsss_1m,
            only_linked: false,
            links: BTreeMap::new(),
        }
    }
}

impl IdealMediumConfig {
    /// Makes a medium that only loses.
    #[must_use]
    pub fn lossy(loss: Chance) -> Self {
        Self { loss, ..Self::default() }
    }

    /// Makes a medium on which only neighbours in this list hear each other, with that signal
    /// strength.
    #[must_use]
    pub fn chain(nodes: &[NodeId], rssi: i8) -> Self {
        let mut medium = Self { only_linked: true, ..Self::default() };
        for pair in nodes.windows(2) {
            medium.link(pair[0], pair[1], Some(MediumLink::at(rssi)));
        }
        medium
    }

    /// Sets both directions between two stations; `None`: they do not hear each other.
    pub fn link(&mut self, a: NodeId, b: NodeId, link: Option<MediumLink>) {
        self.one_way(a, b, link);
        self.one_way(b, a, link);
    }

    /// Sets one direction.
    pub fn one_way(&mut self, from: NodeId, to: NodeId, link: Option<MediumLink>) {
        self.links.insert((from, to), link);
    }

    /// Returns signal strength and loss from one station to another; `None` where it hears nothing.
    #[must_use]
    pub fn between(&self, from: NodeId, to: NodeId) -> Option<(i8, Chance)> {
        let everybody = (!self.only_linked).then_some((self.rssi, self.loss));
        // Most media have no special links, and this is asked for each frame and receiver.
        if self.links.is_empty() {
            return everybody;
        }
        match self.links.get(&(from, to)) {
            Some(link) => link.map(|link| (link.rssi, link.loss.unwrap_or(self.loss))),
            None => everybody,
        }
    }

    /// Tells whether frames are in their receivers' hands as they end.
    pub(super) const fn is_prompt(&self) -> bool {
        self.delay.is_zero()
            && self.jitter.is_zero()
            && matches!(self.duplicate, Chance::NEVER)
            && matches!(self.reorder, Chance::NEVER)
    }
}

/// Returns the air time at ESP-NOW's default rate of 1 Mbit/s with the long preamble. Unicast adds
/// SIFS and an acknowledgement at the same rate; a receiver has the frame when the whole exchange
/// is over. Back-off and DIFS are left to the lab.
#[must_use]
pub const fn dsss_1m(data: usize, unicast: bool) -> Duration {
    const MODE: WifiMode = WifiMode::Hr(Hr::M1);
    let acknowledgement = if unicast { SIFS_NS + airtime(MODE, ACK_OCTETS) } else { 0 };
    Duration::from_nanos(airtime(MODE, mpdu_len(data) as u32) + acknowledgement)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn air_times_of_the_protocol_reference() {
        // Header of 20 bytes and payloads of 0, 8, 218, 230, 1438 and 1450.
        for (data, micros) in
            [(20, 696), (28, 760), (238, 2440), (250, 2536), (1458, 12_480), (1470, 12_576)]
        {
            assert_eq!(dsss_1m(data, false), Duration::from_micros(micros), "{data}");
            assert_eq!(dsss_1m(data, true), Duration::from_micros(micros + 314), "{data}");
        }
    }

    #[test]
    fn links_override_and_a_chain_has_only_neighbours() {
        let [a, b, c] = [0, 1, 2].map(NodeId);
        let mut medium = IdealMediumConfig::lossy(Chance::percent(5));
        medium.one_way(a, b, Some(MediumLink { rssi: -70, loss: Some(Chance::NEVER) }));
        medium.link(b, c, None);
        assert_eq!(medium.between(a, b), Some((-70, Chance::NEVER)));
        assert_eq!(medium.between(b, a), Some((-40, Chance::percent(5))));
        assert_eq!(medium.between(c, b), None);
        let chain = IdealMediumConfig::chain(&[a, b, c], -60);
        assert_eq!(chain.between(b, a), Some((-60, Chance::NEVER)));
        assert_eq!((chain.between(a, c), chain.between(c, a)), (None, None));
    }
}
