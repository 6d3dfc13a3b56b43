//! Stations and access points that are switched off and on.

use super::above::{Above, Sent};
use super::frame::Frames;
use super::tag::DataTag;
use super::{Node, Wifi};
use crate::mac::Room;
use espbench_proto::sample::Cause;

impl Wifi {
    /// Switches a station or an access point off, with its MAC. What it had to send is lost; it does
    /// not take leave. Gives the tags of frames of no network that were in the MAC's queue.
    pub fn switch_off(
        &mut self,
        room: &mut Room,
        number: u32,
        above: &mut dyn Above,
    ) -> alloc::vec::Vec<u64> {
        let mut gone = room.switch_off(number);
        match self.nodes.get_mut(number as usize) {
            Some(Node::Station(it)) => it.switch_off(room, above),
            Some(Node::Ap(it)) => it.switch_off(room, above),
            _ => {}
        }
        gone.retain(|&tag| {
            if let Some(data) = DataTag::unpack(tag) {
                self.is_gone(room, number, data, above);
            } else {
                self.frames.take(tag);
            }
            !super::is_ours(tag)
        });
        gone
    }

    /// A packet was in the MAC's queue of somebody who is switched off.
    fn is_gone(&mut self, room: &mut Room, number: u32, data: DataTag, above: &mut dyn Above) {
        match self.nodes.get_mut(number as usize) {
            Some(Node::Station(it)) => it.counters.lost += 1,
            Some(Node::Ap(it)) => it.counters.lost += 1,
            _ => return,
        }
        let lost = Some(Cause::Disconnected);
        above.sent(room, number, Sent { tag: data.packet, lost, attempts: 0 });
    }

    /// Switches it on again: an access point begins to send beacons, a station to look for one.
    pub fn switch_on(&mut self, room: &mut Room, number: u32, above: &mut dyn Above) {
        room.switch_on(number);
        let frames: &mut Frames = &mut self.frames;
        match self.nodes.get_mut(number as usize) {
            Some(Node::Station(it)) => {
                it.switch_on(room, above);
                it.join(room, frames, above);
            }
            Some(Node::Ap(it)) => it.switch_on(room),
            _ => {}
        }
    }
}
