//! Settings of a cell as typed values: what tells one cell from another beyond the identity columns.
//!
//! Cells are compared and joined by these values. Words are made of them in [`label`](crate::label)
//! alone, where something is drawn, and words that people typed (a plan's threshold, the column
//! `variant` of a table) are read once, by [`label::read`](crate::label::read). JSON has each setting
//! as a field, whose name says its unit: `{"nagle": false, "offered_per_s": 100.0}`.
//!
//! A new setting is a line in the table below, a line where its workload is taken apart
//! ([`Settings::of`]), and its words.

mod of;
#[cfg(test)]
mod tests;
mod value;

pub(crate) use of::metres;

use crate::columns::{ColumnContent, ColumnType, ColumnValue};
use crate::tune::space::Power;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_ieee80211::mac::Mac;
use espbench_model::sdkconfig::ConfigOption;
use espbench_model::workload::{
    Direction, EchoFormat, EspNowCast, EspNowTest, LatencyBy, MqttVersion, Name, Transport,
};
use value::{option_value, type_of_option, value_of_option};

/// Makes [`Setting`] and [`SettingKey`] of one table: variant, type of its value, name in JSON.
macro_rules! settings {
    ($($(#[doc = $doc:literal])* $variant:ident($type:ty) $name:literal $unit:literal,)*) => {
        /// One setting of a cell, with its value.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Setting {
            $($(#[doc = $doc])* $variant($type),)*
            /// Option of the firmware's sdkconfig that a plan sets; a flag is 1 or 0.
            Sdkconfig(ConfigOption, u32),
        }

        /// Which setting it is, whatever its value.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum SettingKey {
            $($(#[doc = $doc])* $variant,)*
            /// Option of the firmware's sdkconfig.
            Sdkconfig(ConfigOption),
        }

        impl SettingKey {
            /// Every key but those of options, in the order in which sets of settings hold them; the
            /// options follow.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Returns the name of the field in JSON, with the unit.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                    Self::Sdkconfig(option) => option.name(),
                }
            }

            /// Returns the unit of the field; empty where it has none.
            #[must_use]
            pub const fn unit(self) -> &'static str {
                match self {
                    $(Self::$variant => $unit,)*
                    Self::Sdkconfig(option) => option.fact().unit,
                }
            }

            /// Returns the setting in a sentence.
            #[must_use]
            pub fn doc(self) -> &'static str {
                match self {
                    $(Self::$variant => concat!($($doc),*).trim(),)*
                    Self::Sdkconfig(option) => option.fact().meaning,
                }
            }

            /// Returns the type of the field.
            #[must_use]
            pub const fn field_type(self) -> ColumnType {
                match self {
                    $(Self::$variant => <$type as ColumnContent>::TYPE,)*
                    Self::Sdkconfig(option) => type_of_option(option),
                }
            }

            /// Returns the setting of that key and value; `None` for a value of another type.
            pub(crate) fn setting(self, value: &ColumnValue) -> Option<Setting> {
                match self {
                    $(Self::$variant => ColumnContent::from_value(value).map(Setting::$variant),)*
                    Self::Sdkconfig(option) => option_value(option, value)
                        .map(|value| Setting::Sdkconfig(option, value)),
                }
            }
        }

        impl Setting {
            /// Returns which setting it is.
            #[must_use]
            pub const fn key(&self) -> SettingKey {
                match self {
                    $(Self::$variant(_) => SettingKey::$variant,)*
                    Self::Sdkconfig(option, _) => SettingKey::Sdkconfig(*option),
                }
            }

            /// Returns the value of the field in JSON.
            pub(crate) fn value(&self) -> ColumnValue {
                match self {
                    $(Self::$variant(it) => it.to_value(),)*
                    Self::Sdkconfig(option, value) => value_of_option(*option, *value),
                }
            }
        }
    };
}

settings! {
    /// Variant of a lab: the device with its firmware, role, security and place.
    LabVariant(Name) "lab_variant" "",
    /// Test of Espressif's ESP-NOW report.
    Test(EspNowTest) "test" "",
    /// Transport under iperf.
    Transport(Transport) "iperf_transport" "",
    /// Direction of an iperf test.
    Direction(Direction) "direction" "",
    /// Whether an iperf test is of requests and replies.
    Bounceback(bool) "bounceback" "",
    /// Version of MQTT.
    MqttVersion(MqttVersion) "mqtt_version" "",
    /// Quality of service of MQTT, 0 to 2.
    Qos(u8) "qos" "",
    /// Addressing of ESP-NOW packets.
    Cast(EspNowCast) "cast" "",
    /// Payload of a probe, message, datagram or write.
    Size(u32) "size_bytes" "B",
    /// Firmware image of an OTA, where it is not the document's.
    Image(u32) "image_bytes" "B",
    /// Form of echo probes, where they are not the published ones.
    Format(EchoFormat) "format" "",
    /// Messages are sent as fast as they are taken.
    Saturated(bool) "saturated" "",
    /// Nothing is published: a device does.
    Listening(bool) "listening" "",
    /// Messages offered a second.
    Offered(f64) "offered_per_s" "messages/s",
    /// Lowest rate of a search, in messages a second.
    SearchLow(f64) "search_low_per_s" "messages/s",
    /// Highest rate of a search, in messages a second.
    SearchHigh(f64) "search_high_per_s" "messages/s",
    /// Payload bits offered a second, of each stream.
    OfferedBits(u64) "offered_bit_per_s" "bit/s",
    /// Probes or messages that may be outstanding at once.
    InFlight(u16) "in_flight" "",
    /// Time from one probe's or message's due time to the next.
    Interval(Duration) "interval_s" "s",
    /// Publishers, where there are several.
    Clients(u16) "clients" "",
    /// Devices beside the initiator.
    Devices(u32) "lab_devices" "",
    /// Distance of the nearest device in metres.
    Nearest(f64) "nearest_m" "m",
    /// Distance of the farthest device in metres.
    Farthest(f64) "farthest_m" "m",
    /// Whether application data is encrypted.
    Encrypted(bool) "encrypted" "",
    /// Messages are kept by the broker.
    Retained(bool) "retained" "",
    /// Whether sessions start without what the broker may still have.
    CleanStart(bool) "clean_start" "",
    /// Time for which the broker keeps a session after its connection; 4294967295 means for ever.
    SessionExpiry(u32) "session_expiry_s" "s",
    /// Parallel streams, where there are several.
    Streams(u16) "streams" "",
    /// Socket buffer in bytes.
    Window(u32) "window_bytes" "B",
    /// Whether Nagle's algorithm is on.
    Nagle(bool) "nagle" "",
    /// Type of service: DSCP and ECN.
    Tos(u8) "tos" "",
    /// Time to live, or hop limit.
    Ttl(u8) "ttl" "",
    /// Largest TCP segment asked for.
    Mss(u16) "mss_bytes" "B",
    /// TCP congestion control by its name in the kernel.
    Congestion(Name) "congestion_control" "",
    /// Each datagram or write tells when it was sent.
    TripTimes(bool) "trip_times" "",
    /// Requests of a period of bounceback.
    RequestBurst(u16) "request_burst" "",
    /// Period of bounceback; zero is back to back.
    RequestPeriod(Duration) "request_period_s" "s",
    /// Time for which the server of bounceback waits.
    Hold(Duration) "hold_s" "s",
    /// Whether both ends of bounceback acknowledge at once.
    QuickAck(bool) "quick_ack" "",
    /// Carrier of echo probes beside the streams.
    Echoes(LatencyBy) "echoes" "",
    /// Whether the next call of `esp_now_send` waits for the send callback of the one before.
    AwaitsCallback(bool) "awaits_callback" "",
    /// Who sends messages to whom, by its word in plans.
    Pattern(Name) "pattern" "",
    /// Hops from one end of a relay line to the other.
    Hops(u32) "hops" "",
    /// Signal strength from which on relays send on what they hear.
    ForwardRssi(f64) "forward_rssi_dbm" "dBm",
    /// Length of a slot after a beacon.
    Slot(Duration) "slot_s" "s",
    /// Guard interval of a slot.
    Guard(Duration) "guard_s" "s",
    /// Time from one beacon of a coordinator to the next.
    BeaconInterval(Duration) "beacon_interval_s" "s",
    /// Largest drift of a node's clock, in parts per million.
    Drift(f64) "clock_drift_ppm" "ppm",
    /// Longest time by which a task is later than its timer.
    TaskJitter(Duration) "task_jitter_s" "s",
    /// Beacons in a row that a node may miss before it is silent.
    MissedBeacons(u8) "missed_beacons" "",
    /// Whether a node's radio is on only to send and to listen for beacons.
    RadioScheduled(bool) "radio_scheduled" "",
    /// State of Bluetooth on the nodes, by its word in plans.
    Bluetooth(Name) "bluetooth" "",
    /// Whether a joining station knows the key of its password already.
    KeyKnown(bool) "key_known" "",
    /// Length of a run of `tcp-rate`, where it is not a second.
    RunTime(Duration) "run_time_s" "s",
    /// Length of a throughput test, where it is not the document's.
    Time(Duration) "time_s" "s",
    /// Packets of a one-way test, where they are not the document's.
    Packets(u32) "packets" "",
    /// Pings, where they are not the document's.
    Pings(u32) "pings" "",
    /// Encryptions, where they are not the document's.
    Encryptions(u32) "encryptions" "",
    /// Sender of a link, read from a console.
    From(Mac) "from_mac" "",
    /// Receiver of a link, read from a console.
    To(Mac) "to_mac" "",
    /// Published: the run was taken, and then discarded.
    Discarded(bool) "discarded" "",
    /// Published: the device prints a line for each message.
    Prints(bool) "prints" "",
    /// Mode of the PHY by its name (`1M`, `HT20-MCS7`).
    PhyRate(Name) "lab_phy_rate" "",
    /// Whether messages come by chance, as a Poisson process.
    Poisson(bool) "poisson_arrivals" "",
    /// Messages that a sender's own queue holds.
    Queue(u32) "queue_messages" "",
    /// The radios are simulated without the component above them.
    RadiosAlone(bool) "radios_alone" "",
    /// Walls between a listener and its devices.
    Walls(u8) "walls" "",
    /// Loss in one of these walls.
    WallLoss(f64) "wall_loss_db" "dB",
    /// Sleep of a battery's device between two messages.
    Sleep(Name) "sleep" "",
    /// Most of the messages that may be lost, 0 to 1.
    LossLimit(f64) "loss_limit" "",
    /// Longest 99th percentile of the latency allowed.
    P99Limit(Duration) "p99_limit_s" "s",
    /// Static RX buffers of a Wi-Fi driver.
    StaticRx(u16) "static_rx_buffers" "",
    /// Dynamic RX buffers of a Wi-Fi driver.
    DynamicRx(u16) "dynamic_rx_buffers" "",
    /// TX buffers of a Wi-Fi driver.
    Tx(u16) "tx_buffers" "",
    /// Block-ack window of reception.
    RxBaWindow(u8) "rx_ba_window" "",
    /// Block-ack window of sending.
    TxBaWindow(u8) "tx_ba_window" "",
    /// TCP's receive window.
    TcpWindow(u32) "tcp_window_bytes" "B",
    /// TCP's send buffer.
    TcpSendBuffer(u32) "tcp_send_buffer_bytes" "B",
    /// Power save mode of the radio, where it sleeps.
    PowerSave(Power) "power_save" "",
    /// Profile of a lab's devices, where a plan sets it.
    Profile(Name) "lab_profile" "",
    /// Environment of a lab, where a plan sets it.
    Environment(Name) "lab_environment" "",
    /// Transmit power in dBm, where a plan sets it.
    TxPower(f64) "power_dbm" "dBm",
    /// Clock of a device's processor in MHz, where a plan sets it.
    Clock(u32) "clock_mhz" "MHz",
    /// Clock of a device's processor in MHz while nothing runs (DFS), where a plan sets it.
    IdleClock(u32) "idle_clock_mhz" "MHz",
}

/// Settings that a plan may set of a lab, beside the options of sdkconfig.
const OF_LAB: [SettingKey; 9] = [
    SettingKey::Devices,
    SettingKey::Nearest,
    SettingKey::Farthest,
    SettingKey::PhyRate,
    SettingKey::Profile,
    SettingKey::Environment,
    SettingKey::TxPower,
    SettingKey::Clock,
    SettingKey::IdleClock,
];

/// Settings of a cell: at most one of each key. The order in which they were put in tells nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings(Vec<Setting>);

impl Settings {
    /// Returns whether nothing is set: then a cell follows its document's own procedure.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a setting, in place of one with its key.
    pub fn set(&mut self, setting: Setting) {
        match self.0.binary_search_by_key(&setting.key(), Setting::key) {
            Ok(at) => self.0[at] = setting,
            Err(at) => self.0.insert(at, setting),
        }
    }

    /// Returns the settings with one more.
    #[must_use]
    pub fn with(mut self, setting: Setting) -> Self {
        self.set(setting);
        self
    }

    /// Returns the setting of that key.
    #[must_use]
    pub fn get(&self, key: SettingKey) -> Option<&Setting> {
        self.0.binary_search_by_key(&key, Setting::key).ok().map(|at| &self.0[at])
    }

    /// Returns whether exactly that is set.
    #[must_use]
    pub fn has(&self, setting: &Setting) -> bool {
        self.get(setting.key()) == Some(setting)
    }

    /// Goes through the settings, in the order of [`SettingKey`].
    pub fn iter(&self) -> core::slice::Iter<'_, Setting> {
        self.0.iter()
    }

    /// Returns the settings but for those keys.
    #[must_use]
    pub fn without(&self, keys: &[SettingKey]) -> Self {
        self.filter(|it| !keys.contains(&it.key()))
    }

    /// Returns the settings of those keys alone.
    #[must_use]
    pub fn only(&self, keys: &[SettingKey]) -> Self {
        self.filter(|it| keys.contains(&it.key()))
    }

    /// Returns what all of these have, with one value. Of none it is nothing.
    #[must_use]
    pub fn shared<'a>(mut all: impl Iterator<Item = &'a Self>) -> Self {
        let Some(first) = all.next() else { return Self::default() };
        all.fold(first.clone(), |shared, other| shared.filter(|it| other.has(it)))
    }

    /// Returns whether a plan set something of the lab: then a cell is not of the room in which a
    /// document's were taken.
    #[must_use]
    pub fn override_lab(&self) -> bool {
        self.iter().any(|it| {
            let key = it.key();
            OF_LAB.contains(&key) || matches!(key, SettingKey::Sdkconfig(_))
        })
    }

    /// Returns whether the test is of something else than a document's: of another image.
    #[must_use]
    pub fn is_of_another_image(&self) -> bool {
        self.get(SettingKey::Image).is_some()
    }

    /// Returns the variant of the lab that the device is.
    #[must_use]
    pub fn lab_variant(&self) -> Option<&Name> {
        match self.get(SettingKey::LabVariant) {
            Some(Setting::LabVariant(name)) => Some(name),
            _ => None,
        }
    }

    fn filter(&self, keep: impl Fn(&Setting) -> bool) -> Self {
        Self(self.0.iter().filter(|it| keep(it)).cloned().collect())
    }
}

impl FromIterator<Setting> for Settings {
    fn from_iter<T: IntoIterator<Item = Setting>>(settings: T) -> Self {
        let mut all = Self::default();
        all.extend(settings);
        all
    }
}

impl Extend<Setting> for Settings {
    fn extend<T: IntoIterator<Item = Setting>>(&mut self, settings: T) {
        settings.into_iter().for_each(|it| self.set(it));
    }
}

impl<'a> IntoIterator for &'a Settings {
    type Item = &'a Setting;
    type IntoIter = core::slice::Iter<'a, Setting>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
