//! A packet that waits in a reorder buffer is still there when its turn comes.

use super::super::MachineId;
use super::bench::at;
use crate::lab::file::Library;
use crate::lab::nodes::Conversation as _;
use crate::lab::run::Lab;
use core::time::Duration;
use espbench_model::sdkconfig::SdkConfig;
use espbench_model::time::Instant;
use espbench_proto::node::app::{App, Endpoint, SocketId, Sockets, Wait};
use std::boxed::Box;

const PORT: u16 = 9;

/// Sends numbered datagrams as fast as goes.
struct Counting {
    to: Endpoint,
    socket: Option<SocketId>,
    next: u32,
}

impl App for Counting {
    fn poll(&mut self, now: Instant, sockets: &mut dyn Sockets) -> Wait {
        let Some(socket) = self.socket else {
            self.socket = sockets.udp_bind(0).ok();
            return Wait::Again;
        };
        let mut datagram = [0; 1000];
        datagram[..4].copy_from_slice(&self.next.to_be_bytes());
        match sockets.udp_send(socket, self.to, &datagram) {
            Ok(()) => {
                self.next += 1;
                Wait::Again
            }
            Err(_) => Wait::Sleep(now + Duration::from_millis(10)),
        }
    }
}

/// Looks whether they come in order, each once.
struct Checking {
    port: u16,
    /// Name of the count of datagrams.
    received: &'static str,
    socket: Option<SocketId>,
    last: Option<u32>,
}

impl Checking {
    const fn new(port: u16, received: &'static str) -> Self {
        Self { port, received, socket: None, last: None }
    }
}

impl App for Checking {
    fn poll(&mut self, _: Instant, sockets: &mut dyn Sockets) -> Wait {
        let Some(socket) = self.socket else {
            self.socket = sockets.udp_bind(self.port).ok();
            return Wait::Again;
        };
        let mut datagram = [0; 1500];
        let Some(it) = sockets.udp_receive(socket, &mut datagram) else { return Wait::Change };
        let number = u32::from_be_bytes([datagram[0], datagram[1], datagram[2], datagram[3]]);
        sockets.count(self.received, 1);
        sockets.count("cut", u64::from(it.len != 1000));
        sockets
            .count("not after the last", u64::from(self.last.is_some_and(|last| last >= number)));
        self.last = Some(number);
        Wait::Again
    }
}

/// Programs in lwIP's own task (`espconn`) had it one after the other: the second sent nothing before the first was over.
#[test]
fn programs_in_one_task_take_turns() {
    let scene = Library::built_in().variant_scene("esp8266-iperf", "softap-open-sdk-2.2").unwrap();
    let (device, pc) = (MachineId(0), MachineId(scene.devices.len() as u16));
    let mut lab = Lab::new(&scene, 1, ());
    lab.run_for(Duration::from_millis(300)).unwrap();
    let names = ["of the first", "of the second"];
    for (port, name) in (PORT..).zip(names) {
        lab.start(pc, Box::new(Checking::new(port, name)));
        lab.start(device, Box::new(Counting { to: at(pc, port), socket: None, next: 0 }));
    }
    lab.run_for(Duration::from_secs(1)).unwrap();
    let told = lab.take_told(pc);
    let [first, second] = names.map(|it| told.counts.get(it).copied().unwrap_or_default());
    assert!(first > 100 && first.abs_diff(second) < first / 10, "{:?}", told.counts);
}

#[test]
fn packets_that_waited_for_lost_ones_are_the_ones_that_were_sent() {
    // At some distance from the router of a home: some MPDUs are lost.
    let mut scene = Library::built_in().variant_scene("smooth", "idf-room").unwrap();
    scene.devices[0].sdk = SdkConfig { tx_ba_window: 32, rx_ba_window: 32, ..scene.devices[0].sdk };
    let (device, pc) = (MachineId(0), MachineId(scene.devices.len() as u16));
    for (from, to) in [(device, pc), (pc, device)] {
        let mut lab = Lab::new(&scene, 1, ());
        lab.run_for(Duration::from_millis(300)).unwrap();
        lab.start(to, Box::new(Checking::new(PORT, "received")));
        lab.start(from, Box::new(Counting { to: at(to, PORT), socket: None, next: 0 }));
        lab.run_for(Duration::from_secs(1)).unwrap();
        let told = lab.take_told(to);
        let of = |name| told.counts.get(name).copied().unwrap_or_default();
        let retries: u64 = (0..lab.room().stations()).map(|it| lab.mac_counters(it).retries).sum();
        assert!(of("received") > 500 && retries > 50, "{:?}, {retries} retries", told.counts);
        assert_eq!((of("cut"), of("not after the last")), (0, 0), "{retries} retries");
    }
}
