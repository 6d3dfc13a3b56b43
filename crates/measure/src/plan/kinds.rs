//! The keys of each kind of `[[measure]]` block: defaults, ranges and printing in one place each.

mod esp_now;
mod iperf;
mod latency;
mod ping;
mod variant;
mod wifi_join;

pub use latency::{ECHO_PORT, by as latency_by, print_latency};

pub use esp_now::{cast, print_cast, print_distance, usual_count, usual_image};

pub(super) use variant::VARIANT;

use variant::Varied;

use super::print::quoted;
use super::read::{Block, PlanError, Scalar};
use crate::units::{self, Dimension, print_duration};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::RangeInclusive;
use core::time::Duration;
use espbench_model::workload::{
    Direction, EchoFormat, IpTest, Iperf, MqttMode, MqttRate, MqttVersion, TcpRate, Transport,
    UdpEcho, Wifi, Workload,
};
use espbench_proto::wire::echo::HEADER_LEN;
use espbench_proto::wire::iperf2;

/// The 23 sizes in bytes of the published UDP echo benchmark (smellbomb-udp, table 1).
pub const ECHO_SIZES: [u32; 23] = [
    1, 2, 3, 4, 5, 10, 20, 30, 40, 50, 100, 150, 200, 250, 300, 350, 400, 450, 500, 600, 700, 800,
    900,
];

/// Largest UDP payload over IPv4: 65,535 less 20 (IP) and 8 (UDP) bytes (RFC 768, RFC 791).
const UDP_MAX: u64 = 65_507;

const MILLISECOND: Duration = Duration::from_millis(1);
const DAY: Duration = Duration::from_secs(86_400);

/// What a kind of block knows of its keys.
pub(super) trait Kind: Clone + PartialEq {
    /// The keys beside `kind`.
    const KEYS: &'static [&'static str];
    /// The same, with those that other kinds have as well.
    fn keys() -> Vec<&'static str> {
        Self::KEYS.to_vec()
    }
    /// Sets one key.
    fn set(&mut self, key: &str, value: &Scalar) -> Result<(), String>;
    /// The value of a key as TOML; `None` where the plan would leave it out.
    fn get(&self, key: &str) -> Option<String>;
    /// Sets what follows from other keys, where the plan did not name it.
    fn complete(&mut self, _named: &[&str]) {}
    /// Whether the keys go together.
    fn check(&self) -> Result<(), String>;
}

/// The default workload of each kind.
#[must_use]
pub fn defaults(kind: &str) -> Option<Workload> {
    Some(match kind {
        "udp-echo" => Workload::UdpEcho(UdpEcho {
            size: 100,
            count: 1000,
            discard: 1,
            format: EchoFormat::Ascii,
            in_flight: 1,
            interval: None,
            timeout: Duration::from_secs(1),
        }),
        "ping" => Workload::Ping(ping::DEFAULT),
        "iperf" => Workload::Iperf(Iperf::DEFAULT),
        "tcp-rate" => Workload::TcpRate(TcpRate {
            size: 64,
            runs: 10,
            discard: 2,
            run_time: Duration::from_secs(1),
            no_delay: false,
        }),
        "mqtt-rate" => Workload::MqttRate(MqttRate {
            version: MqttVersion::V311,
            qos: 0,
            size: 64,
            mode: MqttMode::Offered(100.0),
            in_flight: 20,
            time: Duration::from_secs(5),
            count: None,
            queue: 1000,
            clients: 1,
            retain: false,
            clean_start: true,
            session_expiry: None,
        }),
        "wifi-join" => Workload::Join(wifi_join::DEFAULT),
        "esp-now" => Workload::EspNow(esp_now::DEFAULT),
        _ => return None,
    })
}

/// Every kind, for messages.
pub(super) const KINDS: &str = "udp-echo, ping, iperf, tcp-rate, mqtt-rate, wifi-join, esp-now";

/// One block to the workloads of its matrix.
pub(super) fn expand(mut block: Block<'_>) -> Result<Vec<Workload>, PlanError> {
    let kind = block.one("kind", |v| {
        let kind = v.text()?;
        defaults(kind).ok_or_else(|| format!("`{kind}` is not known: use one of {KINDS}"))
    })?;
    let Some(kind) = kind else {
        let message = format!("a [[measure]] block needs a `kind`: one of {KINDS}");
        return Err(block.error(&block.place().clone(), message));
    };
    match kind {
        Workload::EspNow(w) => Ok(wrap(matrix(block, w)?, Workload::EspNow)),
        other => match other.ip() {
            Some(IpTest::UdpEcho(w)) => ip(block, w, IpTest::UdpEcho),
            Some(IpTest::Ping(w)) => ip(block, w, IpTest::Ping),
            Some(IpTest::Iperf(w)) => ip(block, w, IpTest::Iperf),
            Some(IpTest::TcpRate(w)) => ip(block, w, IpTest::TcpRate),
            Some(IpTest::MqttRate(w)) => ip(block, w, IpTest::MqttRate),
            Some(IpTest::Join(w)) => ip(block, w, IpTest::Join),
            None => Ok(Vec::new()),
        },
    }
}

/// A block of a test over IP, whose device may be of a variant.
fn ip<K: Kind>(
    block: Block<'_>,
    test: K,
    wrap: fn(K) -> IpTest,
) -> Result<Vec<Workload>, PlanError> {
    let all = matrix(block, Varied { variant: None, test })?;
    let one = |it: Varied<K>| match it.variant {
        Some(variant) => Workload::Wifi(Wifi { variant, test: wrap(it.test) }),
        None => wrap(it.test).workload(),
    };
    Ok(all.into_iter().map(one).collect())
}

fn wrap<T>(list: Vec<T>, kind: fn(T) -> Workload) -> Vec<Workload> {
    list.into_iter().map(kind).collect()
}

fn matrix<K: Kind>(mut block: Block<'_>, first: K) -> Result<Vec<K>, PlanError> {
    let mut list = Vec::from([first]);
    let keys = block.lists(&K::keys())?;
    for (key, values) in &keys {
        let mut next = Vec::new();
        for one in &list {
            for (value, span) in values {
                let mut one = one.clone();
                one.set(key, value).map_err(|e| block.error(span, format!("`{key}`: {e}")))?;
                next.push(one);
            }
        }
        list = next;
    }
    let named: Vec<&str> = keys.iter().map(|(key, _)| key.as_str()).collect();
    for one in &mut list {
        one.complete(&named);
        one.check().map_err(|e| block.error(&block.place().clone(), e))?;
    }
    Ok(list)
}

fn seconds(value: &Scalar, range: RangeInclusive<Duration>) -> Result<Duration, String> {
    value.duration(range)
}

impl Kind for UdpEcho {
    const KEYS: &'static [&'static str] =
        &["size", "count", "discard", "format", "in_flight", "interval", "timeout"];

    fn set(&mut self, key: &str, value: &Scalar) -> Result<(), String> {
        match key {
            "size" => self.size = value.bytes(1..=UDP_MAX)? as u32,
            "count" => self.count = value.int(1..=100_000_000)? as u32,
            "discard" => self.discard = value.int(0..=1_000_000)? as u32,
            "format" => self.format = value.word(&FORMATS)?,
            "in_flight" => self.in_flight = value.int(1..=1024)? as u16,
            "interval" => {
                self.interval = Some(value.duration(Duration::from_micros(1)..=DAY)?);
            }
            _ => self.timeout = value.duration(MILLISECOND..=Duration::from_secs(3600))?,
        }
        Ok(())
    }

    fn get(&self, key: &str) -> Option<String> {
        Some(match key {
            "size" => self.size.to_string(),
            "count" => self.count.to_string(),
            "discard" => self.discard.to_string(),
            "format" => quoted(name(&FORMATS, self.format)),
            "in_flight" => self.in_flight.to_string(),
            "interval" => quoted(&print_duration(self.interval?)),
            _ => quoted(&print_duration(self.timeout)),
        })
    }

    fn check(&self) -> Result<(), String> {
        match self.format {
            EchoFormat::Ascii if self.in_flight > 1 => Err("ASCII probes carry no sequence \
                number, so only one can be in flight: set format = \"binary\" or in_flight = 1"
                .into()),
            EchoFormat::Ascii if u64::from(self.size) >= UDP_MAX => Err(format!(
                "with its line feed the datagram is too long: size up to {}",
                UDP_MAX - 1
            )),
            EchoFormat::Binary if (self.size as usize) < HEADER_LEN => Err(format!(
                "a binary probe has a header of {HEADER_LEN} bytes: set size to {HEADER_LEN} or \
                 more, or format = \"ascii\""
            )),
            _ => Ok(()),
        }
    }
}

const FORMATS: [(&str, EchoFormat); 2] =
    [("ascii", EchoFormat::Ascii), ("binary", EchoFormat::Binary)];

impl Kind for Iperf {
    const KEYS: &'static [&'static str] = &[
        "transport",
        "direction",
        "time",
        "bytes",
        "interval",
        "length",
        "bandwidth",
        "parallel",
        "window",
        "no_delay",
        "tos",
        "mss",
        "congestion",
        "trip_times",
        "bounceback",
        "bounceback_period",
        "bounceback_hold",
        "bounceback_quick_ack",
        "latency",
        "latency_idle",
        "latency_interval",
    ];

    fn set(&mut self, key: &str, value: &Scalar) -> Result<(), String> {
        match key {
            "transport" => self.transport = value.word(&TRANSPORTS)?,
            "direction" => self.direction = value.word(&DIRECTIONS)?,
            "time" => self.time = seconds(value, Duration::from_millis(10)..=DAY)?,
            "bytes" => self.bytes = Some(value.bytes(1..=1 << 50)?),
            "interval" => self.interval = seconds(value, Duration::from_millis(5)..=DAY)?,
            "length" => self.length = value.bytes(1..=16 << 20)? as u32,
            "bandwidth" => {
                let rate = value.quantity(Dimension::BitRate, "\"40 Mbit/s\"")?;
                if !(1.0..=1e13).contains(&rate) {
                    return Err("out of range: use 1 bit/s to 10000 Gbit/s".into());
                }
                self.bandwidth = Some(rate as u64);
            }
            "parallel" => self.parallel = value.int(1..=128)? as u16,
            "window" => self.window = Some(value.bytes(1..=1 << 30)? as u32),
            "no_delay" => self.no_delay = value.bool()?,
            "latency" | "latency_idle" | "latency_interval" => {
                latency::set(&mut self.latency, key, value)?;
            }
            _ => return iperf::set(self, key, value),
        }
        Ok(())
    }

    fn get(&self, key: &str) -> Option<String> {
        Some(match key {
            "transport" => quoted(name(&TRANSPORTS, self.transport)),
            "direction" => quoted(name(&DIRECTIONS, self.direction)),
            "time" => quoted(&print_duration(self.time)),
            "bytes" => self.bytes?.to_string(),
            "interval" => quoted(&print_duration(self.interval)),
            "length" => self.length.to_string(),
            "bandwidth" => quoted(&format!("{} bit/s", self.bandwidth?)),
            "parallel" => self.parallel.to_string(),
            "window" => self.window?.to_string(),
            "no_delay" => self.no_delay.to_string(),
            "latency" | "latency_idle" | "latency_interval" => latency::get(self.latency?, key),
            _ => return iperf::get(self, key),
        })
    }

    fn complete(&mut self, named: &[&str]) {
        if named.contains(&"length") {
            return;
        }
        if self.transport == Transport::Udp {
            self.length = iperf2::UDP_LENGTH;
        } else if self.bounceback.is_some() {
            self.length = iperf2::BOUNCE_LENGTH;
        }
    }

    fn check(&self) -> Result<(), String> {
        // A datagram must hold iperf 2's header: 64-bit number, seconds and microseconds.
        if self.transport == Transport::Udp && !(16..=UDP_MAX).contains(&u64::from(self.length)) {
            return Err(format!("a UDP `length` is 16 to {UDP_MAX} bytes"));
        }
        iperf::check(self)
    }
}

const TRANSPORTS: [(&str, Transport); 2] = [("tcp", Transport::Tcp), ("udp", Transport::Udp)];
const DIRECTIONS: [(&str, Direction); 5] = [
    ("forward", Direction::Forward),
    ("reverse", Direction::Reverse),
    ("full-duplex", Direction::FullDuplex),
    ("tradeoff", Direction::Tradeoff),
    ("dual", Direction::Dual),
];

impl Kind for TcpRate {
    const KEYS: &'static [&'static str] = &["size", "runs", "discard", "run_time", "no_delay"];

    fn set(&mut self, key: &str, value: &Scalar) -> Result<(), String> {
        match key {
            "size" => self.size = value.bytes(1..=1 << 20)? as u32,
            "runs" => self.runs = value.int(1..=10_000)? as u16,
            "discard" => self.discard = value.int(0..=1000)? as u16,
            "run_time" => self.run_time = seconds(value, Duration::from_millis(10)..=DAY)?,
            _ => self.no_delay = value.bool()?,
        }
        Ok(())
    }

    fn get(&self, key: &str) -> Option<String> {
        Some(match key {
            "size" => self.size.to_string(),
            "runs" => self.runs.to_string(),
            "discard" => self.discard.to_string(),
            "run_time" => quoted(&print_duration(self.run_time)),
            _ => self.no_delay.to_string(),
        })
    }

    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}

impl Kind for MqttRate {
    const KEYS: &'static [&'static str] = &[
        "version",
        "qos",
        "size",
        "offered",
        "in_flight",
        "time",
        "count",
        "queue",
        "clients",
        "retain",
        "clean_start",
        "session_expiry",
    ];

    fn set(&mut self, key: &str, value: &Scalar) -> Result<(), String> {
        match key {
            "version" => self.version = value.word(&VERSIONS)?,
            "qos" => self.qos = value.int(0..=2)? as u8,
            "size" => self.size = value.bytes(16..=1 << 20)? as u32,
            "offered" => self.mode = offered(value.text()?)?,
            "in_flight" => self.in_flight = value.int(1..=65_535)? as u16,
            "time" => self.time = seconds(value, Duration::from_millis(10)..=DAY)?,
            "count" => self.count = Some(value.int(1..=100_000_000)? as u32),
            "queue" => self.queue = value.int(1..=10_000_000)? as u32,
            "clients" => self.clients = value.int(1..=10_000)? as u16,
            "retain" => self.retain = value.bool()?,
            "clean_start" => self.clean_start = value.bool()?,
            _ => self.session_expiry = Some(session_expiry(value)?),
        }
        Ok(())
    }

    fn get(&self, key: &str) -> Option<String> {
        Some(match key {
            "version" => quoted(name(&VERSIONS, self.version)),
            "qos" => self.qos.to_string(),
            "size" => self.size.to_string(),
            "offered" => quoted(&match self.mode {
                MqttMode::Saturate => "saturate".to_string(),
                MqttMode::Listen => "listen".to_string(),
                MqttMode::Offered(rate) => format!("{rate} /s"),
                MqttMode::Search { low, high } => format!("search {low} /s to {high} /s"),
            }),
            "in_flight" => self.in_flight.to_string(),
            "time" => quoted(&print_duration(self.time)),
            "count" => self.count?.to_string(),
            "queue" => self.queue.to_string(),
            "clients" => self.clients.to_string(),
            "retain" => self.retain.to_string(),
            // What every earlier plan left out is left out here, too.
            "clean_start" if self.clean_start => return None,
            "clean_start" => "false".to_string(),
            _ => quoted(&match self.session_expiry? {
                u32::MAX => NEVER.to_string(),
                seconds => print_duration(Duration::from_secs(seconds.into())),
            }),
        })
    }

    fn check(&self) -> Result<(), String> {
        if self.mode == MqttMode::Listen && (self.clients > 1 || self.retain) {
            return Err("listening publishes nothing: leave out `clients` and `retain`".into());
        }
        if self.mode == MqttMode::Listen && self.count.is_some() {
            return Err("listening goes by time: leave out `count`, and set `time`".into());
        }
        if self.session_expiry.is_some() && self.version == MqttVersion::V311 {
            return Err("MQTT 3.1.1 has no session expiry: set the version to 5, or leave out \
                        `session_expiry`"
                .into());
        }
        Ok(())
    }
}

/// The word for a session that the broker keeps for ever.
const NEVER: &str = "never";

/// Reads whole seconds, as they are on the wire (5: 3.1.2.11.2), or [`NEVER`].
fn session_expiry(value: &Scalar) -> Result<u32, String> {
    if value.text() == Ok(NEVER) {
        return Ok(u32::MAX);
    }
    let time = value.duration(Duration::ZERO..=365 * DAY)?;
    match (time.subsec_nanos(), u32::try_from(time.as_secs())) {
        (0, Ok(seconds)) => Ok(seconds),
        _ => Err("a session expires after whole seconds".into()),
    }
}

const VERSIONS: [(&str, MqttVersion); 2] = [("3.1.1", MqttVersion::V311), ("5", MqttVersion::V5)];

/// `saturate`, `listen`, `200 /s` or `search 10 /s to 5000 /s`.
fn offered(text: &str) -> Result<MqttMode, String> {
    if text == "saturate" {
        return Ok(MqttMode::Saturate);
    }
    if text == "listen" {
        return Ok(MqttMode::Listen);
    }
    let rate = |text: &str| {
        let rate = units::parse(text, Dimension::Rate)?;
        if (0.001..=1e8).contains(&rate) {
            Ok(rate)
        } else {
            Err(format!("`{text}` is out of range: use 0.001 /s to 100000000 /s"))
        }
    };
    let Some(range) = text.strip_prefix("search ") else {
        return rate(text).map(MqttMode::Offered).map_err(|e| {
            format!("{e}; or \"saturate\", \"listen\" or \"search 10 /s to 5000 /s\"")
        });
    };
    let (low, high) = range
        .split_once(" to ")
        .ok_or_else(|| "write a search as \"search 10 /s to 5000 /s\"".to_string())?;
    let (low, high) = (rate(low)?, rate(high)?);
    if low >= high {
        return Err(format!("the search's low end {low} /s is not below its high end {high} /s"));
    }
    Ok(MqttMode::Search { low, high })
}

fn name<T: PartialEq>(words: &[(&'static str, T)], value: T) -> &'static str {
    words.iter().find(|(_, v)| *v == value).map_or("", |(word, _)| word)
}
