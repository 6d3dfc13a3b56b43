//! The virtual lab as what candidates are tried in.

use super::Args;
use anyhow::{Context as _, anyhow, bail};
use espbench_dot11::random::{Purpose, RngStream};
use espbench_dot11::wifi::PowerSave;
use espbench_measure::run::Site;
use espbench_measure::tune::outcome::{round_trips, throughput};
use espbench_measure::tune::{Candidate, Evaluate, Evaluation, Metric, Power, Want};
use espbench_model::fact::{CHARGE_NC, HEAP_PEAK, TIME_NS};
use espbench_model::sample::{Observer, Sample};
use espbench_model::sdkconfig::{Chip, SdkContext};
use espbench_model::workload::{
    Direction, EchoFormat, IpTest, Iperf, Name, Transport, UdpEcho, Wifi, Workload,
};
use espbench_sim::lab::file::FileKind;
use espbench_sim::lab::record::Record;
use espbench_sim::lab::scene::{NetDevice, NetRole, PcLink, Scene};
use espbench_sim::lab::suite::{self, SuiteError};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

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
pub(super) struct TuneLab {
    scene: Scene,
    objectives: Vec<Metric>,
    seed: u64,
    streams: u16,
    time: Duration,
    /// Load that UDP offers to the device, in bit/s.
    offered: u64,
    message_every: Duration,
    battery_mah: f64,
    /// The heap was said.
    own_heap: bool,
    cancel: Arc<AtomicBool>,
}

/// Samples and counters of a test.
#[derive(Default)]
struct KeptSamples {
    samples: Vec<Sample>,
    counters: BTreeMap<String, u64>,
    cancel: Arc<AtomicBool>,
}

impl Record for KeptSamples {
    fn sample(&mut self, sample: Sample) {
        self.samples.push(sample);
    }

    fn count(&mut self, name: &str, by: u64) {
        *self.counters.entry(name.into()).or_default() += by;
    }

    fn fact(&mut self, _name: &str, _value: String) {}

    fn cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }
}

impl KeptSamples {
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

impl TuneLab {
    /// Reads the lab that the flags name.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn new(
        args: &Args,
        objectives: &[Metric],
        cancel: Arc<AtomicBool>,
    ) -> anyhow::Result<Self> {
        let flags = &args.search;
        let library = crate::labs::library(FileKind::Lab, &flags.lab)?;
        let variants = library.variants(&flags.lab);
        let variant = match &flags.variant {
            Some(variant) => variant.as_str(),
            None => variants.first().copied().with_context(|| {
                format!(
                    "--lab {}: its devices speak ESP-NOW only; name a lab with variants, as \
                     `espbench lab list` shows them",
                    flags.lab
                )
            })?,
        };
        let mut scene = library.net_scene(&flags.lab, variant)?;
        let Some(device) = scene.devices.first_mut() else {
            bail!("--variant {variant}: it has no device");
        };
        if device.role != NetRole::Station {
            bail!("--variant {variant}: its device is an access point; a search is for stations");
        }
        if let Some(chip) = args.chip
            && device.profile.chip_name != chip.name()
        {
            let profile = library.profile(chip.name()).map_err(|_| {
                let with: Vec<&str> = Chip::ALL
                    .iter()
                    .map(|it| it.name())
                    .filter(|it| library.profile(it).is_ok())
                    .collect();
                anyhow!(
                    "--chip {chip}: there is no profile of it to simulate; there are {}. --check \
                     needs none",
                    with.join(", ")
                )
            })?;
            device.cores = profile.processor.cores;
            device.profile = profile;
        }
        if let Some(heap) = args.heap {
            let heap = u32::try_from(heap).unwrap_or(u32::MAX);
            Arc::make_mut(&mut device.profile).memory.heap_bytes = heap;
        }
        if let Some(rtt) = args.rtt {
            let Some(PcLink::Wire { delay, .. }) = scene.pc.as_mut().map(|it| &mut it.link) else {
                bail!(
                    "--rtt sets the delay of the PC's wire, and the PC of variant {variant} has no wire"
                );
            };
            delay.fixed = rtt / 2;
        }
        let wanted = args.want.iter().find(|it| it.metric == Metric::UdpRx);
        Ok(Self {
            offered: wanted.map_or(0, |it| ((it.value * OFFERED).min(CARRIED) * 1e6) as u64).max(1),
            scene,
            objectives: objectives.into(),
            seed: flags.seed,
            streams: args.streams,
            time: flags.time,
            message_every: flags.message_every,
            battery_mah: flags.battery_mah,
            own_heap: args.heap.is_some(),
            cancel,
        })
    }

    /// Refuses a heap that is more than there is before Wi-Fi starts.
    ///
    /// # Errors
    /// It is.
    pub(super) fn can_have(&self, wants: &[Want]) -> anyhow::Result<()> {
        let Some(device) = self.scene.devices.first() else { return Ok(()) };
        let kb = f64::from(device.profile.memory.heap_bytes) / 1024.0;
        let heap = wants.iter().find(|it| it.metric == Metric::Heap && it.value >= kb);
        match heap {
            Some(want) => bail!(
                "{want} cannot be had: before Wi-Fi starts {kb:.0} KB are free{}. Want less, or say \
                 --heap SIZE, what esp_get_free_heap_size() answers then in your firmware",
                if self.own_heap { "" } else { " in a firmware as small as the iperf example" }
            ),
            None => Ok(()),
        }
    }

    /// Returns the device and the place, as far as the lab names them.
    pub(super) fn site(&self) -> Site {
        let first = self.scene.devices.first();
        Site {
            chip: first.map(|it| it.profile.chip_name.clone()).unwrap_or_default(),
            mode: "station".into(),
            distance_m: None,
            security: Some(self.scene.columns.security.clone()),
            environment: Some(self.scene.columns.environment.clone()),
        }
    }

    /// Returns remarks on the lab that matter for reading the figures.
    pub(super) fn notes(&self) -> Vec<String> {
        let Scene { name: lab, variant, title, environment, .. } = &self.scene;
        let asks = |any: &[Metric]| any.iter().any(|it| self.objectives.contains(it));
        let mut notes = vec![format!(
            "Lab {lab}, variant {variant} ({title}), environment {}. {} TCP stream(s), throughput \
             over {} s of virtual time without its beginning; the least heap is that of all tests, \
             of {} before Wi-Fi starts{}.",
            environment.name,
            self.streams,
            self.time.as_secs_f64(),
            self.scene.devices.first().map_or_else(String::new, |it| {
                format!("{} KB", it.profile.memory.heap_bytes / 1024)
            }),
            if self.own_heap {
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
                self.message_every.as_secs_f64(),
                self.battery_mah
            ));
        }
        notes
    }

    /// Returns the chip, the release and PSRAM, as settings depend on them.
    ///
    /// # Errors
    /// The chip has no sdkconfig.
    pub(super) fn context(&self, args: &Args) -> anyhow::Result<SdkContext> {
        let name = self.site().chip;
        let chip = name.parse().map_err(|e| {
            anyhow::anyhow!("the device of this lab is an {name}, which is {e}: say --chip")
        })?;
        Ok(SdkContext { chip, release: args.idf.unwrap_or_default(), ..SdkContext::default() })
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
            time: self.time,
            bytes: None,
            interval: self.time / INTERVALS,
            length: 0,
            bandwidth: (udp && !sends).then_some(self.offered),
            parallel: if udp { 1 } else { self.streams },
            window: None,
            no_delay: false,
            ..Iperf::DEFAULT
        })
    }

    /// Carries out a test, and keeps the least heap.
    fn ran(
        &self,
        scene: &Scene,
        test: IpTest,
        seed: u64,
        outcome: &mut Evaluation,
    ) -> anyhow::Result<KeptSamples> {
        let variant = Name::new(&scene.variant).context("the variant's name is too long")?;
        let mut kept = KeptSamples { cancel: self.cancel.clone(), ..KeptSamples::default() };
        let free = scene.devices.first().map_or(0, heap);
        let work = Workload::Wifi(Wifi::new(variant, test));
        match suite::run_in(&work, scene, seed, &mut (), &mut kept) {
            // With nothing left for packets Wi-Fi does not start, and with too little a test does
            // not come to its end: that is what the settings do.
            Ok(()) | Err(SuiteError::Endless(_)) => {}
            Err(_) if free <= 0 => {}
            Err(failed) => bail!("{} in lab {}: {failed}", test.kind(), scene.name),
        }
        let taken = kept.counter(HEAP_PEAK).unwrap_or(0);
        let free = free - i64::try_from(taken).unwrap_or(i64::MAX);
        outcome.free_heap = Some(outcome.free_heap.map_or(free, |it| it.min(free)));
        Ok(kept)
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

impl Evaluate for TuneLab {
    type Error = anyhow::Error;

    fn evaluate(&self, candidate: &Candidate, seed: u64) -> anyhow::Result<Evaluation> {
        let scene = self.scene(candidate);
        let seed = RngStream::stream(self.seed, seed as u32, Purpose::Start).bits();
        let wanted = |it: Metric| self.objectives.contains(&it);
        let mut outcome = Evaluation::default();
        let tests = [
            (Metric::TcpTx, Transport::Tcp, true),
            (Metric::TcpRx, Transport::Tcp, false),
            (Metric::UdpTx, Transport::Udp, true),
            (Metric::UdpRx, Transport::Udp, false),
        ];
        for (metric, transport, sends) in tests.into_iter().filter(|it| wanted(it.0)) {
            let kept = self.ran(&scene, self.iperf(transport, sends), seed, &mut outcome)?;
            let receiver = if sends { Observer::Receiver } else { Observer::Peer };
            let rate = throughput(&kept.samples, receiver, self.time / INTERVALS, INTERVALS);
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
            let kept = self.ran(&scene, probes(ROUND_TRIPS, EVERY), seed, &mut outcome)?;
            let lost = TIMEOUT.as_secs_f64() * 1e3;
            outcome.latency_ms = round_trips(&kept.samples, TIMEOUT).or(Some((lost, lost)));
        }
        if power {
            let test = probes(MESSAGES, self.message_every);
            let kept = self.ran(&scene, test, seed, &mut outcome)?;
            let counted = kept.counter(CHARGE_NC).zip(kept.counter(TIME_NS).filter(|it| *it > 0));
            // nC over ns is A.
            let ma = counted.map(|(charge, time)| charge as f64 / time as f64 * 1e3);
            outcome.current_ma = ma;
            outcome.battery_days = ma.map(|ma| self.battery_mah / ma / 24.0);
        }
        Ok(outcome)
    }
}
