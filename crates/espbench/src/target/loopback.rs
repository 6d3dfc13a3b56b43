//! The built-in responders, in this process, over the loopback interface: no hardware needed.
//!
//! What it measures is this host: its network stack and the tool itself. That is the floor under
//! every other measurement, and a check that everything works.

use super::iperf::IperfTarget;
use super::mqtt::MqttTarget;
use super::ping::PingTarget;
use super::tcp_rate::TcpRateTarget;
use super::udp_echo::EchoTarget;
use super::{Sink, Target, TargetError};
use crate::respond::echo::ReplyTo;
use crate::respond::mqtt::SharedCounts;
use crate::respond::mqtt::broker::limits::BrokerCounter;
use crate::respond::{Service, ServiceLog, echo, iperf, mqtt, tcp};
use crate::user_error::UserError;
use espbench_measure::run::Site;
use espbench_model::workload::{MqttMode, Workload};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

/// Runs every kind of workload against a responder that it starts for it.
#[derive(Debug, Default)]
pub struct LoopbackTarget {
    services: Vec<(&'static str, Service)>,
    limits: mqtt::BrokerLimits,
    /// Counters of the broker, once it runs.
    broker: Option<SharedCounts>,
}

/// Returns the site of everything measured over loopback.
#[must_use]
pub fn site() -> Site {
    Site {
        chip: "host".into(),
        mode: "loopback".into(),
        distance_m: None,
        security: Some("off".into()),
        environment: Some("loopback".into()),
    }
}

impl LoopbackTarget {
    /// Creates one whose MQTT broker has those limits.
    #[must_use]
    pub fn with_limits(limits: mqtt::BrokerLimits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// Returns the responder for that kind of work: started at its first use, kept to the end.
    fn peer(&mut self, kind: &'static str) -> Result<SocketAddr, TargetError> {
        if let Some((_, service)) = self.services.iter().find(|(name, _)| *name == kind) {
            return Ok(service.address);
        }
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let log: ServiceLog = Arc::new(|_| {});
        let service = match kind {
            "udp-echo" => echo::start(any, ReplyTo::Sender, &log),
            "iperf" => {
                // Its client is this process.
                let options = iperf::ServerOptions { trusts_clients: true, ..Default::default() };
                iperf::start(any, options, &log, None)
            }
            "tcp-rate" => tcp::sink(any, &log),
            "mqtt-rate" => mqtt::start_with(any, self.limits, &log).map(|(service, tally)| {
                self.broker = Some(tally);
                service
            }),
            other => Err(std::io::Error::other(format!("no responder for {other}"))),
        };
        let service = service.map_err(|source| TargetError::Local {
            what: format!("starting the built-in responder for {kind}"),
            source,
            hint: "check that 127.0.0.1 is up".into(),
        })?;
        let address = service.address;
        self.services.push((kind, service));
        Ok(address)
    }

    /// Returns what the broker dropped, refused and ended so far, by name.
    fn refused(&self) -> Vec<(&'static str, u64)> {
        let faults = BrokerCounter::ALL
            .iter()
            .filter(|what| !matches!(what, BrokerCounter::Received | BrokerCounter::Sent));
        let of =
            |tally: &SharedCounts| faults.map(|&what| (what.name(), tally.get(what))).collect();
        self.broker.as_ref().map(of).unwrap_or_default()
    }
}

impl Target for LoopbackTarget {
    fn site(&self) -> Site {
        site()
    }

    fn check(&self, workload: &Workload) -> Result<(), TargetError> {
        match workload.plain() {
            Workload::MqttRate(w) if w.mode == MqttMode::Listen => Err(TargetError::Told(
                UserError::new("loopback cannot be listened to")
                    .because("nothing publishes there")
                    .remedy("--on mqtt:HOST --topic 'sensor/#': the device's broker and topic"),
            )),
            Workload::UdpEcho(_)
            | Workload::Ping(_)
            | Workload::Iperf(_)
            | Workload::TcpRate(_)
            | Workload::MqttRate(_) => Ok(()),
            _ => Err(TargetError::Unsupported {
                target: "loopback".into(),
                kind: workload.kind(),
                hint: "it needs a radio: use --on sim for the virtual lab".into(),
            }),
        }
    }

    fn run(&mut self, workload: &Workload, sink: &mut dyn Sink) -> Result<(), TargetError> {
        self.check(workload)?;
        let site = site();
        if let Workload::Ping(_) = workload.plain() {
            // The kernel answers.
            let peer = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
            return PingTarget { peer, site }.run(workload, sink);
        }
        let peer = self.peer(workload.kind())?;
        match workload.plain() {
            Workload::UdpEcho(_) => EchoTarget { peer, local_port: 0, site }.run(workload, sink),
            Workload::Iperf(_) => IperfTarget::new(peer, site).run(workload, sink),
            Workload::TcpRate(_) => TcpRateTarget::new(peer, site).run(workload, sink),
            Workload::MqttRate(_) => {
                let before = self.refused();
                let result = MqttTarget::new(peer, site).run(workload, sink);
                for (before, (name, after)) in before.into_iter().zip(self.refused()) {
                    // A loss in the broker has its cause here.
                    if after > before.1 {
                        sink.count(name, after - before.1);
                    }
                }
                result
            }
            // Refused or done above.
            _ => Ok(()),
        }
    }
}
