//! What a console line asks for, as a value.

use super::args::{Args, Fault, Faults};
use super::table::{self, Spec};
use super::words::Words;
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

/// Why a line is no command.
#[derive(Clone, Debug)]
pub enum ParseError<'a> {
    /// Nothing but spaces: nothing happens.
    Empty,
    /// No command of that name.
    Unrecognized,
    /// The options are wrong.
    Options(&'static Spec, Faults<'a>),
}

impl<'a> ParseError<'a> {
    /// What the parser prints on the console, a line each: `<command>: …`.
    pub fn lines(&self) -> impl Iterator<Item = (&'static str, &Fault<'a>)> {
        let (name, faults) = match self {
            Self::Options(spec, faults) => (spec.name, faults.as_slice()),
            _ => ("", &[][..]),
        };
        faults.iter().map(move |fault| (name, fault))
    }
}

/// Reads a line. Its quotes and escapes are taken out in place.
///
/// # Errors
///
/// See [`ParseError`].
pub fn parse(line: &mut [u8]) -> Result<Command<'_>, ParseError<'_>> {
    let words = Words::split(line);
    let Some((name, rest)) = words.as_slice().split_first() else {
        return Err(ParseError::Empty);
    };
    let spec = table::find(name).ok_or(ParseError::Unrecognized)?;
    let args = Args::read(spec, rest).map_err(|faults| ParseError::Options(spec, faults))?;
    build(spec, &args).ok_or(ParseError::Unrecognized)
}

fn build<'a>(spec: &'static Spec, args: &Args<'a>) -> Option<Command<'a>> {
    Some(match spec.name {
        "help" => Command::Help(args.text("command")),
        "version" => Command::Version,
        "heap" => Command::Heap,
        "restart" => Command::Restart { info: args.has("info") },
        "reset" => Command::Reset,
        "rollback" => Command::Rollback,
        "time" => Command::Time(Time {
            get: args.has("get"),
            // As sscanf reads it: what is no number leaves zero.
            set: args.text("set").map(seconds),
            zone: args.text("time_zone").unwrap_or(b"CST-8"),
        }),
        "coredump" => Command::Coredump,
        "tasks" => Command::Tasks,
        "deep_sleep" => Command::DeepSleep,
        "light_sleep" => Command::LightSleep,
        "gpio" => Command::Gpio(Gpio {
            config: args.count("config"),
            get: args.count("get"),
            set: args.count("set"),
            level: args.count("level"),
        }),
        "uart" => Command::Uart,
        "wifi_config" => Command::WifiConfig(wifi_config(args)),
        "wifi_scan" => Command::WifiScan,
        "ping" => Command::Ping,
        "ap" => Command::Ap,
        "log" => Command::Log(log(args)),
        "espnow_config" => Command::EspnowConfig(espnow_config(args)),
        _ => return build_services(spec, args),
    })
}

fn build_services<'a>(spec: &'static Spec, args: &Args<'a>) -> Option<Command<'a>> {
    Some(match spec.name {
        "espnow_iperf" => Command::Iperf(iperf(args)),
        "command" => Command::Remote(Remote {
            to: Macs(args.text("mac[,mac...]")?),
            line: args.text("line")?,
            all_channels: args.has("channel_all"),
        }),
        "scan" => Command::Scan(Scan {
            to: args.text("mac").map(mac),
            rssi: args.int("rssi").map(|n| n as i8),
            all_channels: args.has("all"),
        }),
        "beacon" => Command::Beacon,
        "provisioning" => Command::Provisioning(Provisioning {
            erase: args.has("erase"),
            responder: args.has("responder"),
            initiator_ms: args.count("initiator"),
            ssid: args.text("ssid"),
            password: args.text("password"),
        }),
        "control" => Command::Control(control(args)),
        "ota" => Command::Ota(Ota {
            download: args.text("download"),
            find_ms: args.count("find"),
            send: args.text("send").map(Macs),
        }),
        "security" => Command::Security(Security {
            erase: args.has("erase"),
            find_ms: args.count("find"),
            send: args.text("send").map(Macs),
        }),
        "sec_test" => Command::SecTest(SecTest {
            count: args.count("count").unwrap_or(100),
            len: args.count("len"),
        }),
        _ => return None,
    })
}

fn seconds(text: &[u8]) -> i64 {
    let digits = text.iter().map_while(|byte| char::from(*byte).to_digit(10));
    digits.fold(0, |n: i64, digit| n.saturating_mul(10).saturating_add(i64::from(digit)))
}

fn mac(text: &[u8]) -> Result<Mac, BadMac> {
    Mac::parse(text).ok_or(BadMac)
}

fn wifi_config<'a>(args: &Args<'a>) -> WifiConfig<'a> {
    WifiConfig {
        ssid: args.text("ssid"),
        password: args.text("password"),
        bssid: args.text("bssid"),
        channel: args.int("channel"),
        country: args.text("country_code"),
        tx_power: args.int("tx_power"),
        info: args.has("info"),
        disconnect: args.has("disconnect"),
    }
}

fn log<'a>(args: &Args<'a>) -> Log<'a> {
    Log {
        tag: args.text("tag").unwrap_or(b"*"),
        level: args.text("level").map(|text| one_of(text, &LEVELS)),
        mode: args.text("mode").map(|text| one_of(text, &SINKS)),
        flash: args.text("flash").map(|text| one_of(text, &FLASH)),
        info: args.has("info"),
    }
}

/// The names of the levels, as `log` takes and prints them.
pub(super) const LEVELS: [(&str, Level); 6] = [
    ("NONE", Level::None),
    ("ERR", Level::Error),
    ("WARN", Level::Warn),
    ("INFO", Level::Info),
    ("DEBUG", Level::Debug),
    ("VER", Level::Verbose),
];

const SINKS: [(&str, Sink); 4] = [
    ("uart", Sink::Uart),
    ("flash", Sink::Flash),
    ("espnow", Sink::Espnow),
    ("custom", Sink::Custom),
];

const FLASH: [(&str, FlashLog); 3] =
    [("size", FlashLog::Size), ("data", FlashLog::Data), ("espnow", FlashLog::Espnow)];

/// What a word names, in either case.
fn one_of<T: Copy>(text: &[u8], names: &[(&str, T)]) -> Option<T> {
    names.iter().find(|(name, _)| name.as_bytes().eq_ignore_ascii_case(text)).map(|&(_, it)| it)
}

fn espnow_config<'a>(args: &Args<'a>) -> EspnowConfig<'a> {
    let mut rate = [0; 4];
    let mut times = 0;
    for (place, n) in rate.iter_mut().zip(args.ints("rate")) {
        *place = n;
        times += 1;
    }
    EspnowConfig {
        channel: args.int("channel"),
        country: args.text("country_code"),
        rate: (rate, times),
        protocol: args.int("protocol"),
        tx_power: args.int("tx_power"),
        info: args.has("info"),
    }
}

fn iperf(args: &Args<'_>) -> Iperf {
    Iperf {
        initiator: args.text("initiator").map(mac),
        responder: args.has("responder"),
        ping: args.has("ping"),
        count: args.count("count").unwrap_or(64),
        interval: args.count("interval").unwrap_or(3),
        time: args.count("time").unwrap_or(60),
        len: args.count("len"),
        broadcast: args.int("broadcast").map(|n| n as u8 & 0x1F),
        group: args.has("group"),
        ack: args.has("ack"),
        gpio: args.int("gpio").and_then(|n| u8::try_from(n).ok()),
        abort: args.has("abort"),
    }
}

fn control(args: &Args<'_>) -> Control {
    let attribute = |name| args.int(name).map(|n| n as u32);
    Control {
        list: args.has("list"),
        bind: attribute("bind"),
        unbind: attribute("unbind"),
        command: attribute("command"),
        responder_attribute: attribute("responder_attribute"),
        responder_value: args.int("responder_value"),
        ack: args.has("ack"),
        broadcast: args.int("broadcast").map(|n| n != 0),
        filter_weak: args.has("filter_weak_signal"),
        filter_adjacent: args.has("filter_adjacent_channel"),
        ttl: args.int("forward_ttl").map(|n| n as u8 & 0x1F),
        rssi: args.int("forward_rssi").map(|n| n as i8),
    }
}
