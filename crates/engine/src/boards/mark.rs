//! Lines of a console that a test waits for, as values.

use alloc::string::String;
use esp_now::transcript::item::{
    CryptoLine, DeviceLine, IperfLine, OtaLine, ProvisioningLine, SecurityLine,
};
use esp_now::transcript::{TranscriptEntry, TranscriptItem};
use espbench_ieee80211::mac::Mac;
use espbench_model::time::Instant;
use espbench_proto::wire::iperf2::console::IdfIperfLine;

/// Beginning of what a responder prints of an image that it runs already.
const SAME_IMAGE: &str =
    "The firmware to be upgraded is the same as the currently running firmware";

/// Meaning of a line for whoever waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineMark {
    /// Time has passed since a start: `restart_func: num: …`.
    Started,
    /// A test of `espnow_iperf` began as initiator.
    Begun,
    /// The device listens, with this address.
    Listens(Mac),
    /// The last line of a ping's report.
    PingEnd,
    /// The final report of a throughput test.
    StreamEnd,
    /// The initiator of a throughput test got no report from the other end.
    NoReport,
    /// Mean time of an encryption, in microseconds.
    Encrypted(i64),
    /// Mean time of a decryption, in microseconds.
    Decrypted(i64),
    /// An image is there, with so many bytes.
    Downloaded(u32),
    /// There is no image to send.
    NoImage,
    /// A search found so many devices.
    Found(u32),
    /// The image is being sent.
    Sending,
    /// The image was sent.
    Sent,
    /// The list of upgraded devices is over.
    Upgraded,
    /// All of an image is written on this device.
    Written,
    /// The device runs that image already.
    SameImage,
    /// A round of a job is over.
    Round,
    /// The key was handed out, in so many milliseconds: with the search, where the application did both.
    KeySent(u32),
    /// No device waits for the key.
    NobodyWaits,
    /// The device has no key to hand out.
    NoKey,
    /// The device has got the key.
    GotKey,
    /// The device looks for credentials.
    Seeks,
    /// The device has got credentials.
    Credentials,
    /// The device tells of its Wi-Fi network, or of a test of ESP-IDF's `iperf`.
    Network(IdfIperfLine),
    /// A command was not carried out.
    Refused,
    /// Another line.
    Other,
}

impl LineMark {
    /// Returns the meaning of a line.
    #[must_use]
    pub fn of(entry: &TranscriptEntry<'_>) -> Self {
        match entry.item {
            TranscriptItem::Iperf(line) => Self::of_iperf(&line),
            TranscriptItem::Crypto(CryptoLine::Encrypting { us, .. }) => Self::Encrypted(us),
            TranscriptItem::Crypto(CryptoLine::Decrypting { us, .. }) => Self::Decrypted(us),
            TranscriptItem::Crypto(CryptoLine::Failed) | TranscriptItem::Problem(_) => {
                Self::Refused
            }
            TranscriptItem::Devices(list) => Self::Found(list.num),
            TranscriptItem::Ota(line) => Self::of_ota(&line),
            TranscriptItem::Security(line) => Self::of_security(&line),
            TranscriptItem::Provisioning(line) => match line {
                ProvisioningLine::Start | ProvisioningLine::AlreadyStarted => Self::Seeks,
                ProvisioningLine::Credentials { .. } => Self::Credentials,
                ProvisioningLine::NoCredentials => Self::Refused,
                _ => Self::Other,
            },
            TranscriptItem::Device(DeviceLine::Restart { .. }) => Self::Started,
            TranscriptItem::Other if entry.line.text.starts_with(SAME_IMAGE) => Self::SameImage,
            // A line whose end is missing may have half a number.
            TranscriptItem::Other if !entry.line.cut => {
                IdfIperfLine::parse(entry.line.text).map_or(Self::Other, Self::Network)
            }
            _ => Self::Other,
        }
    }

    /// Returns whether the device has an address of its network.
    #[must_use]
    pub const fn is_joined(self) -> bool {
        matches!(self, Self::Network(IdfIperfLine::Address(_)))
    }

    const fn of_iperf(line: &IperfLine<'_>) -> Self {
        match line {
            IperfLine::Initiator { .. } => Self::Begun,
            IperfLine::Responder(own) => Self::Listens(*own),
            IperfLine::Statistics(_) => Self::PingEnd,
            IperfLine::Final(_) => Self::StreamEnd,
            IperfLine::NoAnswer(_) => Self::NoReport,
            IperfLine::Running | IperfLine::NoRole => Self::Refused,
            _ => Self::Other,
        }
    }

    const fn of_ota(line: &OtaLine<'_>) -> Self {
        match line {
            OtaLine::Downloaded { bytes, .. } => Self::Downloaded(*bytes),
            OtaLine::NotDownloaded => Self::NoImage,
            OtaLine::Sending(_) => Self::Sending,
            OtaLine::Complete { .. } => Self::Sent,
            OtaLine::Result { .. } => Self::Upgraded,
            OtaLine::Written { total, written, .. } if *total == *written => Self::Written,
            OtaLine::Progress(_) => Self::Round,
            _ => Self::Other,
        }
    }

    const fn of_security(line: &SecurityLine<'_>) -> Self {
        match line {
            SecurityLine::Complete { ms, .. } => Self::KeySent(*ms),
            SecurityLine::Waiting(0) => Self::NobodyWaits,
            SecurityLine::NoKey => Self::NoKey,
            SecurityLine::GotKey => Self::GotKey,
            _ => Self::Other,
        }
    }
}

/// A line of a board's console.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoardLine {
    /// Time at which it was complete, on the clock of this host.
    pub at: Instant,
    /// Meaning of the line.
    pub mark: LineMark,
    /// Text of the line, without a log header.
    pub text: String,
}
