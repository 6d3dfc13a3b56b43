//! Work of a PC: its programs, its driver, and the wire.

use super::field::{Carried, Field};
use super::machine::{Awaits, Body, Machine, PcDriver};
use super::program::{Space, step};
use super::setup::MachinePlace;
use crate::lab::pool::Handle;
use crate::lab::scene::Delay;
use core::time::Duration;
use espbench_dot11::mac::{GROUP, WirelessMedium};
use espbench_model::time::Instant;

/// Time that a PC's program takes for a call.
pub(in crate::lab) const CALL: Duration = Duration::from_nanos(500);

/// Time for which a PC's network adapter holds an interrupt back (Linux, Documentation/networking, e1000e:
/// `InterruptThrottleRate`, 20,000 a second).
pub(in crate::lab) const INTERRUPT: Duration = Duration::from_micros(50);

impl PcDriver {
    fn draw(&mut self, delay: Delay) -> Duration {
        let mean = delay.random.as_nanos() as f64;
        if mean <= 0.0 {
            return delay.fixed;
        }
        delay.fixed + Duration::from_nanos((self.random.exponential() * mean) as u64)
    }

    /// Returns the time of so many bytes on its wire, with the router's own work.
    fn wire(&mut self, bytes: usize) -> Duration {
        let Some(wire) = self.setup.wire else { return Duration::ZERO };
        let sending = bytes as u64 * 8_000_000_000 / wire.bits.max(1);
        self.draw(wire.delay) + wire.forward.fixed + Duration::from_nanos(sending)
    }

    /// Returns the time that a packet waits in the router for its turn on the air, beside its own
    /// others.
    fn queue(&mut self) -> Duration {
        let Some(wire) = self.setup.wire else { return Duration::ZERO };
        self.draw(Delay { fixed: Duration::ZERO, ..wire.forward })
    }

    /// Returns when a packet that reaches its end of the air now will reach a program. Packets do
    /// not overtake one another.
    pub(super) fn way_in(&mut self, now: Instant, bytes: usize) -> Instant {
        let at = now + self.wire(bytes) + self.draw(self.setup.turn);
        self.last_in = self.last_in.max(at);
        self.last_in
    }

    /// Keeps a packet from the air with those that the router gathers; returns when it hands them on, if no further one
    /// comes. `None` where it gathers none.
    pub(super) fn gather(&mut self, now: Instant, tag: Handle) -> Option<Instant> {
        let gather = self.setup.wire?.gather;
        if gather.after == Duration::ZERO {
            return None;
        }
        self.gathered.push(tag);
        self.gathered_ever = self.gathered_ever.wrapping_add(1);
        let is_full = self.gathered.len() >= usize::from(gather.most);
        Some(if is_full { now } else { now + gather.after })
    }

    /// Returns when a packet that a program sends now will reach the air's end of its wire, or its
    /// radio's queue; or, where it does not go to the air, another machine on the wire.
    fn way_out(&mut self, now: Instant, bytes: usize, to_air: bool) -> Instant {
        let waits = if to_air { self.queue() } else { Duration::ZERO };
        let at = now + self.draw(self.setup.turn) + self.wire(bytes) + waits;
        self.last_out = self.last_out.max(at);
        self.last_out
    }

    /// Returns when a packet that one of its programs sends now will reach another one of its own:
    /// it waits for the scheduler, and for no wire.
    fn way_within(&mut self, now: Instant) -> Instant {
        let at = now + self.draw(self.setup.turn);
        self.last_within = self.last_within.max(at);
        self.last_within
    }
}

impl Field<'_> {
    /// Sends the packets of a PC's stack on their way.
    fn flush_pc(&mut self, room: &mut WirelessMedium, number: u16) {
        let mut out = core::mem::take(&mut self.out);
        for tag in out.drain(..) {
            self.send_pc(room, number, tag);
        }
        self.out = out;
    }

    /// Frees the place of a packet that has left a PC's driver, sent or not: the next one takes it.
    pub(super) fn left_pc(&mut self, room: &mut WirelessMedium, number: u16) {
        let Some(machine) = self.machines.get_mut(usize::from(number)) else { return };
        let Body::Pc(pc) = &mut machine.body else { return };
        pc.queued -= 1;
        if machine.host.waits_for_room() {
            self.poll(room.now(), number);
            self.flush_pc(room, number);
            self.arm(room, number);
        }
    }

    pub(super) fn send_pc(&mut self, room: &mut WirelessMedium, number: u16, tag: Handle) {
        let bytes = self.pool.get(tag).data.len();
        let to_air = self.hop(self.pool.get(tag).head.to).is_some();
        let machine = &mut self.machines[usize::from(number)];
        let place = machine.place;
        let Body::Pc(pc) = &mut machine.body else { return };
        if self.pool.get(tag).head.to == number {
            let at = pc.way_within(room.now());
            return self.post(room, at, Carried::Pc { machine: number, tag });
        }
        let at = pc.way_out(room.now(), bytes, to_air);
        match place {
            MachinePlace::Air(station) => {
                pc.queued += 1;
                self.post(room, at, Carried::Air { station, tag });
            }
            MachinePlace::Wire(ap) => {
                let to = self.pool.get(tag).head.to;
                if let Some(next) = self.hop(to) {
                    if next == GROUP {
                        self.flood(room, ap, at, tag);
                        self.flood_wire(room, number, at, tag);
                    }
                    let ap = self.serving(next).filter(|it| self.lan.contains(it)).unwrap_or(ap);
                    self.post(room, at, Carried::AccessPoint { ap, tag });
                } else {
                    // Another one on the wire, or nobody.
                    match self.machines.get_mut(usize::from(to)).map(|it| &mut it.body) {
                        Some(Body::Pc(_)) => self.post(room, at, Carried::Pc { machine: to, tag }),
                        _ => self.pool.release(tag),
                    }
                }
            }
        }
    }

    /// Sends copies of a group's packet to the other machines on the wire.
    fn flood_wire(&mut self, room: &mut WirelessMedium, from: u16, at: Instant, tag: Handle) {
        for machine in 0..self.machines.len() as u16 {
            let is_wired = matches!(
                self.machines[usize::from(machine)],
                Machine { place: MachinePlace::Wire(_), body: Body::Pc(_), .. }
            );
            if is_wired && machine != from {
                let tag = self.copy(tag);
                self.post(room, at, Carried::Pc { machine, tag });
            }
        }
    }

    /// Runs a PC's programs and its stack until nothing more is due now.
    pub(super) fn run_pc(&mut self, room: &mut WirelessMedium, number: u16) {
        let now = room.now();
        self.flush_pc(room, number);
        loop {
            let machine = &mut self.machines[usize::from(number)];
            if machine.host.wait().is_some_and(|at| at <= now) {
                self.poll(now, number);
                self.flush_pc(room, number);
                continue;
            }
            let Some(program) = machine.due(now) else { break };
            let Body::Pc(pc) = &machine.body else { break };
            let space = usize::from(pc.setup.queue).saturating_sub(pc.queued);
            step(machine, &mut self.pool, now, number, program as u16, Space::buffers(space));
            let it = &mut machine.programs[program];
            // A PC's calls take hardly any time, but time must go on.
            let soon = |at: Instant| if at <= now { now + CALL } else { at };
            it.awaits = match it.then {
                Awaits::Time(at) => Awaits::Time(soon(at)),
                Awaits::Change(at) | Awaits::Spin(at, _) => Awaits::Change(soon(at)),
                then => then,
            };
            core::mem::swap(&mut self.out, &mut it.out);
            self.flush_pc(room, number);
        }
    }
}
