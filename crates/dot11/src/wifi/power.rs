//! Switching stations and access points off and on.

use super::frame::FrameStore;
use super::tag::DataTag;
use super::upper::{SentPacket, UpperLayer};
use super::{WifiLayer, WifiNode};
use crate::mac::WirelessMedium;
use espbench_model::sample::Cause;

impl WifiLayer {
    /// Switches a station or an access point off, with its MAC. Its packets are lost; it sends no
    /// deauthentication. Returns the tags of frames of no network that were in the MAC's queue.
    pub fn switch_off(
        &mut self,
        medium: &mut WirelessMedium,
        number: u32,
        upper: &mut dyn UpperLayer,
    ) -> alloc::vec::Vec<u64> {
        let mut gone = medium.switch_off(number);
        match self.nodes.get_mut(number as usize) {
            Some(WifiNode::Station(it)) => it.switch_off(medium, upper),
            Some(WifiNode::Ap(it)) => it.switch_off(medium, upper),
            _ => {}
        }
        gone.retain(|&tag| {
            if let Some(data) = DataTag::unpack(tag) {
                self.report_lost(medium, number, data, upper);
            } else {
                self.frames.take(tag);
            }
            !super::is_ours(tag)
        });
        gone
    }

    /// Reports a packet lost that was in the MAC's queue of a station that was switched off.
    fn report_lost(
        &mut self,
        medium: &mut WirelessMedium,
        number: u32,
        data: DataTag,
        upper: &mut dyn UpperLayer,
    ) {
        match self.nodes.get_mut(number as usize) {
            Some(WifiNode::Station(it)) => it.counters.lost += 1,
            Some(WifiNode::Ap(it)) => it.counters.lost += 1,
            _ => return,
        }
        let lost = Some(Cause::Disconnected);
        upper.on_sent(medium, number, SentPacket { tag: data.packet, lost, attempts: 0 });
    }

    /// Switches a station or access point on: an access point begins to send beacons, a station to
    /// look for one.
    pub fn switch_on(
        &mut self,
        medium: &mut WirelessMedium,
        number: u32,
        upper: &mut dyn UpperLayer,
    ) {
        medium.switch_on(number);
        let frames: &mut FrameStore = &mut self.frames;
        match self.nodes.get_mut(number as usize) {
            Some(WifiNode::Station(it)) => {
                it.switch_on(medium, upper);
                it.join(medium, frames, upper);
            }
            Some(WifiNode::Ap(it)) => it.switch_on(medium),
            _ => {}
        }
    }
}
