//! Lines of `security`, of the handshake and of `sec_test` (reference, section 7.6).

use super::super::line::ConsoleLine;
use super::super::scan::LineCursor;
use super::ota::{RoundProgress, column, first_columns, progress};
use espbench_ieee80211::mac::Mac;

/// A line about the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecurityLine<'a> {
    /// `Erase key info and restart`
    Erase,
    /// `Find devices waiting to get key`
    Finding,
    /// `| <MAC> | %d | %d | %d |`: a row of the table of devices.
    Row {
        /// Address of the device.
        mac: Mac,
        /// Channel.
        channel: u8,
        /// Signal strength, dBm.
        rssi: i8,
        /// Version of the security protocol.
        version: i64,
    },
    /// `SecurityLine initiator start: %s`
    Start(&'a str),
    /// `App key is sent to the device to complete, Spend time: %dms`, and in the example also the
    /// time of the scan.
    Complete {
        /// Duration in milliseconds.
        ms: u32,
        /// Duration of the scan, in milliseconds.
        scan_ms: Option<u32>,
    },
    /// `Devices security completed, successed_num: %d, unfinished_num: %d`
    Result {
        /// Number of devices that have the key.
        successed: u32,
        /// Number of devices that do not have it.
        unfinished: u32,
    },
    /// E `Secure key is not set`
    NoKey,
    /// W `espnow wait security num: %u` of the example.
    Waiting(u32),
    /// `count: %d, Secure_initiator_send, …`: the state after a round.
    Progress(RoundProgress),
    /// `Get APP key`: this device has got the key.
    GotKey,
}

/// A line of `sec_test`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CryptoLine {
    /// `Encrypting data of %d bytes takes an average of %lld us`
    Encrypting {
        /// Length of a message, in bytes.
        bytes: u32,
        /// Mean duration, cut to whole microseconds.
        us: i64,
    },
    /// `Decrypting data of %d bytes takes an average of %lld us`
    Decrypting {
        /// Length of a message, in bytes.
        bytes: u32,
        /// Mean duration, cut to whole microseconds.
        us: i64,
    },
    /// E `Decrypt error`
    Failed,
}

pub(super) fn read_crypto(line: &ConsoleLine<'_>) -> Option<CryptoLine> {
    let mut s = LineCursor::new(line.text);
    if s.maybe("Decrypt error") {
        s.end()?;
        return Some(CryptoLine::Failed);
    }
    let encrypting = s.maybe("Encrypting data of ");
    if !encrypting {
        s.lit("Decrypting data of ")?;
    }
    let bytes = s.int()?;
    s.lit(" bytes takes an average of ")?;
    let us = s.int()?;
    s.lit(" us")?;
    s.end()?;
    Some(match encrypting {
        true => CryptoLine::Encrypting { bytes, us },
        false => CryptoLine::Decrypting { bytes, us },
    })
}

pub(super) fn read<'a>(line: &ConsoleLine<'a>) -> Option<SecurityLine<'a>> {
    row(line.text).or_else(|| complete(line.text)).or_else(|| command(line.text))
}

fn row(text: &str) -> Option<SecurityLine<'_>> {
    let mut s = LineCursor::new(text);
    let (mac, channel, rssi) = first_columns(&mut s)?;
    let version = column(&mut s)?.parse().ok()?;
    s.end()?;
    Some(SecurityLine::Row { mac, channel, rssi, version })
}

fn complete(text: &str) -> Option<SecurityLine<'_>> {
    let mut s = LineCursor::new(text);
    s.lit("App key is sent to the device to complete, Spend time: ")?;
    let ms = s.int()?;
    s.lit("ms")?;
    let scan_ms = if s.maybe(", Scan time: ") {
        let ms = s.int()?;
        s.lit("ms")?;
        Some(ms)
    } else {
        None
    };
    s.end()?;
    Some(SecurityLine::Complete { ms, scan_ms })
}

fn command(text: &str) -> Option<SecurityLine<'_>> {
    let mut s = LineCursor::new(text);
    let found = if s.maybe("Erase key info and restart") {
        SecurityLine::Erase
    } else if s.maybe("Find devices waiting to get key") {
        SecurityLine::Finding
    } else if s.maybe("Security initiator start:") {
        SecurityLine::Start(s.rest().trim_start())
    } else if s.maybe("Devices security completed, successed_num: ") {
        let successed = s.int()?;
        s.lit(", unfinished_num: ")?;
        SecurityLine::Result { successed, unfinished: s.int()? }
    } else if s.maybe("Secure key is not set") {
        SecurityLine::NoKey
    } else if s.maybe("espnow wait security num: ") {
        SecurityLine::Waiting(s.int()?)
    } else if s.maybe("Get APP key") {
        SecurityLine::GotKey
    } else {
        // Unlike the line of the upgrade, this one has its numbers in their places.
        SecurityLine::Progress(progress(&mut s, "Secure_initiator_send")?)
    };
    s.end()?;
    Some(found)
}
