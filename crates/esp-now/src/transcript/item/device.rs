//! Lines about the device itself: versions, memory, Wi-Fi, restarts (reference, sections 7.2, 7.3
//! and 7.5 to 7.7; start of the ROM and of the component).

use super::super::line::ConsoleLine;
use super::super::scan::LineCursor;
use espbench_ieee80211::mac::Mac;

/// A line about the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceLine<'a> {
    /// `rst:0x%x (NAME),boot:…`: the ROM has started.
    Reset {
        /// Reason as a number of the chip.
        code: u32,
        /// Name of the reason.
        name: &'a str,
    },
    /// `Guru Meditation Error: …` or `abort() was called at …`: the program has crashed.
    Panic(&'a str),
    /// `Restarting`, or `Rebooting...` after a crash.
    Restarting,
    /// `num: %d, reason: %d, crash: %d`: five seconds after each start, and for `restart -i`.
    Restart {
        /// Number of starts so far.
        num: i64,
        /// Reason, `esp_reset_reason_t`.
        reason: i64,
        /// Number of crashes so far.
        crash: i64,
    },
    /// `The next reboot will fall back to the previous version`
    Rollback,
    /// `esp-now Version: %d.%d.%d`: the component starts.
    Component(u16, u16, u16),
    /// `mac: <MAC>, version: %d`: own address and version of ESP-NOW in ESP-IDF.
    Own(Mac, i64),
    /// `Enable main task`
    MainTaskEnabled,
    /// `main task entry`
    MainTaskEntry,
    /// Answer to `scan`.
    Beacon(ScanAnswer<'a>),
    /// `Set Channel, channel: %d`
    SetChannel(i64),
    /// `rx: %d, tx_power: %d, country: %s, channel: %d, mode: %d`: `wifi_config -i`.
    Wifi {
        /// Signal strength of the last remote command, dBm.
        rx: i64,
        /// Maximum transmit power, in quarters of a dBm.
        tx_power: i64,
        /// Country code.
        country: &'a str,
        /// Channel.
        channel: i64,
        /// Wi-Fi mode, `wifi_mode_t`.
        mode: i64,
    },
    /// `Get number of APs found, number: %d`
    AccessPoints(u32),
    /// `Router, ssid: %s, bssid: <MAC>, channel: %u, rssi: %d`
    AccessPoint {
        /// Name of the network.
        ssid: &'a str,
        /// BSSID of the access point.
        bssid: Mac,
        /// Channel.
        channel: u8,
        /// Signal strength, dBm.
        rssi: i16,
    },
    /// `AP mode, %s %s`
    ApMode(&'a str),
    /// `IDF Version:%s`
    Idf(&'a str),
    /// `chip_name: %s, chip_cores: %d, chip_revision: %d, …`
    Chip {
        /// Name of the chip.
        name: &'a str,
        /// Number of cores.
        cores: i64,
        /// Revision of the chip.
        revision: i64,
        /// Flash and features, as printed.
        rest: &'a str,
    },
    /// `Free heap, current: %u, minimum: %u`
    Heap {
        /// Bytes that are free.
        current: u32,
        /// Least number of free bytes so far.
        minimum: u32,
    },
    /// `time_zone: %s, strftime: %s, sec: %lld`
    Time {
        /// Time zone.
        zone: &'a str,
        /// Formatted date and time.
        formatted: &'a str,
        /// Seconds since 1970.
        seconds: i64,
    },
    /// `log level, uart: %s, espnow: %s, flash: %s, custom: %s`
    LogLevels {
        /// Level for the UART.
        uart: &'a str,
        /// Level for the remote log.
        espnow: &'a str,
        /// Level for the stored log.
        flash: &'a str,
        /// Level for the application's sink.
        custom: &'a str,
    },
    /// `The flash partition that stores the log size: %d`
    LogSize(i64),
    /// `Channel, primary: %d, second: %d`: `espnow_config`.
    Channels(i64, i64),
    /// `Maximum transmitting power: %d`, in quarters of a dBm
    TxPower(i64),
    /// `Wi-Fi protocol bitmap: 0x%02x`
    Protocols(u32),
    /// `Wi-Fi country code: %s`
    Country(&'a str),
    /// `Set rate config: phymode %d, rate %d, ersu %d, dcm %d`
    Rate {
        /// PHY mode, `wifi_phy_mode_t`.
        phymode: i64,
        /// PHY rate, `wifi_phy_rate_t`.
        rate: i64,
        /// Extended range (ER SU).
        ersu: i64,
        /// Dual carrier modulation.
        dcm: i64,
    },
    /// E `Loss rate config value`
    NoRate,
}

/// Answer to `scan`, from `beacon_func`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanAnswer<'a> {
    /// Name of the project.
    pub project: &'a str,
    /// Version of the application.
    pub version: &'a str,
    /// Version of ESP-IDF.
    pub idf: &'a str,
    /// Free heap, in bytes.
    pub free_heap: u32,
    /// Size of the heap, in bytes.
    pub total_heap: u32,
    /// Signal strength of the question, in dBm.
    pub rssi: i16,
    /// Date and time of the build.
    pub built: &'a str,
}

pub(super) fn read<'a>(line: &ConsoleLine<'a>) -> Option<DeviceLine<'a>> {
    boot(line)
        .or_else(|| start(line))
        .or_else(|| beacon(line.text).map(DeviceLine::Beacon))
        .or_else(|| {
            system(line.text).or_else(|| wifi(line.text)).or_else(|| espnow_config(line.text))
        })
}

/// Parses a line of the ROM or of the panic handler, which does not come through the log.
fn boot<'a>(line: &ConsoleLine<'a>) -> Option<DeviceLine<'a>> {
    if line.log.is_some() {
        return None;
    }
    let mut s = LineCursor::new(line.text);
    if s.maybe("rst:") {
        let code = s.hex()?;
        s.lit(" (")?;
        let name = s.until(")")?;
        return Some(DeviceLine::Reset { code, name });
    }
    if s.maybe("Rebooting...") {
        s.end()?;
        return Some(DeviceLine::Restarting);
    }
    let crash = line.text.starts_with("Guru Meditation Error:")
        || line.text.starts_with("abort() was called at ");
    crash.then_some(DeviceLine::Panic(line.text))
}

/// Parses a text that is too short to be recognized without its tag.
fn start<'a>(line: &ConsoleLine<'a>) -> Option<DeviceLine<'a>> {
    let mut s = LineCursor::new(line.text);
    let found = match line.tag() {
        "restart_func" if s.maybe("Restarting") => DeviceLine::Restarting,
        "restart_func" if s.maybe("num: ") => {
            let num = s.int()?;
            s.lit(", reason: ")?;
            let reason = s.int()?;
            s.lit(", crash: ")?;
            DeviceLine::Restart { num, reason, crash: s.int()? }
        }
        "espnow" if s.maybe("esp-now Version: ") => {
            let major = s.int()?;
            s.lit(".")?;
            let minor = s.int()?;
            s.lit(".")?;
            DeviceLine::Component(major, minor, s.int()?)
        }
        "espnow" if s.maybe("mac: ") => {
            let mac = s.mac()?;
            s.lit(", version: ")?;
            DeviceLine::Own(mac, s.int()?)
        }
        "espnow" if s.maybe("Enable main task") => DeviceLine::MainTaskEnabled,
        "espnow" if s.maybe("main task entry") => DeviceLine::MainTaskEntry,
        _ => return None,
    };
    s.end()?;
    Some(found)
}

fn beacon(text: &str) -> Option<ScanAnswer<'_>> {
    let mut s = LineCursor::new(text);
    s.lit("project_name:")?;
    let project = s.until(", app_version:")?.trim_start();
    let version = s.until(", esp-idf_version:")?.trim_start();
    let idf = s.until(", free_heap: ")?.trim_start();
    let free_heap = s.int()?;
    s.lit(", total_heap: ")?;
    let total_heap = s.int()?;
    s.lit(", rx_rssi: ")?;
    let rssi = s.int()?;
    s.lit(", compile_time:")?;
    let built = s.rest().trim_start();
    Some(ScanAnswer { project, version, idf, free_heap, total_heap, rssi, built })
}

fn system(text: &str) -> Option<DeviceLine<'_>> {
    let mut s = LineCursor::new(text);
    let found = if s.maybe("IDF Version:") {
        DeviceLine::Idf(s.rest().trim_start())
    } else if s.maybe("chip_name:") {
        let name = s.until(", chip_cores: ")?.trim_start();
        let cores = s.int()?;
        s.lit(", chip_revision: ")?;
        let revision = s.int()?;
        s.lit(", ")?;
        DeviceLine::Chip { name, cores, revision, rest: s.rest() }
    } else if s.maybe("Free heap, current: ") {
        let current = s.int()?;
        s.lit(", minimum: ")?;
        DeviceLine::Heap { current, minimum: s.int()? }
    } else if s.maybe("time_zone:") {
        let zone = s.until(", strftime:")?.trim_start();
        let formatted = s.until_last(", sec: ")?.trim_start();
        DeviceLine::Time { zone, formatted, seconds: s.int()? }
    } else if s.maybe("log level, uart: ") {
        let uart = s.until(", espnow: ")?;
        let espnow = s.until(", flash: ")?;
        let flash = s.until(", custom: ")?;
        DeviceLine::LogLevels { uart, espnow, flash, custom: s.rest() }
    } else if s.maybe("The flash partition that stores the log size: ") {
        DeviceLine::LogSize(s.int()?)
    } else {
        s.lit("The next reboot will fall back to the previous version")?;
        DeviceLine::Rollback
    };
    s.end()?;
    Some(found)
}

fn wifi(text: &str) -> Option<DeviceLine<'_>> {
    let mut s = LineCursor::new(text);
    let found = if s.maybe("Set Channel, channel: ") {
        DeviceLine::SetChannel(s.int()?)
    } else if s.maybe("rx: ") {
        let rx = s.int()?;
        s.lit(", tx_power: ")?;
        let tx_power = s.int()?;
        s.lit(", country:")?;
        let country = s.until(", channel: ")?.trim_start();
        let channel = s.int()?;
        s.lit(", mode: ")?;
        DeviceLine::Wifi { rx, tx_power, country, channel, mode: s.int()? }
    } else if s.maybe("Get number of APs found, number: ") {
        DeviceLine::AccessPoints(s.int()?)
    } else if s.maybe("Router, ssid:") {
        let ssid = s.until_last(", bssid: ")?.trim_start();
        let bssid = s.mac()?;
        s.lit(", channel: ")?;
        let channel = s.int()?;
        s.lit(", rssi: ")?;
        DeviceLine::AccessPoint { ssid, bssid, channel, rssi: s.int()? }
    } else {
        s.lit("AP mode, ")?;
        DeviceLine::ApMode(s.rest())
    };
    s.end()?;
    Some(found)
}

fn espnow_config(text: &str) -> Option<DeviceLine<'_>> {
    let mut s = LineCursor::new(text);
    let found = if s.maybe("Channel, primary: ") {
        let primary = s.int()?;
        s.lit(", second: ")?;
        DeviceLine::Channels(primary, s.int()?)
    } else if s.maybe("Maximum transmitting power: ") {
        DeviceLine::TxPower(s.int()?)
    } else if s.maybe("Wi-Fi protocol bitmap: ") {
        DeviceLine::Protocols(s.hex()?)
    } else if s.maybe("Wi-Fi country code:") {
        DeviceLine::Country(s.rest().trim_start())
    } else if s.maybe("Set rate config: phymode ") {
        let phymode = s.int()?;
        s.lit(", rate ")?;
        let rate = s.int()?;
        s.lit(", ersu ")?;
        let ersu = s.int()?;
        s.lit(", dcm ")?;
        DeviceLine::Rate { phymode, rate, ersu, dcm: s.int()? }
    } else {
        s.lit("Loss rate config value")?;
        DeviceLine::NoRate
    };
    s.end()?;
    Some(found)
}
