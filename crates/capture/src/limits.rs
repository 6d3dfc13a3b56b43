//! Limits of a capture: what of it was not read, and what it cannot tell.

use crate::air::link::{LinkKey, LinkRecord};
use crate::analysis::CaptureSummary;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use serde::Serialize;

/// Messages without which a link without acknowledgements tells nothing.
const SILENT: u64 = 3;

/// Facts that limit what a capture tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct CaptureLimits {
    /// Packets of which the file has not all octets.
    pub cut_packets: u64,
    /// Messages of ESP-NOW of which the file has not all data.
    pub cut_esp_now: u64,
    /// Packets that are not read: of other link types, or with headers that make no sense.
    pub unread_packets: u64,
    /// Packets whose time is before that of the one before.
    pub earlier_packets: u64,
    /// Longest step back of the time, in milliseconds.
    pub step_back_ms: f64,
    /// Copies by a second radio, which are left out.
    pub copies: u64,
    /// Repetitions without the retry bit.
    pub unmarked_attempts: u64,
    /// How often a radio changed its channel.
    pub channel_changes: u64,
    /// Probe requests of made-up addresses, which are no stations.
    pub randomised_probes: u64,
    /// Block acknowledgements that are not read.
    pub unread_block_acks: u64,
    /// Encrypted frames that are taken for ESP-NOW.
    pub protected_esp_now: u64,
    /// Links whose acknowledgements are not heard: without one, and without a retry.
    pub silent_links: u64,
}

impl CaptureLimits {
    /// Lists the limits of a capture.
    #[must_use]
    pub fn of(seen: &CaptureSummary) -> Self {
        let air = &seen.air;
        let pairs = || air.links.values().filter_map(|it| it.esp_now.as_ref());
        let is_silent = |(key, it): &(&LinkKey, &LinkRecord)| {
            key.to.0[0] & 1 == 0 && it.messages >= SILENT + it.unasked && it.delivered().is_none()
        };
        Self {
            cut_packets: seen.cut_packets,
            cut_esp_now: pairs().map(|it| it.cut).sum(),
            unread_packets: seen.unread + air.malformed + seen.tcp.malformed,
            earlier_packets: seen.back,
            step_back_ms: seen.back_ns as f64 / 1e6,
            copies: air.copies,
            unmarked_attempts: air.links.values().map(|it| it.unmarked).sum(),
            channel_changes: air.channel_changes(),
            randomised_probes: air.randomised,
            unread_block_acks: air.unread_block_acks,
            protected_esp_now: pairs().map(|it| it.protected).sum(),
            silent_links: air.links.iter().filter(is_silent).count() as u64,
        }
    }

    /// Returns the limits in words, the weightiest first.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let all: [(u64, &str, &str); 10] = [
            (self.cut_packets, "packet is cut", "packets are cut"),
            (self.cut_esp_now, "ESP-NOW message lacks data", "ESP-NOW messages lack data"),
            (self.unread_packets, "packet is not read", "packets are not read"),
            (
                self.channel_changes,
                "change of the channel: losses and times are of a part of the air",
                "changes of the channel: losses and times are of a part of the air",
            ),
            (
                self.earlier_packets,
                "packet is earlier than the one before",
                "packets are earlier than the ones before",
            ),
            (
                self.silent_links,
                "link whose acknowledgements are not heard",
                "links whose acknowledgements are not heard",
            ),
            (
                self.unmarked_attempts,
                "repetition without the retry bit",
                "repetitions without the retry bit",
            ),
            (
                self.copies,
                "copy by a second radio is left out",
                "copies by a second radio are left out",
            ),
            (
                self.protected_esp_now,
                "encrypted frame is taken for ESP-NOW",
                "encrypted frames are taken for ESP-NOW",
            ),
            (
                self.unread_block_acks,
                "block acknowledgement is not read",
                "block acknowledgements are not read",
            ),
        ];
        let words = |(count, one, many): (u64, &str, &str)| {
            (count > 0).then(|| format!("{count} {}", if count == 1 { one } else { many }))
        };
        all.into_iter().filter_map(words).collect()
    }
}
