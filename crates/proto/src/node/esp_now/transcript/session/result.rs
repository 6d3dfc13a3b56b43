//! Results: what a test says of itself when it is over.

use super::super::item::iperf::{Final, Statistics};
use crate::sample::Link;
use crate::wire::mac::Mac;

/// A result. `device` is who printed it: `None` for the console's own device as long as no line
/// has told its address.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Finding {
    /// The statistics of a ping.
    Ping(PingResult),
    /// The final report of a throughput test, of one end.
    Throughput(ThroughputResult),
    /// A ping or throughput test without its final report.
    Unfinished(Unfinished),
    /// A mean of `sec_test`.
    Crypto(CryptoResult),
    /// An update of devices over the air has ended.
    Update(UpdateResult),
    /// A handshake with devices has ended.
    Handshake(HandshakeResult),
}

/// The statistics of a ping, and what was seen of its lines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PingResult {
    /// Who pinged.
    pub device: Option<Mac>,
    /// From there to the pinged device.
    pub link: Option<Link>,
    /// As printed.
    pub printed: Statistics,
    /// Payload, from the start-up lines or the answers.
    pub len: Option<u32>,
    /// Lines of answers.
    pub replies: u32,
    /// Lines of pings without one.
    pub unreachable: u32,
    /// Lines of late answers.
    pub late: u32,
    /// Pings of which the transcript has no line: lines were lost between device and host.
    pub missing: u32,
}

/// The final report of a throughput test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThroughputResult {
    /// Who reported.
    pub device: Option<Mac>,
    /// From initiator to responder.
    pub link: Option<Link>,
    /// As printed.
    pub printed: Final,
    /// Messages sent, put right; `None` if that cannot be done.
    pub total: Option<u64>,
    /// Messages lost, put right; `None` if that cannot be done. It does not contain message 0,
    /// whose loss no line shows.
    pub lost: Option<u64>,
    /// The lines show that the counters went on from the run before: message 0 was lost.
    pub continued: bool,
    /// Payload of one message, from the start-up lines.
    pub len: Option<u32>,
    /// Periodic lines before it.
    pub intervals: u32,
}

/// A test that did not report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unfinished {
    /// Whose.
    pub device: Option<Mac>,
    /// On which link, if the lines tell.
    pub link: Option<Link>,
    /// What it was, if the lines tell.
    pub run: Option<Run>,
    /// Why we think so.
    pub why: Why,
    /// Lines of pings or intervals that came of it.
    pub lines: u32,
}

/// What `espnow_iperf` does on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Run {
    /// Pinging.
    Ping,
    /// Sending.
    Sending,
    /// Receiving.
    Receiving,
}

/// Why a test counts as unfinished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The initiator said that STOP was not answered.
    NoAnswer,
    /// Another test began.
    Another,
    /// The device has restarted.
    Restarted,
    /// The transcript ended.
    End,
}

/// A mean of `sec_test`: a benchmark of the CPU, not of the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CryptoResult {
    /// Whose.
    pub device: Option<Mac>,
    /// Encrypting or decrypting.
    pub encrypting: bool,
    /// Bytes of one message.
    pub bytes: u32,
    /// Microseconds, cut to whole ones.
    pub us: i64,
}

/// An update over the air, as its initiator tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UpdateResult {
    /// The initiator.
    pub device: Option<Mac>,
    /// Devices that the last scan found.
    pub found: Option<u32>,
    /// Bytes of the image.
    pub bytes: Option<u32>,
    /// Packets it was cut into.
    pub packets: Option<u32>,
    /// Number of the last round.
    pub rounds: Option<u32>,
    /// Whole seconds it took.
    pub seconds: Option<u32>,
    /// Devices that have the image. One that had it before may be in neither number.
    pub successed: u32,
    /// Devices that have not.
    pub unfinished: u32,
}

/// A handshake with devices, as its initiator tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandshakeResult {
    /// The initiator.
    pub device: Option<Mac>,
    /// Devices that the last scan found.
    pub found: Option<u32>,
    /// Number of the last round.
    pub rounds: Option<u32>,
    /// Milliseconds it took.
    pub ms: Option<u32>,
    /// Milliseconds of the scan, where it is told apart.
    pub scan_ms: Option<u32>,
    /// Devices that have the key.
    pub successed: u32,
    /// Devices that have not.
    pub unfinished: u32,
}

/// How fine a printed figure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resolution {
    /// The step of the last digit, in the unit that we give the figure in.
    pub step: i64,
    /// How it was brought to that step.
    pub rounding: Rounding,
}

/// How a figure was brought to the step of its last digit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// Cut: the true value is up to a step more.
    Down,
    /// To the nearest: up to half a step either way.
    Nearest,
}

impl Resolution {
    /// Round trips, their minimum, maximum and, since it is a mean of cut figures, average:
    /// nanoseconds.
    pub const ROUND_TRIP: Self = Self { step: 1_000_000, rounding: Rounding::Down };
    /// Bytes of an interval or a total.
    pub const BYTES: Self = Self { step: 10_000, rounding: Rounding::Nearest };
    /// Bits a second.
    pub const BITS_PER_SECOND: Self = Self { step: 10_000, rounding: Rounding::Nearest };
    /// Ends of an interval in its text, and times of updates: nanoseconds.
    pub const SECONDS: Self = Self { step: 1_000_000_000, rounding: Rounding::Down };
    /// Means of `sec_test`: nanoseconds.
    pub const CRYPTO: Self = Self { step: 1000, rounding: Rounding::Down };

    /// Between which the true value lies, if `printed` was.
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
