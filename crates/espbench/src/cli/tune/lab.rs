//! The virtual lab as what candidates are tried in.

use super::Args;
use anyhow::{Context as _, bail};
use espbench_measure::run::Site;
use espbench_measure::tune::outcome::{round_trips, throughput};
use espbench_measure::tune::{Candidate, Evaluate, Metric, Outcome, Power};
use espbench_proto::sdkconfig::Context;
use espbench_proto::workload::{Direction, EchoFormat, Iperf, Transport, UdpEcho};
use espbench_sim::lab::file::Kind;
use espbench_sim::lab::net_scene::{Link, NetRole, NetScene};
use espbench_sim::lab::wifi::tune::{Ran, Task, run};
use espbench_sim::random::{Purpose, Random};
use espbench_sim::wifi::Sleep;
use std::time::Duration;

/// Intervals that throughput is counted in.
const INTERVALS: u32 = 5;

/// What a sender of UDP offers: more than any chip's radio takes.
const OFFERED: u64 = 150_000_000;

/// Round trips of an evaluation, and how often they begin: not in step with beacons.
const ROUND_TRIPS: u32 = 60;
const EVERY: Duration = Duration::from_millis(213);
const TIMEOUT: Duration = Duration::from_secs(1);

/// Messages for the mean current.
const MESSAGES: u32 = 6;

/// Bytes of a message.
const MESSAGE: u32 = 100;

/// A lab, and what is asked of it.
pub(super) struct Lab {
    scene: NetScene,
    objectives: Vec<Metric>,
    seed: u64,
    streams: u16,
    time: Duration,
    message_every: Duration,
    battery_mah: f64,
}

impl Lab {
    /// The lab that the flags name.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn new(args: &Args, objectives: &[Metric]) -> anyhow::Result<Self> {
        let flags = &args.search;
        let library = crate::labs::library(Kind::Lab, &flags.lab)?;
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
            let profile = library
                .profile(chip.name())
                .with_context(|| format!("--chip {chip}: there is no profile of it to simulate"))?;
            device.cores = profile.processor.cores;
            device.profile = profile;
        }
        if let Some(rtt) = args.rtt {
            let Link::Wire { delay, .. } = &mut scene.pc.link else {
                bail!("--rtt is the wire's, and the PC of variant {variant} has none");
            };
            delay.fixed = rtt / 2;
        }
        Ok(Self {
            scene,
            objectives: objectives.into(),
            seed: flags.seed,
            streams: args.streams,
            time: flags.time,
            message_every: flags.message_every,
            battery_mah: flags.battery_mah,
        })
    }

    /// What is known of device and place.
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

    /// What there is to know of it when figures are read.
    pub(super) fn notes(&self) -> Vec<String> {
        let NetScene { lab, variant, title, environment, .. } = &self.scene;
        let asks = |any: &[Metric]| any.iter().any(|it| self.objectives.contains(it));
        let mut notes = vec![format!(
            "Lab {lab}, variant {variant} ({title}), environment {}. {} TCP stream(s), throughput \
             over {} s of virtual time without its beginning; the least heap is that of all tests.",
            environment.name,
            self.streams,
            self.time.as_secs_f64()
        )];
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
                "Current: a message of {MESSAGE} B every {} s, which the PC answers; battery life of \
                 {} mAh with it. Idle processors do not sleep (no automatic light sleep) unless the \
                 variant says so.",
                self.message_every.as_secs_f64(),
                self.battery_mah
            ));
        }
        notes
    }

    /// The chip, the release and PSRAM, as settings depend on them.
    ///
    /// # Errors
    /// The chip has no sdkconfig.
    pub(super) fn context(&self, args: &Args) -> anyhow::Result<Context> {
        let name = self.site().chip;
        let chip = name.parse().map_err(|e| {
            anyhow::anyhow!("the device of this lab is an {name}, which is {e}: say --chip")
        })?;
        Ok(Context { chip, release: args.idf.unwrap_or_default(), ..Context::default() })
    }

    fn scene(&self, candidate: &Candidate) -> NetScene {
        let mut scene = self.scene.clone();
        for device in scene.devices.iter_mut().take(1) {
            let mut sdk = candidate.config;
            if !device.profile.wifi.ampdu_tx {
                sdk.tx_ba_window = 0;
            }
            device.sdk = sdk;
            device.sleep = match candidate.power {
                Power::Awake => Sleep::None,
                Power::MinModem => Sleep::MinModem,
                Power::MaxModem(listen_interval) => Sleep::MaxModem { listen_interval },
            };
        }
        scene
    }

    fn iperf(&self, transport: Transport) -> Iperf {
        let udp = transport == Transport::Udp;
        Iperf {
            transport,
            direction: Direction::Forward,
            time: self.time,
            bytes: None,
            interval: self.time / INTERVALS,
            length: 0,
            bandwidth: udp.then_some(OFFERED),
            parallel: if udp { 1 } else { self.streams },
            window: None,
            no_delay: false,
        }
    }

    fn rate(&self, ran: &Ran) -> f64 {
        throughput(&ran.samples, self.time / INTERVALS, INTERVALS)
    }

    /// Does a task, and keeps the least heap.
    fn ran(
        &self,
        scene: &NetScene,
        task: &Task,
        seed: u64,
        outcome: &mut Outcome,
    ) -> anyhow::Result<Ran> {
        let ran = run(scene, task, seed).context("the lab has no device")?;
        let least = outcome.free_heap.map_or(ran.free_heap, |it| it.min(ran.free_heap));
        outcome.free_heap = Some(least);
        Ok(ran)
    }
}

const fn probes(count: u32, interval: Duration) -> UdpEcho {
    UdpEcho {
        size: MESSAGE,
        count,
        discard: 0,
        format: EchoFormat::Binary,
        in_flight: 16,
        interval: Some(interval),
        timeout: TIMEOUT,
    }
}

impl Evaluate for Lab {
    type Error = anyhow::Error;

    fn evaluate(&self, candidate: &Candidate, seed: u64) -> anyhow::Result<Outcome> {
        let scene = self.scene(candidate);
        let seed = Random::stream(self.seed, seed as u32, Purpose::Start).bits();
        let wanted = |it: Metric| self.objectives.contains(&it);
        let mut outcome = Outcome::default();
        let tests = [
            (Metric::TcpTx, Task::Sends(self.iperf(Transport::Tcp))),
            (Metric::TcpRx, Task::Receives(self.iperf(Transport::Tcp))),
            (Metric::UdpTx, Task::Sends(self.iperf(Transport::Udp))),
            (Metric::UdpRx, Task::Receives(self.iperf(Transport::Udp))),
        ];
        for (metric, task) in tests.iter().filter(|it| wanted(it.0)) {
            let ran = self.ran(&scene, task, seed, &mut outcome)?;
            let rate = Some(self.rate(&ran));
            match metric {
                Metric::TcpTx => outcome.tcp_tx = rate,
                Metric::TcpRx => outcome.tcp_rx = rate,
                Metric::UdpTx => outcome.udp_tx = rate,
                _ => outcome.udp_rx = rate,
            }
        }
        let latency = wanted(Metric::UdpLatency) || wanted(Metric::UdpLatencyP99);
        let power = wanted(Metric::Current) || wanted(Metric::Battery);
        // Where only the heap is asked for, something has to run.
        if latency || (outcome.free_heap.is_none() && !power) {
            let task = Task::Echoes(probes(ROUND_TRIPS, EVERY));
            let ran = self.ran(&scene, &task, seed, &mut outcome)?;
            outcome.latency_ms = round_trips(&ran.samples, TIMEOUT);
        }
        if power {
            let task = Task::Asks(probes(MESSAGES, self.message_every));
            let ran = self.ran(&scene, &task, seed, &mut outcome)?;
            let ns = u64::try_from(ran.time.as_nanos()).unwrap_or(u64::MAX);
            let ma = ran.charge.mean_na(ns).map(|na| na as f64 / 1e6);
            outcome.current_ma = ma;
            outcome.battery_days = ma.map(|ma| self.battery_mah / ma / 24.0);
        }
        Ok(outcome)
    }
}
