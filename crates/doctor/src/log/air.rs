//! The air as a log tells it: PHYs and rates in effect, DTIM, block ack, replies, frames of ESP-NOW.

use super::event::{EspNowError, LogEvent, PhyGeneration, number};
use super::search::{SearchRecord, SearchText};
use super::signs;
use super::words::WordCause;
use alloc::vec::Vec;

/// A reply is slow from here on, in ms: half a beacon interval of 102.4 ms, beyond what a link without sleep takes.
pub const SLOW_MS: u32 = 50;

/// Names of `wifi_phy_rate_t` behind `WIFI_PHY_RATE_`, with kbit/s (ESP-IDF, `esp_wifi_types_generic.h`; MCS at 20 MHz
/// with the long guard interval, IEEE 802.11-2020, Table 19-27).
const RATES: [(&str, u32); 23] = [
    ("1M_L", 1000),
    ("2M_L", 2000),
    ("2M_S", 2000),
    ("5M_L", 5500),
    ("5M_S", 5500),
    ("11M_L", 11_000),
    ("11M_S", 11_000),
    ("6M", 6000),
    ("9M", 9000),
    ("12M", 12_000),
    ("18M", 18_000),
    ("24M", 24_000),
    ("36M", 36_000),
    ("48M", 48_000),
    ("54M", 54_000),
    ("MCS0_LGI", 6500),
    ("MCS1_LGI", 13_000),
    ("MCS2_LGI", 19_500),
    ("MCS4_LGI", 39_000),
    ("MCS7_LGI", 65_000),
    ("MCS7_SGI", 72_200),
    ("LORA_250K", 250),
    ("LORA_500K", 500),
];

/// Returns what a record tells of the air.
pub(super) fn air(record: &SearchRecord<'_>) -> Vec<LogEvent> {
    let text = &record.text;
    let mut found = Vec::new();
    let after = |words: &str| number(text.split_once(words)?.1);
    let small = |it: Option<u32>| it.and_then(|it| u8::try_from(it).ok()).filter(|it| *it > 0);
    found.extend(small(after("DTIM period = ")).map(LogEvent::Dtim));
    found.extend(small(after("winSize:")).map(LogEvent::BlockAck));
    found.extend(phy(text).map(LogEvent::Phy));
    found.extend(rate(text).map(LogEvent::PhyRate));
    found.extend(reply(text));
    found.extend(esp_now(&record.tag, &record.lower));
    found
}

/// Reads errors and outcomes of ESP-NOW.
fn esp_now(tag: &str, lower: &SearchText<'_>) -> Option<LogEvent> {
    let has = |words: &[&str]| words.iter().any(|it| lower.contains(it));
    if has(&["peer channel is not equal to the home channel", "peer's channel is not equal"]) {
        return Some(LogEvent::EspNow(EspNowError::Channel));
    }
    if has(&["peer interface is invalid"]) {
        return Some(LogEvent::EspNow(EspNowError::Interface));
    }
    let named = lower.split_once("esp_err_espnow_").map(|it| it.1);
    let error = EspNowError::NAMES.iter().find(|(name, code, _)| {
        let rest = named.and_then(|it| it.strip_prefix(&*name.to_ascii_lowercase()));
        let whole = rest
            .is_some_and(|it| !it.starts_with(|it: char| it.is_ascii_alphanumeric() || it == '_'));
        whole || lower.has_number(code)
    });
    if let Some((_, _, error)) = error {
        return Some(LogEvent::EspNow(*error));
    }
    // Words of Arduino's examples and of ESPHome, and codes in decimal.
    let words = [
        (EspNowError::PeerNotFound, ["peer not found", "peer not registered", "peer is not found"]),
        (EspNowError::NotInitialized, ["espnow not init", "esp-now not init", "esp now not init"]),
        (
            EspNowError::NotInitialized,
            ["error initializing esp-now", "espnow init failed", "esp_now_init failed"],
        ),
        // Mostly a peer's structure with what was in memory before, whose interface is none.
        (EspNowError::Interface, ["failed to add peer", "add peer fail", "add peer failed"]),
        (EspNowError::PeersFull, ["peer list is full", "peer list full", "peers full"]),
    ];
    // A sketch that many begin with, of the call itself: nearly always a peer that is not in the list.
    if lower.as_str() == "error sending the data" {
        return Some(LogEvent::Words(WordCause::PeerNotFound));
    }
    if let Some((error, _)) = words.iter().find(|it| has(&it.1)) {
        return Some(LogEvent::EspNow(*error));
    }
    if has(&["peer", "esp_now", "espnow", "esp-now"]) {
        let decimal = EspNowError::NAMES.iter().find(|(_, code, _)| {
            let code = u32::from_str_radix(&code[2..], 16).unwrap_or_default();
            lower.has_number(&alloc::format!("{code}"))
        });
        if let Some((_, _, error)) = decimal {
            return Some(LogEvent::EspNow(*error));
        }
    }
    let unheard = [
        "delivery fail",
        "esp_now_send_fail",
        "send status: fail",
        "send status:fail",
        "espnow: send_failed",
        "esp-now send failed",
        "espnow send failed",
    ];
    if has(&unheard) {
        return Some(LogEvent::EspNowUnheard);
    }
    // "espnow: send to … ok".
    let of_it = ["espnow", "esp_now", "esp-now"]
        .iter()
        .any(|it| lower.contains(it) || tag.eq_ignore_ascii_case(it));
    if of_it && lower.contains("send") && [" ok", "success"].iter().any(|it| lower.contains(it)) {
        return Some(LogEvent::EspNowHeard);
    }
    if has(&["delivery success", "espnow: ack_ok", "esp_now_send_success"]) {
        return Some(LogEvent::EspNowHeard);
    }
    is_received(lower).then_some(LogEvent::EspNowReceived)
}

/// Returns whether a program says that it has a frame of ESP-NOW: "ESP-NOW: got packet".
fn is_received(lower: &SearchText<'_>) -> bool {
    let has = |words: &[&str]| words.iter().any(|it| lower.contains(it));
    has(&["espnow", "esp_now", "esp-now"])
        && has(&["got ", "recv", "receive"])
        && has(&["msg", "message", "data", "packet", "frame"])
        // Of a callback that sends: "data received by peer: FAILED".
        && !has(&["by peer"])
        && !signs::SIGNS.iter().any(|it| it.is_in(lower))
}

/// Reads `security: WPA2-PSK, phy: bgn, rssi: -58`.
fn phy(text: &SearchText<'_>) -> Option<PhyGeneration> {
    let word = text.split_once("phy: ")?.1.split([',', ' ']).next()?;
    match word.trim_start_matches("11") {
        "b" => Some(PhyGeneration::B),
        "g" | "bg" => Some(PhyGeneration::G),
        "n" | "gn" | "bgn" => Some(PhyGeneration::N),
        "ax" | "bgnax" => Some(PhyGeneration::Ax),
        "lr" | "LR" => Some(PhyGeneration::LongRange),
        _ => None,
    }
}

fn rate(text: &SearchText<'_>) -> Option<u32> {
    let rest = text.split_once("WIFI_PHY_RATE_")?.1;
    let word = rest.split(|it: char| !(it.is_ascii_alphanumeric() || it == '_')).next()?;
    RATES.iter().find(|it| it.0 == word).map(|it| it.1)
}

/// Reads `64 bytes from 192.168.4.1 icmp_seq=1 ttl=64 time=250 ms` of ping in ESP-IDF and elsewhere, and `Reply from
/// 192.168.4.1: bytes=32 time=250ms TTL=64` of Windows.
fn reply(text: &SearchText<'_>) -> Option<LogEvent> {
    let rest = text.split_once("bytes from ").or_else(|| text.split_once("Reply from "));
    let Some((_, rest)) = rest else {
        let none = ["Request timed out.", "Request timeout for icmp_seq"]
            .iter()
            .any(|it| text.starts_with(it));
        return none.then_some(LogEvent::NoReply);
    };
    let ms = number(rest.split_once("time=").or_else(|| rest.split_once("time<"))?.1)?;
    Some(if ms >= SLOW_MS { LogEvent::SlowReply } else { LogEvent::FastReply })
}

#[cfg(test)]
mod tests {
    use super::super::record::records;
    use super::*;

    #[test]
    fn the_air_is_told() {
        use LogEvent::{BlockAck, Dtim, EspNowUnheard, FastReply, Phy, PhyRate, SlowReply};
        for (line, event) in [
            ("I (5) wifi:AP's beacon interval = 102400 us, DTIM period = 3", Dtim(3)),
            (
                "I (5) wifi:<ba-add>idx:0 (ifx:0, 00:00:5e:00:53:01), tid:0, ssn:0, winSize:6",
                BlockAck(6),
            ),
            ("I (5) wifi:security: WPA2-PSK, phy: bg, rssi: -60", Phy(PhyGeneration::G)),
            ("I (5) wifi:security: WPA2-PSK, phy: 11bgnax, rssi: -60", Phy(PhyGeneration::Ax)),
            ("I (5) now: rate WIFI_PHY_RATE_LORA_250K", PhyRate(250)),
            ("64 bytes from 192.0.2.1 icmp_seq=1 ttl=64 time=250 ms", SlowReply),
            ("64 bytes from 192.0.2.1: icmp_seq=1 ttl=64 time=4.25 ms", FastReply),
            ("Last Packet Send Status:\tDelivery Fail", EspNowUnheard),
        ] {
            let told: Vec<LogEvent> =
                records(line).iter().map(SearchRecord::of).flat_map(|it| air(&it)).collect();
            assert_eq!(told, [event], "{line}");
        }
    }
}
