//! What a node knows of its radio: channel, country, the types it listens to, its groups.

use crate::wire::component::DataType;
use crate::wire::mac::Mac;
use heapless::Vec;

/// Groups that a node can be in at once. The component has no limit, and never uses more than its
/// three well-known ones and those of running commands.
pub const GROUPS_MAX: usize = 8;

/// Channels of a country, `wifi_country_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Country {
    /// Two letters, as the console prints them.
    pub code: [u8; 2],
    /// First channel.
    pub first: u8,
    /// Number of channels.
    pub count: u8,
}

impl Country {
    /// ESP-IDF's default "01": channels 1 to 11.
    pub const WORLD: Self = Self { code: *b"01", first: 1, count: 11 };
    /// China: 1 to 13.
    pub const CN: Self = Self { code: *b"CN", first: 1, count: 13 };
    /// Japan: 1 to 14.
    pub const JP: Self = Self { code: *b"JP", first: 1, count: 14 };
    /// United States: 1 to 11.
    pub const US: Self = Self { code: *b"US", first: 1, count: 11 };

    /// Its channels, ascending.
    #[must_use]
    pub fn channels(self) -> core::ops::Range<u8> {
        self.first..self.first.saturating_add(self.count)
    }
}

/// The radio as the node sees it.
#[derive(Clone, Debug)]
pub struct Air {
    /// The node's own address (station interface).
    pub mac: Mac,
    /// The channel it is on.
    pub channel: u8,
    /// Channels as read at start; a later change of country does not reach them (section 2.9 of
    /// the protocol reference).
    pub country: Country,
    /// The channel may not be changed: associated, SoftAP and station together, or a station has
    /// joined the SoftAP.
    pub locked: bool,
    /// Types that are listened to, as a mask of [`DataType::mask`].
    pub enabled: u16,
    /// Groups it is in.
    pub groups: Vec<Mac, GROUPS_MAX>,
    /// RSSI of the last remote command, in dBm (`wifi_config -i` prints it).
    pub command_rssi: i8,
    /// Maximum transmit power in 0.25 dBm, as `esp_wifi_set_max_tx_power` has it.
    pub tx_power: i8,
}

impl Air {
    /// A radio on channel 1 that listens to acknowledgements and groups.
    #[must_use]
    pub fn new(mac: Mac) -> Self {
        let enabled = DataType::Ack.mask() | DataType::Forward.mask() | DataType::Group.mask();
        Self {
            mac,
            channel: 1,
            country: Country::WORLD,
            locked: false,
            enabled,
            groups: Vec::new(),
            command_rssi: 0,
            tx_power: 80,
        }
    }

    /// Tunes the radio (`esp_wifi_set_channel`), unless that is locked. The node tells its driver.
    pub fn tune(&mut self, channel: u8) {
        if !self.locked {
            self.channel = channel;
        }
    }

    /// Listens to a type, or no longer (`espnow_set_config_for_data_type`).
    pub fn listen(&mut self, data_type: DataType, on: bool) {
        if on {
            self.enabled |= data_type.mask();
        } else {
            self.enabled &= !data_type.mask();
        }
    }

    /// Whether a type is listened to.
    #[must_use]
    #[inline]
    pub fn listens(&self, data_type: DataType) -> bool {
        self.enabled & data_type.mask() != 0
    }

    /// Whether the node is in a group.
    #[must_use]
    pub fn in_group(&self, group: Mac) -> bool {
        self.groups.contains(&group)
    }
}
