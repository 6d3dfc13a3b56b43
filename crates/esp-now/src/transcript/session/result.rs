//! Results: the report of a test that is over.

use super::super::item::iperf::{Final, Statistics};
use espbench_ieee80211::mac::Mac;
use espbench_model::sample::Link;

/// A result. `device` is the device that printed it: `None` for the console's own device as long as
/// no line has named its address.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TestResult {
    /// Statistics of a ping.
    Ping(PingResult),
    /// Final report of a throughput test, of one end.
    Throughput(ThroughputResult),
    /// Ping or throughput test without its final report.
    Unfinished(Unfinished),
    /// Mean of `sec_test`.
    Crypto(CryptoResult),
    /// End of an upgrade of devices over the air.
    Update(UpdateResult),
    /// End of a handshake with devices.
    Handshake(HandshakeResult),
}

/// Statistics of a ping, and counts of its lines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PingResult {
    /// Device that pinged.
    pub device: Option<Mac>,
    /// Link from it to the pinged device.
    pub link: Option<Link>,
    /// Statistics as printed.
    pub printed: Statistics,
    /// Length of the payload in bytes, from the start-up lines or the answers.
    pub len: Option<u32>,
    /// Number of lines of answers.
    pub replies: u32,
    /// Number of lines of pings without an answer.
    pub unreachable: u32,
    /// Number of lines of late answers.
    pub late: u32,
    /// Number of pings without a line in the transcript: lines were lost between device and host.
    pub missing: u32,
}

/// Final report of a throughput test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThroughputResult {
    /// Device that reported.
    pub device: Option<Mac>,
    /// Link from initiator to responder.
    pub link: Option<Link>,
    /// Report as printed.
    pub printed: Final,
    /// Messages sent, corrected; `None` if that is not possible.
    pub total: Option<u64>,
    /// Messages lost, corrected; `None` if that is not possible. Message 0, whose loss no line
    /// shows, is not counted.
    pub lost: Option<u64>,
    /// Whether the lines show that the counters went on from the run before: message 0 was lost.
    pub continued: bool,
    /// Length of the payload of a message in bytes, from the start-up lines.
    pub len: Option<u32>,
    /// Number of periodic lines before the report.
    pub intervals: u32,
}

/// A test that did not report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unfinished {
    /// Device that ran the test.
    pub device: Option<Mac>,
    /// Link of the test, if the lines show it.
    pub link: Option<Link>,
    /// Kind of test, if the lines show it.
    pub run: Option<IperfRun>,
    /// Reason why it counts as unfinished.
    pub why: UnfinishedReason,
    /// Number of lines of pings or intervals of the test.
    pub lines: u32,
}

/// Activity of `espnow_iperf` on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IperfRun {
    /// Pinging.
    Ping,
    /// Sending.
    Sending,
    /// Receiving.
    Receiving,
}

/// Reason why a test counts as unfinished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnfinishedReason {
    /// The initiator reported that STOP was not answered.
    NoAnswer,
    /// Another test began.
    Another,
    /// The device has restarted.
    Restarted,
    /// The transcript ended.
    End,
}

/// Mean of `sec_test`: a benchmark of the processor, not of the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CryptoResult {
    /// Device that printed it.
    pub device: Option<Mac>,
    /// Whether it is for encrypting; else it is for decrypting.
    pub encrypting: bool,
    /// Length of a message, in bytes.
    pub bytes: u32,
    /// Mean in microseconds, cut to whole ones.
    pub us: i64,
}

/// Result of an upgrade over the air, as its initiator reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UpdateResult {
    /// Address of the initiator.
    pub device: Option<Mac>,
    /// Number of devices that the last scan found.
    pub found: Option<u32>,
    /// Length of the image, in bytes.
    pub bytes: Option<u32>,
    /// Number of packets of the image.
    pub packets: Option<u32>,
    /// Number of the last round.
    pub rounds: Option<u32>,
    /// Duration in whole seconds.
    pub seconds: Option<u32>,
    /// Number of devices that have the image. One that had it before may be in neither number.
    pub successed: u32,
    /// Number of devices that do not have it.
    pub unfinished: u32,
}

/// Result of a handshake with devices, as its initiator reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandshakeResult {
    /// Address of the initiator.
    pub device: Option<Mac>,
    /// Number of devices that the last scan found.
    pub found: Option<u32>,
    /// Number of the last round.
    pub rounds: Option<u32>,
    /// Duration in milliseconds.
    pub ms: Option<u32>,
    /// Duration of the scan in milliseconds, where it is reported apart.
    pub scan_ms: Option<u32>,
    /// Number of devices that have the key.
    pub successed: u32,
    /// Number of devices that do not have it.
    pub unfinished: u32,
}

/// Resolution of a printed figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resolution {
    /// Step of the last digit, in the unit in which this crate gives the figure.
    pub step: i64,
    /// Rounding to that step.
    pub rounding: Rounding,
}

/// Rounding of a figure to the step of its last digit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// Rounded down: the true value is up to a step more.
    Down,
    /// Rounded to the nearest: the true value is up to half a step more or less.
    Nearest,
}

impl Resolution {
    /// Resolution of round trips, in nanoseconds; also of their minimum, maximum and average, which
    /// is a mean of cut figures.
    pub const ROUND_TRIP: Self = Self { step: 1_000_000, rounding: Rounding::Down };
    /// Resolution of the bytes of an interval or a total.
    pub const BYTES: Self = Self { step: 10_000, rounding: Rounding::Nearest };
    /// Resolution of bits per second.
    pub const BITS_PER_SECOND: Self = Self { step: 10_000, rounding: Rounding::Nearest };
    /// Resolution of the ends of an interval in its text, and of the times of upgrades, in
    /// nanoseconds.
    pub const SECONDS: Self = Self { step: 1_000_000_000, rounding: Rounding::Down };
    /// Resolution of the means of `sec_test`, in nanoseconds.
    pub const CRYPTO: Self = Self { step: 1000, rounding: Rounding::Down };

    /// Returns the bounds between which the true value lies, if `printed` was.
    #[must_use]
    pub const fn bounds(self, printed: i64) -> (i64, i64) {
        match self.rounding {
            Rounding::Down => (printed, printed.saturating_add(self.step)),
            Rounding::Nearest => {
                let half = self.step / 2;
                (printed.saturating_sub(half), printed.saturating_add(half))
            }
        }
    }
}
