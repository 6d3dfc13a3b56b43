//! Steps of programs, and the costs of their calls.

use super::field::destination;
use super::machine::{Awaits, Body, Keeps, Machine};
use super::packet::{Head, Pool};
use super::{MachineOutput, TrafficSums};
use crate::lab::pool::Handle;
use crate::lab::profile::IpCosts;
use crate::net::{NetDriver, ProgramEnv, ProgramId, ProgramSockets};
use alloc::vec::Vec;
use espbench_model::sample::{Interval, Link, Probe, Sample};
use espbench_model::time::Instant;
use espbench_proto::node::app::{
    Endpoint, ProgramWork, ReceivedDatagram, SocketError, SocketId, Sockets, StreamState, Wait,
};

/// Data of a full segment of ESP-IDF (`CONFIG_LWIP_TCP_MSS`).
const SEGMENT: usize = 1440;

/// Space that a driver has for packets.
#[derive(Clone, Copy)]
pub(super) struct Space {
    /// Buffers.
    pub(super) buffers: usize,
    /// Bytes of the heap, and what a full packet takes of them.
    pub(super) heap: u32,
    pub(super) each: u32,
}

impl Space {
    /// Makes a space of so many buffers, whatever they take.
    pub(super) const fn buffers(buffers: usize) -> Self {
        Self { buffers, heap: u32::MAX, each: 0 }
    }

    fn packets(&self) -> usize {
        let most = self.heap.checked_div(self.each).map_or(usize::MAX, |it| it as usize);
        self.buffers.min(most)
    }
}

/// The driver below a host, while something happens in the host: packets are taken into the pool.
pub(super) struct Outbox<'a> {
    pub(super) pool: &'a mut Pool,
    pub(super) from: u16,
    pub(super) space: Space,
    pub(super) out: &'a mut Vec<Handle>,
}

impl NetDriver for Outbox<'_> {
    fn room(&self) -> usize {
        self.space.packets()
    }

    fn heap(&self) -> u32 {
        self.space.heap
    }

    fn use_heap(&mut self, bytes: u32) {
        self.space.heap = self.space.heap.saturating_sub(bytes);
    }

    fn send(&mut self, packet: &[u8]) -> bool {
        if self.room() == 0 {
            return false;
        }
        let Some(to) = destination(packet) else { return true };
        self.space.buffers -= 1;
        self.space.heap -= self.space.each;
        self.out.push(self.pool.put(Head::new(self.from, to), packet));
        true
    }
}

/// Environment of a step beside the network, and how long the program keeps the processor.
struct StepContext<'a> {
    outbox: Outbox<'a>,
    keeps: Keeps,
    told: &'a mut MachineOutput,
    sums: &'a mut TrafficSums,
    costs: Option<&'a IpCosts>,
    uart: Option<Uart<'a>>,
    now: u64,
    spent: u64,
}

/// A console: what the FIFO has no place for, the program waits for.
struct Uart<'a> {
    until: &'a mut u64,
    byte_ns: u64,
    fifo: u64,
}

impl NetDriver for StepContext<'_> {
    fn room(&self) -> usize {
        self.outbox.room()
    }

    fn heap(&self) -> u32 {
        self.outbox.heap()
    }

    fn use_heap(&mut self, bytes: u32) {
        self.outbox.use_heap(bytes);
    }

    fn send(&mut self, packet: &[u8]) -> bool {
        self.outbox.send(packet)
    }
}

impl ProgramEnv for StepContext<'_> {
    fn spend(&mut self, work: ProgramWork) {
        let Some(costs) = self.costs else { return };
        self.spent += work_ns(costs, work);
    }

    fn print(&mut self, text: &[u8]) {
        self.told.bytes_printed += text.len() as u64;
        self.told.printed.extend_from_slice(text);
        let more = self.told.printed.len().saturating_sub(MachineOutput::KEPT);
        if more > MachineOutput::KEPT {
            self.told.printed.drain(..more);
        }
        let Some(costs) = self.costs else { return };
        self.spent += costs.print.ns(text.len() as u32);
        if let Some(uart) = &mut self.uart {
            let begin = (*uart.until).max(self.now + self.spent);
            *uart.until = begin + uart.byte_ns * text.len() as u64;
            let free = uart.until.saturating_sub(uart.byte_ns * uart.fifo);
            self.spent = self.spent.max(free.saturating_sub(self.now));
        }
    }

    fn sample(&mut self, sample: Sample) {
        match self.keeps {
            Keeps::Samples => self.told.samples.push(sample),
            Keeps::OnLink(link) => self.told.samples.push(on_link(sample, link)),
            Keeps::Sums => self.sums.add(&sample),
        }
    }

    fn count(&mut self, name: &'static str, by: u64) {
        if by > 0 && self.keeps != Keeps::Sums {
            *self.told.counts.entry(name).or_default() += by;
        }
    }
}

const fn on_link(sample: Sample, link: Link) -> Sample {
    match sample {
        Sample::Probe(it) => Sample::Probe(Probe { link, ..it }),
        Sample::Interval(it) => Sample::Interval(Interval { link, ..it }),
    }
}

fn work_ns(costs: &IpCosts, work: ProgramWork) -> u64 {
    match work {
        ProgramWork::Delay(time) => time.as_nanos() as u64,
        ProgramWork::Bytewise(bytes) => costs.bytewise.ns(bytes),
        ProgramWork::Copy(bytes) => costs.copy.ns(bytes),
        ProgramWork::Loop(rounds) => costs.round.ns(0) * u64::from(rounds),
    }
}

/// Sockets whose calls take the device's time.
struct Costly<'a, 'b> {
    api: ProgramSockets<'a>,
    costs: Option<&'b IpCosts>,
    spent: u64,
}

impl Costly<'_, '_> {
    fn sent(&mut self, bytes: usize) {
        if let Some(costs) = self.costs {
            self.spent += costs.socket_send.ns(bytes as u32);
        }
    }

    /// Counts a call that took so many messages out of a socket's mailbox.
    fn received(&mut self, bytes: usize, messages: usize) {
        if let Some(costs) = self.costs {
            let taken = costs.socket_receive.ns(bytes as u32) * messages as u64;
            self.spent += taken + costs.copy.ns(bytes as u32);
        }
    }
}

impl Sockets for Costly<'_, '_> {
    fn udp_bind(&mut self, port: u16) -> Result<SocketId, SocketError> {
        self.api.udp_bind(port)
    }

    fn udp_send(
        &mut self,
        socket: SocketId,
        to: Endpoint,
        bytes: &[u8],
    ) -> Result<(), SocketError> {
        self.sent(bytes.len());
        self.api.udp_send(socket, to, bytes)
    }

    fn udp_receive(&mut self, socket: SocketId, buf: &mut [u8]) -> Option<ReceivedDatagram> {
        let datagram = self.api.udp_receive(socket, buf)?;
        self.received(datagram.len, 1);
        Some(datagram)
    }

    fn tcp_connect(&mut self, to: Endpoint) -> Result<SocketId, SocketError> {
        self.sent(0);
        self.api.tcp_connect(to)
    }

    fn tcp_listen(&mut self, port: u16) -> Result<SocketId, SocketError> {
        self.api.tcp_listen(port)
    }

    fn tcp_accept(&mut self, listener: SocketId) -> Option<(SocketId, Endpoint)> {
        let accepted = self.api.tcp_accept(listener)?;
        self.received(0, 1);
        Some(accepted)
    }

    fn tcp_stream(&self, socket: SocketId) -> StreamState {
        self.api.tcp_stream(socket)
    }

    fn tcp_no_delay(&mut self, socket: SocketId, no_delay: bool) {
        self.api.tcp_no_delay(socket, no_delay);
    }

    fn tcp_send(&mut self, socket: SocketId, bytes: &[u8]) -> Result<usize, SocketError> {
        let sent = self.api.tcp_send(socket, bytes)?;
        if sent > 0 {
            self.sent(sent);
            if let Some(costs) = self.costs {
                self.spent += costs.tcp_write.ns(sent as u32) + costs.copy.ns(sent as u32);
            }
        }
        Ok(sent)
    }

    fn tcp_unacknowledged(&self, socket: SocketId) -> usize {
        self.api.tcp_unacknowledged(socket)
    }

    fn tcp_receive(&mut self, socket: SocketId, buf: &mut [u8]) -> Result<usize, SocketError> {
        let received = self.api.tcp_receive(socket, buf)?;
        if received > 0 {
            // lwIP takes one segment after the other out of the mailbox until the buffer is full
            // (`lwip_recv_tcp`, `netconn_recv_tcp_pbuf`).
            self.received(received, received.div_ceil(SEGMENT));
        }
        Ok(received)
    }

    fn close(&mut self, socket: SocketId) {
        self.sent(0);
        self.api.close(socket);
    }

    fn spend(&mut self, work: ProgramWork) {
        self.api.spend(work);
    }

    fn print(&mut self, text: &[u8]) {
        self.api.print(text);
    }

    fn sample(&mut self, sample: Sample) {
        self.api.sample(sample);
    }

    fn count(&mut self, name: &'static str, by: u64) {
        self.api.count(name, by);
    }
}

/// Runs a step of a program; returns how long it keeps the processor.
pub(super) fn step(
    machine: &mut Machine<'_>,
    pool: &mut Pool,
    now: Instant,
    number: u16,
    program: u16,
    space: Space,
) -> u64 {
    let Machine { host, body, programs, told, sums, random, .. } = machine;
    let Some(it) = programs.get_mut(usize::from(program)) else { return 0 };
    let Some(mut app) = it.app.take() else { return 0 };
    let (costs, uart, tick_ns) = match body {
        Body::Esp(esp) => {
            let baud = u64::from(esp.setup.uart_baud);
            let uart = (baud > 0).then(|| Uart {
                until: &mut esp.uart_until,
                byte_ns: 10_000_000_000 / baud,
                fifo: u64::from(esp.setup.uart_fifo),
            });
            let tick_ns = 1_000_000_000 / u64::from(esp.setup.limits.tick_hz.max(1));
            (Some(&esp.costs), uart, tick_ns)
        }
        Body::Pc(_) => (None, None, 1),
    };
    let outbox = Outbox { pool, from: number, space, out: &mut it.out };
    let (keeps, now_ns) = (it.keeps, now.as_nanos());
    let mut beside = StepContext { outbox, keeps, told, sums, costs, uart, now: now_ns, spent: 0 };
    let api = host.api(now, ProgramId(program), &mut beside);
    let mut sockets = Costly { api, costs, spent: 0 };
    let wait = app.poll(now, &mut sockets);
    let spent = sockets.spent + beside.spent;
    // FreeRTOS wakes a task with a tick.
    let tick = |at: Instant| match at {
        Instant::NEVER => at,
        at => Instant::from_nanos(at.as_nanos().div_ceil(tick_ns) * tick_ns),
    };
    it.then = match wait {
        Wait::Again => Awaits::Time(now),
        Wait::Change => Awaits::Change(Instant::NEVER),
        Wait::Until(at) => Awaits::Change(tick(at)),
        Wait::Spin(work, at) => {
            let round = costs.map_or(0, |costs| work_ns(costs, work));
            let late = if round > 0 { random.bits() % round } else { 0 };
            Awaits::Spin(at, late)
        }
        Wait::Sleep(at) => Awaits::Time(tick(at)),
        Wait::Done => Awaits::Done,
    };
    it.app = Some(app);
    spent
}
