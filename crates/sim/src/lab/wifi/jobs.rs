//! What the tasks of an ESP do, and a PC.

use super::cpu::Task;
use super::machine::{Awaits, Body, Esp, Job, Machine, Pc};
use super::pool::Pool;
use super::program::{Outbox, step};
use super::setup::Place;
use super::stage::{Carried, Field, Stage};
use crate::lab::net_scene::Delay;
use crate::lab::profile::IpCosts;
use crate::mac::{OnAir, Room};
use alloc::vec::Vec;
use core::time::Duration;
use espbench_proto::sample::Cause;
use espbench_proto::time::Instant;

/// Octets of a full IP packet.
const FULL: u32 = 1500;
/// A frame that is dropped for want of a buffer costs this part of what one costs that is not: an
/// assumption.
const DROPPED: u64 = 4;
/// No program.
const NOBODY: u16 = u16::MAX;

/// What kind of packet, as far as it decides what it costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Udp,
    Tcp,
    /// TCP without data.
    Ack,
}

/// The kind of an IPv4 packet: RFC 791 section 3.1, RFC 9293 section 3.1.
fn classify(packet: &[u8]) -> Class {
    let byte = |at: usize| packet.get(at).copied().map_or(0, usize::from);
    if byte(9) != 6 {
        return Class::Udp;
    }
    let ip = (byte(0) & 0xF) * 4;
    let tcp = (byte(ip + 12) >> 4) * 4;
    let total = byte(2) << 8 | byte(3);
    if total > ip + tcp { Class::Tcp } else { Class::Ack }
}

impl Class {
    const fn receive_ns(self, costs: &IpCosts, bytes: u32) -> u64 {
        match self {
            Self::Udp => costs.udp_receive.ns(bytes),
            Self::Tcp => costs.tcp_receive.ns(bytes),
            Self::Ack => costs.ack_receive.ns(bytes),
        }
    }

    const fn send_ns(self, costs: &IpCosts, bytes: u32) -> u64 {
        costs.wifi_send.ns(bytes)
            + match self {
                Self::Udp => costs.udp_send.ns(bytes),
                Self::Tcp => costs.tcp_send.ns(bytes),
                Self::Ack => costs.ack_send.ns(bytes),
            }
    }
}

impl Esp {
    /// The task that programs run in.
    const fn programs_task(&self) -> Task {
        if self.setup.in_lwip { Task::Tcpip } else { Task::App }
    }

    /// TX buffers that are free and that the heap has room for, with a full packet in each.
    pub(super) fn room(&mut self, stack: u32) -> usize {
        let buffers = usize::from(self.setup.limits.tx.saturating_sub(self.tx));
        let heap = self.setup.heap;
        let free = heap.free.saturating_sub(self.heap(stack));
        buffers.min((free / (heap.tx + FULL)) as usize)
    }

    /// Packets take TX buffers.
    fn hold(&mut self, pool: &Pool, tags: &[u32]) {
        self.tx += tags.len() as u16;
        for &tag in tags {
            self.buffered += self.setup.heap.tx + pool.bytes(tag).len() as u32;
        }
    }

    /// A packet's TX buffer is free.
    fn let_go(&mut self, bytes: u32) {
        self.tx -= 1;
        self.buffered -= self.setup.heap.tx + bytes;
    }

    /// Packets of its own go down: to lwIP's task.
    fn send(&mut self, now: u64, pool: &Pool, out: &mut Vec<u32>, program: u16) {
        for tag in out.drain(..) {
            let packet = pool.bytes(tag);
            let cost = classify(packet).send_ns(&self.costs, packet.len() as u32);
            self.cpu.push(now, Task::Tcpip, Job::Send(tag, program), cost);
        }
    }
}

impl Pc {
    fn draw(&mut self, delay: Delay) -> Duration {
        let mean = delay.random.as_nanos() as f64;
        if mean <= 0.0 {
            return delay.fixed;
        }
        // From 2^-53 to 1: its logarithm is finite.
        let uniform = ((self.random.bits() >> 11) + 1) as f64 / 9_007_199_254_740_992.0;
        delay.fixed + Duration::from_nanos((-libm::log(uniform) * mean) as u64)
    }

    /// How long so many bytes take on its wire, with the router's own work.
    fn wire(&mut self, bytes: usize) -> Duration {
        let Some(wire) = self.setup.wire else { return Duration::ZERO };
        let sending = bytes as u64 * 8_000_000_000 / wire.bits.max(1);
        self.draw(wire.delay) + wire.forward.fixed + Duration::from_nanos(sending)
    }

    /// How long a packet waits in the router for its turn on the air, beside its own others.
    fn queue(&mut self) -> Duration {
        let Some(wire) = self.setup.wire else { return Duration::ZERO };
        self.draw(Delay { fixed: Duration::ZERO, ..wire.forward })
    }

    /// When what arrives at its end of the air now reaches a program. Packets do not overtake.
    pub(super) fn way_in(&mut self, now: Instant, bytes: usize) -> Instant {
        let at = now + self.wire(bytes) + self.draw(self.setup.turn);
        self.last_in = self.last_in.max(at);
        self.last_in
    }

    /// When what a program sends now reaches the air's end of its wire, or its radio's queue.
    fn way_out(&mut self, now: Instant, bytes: usize) -> Instant {
        let at = now + self.draw(self.setup.turn) + self.wire(bytes) + self.queue();
        self.last_out = self.last_out.max(at);
        self.last_out
    }
}

/// Something happens in a machine's IP stack; what it sends is left in the list.
fn with_host(
    pool: &mut Pool,
    machine: &mut Machine<'_>,
    number: u16,
    out: &mut Vec<u32>,
    act: impl FnOnce(&mut crate::net::Host, &mut Outbox<'_>),
) {
    let stack = machine.host.heap().now;
    let room = match &mut machine.body {
        Body::Esp(esp) => esp.room(stack),
        Body::Pc(pc) => usize::from(pc.setup.queue).saturating_sub(pc.queued),
    };
    let mut outbox = Outbox { pool, from: number, room, out };
    act(&mut machine.host, &mut outbox);
}

impl Field<'_> {
    /// Whether the hardware of an ESP has a buffer for a frame; it takes it, then.
    pub(super) fn takes(&mut self, now: u64, number: u16, frame: &OnAir) -> bool {
        let Some(machine) = self.machines.get_mut(usize::from(number)) else { return true };
        let held = machine.host.held();
        let Body::Esp(esp) = &mut machine.body else { return true };
        if esp.static_rx >= esp.setup.limits.static_rx {
            machine.drops.static_rx += 1;
            return false;
        }
        esp.static_rx += 1;
        esp.taken += 1;
        let cost = esp.costs.wifi_receive.ns(frame.octets) + esp.costs.wifi_cipher.ns(frame.octets);
        // What no dynamic buffer is free for is neither copied nor handed on.
        let waiting = usize::from(esp.mailbox) + (esp.taken - esp.worked_off) as usize;
        let most = usize::from(esp.setup.limits.dynamic_rx);
        let dropped = most > 0 && waiting + held > most;
        let cost = if dropped { esp.costs.wifi_receive.fixed_ns / DROPPED } else { cost };
        esp.cpu.push(now, Task::Wifi, Job::Taken, cost);
        true
    }

    /// A packet reaches the IP stack of a machine.
    pub(super) fn receive(&mut self, now: Instant, number: u16, tag: u32) {
        let bytes = self.pool.take(tag);
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
        self.pool.give_back(tag, bytes);
        self.pool.forget(tag);
    }

    /// The IP stack of a machine goes on.
    fn poll(&mut self, now: Instant, number: u16) {
        let mut out = core::mem::take(&mut self.out);
        if let Some(machine) = self.machines.get_mut(usize::from(number)) {
            with_host(&mut self.pool, machine, number, &mut out, |host, lower| {
                host.poll(now, lower);
            });
        }
        self.out = out;
    }

    /// A packet of a machine's own has ended.
    pub(super) fn sent_own(&mut self, room: &mut Room, number: u16, bytes: u32, lost: bool) {
        let now = room.now();
        let Some(machine) = self.machines.get_mut(usize::from(number)) else { return };
        machine.drops.lost += u64::from(lost);
        match &mut machine.body {
            Body::Esp(esp) => {
                let cost = esp.costs.wifi_sent.ns(0);
                esp.cpu.push(now.as_nanos(), Task::Wifi, Job::Sent(bytes), cost);
                self.arm(room, number);
            }
            Body::Pc(pc) => {
                pc.queued -= 1;
                self.poll(now, number);
                self.flush_pc(room, number);
                self.arm(room, number);
            }
        }
    }

    /// What a PC's stack has sent goes on its way.
    fn flush_pc(&mut self, room: &mut Room, number: u16) {
        let mut out = core::mem::take(&mut self.out);
        for tag in out.drain(..) {
            self.send_pc(room, number, tag);
        }
        self.out = out;
    }

    fn send_pc(&mut self, room: &mut Room, number: u16, tag: u32) {
        let bytes = self.pool.bytes(tag).len();
        let machine = &mut self.machines[usize::from(number)];
        let place = machine.place;
        let Body::Pc(pc) = &mut machine.body else { return };
        let at = pc.way_out(room.now(), bytes);
        match place {
            Place::Air(station) => {
                pc.queued += 1;
                self.post(room, at, Carried::Air { station, tag });
            }
            Place::Wire(ap) => {
                let to = self.pool.head(tag).to;
                if self.hop(to).is_some() {
                    self.post(room, at, Carried::AccessPoint { ap, tag });
                } else {
                    // Another one on the wire, or nobody.
                    match self.machines.get_mut(usize::from(to)).map(|it| &mut it.body) {
                        Some(Body::Pc(_)) => self.post(room, at, Carried::Pc { machine: to, tag }),
                        _ => self.pool.forget(tag),
                    }
                }
            }
        }
    }

    /// A PC's programs and its stack do all that they can do now.
    pub(super) fn run_pc(&mut self, room: &mut Room, number: u16) {
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
            step(machine, &mut self.pool, now, number, program as u16, space);
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

/// What a call or a timer takes of an ESP at least, in nanoseconds: without that, time would stand
/// still where a profile costs nothing.
const LEAST: u64 = 500;
/// How long a PC's program takes for a call.
const CALL: Duration = Duration::from_nanos(500);

impl Stage<'_> {
    /// An ESP's tasks do all that is due now.
    pub(super) fn run_esp(&mut self, room: &mut Room, number: u16) {
        let now = room.now();
        loop {
            let field = &mut self.field;
            let machine = &mut field.machines[usize::from(number)];
            let timer = machine.host.wait().is_some_and(|at| at <= now);
            let due = machine.due(now);
            let Body::Esp(esp) = &mut machine.body else { return };
            if timer && !esp.timer {
                esp.timer = true;
                esp.cpu.push(now.as_nanos(), Task::Tcpip, Job::Timer, LEAST);
            }
            if let Some(program) = due {
                let it = &mut machine.programs[program];
                let late = if let Awaits::Spin(_, late) = it.awaits { late } else { 0 };
                it.awaits = Awaits::Nothing;
                esp.cpu.push(now.as_nanos(), esp.programs_task(), Job::Run(program as u16), late);
            }
            match esp.cpu.done(now.as_nanos()) {
                Some(job) => self.work(room, number, job),
                None if due.is_none() => return,
                None => {}
            }
        }
    }

    /// A piece of an ESP's work is done.
    fn work(&mut self, room: &mut Room, number: u16, job: Job) {
        let now = room.now();
        match job {
            Job::Taken => self.field.worked_off(now, number),
            Job::Receive(tag) => {
                let bytes = self.field.pool.bytes(tag).len() as u32;
                if let Some(esp) = self.field.esp(number) {
                    esp.mailbox -= 1;
                    esp.buffered -= esp.setup.heap.dynamic_rx + bytes;
                }
                self.field.receive(now, number, tag);
                self.field.flush_esp(now, number);
            }
            Job::Timer => {
                if let Some(esp) = self.field.esp(number) {
                    esp.timer = false;
                }
                self.field.poll(now, number);
                self.field.flush_esp(now, number);
            }
            Job::Send(tag, program) => {
                let bytes = self.field.pool.bytes(tag).len() as u32;
                if let Some(esp) = self.field.esp(number) {
                    let cost = esp.costs.wifi_start.ns(bytes) + esp.costs.wifi_cipher.ns(bytes);
                    esp.cpu.push(now.as_nanos(), Task::Wifi, Job::Start(tag), cost);
                }
                if program != NOBODY {
                    self.field.returned(number, program);
                }
            }
            Job::Start(tag) => self.launch(room, number, tag),
            Job::Sent(bytes) => {
                if let Some(esp) = self.field.esp(number) {
                    esp.let_go(bytes);
                }
                self.field.poll(now, number);
                self.field.flush_esp(now, number);
            }
            Job::Run(program) => self.field.step_esp(now, number, program),
            Job::Spent(program) => self.field.spent(now, number, program),
        }
    }

    /// A packet of an ESP goes to the hardware.
    fn launch(&mut self, room: &mut Room, number: u16, tag: u32) {
        let field = &self.field;
        let station = field.hop(number);
        // Only an access point's MAC needs to know for whom it is.
        let to = field.hop(field.pool.head(tag).to);
        let bytes = field.pool.bytes(tag).len() as u32;
        let (Some(station), to) = (station, to.unwrap_or(0)) else { return };
        if !self.send(room, station, to, tag)
            && let Some(machine) = self.machine_mut(number)
        {
            machine.drops.not_sent += 1;
            if let Body::Esp(esp) = &mut machine.body {
                esp.let_go(bytes);
            }
        }
    }
}

impl Field<'_> {
    fn esp(&mut self, number: u16) -> Option<&mut Esp> {
        match &mut self.machines.get_mut(usize::from(number))?.body {
            Body::Esp(esp) => Some(esp),
            Body::Pc(_) => None,
        }
    }

    /// What an ESP's stack has sent goes to lwIP's task.
    fn flush_esp(&mut self, now: Instant, number: u16) {
        let mut out = core::mem::take(&mut self.out);
        let Self { machines, pool, .. } = self;
        if let Some(Body::Esp(esp)) = machines.get_mut(usize::from(number)).map(|it| &mut it.body) {
            esp.hold(pool, &out);
            esp.send(now.as_nanos(), pool, &mut out, NOBODY);
        }
        self.out = out;
    }

    /// The Wi-Fi task has taken a frame out of its static RX buffer: what is in order goes up.
    fn worked_off(&mut self, now: Instant, number: u16) {
        let Some(esp) = self.esp(number) else { return };
        esp.static_rx -= 1;
        esp.worked_off += 1;
        while let Some(esp) = self.esp(number)
            && let Some(&(after, tag)) = esp.arrived.front()
            && after <= esp.worked_off
        {
            esp.arrived.pop_front();
            if let Some(cause) = self.goes_up(now, number, tag) {
                self.pool.forget(tag);
                self.lose(now, self.station(number), cause);
            }
        }
    }

    /// A packet goes up to lwIP's task; why it does not.
    fn goes_up(&mut self, now: Instant, number: u16, tag: u32) -> Option<Cause> {
        let Self { machines, pool, .. } = self;
        let machine = machines.get_mut(usize::from(number))?;
        let (held, stack) = (machine.host.held(), machine.host.heap().now);
        let Body::Esp(esp) = &mut machine.body else { return None };
        let limits = &esp.setup.limits;
        let most = usize::from(limits.dynamic_rx);
        if most > 0 && usize::from(esp.mailbox) + held >= most {
            machine.drops.dynamic_rx += 1;
            return Some(Cause::ReceiveBuffers);
        }
        if esp.mailbox >= limits.tcpip_mailbox {
            machine.drops.tcpip_mailbox += 1;
            return Some(Cause::Mailbox);
        }
        if esp.heap(stack) > esp.setup.heap.free {
            machine.drops.heap_rx += 1;
            return Some(Cause::ReceiveBuffers);
        }
        esp.mailbox += 1;
        let packet = pool.bytes(tag);
        esp.buffered += esp.setup.heap.dynamic_rx + packet.len() as u32;
        let cost = classify(packet).receive_ns(&esp.costs, packet.len() as u32);
        esp.cpu.push(now.as_nanos(), Task::Tcpip, Job::Receive(tag), cost);
        None
    }

    /// A program of an ESP has the processor.
    fn step_esp(&mut self, now: Instant, number: u16, program: u16) {
        let Self { machines, pool, .. } = self;
        let Some(machine) = machines.get_mut(usize::from(number)) else { return };
        let stack = machine.host.heap().now;
        let Body::Esp(esp) = &mut machine.body else { return };
        let room = esp.room(stack);
        let spent = step(machine, pool, now, number, program, room);
        let Body::Esp(esp) = &mut machine.body else { return };
        esp.hold(pool, &machine.programs[usize::from(program)].out);
        esp.cpu.push(now.as_nanos(), esp.programs_task(), Job::Spent(program), spent.max(LEAST));
    }

    /// The time is over that a program has spent: what it sends goes on, and it waits for that.
    fn spent(&mut self, now: Instant, number: u16, program: u16) {
        let Self { machines, pool, .. } = self;
        let Some(machine) = machines.get_mut(usize::from(number)) else { return };
        let it = &mut machine.programs[usize::from(program)];
        let Body::Esp(esp) = &mut machine.body else { return };
        it.pending = it.out.len() as u16;
        esp.send(now.as_nanos(), pool, &mut it.out, program);
        if it.pending == 0 {
            it.awaits = it.then;
        }
    }

    /// lwIP's task has done one of the things that a program waits for in its call.
    fn returned(&mut self, number: u16, program: u16) {
        let Some(machine) = self.machines.get_mut(usize::from(number)) else { return };
        let it = &mut machine.programs[usize::from(program)];
        it.pending -= 1;
        if it.pending == 0 {
            it.awaits = it.then;
        }
    }
}
