//! Message rates through an MQTT broker: sockets and time for
//! [`Exchange`](espbench_proto::node::mqtt::Exchange).
//!
//! # What is recorded
//!
//! A cell with a given rate, or as fast as it goes, records every message as a
//! [`Probe`](espbench_model::sample::Probe) on link 0, the arrivals of each second as an `Interval`
//! of the receiver, and at the end two totals: of the sender (messages due, over the time in which
//! they came due) and of the receiver (messages that came, until the last one).
//!
//! Listening records every message that a device publishes, and every number that it skipped, as a
//! probe: those with a number on link 0, those without on link 1; and the arrivals of each second
//! and their total. See [`Listener`](espbench_proto::node::mqtt::Listener).
//!
//! Each connection is a probe too, on [`Link::CONNECTIONS`], once the broker has accepted it.
//!
//! A search records the two totals of each try and no probes: link n is the n-th try, in the order
//! of [`RateSearch`], which the summary replays. Losses are counted by cause as
//! `lost-CAUSE`.
//!
//! | module | contents |
//! |---|---|
//! | `pump` | one publisher and one subscriber, over two sockets |
//! | `crowd` | many publishers and one subscriber, in one thread |
//! | `listen` | a subscriber to a device's own messages |
//! | `wire` | connections to a broker: opened, and recorded |

mod crowd;
mod listen;
mod pump;
mod wire;

use super::{Sink, Target, TargetError, noted};
use crate::transport::BrokerAddress;
use crate::user_error::UserError;
use espbench_measure::run::Site;
use espbench_measure::search::RateSearch;
use espbench_model::sample::{Fate, Interval, Link, Observer, Sample};
use espbench_model::time::Duration;
use espbench_model::workload::{MqttMode, MqttRate, Workload};
use espbench_proto::node::mqtt::{KEEP_ALIVE, OfferedLoad, payload};
use pump::{ExchangeOutcome, MqttJob};
use std::net::SocketAddr;

/// Longest time for which a broker may owe an answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Quiet time after which what is missing counts as lost.
const DRAIN: Duration = Duration::from_secs(2);

/// An MQTT broker.
#[derive(Clone, Debug)]
pub struct MqttTarget {
    /// Address of the broker, and the carrier of MQTT there.
    pub endpoint: BrokerAddress,
    /// User name.
    pub username: Option<String>,
    /// Password.
    pub password: Option<String>,
    /// Client identifier, with `-p` and `-s` for publisher and subscriber; one of this process's own
    /// where not given.
    pub client_id: Option<String>,
    /// Keep-alive seconds asked of the broker.
    pub keep_alive: u16,
    /// Topic to use; one of this process's own where not given.
    pub topic: Option<String>,
    /// Quiet time after which what is missing counts as lost.
    pub drain: Duration,
    /// Longest time for which the broker may owe an answer, and a connection may take to open.
    pub patience: Duration,
    /// Facts about the device and the place.
    pub site: Site,
}

impl MqttTarget {
    /// Creates the target of the broker at that address, without user name, with the default
    /// time-outs.
    #[must_use]
    pub fn new(peer: SocketAddr, site: Site) -> Self {
        Self {
            endpoint: BrokerAddress::plain(peer),
            username: None,
            password: None,
            client_id: None,
            keep_alive: KEEP_ALIVE,
            topic: None,
            drain: DRAIN,
            patience: PATIENCE,
            site,
        }
    }
}

impl Target for MqttTarget {
    fn site(&self) -> Site {
        self.site.clone()
    }

    fn check(&self, workload: &Workload) -> Result<(), TargetError> {
        let unsupported = |hint: &str| TargetError::Unsupported {
            target: self.endpoint.to_string(),
            kind: workload.kind(),
            hint: hint.into(),
        };
        match workload.plain() {
            Workload::MqttRate(w) if (w.size as usize) < payload::HEADER_LEN => {
                Err(unsupported("sequence number and time need 16 bytes: use a size of 16 or more"))
            }
            Workload::MqttRate(w) if w.mode == MqttMode::Listen && self.topic.is_none() => {
                Err(TargetError::Told(
                    UserError::new(format!("{}: what to listen to is not said", self.endpoint))
                        .because("a device is known by its topic")
                        .remedy("--topic 'sensor/#', or the topic that it publishes to"),
                ))
            }
            Workload::MqttRate(w) if w.mode != MqttMode::Listen && self.is_filter() => {
                let topic = self.topic.as_deref().unwrap_or_default();
                Err(TargetError::Told(
                    UserError::new(format!("nobody can publish to the topic `{topic}`"))
                        .because("`+` and `#` stand for many topics")
                        .remedy(format!("--listen --topic '{topic}', or a topic without them")),
                ))
            }
            Workload::MqttRate(w) if !w.clean_start && self.client_id.is_none() => {
                Err(unsupported("a session is resumed by its name: give the --client-id it had"))
            }
            Workload::MqttRate(w) if w.qos > 2 => Err(unsupported("QoS is 0, 1 or 2")),
            Workload::MqttRate(_) => Ok(()),
            _ => Err(unsupported(
                "this target is an MQTT broker; use --on udp:, tcp: or iperf: for other plans",
            )),
        }
    }

    fn run(&mut self, workload: &Workload, sink: &mut dyn Sink) -> Result<(), TargetError> {
        self.check(workload)?;
        let Workload::MqttRate(work) = &noted(workload, sink) else { return Ok(()) };
        match work.mode {
            MqttMode::Saturate => self.step(work, OfferedLoad::Saturate, sink),
            MqttMode::Offered(rate) => self.step(work, OfferedLoad::Rate(rate), sink),
            MqttMode::Listen => self.listen(work, sink),
            MqttMode::Search { low, high } => self.search(work, RateSearch::new(low, high), sink),
        }
    }
}

impl MqttTarget {
    fn step(
        &self,
        work: &MqttRate,
        pace: OfferedLoad,
        sink: &mut dyn Sink,
    ) -> Result<(), TargetError> {
        let job = MqttJob { target: self, work, pace, link: Link(0) };
        let outcome = job.run(sink)?;
        outcome.note(sink);
        outcome.result(&self.endpoint)
    }

    fn is_filter(&self) -> bool {
        self.topic.as_ref().is_some_and(|topic| topic.contains(['+', '#']))
    }

    fn listen(&self, work: &MqttRate, sink: &mut dyn Sink) -> Result<(), TargetError> {
        let outcome = listen::run(self, work, sink)?;
        outcome.note(sink);
        outcome.result(&self.endpoint)
    }

    fn search(
        &self,
        work: &MqttRate,
        mut search: RateSearch,
        sink: &mut dyn Sink,
    ) -> Result<(), TargetError> {
        let mut link = 0;
        while let Some((rate, _)) = search.next() {
            let mut step = TrySink { sink, lost: 0 };
            let job =
                MqttJob { target: self, work, pace: OfferedLoad::Rate(rate), link: Link(link) };
            let outcome = job.run(&mut step)?;
            let lost = step.lost;
            outcome.counters.iter().for_each(|(name, by)| sink.count(name, *by));
            outcome.result(&self.endpoint)?;
            search.record(lost == 0);
            link += 1;
        }
        Ok(())
    }
}

/// Passes on the totals of a try, and counts its losses by cause.
struct TrySink<'a> {
    sink: &'a mut dyn Sink,
    lost: u64,
}

impl Sink for TrySink<'_> {
    fn sample(&mut self, sample: Sample) {
        match sample {
            Sample::Probe(probe) => {
                if let Fate::Lost(cause) = probe.fate {
                    self.sink.count(&format!("lost-{}", cause.name()), 1);
                }
            }
            Sample::Interval(Interval { total: true, observer, lost, .. }) => {
                if observer == Observer::Receiver {
                    self.lost = lost.unwrap_or(0);
                }
                self.sink.sample(sample);
            }
            Sample::Interval(_) => {}
        }
    }

    fn count(&mut self, name: &str, by: u64) {
        self.sink.count(name, by);
    }

    fn fact(&mut self, name: &str, value: String) {
        self.sink.fact(name, value);
    }

    fn cancelled(&self) -> bool {
        self.sink.cancelled()
    }
}

impl ExchangeOutcome {
    fn note(&self, sink: &mut dyn Sink) {
        for (name, by) in &self.counters {
            sink.count(name, *by);
        }
        if !self.missing.is_empty() {
            sink.fact("missing_sequence_numbers", self.missing.clone());
        }
    }

    fn result(self, endpoint: &BrokerAddress) -> Result<(), TargetError> {
        if self.cancelled {
            return Err(TargetError::Cancelled);
        }
        let Some((what, hint)) = self.fault else { return Ok(()) };
        Err(TargetError::Protocol { peer: endpoint.to_string(), what, hint })
    }
}
