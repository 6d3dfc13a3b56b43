//! A PC whose IP stack is a real one, outside the lab: the kernel behind a TUN interface, say.
//!
//! Packets come in with [`Lab::come_in`] and leave the lab with [`Lab::take_outside`]. The PC's wire
//! and router stay the lab's. Programs that the lab itself runs on the PC (the other end of its
//! devices' applications) keep what is sent to their ports.

use super::field::{Field, destination};
use super::machine::{Body, Machine, PcDriver};
use super::packet::Head;
use super::setup::{MachineKind, MachinePlace, MachineSetup, PcSetup, Wire};
use super::{Lab, MachineId};
use crate::lab::pool::Handle;
use crate::lab::run::Tap;
use crate::lab::scene::Delay;
use crate::net::Stack;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use espbench_dot11::mac::WirelessMedium;

/// Packets that wait for the stack outside, at most; more are lost and counted.
pub const OUTSIDE_MAX: usize = 4096;

/// Counts of the packets between a lab and the IP stack outside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutsideCounts {
    /// Packets that came into the lab.
    pub came_in: u64,
    /// Packets that left the lab.
    pub went_out: u64,
    /// Packets that had no place, since nobody took those that waited.
    pub overrun: u64,
    /// Packets from outside for nobody in the lab, or in no form that the lab carries: IPv6.
    pub strange: u64,
    /// Packets from outside that found the queue of the PC's radio full.
    pub no_room: u64,
}

/// The stack outside: what waits for it, and counts.
#[derive(Debug, Default)]
pub(super) struct OutsideStack {
    waiting: VecDeque<Vec<u8>>,
    counts: OutsideCounts,
}

/// Returns whether the lab carries a packet: one of IPv4 that is as long as it says.
fn is_carried(packet: &[u8]) -> bool {
    let Some(head) = packet.get(..20) else { return false };
    let total = usize::from(u16::from_be_bytes([head[2], head[3]]));
    head[0] >> 4 == 4 && total == packet.len()
}

impl PcDriver {
    /// Returns whether its radio's queue has room, where it has a radio.
    const fn has_room(&self, place: MachinePlace) -> bool {
        match place {
            MachinePlace::Air(_) => self.queued < self.setup.queue as usize,
            MachinePlace::Wire(_) => true,
        }
    }
}

impl Field<'_> {
    fn outside(&mut self, number: u16) -> Option<&mut OutsideStack> {
        match &mut self.machines.get_mut(usize::from(number))?.body {
            Body::Pc(pc) => pc.outside.as_mut(),
            Body::Esp(_) => None,
        }
    }

    /// Gives a packet that has reached a PC to the stack outside; false where that PC has none, or
    /// where one of the lab's own programs is meant.
    pub(super) fn goes_outside(&mut self, number: u16, tag: Handle) -> bool {
        let Some(machine) = self.machines.get_mut(usize::from(number)) else { return false };
        let Body::Pc(pc) = &mut machine.body else { return false };
        let Some(outside) = &mut pc.outside else { return false };
        let bytes = &self.pool.get(tag).data;
        if machine.host.serves(bytes) {
            return false;
        }
        if outside.waiting.len() < OUTSIDE_MAX {
            outside.waiting.push_back(bytes.clone());
            outside.counts.went_out += 1;
        } else {
            outside.counts.overrun += 1;
        }
        self.pool.release(tag);
        true
    }

    /// Takes a packet of the stack outside as one that the PC sends now.
    fn come_in(&mut self, room: &mut WirelessMedium, number: u16, packet: &[u8]) {
        let Some(machine) = self.machines.get_mut(usize::from(number)) else { return };
        let place = machine.place;
        let Body::Pc(pc) = &mut machine.body else { return };
        let has_room = pc.has_room(place);
        let Some(outside) = &mut pc.outside else { return };
        let to = destination(packet).filter(|to| *to != number && is_carried(packet));
        let Some(to) = to else {
            outside.counts.strange += 1;
            return;
        };
        if !has_room {
            outside.counts.no_room += 1;
            return;
        }
        outside.counts.came_in += 1;
        let tag = self.pool.put(Head::new(number, to), packet);
        self.send_pc(room, number, tag);
    }
}

/// The verbs for a PC whose IP stack is outside.
impl<W: Tap> Lab<'_, W> {
    /// Puts the IP stack of a PC outside: from now on packets to its address wait for
    /// [`take_outside`](Self::take_outside).
    pub fn put_outside(&mut self, pc: MachineId) {
        if let Some(machine) = self.medium.net.machine_mut(pc.0)
            && let Body::Pc(driver) = &mut machine.body
        {
            driver.outside = Some(OutsideStack::default());
        }
    }

    /// Adds a machine without a radio and without delays of its own at the first router, with the
    /// next number: the router itself. A PC on the wire has its forwarding between them.
    pub fn put_beside(&mut self, pc: MachineId, seed: u64) -> MachineId {
        let field = &mut self.medium.net.field;
        let number = field.machines.len();
        let of_pc = field.machines.get(usize::from(pc.0)).map(|it| (it.place, &it.body));
        let (place, router) = match of_pc {
            Some((place @ MachinePlace::Wire(_), Body::Pc(pc))) => {
                (place, pc.setup.wire.unwrap_or_default())
            }
            _ => {
                let first = field.lan.first().copied().unwrap_or_default();
                (MachinePlace::Wire(first), Wire { forward: Delay::default(), ..Wire::default() })
            }
        };
        // What the router does of a packet, on a wire that takes no time.
        let Wire { forward, gather, .. } = router;
        let wire = Wire { delay: Delay::default(), forward, gather, ..Wire::default() };
        let setup = PcSetup { turn: Delay::default(), wire: Some(wire), ..PcSetup::default() };
        let kind = MachineKind::Pc(setup);
        let machine = Machine::new(seed, number, MachineSetup { place, stack: Stack::pc(), kind });
        field.machines.push(machine);
        MachineId(number as u16)
    }

    /// Lets a packet of the stack outside begin its way from the PC now. What the lab does not carry
    /// is counted.
    pub fn come_in(&mut self, pc: MachineId, packet: &[u8]) {
        self.medium.net.field.come_in(&mut self.medium.room, pc.0, packet);
    }

    /// Takes the oldest packet for the stack outside.
    pub fn take_outside(&mut self, pc: MachineId) -> Option<Vec<u8>> {
        self.medium.net.field.outside(pc.0)?.waiting.pop_front()
    }

    /// Returns the counts of the packets between the lab and the stack outside.
    #[must_use]
    pub fn outside_counts(&self, pc: MachineId) -> OutsideCounts {
        match self.medium.net.machine(pc.0).map(|it| &it.body) {
            Some(Body::Pc(driver)) => driver.outside.as_ref().map(|it| it.counts),
            _ => None,
        }
        .unwrap_or_default()
    }
}
