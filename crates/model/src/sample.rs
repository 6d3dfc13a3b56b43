//! The record: the fate of one probe, or of one interval, on one link.
//!
//! Samples are raw facts. They hold timestamps, never differences, so that every statistic can be
//! computed again. A lost probe is a sample too, with its cause where that is known. An unknown
//! value is `None`, never zero.

use crate::time::Instant;

/// A directed pair of participants, or one of several parallel streams between them.
///
/// Small integers; the run's facts map them to addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Link(pub u16);

impl Link {
    /// The link of samples that are no messages but connections, each a probe numbered from 0: due when
    /// TCP was asked for, queued when it was there, sent once TLS and acked once WebSocket were agreed
    /// on, where they are, and received when the protocol above accepted it (CONNACK).
    pub const CONNECTIONS: Self = Self(u16::MAX);
    /// The link of echo probes before the streams of an iperf test begin.
    pub const IDLE: Self = Self(u16::MAX - 1);
    /// The link of echo probes beside the streams of an iperf test.
    pub const LOADED: Self = Self(u16::MAX - 2);

    /// Returns whether the probes on the link stand beside the messages or streams that a test is of:
    /// connections, and echoes.
    #[must_use]
    pub fn is_beside(self) -> bool {
        [Self::CONNECTIONS, Self::IDLE, Self::LOADED].contains(&self)
    }
}

/// One line of the record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sample {
    /// One probe: a datagram, a message, a ping.
    Probe(Probe),
    /// One interval of a stream: bytes and datagrams between two instants.
    Interval(Interval),
}

/// The fate of one probe. All timestamps are on the sender's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Probe {
    /// Link on which the probe was sent.
    pub link: Link,
    /// Sequence number on that link, from 0 (discarded warm-up probes are not recorded).
    pub seq: u64,
    /// Payload in bytes, as counted by the document that the workload follows.
    pub bytes: u32,
    /// Time at which the plan wanted it sent. With an offered rate this is earlier than `sent`
    /// whenever the sender fell behind; latency from here is free of coordinated omission.
    pub due: Instant,
    /// Time at which it entered the client's queue, where there is one (MQTT).
    pub queued: Option<Instant>,
    /// Time at which it was handed to the operating system or to the radio driver.
    pub sent: Option<Instant>,
    /// Time at which an acknowledgement came (PUBACK, PUBCOMP, application ACK).
    pub acked: Option<Instant>,
    /// Time at which its reply, or the message itself, reached the receiving application.
    pub received: Option<Instant>,
    /// Time of that arrival as stamped by the kernel or the radio on reception.
    pub stamped: Option<Instant>,
    /// Fate of the probe.
    pub fate: Fate,
}

/// Fate of a probe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fate {
    /// The probe came back, or arrived, whole and in time.
    #[default]
    Delivered,
    /// The probe came after its time-out: it is counted apart, neither as lost nor in the latency.
    Late,
    /// A further copy of a probe that had already come; a sample of its own with the same `seq`.
    Duplicate,
    /// The probe came back with other content than was sent.
    Corrupt,
    /// The probe did not come.
    Lost(Cause),
}

/// Cause of a loss. Each cause is a place with a queue or a medium that counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// The cause is not known: the probe was sent and nothing was heard of it.
    #[default]
    Unknown,
    /// The application's own queue was full, and the probe never entered it.
    ApplicationQueue,
    /// The operating system or driver refused the probe: out of buffers (`ENOBUFS`, `ENOMEM`).
    NoBuffers,
    /// A collision destroyed the frame on the air.
    Collision,
    /// The frame was too weak on the air to be decoded.
    Noise,
    /// The sender gave up after the last retry.
    RetryLimit,
    /// The access point kept the frame for a station that did not fetch it before it aged out.
    Aged,
    /// The frame was sent while its receiver slept.
    Asleep,
    /// The frame came in, and the receiver's driver had no buffer for it.
    ReceiveBuffers,
    /// The packet came in, and a mailbox of the TCP/IP stack was full: its task's, or a socket's.
    Mailbox,
    /// The packet came in, and a receive queue was full (a host's socket buffer, a queue of
    /// frames).
    ReceiveQueue,
    /// The system or a router said that there is no route to the network of the receiver.
    NetworkUnreachable,
    /// The system or a router said that the receiver does not answer in its network.
    HostUnreachable,
    /// A firewall or a policy on the way forbade the packet, and said so.
    Prohibited,
    /// The packet was too big for a link on the way.
    TooBig,
    /// The hop limit (TTL) of the packet ran out on the way.
    HopLimit,
    /// The serial line between the device and the host lost it.
    SerialLine,
    /// The device's port was not there, or was unplugged.
    DeviceGone,
    /// The device crashed, or started again by itself.
    DeviceRestarted,
    /// The device does not run its firmware, or shows no console.
    DeviceSilent,
    /// The device did not get into its Wi-Fi network: it found none of that name, or none answered.
    NotJoined,
    /// The Wi-Fi network refused the device, as with a wrong password.
    NotAuthenticated,
    /// The device is in its Wi-Fi network and got no IP address there.
    NoAddress,
    /// The simulated device was too far behind the clock.
    LateClock,
    /// The broker took the message (and may have acknowledged it), and did not pass it on.
    Broker,
    /// The connection broke with the probe outstanding.
    Disconnected,
    /// The run was stopped with the probe outstanding.
    Stopped,
}

impl Cause {
    /// Every cause, in the order of a packet's way from sender to receiver.
    pub const ALL: [Self; 27] = [
        Self::ApplicationQueue,
        Self::NoBuffers,
        Self::NetworkUnreachable,
        Self::Prohibited,
        Self::TooBig,
        Self::HopLimit,
        Self::HostUnreachable,
        Self::Aged,
        Self::Asleep,
        Self::Collision,
        Self::Noise,
        Self::RetryLimit,
        Self::ReceiveBuffers,
        Self::Mailbox,
        Self::ReceiveQueue,
        Self::SerialLine,
        Self::DeviceGone,
        Self::DeviceRestarted,
        Self::DeviceSilent,
        Self::NotJoined,
        Self::NotAuthenticated,
        Self::NoAddress,
        Self::LateClock,
        Self::Broker,
        Self::Disconnected,
        Self::Stopped,
        Self::Unknown,
    ];

    /// Returns the name used in the store, in JSON and in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::ApplicationQueue => "application-queue",
            Self::NoBuffers => "no-buffers",
            Self::Collision => "collision",
            Self::Noise => "noise",
            Self::RetryLimit => "retry-limit",
            Self::Aged => "aged",
            Self::Asleep => "asleep",
            Self::ReceiveBuffers => "receive-buffers",
            Self::Mailbox => "mailbox",
            Self::ReceiveQueue => "receive-queue",
            Self::NetworkUnreachable => "network-unreachable",
            Self::HostUnreachable => "host-unreachable",
            Self::Prohibited => "prohibited",
            Self::TooBig => "too-big",
            Self::HopLimit => "hop-limit",
            Self::SerialLine => "serial-line",
            Self::DeviceGone => "device-gone",
            Self::DeviceRestarted => "device-restarted",
            Self::DeviceSilent => "device-silent",
            Self::NotJoined => "not-joined",
            Self::NotAuthenticated => "not-authenticated",
            Self::NoAddress => "no-address",
            Self::LateClock => "late-clock",
            Self::Broker => "broker",
            Self::Disconnected => "disconnected",
            Self::Stopped => "stopped",
        }
    }

    /// Returns the cause of that [`name`](Self::name).
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|cause| cause.name() == name)
    }
}

impl Fate {
    /// Returns the name used in the store, in JSON and in tables. The cause of a loss is stored
    /// apart.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Delivered => "delivered",
            Self::Late => "late",
            Self::Duplicate => "duplicate",
            Self::Corrupt => "corrupt",
            Self::Lost(_) => "lost",
        }
    }

    /// Returns the fate of that name; `cause` matters for `lost` only.
    #[must_use]
    pub fn from_name(name: &str, cause: Option<Cause>) -> Option<Self> {
        Some(match name {
            "delivered" => Self::Delivered,
            "late" => Self::Late,
            "duplicate" => Self::Duplicate,
            "corrupt" => Self::Corrupt,
            "lost" => Self::Lost(cause.unwrap_or_default()),
            _ => return None,
        })
    }
}

/// End of a stream that counted an interval, and its role.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Observer {
    /// Local end, as sender.
    #[default]
    Sender,
    /// Local end, as receiver.
    Receiver,
    /// Remote end, as it reported over the wire (iperf's server report), or as the movement of its TCP
    /// window tells (`proto::node::taken`).
    Peer,
}

impl Observer {
    /// Returns the name used in the store and in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sender => "sender",
            Self::Receiver => "receiver",
            Self::Peer => "peer",
        }
    }

    /// Returns the observer of that [`name`](Self::name).
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Sender, Self::Receiver, Self::Peer].into_iter().find(|o| o.name() == name)
    }
}

/// One interval of one stream.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Interval {
    /// Stream of which this is an interval.
    pub link: Link,
    /// Number of the interval on that stream, from 0. The total over the stream has `total` set
    /// and stands after its intervals.
    pub seq: u64,
    /// True for the sum over the whole stream, which may differ from the intervals' sum: a peer's
    /// report gives only the total.
    pub total: bool,
    /// End that counted.
    pub observer: Observer,
    /// Start, on the observer's clock.
    pub start: Instant,
    /// End, on the observer's clock.
    pub end: Instant,
    /// Payload bytes moved in the interval.
    pub bytes: u64,
    /// Datagrams or messages moved (writes or reads for TCP).
    pub datagrams: Option<u64>,
    /// Datagrams missing by sequence number.
    pub lost: Option<u64>,
    /// Datagrams that arrived after one with a higher sequence number.
    pub out_of_order: Option<u64>,
    /// Datagrams that arrived more than once.
    pub duplicates: Option<u64>,
    /// Interarrival jitter at the end of the interval, RFC 3550 section 6.4.1, in nanoseconds.
    pub jitter_ns: Option<u64>,
    /// TCP segments retransmitted in the interval, where the system tells.
    pub retransmits: Option<u64>,
    /// Smoothed TCP round-trip time at the end of the interval, where the system tells, in
    /// nanoseconds.
    pub tcp_rtt_ns: Option<u64>,
    /// Mean deviation of that round-trip time (RFC 6298), in microseconds.
    pub tcp_rtt_var_us: Option<u32>,
    /// TCP congestion window at the end of the interval, in bytes.
    pub tcp_cwnd: Option<u32>,
    /// Writes that the system refused in the interval.
    pub errors: Option<u32>,
    /// Reads of the interval by their size: eight classes of an eighth of the longest read each.
    pub read_sizes: Option<[u32; 8]>,
    /// One-way times of the interval's datagrams or bursts, where the sender's clock is said to
    /// agree with this one.
    pub transit: Option<Spread>,
}

impl Interval {
    /// Returns whether the datagrams have numbers of their own: where all are copies of one, the sender puts the same
    /// number into each.
    #[must_use]
    pub fn is_numbered(&self) -> bool {
        let [datagrams, copies] = [self.datagrams, self.duplicates].map(Option::unwrap_or_default);
        datagrams > 1 || copies <= datagrams
    }

    /// Returns the number of datagrams that arrived: of all, where no number tells copies from others.
    #[must_use]
    pub fn arrived(&self) -> Option<u64> {
        let copies = if self.is_numbered() { 0 } else { self.duplicates.unwrap_or_default() };
        self.datagrams.map(|it| it.saturating_add(copies))
    }
}

/// Count, extremes, mean and spread of times that are too many to be recorded one by one.
///
/// The mean and the sum of squared deviations are kept by Welford's method (Technometrics 4, 1962),
/// as iperf 2 does; two of them are joined by that of Chan, Golub and LeVeque (1979).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    /// Times behind it.
    pub count: u64,
    /// Shortest, in nanoseconds; below zero where the clocks disagree.
    pub min_ns: i64,
    /// Longest, in nanoseconds.
    pub max_ns: i64,
    /// Arithmetic mean, in nanoseconds.
    pub mean_ns: f64,
    /// Sum of the squared deviations from the mean, in square nanoseconds.
    pub m2: f64,
}

impl Spread {
    /// Takes one more time, in nanoseconds.
    #[inline]
    pub fn take(&mut self, ns: i64) {
        if self.count == 0 {
            *self = Self { count: 1, min_ns: ns, max_ns: ns, mean_ns: ns as f64, m2: 0.0 };
            return;
        }
        self.count += 1;
        self.min_ns = self.min_ns.min(ns);
        self.max_ns = self.max_ns.max(ns);
        let deviation = ns as f64 - self.mean_ns;
        self.mean_ns += deviation / self.count as f64;
        self.m2 += deviation * (ns as f64 - self.mean_ns);
    }

    /// Returns both together.
    #[must_use]
    pub fn join(&self, other: &Self) -> Self {
        if self.count == 0 || other.count == 0 {
            return if self.count == 0 { *other } else { *self };
        }
        let count = self.count + other.count;
        let (a, b, all) = (self.count as f64, other.count as f64, count as f64);
        let apart = other.mean_ns - self.mean_ns;
        Self {
            count,
            min_ns: self.min_ns.min(other.min_ns),
            max_ns: self.max_ns.max(other.max_ns),
            mean_ns: self.mean_ns + apart * b / all,
            m2: self.m2 + other.m2 + apart * apart * a * b / all,
        }
    }

    /// Returns itself where it has a time.
    #[must_use]
    pub const fn known(self) -> Option<Self> {
        if self.count == 0 { None } else { Some(self) }
    }

    /// Returns the standard deviation of the sample in nanoseconds; `None` below two times.
    #[must_use]
    pub fn deviation_ns(&self) -> Option<f64> {
        (self.count >= 2).then(|| libm::sqrt(self.m2 / (self.count - 1) as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for cause in Cause::ALL {
            assert_eq!(Cause::from_name(cause.name()), Some(cause));
            let lost = Fate::Lost(cause);
            assert_eq!(Fate::from_name(lost.name(), Some(cause)), Some(lost));
        }
        for fate in [Fate::Delivered, Fate::Late, Fate::Duplicate, Fate::Corrupt] {
            assert_eq!(Fate::from_name(fate.name(), None), Some(fate));
        }
        for observer in [Observer::Sender, Observer::Receiver, Observer::Peer] {
            assert_eq!(Observer::from_name(observer.name()), Some(observer));
        }
        assert_eq!(Fate::from_name("vanished", None), None);
    }

    #[test]
    fn a_spread_by_hand_and_in_two_parts() {
        // 2, 4, 4, 4, 5, 5, 7, 9: mean 5, squared deviations 32.
        let all = [2, 4, 4, 4, 5, 5, 7, 9];
        let of = |times: &[i64]| {
            let mut spread = Spread::default();
            times.iter().for_each(|&t| spread.take(t));
            spread
        };
        let whole = of(&all);
        assert_eq!((whole.count, whole.min_ns, whole.max_ns), (8, 2, 9));
        assert!((whole.mean_ns - 5.0).abs() < 1e-12 && (whole.m2 - 32.0).abs() < 1e-9);
        assert!((whole.deviation_ns().unwrap() - 2.138_089_935).abs() < 1e-9);
        let joined = of(&all[..3]).join(&of(&all[3..]));
        assert!((joined.mean_ns - 5.0).abs() < 1e-12 && (joined.m2 - 32.0).abs() < 1e-9);
        assert_eq!(Spread::default().join(&whole), whole);
        assert_eq!((of(&[7]).deviation_ns(), Spread::default().known()), (None, None));
    }
}
