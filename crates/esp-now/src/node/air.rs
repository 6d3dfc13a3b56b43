//! Settings of a node's radio: channel, country, the data types that it receives, its groups.

use crate::component::{DataType, Idf};
use espbench_ieee80211::mac::Mac;
use heapless::Vec;

/// Greatest number of groups that a node can be in at once. The component has no limit, and uses
/// only its three well-known groups and those of running commands.
pub const GROUPS_MAX: usize = 8;

/// Channels of a country, `wifi_country_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Country {
    /// Country code of two letters, as the console prints it.
    pub code: [u8; 2],
    /// First channel.
    pub first: u8,
    /// Number of channels.
    pub count: u8,
    /// `WIFI_COUNTRY_POLICY_MANUAL`: a scan keeps to these channels. Otherwise
    /// (`WIFI_COUNTRY_POLICY_AUTO`, the default) it covers more, see [`Self::scanned`].
    pub manual: bool,
}

impl Country {
    /// Country "01", the default since ESP-IDF 5.0: channels 1 to 11.
    pub const WORLD: Self = Self::with(*b"01", 11);
    /// China, the default of ESP-IDF 4.4: channels 1 to 13.
    pub const CN: Self = Self::with(*b"CN", 13);
    /// Japan: channels 1 to 14.
    pub const JP: Self = Self::with(*b"JP", 14);
    /// United States: channels 1 to 11.
    pub const US: Self = Self::with(*b"US", 11);

    /// Codes that `esp_wifi_set_country_code` accepts (esp_wifi.h of ESP-IDF v5.1).
    pub const CODES: [&'static str; 45] = [
        "01", "AT", "AU", "BE", "BG", "BR", "CA", "CH", "CN", "CY", "CZ", "DE", "DK", "EE", "ES",
        "FI", "FR", "GB", "GR", "HK", "HR", "HU", "IE", "IN", "IS", "IT", "JP", "KR", "LI", "LT",
        "LU", "LV", "MT", "MX", "NL", "NO", "NZ", "PL", "PT", "RO", "SE", "SI", "SK", "TW", "US",
    ];

    const fn with(code: [u8; 2], count: u8) -> Self {
        Self { code, first: 1, count, manual: false }
    }

    /// Returns the country of a code of [`Self::CODES`]: those not named above have channels 1 to
    /// 13 (ESP-IDF, components/esp_wifi/regulatory/esp_wifi_regulatory.txt).
    #[must_use]
    pub fn of(code: &str) -> Option<Self> {
        let &[a, b] = Self::CODES.iter().find(|it| **it == code)?.as_bytes() else { return None };
        let named = [Self::WORLD, Self::JP, Self::US].into_iter().find(|it| it.code == [a, b]);
        Some(named.unwrap_or(Self::with([a, b], 13)))
    }

    /// Returns the country that a release of ESP-IDF starts with (esp_wifi.h of v4.4.1 and v5.0).
    #[must_use]
    pub const fn default_of(idf: Idf) -> Self {
        if matches!(idf, Idf::V4_4) { Self::CN } else { Self::WORLD }
    }

    /// Returns the channels that a scan of all channels tunes to, ascending. With the automatic
    /// policy these are 1 to 14 since ESP-IDF 5.0, whatever the country: above 11 the station only
    /// listens, sends no probe requests, and finds routers nevertheless (its Wi-Fi guide, Wi-Fi
    /// Country Code).
    #[must_use]
    pub fn scanned(self, idf: Idf) -> core::ops::Range<u8> {
        if self.manual || idf == Idf::V4_4 { self.channels() } else { 1..15 }
    }

    /// Returns the country's channels, ascending.
    #[must_use]
    pub fn channels(self) -> core::ops::Range<u8> {
        self.first..self.first.saturating_add(self.count)
    }
}

/// Radio settings of a node.
#[derive(Clone, Debug)]
pub struct RadioSettings {
    /// Address of the node (station interface).
    pub mac: Mac,
    /// Channel to which the radio is tuned.
    pub channel: u8,
    /// Country as read at start; a later change of country does not reach it (section 2.9 of the
    /// protocol reference).
    pub country: Country,
    /// Country that the Wi-Fi driver applies now.
    pub wifi_country: Country,
    /// Whether the channel may not be changed: the node is associated, is SoftAP and station
    /// together, or a station has joined its SoftAP.
    pub locked: bool,
    /// Data types that the node receives, as a mask of [`DataType::mask`].
    pub enabled: u16,
    /// Groups that the node is in.
    pub groups: Vec<Mac, GROUPS_MAX>,
    /// RSSI of the last remote command, in dBm (`wifi_config -i` prints it).
    pub command_rssi: i8,
    /// Maximum transmit power in 0.25 dBm, as `esp_wifi_set_max_tx_power` has it.
    pub tx_power: i8,
}

impl RadioSettings {
    /// Creates a radio on channel 1, with country "01", that receives acknowledgements and groups.
    #[must_use]
    pub fn new(mac: Mac) -> Self {
        let enabled = DataType::Ack.mask() | DataType::Forward.mask() | DataType::Group.mask();
        Self {
            mac,
            channel: 1,
            country: Country::WORLD,
            wifi_country: Country::WORLD,
            locked: false,
            enabled,
            groups: Vec::new(),
            command_rssi: 0,
            tx_power: 80,
        }
    }

    /// Tunes the radio (`esp_wifi_set_channel`), unless the channel is locked. The node tells its
    /// driver.
    pub fn tune(&mut self, channel: u8) {
        if !self.locked {
            self.channel = channel;
        }
    }

    /// Enables or disables the reception of a type (`espnow_set_config_for_data_type`).
    pub fn listen(&mut self, data_type: DataType, on: bool) {
        if on {
            self.enabled |= data_type.mask();
        } else {
            self.enabled &= !data_type.mask();
        }
    }

    /// Returns whether a type is received.
    #[must_use]
    #[inline]
    pub fn listens(&self, data_type: DataType) -> bool {
        self.enabled & data_type.mask() != 0
    }

    /// Returns whether the node is in a group.
    #[must_use]
    pub fn in_group(&self, group: Mac) -> bool {
        self.groups.contains(&group)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_the_channels_of_their_countries() {
        let channels = |code| Country::of(code).map(Country::channels);
        assert_eq!(["01", "US"].map(channels), [Some(1..12), Some(1..12)]);
        assert_eq!(["CN", "DE", "TW"].map(channels), [Some(1..14), Some(1..14), Some(1..14)]);
        assert_eq!([channels("JP"), channels("XX"), channels("de")], [Some(1..15), None, None]);
        assert!(Country::CODES.iter().all(|code| Country::of(code).is_some()));
    }

    #[test]
    fn a_scan_looks_further_than_the_country_unless_told_not_to() {
        let manual = Country { manual: true, ..Country::US };
        assert_eq!(Country::US.scanned(Idf::V5_1), 1..15);
        assert_eq!(manual.scanned(Idf::V5_1), 1..12);
        // Before 5.0 a scan kept to the country's channels, of which there were 13 by default.
        assert_eq!(Country::US.scanned(Idf::V4_4), 1..12);
        assert_eq!(Country::default_of(Idf::V4_4).scanned(Idf::V4_4), 1..14);
    }
}
