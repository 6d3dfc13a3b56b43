//! Lines of `ota`, of the upgrade's initiator and of its responder (reference, section 7.6).

use super::super::line::ConsoleLine;
use super::super::scan::LineCursor;
use espbench_ieee80211::mac::Mac;

/// A line about an upgrade.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtaLine<'a> {
    /// `Firmware Download, url: %s`
    Download(&'a str),
    /// `Open HTTP connection: %s`
    Connect(&'a str),
    /// `Firmware download size: %d, progress rate: %d%%`
    Downloading {
        /// Bytes downloaded so far.
        bytes: u32,
        /// Percentage downloaded so far.
        percent: u32,
    },
    /// `The service download firmware is complete, total_size: %d Spend time: %ds`
    Downloaded {
        /// Length of the image, in bytes.
        bytes: u32,
        /// Duration in whole seconds.
        seconds: u32,
    },
    /// `Find upgradeable devices`
    Finding,
    /// A row of the table of devices.
    Row(OtaDeviceRow<'a>),
    /// `Send firmware to selected device: %s`
    Sending(&'a str),
    /// `Firmware is sent to the device to complete, Spend time: %ds`
    Complete {
        /// Duration in whole seconds.
        seconds: u32,
    },
    /// `Devices upgrade completed, successed_num: %d, unfinished_num: %d`
    Result {
        /// Number of devices that have the image.
        successed: u32,
        /// Number of devices that do not have it.
        unfinished: u32,
    },
    /// E `Firmware not downloaded`
    NotDownloaded,
    /// W `espnow wait ota num: %u` of the example.
    Waiting(u32),
    /// `total_size: %d, packet_num: %d` when the transfer starts.
    Start {
        /// Length of the image, in bytes.
        bytes: u32,
        /// Number of packets of the image.
        packets: u32,
    },
    /// `LineCursor OTA list, num: %d`
    Scanned(u32),
    /// `count: %d, Upgrade_initiator_send, …`: the state after a round.
    Progress(RoundProgress),
    /// W `… wait_ticks: %d`: a wait for the devices' states is over.
    Waited {
        /// Duration of the wait, in FreeRTOS ticks.
        ticks: u32,
    },
    /// `The device starts to upgrade`
    DeviceStarts,
    /// `Write total_size: %d, written_size: %d, spend time: %ds`
    Written {
        /// Length of the image, in bytes.
        total: u32,
        /// Bytes written so far.
        written: u32,
        /// Duration in whole seconds.
        seconds: u32,
    },
    /// `Running firmware version: %s`. Printed twice: first the running image, then the new one.
    Version(&'a str),
}

/// `| <MAC> | %d | %d | project | idf | version | secure version | date time |`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtaDeviceRow<'a> {
    /// Address of the device.
    pub mac: Mac,
    /// Channel.
    pub channel: u8,
    /// Signal strength, dBm.
    pub rssi: i8,
    /// Name of the project.
    pub project: &'a str,
    /// Version of ESP-IDF.
    pub idf: &'a str,
    /// Version of the application.
    pub version: &'a str,
    /// Anti-rollback version.
    pub secure_version: i64,
    /// Date and time of the build, as one text.
    pub built: &'a str,
}

/// State of a job for several devices after one of its rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoundProgress {
    /// Number of the round.
    pub round: u32,
    /// Number of devices that lacked packets in the round.
    pub requested: u32,
    /// Number of devices that are not done.
    pub unfinished: u32,
    /// Number of devices that are done.
    pub successed: u32,
}

pub(super) fn read<'a>(line: &ConsoleLine<'a>) -> Option<OtaLine<'a>> {
    command(line.text)
        .or_else(|| row(line.text).map(OtaLine::Row))
        .or_else(|| initiator(line.text))
        .or_else(|| responder(line.text))
}

fn command(text: &str) -> Option<OtaLine<'_>> {
    let mut s = LineCursor::new(text);
    let found = if s.maybe("Firmware Download, url: ") {
        OtaLine::Download(s.rest())
    } else if s.maybe("Open HTTP connection: ") {
        OtaLine::Connect(s.rest())
    } else if s.maybe("Firmware download size: ") {
        let bytes = s.int()?;
        s.lit(", progress rate: ")?;
        let percent = s.int()?;
        s.lit("%")?;
        OtaLine::Downloading { bytes, percent }
    } else if s.maybe("The service download firmware is complete, total_size: ") {
        let bytes = s.int()?;
        s.lit(" Spend time: ")?;
        OtaLine::Downloaded { bytes, seconds: seconds(&mut s)? }
    } else if s.maybe("Find upgradeable devices") {
        OtaLine::Finding
    } else if s.maybe("Send firmware to selected device:") {
        OtaLine::Sending(s.rest().trim_start())
    } else if s.maybe("Firmware is sent to the device to complete, Spend time: ") {
        OtaLine::Complete { seconds: seconds(&mut s)? }
    } else if s.maybe("Devices upgrade completed, successed_num: ") {
        let successed = s.int()?;
        s.lit(", unfinished_num: ")?;
        OtaLine::Result { successed, unfinished: s.int()? }
    } else if s.maybe("espnow wait ota num: ") {
        OtaLine::Waiting(s.int()?)
    } else {
        s.lit("Firmware not downloaded")?;
        OtaLine::NotDownloaded
    };
    s.end()?;
    Some(found)
}

/// Parses `%ds`.
fn seconds(s: &mut LineCursor<'_>) -> Option<u32> {
    let seconds = s.int()?;
    s.lit("s")?;
    Some(seconds)
}

/// Takes a column of a table of devices, and the bar behind it.
pub(super) fn column<'a>(s: &mut LineCursor<'a>) -> Option<&'a str> {
    s.until("|").map(str::trim)
}

/// Takes the columns that the tables of `ota` and `security` begin with.
pub(super) fn first_columns(s: &mut LineCursor<'_>) -> Option<(Mac, u8, i8)> {
    s.lit("|")?;
    let mac = Mac::parse(column(s)?.as_bytes())?;
    let channel = column(s)?.parse().ok()?;
    Some((mac, channel, column(s)?.parse().ok()?))
}

fn row(text: &str) -> Option<OtaDeviceRow<'_>> {
    let mut s = LineCursor::new(text);
    let (mac, channel, rssi) = first_columns(&mut s)?;
    let (project, idf, version) = (column(&mut s)?, column(&mut s)?, column(&mut s)?);
    let secure_version = column(&mut s)?.parse().ok()?;
    let built = column(&mut s)?;
    s.end()?;
    Some(OtaDeviceRow { mac, channel, rssi, project, idf, version, secure_version, built })
}

fn initiator(text: &str) -> Option<OtaLine<'_>> {
    let mut s = LineCursor::new(text);
    let found = if s.maybe("[espnow_ota_initiator_send, ") {
        let _line: u32 = s.int()?;
        s.lit("]: total_size: ")?;
        let bytes = s.int()?;
        s.lit(", packet_num: ")?;
        OtaLine::Start { bytes, packets: s.int()? }
    } else if s.maybe("Scan OTA list, num: ") {
        OtaLine::Scanned(s.int()?)
    } else if text.contains("Upgrade_initiator_send") {
        // The component prints the unfinished under the name of the requested and the other way
        // round (reference, 7.6).
        let printed = progress(&mut s, "Upgrade_initiator_send")?;
        let (requested, unfinished) = (printed.unfinished, printed.requested);
        OtaLine::Progress(RoundProgress { requested, unfinished, ..printed })
    } else {
        s.until("<ESP_OK>")?;
        s.until("wait_ticks: ")?;
        OtaLine::Waited { ticks: s.int()? }
    };
    s.end()?;
    Some(found)
}

/// Parses `count: %d, <name>, requested_num: %d, unfinished_num: %d, successed_num: %d`, as
/// printed.
pub(super) fn progress(s: &mut LineCursor<'_>, name: &str) -> Option<RoundProgress> {
    s.lit("count: ")?;
    let round = s.int()?;
    s.lit(", ")?;
    s.lit(name)?;
    s.lit(", requested_num: ")?;
    let requested = s.int()?;
    s.lit(", unfinished_num: ")?;
    let unfinished = s.int()?;
    s.lit(", successed_num: ")?;
    Some(RoundProgress { round, requested, unfinished, successed: s.int()? })
}

fn responder(text: &str) -> Option<OtaLine<'_>> {
    let mut s = LineCursor::new(text);
    let found = if s.maybe("The device starts to upgrade") {
        OtaLine::DeviceStarts
    } else if s.maybe("Write total_size: ") {
        let total = s.int()?;
        s.lit(", written_size: ")?;
        let written = s.int()?;
        s.lit(", spend time: ")?;
        OtaLine::Written { total, written, seconds: seconds(&mut s)? }
    } else {
        s.lit("Running firmware version:")?;
        OtaLine::Version(s.rest().trim_start())
    };
    s.end()?;
    Some(found)
}
