//! Switching stations and access points off and on.

use super::above::{Above, Sent};
use super::frame::Frames;
use super::tag::DataTag;
use super::{Node, Wifi};
use crate::mac::WirelessMedium;
use espbench_proto::sample::Cause;

impl Wifi {
    /// Switches a station or an access point off, with its MAC. Its packets are lost; it sends no
    /// deauthentication. Returns the tags of frames of no network that were in the MAC's queue.
    pub fn switch_off(
        &mut self,
        medium: &mut WirelessMedium,
        number: u32,
        above: &mut dyn Above,
    ) -> alloc::vec::Vec<u64> {
        let mut gone = medium.switch_off(number);
        match self.nodes.get_mut(number as usize) {
            Some(Node::Station(it)) => it.switch_off(medium, above),
            Some(Node::Ap(it)) => it.switch_off(medium, above),
            _ => {}
        }
        gone.retain(|&tag| {
            if let Some(data) = DataTag::unpack(tag) {
                self.is_gone(medium, number, data, above);
            } else {
                self.frames.take(tag);
            }
            !super::is_ours(tag)
        });
        gone
    }

    /// Reports a packet lost that was in the MAC's queue of a station that was switched off.
    fn is_gone(
        &mut self,
        medium: &mut WirelessMedium,
        number: u32,
        data: DataTag,
        above: &mut dyn Above,
    ) {
        match self.nodes.get_mut(number as usize) {
            Some(Node::Station(it)) => it.counters.lost += 1,
            Some(Node::Ap(it)) => it.counters.lost += 1,
            _ => return,
        }
        let lost = Some(Cause::Disconnected);
        above.sent(medium, number, Sent { tag: data.packet, lost, attempts: 0 });
    }

    /// Switches a station or access point on: an access point begins to send beacons, a station to
    /// look for one.
    pub fn switch_on(&mut self, medium: &mut WirelessMedium, number: u32, above: &mut dyn Above) {
        medium.switch_on(number);
        let frames: &mut Frames = &mut self.frames;
        match self.nodes.get_mut(number as usize) {
            Some(Node::Station(it)) => {
                it.switch_on(medium, above);
                it.join(medium, frames, above);
            }
            Some(Node::Ap(it)) => it.switch_on(medium),
            _ => {}
        }
    }
}
