//! Limits of a firmware in the lab: what follows from windows, the processor and the air, and what
//! the lab does when each alone is lifted.

use super::error::TuneError;
use super::fastest::fastest_memory;
use super::lab::{THROUGHPUTS, TuneLab, costs};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_measure::digits::three;
use espbench_measure::tune::limit::{self, BeyondReach, over_round_trip};
use espbench_measure::tune::{
    Candidate, DirectionLimits, Evaluation, LimitCause, Metric, RoundTrip, ThroughputLimit, Want,
};
use espbench_model::sdkconfig::{ConfigOption, SdkConfig};
use espbench_sim::lab::profile::IpCosts;
use espbench_sim::lab::scene::Scene;

/// Share of the offered load from which on a device has taken all of it.
const TAKEN: f64 = 0.98;

/// IPv4 with TCP or UDP, octets.
const TCP_HEADERS: u32 = 40;
const UDP_HEADERS: u32 = 28;

/// Octets of MAC header, LLC and FCS around a packet.
const FRAME: u32 = 38;

/// Payload of iperf's datagrams.
const DATAGRAM: u32 = 1470;

impl TuneLab {
    /// Returns the limits of a candidate, in each direction that is asked for.
    ///
    /// # Errors
    /// [`TuneError::Test`].
    pub fn limits(
        &self,
        candidate: &Candidate,
        metrics: &[Metric],
        stop: &dyn Fn() -> bool,
    ) -> Result<Vec<DirectionLimits>, TuneError> {
        let of = |it: &Metric| self.direction(candidate, *it, Some(stop));
        metrics.iter().filter(|it| THROUGHPUTS.contains(it)).map(of).collect()
    }

    /// Returns the bounds of a candidate, without what the lab does when they are lifted.
    ///
    /// # Errors
    /// [`TuneError::Test`].
    pub fn bounds(
        &self,
        candidate: &Candidate,
        metrics: &[Metric],
    ) -> Result<Vec<DirectionLimits>, TuneError> {
        let of = |it: &Metric| {
            let mut all = self.direction(candidate, *it, None)?;
            all.limits.retain(|it| it.at_most_mbit_s.is_some());
            Ok(DirectionLimits { simulated_mbit_s: None, ..all })
        };
        metrics.iter().filter(|it| THROUGHPUTS.contains(it)).map(of).collect()
    }

    /// Returns the limits of one direction; each is lifted where `lifts` is a question whether to stop.
    fn direction(
        &self,
        candidate: &Candidate,
        metric: Metric,
        lifts: Option<&dyn Fn() -> bool>,
    ) -> Result<DirectionLimits, TuneError> {
        let stop = lifts.unwrap_or(&|| false);
        let scene = self.scene(candidate);
        let rate = |scene: &Scene| {
            self.rate(scene, metric, self.seed(0), stop, &mut Evaluation::default())
        };
        let (now, facts) = rate(&scene)?;
        let mut limits: Vec<ThroughputLimit> =
            self.in_flight(candidate, metric, self.rtt()).into_iter().collect();
        limits.push(self.processor(&scene, candidate, metric));
        limits.extend(limit::air(metric, &facts));
        let config = &candidate.config;
        let buffers = format!("{}/{} RX, {} TX", config.static_rx, config.dynamic_rx, config.tx);
        limits.push(unbounded(LimitCause::Buffers, buffers));
        match metric {
            Metric::TcpRx => limits.push(mailbox(config.tcp_mailbox)),
            Metric::UdpRx => limits.push(mailbox(config.udp_mailbox)),
            _ => {}
        }
        // A device that takes all that is sent to it has no bottleneck but the sender.
        let all = metric == Metric::UdpRx && now >= TAKEN * self.offered_mbit_s();
        if all {
            limits.retain(|it| it.at_most_mbit_s.is_some());
            return Ok(DirectionLimits { metric, simulated_mbit_s: None, limits }.ranked());
        }
        for limit in limits.iter_mut().filter(|_| lifts.is_some()) {
            let (then, _) = rate(&self.lifted(candidate, limit.cause))?;
            limit.lifted_mbit_s = Some(then);
        }
        Ok(DirectionLimits { metric, simulated_mbit_s: Some(now), limits }.ranked())
    }

    /// Returns the room with one limit of a firmware lifted as far as it goes.
    fn lifted(&self, candidate: &Candidate, cause: LimitCause) -> Scene {
        let most = |key: ConfigOption| *key.range(self.context()).end();
        let short = |key| u16::try_from(most(key)).unwrap_or(u16::MAX);
        let window = |key| u8::try_from(most(key)).unwrap_or(u8::MAX);
        let mut it = *candidate;
        let config = &mut it.config;
        match cause {
            LimitCause::SendBuffer => config.tcp_send_buffer = most(ConfigOption::SendBuffer),
            LimitCause::Window => widen(config, most(ConfigOption::Window)),
            LimitCause::Mailbox => {
                config.tcp_mailbox = short(ConfigOption::TcpMailbox);
                config.udp_mailbox = short(ConfigOption::UdpMailbox);
                config.tcpip_mailbox = short(ConfigOption::TcpipMailbox);
            }
            LimitCause::Buffers => {
                config.static_rx = short(ConfigOption::StaticRx);
                config.dynamic_rx = short(ConfigOption::DynamicRx);
                config.tx = short(ConfigOption::DynamicTx);
            }
            LimitCause::Air => {
                config.rx_ba_window = window(ConfigOption::RxBaWindow);
                config.tx_ba_window = window(ConfigOption::TxBaWindow);
            }
            LimitCause::Processor => {
                let fastest = fastest_memory(&it, self.context());
                it = Candidate { clock_mhz: self.fastest_mhz(), ..fastest };
            }
        }
        let mut scene = self.scene(&it);
        // Room for what is lifted: the heap is another question.
        for device in scene.devices.iter_mut().take(1) {
            alloc::sync::Arc::make_mut(&mut device.profile).memory.heap_bytes += 1 << 20;
        }
        scene
    }

    /// Returns what TCP's window or send buffer allows.
    fn in_flight(
        &self,
        candidate: &Candidate,
        metric: Metric,
        rtt: &RoundTrip,
    ) -> Option<ThroughputLimit> {
        let size = match metric {
            Metric::TcpTx => candidate.config.tcp_send_buffer,
            Metric::TcpRx => candidate.config.tcp_window,
            _ => return None,
        };
        Some(limit::in_flight(metric, self.setup().streams, size, rtt))
    }

    fn processor(&self, scene: &Scene, candidate: &Candidate, metric: Metric) -> ThroughputLimit {
        let cores = scene.devices.first().map_or(1, |it| it.cores);
        let SdkConfig { wifi_iram, wifi_rx_iram, lwip_iram, .. } = candidate.config;
        let flash = match (wifi_iram && wifi_rx_iram, lwip_iram) {
            (true, true) => "all in RAM",
            (true, false) => "lwIP in flash",
            (false, true) => "Wi-Fi in flash",
            (false, false) => "Wi-Fi, lwIP in flash",
        };
        let mss = candidate.config.tcp_mss.into();
        ThroughputLimit {
            cause: LimitCause::Processor,
            at_most_mbit_s: Some(computed(&costs(scene), cores, metric, mss)),
            lifted_mbit_s: None,
            what: format!("{} MHz, {flash}", candidate.clock_mhz),
        }
    }

    /// Returns the wants that no setting can reach: by the fastest clock with the fastest memories, the
    /// longest aggregates, the largest windows; by the current of an idle processor; by the round
    /// trip.
    ///
    /// # Errors
    /// [`TuneError::Test`].
    pub fn beyond_reach(&self, stop: &dyn Fn() -> bool) -> Result<Vec<BeyondReach>, TuneError> {
        let mut all = Vec::new();
        for want in &self.setup().wants {
            let best = match want.metric {
                it if THROUGHPUTS.contains(&it) => self.fastest(it, stop)?,
                Metric::UdpLatency | Metric::UdpLatencyP99 => {
                    let least = self.rtt().time.saturating_sub(self.saved_by_memory()?);
                    Some((least.as_secs_f64() * 1e3, format!("the {}", self.rtt().words())))
                }
                Metric::Current | Metric::Battery => self.thriftiest(want),
                _ => None,
            };
            let Some((best, why)) = best else { continue };
            let misses = if want.metric.more() { want.value > best } else { want.value < best };
            if misses {
                all.push(BeyondReach { want: *want, best, why });
            }
        }
        Ok(all)
    }

    /// Returns the most that a throughput can be, and why.
    fn fastest(
        &self,
        metric: Metric,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<(f64, String)>, TuneError> {
        let most = |key: ConfigOption| *key.range(self.context()).end();
        let clock_mhz = self.fastest_mhz();
        let mut it = Candidate { clock_mhz, ..fastest_memory(self.base(), self.context()) };
        it.config.rx_ba_window = u8::try_from(most(ConfigOption::RxBaWindow)).unwrap_or(u8::MAX);
        it.config.tx_ba_window = u8::try_from(most(ConfigOption::TxBaWindow)).unwrap_or(u8::MAX);
        it.config.tcp_mss = 1460;
        let scene = self.scene(&it);
        let (_, facts) =
            self.rate(&scene, metric, self.seed(0), stop, &mut Evaluation::default())?;
        let size = most(ConfigOption::Window);
        let flight = matches!(metric, Metric::TcpTx | Metric::TcpRx);
        let flight = flight.then(|| {
            let most = over_round_trip(self.setup().streams, size, self.rtt().time);
            (most, format!("no window is larger than {size} B, with a {}", self.rtt().words()))
        });
        let processor = self.processor(&scene, &it, metric).at_most_mbit_s;
        let processor = processor.map(|it| {
            (it, format!("the processor has no time for more at {clock_mhz} MHz, its fastest"))
        });
        let air = limit::air(metric, &facts).and_then(|it| {
            Some((it.at_most_mbit_s?, format!("the air carries no more ({})", it.what)))
        });
        let all = [flight, processor, air].into_iter().flatten();
        Ok(all.min_by(|a, b| a.0.total_cmp(&b.0)))
    }

    /// Says that the battery whose life is asked for cannot give the pulses of the radio.
    pub(super) fn weak_battery(&self) -> Option<String> {
        let setup = self.setup();
        setup.wants.iter().find(|it| it.metric == Metric::Battery)?;
        setup.battery.warning(self.scene.devices.first()?.profile.peak_ma()?)
    }

    /// Returns the least current, or the longest life of a battery, and why: with the radio off all
    /// the time.
    fn thriftiest(&self, want: &Want) -> Option<(f64, String)> {
        let device = self.scene.devices.first()?;
        let currents = &device.profile.currents;
        let idle = |mhz: &u32| (currents.modem_sleep(*mhz).idle_na, *mhz);
        let (na, mhz) = self.context().chip.clocks_mhz().iter().map(idle).min()?;
        let (na, why) = match device.light_sleep {
            Some(_) => (currents.light_sleep_na, "light sleep alone draws".into()),
            None => (na, format!("idle at {mhz} MHz with its radio off, the chip draws")),
        };
        let ma = f64::from(na) / 1e6;
        let why = format!(
            "{why} {} mA, and less takes {}",
            three(ma),
            if device.light_sleep.is_some() {
                "deep sleep"
            } else {
                "light or deep sleep, in code"
            }
        );
        Some(match want.metric {
            Metric::Battery => (self.setup().battery.days(ma), why),
            _ => (ma, why),
        })
    }
}

/// Opens the window, with as many places of the mailbox and buffers as it needs, where there were enough for
/// the window before: what is too small already is a limit of its own.
fn widen(config: &mut SdkConfig, window: u32) {
    let mss = u32::from(config.tcp_mss).max(1);
    let needs = |window: u32| u16::try_from(window.div_ceil(mss) + 2).unwrap_or(u16::MAX);
    let (before, after) = (needs(config.tcp_window), needs(window));
    for place in [&mut config.tcp_mailbox, &mut config.tcpip_mailbox] {
        if *place >= before {
            *place = after.max(*place);
        }
    }
    if config.dynamic_rx >= before {
        config.dynamic_rx = after.max(config.dynamic_rx);
    }
    config.tcp_window = window;
}

const fn unbounded(cause: LimitCause, what: String) -> ThroughputLimit {
    ThroughputLimit { cause, at_most_mbit_s: None, lifted_mbit_s: None, what }
}

fn mailbox(packets: u16) -> ThroughputLimit {
    unbounded(LimitCause::Mailbox, format!("{packets} packets"))
}

/// Returns the throughput at which the busiest core has no time left, in Mbit/s: the work for each full packet, and with TCP
/// for half an acknowledgement that it sends and a third of one that it gets, since the other side acknowledges what comes
/// together as one. With two cores the driver's task has one of them.
fn computed(costs: &IpCosts, cores: u8, metric: Metric, mss: u32) -> f64 {
    let (tcp, udp) = (mss + TCP_HEADERS, DATAGRAM + UDP_HEADERS);
    let started =
        |it: u32| costs.wifi_start.ns(it) + costs.wifi_cipher.ns(it) + costs.wifi_sent.ns(0);
    let taken = |it: u32| costs.wifi_receive.ns(it + FRAME) + costs.wifi_cipher.ns(it + FRAME);
    let ack = TCP_HEADERS;
    let (driver, rest, payload) = match metric {
        Metric::TcpTx => {
            let driver = started(tcp) + taken(ack) / 3;
            let stack = costs.tcp_send.ns(tcp) + costs.wifi_send.ns(tcp);
            (driver, stack + costs.ack_receive.ns(ack) / 3 + costs.copy.ns(mss), mss)
        }
        Metric::TcpRx => {
            let driver = taken(tcp) + started(ack) / 2;
            let acks = (costs.ack_send.ns(ack) + costs.wifi_send.ns(ack)) / 2;
            let program = costs.socket_receive.ns(mss) + costs.copy.ns(mss);
            (driver, costs.tcp_receive.ns(tcp) + acks + program, mss)
        }
        Metric::UdpTx => {
            let stack = costs.udp_send.ns(udp) + costs.wifi_send.ns(udp);
            (started(udp), stack + costs.socket_send.ns(DATAGRAM), DATAGRAM)
        }
        _ => {
            let program = costs.socket_receive.ns(DATAGRAM) + costs.copy.ns(DATAGRAM);
            (taken(udp), costs.udp_receive.ns(udp) + program, DATAGRAM)
        }
    };
    let each = if cores > 1 { driver.max(rest) } else { driver + rest };
    let seconds = Duration::from_nanos(each.max(1)).as_secs_f64();
    f64::from(payload) * 8.0 / seconds / 1e6
}
