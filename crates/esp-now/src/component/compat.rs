//! Releases of the component and of ESP-IDF, and the differences between them on the air.
//!
//! The header has been the same since 1.0. The differences are the numbers of types, limits of
//! length, the tail of an encrypted payload, OTA chunks, and raw Wi-Fi structures in provisioning.

use super::header::DataType;
use crate::frame::EspNowVersion;

/// A release of the component at which something on the wire changed. Ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ComponentRelease {
    /// July 2022 (commit fca7bcd), before 1.0 and with its frames: `espnow_send` hands all copies
    /// to the driver without waiting for it.
    Mid2022,
    /// 1.0.
    V1_0,
    /// 2.0 to 2.2.
    V2_0,
    /// 2.3: the nonce trails every encrypted payload.
    V2_3,
    /// 2.4 to 2.5.1: OTA chunks are rounded to 16 bytes.
    V2_4,
    /// 2.5.2: duplicates of plain and of encrypted frames are kept apart.
    V2_5_2,
    /// 2.5.3: time synchronization, which moved the type of `espnow_iperf`.
    #[default]
    V2_5_3,
    /// After 2.5.3: payloads of ESP-NOW v2.0; the header's size is no longer checked.
    Head,
}

impl ComponentRelease {
    /// All releases, with the names that files and reports use.
    pub const NAMED: [(&'static str, Self); 8] = [
        ("2022-07", Self::Mid2022),
        ("1.0", Self::V1_0),
        ("2.0", Self::V2_0),
        ("2.3", Self::V2_3),
        ("2.4", Self::V2_4),
        ("2.5.2", Self::V2_5_2),
        ("2.5.3", Self::V2_5_3),
        ("head", Self::Head),
    ];

    /// Returns the name that files and reports use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        Self::NAMED[self as usize].0
    }
}

/// A release of ESP-IDF at which something on the wire changed. Ordered by date, so that the late
/// bug-fix releases of 4.4 and 5.0 come after the first ones of 5.0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Idf {
    /// 4.4 to 4.4.7.
    V4_4,
    /// 5.0 to 5.0.7.
    V5_0,
    /// 4.4.8 and later releases of 4.4; 5.0.8 and later releases of 5.0.
    V5_0_8,
    /// 5.1 to 5.3.
    #[default]
    V5_1,
    /// 5.4 and 5.4.1: ESP-NOW v2.0 with 1490 bytes.
    V5_4,
    /// 5.4.2 and later, 5.5, 6: ESP-NOW v2.0 with 1470 bytes.
    V5_4_2,
}

impl Idf {
    /// All releases, with the names that files and reports use.
    pub const NAMED: [(&'static str, Self); 6] = [
        ("4.4", Self::V4_4),
        ("5.0", Self::V5_0),
        ("5.0.8", Self::V5_0_8),
        ("5.1", Self::V5_1),
        ("5.4", Self::V5_4),
        ("5.4.2", Self::V5_4_2),
    ];

    /// Returns the name that files and reports use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        Self::NAMED[self as usize].0
    }

    /// Returns the first version of the release, as devices print it.
    #[must_use]
    pub const fn version(self) -> &'static str {
        match self {
            Self::V4_4 => "v4.4",
            Self::V5_0 => "v5.0",
            Self::V5_0_8 => "v5.0.8",
            Self::V5_1 => "v5.1",
            Self::V5_4 => "v5.4",
            Self::V5_4_2 => "v5.4.2",
        }
    }
}

/// The build of a node: two ends must agree on it, since nothing of it is negotiated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Compat {
    /// Release of the component.
    pub release: ComponentRelease,
    /// Release of ESP-IDF under it.
    pub idf: Idf,
    /// `CONFIG_ESPNOW_APP_SECURITY`: room for encryption is kept in every payload and OTA chunk,
    /// whether or not it is used. On by default.
    pub app_security: bool,
    /// `CONFIG_ESPNOW_CONTROL_AUTO_CHANNEL_SENDING`: the other, incompatible form of control
    /// frames, for battery devices. Off by default.
    pub auto_channel: bool,
}

impl Default for Compat {
    fn default() -> Self {
        Self {
            release: ComponentRelease::default(),
            idf: Idf::default(),
            app_security: true,
            auto_channel: false,
        }
    }
}

impl Compat {
    /// Returns the version of ESP-NOW of the build. Releases of the component do not use v2.0.
    #[must_use]
    pub const fn esp_now(self) -> EspNowVersion {
        match (self.release, self.idf) {
            (ComponentRelease::Head, Idf::V5_4 | Idf::V5_4_2) => EspNowVersion::V2,
            _ => EspNowVersion::V1,
        }
    }

    /// Returns the greatest length of ESP-NOW data (header and payload) that is sent, in bytes: 250
    /// with ESP-NOW v1.0, 1490 or 1470 with v2.0. A receiver of v2.0 accepts 1490 in any case.
    #[must_use]
    pub const fn frame_max(self) -> usize {
        match (self.esp_now(), self.idf) {
            (EspNowVersion::V2, Idf::V5_4_2) => 1470,
            (version, _) => version.data_max(),
        }
    }

    /// Returns the greatest length of a payload on the air, in bytes (`ESPNOW_PAYLOAD_LEN`).
    #[must_use]
    pub const fn payload_max(self) -> usize {
        self.frame_max() - super::HEADER_LEN
    }

    /// Returns the greatest length of a payload that a caller may hand over, in bytes
    /// (`ESPNOW_DATA_LEN`): builds with encryption keep room for its overhead.
    #[must_use]
    pub const fn data_max(self) -> usize {
        self.payload_max() - if self.app_security { self.seal_overhead() } else { 0 }
    }

    /// Returns the bytes that encryption adds: the tag, and since 2.3 the nonce.
    #[must_use]
    pub const fn seal_overhead(self) -> usize {
        if self.nonce_trails() { 12 } else { 4 }
    }

    /// Returns whether the nonce of an encrypted payload trails it (since 2.3.0). Before, the nonce
    /// was a constant that belonged to the key.
    #[must_use]
    pub const fn nonce_trails(self) -> bool {
        !matches!(
            self.release,
            ComponentRelease::Mid2022 | ComponentRelease::V1_0 | ComponentRelease::V2_0
        )
    }

    /// Returns whether `espnow_send` hands a frame and its copies to the driver at once, asks the
    /// driver again every 10 ms while it is full, and awaits an acknowledgement only after the last
    /// copy; in these builds the main task, not the receive callback, handles acknowledgements
    /// (before commit 9a5a372 of August 2022).
    #[must_use]
    pub const fn sends_ahead(self) -> bool {
        matches!(self.release, ComponentRelease::Mid2022)
    }

    /// Returns whether a frame is dropped when its header gives another size than it has (up to
    /// 2.5.3).
    #[must_use]
    pub const fn checks_size(self) -> bool {
        !matches!(self.release, ComponentRelease::Head)
    }

    /// Returns whether duplicates of plain and encrypted frames are remembered apart (since 2.5.2).
    #[must_use]
    pub const fn splits_duplicates(self) -> bool {
        matches!(
            self.release,
            ComponentRelease::V2_5_2 | ComponentRelease::V2_5_3 | ComponentRelease::Head
        )
    }

    /// Returns the data type of `espnow_iperf`: it moved whenever a type was added before it.
    #[must_use]
    pub const fn iperf_type(self) -> DataType {
        match self.release {
            ComponentRelease::Mid2022 | ComponentRelease::V1_0 => DataType::SecurityData,
            ComponentRelease::V2_5_3 | ComponentRelease::Head => DataType::Reserved,
            _ => DataType::TimeSync,
        }
    }

    /// Returns the bytes of image in one OTA message (`ESPNOW_OTA_PACKET_MAX_SIZE`); both ends must
    /// agree on it.
    #[must_use]
    pub const fn ota_chunk(self) -> usize {
        match (self.release, self.app_security) {
            (ComponentRelease::Mid2022 | ComponentRelease::V1_0 | ComponentRelease::V2_0, true) => {
                222
            }
            (ComponentRelease::V2_3, true) => 214,
            (
                ComponentRelease::Mid2022
                | ComponentRelease::V1_0
                | ComponentRelease::V2_0
                | ComponentRelease::V2_3,
                false,
            ) => 226,
            (_, true) => 208,
            (_, false) => 224,
        }
    }

    /// Returns the bytes of a row of the OTA bitmap (`ESPNOW_OTA_PROGRESS_MAX_SIZE`): the payload
    /// that a caller may hand over with ESP-NOW v1.0, less the status before the row.
    #[must_use]
    pub const fn ota_row(self) -> usize {
        match (self.release, self.app_security) {
            (ComponentRelease::Mid2022 | ComponentRelease::V1_0 | ComponentRelease::V2_0, true) => {
                196
            }
            (_, true) => 188,
            (_, false) => 200,
        }
    }

    /// Returns the greatest number of packets of an OTA image: the bits in whole rows for an image
    /// of 4 MiB (the default of `CONFIG_ESPNOW_OTA_FIRMWARE_SIZE_MAX`), less the last eight. The
    /// component checks it after 2.5.3.
    #[must_use]
    pub const fn ota_packets(self) -> u16 {
        let packets = 4_194_304_usize.div_ceil(self.ota_chunk());
        let rows = (packets / 8 + 1).div_ceil(self.ota_row());
        ((rows * self.ota_row() - 1) * 8) as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_release_is_found_at_its_own_name() {
        assert!(ComponentRelease::NAMED.iter().all(|(name, release)| release.name() == *name));
        assert!(Idf::NAMED.iter().all(|(name, idf)| idf.name() == *name));
    }

    /// Checks that [`ComponentRelease::name`] and [`Idf::name`] take the row with the value's number.
    #[test]
    fn names_are_in_the_order_of_the_releases() {
        let releases = ComponentRelease::NAMED.map(|(_, release)| release);
        assert_eq!(releases.map(|release| release as usize), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert!(releases.is_sorted() && ComponentRelease::Mid2022 < ComponentRelease::V1_0);
        assert_eq!((releases[0], releases[7]), (ComponentRelease::Mid2022, ComponentRelease::Head));
        assert_eq!(Idf::NAMED.map(|(_, idf)| idf as usize), [0, 1, 2, 3, 4, 5]);
    }

    /// Compares with section 4.1 of the protocol reference.
    #[test]
    fn ota_limits() {
        let plain = Compat { app_security: false, ..Compat::default() };
        let sizes = |c: Compat| (c.ota_chunk(), c.ota_row(), c.ota_packets());
        assert_eq!(sizes(Compat::default()), (208, 188, 21048));
        assert_eq!(sizes(plain), (224, 200, 19192));
        let with = |release| sizes(Compat { release, ..Compat::default() });
        assert_eq!((with(ComponentRelease::V2_0).0, with(ComponentRelease::V2_3).0), (222, 214));
        assert_eq!((with(ComponentRelease::V2_0).1, with(ComponentRelease::V2_3).1), (196, 188));
        assert_eq!(with(ComponentRelease::Head), (208, 188, 21048));
    }

    /// Compares with section 12 of the protocol reference.
    #[test]
    fn what_differs_between_releases() {
        use ComponentRelease::{Head, Mid2022, V1_0, V2_0, V2_3, V2_4, V2_5_2, V2_5_3};
        let of = |release| Compat { release, idf: Idf::V4_4, ..Compat::default() };
        let numbers = |r| (of(r).iperf_type() as u8, of(r).seal_overhead(), of(r).ota_chunk());
        assert_eq!(numbers(Mid2022), (13, 4, 222));
        assert_eq!(numbers(V1_0), (13, 4, 222));
        assert_eq!(numbers(V2_0), (14, 4, 222));
        assert_eq!(numbers(V2_3), (14, 12, 214));
        assert_eq!(numbers(V2_4), (14, 12, 208));
        assert_eq!(numbers(V2_5_2), (14, 12, 208));
        assert_eq!(numbers(V2_5_3), (15, 12, 208));
        assert_eq!(numbers(Head), (15, 12, 208));
        let rules = |r| (of(r).nonce_trails(), of(r).splits_duplicates(), of(r).checks_size());
        assert_eq!(rules(Mid2022), (false, false, true));
        assert_eq!((rules(V1_0), rules(V2_0)), ((false, false, true), (false, false, true)));
        assert_eq!((rules(V2_3), rules(V2_4)), ((true, false, true), (true, false, true)));
        assert_eq!((rules(V2_5_2), rules(V2_5_3)), ((true, true, true), (true, true, true)));
        assert_eq!(rules(Head), (true, true, false));
        let ahead = ComponentRelease::NAMED.map(|(_, release)| of(release).sends_ahead());
        assert_eq!(ahead, [true, false, false, false, false, false, false, false]);
        assert_eq!((of(Mid2022).ota_row(), of(Mid2022).data_max()), (196, 226));
    }

    #[test]
    fn limits_of_the_published_releases() {
        let plain = Compat { app_security: false, ..Compat::default() };
        assert_eq!((Compat::default().data_max(), plain.data_max()), (218, 230));
        let old = Compat { release: ComponentRelease::V2_0, idf: Idf::V4_4, ..Compat::default() };
        assert_eq!((old.data_max(), old.payload_max()), (226, 230));
        let head = |idf| Compat { release: ComponentRelease::Head, idf, ..Compat::default() };
        assert_eq!((head(Idf::V5_4).data_max(), head(Idf::V5_4).payload_max()), (1458, 1470));
        assert_eq!((head(Idf::V5_4_2).data_max(), head(Idf::V5_4_2).payload_max()), (1438, 1450));
        assert_eq!(head(Idf::V5_1).payload_max(), 230, "ESP-NOW v1.0 under it");
    }
}
