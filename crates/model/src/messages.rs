//! Messages that applications on nodes of ESP-NOW send each other, through Espressif's component.

use crate::overrides::LabOverrides;
use crate::time::Duration;
use crate::workload::EspNowCast;

/// Who sends messages to whom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MessagePattern {
    /// The first node of a line sends to its last one; the nodes between are relays, since only neighbours
    /// hear each other.
    #[default]
    RelayLine,
    /// Every node sends to all others.
    ManyToMany,
    /// Every node sends each message to another node, drawn at random.
    ManyToAny,
    /// Every node but the first sends to the first.
    ManyToOne,
}

/// State of Bluetooth Low Energy on a chip beside ESP-NOW: for how long it has the one radio.
///
/// ESP-IDF ("RF coexistence") gives Wi-Fi and Bluetooth slices by Wi-Fi's status. While Wi-Fi is connected and a
/// BLE connection is there, each has half of a period of more than 100 ms. While Wi-Fi is idle, as with ESP-NOW in no
/// network, the radio is Bluetooth's whenever that needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BluetoothState {
    /// Bluetooth is off.
    Off,
    /// Slices of Wi-Fi CONNECTED and BLE CONNECTED: half and half. The 120 ms of a period are assumed.
    Sliced,
    /// Wi-Fi is idle and BLE scans, for 30 of 50 ms: `scan_window` 0x30 and `scan_interval` 0x50 of 0.625 ms in
    /// ESP-IDF's examples (`gatt_client`).
    Scanning,
    /// Wi-Fi is idle and BLE advertises: every 35 ms, the middle of 20 and 40 ms (`adv_int_min` 0x20, `adv_int_max`
    /// 0x40 in ESP-IDF's examples) with 5 ms, the mean `advDelay`; on three channels 376 us of the longest
    /// ADV_IND, 150 us of T_IFS and 176 us of a SCAN_REQ (Bluetooth Core 5.4, Vol 6, Part B).
    Advertising,
    /// Wi-Fi is idle and a BLE connection is kept up: every 40 ms (assumed) a packet of 27 bytes each way, 328 us
    /// with encryption, and T_IFS between.
    Connected,
}

impl BluetoothState {
    /// States, with their words in labs and plans.
    pub const NAMED: [(&'static str, Self); 5] = [
        ("off", Self::Off),
        ("sliced", Self::Sliced),
        ("scanning", Self::Scanning),
        ("advertising", Self::Advertising),
        ("connected", Self::Connected),
    ];

    /// Returns the word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        Self::NAMED[self as usize].0
    }

    /// Returns the period, and for how long of it Bluetooth has the radio; `None` where it never has.
    #[must_use]
    pub const fn period(self) -> Option<(Duration, Duration)> {
        let us = Duration::from_micros;
        match self {
            Self::Off => None,
            Self::Sliced => Some((us(120_000), us(60_000))),
            Self::Scanning => Some((us(50_000), us(30_000))),
            Self::Advertising => Some((us(35_000), us(3 * (376 + 150 + 176)))),
            Self::Connected => Some((us(40_000), us(2 * 328 + 150))),
        }
    }
}

/// Time division by beacons (TDMA): the first node broadcasts a beacon, and every other node sends in its
/// slot after that.
///
/// Slot 0 begins with the beacon and is for the first node's own messages and for the beacon; node `n` has slot `n`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BeaconSlots {
    /// Length of a slot.
    pub slot: Duration,
    /// Guard interval: time at the beginning of a slot in which its node does not send yet.
    pub guard: Duration,
    /// Time from one beacon to the next.
    pub beacon_interval: Duration,
    /// Largest deviation of a node's clock from its nominal rate, in parts per million; each node's is drawn from
    /// minus to plus this.
    pub drift_ppm: f32,
    /// Longest time by which a node's task runs later than its timer; each time is drawn from 0 to this.
    pub task_jitter: Duration,
    /// Number of beacons in a row that a node may miss and still send by its own clock; after that it is silent until
    /// it hears one.
    pub missed_most: u8,
}

/// Messages of applications on nodes of ESP-NOW.
///
/// Each message at each of its receivers is a probe: `due` when the application has it, `sent` when the node takes it
/// for sending, `received` when the receiver's application has it, `acked` when the component's acknowledgement, or
/// the MAC's, has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EspNowMessages {
    /// Who sends to whom.
    pub pattern: MessagePattern,
    /// Nodes beside the first one; in a relay line, the number of hops.
    pub devices: u16,
    /// Bytes of a message.
    pub size: u32,
    /// Number of messages of each sender.
    pub count: u32,
    /// Time from one message of a sender to the next. Many senders draw the moment in each such interval.
    pub interval: Duration,
    /// Addressing on the air.
    pub cast: EspNowCast,
    /// Hops that a relay's frame may still go (`forward_ttl`): 0 is not relayed, 31 never counted down.
    pub ttl: u8,
    /// Signal strength in dBm below which a relay does not forward a frame (`forward_rssi`).
    pub forward_rssi: i8,
    /// Metres from one node of a relay line to the next; 0 in the name of a cell whose lab has hops of several lengths.
    pub spacing_m: f32,
    /// Whether nodes wait for their slots; else senders contend as the MAC does, and no more.
    pub in_slots: bool,
    /// Slots, where nodes wait for them.
    pub slots: BeaconSlots,
    /// Whether a node's radio is on only while it sends, and around beacons; else always.
    pub radio_scheduled: bool,
    /// State of Bluetooth on every node; `None` is as the lab's file says.
    pub bluetooth: Option<BluetoothState>,
    /// Further properties of the lab that the plan sets.
    pub lab: LabOverrides,
}

impl EspNowMessages {
    /// Value of `forward_ttl` that relays do not count down.
    pub const TTL_ENDLESS: u8 = 31;

    /// Returns the slots; `None` for plain contention.
    #[must_use]
    pub const fn schedule(&self) -> Option<BeaconSlots> {
        if self.in_slots { Some(self.slots) } else { None }
    }

    /// Returns the number of probes that a cell has.
    #[must_use]
    pub const fn probes(&self) -> u64 {
        let (devices, count) = (self.devices as u64, self.count as u64);
        match self.pattern {
            MessagePattern::RelayLine => count,
            MessagePattern::ManyToMany => (devices + 1) * devices * count,
            MessagePattern::ManyToAny => (devices + 1) * count,
            MessagePattern::ManyToOne => devices * count,
        }
    }

    /// Returns the number of hops that a frame may go before its TTL has run out; `None` where there is no end.
    #[must_use]
    pub const fn hops_most(&self) -> Option<u32> {
        match self.ttl {
            Self::TTL_ENDLESS.. => None,
            ttl => Some(ttl as u32 + 1),
        }
    }
}
