//! Hosts at a switch of ideal wires: delay, rate, a bounded queue, loss by seed.
//!
//! | module | contents |
//! |---|---|
//! | `acknowledge` | acknowledgements: lwIP's second segment and tick, Linux's first ones and 40 ms; Nagle |
//! | `bounds` | throughput equals the bound of window and round trip, or of the wire |
//! | `datagrams` | datagrams: the mailbox, the driver without room, pings |
//! | `ends` | the beginning and the end of connections |
//! | `fragments` | packets that are longer than a frame |
//! | `heap` | the heap: its users, and what a host gives up when it is short |
//! | `hostile` | segments that no honest peer sends |
//! | `laws` | properties that hold for any seed, loss and limits |
//! | `loss` | lost segments are sent again, and a mailbox refuses |
//! | `states` | ways through the states of a connection, with what is lost on them |
//! | `streams` | streams both ways at once arrive whole and in order, whatever the wires do |

mod acknowledge;
mod bounds;
mod datagrams;
mod ends;
mod fragments;
mod heap;
mod hostile;
mod laws;
mod loss;
mod states;
mod streams;

use super::{IpHost, NetDriver, ProgramEnv, ProgramId, Stack};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt::Write as _;
use core::time::Duration;
use espbench_dot11::random::{Chance, Purpose, RngStream};
use espbench_model::sample::Sample;
use espbench_model::sdkconfig::SdkConfig;
use espbench_model::time::Instant;
use espbench_proto::node::app::{
    Endpoint, ProgramWork, SocketError, SocketId, Sockets, StreamState,
};
use smoltcp::wire::{IpProtocol, Ipv4Packet, TcpPacket};

pub(super) const APP: ProgramId = ProgramId(0);

/// A wire between a host and the switch.
#[derive(Clone, Copy, Debug)]
pub(super) struct TestWire {
    pub(super) delay: Duration,
    /// The rate in bits a second; 0 for no limit.
    pub(super) rate: u64,
    /// The limit on packets that wait or are being sent.
    pub(super) room: usize,
    pub(super) loss: Chance,
    /// The longest time by which chance delays a packet, so that others overtake it.
    pub(super) jitter: Duration,
    /// The chance of a packet to come twice.
    pub(super) twice: Chance,
}

impl TestWire {
    pub(super) const fn delay(delay: Duration) -> Self {
        let never = Chance::NEVER;
        Self { delay, rate: 0, room: usize::MAX, loss: never, jitter: Duration::ZERO, twice: never }
    }
}

/// One end of a wire.
#[derive(Debug)]
pub(super) struct WireEnd {
    now: Instant,
    wire: TestWire,
    random: RngStream,
    /// The chance of jitter and duplicates.
    disorder: RngStream,
    /// The time at which each queued packet has left the queue.
    leaves: Vec<Instant>,
    given: Vec<(Instant, Vec<u8>)>,
    /// The numbers of packets that are lost beside chance.
    pub(super) lose: Vec<u64>,
    sent: u64,
    pub(super) spent: u64,
    /// The bytes of heap that the host has in all; `left` are those not in use.
    pub(super) limit: u32,
    left: u32,
}

impl NetDriver for WireEnd {
    fn heap(&self) -> u32 {
        self.left
    }

    fn room(&self) -> usize {
        self.wire.room - self.leaves.iter().filter(|&&at| at > self.now).count()
    }

    fn send(&mut self, packet: &[u8]) -> bool {
        if self.room() == 0 {
            return false;
        }
        self.leaves.retain(|&at| at > self.now);
        let begin = self.leaves.last().copied().unwrap_or(self.now);
        let bits = packet.len() as u64 * 8 * 1_000_000_000;
        let leaves = begin.after_nanos(bits.checked_div(self.wire.rate).unwrap_or(0));
        self.leaves.push(leaves);
        self.sent += 1;
        if !self.lose.contains(&self.sent) && !self.wire.loss.hit(&mut self.random) {
            let copies = 1 + usize::from(self.wire.twice.hit(&mut self.disorder));
            for _ in 0..copies {
                let most = self.wire.jitter.as_nanos() as u64 + 1;
                let later = leaves.after_nanos(self.disorder.bits() % most);
                self.given.push((later + self.wire.delay, packet.to_vec()));
            }
        }
        true
    }
}

impl ProgramEnv for WireEnd {
    fn spend(&mut self, _: ProgramWork) {
        self.spent += 1;
    }
    fn print(&mut self, _: &[u8]) {}
    fn sample(&mut self, _: Sample) {}
    fn count(&mut self, _: &'static str, _: u64) {}
}

/// A network of hosts.
#[derive(Debug)]
pub(super) struct TestNet {
    pub(super) now: Instant,
    pub(super) hosts: Vec<IpHost>,
    pub(super) ends: Vec<WireEnd>,
    on_the_way: BTreeMap<(Instant, u64), (usize, Vec<u8>)>,
    number: u64,
    /// A log of the packets on the wires, if wanted.
    pub(super) log: Option<String>,
}

pub(super) const fn address(host: usize) -> [u8; 4] {
    [10, 0, 0, host as u8 + 1]
}

pub(super) const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

pub(super) fn esp(change: impl FnOnce(&mut SdkConfig)) -> Stack {
    let mut sdkconfig = SdkConfig::default();
    change(&mut sdkconfig);
    Stack::esp(&sdkconfig)
}

impl TestNet {
    pub(super) fn new(seed: u64, hosts: &[(Stack, TestWire)]) -> Self {
        let end = |(n, &(_, wire)): (usize, &(Stack, TestWire))| WireEnd {
            now: Instant::ZERO,
            wire,
            random: RngStream::stream(seed, n as u32, Purpose::Loss),
            disorder: RngStream::stream(seed, n as u32, Purpose::Delay),
            leaves: vec![],
            given: vec![],
            lose: vec![],
            sent: 0,
            spent: 0,
            limit: u32::MAX,
            left: u32::MAX,
        };
        let host =
            |(n, (stack, _)): (usize, &(Stack, TestWire))| IpHost::new(seed, address(n), stack);
        Self {
            now: Instant::ZERO,
            hosts: hosts.iter().enumerate().map(host).collect(),
            ends: hosts.iter().enumerate().map(end).collect(),
            on_the_way: BTreeMap::new(),
            number: 0,
            log: None,
        }
    }

    /// Returns two hosts, with an equal wire each.
    pub(super) fn pair(a: Stack, b: Stack, wire: TestWire) -> Self {
        Self::new(1, &[(a, wire), (b, wire)])
    }

    /// Calls `f` with a host's sockets.
    pub(super) fn at<R>(&mut self, host: usize, f: impl FnOnce(&mut dyn Sockets) -> R) -> R {
        let end = &mut self.ends[host];
        end.now = self.now;
        end.left = end.limit.saturating_sub(self.hosts[host].heap().now);
        let it = f(&mut self.hosts[host].api(self.now, APP, end));
        self.collect(host);
        it
    }

    /// Moves the packets that a host has sent onto its wire.
    fn collect(&mut self, host: usize) {
        for (at, packet) in core::mem::take(&mut self.ends[host].given) {
            let Ok(ip) = Ipv4Packet::new_checked(&packet[..]) else { panic!("no packet") };
            let to = usize::from(ip.dst_addr().octets()[3]) - 1;
            if let Some(log) = &mut self.log {
                note(log, self.now, host, &ip);
            }
            if to < self.hosts.len() {
                self.on_the_way.insert((at, self.number), (to, packet));
                self.number += 1;
            }
        }
    }

    /// Returns the number of packets on their way.
    pub(super) fn on_the_way(&self) -> usize {
        self.on_the_way.len()
    }

    /// Returns the time of the next event.
    pub(super) fn next(&self) -> Option<Instant> {
        let timers = self.hosts.iter().filter_map(IpHost::wait);
        let rooms = self.hosts.iter().zip(&self.ends).filter(|(it, _)| it.waits_for_room());
        let rooms = rooms.filter_map(|(_, end)| end.leaves.iter().find(|&&at| at > self.now));
        let arrival = self.on_the_way.keys().next().map(|&(at, _)| at);
        timers.chain(rooms.copied()).chain(arrival).min()
    }

    /// Handles the next event, if it is not after `until`.
    pub(super) fn step(&mut self, until: Instant) -> bool {
        let Some(at) = self.next().filter(|&at| at <= until) else {
            self.now = until;
            return false;
        };
        self.now = self.now.max(at);
        let now = self.now;
        let arrived = self.on_the_way.first_entry().filter(|it| it.key().0 <= now);
        if let Some((host, packet)) = arrived.map(|it| it.remove()) {
            self.ends[host].now = now;
            self.hosts[host].receive(now, &packet, &mut self.ends[host]);
            self.collect(host);
        }
        for host in 0..self.hosts.len() {
            self.ends[host].now = now;
            self.hosts[host].poll(now, &mut self.ends[host]);
            self.collect(host);
        }
        true
    }

    pub(super) fn run(&mut self, time: Duration) {
        let until = self.now + time;
        while self.step(until) {}
    }

    /// Connects host 0 to host 1; returns both handles.
    pub(super) fn connect(&mut self) -> (SocketId, SocketId) {
        let listener = self.at(1, |it| it.tcp_listen(5001)).expect("a free port");
        let to = Endpoint::new(address(1), 5001);
        let client = self.at(0, |it| it.tcp_connect(to)).expect("an address");
        for _ in 0..1000 {
            let until = self.now + ms(10_000);
            self.step(until);
            let open = self.at(0, |it| it.tcp_stream(client)) == StreamState::Open;
            if let Some((server, from)) = self.at(1, |it| it.tcp_accept(listener)) {
                assert!(open, "the client is first");
                assert_eq!(from.address, address(0));
                return (client, server);
            }
        }
        panic!("not connected");
    }

    /// Sends from host 0 as much as goes for a time, and reads at host 1; returns the bytes read.
    pub(super) fn saturate(&mut self, from: SocketId, to: SocketId, time: Duration) -> u64 {
        let until = self.now + time;
        let mut read = 0;
        loop {
            self.fill(0, from);
            read += self.drain(1, to);
            if !self.step(until) {
                return read;
            }
        }
    }

    /// Hands over as many bytes as go.
    pub(super) fn fill(&mut self, host: usize, socket: SocketId) {
        while self.at(host, |it| it.tcp_send(socket, &[7; 2880])).is_ok_and(|n| n > 0) {}
    }

    /// Reads everything; returns the number of bytes.
    pub(super) fn drain(&mut self, host: usize, socket: SocketId) -> u64 {
        let mut buf = [0; 2880];
        let mut all = 0;
        self.at(host, |it| {
            while let Ok(n @ 1..) = it.tcp_receive(socket, &mut buf) {
                all += n as u64;
            }
        });
        all
    }

    pub(super) fn stream(&mut self, host: usize, socket: SocketId) -> StreamState {
        self.at(host, |it| it.tcp_stream(socket))
    }

    pub(super) fn write_log(&mut self) {
        self.log = Some(String::new());
    }
}

/// Writes a line for a segment: time, host, flags, payload, window.
fn note(log: &mut String, now: Instant, host: usize, ip: &Ipv4Packet<&[u8]>) {
    let micros = now.as_nanos() / 1000;
    let (ms, part) = (micros / 1000, micros % 1000);
    let who = ["A", "B"][host.min(1)];
    write!(log, "{ms:>5}.{part:03} {who} ").expect("a string");
    let Some(tcp) = (ip.next_header() == IpProtocol::Tcp)
        .then(|| TcpPacket::new_checked(ip.payload()).ok())
        .flatten()
    else {
        writeln!(log, "{}", ip.next_header()).expect("a string");
        return;
    };
    let flags = [(tcp.syn(), "SYN "), (tcp.fin(), "FIN "), (tcp.rst(), "RST ")];
    for (_, name) in flags.iter().filter(|(set, _)| *set) {
        log.push_str(name);
    }
    match tcp.payload().len() {
        0 => log.push_str("ACK"),
        len => write!(log, "data {len}").expect("a string"),
    }
    writeln!(log, " window {}", tcp.window_len()).expect("a string");
}
