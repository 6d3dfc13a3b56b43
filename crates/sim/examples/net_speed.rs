//! One saturated TCP stream between two hosts, and how fast it goes:
//! `cargo run --release -p espbench-sim --example net_speed [SECONDS]`.
//!
//! The pipe is ideal: 1 ms each way, in order, no limit of rate, and so windows of 57 kB are all
//! that bounds the stream. Programs write and read with buffers of their own, so everything that
//! happens to a byte on its way from one program to the other is counted.

#[path = "../../dot11/examples/common/mod.rs"]
mod common;

use espbench_model::sample::Sample;
use espbench_model::sdkconfig::SdkConfig;
use espbench_model::time::{Duration, Instant};
use espbench_proto::node::app::{Endpoint, ProgramWork, SocketId, Sockets as _};
use espbench_sim::net::{IpHost, NetDriver, ProgramEnv, ProgramId, Stack};
use std::collections::VecDeque;

const APP: ProgramId = ProgramId(0);
const DELAY: Duration = Duration::from_millis(1);

/// The way from one host to the other, in buffers that are used again.
#[derive(Default)]
struct Pipe {
    now: u64,
    on_the_way: VecDeque<(u64, Vec<u8>)>,
    free: Vec<Vec<u8>>,
}

impl NetDriver for Pipe {
    fn room(&self) -> usize {
        usize::MAX
    }

    fn send(&mut self, packet: &[u8]) -> bool {
        let mut buffer = self.free.pop().unwrap_or_default();
        buffer.clear();
        buffer.extend_from_slice(packet);
        self.on_the_way.push_back((self.now + DELAY.as_nanos() as u64, buffer));
        true
    }
}

impl ProgramEnv for Pipe {
    fn spend(&mut self, _: ProgramWork) {}
    fn print(&mut self, _: &[u8]) {}
    fn sample(&mut self, _: Sample) {}
    fn count(&mut self, _: &'static str, _: u64) {}
}

struct Pair {
    hosts: [IpHost; 2],
    pipes: [Pipe; 2],
    now: Instant,
}

impl Pair {
    /// Lets the next thing happen; to whom.
    fn step(&mut self) -> usize {
        let arrival = |to: usize| self.pipes[1 - to].on_the_way.front().map(|it| it.0);
        let timer = |host: usize| self.hosts[host].wait().map(Instant::as_nanos);
        let next = [arrival(0), arrival(1), timer(0), timer(1)];
        let (at, what) = (0..4).filter_map(|n| next[n].map(|at| (at, n))).min().expect("a stream");
        self.now = self.now.max(Instant::from_nanos(at));
        let host = what % 2;
        self.pipes.iter_mut().for_each(|it| it.now = self.now.as_nanos());
        if what >= 2 {
            self.hosts[host].poll(self.now, &mut self.pipes[host]);
        } else if let Some((_, packet)) = self.pipes[1 - host].on_the_way.pop_front() {
            self.hosts[host].receive(self.now, &packet, &mut self.pipes[host]);
            self.pipes[1 - host].free.push(packet);
        }
        host
    }
}

fn connected(stacks: [Stack; 2]) -> (Pair, SocketId, SocketId) {
    let hosts = [0, 1].map(|n| IpHost::new(1, [10, 0, 0, n as u8 + 1], &stacks[n]));
    let mut pair = Pair { hosts, pipes: Default::default(), now: Instant::ZERO };
    let now = pair.now;
    let listener = pair.hosts[1].api(now, APP, &mut pair.pipes[1]).tcp_listen(1).expect("a port");
    let to = Endpoint::new([10, 0, 0, 2], 1);
    let from = pair.hosts[0].api(now, APP, &mut pair.pipes[0]).tcp_connect(to).expect("a way");
    loop {
        pair.step();
        let mut api = pair.hosts[1].api(pair.now, APP, &mut pair.pipes[1]);
        if let Some((socket, _)) = api.tcp_accept(listener) {
            return (pair, from, socket);
        }
    }
}

fn main() {
    let seconds: u64 = std::env::args().nth(1).and_then(|it| it.parse().ok()).unwrap_or(20);
    let sdkconfig = SdkConfig {
        tcp_window: 57_344,
        tcp_send_buffer: 57_344,
        tcp_mailbox: 64,
        ..SdkConfig::default()
    };
    let (esp, pc) = (Stack::esp(&sdkconfig), Stack::pc());
    println!("            Mbit/s   segments      ACKs   us a segment   packets a wall s");
    for (name, stacks) in [("ESP to PC", [esp, pc]), ("PC to ESP", [pc, esp])] {
        let (mut pair, from, to) = connected(stacks);
        let (data, mut buf) = ([1; 1440], [0; 1440]);
        let began = std::time::Instant::now();
        let before = common::spent(began);
        let end = pair.now + Duration::from_secs(seconds);
        let mut read = 0;
        let mut host = 0;
        while pair.now < end {
            let mut api = pair.hosts[host].api(pair.now, APP, &mut pair.pipes[host]);
            if host == 0 {
                while api.tcp_send(from, &data).is_ok_and(|n| n > 0) {}
            } else {
                while let Ok(n @ 1..) = api.tcp_receive(to, &mut buf) {
                    read += n as u64;
                }
            }
            host = pair.step();
        }
        let (cpu, wall) = (common::spent(began) - before, began.elapsed().as_secs_f64());
        let sent = [0, 1].map(|n| pair.hosts[n].counters().sent as f64);
        println!(
            "{name:10}{:8.1}{:11.0}{:10.0}{:15.3}{:19.0}",
            read as f64 * 8e-6 / seconds as f64,
            sent[0],
            sent[1],
            cpu * 1e6 / sent[0],
            (sent[0] + sent[1]) / wall,
        );
    }
}
