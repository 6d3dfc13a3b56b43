//! Devices that speak IP, their routers, and the PC at the other end.

use super::Point;
use crate::lab::profile::Profile;
use crate::power::{AutoLightSleep, CurrentDraw, Modulation, PowerSettings};
use alloc::string::String;
use alloc::sync::Arc;
use core::time::Duration;
use espbench_dot11::radio::{ChannelWidth, GuardInterval, Mcs, Ofdm, WifiMode};
use espbench_dot11::wifi::{DataRates, JoinConfig, PowerSave, PowerSaveTimes, ProcessingTimes};
use espbench_model::sdkconfig::{OptionValues, SdkConfig};

/// Columns that identify a variant's results, beside the settings of the test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    /// `mode`: `station`, `softap`, `rank-iperf`.
    pub mode: String,
    /// `security`: `open`, `wpa2`.
    pub security: String,
    /// `environment`: `home`, `shield-box`.
    pub environment: String,
}

/// A device that speaks IP, or ESP-NOW beside a network.
#[derive(Clone, Debug, PartialEq)]
pub struct NetDevice {
    /// Name in the lab.
    pub name: String,
    /// The group that it is one of: that name, where it is alone.
    pub group: String,
    /// Position in the room.
    pub at: Point,
    /// Constants of the chip at the clock that its firmware sets: [`Profile::ip`] needs no scaling.
    pub profile: Arc<Profile>,
    /// Role in the network.
    pub role: NetRole,
    /// The number of the access point whose station it is; `None`: the strongest at its place.
    pub access_point: Option<u16>,
    /// Work of its application while others are measured.
    pub application: Application,
    /// Limits of its firmware; A-MPDUs that the chip cannot send are off.
    pub sdk: SdkConfig,
    /// Settings that the lab's file states; all others are the release's defaults.
    pub settings: OptionValues,
    /// Cores that its firmware uses.
    pub cores: u8,
    /// Channel of a device that is in no network.
    pub channel: u8,
    /// Width of its channel.
    pub width: ChannelWidth,
    /// Modes in which it sends data frames.
    pub rates: DataRates,
    /// Transmit power that its firmware asks for, dBm; the chip and the mode may give less.
    pub power_dbm: f64,
    /// Mean effective gain of its antenna, dBi.
    pub antenna_dbi: f64,
    /// Style of its programs.
    pub program: ProgramStyle,
    /// Power save mode of its radio while it is associated.
    pub sleep: PowerSave,
    /// Time for which a station in modem sleep stays awake after traffic.
    pub min_active: Duration,
    /// Automatic light sleep: a pause that is at least so long is spent in it.
    pub light_sleep: Option<Duration>,
    /// The radio is off while it is not associated, but for the connectionless window.
    pub disconnected_sleep: bool,
    /// Windows in which it listens for ESP-NOW while its radio would sleep.
    pub connectionless: Option<Connectionless>,
    /// Time slots in which its radio is Bluetooth's.
    pub coexistence: Option<Coexistence>,
    /// Mode in which it sends ESP-NOW frames.
    pub esp_now_mode: WifiMode,
    /// True where its messages go over ESP-NOW.
    pub esp_now: bool,
    /// True where it sends them when its next connectionless interval begins, and not at once.
    pub at_interval: bool,
    /// Scan by which it looks for its network when it joins.
    pub scan: Scan,
}

/// The application of a device that is not measured: messages or a stream between it and the PC; of a
/// node of ESP-NOW: messages to node 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Application {
    /// None.
    #[default]
    None,
    /// Datagrams to the PC, which sends each back, as a sensor's reports and their receipts; of a node,
    /// payloads of ESP-NOW that the MAC of node 0 acknowledges.
    Reports {
        /// Bytes of a datagram.
        bytes: u32,
        /// Time from one to the next.
        every: Duration,
    },
    /// A TCP stream to the PC, as fast as it goes.
    Upload,
    /// A TCP stream from the PC, as fast as it goes.
    Download,
}

/// Scan of a station that looks for its network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scan {
    /// On one channel after the other, until it has found it (`WIFI_FAST_SCAN`).
    #[default]
    Fast,
    /// On all channels (`WIFI_ALL_CHANNEL_SCAN`).
    All,
    /// On the network's channel only, which it knows.
    Channel,
}

/// Role of a device in the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NetRole {
    /// A station of the access point.
    #[default]
    Station,
    /// The access point.
    SoftAp,
    /// Neither: it speaks ESP-NOW only.
    Alone,
}

/// Style in which a device's programs are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ProgramStyle {
    /// As ESP-IDF's examples: sockets, whole buffers.
    #[default]
    Plain,
    /// As the examples of ESP-IDF before v5.0: iperf waits for ticks where a send is refused.
    PlainV4,
    /// As an Arduino sketch: byte by byte.
    Arduino,
    /// As the examples, with a line printed for each send.
    Printing,
    /// As Smooth's MQTT client: a bounded queue that a periodic loop empties.
    Smooth,
    /// As Smooth's example (`test/mqtt`): the same, and it draws the quality of service of each
    /// message.
    SmoothExample,
    /// As with `espconn` of the ESP8266: two segments, and the next two when these are acknowledged.
    Callback,
}

/// Windows in which a device listens for ESP-NOW (`esp_now_set_wake_window`,
/// `esp_wifi_connectionless_module_set_wake_interval`). While it is associated, intervals begin at
/// a beacon's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connectionless {
    /// For how long.
    pub window: Duration,
    /// Time between the beginnings of two windows.
    pub interval: Duration,
}

/// Slices of time that Wi-Fi and Bluetooth have in turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coexistence {
    /// Time between the beginnings of two of Wi-Fi's turns.
    pub period: Duration,
    /// For how long.
    pub wifi: Duration,
}

/// A router.
#[derive(Clone, Debug, PartialEq)]
pub struct AccessPoint {
    /// Name in the lab.
    pub name: String,
    /// Position in the room.
    pub at: Point,
    /// Channel of the network.
    pub channel: u8,
    /// Width of its channel.
    pub width: ChannelWidth,
    /// Transmit power, dBm.
    pub power_dbm: f64,
    /// Modes in which it sends data frames.
    pub rates: DataRates,
    /// Frames of an A-MPDU at most; 0: it sends none.
    pub ampdu: u16,
    /// Whether aggregates are preceded by RTS.
    pub rts: bool,
    /// Longest time for which it keeps the medium once it has it; zero: one exchange.
    pub burst: Duration,
    /// Time between beacons.
    pub beacon: Duration,
    /// Every so many beacons is a DTIM.
    pub dtim: u8,
    /// Frames in its queue for the air, further ones are dropped.
    pub queue: u16,
    /// Multicast frames that it keeps for the DTIM while a station sleeps; `None`: it keeps none.
    pub multicast_buffer: Option<u16>,
    /// Time from a packet's coming in to its being queued on the other side.
    pub forward: Delay,
    /// Gathering of what comes from the air.
    pub gather: Gather,
}

/// Packets from the air that a router hands to its wire together: its radio interrupts the processor when no further one
/// has come for a time, or when there are so many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gather {
    /// Time after the last packet; zero: each is handed on at once.
    pub after: Duration,
    /// Packets that wait for no further one.
    pub most: u16,
}

/// The other end of the tests: a PC.
#[derive(Clone, Debug, PartialEq)]
pub struct Pc {
    /// Link to the network.
    pub link: PcLink,
    /// Time from a packet's arrival to its reaching a program, and from a program's sending to its
    /// leaving.
    pub turn: Delay,
    /// True where it sends the requests of an echo to all.
    pub multicast: bool,
}

/// Link of a PC to the network.
#[derive(Clone, Debug, PartialEq)]
pub enum PcLink {
    /// On a wire to the router.
    Wire {
        /// One way.
        delay: Delay,
        /// Bits a second.
        bits: u64,
    },
    /// The PC is a station.
    Air(Dongle),
}

/// A PC's Wi-Fi.
#[derive(Clone, Debug, PartialEq)]
pub struct Dongle {
    /// Position in the room.
    pub at: Point,
    /// Transmit power, dBm.
    pub power_dbm: f64,
    /// Modes in which it sends data frames.
    pub rates: DataRates,
    /// Frames of an A-MPDU at most; 0: it sends none.
    pub ampdu: u16,
}

/// A delay with a part that differs each time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delay {
    /// Always.
    pub fixed: Duration,
    /// The mean of what comes on top of it, which is distributed exponentially.
    pub random: Duration,
}

impl NetDevice {
    /// Returns the times by which its radio sleeps and wakes.
    #[must_use]
    pub fn sleep_times(&self) -> PowerSaveTimes {
        let limits = &self.profile.wifi;
        PowerSaveTimes {
            min_active: self.min_active,
            radio_on: Duration::from_nanos(limits.wake_ns),
            early: Duration::from_nanos(limits.early_ns),
            stop_at_tim: limits.stop_at_tim,
            ..self.slow_clock(PowerSaveTimes::default())
        }
    }

    /// Returns times with the drift of the clock by which the chip sleeps: of its crystal and of the
    /// access point's in modem sleep, of its RC oscillator as well in light sleep.
    fn slow_clock(&self, usual: PowerSaveTimes) -> PowerSaveTimes {
        let slow = self.light_sleep.map_or(0, |_| self.profile.light.drift_ppm);
        PowerSaveTimes { drift_ppm: usual.drift_ppm + slow, ..usual }
    }

    /// Returns its automatic light sleep, if it is on.
    #[must_use]
    pub fn auto_light_sleep(&self) -> Option<AutoLightSleep> {
        let costs = &self.profile.light;
        self.light_sleep.map(|least| AutoLightSleep {
            least_ns: least.as_nanos() as u64,
            wake_ns: costs.out_ns + costs.work_ns,
            timer_ns: costs.timer_ns,
        })
    }

    /// Returns the settings by which it joins a network on that channel.
    #[must_use]
    pub fn joining(&self, channel: u8) -> JoinConfig {
        let ns = Duration::from_nanos;
        let work = ProcessingTimes::esp(ns(self.profile.wifi.pmk_ns), ns(self.profile.wifi.sae_ns));
        let usual = match self.scan {
            Scan::Fast => JoinConfig::default(),
            Scan::All => JoinConfig { first: false, ..JoinConfig::default() },
            Scan::Channel => JoinConfig::on(channel),
        };
        JoinConfig { work, ..usual }
    }

    /// Returns the current that it draws in each state.
    #[must_use]
    pub fn draw(&self) -> CurrentDraw {
        let fastest = Modulation::ALL.map(|it| match it {
            Modulation::Dsss => WifiMode::ESP_NOW,
            Modulation::Ofdm => WifiMode::Ofdm(Ofdm::M54),
            Modulation::Ht => WifiMode::ht(Mcs::Mcs7, self.width, GuardInterval::Long),
        });
        // At slower modes of a kind a chip may send with a little more.
        let power = |mode| self.power_dbm.min(self.profile.chip.power_dbm(mode));
        let firmware = PowerSettings {
            clock_mhz: self.profile.processor.clock_mhz,
            idle_clock_mhz: self.profile.idle_clock_mhz,
            width: self.width,
            power_dbm: fastest.map(power),
        };
        CurrentDraw::new(&self.profile.currents, &firmware)
    }
}
