//! UDP echo and TCP messages between two hosts on one wire, by the firmware's sockets.

use crate::machine::{deepest, instructions, paint};
use crate::tell_of;
use espbench_firmware_core::net::{
    ACCESS_POINT, AddressSource, BufferSizes, IpHost, Order, Out, ProgramRun,
};
use espbench_firmware_core::smoltcp::phy::{Device, DeviceCapabilities, Medium, RxToken, TxToken};
use espbench_firmware_core::smoltcp::time::Instant as StackInstant;
use espbench_ieee80211::mac::Mac;
use espbench_model::sample::{Fate, Sample};
use espbench_model::time::{Duration, Instant};
use espbench_model::workload::{EchoFormat, UdpEcho};
use espbench_proto::node::app::{EchoProbe, Endpoint, TcpSink};

extern crate alloc;
use alloc::boxed::Box;

/// Longest frame.
const FRAME: usize = 1514;
/// Frames on the wire in each direction.
const WIRE: usize = 4;

/// Frames on their way in one direction.
struct Wire {
    frames: [([u8; FRAME], usize); WIRE],
    from: usize,
    count: usize,
}

impl Wire {
    const fn new() -> Self {
        Self { frames: [([0; FRAME], 0); WIRE], from: 0, count: 0 }
    }
}

/// An end of the wires for a poll.
struct End<'a> {
    come: &'a mut Wire,
    go: &'a mut Wire,
    frames: &'a mut u64,
}

struct Come<'a>(&'a mut Wire);
struct Go<'a>(&'a mut Wire, &'a mut u64);

impl RxToken for Come<'_> {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, take: F) -> R {
        let wire = self.0;
        let (frame, len) = &wire.frames[wire.from];
        let result = take(&frame[..*len]);
        wire.from = (wire.from + 1) % WIRE;
        wire.count -= 1;
        result
    }
}

impl TxToken for Go<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, len: usize, fill: F) -> R {
        let wire = self.0;
        let (frame, place) = &mut wire.frames[(wire.from + wire.count) % WIRE];
        *place = len;
        wire.count += 1;
        *self.1 += 1;
        fill(&mut frame[..len])
    }
}

impl Device for End<'_> {
    type RxToken<'a>
        = Come<'a>
    where
        Self: 'a;
    type TxToken<'a>
        = Go<'a>
    where
        Self: 'a;

    fn receive(&mut self, _: StackInstant) -> Option<(Come<'_>, Go<'_>)> {
        let ready = self.come.count > 0 && self.go.count < WIRE;
        ready.then(|| (Come(self.come), Go(self.go, self.frames)))
    }

    fn transmit(&mut self, _: StackInstant) -> Option<Go<'_>> {
        (self.go.count < WIRE).then(|| Go(self.go, self.frames))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut it = DeviceCapabilities::default();
        it.medium = Medium::Ethernet;
        it.max_transmission_unit = FRAME;
        it
    }
}

/// Counts of samples.
#[derive(Default)]
struct Counts {
    delivered: u32,
    intervals: u32,
    failed: u64,
}

impl Out for Counts {
    fn print(&mut self, _: &[u8]) {}

    fn sample(&mut self, sample: Sample) {
        match sample {
            Sample::Probe(it) => self.delivered += u32::from(it.fate == Fate::Delivered),
            Sample::Interval(_) => self.intervals += 1,
        }
    }

    fn count(&mut self, _: &'static str, by: u64) {
        self.failed += by;
    }
}

/// A station and an access point, and what the station's work takes.
struct Pair {
    hosts: [IpHost; 2],
    runs: [Option<ProgramRun>; 2],
    counts: [Counts; 2],
    wires: [Wire; 2],
    now: Instant,
    /// Instructions of the station.
    took: u64,
    /// Frames that the station has sent.
    frames: u64,
}

impl Pair {
    fn new() -> Self {
        let mut wires = [const { Wire::new() }; 2];
        let hosts = [0, 1].map(|i: usize| {
            let (a, b) = wires.split_at_mut(1);
            let (come, go) = if i == 0 { (&mut a[0], &mut b[0]) } else { (&mut b[0], &mut a[0]) };
            let mut end = End { come, go, frames: &mut 0 };
            let source = [AddressSource::Dhcp, AddressSource::AccessPoint][i];
            let mac = Mac([2, 0, 0, 0, 0, i as u8]);
            let sizes = BufferSizes::default();
            IpHost::new(Instant::ZERO, &mut end, mac, source, sizes, 7 + i as u64)
        });
        Self {
            hosts,
            runs: [None, None],
            counts: Default::default(),
            wires,
            now: Instant::ZERO,
            took: 0,
            frames: 0,
        }
    }

    /// Runs for at most `time`, until `done`.
    fn run(&mut self, time: Duration, done: impl Fn(&Self) -> bool) {
        let end = self.now + time;
        while !done(self) {
            assert!(self.now < end, "nothing more happens");
            for i in 0..2 {
                let (a, b) = self.wires.split_at_mut(1);
                let (come, go) =
                    if i == 0 { (&mut a[0], &mut b[0]) } else { (&mut b[0], &mut a[0]) };
                let mut other = 0;
                let frames = if i == 0 { &mut self.frames } else { &mut other };
                let mut end = End { come, go, frames };
                let from = instructions();
                let changed = self.hosts[i].poll(self.now, &mut end);
                if let Some(mut run) = self.runs[i].take()
                    && run.turn(self.now, &mut self.hosts[i], changed, &mut self.counts[i])
                {
                    self.runs[i] = Some(run);
                }
                if i == 0 {
                    self.took += instructions() - from;
                }
            }
            self.now = self.now + Duration::from_micros(500);
        }
    }
}

/// Runs the programs.
#[inline(never)]
pub(crate) fn converse() {
    let mut pair = Pair::new();
    paint();
    pair.run(Duration::from_secs(20), |pair| pair.hosts[0].address().is_some());
    tell_of("ip", "dhcp", pair.took);

    let work = UdpEcho {
        size: 100,
        count: 100,
        discard: 0,
        format: EchoFormat::Binary,
        in_flight: 4,
        interval: Some(Duration::from_millis(2)),
        timeout: Duration::from_millis(500),
    };
    pair.runs[0] = Some(ProgramRun::new(Order::Echo));
    let to = Endpoint::new([192, 168, 4, 2], espbench_firmware_core::net::programs::ECHO_PORT);
    pair.runs[1] = Some(ProgramRun::of(Box::new(EchoProbe::<1472>::new(work, 1, 0, to))));
    (pair.took, pair.frames) = (0, 0);
    pair.run(Duration::from_secs(10), |pair| pair.runs[1].is_none());
    assert_eq!(pair.counts[1].delivered, 100, "each probe has its reply");
    tell_of("ip", "echo-per-datagram", pair.took / 100);

    let port = espbench_firmware_core::net::programs::TCP_PORT;
    pair.runs[1] = Some(ProgramRun::of(Box::new(TcpSink::<4096>::new(port))));
    pair.runs[0] = Some(ProgramRun::new(Order::Tcp(ACCESS_POINT)));
    (pair.took, pair.frames) = (0, 0);
    pair.run(Duration::from_secs(30), |pair| pair.runs[0].is_none());
    let station = &pair.counts[0];
    assert_eq!((station.intervals, station.failed), (20, 0), "ten runs, counted at both ends");
    tell_of("ip", "tcp-per-frame-sent", pair.took / pair.frames.max(1));
    tell_of("ip", "stack-bytes", deepest() as u64);
}
