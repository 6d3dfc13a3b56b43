//! The virtual lab as what candidates are tried in.

use super::error::TuneError;
use super::fastest::{fastest_memory, in_ram};
use super::setup::TuneSetup;
use crate::TOOL;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_dot11::random::{Purpose, RngStream};
use espbench_dot11::wifi::PowerSave;
use espbench_measure::cell::Origin;
use espbench_measure::run::{RunFacts, Site};
use espbench_measure::tune::outcome::{round_trip_median, round_trips, throughput};
use espbench_measure::tune::want::{objectives, said};
use espbench_measure::tune::{
    Candidate, Evaluation, Metric, Power, RoundTrip, RoundTripSource, Want,
};
use espbench_model::fact::{CHARGE_NC, HEAP_PEAK, TIME_NS};
use espbench_model::sample::{Observer, Sample};
use espbench_model::sdkconfig::{Chip, ConfigOption, OptionValues, SdkContext};
use espbench_model::speech::FlagValue;
use espbench_model::workload::{
    Direction, EchoFormat, IpTest, Iperf, Name, Transport, UdpEcho, Wifi, Workload,
};
use espbench_sim::lab::file::{FileKind, Library};
use espbench_sim::lab::profile::IpCosts;
use espbench_sim::lab::record::Record;
use espbench_sim::lab::scene::{NetDevice, NetRole, PcLink, ProgramStyle, Scene};
use espbench_sim::lab::suite::{self, SuiteError};

/// Intervals that throughput is counted in.
const INTERVALS: u32 = 5;

/// UDP is sent to the device at so many times the rate that is wanted: more would only show how it
/// fares when flooded.
pub(super) const OFFERED: f64 = 1.1;

/// But not at more than the fastest mode carries on the air, Mbit/s (HT40, MCS 7): that would only
/// fill the router's queue.
const CARRIED: f64 = 150.0;

/// Round trips of an evaluation, and how often they begin: not in step with beacons.
const ROUND_TRIPS: u32 = 60;
const EVERY: Duration = Duration::from_millis(213);
const TIMEOUT: Duration = Duration::from_secs(1);

/// Round trips that the lab's is found out with, and their bytes: a ping's.
const PINGS: u32 = 31;
const PING: u32 = 64;

/// Messages for the mean current.
const MESSAGES: u32 = 6;

/// Bytes of a message.
const MESSAGE: u32 = 100;

/// A lab, and what is asked of it.
#[derive(Debug)]
pub struct TuneLab {
    setup: TuneSetup,
    pub(super) scene: Scene,
    context: SdkContext,
    /// The firmware to begin with.
    base: Candidate,
    rtt: RoundTrip,
    objectives: Vec<Metric>,
    /// Load that UDP offers to the device, in bit/s.
    offered: u64,
}

/// Samples and counters of a test.
struct KeptSamples<'s> {
    samples: Vec<Sample>,
    counters: BTreeMap<String, u64>,
    facts: BTreeMap<String, String>,
    stop: &'s dyn Fn() -> bool,
}

impl Record for KeptSamples<'_> {
    fn sample(&mut self, sample: Sample) {
        self.samples.push(sample);
    }

    fn count(&mut self, name: &str, by: u64) {
        *self.counters.entry(name.into()).or_default() += by;
    }

    fn fact(&mut self, name: &str, value: String) {
        self.facts.insert(name.into(), value);
    }

    fn cancelled(&self) -> bool {
        (self.stop)()
    }
}

impl KeptSamples<'_> {
    fn counter(&self, name: &str) -> Option<u64> {
        self.counters.get(name).copied()
    }
}

/// Returns the heap of a device once Wi-Fi has started, without traffic, in bytes; negative where
/// it does not start.
fn heap(device: &NetDevice) -> i64 {
    let memory = device.profile.memory_with(&device.sdk);
    i64::from(memory.heap_bytes) - i64::from(memory.fixed(&device.sdk))
}

/// Reads the room of the setup's lab, with the device that is asked for.
fn room(setup: &TuneSetup, library: &Library) -> Result<Scene, TuneError> {
    library.knows(FileKind::Lab, &setup.lab)?;
    let variants = library.variants(&setup.lab);
    let first = || variants.first().map(|it| (*it).to_string());
    let variant = setup.variant.clone().or_else(first);
    let variant = variant.ok_or_else(|| TuneError::NoVariants { lab: setup.lab.clone() })?;
    let mut scene = library.variant_scene(&setup.lab, &variant)?;
    let Some(device) = scene.devices.first_mut() else {
        return Err(TuneError::NoDevice { variant });
    };
    if device.role != NetRole::Station {
        return Err(TuneError::NotStation { variant });
    }
    if let Some(chip) = setup.chip()
        && device.profile.chip_name != chip.name()
    {
        let profile = library.profile(chip.name()).map_err(|_| {
            let has = |it: &&str| library.profile(it).is_ok();
            let known = Chip::ALL.iter().map(|it| it.name()).filter(has).collect();
            TuneError::NoProfile { chip, known }
        })?;
        device.cores = profile.processor.cores;
        device.profile = profile;
    }
    if let Some(heap) = setup.heap {
        let heap = u32::try_from(heap).unwrap_or(u32::MAX);
        Arc::make_mut(&mut device.profile).memory.heap_bytes = heap;
    }
    if let Some(file) = &setup.file {
        let chip = device.profile.chip_name.parse().unwrap_or_default();
        let known = SdkContext { chip, release: setup.release(), ..SdkContext::default() };
        let context = file.reading.settings.context(known);
        let settings = &file.reading.settings;
        let ms = settings.value(ConfigOption::MinActive, &context);
        device.min_active = Duration::from_millis(ms.into());
        if settings.flag(ConfigOption::Unicore, &context) {
            device.cores = 1;
        }
        device.settings = *settings;
    }
    Ok(scene)
}

impl TuneLab {
    /// Reads the lab of that library.
    ///
    /// # Errors
    /// The mistake in the lab; a want that nothing can reach.
    pub fn new(setup: TuneSetup, library: &Library) -> Result<Self, TuneError> {
        for (at, want) in setup.wants.iter().enumerate() {
            if setup.wants[..at].iter().any(|it| it.metric == want.metric) {
                return Err(TuneError::WantedTwice { metric: want.metric.name() });
            }
        }
        let scene = room(&setup, library)?;
        let name = scene.devices.first().map_or("", |it| &*it.profile.chip_name);
        let chip =
            name.parse().map_err(|why| TuneError::NoSdkConfig { name: name.to_string(), why })?;
        let context = SdkContext { chip, release: setup.release(), ..SdkContext::default() };
        let file = setup.file.as_ref().map(|it| &it.reading);
        let settings = file.map_or_else(OptionValues::default, |it| it.settings);
        let context = settings.context(context);
        if setup.psram && !chip.psram() {
            return Err(TuneError::NoPsram { chip });
        }
        let usual = scene.devices.first().map_or(160, |it| it.profile.processor.clock_mhz);
        let base = Candidate {
            config: settings.config(&context).resolved(&context),
            clock_mhz: file.and_then(|it| it.clock_mhz).unwrap_or(usual),
            power: Power::Awake,
        };
        let wanted = setup.wants.iter().find(|it| it.metric == Metric::UdpRx);
        let mut lab = Self {
            offered: wanted.map_or(0, |it| ((it.value * OFFERED).min(CARRIED) * 1e6) as u64).max(1),
            objectives: objectives(&setup.wants),
            rtt: RoundTrip {
                time: Duration::ZERO,
                source: RoundTripSource::Lab(setup.lab.clone()),
            },
            context,
            base,
            scene,
            setup,
        };
        lab.can_have()?;
        lab.rtt = lab.round_trip()?;
        Ok(lab)
    }

    /// Finds out the lab's round trip, and lengthens it to the one that is asked for.
    fn round_trip(&mut self) -> Result<RoundTrip, TuneError> {
        let own = self.ping()?;
        let Some(asked) = self.setup.rtt.clone() else {
            return Ok(RoundTrip { time: own, ..self.rtt.clone() });
        };
        let variant = self.scene.variant.clone();
        let Some(PcLink::Wire { delay, .. }) = self.scene.pc.as_mut().map(|it| &mut it.link) else {
            return Err(TuneError::NoWire { variant });
        };
        // The wire's own delay is part of what was found.
        match (asked.time + 2 * delay.fixed).checked_sub(own) {
            Some(both) => delay.fixed = both / 2,
            None => {
                let least_ms = own.saturating_sub(2 * delay.fixed).as_secs_f64() * 1e3;
                let (ms, lab) = (asked.ms(), self.setup.lab.clone());
                return Err(TuneError::ShortRoundTrip { ms, least_ms, lab });
            }
        }
        Ok(asked)
    }

    /// Returns the median round trip of a ping between the PC and the device in the lab, with all code
    /// in RAM at the fastest clock and the radio awake: none is much shorter with other settings.
    ///
    /// The lab's echo is a program's; a ping is answered by lwIP's task, so the calls of the program
    /// are taken off.
    fn ping(&self) -> Result<Duration, TuneError> {
        self.ping_of(&Candidate { clock_mhz: self.fastest_mhz(), ..in_ram(&self.base) })
    }

    /// Returns by how much faster memories shorten a ping.
    pub(super) fn saved_by_memory(&self) -> Result<Duration, TuneError> {
        let fastest = fastest_memory(&self.base, &self.context);
        let fastest = self.ping_of(&Candidate { clock_mhz: self.fastest_mhz(), ..fastest })?;
        Ok(self.ping()?.saturating_sub(fastest))
    }

    fn ping_of(&self, candidate: &Candidate) -> Result<Duration, TuneError> {
        let scene = self.scene(candidate);
        let costs = costs(&scene);
        let program =
            costs.socket_receive.ns(PING) + costs.copy.ns(PING) + costs.socket_send.ns(PING);
        let test = probes(PING, PINGS, EVERY);
        let kept = self.ran(&scene, test, self.seed(0), &|| false, &mut Evaluation::default())?;
        let median = round_trip_median(&kept.samples).ok_or_else(|| TuneError::NoAnswer {
            lab: scene.name.clone(),
            variant: scene.variant.clone(),
        })?;
        Ok(median.saturating_sub(Duration::from_nanos(program)))
    }

    /// Refuses a heap that is more than there is before Wi-Fi starts.
    fn can_have(&self) -> Result<(), TuneError> {
        let Some(device) = self.scene.devices.first() else { return Ok(()) };
        let kb = f64::from(device.profile.memory.heap_bytes) / 1024.0;
        let beyond = |it: &&Want| it.metric == Metric::Heap && it.value >= kb;
        match self.setup.wants.iter().find(beyond) {
            Some(want) => {
                Err(TuneError::HeapBeyond { want: *want, kb, said: self.setup.heap.is_some() })
            }
            None => Ok(()),
        }
    }

    /// Returns the setup.
    #[must_use]
    pub const fn setup(&self) -> &TuneSetup {
        &self.setup
    }

    /// Returns the firmware that a search begins with.
    #[must_use]
    pub const fn base(&self) -> &Candidate {
        &self.base
    }

    /// Returns the round trip to the other side.
    #[must_use]
    pub const fn rtt(&self) -> &RoundTrip {
        &self.rtt
    }

    /// Returns the metrics that candidates are compared by.
    #[must_use]
    pub fn objectives(&self) -> &[Metric] {
        &self.objectives
    }

    /// Returns whether the firmware's send buffers are static.
    #[must_use]
    pub fn static_tx(&self) -> bool {
        let file = self.setup.file.as_ref();
        let context = SdkContext { psram: false, ..self.context };
        file.is_some_and(|it| it.reading.settings.static_tx(&context))
    }

    /// Returns whether the board has PSRAM, which buffers could be in.
    #[must_use]
    pub fn psram(&self) -> bool {
        self.setup.psram || self.base.config.memory.get(ConfigOption::Psram) == Some(1)
    }

    /// Returns the place in words: the lab and its variant.
    #[must_use]
    pub fn place(&self) -> String {
        format!("lab {}, variant {}", self.scene.name, self.scene.variant)
    }

    /// Returns the chip and the release.
    #[must_use]
    pub const fn context(&self) -> &SdkContext {
        &self.context
    }

    /// Returns the device and the place, as far as the lab names them.
    fn site(&self) -> Site {
        let first = self.scene.devices.first();
        Site {
            chip: first.map(|it| it.profile.chip_name.clone()).unwrap_or_default(),
            mode: "station".into(),
            distance_m: None,
            security: Some(self.scene.columns.security.clone()),
            environment: Some(self.scene.columns.environment.clone()),
        }
    }

    /// Returns the facts of an answer's report, after so many evaluations.
    #[must_use]
    pub fn facts(&self, spent: usize) -> RunFacts {
        let host = [
            ("wanted", said(&self.setup.wants)),
            ("evaluations", spent.to_string()),
            ("budget", self.setup.budget.to_string()),
            ("streams", self.setup.streams.to_string()),
            ("round trip", self.rtt.words()),
        ];
        RunFacts {
            name: "tune".into(),
            tool: TOOL.into(),
            target: format!("sim:{}", self.setup.lab),
            origin: Origin::Simulated,
            seed: self.setup.seed,
            site: self.site(),
            host: host.map(|(name, value)| (name.to_string(), value)).into(),
            ..RunFacts::default()
        }
    }

    /// Returns remarks on the lab that matter for reading the figures.
    pub(super) fn notes(&self) -> Vec<String> {
        let Scene { name: lab, variant, title, environment, .. } = &self.scene;
        let setup = &self.setup;
        let asks = |any: &[Metric]| any.iter().any(|it| self.objectives.contains(it));
        let mut notes = alloc::vec![format!(
            "Lab {lab}, variant {variant} ({title}), environment {}. {} TCP stream(s), throughput \
             over {} s of virtual time without its beginning; the least heap is that of all tests, \
             of {} before Wi-Fi starts{}.",
            environment.name,
            setup.streams,
            setup.time.as_secs_f64(),
            self.scene.devices.first().map_or_else(String::new, |it| {
                format!("{} KB", it.profile.memory.heap_bytes / 1024)
            }),
            if setup.heap.is_some() {
                String::new()
            } else {
                let heap = FlagValue("--heap", "SIZE");
                format!(" (a firmware as small as the iperf example; {heap})")
            },
        )];
        if !self.objectives.iter().any(|it| it.depends_on_sleep()) {
            notes.push("The device does not sleep (WIFI_PS_NONE).".into());
        }
        if asks(&[Metric::UdpRx]) {
            notes.push(format!(
                "UDP is sent to the device at {} Mbit/s, {OFFERED} times what is wanted{}; the device \
                 sends as fast as it can.",
                self.offered as f64 / 1e6,
                if (self.offered as f64) < CARRIED * 1e6 { "" } else { ", or what the air carries" }
            ));
        }
        if asks(&[Metric::UdpLatency, Metric::UdpLatencyP99]) {
            notes.push(format!(
                "Latency: {ROUND_TRIPS} round trips of {MESSAGE} B from the PC, one every {} ms; a \
                 lost one counts as {} s.",
                EVERY.as_millis(),
                TIMEOUT.as_secs()
            ));
        }
        if asks(&[Metric::Current, Metric::Battery]) {
            notes.push(format!(
                "Current: a message of {MESSAGE} B comes every {} s and is answered; battery life is that of \
                 {} with it. Idle processors do not sleep (no automatic light sleep) unless the \
                 variant says so.",
                setup.message_every.as_secs_f64(),
                setup.battery.words()
            ));
        }
        notes
    }

    pub(super) fn scene(&self, candidate: &Candidate) -> Scene {
        let mut scene = self.scene.clone();
        for device in scene.devices.iter_mut().take(1) {
            let mut sdk = candidate.config;
            if !device.profile.wifi.ampdu_tx {
                sdk.tx_ba_window = 0;
            }
            device.sdk = sdk;
            if candidate.clock_mhz != device.profile.processor.clock_mhz {
                device.profile = Arc::new(device.profile.at_clock(candidate.clock_mhz));
            }
            device.sleep = match candidate.power {
                Power::Awake => PowerSave::None,
                Power::MinModem => PowerSave::MinModem,
                Power::MaxModem(listen_interval) => PowerSave::MaxModem { listen_interval },
            };
        }
        scene
    }

    pub(super) fn iperf(&self, transport: Transport, sends: bool) -> IpTest {
        let udp = transport == Transport::Udp;
        IpTest::Iperf(Iperf {
            transport,
            direction: if sends { Direction::Reverse } else { Direction::Forward },
            time: self.setup.time,
            bytes: None,
            interval: self.setup.time / INTERVALS,
            length: 0,
            bandwidth: (udp && !sends).then_some(self.offered),
            parallel: if udp { 1 } else { self.setup.streams },
            window: None,
            no_delay: false,
            ..Iperf::DEFAULT
        })
    }

    /// Carries out a test, and keeps the least heap.
    fn ran<'s>(
        &self,
        scene: &Scene,
        test: IpTest,
        seed: u64,
        stop: &'s dyn Fn() -> bool,
        outcome: &mut Evaluation,
    ) -> Result<KeptSamples<'s>, TuneError> {
        // A name that a plan could not write is cut: the scene is made already.
        let variant = Name::new(&scene.variant).unwrap_or_default();
        let (samples, counters, facts) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
        let mut kept = KeptSamples { samples, counters, facts, stop };
        let free = scene.devices.first().map_or(0, heap);
        let work = Workload::Wifi(Wifi::new(variant, test));
        let answering = matches!(test, IpTest::UdpEcho(_)).then(|| answering(scene)).flatten();
        match suite::run_in(&work, answering.as_ref().unwrap_or(scene), seed, &mut (), &mut kept) {
            // With nothing left for packets Wi-Fi does not start, and with too little a test does
            // not come to its end: that is what the settings do.
            Ok(()) | Err(SuiteError::Endless(_) | SuiteError::NoConnection) => {}
            Err(_) if free <= 0 => {}
            Err(why) => {
                let (kind, lab) = (test.kind(), scene.name.clone());
                return Err(TuneError::Test { kind, lab, why: Box::new(why) });
            }
        }
        // What is in PSRAM is not missing in the chip's RAM.
        let psram = scene.devices.first().is_some_and(|it| it.sdk.memory.buffers_in_psram());
        let taken = if psram { 0 } else { kept.counter(HEAP_PEAK).unwrap_or(0) };
        let free = free - i64::try_from(taken).unwrap_or(i64::MAX);
        outcome.free_heap = Some(outcome.free_heap.map_or(free, |it| it.min(free)));
        Ok(kept)
    }

    /// Returns the load that UDP offers to the device, in Mbit/s.
    pub(super) fn offered_mbit_s(&self) -> f64 {
        self.offered as f64 / 1e6
    }

    /// Returns the fastest clock of the chip.
    pub(crate) fn fastest_mhz(&self) -> u32 {
        let clocks = self.context.chip.clocks_mhz().iter().copied();
        clocks.max().unwrap_or(0).max(self.base.clock_mhz)
    }

    pub(super) fn seed(&self, number: u32) -> u64 {
        RngStream::stream(self.setup.seed, number, Purpose::Start).bits()
    }

    /// Tries a candidate: the same outcome for the same seed. `stop` is asked often whether to stop.
    ///
    /// # Errors
    /// [`TuneError::Test`].
    pub fn evaluate(
        &self,
        candidate: &Candidate,
        seed: u32,
        metrics: &[Metric],
        stop: &dyn Fn() -> bool,
    ) -> Result<Evaluation, TuneError> {
        let scene = self.scene(candidate);
        let seed = self.seed(seed);
        let wanted = |it: Metric| metrics.contains(&it);
        let mut outcome = Evaluation::default();
        for metric in THROUGHPUTS.into_iter().filter(|it| wanted(*it)) {
            let (rate, _) = self.rate(&scene, metric, seed, stop, &mut outcome)?;
            match metric {
                Metric::TcpTx => outcome.tcp_tx = Some(rate),
                Metric::TcpRx => outcome.tcp_rx = Some(rate),
                Metric::UdpTx => outcome.udp_tx = Some(rate),
                _ => outcome.udp_rx = Some(rate),
            }
        }
        let latency = wanted(Metric::UdpLatency) || wanted(Metric::UdpLatencyP99);
        let power = wanted(Metric::Current) || wanted(Metric::Battery);
        // Where only the heap is asked for, something has to run.
        if latency || (outcome.free_heap.is_none() && !power) {
            let kept =
                self.ran(&scene, probes(MESSAGE, ROUND_TRIPS, EVERY), seed, stop, &mut outcome)?;
            let lost = TIMEOUT.as_secs_f64() * 1e3;
            outcome.latency_ms = round_trips(&kept.samples, TIMEOUT).or(Some((lost, lost)));
        }
        if power {
            let test = probes(MESSAGE, MESSAGES, self.setup.message_every);
            let kept = self.ran(&scene, test, seed, stop, &mut outcome)?;
            let counted = kept.counter(CHARGE_NC).zip(kept.counter(TIME_NS).filter(|it| *it > 0));
            // nC over ns is A.
            let ma = counted.map(|(charge, time)| charge as f64 / time as f64 * 1e3);
            outcome.current_ma = ma;
            outcome.battery_days = ma.map(|ma| self.setup.battery.days(ma));
        }
        Ok(outcome)
    }

    /// Returns a throughput in a room in Mbit/s, and the facts of the test.
    pub(super) fn rate(
        &self,
        scene: &Scene,
        metric: Metric,
        seed: u64,
        stop: &dyn Fn() -> bool,
        outcome: &mut Evaluation,
    ) -> Result<(f64, BTreeMap<String, String>), TuneError> {
        let udp = matches!(metric, Metric::UdpTx | Metric::UdpRx);
        let transport = if udp { Transport::Udp } else { Transport::Tcp };
        let sends = matches!(metric, Metric::TcpTx | Metric::UdpTx);
        let kept = self.ran(scene, self.iperf(transport, sends), seed, stop, outcome)?;
        let receiver = if sends { Observer::Receiver } else { Observer::Peer };
        let interval = self.setup.time / INTERVALS;
        Ok((throughput(&kept.samples, receiver, interval, INTERVALS), kept.facts))
    }
}

/// Metrics that are throughputs.
pub(super) const THROUGHPUTS: [Metric; 4] =
    [Metric::TcpTx, Metric::TcpRx, Metric::UdpTx, Metric::UdpRx];

/// Returns the costs of the device's packets in a room, as its firmware has them.
pub(super) fn costs(scene: &Scene) -> IpCosts {
    let costs = |it: &NetDevice| it.profile.costs(&it.sdk);
    scene.devices.first().map_or_else(IpCosts::default, costs)
}

/// Returns the room with programs that answer probes of this search, where there are others: the published Arduino sketch sends
/// what it got in ASCII to a port of its own.
fn answering(scene: &Scene) -> Option<Scene> {
    let is_sketch = |it: &NetDevice| it.program == ProgramStyle::Arduino;
    scene.devices.iter().any(is_sketch).then(|| {
        let mut scene = scene.clone();
        for device in scene.devices.iter_mut().filter(|it| is_sketch(it)) {
            device.program = ProgramStyle::Plain;
        }
        scene
    })
}

const fn probes(size: u32, count: u32, interval: Duration) -> IpTest {
    IpTest::UdpEcho(UdpEcho {
        size,
        count,
        discard: 0,
        format: EchoFormat::Binary,
        in_flight: 16,
        interval: Some(interval),
        timeout: TIMEOUT,
    })
}
