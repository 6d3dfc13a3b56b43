//! The virtual lab as what candidates are tried in.

use super::error::TuneError;
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
use espbench_measure::tune::outcome::{round_trips, throughput};
use espbench_measure::tune::want::{objectives, said};
use espbench_measure::tune::{Candidate, Evaluation, Metric, Power, Want};
use espbench_model::fact::{CHARGE_NC, HEAP_PEAK, TIME_NS};
use espbench_model::sample::{Observer, Sample};
use espbench_model::sdkconfig::{Chip, SdkContext};
use espbench_model::workload::{
    Direction, EchoFormat, IpTest, Iperf, Name, Transport, UdpEcho, Wifi, Workload,
};
use espbench_sim::lab::file::{FileKind, Library};
use espbench_sim::lab::record::Record;
use espbench_sim::lab::scene::{NetDevice, NetRole, PcLink, Scene};
use espbench_sim::lab::suite::{self, SuiteError};

/// Intervals that throughput is counted in.
const INTERVALS: u32 = 5;

/// UDP is sent to the device at so many times the rate that is wanted: more would only show how it
/// fares when flooded.
const OFFERED: f64 = 1.1;

/// But not at more than the fastest mode carries on the air, Mbit/s (HT40, MCS 7): that would only
/// fill the router's queue.
const CARRIED: f64 = 150.0;

/// Round trips of an evaluation, and how often they begin: not in step with beacons.
const ROUND_TRIPS: u32 = 60;
const EVERY: Duration = Duration::from_millis(213);
const TIMEOUT: Duration = Duration::from_secs(1);

/// Messages for the mean current.
const MESSAGES: u32 = 6;

/// Bytes of a message.
const MESSAGE: u32 = 100;

/// A lab, and what is asked of it.
#[derive(Debug)]
pub struct TuneLab {
    setup: TuneSetup,
    scene: Scene,
    context: SdkContext,
    objectives: Vec<Metric>,
    /// Load that UDP offers to the device, in bit/s.
    offered: u64,
}

/// Samples and counters of a test.
struct KeptSamples<'s> {
    samples: Vec<Sample>,
    counters: BTreeMap<String, u64>,
    stop: &'s dyn Fn() -> bool,
}

impl Record for KeptSamples<'_> {
    fn sample(&mut self, sample: Sample) {
        self.samples.push(sample);
    }

    fn count(&mut self, name: &str, by: u64) {
        *self.counters.entry(name.into()).or_default() += by;
    }

    fn fact(&mut self, _name: &str, _value: String) {}

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
    let memory = &device.profile.memory;
    i64::from(memory.heap_bytes) - i64::from(memory.fixed(&device.sdk))
}

/// Reads the room of the setup's lab, with the device that is asked for.
fn room(setup: &TuneSetup, library: &Library) -> Result<Scene, TuneError> {
    library.knows(FileKind::Lab, &setup.lab)?;
    let variants = library.variants(&setup.lab);
    let first = || variants.first().map(|it| (*it).to_string());
    let variant = setup.variant.clone().or_else(first);
    let variant = variant.ok_or_else(|| TuneError::NoVariants { lab: setup.lab.clone() })?;
    let mut scene = library.net_scene(&setup.lab, &variant)?;
    let Some(device) = scene.devices.first_mut() else {
        return Err(TuneError::NoDevice { variant });
    };
    if device.role != NetRole::Station {
        return Err(TuneError::NotStation { variant });
    }
    if let Some(chip) = setup.chip
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
    if let Some(rtt) = setup.rtt {
        let Some(PcLink::Wire { delay, .. }) = scene.pc.as_mut().map(|it| &mut it.link) else {
            return Err(TuneError::NoWire { variant });
        };
        delay.fixed = rtt / 2;
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
        let release = setup.release.unwrap_or_default();
        let wanted = setup.wants.iter().find(|it| it.metric == Metric::UdpRx);
        let lab = Self {
            offered: wanted.map_or(0, |it| ((it.value * OFFERED).min(CARRIED) * 1e6) as u64).max(1),
            objectives: objectives(&setup.wants),
            context: SdkContext { chip, release, ..SdkContext::default() },
            scene,
            setup,
        };
        lab.can_have()?;
        Ok(lab)
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
                ""
            } else {
                " (a firmware as small as the iperf example; --heap SIZE)"
            },
        )];
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
                "Current: a message of {MESSAGE} B comes every {} s and is answered; battery life of {} \
                 mAh with it. Idle processors do not sleep (no automatic light sleep) unless the \
                 variant says so.",
                setup.message_every.as_secs_f64(),
                setup.battery_mah
            ));
        }
        notes
    }

    fn scene(&self, candidate: &Candidate) -> Scene {
        let mut scene = self.scene.clone();
        for device in scene.devices.iter_mut().take(1) {
            let mut sdk = candidate.config;
            if !device.profile.wifi.ampdu_tx {
                sdk.tx_ba_window = 0;
            }
            device.sdk = sdk;
            device.sleep = match candidate.power {
                Power::Awake => PowerSave::None,
                Power::MinModem => PowerSave::MinModem,
                Power::MaxModem(listen_interval) => PowerSave::MaxModem { listen_interval },
            };
        }
        scene
    }

    fn iperf(&self, transport: Transport, sends: bool) -> IpTest {
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
        let (samples, counters) = (Vec::new(), BTreeMap::new());
        let mut kept = KeptSamples { samples, counters, stop };
        let free = scene.devices.first().map_or(0, heap);
        let work = Workload::Wifi(Wifi::new(variant, test));
        match suite::run_in(&work, scene, seed, &mut (), &mut kept) {
            // With nothing left for packets Wi-Fi does not start, and with too little a test does
            // not come to its end: that is what the settings do.
            Ok(()) | Err(SuiteError::Endless(_)) => {}
            Err(_) if free <= 0 => {}
            Err(why) => {
                let (kind, lab) = (test.kind(), scene.name.clone());
                return Err(TuneError::Test { kind, lab, why: Box::new(why) });
            }
        }
        let taken = kept.counter(HEAP_PEAK).unwrap_or(0);
        let free = free - i64::try_from(taken).unwrap_or(i64::MAX);
        outcome.free_heap = Some(outcome.free_heap.map_or(free, |it| it.min(free)));
        Ok(kept)
    }

    /// Tries a candidate: the same outcome for the same seed. `stop` is asked often whether to stop.
    ///
    /// # Errors
    /// [`TuneError::Test`].
    pub fn evaluate(
        &self,
        candidate: &Candidate,
        seed: u32,
        stop: &dyn Fn() -> bool,
    ) -> Result<Evaluation, TuneError> {
        let scene = self.scene(candidate);
        let seed = RngStream::stream(self.setup.seed, seed, Purpose::Start).bits();
        let wanted = |it: Metric| self.objectives.contains(&it);
        let mut outcome = Evaluation::default();
        let tests = [
            (Metric::TcpTx, Transport::Tcp, true),
            (Metric::TcpRx, Transport::Tcp, false),
            (Metric::UdpTx, Transport::Udp, true),
            (Metric::UdpRx, Transport::Udp, false),
        ];
        for (metric, transport, sends) in tests.into_iter().filter(|it| wanted(it.0)) {
            let kept = self.ran(&scene, self.iperf(transport, sends), seed, stop, &mut outcome)?;
            let receiver = if sends { Observer::Receiver } else { Observer::Peer };
            let rate = throughput(&kept.samples, receiver, self.setup.time / INTERVALS, INTERVALS);
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
            let kept = self.ran(&scene, probes(ROUND_TRIPS, EVERY), seed, stop, &mut outcome)?;
            let lost = TIMEOUT.as_secs_f64() * 1e3;
            outcome.latency_ms = round_trips(&kept.samples, TIMEOUT).or(Some((lost, lost)));
        }
        if power {
            let test = probes(MESSAGES, self.setup.message_every);
            let kept = self.ran(&scene, test, seed, stop, &mut outcome)?;
            let counted = kept.counter(CHARGE_NC).zip(kept.counter(TIME_NS).filter(|it| *it > 0));
            // nC over ns is A.
            let ma = counted.map(|(charge, time)| charge as f64 / time as f64 * 1e3);
            outcome.current_ma = ma;
            outcome.battery_days = ma.map(|ma| self.setup.battery_mah / ma / 24.0);
        }
        Ok(outcome)
    }
}

const fn probes(count: u32, interval: Duration) -> IpTest {
    IpTest::UdpEcho(UdpEcho {
        size: MESSAGE,
        count,
        discard: 0,
        format: EchoFormat::Binary,
        in_flight: 16,
        interval: Some(interval),
        timeout: TIMEOUT,
    })
}
