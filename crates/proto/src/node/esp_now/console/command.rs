//! What a console line asks for, as a value.

use crate::node::esp_now::print::Level;
use crate::wire::mac::Mac;

/// A command with its options. Strings are bytes of the line; numbers that cannot be below zero
/// are cut to zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command<'a> {
    /// `help [<command>]`
    Help(Option<&'a [u8]>),
    /// `version`
    Version,
    /// `heap`
    Heap,
    /// `restart [-i]`: only tell, or restart.
    Restart {
        /// Only print why it started.
        info: bool,
    },
    /// `reset`
    Reset,
    /// `rollback`
    Rollback,
    /// `time`
    Time(Time<'a>),
    /// `coredump`
    Coredump,
    /// `tasks`
    Tasks,
    /// `deep_sleep`
    DeepSleep,
    /// `light_sleep`
    LightSleep,
    /// `gpio`
    Gpio(Gpio),
    /// `uart`
    Uart,
    /// `wifi_config`
    WifiConfig(WifiConfig<'a>),
    /// `wifi_scan`
    WifiScan,
    /// `ping`
    Ping,
    /// `ap`
    Ap,
    /// `log`
    Log(Log<'a>),
    /// `espnow_config`
    EspnowConfig(EspnowConfig<'a>),
    /// `espnow_iperf`
    Iperf(Iperf),
    /// `command`
    Remote(Remote<'a>),
    /// `scan`
    Scan(Scan),
    /// `beacon`
    Beacon,
    /// `provisioning`
    Provisioning(Provisioning<'a>),
    /// `control`
    Control(Control),
    /// `ota`
    Ota(Ota<'a>),
    /// `security`
    Security(Security<'a>),
    /// `sec_test`
    SecTest(SecTest),
}

/// `time`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time<'a> {
    /// `-g`
    pub get: bool,
    /// `-s`: seconds since 1970.
    pub set: Option<i64>,
    /// `-z` (`CST-8`)
    pub zone: &'a [u8],
}

/// `gpio`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gpio {
    /// `-c`: make this pin an output.
    pub config: Option<u32>,
    /// `-g`: print the level of this pin.
    pub get: Option<u32>,
    /// `-s`: set the level of this pin.
    pub set: Option<u32>,
    /// `-l`: the level.
    pub level: Option<u32>,
}

/// `wifi_config`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WifiConfig<'a> {
    /// `-s`: the network to join.
    pub ssid: Option<&'a [u8]>,
    /// `-p`
    pub password: Option<&'a [u8]>,
    /// `-b`, as text.
    pub bssid: Option<&'a [u8]>,
    /// `-c`
    pub channel: Option<i32>,
    /// `-C`
    pub country: Option<&'a [u8]>,
    /// `-t`, in 0.25 dBm.
    pub tx_power: Option<i32>,
    /// `-i`
    pub info: bool,
    /// `-d`
    pub disconnect: bool,
}

/// `log`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Log<'a> {
    /// `-t`; `*` if not given.
    pub tag: &'a [u8],
    /// `-l`; `None` inside if it is no level.
    pub level: Option<Option<Level>>,
    /// `-m`; `None` inside if it is no sink.
    pub mode: Option<Option<Sink>>,
    /// `-f`; `None` inside if it is nothing that can be asked for.
    pub flash: Option<Option<FlashLog>>,
    /// `-i`
    pub info: bool,
}

/// Where log lines go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sink {
    /// The console.
    Uart,
    /// The stored log.
    Flash,
    /// The remote log.
    Espnow,
    /// A function of the application.
    Custom,
}

/// What is asked of the stored log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlashLog {
    /// Its size.
    Size,
    /// To print it.
    Data,
    /// To send it.
    Espnow,
}

/// `espnow_config`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EspnowConfig<'a> {
    /// `-c`
    pub channel: Option<i32>,
    /// `-C`
    pub country: Option<&'a [u8]>,
    /// `-r`, up to four times, and how often.
    pub rate: ([i32; 4], u8),
    /// `-p`
    pub protocol: Option<i32>,
    /// `-t`, in 0.25 dBm.
    pub tx_power: Option<i32>,
    /// `-i`
    pub info: bool,
}

/// An address that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadMac;

/// `espnow_iperf`. `abort` comes before all else; then exactly one of `initiator` and `responder`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Iperf {
    /// `-c`: send, to this address. One that cannot be read leaves the command running on the
    /// device until `-a`.
    pub initiator: Option<Result<Mac, BadMac>>,
    /// `-s`
    pub responder: bool,
    /// `-p`
    pub ping: bool,
    /// `-C` (64)
    pub count: u32,
    /// `-i`, seconds (3)
    pub interval: u32,
    /// `-t`, seconds (60)
    pub time: u32,
    /// `-l`: bytes of payload with its 8-byte head; as many as fit if not given.
    pub len: Option<u32>,
    /// `-b`: broadcast in so many copies, five bits; 0 sends one.
    pub broadcast: Option<u8>,
    /// `-g`
    pub group: bool,
    /// `-A`
    pub ack: bool,
    /// `-G`
    pub gpio: Option<u8>,
    /// `-a`
    pub abort: bool,
}

/// `command`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remote<'a> {
    /// To whom.
    pub to: Macs<'a>,
    /// What to run there.
    pub line: &'a [u8],
    /// `-a`: on all channels.
    pub all_channels: bool,
}

/// `scan`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scan {
    /// Only this device.
    pub to: Option<Result<Mac, BadMac>>,
    /// `-r`: receivers drop what they hear weaker.
    pub rssi: Option<i8>,
    /// `-a`: on all channels.
    pub all_channels: bool,
}

/// `provisioning`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Provisioning<'a> {
    /// `-e`
    pub erase: bool,
    /// `-r`: ask for credentials.
    pub responder: bool,
    /// `-i`: give credentials, for so many milliseconds.
    pub initiator_ms: Option<u32>,
    /// Network.
    pub ssid: Option<&'a [u8]>,
    /// Its password.
    pub password: Option<&'a [u8]>,
}

/// `control`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Control {
    /// `-l`
    pub list: bool,
    /// `-b`
    pub bind: Option<u32>,
    /// `-u`
    pub unbind: Option<u32>,
    /// `-c`: attribute of this device.
    pub command: Option<u32>,
    /// `-t`: attribute of the other.
    pub responder_attribute: Option<u32>,
    /// `-v`
    pub responder_value: Option<i32>,
    /// `-a`
    pub ack: bool,
    /// `--broadcast`
    pub broadcast: Option<bool>,
    /// `-s`
    pub filter_weak: bool,
    /// `-C`
    pub filter_adjacent: bool,
    /// `--forward_ttl`, five bits.
    pub ttl: Option<u8>,
    /// `-r`
    pub rssi: Option<i8>,
}

/// `ota`. What is given is done in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ota<'a> {
    /// `-d`
    pub download: Option<&'a [u8]>,
    /// `-f`, ms
    pub find_ms: Option<u32>,
    /// `-s`
    pub send: Option<Macs<'a>>,
}

/// `security`. What is given is done in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Security<'a> {
    /// `-e`
    pub erase: bool,
    /// `-f`, ms
    pub find_ms: Option<u32>,
    /// `-s`
    pub send: Option<Macs<'a>>,
}

/// `sec_test`. The performance report of Espressif types `-C` for the count, the component's help
/// `-c`; both are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SecTest {
    /// `-c`, `-C` (100)
    pub count: u32,
    /// `-l`: bytes; as many as fit if not given.
    pub len: Option<u32>,
}

/// A list of addresses: each is the 17 characters before a comma, space, bar, dot or the end.
/// What cannot be read is left out, where the component would send to what it made of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Macs<'a>(pub &'a [u8]);

impl<'a> Macs<'a> {
    /// The addresses.
    pub fn iter(self) -> impl Iterator<Item = Mac> + 'a {
        let separator = |byte: &u8| matches!(byte, b',' | b' ' | b'|' | b'.');
        self.0
            .split(separator)
            .filter_map(|text| Mac::parse(text.get(text.len().checked_sub(17)?..)?))
    }
}
