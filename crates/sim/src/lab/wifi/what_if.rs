//! Changes of a lab over Wi-Fi while it runs: losses, gains, other people's load, power save; a
//! device that starts anew; a ping of a device's own.

use super::machine::{Awaits, Body, Machine, machine_at};
use super::network::Network;
use super::{Lab, MachineId};
use crate::lab::run::{RadioMedium, Tap};
use crate::net::{EchoReply, IpHost};
use alloc::vec;
use alloc::vec::Vec;
use espbench_dot11::mac::{Ppdu, WirelessMedium};
use espbench_dot11::random::{Chance, Purpose, RngStream};
use espbench_dot11::wifi::PowerSave;

/// Losses of frames beside those of the radio.
#[derive(Debug)]
pub(super) struct ExtraLoss {
    /// The chance of a frame to or from each station.
    chances: Vec<Chance>,
    random: RngStream,
}

impl ExtraLoss {
    /// Returns whether a frame that a station could read is lost all the same.
    pub(super) fn loses(&mut self, station: u32, frame: &Ppdu) -> bool {
        let chance = |at: u32| self.chances.get(at as usize).copied().unwrap_or_default();
        let (own, others) = (chance(station), chance(frame.from));
        [own, others].into_iter().any(|it| it != Chance::NEVER && it.hit(&mut self.random))
    }
}

impl Network<'_> {
    /// Lets a machine's stack begin anew, without sockets and programs.
    fn renew(&mut self, seed: u64, number: u16) {
        let Some(machine) = self.machine_mut(number) else { return };
        let Machine { host, programs, .. } = machine;
        for it in programs {
            it.app = None;
            it.then = Awaits::Done;
            // One that is being run, or waits for its packets, ends after that.
            if it.awaits != Awaits::Nothing {
                it.awaits = Awaits::Done;
            }
        }
        *host = IpHost::new(seed, host.address(), host.stack());
    }

    /// Lets an ESP send an echo request; returns whether its driver took it.
    fn ping(
        &mut self,
        room: &mut WirelessMedium,
        number: u16,
        to: [u8; 4],
        (ident, seq): (u16, u16),
        size: usize,
    ) -> bool {
        let now = room.now();
        let taken = self.field.ping(now, number, to, (ident, seq), size);
        self.run(room, number);
        taken
    }
}

/// The verbs that change a lab while it runs.
impl<W: Tap> Lab<'_, W> {
    /// Returns the station of a machine with a radio.
    #[must_use]
    pub fn station_of(&self, machine: MachineId) -> Option<u32> {
        self.medium.net.field.station(machine.0)
    }

    /// Sets the chance with which each frame to and from a station is lost beside what the radio loses:
    /// nobody acknowledges it, and it is sent again.
    pub fn set_loss(&mut self, seed: u64, station: u32, chance: f64) {
        let RadioMedium { room, net, .. } = &mut self.medium;
        let stations = room.stations() as usize;
        let extra = net.field.extra_loss.get_or_insert_with(|| ExtraLoss {
            chances: vec![Chance::NEVER; stations],
            random: RngStream::stream(seed, 0, Purpose::Loss),
        });
        if let Some(it) = extra.chances.get_mut(station as usize) {
            *it = Chance::of(chance);
        }
    }

    /// Gives all links of a station a gain in dB beside those of the room.
    pub fn set_gain(&mut self, station: u32, gain_db: f64) {
        self.medium.room.set_gain(station, gain_db);
        if let Some(watched) = &mut self.medium.net.field.watched {
            watched.watcher.gain(station, gain_db);
        }
    }

    /// Sets how a machine's station saves power from now on.
    pub fn set_sleep(&mut self, machine: MachineId, sleep: PowerSave) {
        let RadioMedium { room, net, .. } = &mut self.medium;
        if let Some(station) = net.field.station(machine.0) {
            net.wifi.set_sleep(room, station, sleep);
        }
    }

    /// Lets a machine's stack begin anew, as after a reset: its sockets and programs are gone.
    pub fn renew(&mut self, seed: u64, machine: MachineId) {
        self.medium.net.renew(seed, machine.0);
    }

    /// Lets an ESP send an ICMP echo request with so many bytes; returns whether its driver took it.
    pub fn send_echo(
        &mut self,
        machine: MachineId,
        to: [u8; 4],
        number: (u16, u16),
        size: usize,
    ) -> bool {
        let RadioMedium { room, net, .. } = &mut self.medium;
        net.ping(room, machine.0, to, number, size)
    }

    /// Takes the next echo reply that a machine has got.
    pub fn take_echo_reply(&mut self, machine: MachineId) -> Option<EchoReply> {
        self.medium.net.machine_mut(machine.0)?.host.take_echo_reply()
    }

    /// Takes what the programs of a machine have printed.
    pub fn take_printed(&mut self, machine: MachineId) -> Vec<u8> {
        let machine = self.medium.net.machine_mut(machine.0);
        machine.map(|it| core::mem::take(&mut it.told.printed)).unwrap_or_default()
    }

    /// Returns the heap of an ESP that is free now.
    pub fn free_heap(&mut self, machine: MachineId) -> Option<u32> {
        let machine = self.medium.net.machine_mut(machine.0)?;
        let stack = machine.host.heap();
        match &mut machine.body {
            Body::Esp(esp) => Some(esp.free(stack)),
            Body::Pc(_) => None,
        }
    }

    /// Returns the machine that has an address.
    #[must_use]
    pub fn machine_at(&self, address: [u8; 4]) -> Option<MachineId> {
        let number = machine_at(address)?;
        self.medium.net.machine(number).map(|_| MachineId(number))
    }
}
