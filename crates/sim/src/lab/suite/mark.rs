//! Lines of a console that a test waits for, as values: of a simulated device's, and of a board's.

use alloc::string::String;
use esp_now::transcript::item::{
    CryptoLine, DeviceLine, IperfLine, OtaLine, ProvisioningLine, SecurityLine,
};
use esp_now::transcript::{TranscriptEntry, TranscriptItem, TranscriptPiece};
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
    /// The head of the report of a throughput test's initiator.
    StreamReport,
    /// The figures of a throughput test's report.
    StreamEnd,
    /// The initiator of a throughput test got no report from the other end.
    NoReport,
    /// When the pin of a ping fell and rose, in microseconds on the device's clock: our firmware alone prints it.
    Edges {
        /// Microseconds since the start at which it fell.
        low_us: u64,
        /// Microseconds since the start at which it rose; `None` where no answer came.
        high_us: Option<u64>,
    },
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
    /// So many devices wait for the key, and the application hands it out to them.
    KeyFor(u32),
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
    /// Returns the meaning of a line; one of another device, which a monitor heard, has none here.
    #[must_use]
    pub fn of(entry: &TranscriptEntry<'_>) -> Self {
        if entry.line.remote.is_some() { Self::Other } else { Self::of_any(entry) }
    }

    /// Returns the meaning of a whole line without its line end.
    #[must_use]
    pub fn of_text(text: &str) -> Self {
        Self::of(&whole(text))
    }

    /// Returns the meaning of a whole line that a monitor heard of another device; `None` for a line of the
    /// console's own device.
    #[must_use]
    pub fn of_remote(text: &str) -> Option<Self> {
        let entry = whole(text);
        entry.line.remote.map(|_| Self::of_any(&entry))
    }

    fn of_any(entry: &TranscriptEntry<'_>) -> Self {
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
            IperfLine::Report => Self::StreamReport,
            IperfLine::Final(_) => Self::StreamEnd,
            IperfLine::NoAnswer(_) => Self::NoReport,
            IperfLine::Edges { low_us, high_us, .. } => {
                Self::Edges { low_us: *low_us, high_us: *high_us }
            }
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
            SecurityLine::Waiting(devices) => Self::KeyFor(*devices),
            SecurityLine::NoKey => Self::NoKey,
            SecurityLine::GotKey => Self::GotKey,
            _ => Self::Other,
        }
    }
}

fn whole(text: &str) -> TranscriptEntry<'_> {
    TranscriptEntry::of(TranscriptPiece::Line { text, cut: false })
}

/// A line of a console, with its meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkedLine {
    /// Time at which it was complete, on the clock of whoever reads.
    pub at: Instant,
    /// Meaning of the line.
    pub mark: LineMark,
    /// Text of the line, as its reader keeps it.
    pub text: String,
}

/// A line that a test waits for.
#[derive(Clone, Copy, Debug)]
pub struct AwaitedLine {
    /// Whether a line is the awaited one.
    pub is: fn(LineMark) -> bool,
    /// Words for the line, behind "did not print".
    pub what: &'static str,
}

/// The last line of a ping.
pub const PING_REPORT: AwaitedLine =
    AwaitedLine { is: |mark| mark == LineMark::PingEnd, what: "the report of a ping" };
/// The line of a device that begins to ping.
pub const PING_BEGUN: AwaitedLine =
    AwaitedLine { is: |mark| mark == LineMark::Begun, what: "that its ping began" };
/// The head of the initiator's report of a throughput test, or that there is none.
pub const STREAM_REPORT: AwaitedLine = AwaitedLine {
    is: |mark| matches!(mark, LineMark::StreamReport | LineMark::NoReport),
    what: "the report of a throughput test",
};
/// The figures of a throughput test's report, or that there is none.
pub const STREAM_FIGURES: AwaitedLine = AwaitedLine {
    is: |mark| matches!(mark, LineMark::StreamEnd | LineMark::NoReport),
    what: "the figures of a throughput test",
};
/// The time of an encryption.
pub const ENCRYPTION_TIME: AwaitedLine = AwaitedLine {
    is: |mark| matches!(mark, LineMark::Encrypted(1..)),
    what: "the time of encryption",
};
/// The time of a decryption.
pub const DECRYPTION_TIME: AwaitedLine = AwaitedLine {
    is: |mark| matches!(mark, LineMark::Decrypted(1..)),
    what: "the time of decryption",
};
/// The end of an initiator's job of handing the key out, or why there was none.
pub const KEY_HANDED_OUT: AwaitedLine = AwaitedLine {
    is: |mark| matches!(mark, LineMark::KeySent(_) | LineMark::NobodyWaits | LineMark::NoKey),
    what: "that the key is handed out",
};
/// The beginning of such a job, or its end.
pub const KEY_JOB: AwaitedLine = AwaitedLine {
    is: |mark| matches!(mark, LineMark::KeyFor(_)) || (KEY_HANDED_OUT.is)(mark),
    what: "that it hands the key out",
};
/// The line of a device that has got the key.
pub const KEY_GOT: AwaitedLine =
    AwaitedLine { is: |mark| mark == LineMark::GotKey, what: "that it got the key" };
/// The line of a device that looks for credentials.
pub const SEEKS: AwaitedLine =
    AwaitedLine { is: |mark| mark == LineMark::Seeks, what: "that it looks for credentials" };
/// The line of an initiator that has fetched an image.
pub const DOWNLOADED: AwaitedLine = AwaitedLine {
    is: |mark| matches!(mark, LineMark::Downloaded(_)),
    what: "that the image is there",
};
/// The list of devices that a search found.
pub const FOUND: AwaitedLine =
    AwaitedLine { is: |mark| matches!(mark, LineMark::Found(_)), what: "that it found a device" };
/// The line of an initiator that begins to send an image.
pub const SENDING: AwaitedLine =
    AwaitedLine { is: |mark| mark == LineMark::Sending, what: "that it sends the image" };
/// The line of an initiator that has sent an image.
pub const SENT: AwaitedLine =
    AwaitedLine { is: |mark| mark == LineMark::Sent, what: "that the image is sent" };
/// The end of the list of upgraded devices.
pub const UPGRADED: AwaitedLine =
    AwaitedLine { is: |mark| mark == LineMark::Upgraded, what: "the list of upgraded devices" };

#[cfg(test)]
mod tests {
    use super::*;
    use LineMark as M;

    const STATISTICS: &str = "3 packets transmitted, 3 received, 0% packet loss, time: total 12 ms, \
                              max: 5, min: 3, average 4.000000 ms";

    /// Returns lines as the component and ESP-IDF's example print them, without a log header.
    fn lines() -> [(&'static str, LineMark); 28] {
        let initiator = Mac([0x24, 0x0A, 0xC4, 0, 0, 1]);
        [
            ("num: 1, reason: 1, crash: 0", M::Other),
            ("initiator 24:0a:c4:00:00:01 send to 24:0a:c4:00:00:02", M::Begun),
            ("responder 24:0a:c4:00:00:01 listening", M::Listens(initiator)),
            (STATISTICS, M::PingEnd),
            ("initiator Report:", M::StreamReport),
            (
                "[000]  0- 6 sec    0.36 MBytes    0.41 Mbps    1.95 ms    2/3593 (0.06%)",
                M::StreamEnd,
            ),
            ("<ESP_ERR_TIMEOUT> Receive responder response failed", M::NoReport),
            (
                "edges: seq=0, low=7020 us, high=9500 us",
                M::Edges { low_us: 7020, high_us: Some(9500) },
            ),
            ("Encrypting data of 100 bytes takes an average of 136 us", M::Encrypted(136)),
            ("Decrypting data of 100 bytes takes an average of 110 us", M::Decrypted(110)),
            ("Decrypt error", M::Refused),
            (
                "The service download firmware is complete, total_size: 8192 Spend time: 2s",
                M::Downloaded(8192),
            ),
            ("Firmware not downloaded", M::NoImage),
            ("info, num: 2, list: 24:0a:c4:00:00:02|24:0a:c4:00:00:03|", M::Found(2)),
            ("Send firmware to selected device: 24:0a:c4:00:00:02", M::Sending),
            ("Firmware is sent to the device to complete, Spend time: 75s", M::Sent),
            ("Devices upgrade completed, successed_num: 3, unfinished_num: 0", M::Upgraded),
            ("Write total_size: 8192, written_size: 8192, spend time: 1s", M::Written),
            // Half of an image is none.
            ("Write total_size: 8192, written_size: 4096, spend time: 1s", M::Other),
            (
                "The firmware to be upgraded is the same as the currently running firmware",
                M::SameImage,
            ),
            (
                "count: 0, Upgrade_initiator_send, requested_num: 2, unfinished_num: 2, \
                 successed_num: 0",
                M::Round,
            ),
            (
                "App key is sent to the device to complete, Spend time: 7150ms, Scan time: 7000ms",
                M::KeySent(7150),
            ),
            ("espnow wait security num: 0", M::NobodyWaits),
            ("espnow wait security num: 90", M::KeyFor(90)),
            ("Secure key is not set", M::NoKey),
            ("Get APP key", M::GotKey),
            ("Already start provisioning", M::Seeks),
            ("Please set wifi ssid and password", M::Refused),
        ]
    }

    #[test]
    fn each_line_of_the_procedure_has_its_meaning() {
        for (text, mark) in lines() {
            let logged = alloc::format!("I (8435) app_main: {text}");
            assert_eq!(LineMark::of_text(&logged), mark, "{text}");
            // Cut anywhere within its words, it means nothing, or nothing else.
            let half = &logged[..logged.len() / 2 + 8];
            let half = LineMark::of_text(half);
            assert!(half == M::Other || half == mark, "{text}: {half:?}");
        }
        assert_eq!(
            LineMark::of_text("I (500) restart_func: num: 1, reason: 1, crash: 0"),
            M::Started
        );
        let address = IdfIperfLine::Address([192, 168, 1, 79].into());
        let line = "sta ip: 192.168.1.79, mask: 255.255.255.0, gw: 192.168.1.1";
        assert_eq!(LineMark::of_text(line), M::Network(address));
        assert!(LineMark::of_text(line).is_joined() && !M::Credentials.is_joined());
    }

    #[test]
    fn a_line_of_another_device_means_something_only_to_whoever_asks_for_it() {
        let heard = alloc::format!("[24:0a:c4:00:00:02][1][-40]: E (9) iperf_cmd: {STATISTICS}");
        assert_eq!(LineMark::of_text(&heard), M::Other);
        assert_eq!(LineMark::of_remote(&heard), Some(M::PingEnd));
        assert_eq!(LineMark::of_remote(&alloc::format!("E (9) iperf_cmd: {STATISTICS}")), None);
    }

    #[test]
    fn each_awaited_line_is_among_them_and_is_told_from_the_others() {
        let awaited = [
            (PING_REPORT, 1),
            (PING_BEGUN, 1),
            (STREAM_REPORT, 2),
            (STREAM_FIGURES, 2),
            (ENCRYPTION_TIME, 1),
            (DECRYPTION_TIME, 1),
            (KEY_HANDED_OUT, 3),
            (KEY_GOT, 1),
            (SEEKS, 1),
            (DOWNLOADED, 1),
            (FOUND, 1),
            (SENDING, 1),
            (SENT, 1),
            (UPGRADED, 1),
        ];
        for (line, count) in awaited {
            let found = lines().iter().filter(|(_, mark)| (line.is)(*mark)).count();
            assert_eq!(found, count, "{}", line.what);
        }
    }
}
