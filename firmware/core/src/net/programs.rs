//! Programs of `espbench-proto` on the device: which there are, and the run of one.

use super::{IpHost, Out};
use alloc::boxed::Box;
use espbench_model::sample::{Interval, Link, Sample};
use espbench_model::time::{Duration, Instant};
use espbench_model::workload::{Iperf, MqttVersion, TcpRate, Transport};
use espbench_proto::node::app::iperf::IperfStyle;
use espbench_proto::node::app::mqtt::PublisherMemory;
use espbench_proto::node::app::{
    App, EchoServer, Endpoint, IperfClient, IperfServer, IperfSetup, Mqtt, Sockets, TcpSender, Wait,
};
use espbench_proto::node::mqtt::{KEEP_ALIVE, MqttSettings, OfferedLoad};
use espbench_proto::wire::iperf2;

/// Port of the published UDP echo.
pub const ECHO_PORT: u16 = 10_000;
/// Port of ESP-IDF's example `tcp_client`.
pub const TCP_PORT: u16 = 3333;
/// Port of MQTT.
pub const MQTT_PORT: u16 = 1883;
/// Topic of the numbered messages.
pub const TOPIC: &str = "espbench/device";
/// Steps of a program in one turn, so that the rest of the device is served in between.
const STEPS: usize = 16;

/// Bytes of a read or write of iperf: half of ESP-IDF's, since the heap is the radio's, too.
const IPERF_BUFFER: usize = 8192;

/// An order to run a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// UDP echo on [`ECHO_PORT`].
    Echo,
    /// Server of iperf 2.
    IperfServer(Transport),
    /// Client of iperf 2, for some seconds.
    IperfClient {
        /// UDP or TCP.
        transport: Transport,
        /// Address of the server.
        to: [u8; 4],
        /// Length of the test.
        seconds: u16,
    },
    /// Short messages over TCP to [`TCP_PORT`], ten runs of a second.
    Tcp([u8; 4]),
    /// Numbered messages of 64 bytes to a broker, for ten seconds.
    Mqtt {
        /// Address of the broker.
        to: [u8; 4],
        /// Messages a second.
        rate: u16,
    },
}

/// Memory of the publisher: packets of 512 bytes, 16 in flight, 256 whose fate is open.
type Memory = PublisherMemory<512, 16, 256>;

/// The publisher with its memory.
struct Publisher {
    /// Dropped before the memory that it was lent.
    app: Option<Mqtt<'static>>,
    memory: *mut Memory,
}

impl Publisher {
    fn new(settings: MqttSettings<'static>, broker: Endpoint) -> Self {
        let memory = Box::into_raw(Box::new(Memory::new()));
        // SAFETY: the memory lives until `drop`, which drops the borrower first; nothing else uses it.
        let (storage, out) = unsafe { &mut *memory }.lend();
        Self { app: Some(Mqtt::new(settings, broker, storage, out)), memory }
    }
}

impl Drop for Publisher {
    fn drop(&mut self) {
        self.app = None;
        // SAFETY: it came from a box, and the borrower is gone.
        drop(unsafe { Box::from_raw(self.memory) });
    }
}

impl App for Publisher {
    fn poll(&mut self, now: Instant, sockets: &mut dyn Sockets) -> Wait {
        self.app.as_mut().map_or(Wait::Done, |app| app.poll(now, sockets))
    }
}

impl Order {
    fn program(self) -> Box<dyn App> {
        let iperf = |transport, time| {
            let work = Iperf { transport, time, length: 0, ..Iperf::DEFAULT };
            IperfSetup::of(&work, IperfStyle::EspIdf)
        };
        match self {
            Self::Echo => boxed(|| EchoServer::<1472>::new(ECHO_PORT)),
            Self::IperfServer(transport) => {
                let setup = iperf(transport, Iperf::DEFAULT.time);
                boxed(|| IperfServer::<IPERF_BUFFER, 2>::new(setup, iperf2::PORT))
            }
            Self::IperfClient { transport, to, seconds } => {
                let setup = iperf(transport, Duration::from_secs(seconds.into()));
                let to = Endpoint::new(to, iperf2::PORT);
                boxed(|| IperfClient::<IPERF_BUFFER>::new(setup, to))
            }
            Self::Tcp(to) => {
                let run_time = Duration::from_secs(1);
                let work = TcpRate { size: 64, runs: 10, discard: 0, run_time, no_delay: false };
                boxed(|| TcpSender::<1460>::new(work, Endpoint::new(to, TCP_PORT), None))
            }
            Self::Mqtt { to, rate } => {
                let pace = OfferedLoad::Rate(f64::from(rate));
                boxed(|| Publisher::new(mqtt(pace), Endpoint::new(to, MQTT_PORT)))
            }
        }
    }
}

/// Makes a program and puts it on the heap. Each has a function of its own, so that the stack holds one
/// program at a time and not room for all of them.
#[inline(never)]
fn boxed<A: App + 'static>(make: impl FnOnce() -> A) -> Box<dyn App> {
    Box::new(make())
}

const fn mqtt(pace: OfferedLoad) -> MqttSettings<'static> {
    MqttSettings {
        version: MqttVersion::V311,
        qos: 1,
        size: 64,
        topic: TOPIC,
        client_ids: ["espbench-device", "espbench-listener"],
        username: None,
        password: None,
        pace,
        in_flight: 16,
        queue: 64,
        time: Duration::from_secs(10),
        count: None,
        drain: Duration::from_secs(2),
        patience: Duration::from_secs(10),
        resume: false,
        clean_start: true,
        session_expiry: None,
        retain: false,
        keep_alive: KEEP_ALIVE,
        sender: 0,
        link: Link(0),
    }
}

/// The run of a program.
pub struct ProgramRun {
    app: Box<dyn App>,
    wait: Wait,
    /// The program's task is busy until then.
    busy: Instant,
}

impl core::fmt::Debug for ProgramRun {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("ProgramRun").field("wait", &self.wait).finish_non_exhaustive()
    }
}

impl ProgramRun {
    /// Starts a program.
    #[must_use]
    pub fn new(order: Order) -> Self {
        Self::of(order.program())
    }

    /// Starts a program that is there.
    #[must_use]
    pub fn of(app: Box<dyn App>) -> Self {
        Self { app, wait: Wait::Again, busy: Instant::ZERO }
    }

    /// Goes on; `changed` tells whether a socket may have changed. Returns false once it has ended.
    pub fn turn(
        &mut self,
        now: Instant,
        host: &mut IpHost,
        changed: bool,
        out: &mut dyn Out,
    ) -> bool {
        if now < self.busy {
            return true;
        }
        let due = match self.wait {
            Wait::Again | Wait::Spin(..) => true,
            Wait::Change => changed,
            Wait::Until(at) => changed || now >= at,
            Wait::Sleep(at) => now >= at,
            Wait::Done => return false,
        };
        if !due {
            // A change that came while the program slept is found when it wakes.
            return true;
        }
        for _ in 0..STEPS {
            let mut sockets = host.sockets(now, out);
            self.wait = self.app.poll(now, &mut sockets);
            self.busy = now + sockets.delay;
            if self.wait != Wait::Again || self.busy > now {
                break;
            }
        }
        if self.wait == Wait::Done {
            host.close_all(out);
            return false;
        }
        true
    }

    /// Stops the program.
    pub fn stop(self, host: &mut IpHost, out: &mut dyn Out) {
        drop(self.app);
        host.close_all(out);
    }
}

/// Writes an interval as ESP-IDF's iperf example prints it.
///
/// # Errors
/// Those of `out`.
pub fn print_interval(out: &mut dyn core::fmt::Write, it: &Interval) -> core::fmt::Result {
    let time = it.end.since(it.start);
    let nanos = time.as_nanos().max(1) as u64;
    // Hundredths of Mbit/s: bits a nanosecond are Gbit/s.
    let rate = it.bytes.saturating_mul(800_000) / nanos.max(1);
    let (from, to) = if it.total { (0, nanos / 1_000_000_000) } else { (it.seq, it.seq + 1) };
    write!(out, "{from:4}-{to:2} sec       {}.{:02} Mbits/sec\r\n", rate / 100, rate % 100)
}

/// Counts of probes that a program has recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProbeCounts {
    /// Probes that arrived.
    pub delivered: u32,
    /// Probes that did not.
    pub lost: u32,
}

impl ProbeCounts {
    /// Takes a sample; returns the interval, if it is one.
    pub fn take(&mut self, sample: &Sample) -> Option<Interval> {
        match sample {
            Sample::Interval(it) => Some(*it),
            Sample::Probe(it) => {
                let lost = matches!(it.fate, espbench_model::sample::Fate::Lost(_));
                let count = if lost { &mut self.lost } else { &mut self.delivered };
                *count = count.saturating_add(1);
                None
            }
        }
    }
}
