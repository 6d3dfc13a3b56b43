//! Events in a machine's IP stack.

use super::cpu::CpuTask;
use super::field::Field;
use super::machine::{Body, Machine, TaskJob};
use super::packet::Pool;
use super::program::{Outbox, Space};
use crate::lab::pool::Handle;
use alloc::vec::Vec;
use espbench_dot11::mac::WirelessMedium;
use espbench_model::sample::Cause;
use espbench_model::time::Instant;

/// Calls `act` on a machine's IP stack; packets that the stack sends are left in `out`.
fn with_host(
    pool: &mut Pool,
    machine: &mut Machine<'_>,
    number: u16,
    out: &mut Vec<Handle>,
    act: impl FnOnce(&mut crate::net::IpHost, &mut Outbox<'_>),
) {
    let stack = machine.host.heap();
    let space = match &mut machine.body {
        Body::Esp(esp) => esp.space(stack),
        Body::Pc(pc) => Space::buffers(usize::from(pc.setup.queue).saturating_sub(pc.queued)),
    };
    let mut outbox = Outbox { pool, from: number, space, out };
    act(&mut machine.host, &mut outbox);
}

impl Field<'_> {
    /// Hands a packet to the IP stack of a machine.
    pub(super) fn receive(&mut self, now: Instant, number: u16, tag: Handle) {
        let bytes = self.pool.lend(tag);
        let mut out = core::mem::take(&mut self.out);
        let mut full = false;
        if let Some(machine) = self.machines.get_mut(usize::from(number)) {
            let before = machine.host.counters().udp_mailbox_full;
            with_host(&mut self.pool, machine, number, &mut out, |host, lower| {
                host.receive(now, &bytes, lower);
            });
            full = machine.host.counters().udp_mailbox_full > before;
        }
        if full {
            self.lose(now, self.station(number), Cause::Mailbox);
        }
        self.out = out;
        self.pool.take_back(tag, bytes);
        self.pool.release(tag);
    }

    /// Lets the IP stack of an ESP send an echo request; returns whether the driver took it.
    pub(super) fn ping(
        &mut self,
        now: Instant,
        number: u16,
        to: [u8; 4],
        (ident, seq): (u16, u16),
        size: usize,
    ) -> bool {
        let mut out = core::mem::take(&mut self.out);
        let mut taken = false;
        if let Some(machine) = self.machines.get_mut(usize::from(number)) {
            with_host(&mut self.pool, machine, number, &mut out, |host, lower| {
                taken = host.send_echo(to, (ident, seq), size, lower);
            });
        }
        self.out = out;
        self.flush_esp(now, number);
        taken
    }

    /// Lets the IP stack of a machine go on.
    pub(super) fn poll(&mut self, now: Instant, number: u16) {
        let mut out = core::mem::take(&mut self.out);
        if let Some(machine) = self.machines.get_mut(usize::from(number)) {
            with_host(&mut self.pool, machine, number, &mut out, |host, lower| {
                host.poll(now, lower);
            });
        }
        self.out = out;
    }

    /// Notes that a packet of a machine's own has ended.
    pub(super) fn sent_own(
        &mut self,
        room: &mut WirelessMedium,
        number: u16,
        bytes: u32,
        lost: bool,
    ) {
        let now = room.now();
        let Some(machine) = self.machines.get_mut(usize::from(number)) else { return };
        machine.drops.lost += u64::from(lost);
        match &mut machine.body {
            Body::Esp(esp) => {
                let cost = esp.costs.wifi_sent.ns(0);
                esp.cpu.push(now.as_nanos(), CpuTask::Wifi, TaskJob::Sent(bytes), cost);
                self.arm(room, number);
            }
            Body::Pc(_) => self.left_pc(room, number),
        }
    }
}
