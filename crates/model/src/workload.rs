//! The test that one measured cell asks of a target. A plan's matrix expands to these; later the
//! firmware's console will carry them.

use crate::messages::EspNowMessages;
use crate::overrides::LabOverrides;
use crate::time::Duration;

/// One cell's worth of work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Workload {
    /// UDP round trips of one size.
    UdpEcho(UdpEcho),
    /// ICMP round trips of one size.
    Ping(Ping),
    /// One iperf 2 test.
    Iperf(Iperf),
    /// Short messages over TCP, counted for a second at a time.
    TcpRate(TcpRate),
    /// Numbered messages through an MQTT broker.
    MqttRate(MqttRate),
    /// A station joins its network, over and over.
    Join(WifiJoin),
    /// One of the above by a device over Wi-Fi, of which the variant is known.
    Wifi(Wifi),
    /// One cell of Espressif's ESP-NOW test report.
    EspNow(EspNow),
    /// Calls of `esp_now_send` without the component.
    RawEspNow(RawEspNow),
    /// Messages among nodes of ESP-NOW.
    EspNowMessages(EspNowMessages),
}

impl Workload {
    /// Returns the name that a plan's `kind` key and the reports use.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::UdpEcho(_) => "udp-echo",
            Self::Ping(_) => "ping",
            Self::Iperf(_) => "iperf",
            Self::TcpRate(_) => "tcp-rate",
            Self::MqttRate(_) => "mqtt-rate",
            Self::Join(_) => "wifi-join",
            Self::Wifi(w) => w.test.kind(),
            Self::EspNow(_) => "esp-now",
            Self::RawEspNow(_) => "raw-esp-now",
            Self::EspNowMessages(_) => "esp-now-messages",
        }
    }

    /// Returns the test over IP, whether a variant is named or not; `None` for ESP-NOW.
    #[must_use]
    pub const fn ip(&self) -> Option<IpTest> {
        Some(match *self {
            Self::UdpEcho(w) => IpTest::UdpEcho(w),
            Self::Ping(w) => IpTest::Ping(w),
            Self::Iperf(w) => IpTest::Iperf(w),
            Self::TcpRate(w) => IpTest::TcpRate(w),
            Self::MqttRate(w) => IpTest::MqttRate(w),
            Self::Join(w) => IpTest::Join(w),
            Self::Wifi(w) => w.test,
            Self::EspNow(_) | Self::RawEspNow(_) | Self::EspNowMessages(_) => return None,
        })
    }

    /// Returns the variant of the device, where one is named.
    #[must_use]
    pub const fn variant(&self) -> Option<&Name> {
        match self {
            Self::Wifi(w) => Some(&w.variant),
            _ => None,
        }
    }

    /// Returns the properties of a lab that the plan sets; none for work without a lab.
    #[must_use]
    pub const fn lab(&self) -> &LabOverrides {
        const NONE: &LabOverrides = &LabOverrides::NONE;
        match self {
            Self::Wifi(w) => &w.lab,
            Self::EspNow(w) => &w.lab,
            Self::RawEspNow(w) => &w.lab,
            Self::EspNowMessages(w) => &w.lab,
            _ => NONE,
        }
    }

    /// Returns the properties of a lab that the plan sets, to change them; `None` for work without a lab.
    pub const fn lab_mut(&mut self) -> Option<&mut LabOverrides> {
        match self {
            Self::Wifi(w) => Some(&mut w.lab),
            Self::EspNow(w) => Some(&mut w.lab),
            Self::RawEspNow(w) => Some(&mut w.lab),
            Self::EspNowMessages(w) => Some(&mut w.lab),
            _ => None,
        }
    }

    /// Returns the work without a variant, as it is carried out with real devices.
    #[must_use]
    pub const fn plain(&self) -> Self {
        match self {
            Self::Wifi(w) => w.test.workload(),
            other => *other,
        }
    }
}

/// A short name, held by value: ASCII, at most 32 bytes.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name {
    bytes: [u8; Self::LEN],
    len: u8,
}

impl Name {
    /// Bytes of the longest name.
    pub const LEN: usize = 32;

    /// Creates the name, if it is ASCII and not too long.
    #[must_use]
    pub fn new(name: &str) -> Option<Self> {
        let mut bytes = [0; Self::LEN];
        bytes.get_mut(..name.len())?.copy_from_slice(name.as_bytes());
        name.is_ascii().then_some(Self { bytes, len: name.len() as u8 })
    }

    /// Returns the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        let bytes = self.bytes.get(..usize::from(self.len)).unwrap_or_default();
        core::str::from_utf8(bytes).unwrap_or_default()
    }
}

impl core::fmt::Debug for Name {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.as_str().fmt(f)
    }
}

/// A test over Wi-Fi and IP.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum IpTest {
    /// UDP round trips of one size.
    UdpEcho(UdpEcho),
    /// ICMP round trips of one size.
    Ping(Ping),
    /// One iperf 2 test. Forward is towards the device, as wherever this end is the client: the
    /// device's RX. Where only the device sends ([`Direction::Reverse`]), its own client may do so.
    Iperf(Iperf),
    /// Short messages over TCP from the device.
    TcpRate(TcpRate),
    /// Numbered messages through an MQTT broker, from the device.
    MqttRate(MqttRate),
    /// The device joins its network, over and over.
    Join(WifiJoin),
}

impl IpTest {
    /// Returns the name, as [`Workload::kind`] does.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::UdpEcho(_) => "udp-echo",
            Self::Ping(_) => "ping",
            Self::Iperf(_) => "iperf",
            Self::TcpRate(_) => "tcp-rate",
            Self::MqttRate(_) => "mqtt-rate",
            Self::Join(_) => "wifi-join",
        }
    }

    /// Returns the test as a workload of no variant.
    #[must_use]
    pub const fn workload(self) -> Workload {
        match self {
            Self::UdpEcho(w) => Workload::UdpEcho(w),
            Self::Ping(w) => Workload::Ping(w),
            Self::Iperf(w) => Workload::Iperf(w),
            Self::TcpRate(w) => Workload::TcpRate(w),
            Self::MqttRate(w) => Workload::MqttRate(w),
            Self::Join(w) => Workload::Join(w),
        }
    }
}

/// A test over Wi-Fi with one variant of a device: its firmware, its role, its network.
///
/// In the lab the variant says what is simulated; of real boards it is what the user says that they
/// run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wifi {
    /// Name of the variant.
    pub variant: Name,
    /// Properties of the lab that the plan sets.
    pub lab: LabOverrides,
    /// Test that is carried out.
    pub test: IpTest,
}

impl Wifi {
    /// Returns a test in a variant as the lab's file has it.
    #[must_use]
    pub const fn new(variant: Name, test: IpTest) -> Self {
        Self { variant, lab: LabOverrides::NONE, test }
    }
}

/// The format of an echo probe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EchoFormat {
    /// Digits 0 to 8 over and over, ended by a line feed, one probe at a time: the form of the
    /// published ESP32 benchmark. The line feed is not counted in the size.
    #[default]
    Ascii,
    /// A header with sequence number and time, then a pattern; several may be in flight.
    Binary,
}

/// UDP round trips of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UdpEcho {
    /// Payload bytes (without the line feed in ASCII form).
    pub size: u32,
    /// Probes recorded.
    pub count: u32,
    /// Probes sent first and not recorded.
    pub discard: u32,
    /// Form of the probe.
    pub format: EchoFormat,
    /// Most probes outstanding at once (1 in ASCII form).
    pub in_flight: u16,
    /// Time from one probe's due time to the next; `None` sends as soon as the window allows.
    pub interval: Option<Duration>,
    /// Time without a reply after which the probe is lost, or late if it still comes.
    pub timeout: Duration,
}

/// ICMP round trips of one size. A request is sent when it is due, whether or not the ones before were
/// answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ping {
    /// Bytes of data after the ICMP header.
    pub size: u32,
    /// Requests recorded.
    pub count: u32,
    /// Requests sent first and not recorded.
    pub discard: u32,
    /// Time from one request's due time to the next.
    pub interval: Duration,
    /// Time without a reply after which the request is lost, or late if its reply still comes.
    pub timeout: Duration,
    /// Type of service, or traffic class of IPv6: DSCP and ECN (RFC 2474, RFC 3168). `None` leaves the
    /// system's default.
    pub tos: Option<u8>,
    /// Time to live, or hop limit of IPv6. `None` leaves the system's default.
    pub ttl: Option<u8>,
}

/// Transport under iperf.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Transport {
    /// UDP datagrams with sequence numbers.
    Udp,
    /// A TCP stream.
    #[default]
    Tcp,
}

/// The sending side in an iperf test, as iperf 2 names it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// The client sends.
    #[default]
    Forward,
    /// `-R`: the server sends over the client's connection.
    Reverse,
    /// `--full-duplex`: both over one connection.
    FullDuplex,
    /// `-r`: client to server, then server to client over a connection of its own.
    Tradeoff,
    /// `-d`: both at once, over two connections.
    Dual,
}

/// One iperf 2 test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Iperf {
    /// TCP or UDP.
    pub transport: Transport,
    /// Sending side.
    pub direction: Direction,
    /// `-t`: how long to send. Not used where `bytes` is set.
    pub time: Duration,
    /// `-n`: how much to send, per stream.
    pub bytes: Option<u64>,
    /// `-i`: length of a reported interval.
    pub interval: Duration,
    /// `-l`: bytes of a datagram or of a TCP write.
    pub length: u32,
    /// `-b`: offered bits of payload a second per stream; `None` is as fast as it goes.
    pub bandwidth: Option<u64>,
    /// `-P`: parallel streams.
    pub parallel: u16,
    /// `-w`: socket buffer in bytes; `None` leaves the system's default.
    pub window: Option<u32>,
    /// `-N`: Nagle's algorithm off.
    pub no_delay: bool,
    /// `-S`: the byte of type of service (DSCP and ECN, RFC 2474) of what is sent; 0 is best effort.
    pub tos: u8,
    /// `-M`: largest TCP segment to ask for, in bytes; `None` leaves the system's.
    pub mss: Option<u16>,
    /// `-Z`: TCP congestion control by its name in the kernel; `None` leaves the system's.
    pub congestion: Option<Name>,
    /// `--trip-times`: each datagram or write says when it was sent, so that the receiver can tell
    /// one-way latencies. Both clocks must agree.
    pub trip_times: bool,
    /// `--bounceback`: requests and replies over TCP, and no stream.
    pub bounceback: Option<Bounceback>,
    /// Echo probes before and beside the streams; `None` sends none.
    pub latency: Option<Latency>,
}

impl Iperf {
    /// Length of a TCP write in bytes, where none is given.
    pub const TCP_LENGTH: u32 = 128 * 1024;
    /// Ten seconds of TCP from client to server, as iperf 2 does it where nothing is said.
    pub const DEFAULT: Self = Self {
        transport: Transport::Tcp,
        direction: Direction::Forward,
        time: Duration::from_secs(10),
        bytes: None,
        interval: Duration::from_secs(1),
        length: Self::TCP_LENGTH,
        bandwidth: None,
        parallel: 1,
        window: None,
        no_delay: false,
        tos: 0,
        mss: None,
        congestion: None,
        trip_times: false,
        bounceback: None,
        latency: None,
    };
}

/// How `--bounceback` sends its requests. Request and reply have the test's `length`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounceback {
    /// Requests of a period, one after the other's reply.
    pub burst: u16,
    /// `--bounceback-period`: from one burst's beginning to the next one's; zero sends back to back.
    pub period: Duration,
    /// `--bounceback-hold`: how long the server is to wait between its read and its write.
    pub hold: Duration,
    /// Whether both ends acknowledge at once (`TCP_QUICKACK`); `--bounceback-no-quickack` unsets it.
    pub quick_ack: bool,
}

impl Bounceback {
    /// Ten requests each second, as iperf 2 sends them.
    pub const DEFAULT: Self =
        Self { burst: 10, period: Duration::from_secs(1), hold: Duration::ZERO, quick_ack: true };
}

/// Echo probes that tell the latency of an idle link from that of the link under load.
///
/// Probes of the idle time are recorded on [`Link::IDLE`](crate::sample::Link::IDLE), those beside the
/// streams on [`Link::LOADED`](crate::sample::Link::LOADED).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latency {
    /// Protocol of the probes.
    pub by: LatencyBy,
    /// Time for which probes are sent before the streams begin.
    pub idle: Duration,
    /// Time from one probe's due time to the next.
    pub interval: Duration,
}

impl Latency {
    /// Five seconds of 20 probes a second over ICMP: enough to enclose the median and the 95th percentile.
    pub const DEFAULT: Self = Self {
        by: LatencyBy::Icmp,
        idle: Duration::from_secs(5),
        interval: Duration::from_millis(50),
    };
}

/// Carrier of echo probes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LatencyBy {
    /// ICMP echo requests.
    Icmp,
    /// UDP datagrams to the server's host, which echoes on that port.
    Udp(u16),
}

/// Short messages over TCP, counted in runs of one second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpRate {
    /// Bytes of one message.
    pub size: u32,
    /// Runs recorded.
    pub runs: u16,
    /// Runs made first and not recorded.
    pub discard: u16,
    /// Length of one run.
    pub run_time: Duration,
    /// Nagle's algorithm off (`TCP_NODELAY`).
    pub no_delay: bool,
}

/// Version of MQTT spoken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MqttVersion {
    /// MQTT 3.1.1, protocol level 4.
    #[default]
    V311,
    /// MQTT 5.0, protocol level 5.
    V5,
}

/// The load of an MQTT cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MqttMode {
    /// As fast as the in-flight window and the socket allow.
    Saturate,
    /// At a fixed offered rate, messages a second.
    Offered(f64),
    /// Looks for the highest offered rate without loss, between these two, messages a second.
    Search {
        /// Lowest rate tried.
        low: f64,
        /// Highest rate tried.
        high: f64,
    },
    /// Publishes nothing: a device does, and numbers its messages.
    Listen,
}

/// Numbered messages through an MQTT broker.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MqttRate {
    /// 3.1.1 or 5.
    pub version: MqttVersion,
    /// Quality of service, 0 to 2, of publication and subscription.
    pub qos: u8,
    /// Payload bytes (the sequence number and the time are in them; the smallest is 16).
    pub size: u32,
    /// Load of messages.
    pub mode: MqttMode,
    /// Most QoS 1 or 2 messages without an acknowledgement.
    pub in_flight: u16,
    /// Length of one step; listening, from the first message on.
    pub time: Duration,
    /// Stop a step after so many messages, where set.
    pub count: Option<u32>,
    /// Messages that the client's own queue holds before it drops (and counts) further ones.
    pub queue: u32,
    /// Publishers, each with a connection and a topic of its own; one subscriber takes all messages.
    pub clients: u16,
    /// Messages are published to be kept by the broker for later subscribers.
    pub retain: bool,
    /// Sessions start without what the broker may still have of the same client identifiers.
    pub clean_start: bool,
    /// MQTT 5: seconds for which the broker keeps a session after its connection; `u32::MAX` is for ever.
    pub session_expiry: Option<u32>,
}

/// A station joins its network, and leaves it again.
///
/// Each join is a probe: `due` when the station is told to join (`esp_wifi_connect`), `queued` when
/// it has found its access point, `sent` when it is authenticated, `acked` when it is associated,
/// `received` when it has its keys and packets may flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WifiJoin {
    /// Joins recorded.
    pub count: u32,
    /// Joins made first and not recorded.
    pub discard: u32,
    /// Least time from one join's beginning to the next one's.
    pub interval: Duration,
    /// A join that takes longer is lost.
    pub timeout: Duration,
    /// Each as after a start: the key of a WPA2 password is computed again.
    pub cold: bool,
}

/// A test of Espressif's ESP-NOW report (`espnow` component, test report).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum EspNowTest {
    /// Delay from the sender's pin to the receiver's, ten packets.
    OneWay,
    /// Round trips with one device (`espnow_iperf -p`).
    #[default]
    Ping,
    /// How much gets through (`espnow_iperf`).
    Throughput,
    /// Time to encrypt and decrypt (`sec_test`).
    Crypto,
    /// Round trips that all devices ask for at once.
    MultiPing,
    /// Sending a firmware image to all devices (`ota -s`).
    Ota,
    /// Handing a key to all devices.
    Handshake,
    /// Handing Wi-Fi credentials to all devices (`provisioning -i`).
    Provisioning,
}

/// The addressing of packets: `-b` and `-A` of `espnow_iperf`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum EspNowCast {
    /// To one device, with the MAC's acknowledgement.
    #[default]
    Unicast,
    /// To all.
    Broadcast {
        /// Copies of each packet; 0 and 1 both mean one.
        copies: u8,
        /// Whether the receiver acknowledges in the component's own way (`-A`).
        ack: bool,
    },
}

/// Calls of `esp_now_send` without the component: one board sends, another counts what it receives.
///
/// Each frame is a probe: `due` when the call begins, `queued` when the driver has the frame, `received` in the
/// receiver's callback, `acked` in the send callback.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RawEspNow {
    /// Whether frames go to all; else to the other board, with the MAC's acknowledgement.
    pub is_broadcast: bool,
    /// Bytes of each frame's body.
    pub size: u32,
    /// Number of frames.
    pub count: u32,
    /// Whether the next call waits for the send callback; else only where the driver has no buffer.
    pub awaits_callback: bool,
    /// Distance of the boards in metres.
    pub distance_m: f32,
    /// Further properties of the lab that the plan sets.
    pub lab: LabOverrides,
}

/// One cell of Espressif's ESP-NOW test report.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EspNow {
    /// Test of the report.
    pub test: EspNowTest,
    /// Addressing of packets; tests that have no choice ignore it.
    pub cast: EspNowCast,
    /// Payload in bytes (`-l`); of an OTA, bytes of the image.
    pub size: u32,
    /// Probes (`-C`): packets, pings of each device, encryptions.
    pub count: u32,
    /// Length of a throughput test (`-t`).
    pub time: Duration,
    /// Devices beside the initiator.
    pub devices: u16,
    /// Nearest and farthest distance of the devices from the initiator, in metres.
    pub distance_m: (f32, f32),
    /// Whether application data is encrypted.
    pub encrypted: bool,
    /// Further properties of the lab that the plan sets.
    pub lab: LabOverrides,
}

#[cfg(test)]
mod tests;
