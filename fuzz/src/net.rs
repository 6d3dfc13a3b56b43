//! An IP host: rubbish, half-true segments and any calls of its sockets, while it talks to another.

use espbench_model::sample::Sample;
use espbench_model::sdkconfig::SdkConfig;
use espbench_model::time::{Duration, Instant};
use espbench_proto::node::app::{Endpoint, ProgramWork, SocketId, Sockets as _};
use espbench_sim::net::{IpHost, NetDriver, ProgramEnv, ProgramId, Stack};

const APP: ProgramId = ProgramId(0);
/// More than there are sockets: some handles are nobody's.
const HANDLES: u8 = 6;

/// Packets that a host has given to its driver, which has room for so many until they are taken.
#[derive(Default)]
struct Driver {
    room: usize,
    given: Vec<Vec<u8>>,
}

impl NetDriver for Driver {
    fn room(&self) -> usize {
        self.room
    }

    fn send(&mut self, packet: &[u8]) -> bool {
        assert!(packet.len() >= 20 && packet.len() <= 1500, "a packet fits a frame");
        let told = usize::from(u16::from_be_bytes([packet[2], packet[3]]));
        assert_eq!((packet[0] >> 4, told), (4, packet.len()), "its header is right");
        let takes = self.room > 0;
        if takes {
            self.room -= 1;
            self.given.push(packet.to_vec());
        }
        takes
    }
}

impl ProgramEnv for Driver {
    fn spend(&mut self, _: ProgramWork) {}
    fn print(&mut self, _: &[u8]) {}
    fn sample(&mut self, _: Sample) {}
    fn count(&mut self, _: &'static str, _: u64) {}
}

struct Pair {
    now: Instant,
    hosts: [IpHost; 2],
    drivers: [Driver; 2],
}

impl Pair {
    /// Gives what was sent to the other host, each packet through `change`.
    fn deliver(&mut self, mut change: impl FnMut(&mut Vec<u8>)) {
        for from in 0..2 {
            for mut packet in std::mem::take(&mut self.drivers[from].given) {
                change(&mut packet);
                let to = 1 - from;
                self.hosts[to].receive(self.now, &packet, &mut self.drivers[to]);
            }
        }
    }

    /// Lets time go by; a host that is polled does not ask to be polled at the same time for ever.
    fn pass(&mut self, time: Duration) {
        let end = self.now + time;
        for _ in 0..2000 {
            let Some(at) = self.hosts.iter().filter_map(IpHost::wait).min().filter(|&at| at <= end)
            else {
                break;
            };
            self.now = self.now.max(at);
            for n in 0..2 {
                self.hosts[n].poll(self.now, &mut self.drivers[n]);
                let next = self.hosts[n].wait();
                assert!(next.is_none_or(|next| next > self.now), "what is due is done");
            }
        }
        self.now = self.now.max(end);
    }
}

/// Makes one call of a socket.
fn call(pair: &mut Pair, host: usize, what: u8, with: u8) {
    let now = pair.now;
    let mut api = pair.hosts[host].api(now, APP, &mut pair.drivers[host]);
    let socket = SocketId(u16::from(with % HANDLES));
    let port = u16::from(with / HANDLES % 8);
    let there = Endpoint::new([10, 0, 0, 2 - host as u8], port);
    let mut buf = [0; 2000];
    let len = usize::from(with) * 7;
    match what % 14 {
        0 => drop(api.udp_bind(port)),
        1 => drop(api.udp_send(socket, there, &buf[..len])),
        2 => drop(api.udp_receive(socket, &mut buf[..len])),
        3 => drop(api.tcp_connect(there)),
        4 => drop(api.tcp_connect(Endpoint::new([with, 255, 255, 255], port))),
        5 => drop(api.tcp_listen(port)),
        6 => drop(api.tcp_accept(socket)),
        7 => drop(api.tcp_stream(socket)),
        8 => api.tcp_no_delay(socket, with & 1 != 0),
        9 | 10 => drop(api.tcp_send(socket, &buf[..len])),
        11 => {
            let read = api.tcp_receive(socket, &mut buf[..len]);
            assert!(read.is_ok_and(|read| read <= len) || read.is_err());
        }
        12 => drop(api.tcp_unacknowledged(socket)),
        _ => api.close(socket),
    }
}

/// Runs two hosts: the first byte chooses the settings, the rest are steps of three bytes with
/// their arguments.
pub fn net(data: &[u8]) {
    let [kind, rest @ ..] = data else { return };
    let mut rest = rest;
    let sdkconfig = SdkConfig {
        tcp_mss: 100 + u16::from(kind & 3) * 400,
        tcp_window: 1000 + u32::from(kind >> 2 & 3) * 30_000,
        tcp_send_buffer: 1000 + u32::from(kind >> 4 & 3) * 3000,
        sockets: 5,
        ..SdkConfig::default()
    };
    let stacks =
        [Stack::esp(&sdkconfig), if kind & 64 == 0 { Stack::pc() } else { Stack::esp(&sdkconfig) }];
    let mut pair = Pair {
        now: Instant::ZERO,
        hosts: [0, 1].map(|n| IpHost::new(1, [10, 0, 0, n as u8 + 1], &stacks[n])),
        drivers: [0, 1].map(|_| Driver { room: 64, given: vec![] }),
    };
    while let [what, with, more, tail @ ..] = rest {
        let (what, with, more) = (*what, *with, *more);
        rest = tail;
        let host = usize::from(what >> 7);
        match what & 0x7F {
            0..=69 => call(&mut pair, host, what & 0x7F, with),
            70..=79 => pair.deliver(|_| {}),
            80..=94 => pair.deliver(|packet| {
                // A bit of its headers is wrong.
                let at = usize::from(with) % packet.len().min(60);
                packet[at] ^= more;
            }),
            95..=99 => pair.deliver(|packet| packet.truncate(usize::from(with))),
            100..=104 => {
                let len = tail.len().min(usize::from(with));
                pair.hosts[host].receive(pair.now, &tail[..len], &mut pair.drivers[host]);
            }
            105..=109 => pair.drivers[host].given.clear(),
            110..=114 => pair.drivers[host].room = usize::from(with),
            _ => pair.pass(Duration::from_millis(u64::from(with) * u64::from(more))),
        }
        for (host, driver) in pair.hosts.iter().zip(&mut pair.drivers) {
            let heap = host.heap();
            assert!(heap.now <= heap.peak && heap.peak < 1 << 24);
            driver.room = driver.room.max(usize::from(what & 1));
            driver.given.truncate(256);
        }
    }
    // Everything is closed, and nothing more is heard: it ends.
    for host in 0..2 {
        pair.drivers[host].room = usize::MAX;
        let mut api = pair.hosts[host].api(pair.now, APP, &mut pair.drivers[host]);
        (0..1024).for_each(|handle| api.close(SocketId(handle)));
    }
    for _ in 0..20_000 {
        pair.drivers.iter_mut().for_each(|it| it.given.clear());
        for n in 0..2 {
            pair.hosts[n].poll(pair.now, &mut pair.drivers[n]);
        }
        let Some(at) = pair.hosts.iter().filter_map(IpHost::wait).min() else { break };
        pair.now = pair.now.max(at);
    }
    for host in &pair.hosts {
        assert_eq!((host.connections(), host.held(), host.heap().now), (0, 0, 0));
    }
}
