//! The commands that need no other part of the node, the lines of the start, and the boot marker.
//!
//! A command that this hardware cannot execute says so and fails with `ESP_ERR_NOT_SUPPORTED`.

use super::args::Printable;
use super::calendar::{Date, offset};
use super::command::{
    Command, EspnowConfigArgs, FlashLog, GpioArgs, LogArgs, LogSink, TimeArgs, WifiConfigArgs,
};
use super::error::EspError;
use super::parse::LEVELS;
use super::{help, table};
use crate::component::header::VERSION;
use crate::component::{ComponentRelease, Idf};
use crate::node::air::Country;
use crate::node::board::NvsKey;
use crate::node::print::LogLevel;
use crate::node::task::{Cx, EspNowEvent, TaskStep};
use espbench_ieee80211::mac::Mac;
use espbench_model::time::{Duration, Instant};

/// Default protocols of a station: `WIFI_PROTOCOL_11B | 11G | 11N`.
const PROTOCOLS: u8 = 0x07;
/// Delay of the boot marker after the start, in ms
/// (`CONFIG_ESPNOW_REBOOT_UNBROKEN_INTERVAL_TIMEOUT`).
const MARKER_MS: u32 = 5000;
/// Length of a stored SSID and of a stored password, in bytes.
const SSID: usize = 32;
const PASSWORD: usize = 64;

/// Builds the value of [`NvsKey::Wifi`]: the SSID in 32 bytes, then the password in 64, both padded
/// with zeros. `None` if one is too long.
#[must_use]
pub fn credentials(ssid: &[u8], password: &[u8]) -> Option<[u8; SSID + PASSWORD]> {
    let mut value = [0; SSID + PASSWORD];
    let (first, second) = value.split_at_mut(SSID);
    first.get_mut(..ssid.len())?.copy_from_slice(ssid);
    second.get_mut(..password.len())?.copy_from_slice(password);
    Some(value)
}

/// State of the commands that need no other part.
#[derive(Clone, Debug)]
pub struct Local {
    protocols: u8,
    /// Seconds by which the wall clock is ahead of the time since the start.
    clock: i64,
    /// Entry of the table that `help` prints next.
    help: Option<usize>,
    stage: StartStage,
}

/// Progress of the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StartStage {
    Start,
    Marker(Instant),
    Running,
}

impl Default for Local {
    fn default() -> Self {
        Self::new()
    }
}

impl Local {
    /// Creates the state of a device that has just started: the first [`run`](Self::run) prints the
    /// component's lines.
    #[must_use]
    pub const fn new() -> Self {
        Self { protocols: PROTOCOLS, clock: 0, help: None, stage: StartStage::Start }
    }

    /// Returns whether `help` is still printing; the command ends when it has printed all.
    #[must_use]
    pub const fn busy(&self) -> bool {
        self.help.is_some()
    }

    /// Prints the lines of the start, the boot marker when its time has come, and one entry of
    /// `help`.
    pub fn run(&mut self, cx: &mut Cx<'_>) -> TaskStep {
        match self.stage {
            StartStage::Start => {
                start(cx);
                // The component passes ticks to a timer of microseconds: at 100 Hz the marker comes
                // after 0.5 s (section 7.3).
                let wait = cx.shared.settings.tick.ticks(MARKER_MS);
                self.stage = StartStage::Marker(cx.now + Duration::from_millis(u64::from(wait)));
            }
            StartStage::Marker(at) if cx.now >= at => {
                started(cx);
                self.stage = StartStage::Running;
            }
            _ => {}
        }
        if let Some(at) = self.help {
            if let Some(spec) = table::TABLE.get(at) {
                help::print(cx, spec);
            }
            self.help = Some(at + 1).filter(|&next| next < table::TABLE.len());
        }
        match (self.help, self.stage) {
            (Some(_), _) => TaskStep::Until(cx.now),
            (None, StartStage::Marker(at)) => TaskStep::Until(at),
            _ => TaskStep::Idle,
        }
    }

    /// Executes a command; `None` if it belongs to another part. `help` goes on after this call,
    /// until the machine is no longer [`busy`](Self::busy).
    pub fn execute(
        &mut self,
        cx: &mut Cx<'_>,
        command: &Command<'_>,
    ) -> Option<Result<(), EspError>> {
        Some(match command {
            Command::Help(only) => self.help(cx, *only),
            Command::Version => version(cx),
            Command::Heap => heap(cx),
            Command::Restart { info } => restart(cx, *info),
            Command::Reset => reset(cx),
            Command::Time(time) => self.time(cx, time),
            Command::Gpio(it) => gpio(cx, it),
            Command::WifiConfig(it) => self.wifi_config(cx, it),
            Command::EspnowConfig(it) => self.espnow_config(cx, it),
            Command::Log(it) => log(cx, it),
            Command::Coredump => not_supported(cx, "coredump"),
            Command::Tasks => not_supported(cx, "tasks"),
            Command::DeepSleep => not_supported(cx, "deep_sleep"),
            Command::LightSleep => not_supported(cx, "light_sleep"),
            Command::Uart => not_supported(cx, "uart"),
            Command::WifiScan => not_supported(cx, "wifi_scan"),
            Command::Ping => not_supported(cx, "ping"),
            Command::Ap => not_supported(cx, "ap"),
            _ => return None,
        })
    }

    fn help(&mut self, cx: &mut Cx<'_>, only: Option<&[u8]>) -> Result<(), EspError> {
        let Some(name) = only else {
            self.help = Some(0);
            return Ok(());
        };
        let spec = table::find(name);
        match spec {
            Some(spec) => help::print(cx, spec),
            None => cx.text(format_args!("help: Unrecognized option '{}'\n", Printable(name))),
        }
        spec.map(drop).ok_or(EspError::NotFound)
    }

    fn time(&mut self, cx: &mut Cx<'_>, time: &TimeArgs<'_>) -> Result<(), EspError> {
        let up = (cx.now.as_nanos() / 1_000_000_000) as i64;
        if let Some(seconds) = time.set {
            self.clock = seconds.saturating_sub(up);
        }
        if time.get {
            let now = up.saturating_add(self.clock);
            let local = Date(now.saturating_add(offset(time.zone)));
            cx.log(
                LogLevel::Info,
                "system_cmd",
                format_args!("time_zone: {}, strftime: {local}, sec: {now}", Printable(time.zone)),
            );
        }
        Ok(())
    }

    fn wifi_config(&mut self, cx: &mut Cx<'_>, it: &WifiConfigArgs<'_>) -> Result<(), EspError> {
        if it.bssid.is_some_and(|text| Mac::parse(text).is_none()) {
            cx.log(LogLevel::Warn, "wifi_cmd", format_args!("bssid is no address"));
            return Err(EspError::InvalidArg);
        }
        if it.disconnect {
            cx.event(EspNowEvent::Disconnect);
        }
        if let Some(ssid) = it.ssid.filter(|ssid| !ssid.is_empty()) {
            connect(cx, ssid, it.password.unwrap_or_default())?;
        }
        set_country(cx, it.country)?;
        if let Some(channel) = it.channel {
            let channel = set_channel(cx, channel)?;
            cx.log(
                LogLevel::Info,
                "wifi_config_func",
                format_args!("Set Channel, channel: {channel}"),
            );
        }
        if let Some(power) = it.tx_power {
            // The component ignores the result.
            let _ = set_power(cx, power);
        }
        if it.info {
            let air = &cx.shared.air;
            let (rssi, power, channel) = (air.command_rssi, air.tx_power, air.channel);
            let country = air.wifi_country.code;
            // Mode 1 is station.
            cx.log(
                LogLevel::Info,
                "wifi_config_func",
                format_args!(
                    "rx: {rssi}, tx_power: {power}, country: {}, channel: {channel}, mode: 1",
                    Printable(&country)
                ),
            );
        }
        Ok(())
    }

    fn espnow_config(
        &mut self,
        cx: &mut Cx<'_>,
        it: &EspnowConfigArgs<'_>,
    ) -> Result<(), EspError> {
        const TAG: &str = "iperf_cmd";
        if it.info {
            let (channel, power) = (cx.shared.air.channel, cx.shared.air.tx_power);
            let country = cx.shared.air.wifi_country.code;
            let protocols = self.protocols;
            cx.log(LogLevel::Info, TAG, format_args!("Channel, primary: {channel}, second: 0"));
            cx.log(LogLevel::Info, TAG, format_args!("Maximum transmitting power: {power}"));
            cx.log(LogLevel::Info, TAG, format_args!("Wi-Fi protocol bitmap: 0x{protocols:02x}"));
            cx.log(
                LogLevel::Info,
                TAG,
                format_args!("Wi-Fi country code: {}", Printable(&country)),
            );
            return Ok(());
        }
        // Where a value is refused below, the device stops with an abort.
        set_country(cx, it.country)?;
        if let Some(channel) = it.channel {
            set_channel(cx, channel)?;
        }
        if it.rate.1 > 0 {
            return rate(cx, it.rate);
        }
        if let Some(power) = it.tx_power {
            set_power(cx, power)?;
        }
        if let Some(protocols) = it.protocol {
            self.protocols = u8::try_from(protocols).map_err(|_| EspError::InvalidArg)?;
        }
        Ok(())
    }
}

/// Sets the country of Wi-Fi. The component's own channels, which are read at the start, do not
/// follow (section 2.9).
fn set_country(cx: &mut Cx<'_>, code: Option<&[u8]>) -> Result<(), EspError> {
    let Some(code) = code else { return Ok(()) };
    let known = [Country::US, Country::JP, Country::CN];
    let country = known.into_iter().find(|it| it.code.eq_ignore_ascii_case(code));
    cx.shared.air.wifi_country = country.ok_or(EspError::InvalidArg)?;
    Ok(())
}

/// Prints the component's lines at the start.
fn start(cx: &mut Cx<'_>) {
    const TAG: &str = "espnow";
    let compat = cx.shared.settings.compat;
    let (major, minor, patch) = match compat.release {
        ComponentRelease::Mid2022 | ComponentRelease::V1_0 => (1, 0, 0),
        ComponentRelease::V2_0 => (2, 0, 0),
        ComponentRelease::V2_3 => (2, 3, 0),
        ComponentRelease::V2_4 => (2, 4, 0),
        ComponentRelease::V2_5_2 => (2, 5, 2),
        ComponentRelease::V2_5_3 | ComponentRelease::Head => (2, 5, 3),
    };
    let mac = cx.shared.air.mac;
    cx.log(LogLevel::Info, TAG, format_args!("esp-now Version: {major}.{minor}.{patch}"));
    cx.log(LogLevel::Info, TAG, format_args!("mac: {mac}, version: {VERSION}"));
    cx.log(LogLevel::Info, TAG, format_args!("Enable main task"));
    cx.log(LogLevel::Info, TAG, format_args!("main task entry"));
}

/// Prints the line of the boot marker and of `restart -i`.
fn started(cx: &mut Cx<'_>) {
    let boot = cx.board.started();
    cx.log(
        LogLevel::Info,
        "restart_func",
        format_args!(
            "num: {}, reason: {}, crash: {}",
            boot.count,
            boot.reason,
            u8::from(boot.crash)
        ),
    );
}

fn not_supported(cx: &mut Cx<'_>, name: &str) -> Result<(), EspError> {
    cx.log(LogLevel::Error, "espnow_console", format_args!("{name}: this device cannot do it"));
    Err(EspError::NotSupported)
}

fn restart(cx: &mut Cx<'_>, info: bool) -> Result<(), EspError> {
    if info {
        started(cx);
    } else {
        cx.log(LogLevel::Info, "restart_func", format_args!("Restarting"));
        cx.event(EspNowEvent::Restart);
    }
    Ok(())
}

fn reset(cx: &mut Cx<'_>) -> Result<(), EspError> {
    const TAG: &str = "reset_func";
    cx.log(LogLevel::Info, TAG, format_args!("Erase part of the nvs partition"));
    cx.board.forget_all();
    cx.log(LogLevel::Info, TAG, format_args!("Restarting"));
    cx.event(EspNowEvent::Restart);
    Ok(())
}

fn version(cx: &mut Cx<'_>) -> Result<(), EspError> {
    const TAG: &str = "version_func";
    let (idf, target) = (cx.shared.settings.build.idf, cx.shared.settings.target);
    cx.log(LogLevel::Info, TAG, format_args!("IDF Version:{idf}\r\n"));
    cx.log(
        LogLevel::Info,
        TAG,
        format_args!(
            "chip_name: {target}, chip_cores: 1, chip_revision: 0, flash_manufacturer: none, \
             flash_id: 0x0, flash_size: 0MB, feature:/802.11bgn"
        ),
    );
    Ok(())
}

fn heap(cx: &mut Cx<'_>) -> Result<(), EspError> {
    let heap = cx.board.heap();
    cx.log(
        LogLevel::Info,
        "esp_mem",
        format_args!("Free heap, current: {}, minimum: {}", heap.free, heap.minimum),
    );
    Ok(())
}

fn gpio(cx: &mut Cx<'_>, it: &GpioArgs) -> Result<(), EspError> {
    const TAG: &str = "peripherals_cmd";
    let pin = |number: u32| u8::try_from(number).map_err(|_| EspError::InvalidArg);
    if let Some(number) = it.config {
        // A pin that is set is an output.
        pin(number)?;
    }
    if let (Some(number), Some(level)) = (it.set, it.level) {
        cx.board.pin(pin(number)?, level != 0);
        cx.log(LogLevel::Info, TAG, format_args!("Set gpio num: {number}, level: {level}"));
    }
    if it.get.is_some() {
        return not_supported(cx, "gpio -g");
    }
    Ok(())
}

fn connect(cx: &mut Cx<'_>, ssid: &[u8], password: &[u8]) -> Result<(), EspError> {
    let value = credentials(ssid, password).ok_or(EspError::InvalidArg)?;
    if !cx.board.save(NvsKey::Wifi, &value) {
        cx.log(LogLevel::Warn, "wifi_cmd", format_args!("credentials cannot be stored"));
        return Err(EspError::Fail);
    }
    cx.event(EspNowEvent::Connect);
    Ok(())
}

fn set_channel(cx: &mut Cx<'_>, channel: i32) -> Result<u8, EspError> {
    let channel = u8::try_from(channel).ok().filter(|it| (1..=14).contains(it));
    let channel = channel.ok_or(EspError::InvalidArg)?;
    if cx.shared.air.locked && cx.shared.air.channel != channel {
        return Err(EspError::Fail);
    }
    cx.shared.air.channel = channel;
    Ok(channel)
}

fn set_power(cx: &mut Cx<'_>, power: i32) -> Result<(), EspError> {
    let power = i8::try_from(power).ok().filter(|it| (8..=84).contains(it));
    cx.shared.air.tx_power = power.ok_or(EspError::InvalidArg)?;
    Ok(())
}

fn rate(cx: &mut Cx<'_>, (rate, times): ([i32; 4], u8)) -> Result<(), EspError> {
    const TAG: &str = "iperf_cmd";
    // From 5.1 on, the command takes four values (section 7.5).
    if cx.shared.settings.compat.idf >= Idf::V5_1 {
        if times != 4 {
            cx.log(LogLevel::Error, TAG, format_args!("Loss rate config value"));
            return Err(EspError::Fail);
        }
        let [mode, rate, ersu, dcm] = rate;
        cx.log(
            LogLevel::Info,
            TAG,
            format_args!("Set rate config: phymode {mode}, rate {rate}, ersu {ersu}, dcm {dcm}"),
        );
    }
    // The device applies the rate to itself as a peer, and it has no such peer.
    not_supported(cx, "espnow_config -r")
}

fn log(cx: &mut Cx<'_>, it: &LogArgs<'_>) -> Result<(), EspError> {
    const TAG: &str = "log_func";
    // A word that is no level or no sink changes nothing.
    if let Some(Some(level)) = it.level {
        let print = &mut cx.shared.print;
        match it.mode {
            None => {
                if !print.set_tag(it.tag, level) {
                    return Err(EspError::NoMem);
                }
            }
            Some(Some(LogSink::Uart)) => print.uart = level,
            Some(Some(LogSink::Espnow)) => print.remote = level,
            Some(Some(LogSink::Flash)) => print.flash = level,
            Some(Some(LogSink::Custom)) => print.custom = level,
            Some(None) => {}
        }
    }
    if it.info {
        let print = &cx.shared.print;
        let name = |level| LEVELS.iter().find(|it| it.1 == level).map_or("NONE", |it| it.0);
        let [uart, remote, flash, custom] =
            [print.uart, print.remote, print.flash, print.custom].map(name);
        cx.log(
            LogLevel::Info,
            TAG,
            format_args!(
                "log level, uart: {uart}, espnow: {remote}, flash: {flash}, custom: {custom}"
            ),
        );
    }
    match it.flash {
        Some(Some(FlashLog::Size)) => cx.log(
            LogLevel::Info,
            TAG,
            format_args!("The flash partition that stores the log size: 0"),
        ),
        Some(None) => cx.log(
            LogLevel::Error,
            TAG,
            format_args!("Parameter error, please input: 'size', 'data' or 'espnow'"),
        ),
        // There is no stored log: nothing to print or to send.
        _ => {}
    }
    Ok(())
}
