//! Work of an ESP's tasks.

use super::class::classify;
use super::cpu::CpuTask;
use super::field::Field;
use super::machine::{Awaits, Body, Esp, Machine, TaskJob};
use super::network::Network;
use super::packet::Pool;
use super::program::{Space, step};
use crate::lab::pool::Handle;
use crate::lab::profile::IpCosts;
use crate::net::HeapStats;
use alloc::vec::Vec;
use espbench_dot11::mac::{Ppdu, WirelessMedium};
use espbench_model::sample::Cause;
use espbench_model::time::Instant;

/// Octets of a full IP packet.
const FULL: u32 = 1500;
/// A frame that is dropped for want of a buffer costs this part of what one costs that is not: an
/// assumption.
pub(in crate::lab) const DROPPED: u64 = 4;
/// No program.
const NOBODY: u16 = u16::MAX;
/// Shortest time that a call or a timer takes of an ESP, in nanoseconds: with none, time would
/// stand still where a profile costs nothing.
pub(in crate::lab) const LEAST: u64 = 500;

impl Esp {
    /// Returns the TX buffers that are free, and the heap for them.
    pub(super) fn space(&mut self, stack: HeapStats) -> Space {
        Space {
            buffers: usize::from(self.setup.limits.tx.saturating_sub(self.tx)),
            heap: self.free(stack),
            each: self.setup.heap.tx + FULL,
        }
    }

    /// Returns the most dynamic RX buffers, where their number is limited.
    fn dynamic_rx(&self) -> Option<usize> {
        let most = usize::from(self.setup.limits.dynamic_rx);
        (most > 0 && !self.setup.rx_in_place).then_some(most)
    }

    /// Returns the heap that a received packet takes while it waits for lwIP's task, in bytes.
    const fn rx_heap(&self, bytes: u32) -> u32 {
        self.setup.heap.dynamic_rx + if self.setup.rx_in_place { 0 } else { bytes }
    }

    /// Counts a packet that goes up, and returns what it takes longer where the driver has run out of buffers before it.
    fn refill_ns(&mut self, bytes: u32) -> u64 {
        self.since_refill = self.since_refill.saturating_add(1);
        if !core::mem::take(&mut self.ran_out) {
            return 0;
        }
        self.since_refill = 0;
        self.costs.refill.ns(bytes)
    }

    /// Takes TX buffers for these packets.
    fn hold(&mut self, pool: &Pool, tags: &[Handle]) {
        self.tx += tags.len() as u16;
        for &tag in tags {
            self.buffered += self.setup.heap.tx + pool.get(tag).data.len() as u32;
        }
    }

    /// Frees the TX buffer of a packet.
    fn let_go(&mut self, bytes: u32) {
        self.tx -= 1;
        self.buffered -= self.setup.heap.tx + bytes;
    }

    /// Sends packets of its own down: as a message to lwIP's task; or as part of the work that this
    /// task has just done, before it looks at its mailbox again.
    fn send(&mut self, now: u64, pool: &Pool, out: &mut Vec<Handle>, program: u16) {
        let inline = program == NOBODY || self.setup.in_lwip;
        let cost = |costs: &IpCosts, tag| {
            let packet = &pool.get(tag).data;
            classify(packet).send_ns(costs, packet.len() as u32)
        };
        if inline {
            for tag in out.drain(..).rev() {
                let cost = cost(&self.costs, tag);
                self.cpu.push_first(now, CpuTask::Tcpip, TaskJob::Send(tag, program), cost);
            }
            return;
        }
        for tag in out.drain(..) {
            let cost = cost(&self.costs, tag);
            self.cpu.push(now, CpuTask::Tcpip, TaskJob::Send(tag, program), cost);
        }
    }

    /// Queues work of a program: in its own task, or as a part of the work that lwIP's task has
    /// just done. There a program's next turn comes after what others have begun.
    fn push_program(&mut self, now: u64, job: TaskJob, cost: u64) {
        let is_of_program = |it| match it {
            TaskJob::Run(_) | TaskJob::Spent(_) => true,
            TaskJob::Send(_, program) => program != NOBODY,
            _ => false,
        };
        if !self.setup.in_lwip {
            self.cpu.push(now, CpuTask::App, job, cost);
        } else if matches!(job, TaskJob::Run(_)) && self.cpu.waits(CpuTask::Tcpip, is_of_program) {
            self.cpu.push(now, CpuTask::Tcpip, job, cost);
        } else {
            self.cpu.push_first(now, CpuTask::Tcpip, job, cost);
        }
    }
}

impl Network<'_> {
    /// Runs an ESP's tasks until nothing more is due now.
    pub(super) fn run_esp(&mut self, room: &mut WirelessMedium, number: u16) {
        let now = room.now();
        loop {
            let field = &mut self.field;
            let machine = &mut field.machines[usize::from(number)];
            let timer = machine.host.wait().is_some_and(|at| at <= now);
            let due = machine.due(now);
            let Body::Esp(esp) = &mut machine.body else { return };
            if timer && !esp.timer {
                esp.timer = true;
                esp.cpu.push(now.as_nanos(), CpuTask::Tcpip, TaskJob::Timer, LEAST);
            }
            if let Some(program) = due {
                let it = &mut machine.programs[program];
                let late = if let Awaits::Spin(_, late) = it.awaits { late } else { 0 };
                it.awaits = Awaits::Nothing;
                esp.push_program(now.as_nanos(), TaskJob::Run(program as u16), late);
            }
            match esp.cpu.done(now.as_nanos()) {
                Some(job) => self.work(room, number, job),
                None if due.is_none() => return,
                None => {}
            }
        }
    }

    /// Ends a piece of an ESP's work.
    fn work(&mut self, room: &mut WirelessMedium, number: u16, job: TaskJob) {
        let now = room.now();
        match job {
            TaskJob::Taken => self.field.worked_off(now, number),
            TaskJob::Receive(tag) => {
                let bytes = self.field.pool.get(tag).data.len() as u32;
                if let Some(esp) = self.field.esp(number) {
                    esp.mailbox -= 1;
                    esp.buffered -= esp.rx_heap(bytes);
                }
                self.field.receive(now, number, tag);
                self.field.flush_esp(now, number);
            }
            TaskJob::Timer => {
                if let Some(esp) = self.field.esp(number) {
                    esp.timer = false;
                }
                self.field.poll(now, number);
                self.field.flush_esp(now, number);
            }
            TaskJob::Send(tag, program) => {
                let bytes = self.field.pool.get(tag).data.len() as u32;
                if let Some(esp) = self.field.esp(number) {
                    let cost = esp.costs.wifi_start.ns(bytes) + esp.costs.wifi_cipher.ns(bytes);
                    esp.cpu.push(now.as_nanos(), CpuTask::Wifi, TaskJob::Start(tag), cost);
                }
                if program != NOBODY {
                    self.field.returned(number, program);
                }
            }
            TaskJob::Start(tag) => self.launch(room, number, tag),
            TaskJob::Sent(bytes) => {
                // lwIP is not told that there is room again.
                if let Some(esp) = self.field.esp(number) {
                    esp.let_go(bytes);
                }
            }
            TaskJob::Run(program) => self.field.step_esp(now, number, program),
            TaskJob::Spent(program) => self.field.spent(now, number, program),
            TaskJob::Answer(request) => self.answer_esp_now(room, request),
            TaskJob::Computed => {}
        }
    }

    /// Hands a packet of an ESP to the hardware.
    fn launch(&mut self, room: &mut WirelessMedium, number: u16, tag: Handle) {
        let field = &self.field;
        let station = field.hop(number);
        // Only an access point's MAC needs to know for whom it is.
        let to = field.hop(field.pool.get(tag).head.to);
        let bytes = field.pool.get(tag).data.len() as u32;
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
    /// Returns whether the hardware of an ESP has a buffer for a frame; if so, the frame takes it.
    pub(super) fn takes(&mut self, now: u64, number: u16, frame: &Ppdu) -> bool {
        let Some(machine) = self.machines.get_mut(usize::from(number)) else { return true };
        let held = machine.host.held();
        let Body::Esp(esp) = &mut machine.body else { return true };
        // Where it stays in place, it has its buffer until the program has taken it.
        let above = usize::from(esp.mailbox) + held;
        let in_place = if esp.setup.rx_in_place { above } else { 0 };
        if usize::from(esp.static_rx) + in_place >= usize::from(esp.setup.limits.static_rx) {
            machine.drops.static_rx += 1;
            return false;
        }
        esp.static_rx += 1;
        esp.taken += 1;
        // What stays in place is not copied.
        let copied = if esp.setup.rx_in_place { 0 } else { frame.octets };
        let cost = esp.costs.wifi_receive.ns(copied) + esp.costs.wifi_cipher.ns(frame.octets);
        // What no dynamic buffer is free for is neither copied nor handed on.
        let waiting = above + (esp.taken - esp.worked_off) as usize;
        let dropped = esp.dynamic_rx().is_some_and(|most| waiting > most);
        let cost = if dropped { esp.costs.wifi_receive.fixed_ns / DROPPED } else { cost };
        esp.cpu.push(now, CpuTask::Wifi, TaskJob::Taken, cost);
        true
    }

    fn esp(&mut self, number: u16) -> Option<&mut Esp> {
        match &mut self.machines.get_mut(usize::from(number))?.body {
            Body::Esp(esp) => Some(esp),
            Body::Pc(_) => None,
        }
    }

    /// Hands the packets that an ESP's stack has sent to lwIP's task.
    pub(super) fn flush_esp(&mut self, now: Instant, number: u16) {
        let mut out = core::mem::take(&mut self.out);
        let Self { machines, pool, .. } = self;
        if let Some(Machine { body: Body::Esp(esp), host, .. }) =
            machines.get_mut(usize::from(number))
        {
            esp.hold(pool, &out);
            esp.free(host.heap());
            esp.send(now.as_nanos(), pool, &mut out, NOBODY);
        }
        self.out = out;
    }

    /// Frees the static RX buffer of a frame that the Wi-Fi task has taken out, and sends up the
    /// frames that are in order.
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
                self.pool.release(tag);
                self.lose(now, self.station(number), cause);
            }
        }
    }

    /// Sends a packet up to lwIP's task; returns why it is lost, if it is.
    fn goes_up(&mut self, now: Instant, number: u16, tag: Handle) -> Option<Cause> {
        let Self { machines, pool, .. } = self;
        let machine = machines.get_mut(usize::from(number))?;
        let (held, stack) = (machine.host.held(), machine.host.heap());
        let Body::Esp(esp) = &mut machine.body else { return None };
        let limits = &esp.setup.limits;
        if esp.dynamic_rx().is_some_and(|most| usize::from(esp.mailbox) + held >= most) {
            machine.drops.dynamic_rx += 1;
            esp.ran_out |= esp.since_refill >= limits.dynamic_rx;
            return Some(Cause::ReceiveBuffers);
        }
        if esp.mailbox >= limits.tcpip_mailbox {
            machine.drops.tcpip_mailbox += 1;
            return Some(Cause::Mailbox);
        }
        let packet = &pool.get(tag).data;
        let takes = esp.rx_heap(packet.len() as u32);
        if esp.free(stack) < takes {
            machine.drops.heap_rx += 1;
            return Some(Cause::ReceiveBuffers);
        }
        esp.mailbox += 1;
        esp.buffered += takes;
        esp.free(stack);
        let bytes = packet.len() as u32;
        let cost = classify(packet).receive_ns(&esp.costs, bytes) + esp.refill_ns(bytes);
        esp.cpu.push(now.as_nanos(), CpuTask::Tcpip, TaskJob::Receive(tag), cost);
        None
    }

    /// Gives the processor of an ESP to a program.
    fn step_esp(&mut self, now: Instant, number: u16, program: u16) {
        let Self { machines, pool, .. } = self;
        let Some(machine) = machines.get_mut(usize::from(number)) else { return };
        let stack = machine.host.heap();
        let Body::Esp(esp) = &mut machine.body else { return };
        let space = esp.space(stack);
        let spent = step(machine, pool, now, number, program, space);
        let stack = machine.host.heap();
        let Body::Esp(esp) = &mut machine.body else { return };
        esp.hold(pool, &machine.programs[usize::from(program)].out);
        esp.free(stack);
        esp.push_program(now.as_nanos(), TaskJob::Spent(program), spent.max(LEAST));
    }

    /// Ends the time that a program has spent: its packets go on, and it waits for that.
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

    /// Counts a thing that lwIP's task has done, of those that a program waits for in its call.
    fn returned(&mut self, number: u16, program: u16) {
        let Some(machine) = self.machines.get_mut(usize::from(number)) else { return };
        let it = &mut machine.programs[usize::from(program)];
        it.pending -= 1;
        if it.pending == 0 {
            it.awaits = it.then;
        }
    }
}
