//! Parses a line into a [`Command`].

use super::args::{ArgError, ArgErrors, ParsedArgs};
use super::command::{
    BadMac, Command, ControlArgs, EspnowConfigArgs, FlashLog, GpioArgs, IperfArgs, LogArgs,
    LogSink, Macs, OtaOptions, ProvisioningArgs, RemoteArgs, ScanArgs, SecTestArgs, SecurityArgs,
    TimeArgs, WifiConfigArgs,
};
use super::table::{self, CommandSpec};
use super::words::Words;
use crate::node::print::LogLevel;
use espbench_ieee80211::mac::Mac;

/// Reason why a line is no command.
#[derive(Clone, Debug)]
pub enum CommandError<'a> {
    /// The line is empty or has only spaces; nothing happens.
    Empty,
    /// No command has that name.
    Unrecognized,
    /// The options are wrong.
    Options(&'static CommandSpec, ArgErrors<'a>),
}

impl<'a> CommandError<'a> {
    /// Returns the messages that the parser prints on the console, one for each line: `<command>:
    /// …`.
    pub fn lines(&self) -> impl Iterator<Item = (&'static str, &ArgError<'a>)> {
        let (name, faults) = match self {
            Self::Options(spec, faults) => (spec.name, faults.as_slice()),
            _ => ("", &[][..]),
        };
        faults.iter().map(move |fault| (name, fault))
    }
}

/// Parses a line, and removes its quotes and escapes in place.
///
/// # Errors
///
/// Returns the reason why the line is no command.
pub fn parse(line: &mut [u8]) -> Result<Command<'_>, CommandError<'_>> {
    let words = Words::split(line);
    let Some((name, rest)) = words.as_slice().split_first() else {
        return Err(CommandError::Empty);
    };
    let spec = table::find(name).ok_or(CommandError::Unrecognized)?;
    let args =
        ParsedArgs::read(spec, rest).map_err(|faults| CommandError::Options(spec, faults))?;
    build(spec, &args).ok_or(CommandError::Unrecognized)
}

fn build<'a>(spec: &'static CommandSpec, args: &ParsedArgs<'a>) -> Option<Command<'a>> {
    Some(match spec.name {
        "help" => Command::Help(args.text("command")),
        "version" => Command::Version,
        "heap" => Command::Heap,
        "restart" => Command::Restart { info: args.has("info") },
        "reset" => Command::Reset,
        "rollback" => Command::Rollback,
        "time" => Command::Time(TimeArgs {
            get: args.has("get"),
            // As sscanf: text that is no number yields zero.
            set: args.text("set").map(seconds),
            zone: args.text("time_zone").unwrap_or(b"CST-8"),
        }),
        "coredump" => Command::Coredump,
        "tasks" => Command::Tasks,
        "deep_sleep" => Command::DeepSleep,
        "light_sleep" => Command::LightSleep,
        "gpio" => Command::Gpio(GpioArgs {
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

fn build_services<'a>(spec: &'static CommandSpec, args: &ParsedArgs<'a>) -> Option<Command<'a>> {
    Some(match spec.name {
        "espnow_iperf" => Command::Iperf(iperf(args)),
        "command" => Command::Remote(RemoteArgs {
            to: Macs(args.text("mac[,mac...]")?),
            line: args.text("line")?,
            all_channels: args.has("channel_all"),
        }),
        "scan" => Command::Scan(ScanArgs {
            to: args.text("mac").map(mac),
            rssi: args.int("rssi").map(|n| n as i8),
            all_channels: args.has("all"),
        }),
        "beacon" => Command::Beacon,
        "provisioning" => Command::Provisioning(ProvisioningArgs {
            erase: args.has("erase"),
            responder: args.has("responder"),
            initiator_ms: args.count("initiator"),
            ssid: args.text("ssid"),
            password: args.text("password"),
        }),
        "control" => Command::Control(control(args)),
        "ota" => Command::Ota(OtaOptions {
            download: args.text("download"),
            find_ms: args.count("find"),
            send: args.text("send").map(Macs),
        }),
        "security" => Command::Security(SecurityArgs {
            erase: args.has("erase"),
            find_ms: args.count("find"),
            send: args.text("send").map(Macs),
        }),
        "sec_test" => Command::SecTest(SecTestArgs {
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

fn wifi_config<'a>(args: &ParsedArgs<'a>) -> WifiConfigArgs<'a> {
    WifiConfigArgs {
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

fn log<'a>(args: &ParsedArgs<'a>) -> LogArgs<'a> {
    LogArgs {
        tag: args.text("tag").unwrap_or(b"*"),
        level: args.text("level").map(|text| one_of(text, &LEVELS)),
        mode: args.text("mode").map(|text| one_of(text, &SINKS)),
        flash: args.text("flash").map(|text| one_of(text, &FLASH)),
        info: args.has("info"),
    }
}

/// Names of the levels, as `log` takes and prints them.
pub(super) const LEVELS: [(&str, LogLevel); 6] = [
    ("NONE", LogLevel::None),
    ("ERR", LogLevel::Error),
    ("WARN", LogLevel::Warn),
    ("INFO", LogLevel::Info),
    ("DEBUG", LogLevel::Debug),
    ("VER", LogLevel::Verbose),
];

const SINKS: [(&str, LogSink); 4] = [
    ("uart", LogSink::Uart),
    ("flash", LogSink::Flash),
    ("espnow", LogSink::Espnow),
    ("custom", LogSink::Custom),
];

const FLASH: [(&str, FlashLog); 3] =
    [("size", FlashLog::Size), ("data", FlashLog::Data), ("espnow", FlashLog::Espnow)];

/// Returns the value that a word names, in either case.
fn one_of<T: Copy>(text: &[u8], names: &[(&str, T)]) -> Option<T> {
    names.iter().find(|(name, _)| name.as_bytes().eq_ignore_ascii_case(text)).map(|&(_, it)| it)
}

fn espnow_config<'a>(args: &ParsedArgs<'a>) -> EspnowConfigArgs<'a> {
    let mut rate = [0; 4];
    let mut times = 0;
    for (place, n) in rate.iter_mut().zip(args.ints("rate")) {
        *place = n;
        times += 1;
    }
    EspnowConfigArgs {
        channel: args.int("channel"),
        country: args.text("country_code"),
        rate: (rate, times),
        protocol: args.int("protocol"),
        tx_power: args.int("tx_power"),
        info: args.has("info"),
    }
}

fn iperf(args: &ParsedArgs<'_>) -> IperfArgs {
    IperfArgs {
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

fn control(args: &ParsedArgs<'_>) -> ControlArgs {
    let attribute = |name| args.int(name).map(|n| n as u32);
    ControlArgs {
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
