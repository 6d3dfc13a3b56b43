//! Beacons.

use super::{BEACON, WifiAp};
use crate::mac::{GROUP, TxFrame, WirelessMedium};
use crate::wifi::elements::{tim_bitmap, up_to_tim};
use crate::wifi::frame::{FrameContents, FrameInfo, FrameStore, Subtype, TimInfo, WifiFrame};
use crate::wifi::octets::management;
use espbench_model::time::Instant;

impl WifiAp {
    /// Returns the next target beacon transmission time, and the number of beacons before the next
    /// DTIM.
    pub(super) const fn next_beacon(&self) -> (Instant, u8) {
        (self.next_beacon, self.dtim_count)
    }

    /// Queues a beacon at its target transmission time, unless the last one is still in the queue;
    /// after a DTIM beacon, also multicast.
    pub(super) fn send_beacon(&mut self, medium: &mut WirelessMedium, frames: &mut FrameStore) {
        let (tbtt, period) = (self.next_beacon, self.config.dtim_period.max(1));
        let dtim_count = self.dtim_count;
        self.dtim_count = dtim_count.checked_sub(1).unwrap_or(period - 1);
        self.next_beacon = tbtt + self.config.beacon_interval;
        self.clock.set(medium, BEACON, self.next_beacon);
        if self.beacon {
            self.counters.beacons_missed += 1;
            return;
        }
        let group = dtim_count == 0 && !self.group.is_empty();
        let tim = TimInfo { dtim_count, dtim_period: period, group, stations: self.waiting };
        let info = FrameInfo { tim: Some(tim), ..FrameInfo::bare(Subtype::Beacon) };
        let tag = frames.keep(WifiFrame { info, says: FrameContents::Tbtt(tbtt), to: GROUP });
        let octets = management(self.elements().body(Subtype::Beacon) + tim_bitmap(&self.waits));
        let packet = TxFrame::new(GROUP, octets, self.config.basic, tag).at_once();
        if medium.send(self.number, packet).is_err() {
            frames.take(tag);
            self.counters.beacons_missed += 1;
            return;
        }
        self.told.copy_from_slice(&self.waits);
        self.beacon = true;
        if group {
            self.send_kept_group(medium);
        }
    }

    /// Returns the octets of the last beacon up to the end of its TIM.
    pub(in crate::wifi) fn up_to_tim(&self) -> u32 {
        up_to_tim(self.config.ssid_octets, tim_bitmap(&self.told))
    }

    /// Takes note that the MAC is done with a beacon.
    pub(super) const fn beacon_done(&mut self) {
        self.beacon = false;
        self.counters.beacons += 1;
    }
}
