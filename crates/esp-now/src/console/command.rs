//! Parsed console commands.

use crate::node::print::LogLevel;
use espbench_ieee80211::mac::Mac;

/// A command with its options. Strings are bytes of the line; negative values of numbers that
/// cannot be below zero become zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command<'a> {
    /// `help [<command>]`: print the options of one command or of all.
    Help(Option<&'a [u8]>),
    /// `version`: print version and chip.
    Version,
    /// `heap`: print the free memory.
    Heap,
    /// `restart [-i]`: restart, or print the reason of the last start.
    Restart {
        /// `-i`: only print the reason of the last start.
        info: bool,
    },
    /// `reset`: erase stored data and restart.
    Reset,
    /// `rollback`: start the other image after the next restart.
    Rollback,
    /// `time`: print or set the time of day.
    Time(TimeArgs<'a>),
    /// `coredump`: print the core dump.
    Coredump,
    /// `tasks`: list the tasks.
    Tasks,
    /// `deep_sleep`: enter deep sleep.
    DeepSleep,
    /// `light_sleep`: enter light sleep.
    LightSleep,
    /// `gpio`: read and set pins.
    Gpio(GpioArgs),
    /// `uart`: configure the UART.
    Uart,
    /// `wifi_config`: configure Wi-Fi.
    WifiConfig(WifiConfigArgs<'a>),
    /// `wifi_scan`: scan for access points.
    WifiScan,
    /// `ping`: ping a host over IP.
    Ping,
    /// `ap`: configure the SoftAP.
    Ap,
    /// `log`: set thresholds of the log.
    Log(LogArgs<'a>),
    /// `espnow_config`: configure ESP-NOW.
    EspnowConfig(EspnowConfigArgs<'a>),
    /// `espnow_iperf`: measure throughput or ping.
    Iperf(IperfArgs),
    /// `command`: run a command on other devices.
    Remote(RemoteArgs<'a>),
    /// `scan`: look for other devices.
    Scan(ScanArgs),
    /// `beacon`: identify this device to the sender.
    Beacon,
    /// `provisioning`: hand out or ask for Wi-Fi credentials.
    Provisioning(ProvisioningArgs<'a>),
    /// `control`: bind devices and set attributes.
    Control(ControlArgs),
    /// `ota`: upgrade other devices.
    Ota(OtaOptions<'a>),
    /// `security`: hand out keys.
    Security(SecurityArgs<'a>),
    /// `sec_test`: measure the time of encryption.
    SecTest(SecTestArgs),
}

/// Options of `time`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeArgs<'a> {
    /// `-g`: print the time.
    pub get: bool,
    /// `-s`: time to set, in seconds since 1970.
    pub set: Option<i64>,
    /// `-z`: time zone (`CST-8`).
    pub zone: &'a [u8],
}

/// Options of `gpio`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GpioArgs {
    /// `-c`: pin to make an output.
    pub config: Option<u32>,
    /// `-g`: pin whose level is printed.
    pub get: Option<u32>,
    /// `-s`: pin whose level is set.
    pub set: Option<u32>,
    /// `-l`: level to set.
    pub level: Option<u32>,
}

/// Options of `wifi_config`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WifiConfigArgs<'a> {
    /// `-s`: name of the network to join.
    pub ssid: Option<&'a [u8]>,
    /// `-p`: password of the network.
    pub password: Option<&'a [u8]>,
    /// `-b`: BSSID of the network, as text.
    pub bssid: Option<&'a [u8]>,
    /// `-c`: channel to tune to.
    pub channel: Option<i32>,
    /// `-C`: country code.
    pub country: Option<&'a [u8]>,
    /// `-t`: maximum transmit power, in 0.25 dBm.
    pub tx_power: Option<i32>,
    /// `-i`: print the settings.
    pub info: bool,
    /// `-d`: leave the network.
    pub disconnect: bool,
}

/// Options of `log`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogArgs<'a> {
    /// `-t`: tag of the lines; `*` if not given.
    pub tag: &'a [u8],
    /// `-l`: threshold; `None` inside if the word is no level.
    pub level: Option<Option<LogLevel>>,
    /// `-m`: sink of the threshold; `None` inside if the word is no sink.
    pub mode: Option<Option<LogSink>>,
    /// `-f`: use of the stored log; `None` inside if the word is none.
    pub flash: Option<Option<FlashLog>>,
    /// `-i`: print the thresholds.
    pub info: bool,
}

/// Sink of log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogSink {
    /// Console.
    Uart,
    /// Stored log.
    Flash,
    /// Remote log.
    Espnow,
    /// Function of the application.
    Custom,
}

/// Use of the stored log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlashLog {
    /// Print its size.
    Size,
    /// Print its lines.
    Data,
    /// Send its lines.
    Espnow,
}

/// Options of `espnow_config`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EspnowConfigArgs<'a> {
    /// `-c`: channel to tune to.
    pub channel: Option<i32>,
    /// `-C`: country code.
    pub country: Option<&'a [u8]>,
    /// `-r`: values of the rate configuration, up to four, and their number.
    pub rate: ([i32; 4], u8),
    /// `-p`: bit mask of Wi-Fi protocols.
    pub protocol: Option<i32>,
    /// `-t`: maximum transmit power, in 0.25 dBm.
    pub tx_power: Option<i32>,
    /// `-i`: print the settings.
    pub info: bool,
}

/// Error: an address cannot be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadMac;

/// Options of `espnow_iperf`. `abort` comes before all else; then exactly one of `initiator` and
/// `responder`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IperfArgs {
    /// `-c`: address to send to. With an address that cannot be parsed the command keeps running on
    /// the device until `-a`.
    pub initiator: Option<Result<Mac, BadMac>>,
    /// `-s`: be the responder.
    pub responder: bool,
    /// `-p`: measure the round-trip time.
    pub ping: bool,
    /// `-C`: number of pings (64).
    pub count: u32,
    /// `-i`: seconds between reports (3).
    pub interval: u32,
    /// `-t`: duration in seconds (60).
    pub time: u32,
    /// `-l`: bytes of payload with its 8-byte header; if not given, as many as fit.
    pub len: Option<u32>,
    /// `-b`: number of copies of a broadcast, five bits; 0 sends one.
    pub broadcast: Option<u8>,
    /// `-g`: send to a group.
    pub group: bool,
    /// `-A`: request acknowledgements of the application layer.
    pub ack: bool,
    /// `-G`: pin that a responder drives.
    pub gpio: Option<u8>,
    /// `-a`: end the running test.
    pub abort: bool,
}

/// Options of `command`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemoteArgs<'a> {
    /// Addresses of the devices.
    pub to: Macs<'a>,
    /// Command line that they run.
    pub line: &'a [u8],
    /// `-a`: send on all channels.
    pub all_channels: bool,
}

/// Options of `scan`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanArgs {
    /// Address of the only device that is asked.
    pub to: Option<Result<Mac, BadMac>>,
    /// `-r`: threshold in dBm; receivers drop weaker frames.
    pub rssi: Option<i8>,
    /// `-a`: send on all channels.
    pub all_channels: bool,
}

/// Options of `provisioning`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProvisioningArgs<'a> {
    /// `-e`: erase the stored credentials.
    pub erase: bool,
    /// `-r`: ask for credentials.
    pub responder: bool,
    /// `-i`: duration in milliseconds for which credentials are handed out.
    pub initiator_ms: Option<u32>,
    /// Name of the network.
    pub ssid: Option<&'a [u8]>,
    /// Password of the network.
    pub password: Option<&'a [u8]>,
}

/// Options of `control`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlArgs {
    /// `-l`: list the bound devices.
    pub list: bool,
    /// `-b`: attribute to bind.
    pub bind: Option<u32>,
    /// `-u`: attribute to unbind.
    pub unbind: Option<u32>,
    /// `-c`: attribute of this device, whose command is sent.
    pub command: Option<u32>,
    /// `-t`: attribute of the other device.
    pub responder_attribute: Option<u32>,
    /// `-v`: value of that attribute.
    pub responder_value: Option<i32>,
    /// `-a`: request acknowledgements of the application layer.
    pub ack: bool,
    /// `--broadcast`: send to the broadcast address.
    pub broadcast: Option<bool>,
    /// `-s`: receivers drop frames weaker than `rssi`.
    pub filter_weak: bool,
    /// `-C`: receivers drop frames from other channels.
    pub filter_adjacent: bool,
    /// `--forward_ttl`: number of hops, five bits.
    pub ttl: Option<u8>,
    /// `-r`: threshold in dBm.
    pub rssi: Option<i8>,
}

/// Options of `ota`, executed in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtaOptions<'a> {
    /// `-d`: address of an image to download.
    pub download: Option<&'a [u8]>,
    /// `-f`: duration of the search for devices, in ms.
    pub find_ms: Option<u32>,
    /// `-s`: addresses of the devices to upgrade.
    pub send: Option<Macs<'a>>,
}

/// Options of `security`, executed in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SecurityArgs<'a> {
    /// `-e`: erase the key.
    pub erase: bool,
    /// `-f`: duration of the search for devices, in ms.
    pub find_ms: Option<u32>,
    /// `-s`: addresses of the devices that get the key.
    pub send: Option<Macs<'a>>,
}

/// Options of `sec_test`. Espressif's performance report types `-C` for the count, the component's
/// help `-c`; this parser accepts both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SecTestArgs {
    /// `-c`, `-C`: number of rounds (100).
    pub count: u32,
    /// `-l`: bytes to encrypt; if not given, as many as fit.
    pub len: Option<u32>,
}

/// A list of addresses: each is the 17 characters before a comma, space, bar, dot or the end. Text
/// that cannot be parsed is left out; the component would send to an address built from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Macs<'a>(pub &'a [u8]);

impl<'a> Macs<'a> {
    /// Returns the addresses.
    pub fn iter(self) -> impl Iterator<Item = Mac> + 'a {
        let separator = |byte: &u8| matches!(byte, b',' | b' ' | b'|' | b'.');
        self.0
            .split(separator)
            .filter_map(|text| Mac::parse(text.get(text.len().checked_sub(17)?..)?))
    }
}
