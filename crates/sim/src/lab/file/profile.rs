//! Profiles: the constants of a chip with its firmware.

use super::block::{Keys, Source as Text};
use super::constant::{Constant, FITTED, Group, SOURCE, Values};
use super::key::{Is, Key, key};
use super::wrong::Wrong;
use crate::lab::profile::{Cost, Profile};
use crate::radio::Chip;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;

/// Names of chips, as `CONFIG_IDF_TARGET` and the published cells have them.
const CHIPS: [&str; Chip::ALL.len()] = ["esp32", "esp32s3", "esp32c3", "esp32c6", "esp8266"];
/// The target's name of a chip.
pub(super) fn target(chip: Chip) -> &'static str {
    Chip::ALL.iter().position(|&it| it == chip).map_or("esp32", |at| CHIPS[at])
}

/// A second at the most, in microseconds.
const LONGEST_US: f64 = 10_000_000.0;

/// The keys of a cost that grows with a length.
pub(super) const COST: [Key; 3] = [
    key("fixed_us", Is::Number(0.0, LONGEST_US), "", "microseconds, whatever the length"),
    key("per_byte_ns", Is::Number(0.0, 1_000_000.0), "0", "nanoseconds for each byte"),
    key("block_bytes", Is::Whole(1, 65_536), "1", "lengths count in whole blocks of so many bytes"),
];

macro_rules! cost {
    ($field:ident, $about:literal) => {
        Group {
            table: stringify!($field),
            about: $about,
            keys: &[COST[0], COST[1], COST[2], SOURCE, FITTED],
            constants: &[
                Constant {
                    key: COST[0],
                    get: |it: &Profile| Some(it.$field.fixed_ns as f64 / 1e3),
                    set: |it: &mut Profile, number| it.$field.fixed_ns = rounded(number * 1e3),
                },
                Constant {
                    key: COST[1],
                    get: |it: &Profile| {
                        Some(it.$field.per_byte_ps as f64 / 1e3).filter(|&it| it > 0.0)
                    },
                    set: |it: &mut Profile, number| it.$field.per_byte_ps = rounded(number * 1e3),
                },
                Constant {
                    key: COST[2],
                    get: |it: &Profile| Some(f64::from(it.$field.block)).filter(|&it| it > 1.0),
                    set: |it: &mut Profile, number| it.$field.block = number as u32,
                },
            ],
        }
    };
}

macro_rules! group {
    ($table:literal, $about:literal, $(($key:expr, $get:expr, $set:expr)),+ $(,)?) => {
        Group {
            table: $table,
            about: $about,
            keys: &[$($key,)+ SOURCE, FITTED],
            constants: &[$(Constant { key: $key, get: $get, set: $set }),+],
        }
    };
}

fn rounded(number: f64) -> u64 {
    // Casts from floats saturate.
    libm::rint(number) as u64
}

fn ms(number: f64) -> Duration {
    Duration::from_nanos(rounded(number * 1e6))
}

fn as_ms(time: Duration) -> Option<f64> {
    Some(time.as_nanos() as f64 / 1e6)
}

/// All constants of a profile, in the order of the documentation.
pub(super) static GROUPS: &[Group<Profile>] = &[
    cost!(receive, "the receive callback, in the Wi-Fi task, for each frame"),
    cost!(dispatch, "handing a received frame to a service, in the component's main task"),
    cost!(transmit, "handing a frame to the driver, in the sender's task"),
    cost!(send_latency, "from the driver's taking a frame to its contending for the medium"),
    cost!(sent_latency, "from the end of a transmission to the send callback"),
    cost!(seal, "encrypting (AES-CCM)"),
    cost!(open, "decrypting (AES-CCM)"),
    group!(
        "cache",
        "the cache through which code in flash runs",
        (
            key(
                "cold_us",
                Is::Number(0.0, 10_000.0),
                "0",
                "what work takes longer whose code is fetched from flash: a cipher between other work, a frame after a pause of 0.1 s; in microseconds"
            ),
            |it| Some(it.cold_ns as f64 / 1e3).filter(|&it| it > 0.0),
            |it, number| it.cold_ns = rounded(number * 1e3)
        ),
    ),
    cost!(key_pair, "X25519 with the base point"),
    cost!(shared_secret, "X25519 with another's point"),
    cost!(hash, "SHA-256"),
    cost!(erase, "erasing flash"),
    cost!(write, "writing flash"),
    cost!(read, "reading flash"),
    group!(
        "uart",
        "the console: each byte is ten bits, and printing blocks when the FIFO is full",
        (
            key("baud", Is::Whole(300, 5_000_000), "", "bits a second"),
            |it| Some(f64::from(it.uart_baud)),
            |it, number| it.uart_baud = number as u32
        ),
        (
            key("fifo_bytes", Is::Whole(0, 4096), "", "bytes that wait for the line"),
            |it| Some(f64::from(it.uart_fifo)),
            |it, number| it.uart_fifo = number as u16
        ),
    ),
    group!(
        "freertos",
        "the operating system",
        (
            key("tick_hz", Is::Whole(1, 1000), "", "`CONFIG_FREERTOS_HZ`"),
            |it| Some(f64::from(it.tick_hz)),
            |it, number| it.tick_hz = number as u32
        ),
    ),
    group!(
        "buffers",
        "buffers of the Wi-Fi driver",
        (
            key(
                "tx",
                Is::Whole(1, 255),
                "",
                "frames that wait to be sent, with the one on the air"
            ),
            |it| Some(f64::from(it.tx_buffers)),
            |it, number| it.tx_buffers = number as u16
        ),
        (
            key("rx", Is::Whole(1, 255), "", "frames that wait for the receive callback"),
            |it| Some(f64::from(it.rx_buffers)),
            |it, number| it.rx_buffers = number as u16
        ),
    ),
    group!(
        "radio",
        "transmitter and tuner",
        (
            key(
                "tx_power_dbm",
                Is::Number(-20.0, 30.0),
                "",
                "transmit power, where the chip can in the mode"
            ),
            |it| Some(it.tx_power_dbm),
            |it, number| it.tx_power_dbm = number
        ),
        (
            key(
                "hop_us",
                Is::Number(0.0, 1_000_000.0),
                "",
                "how long tuning to another channel takes, in microseconds"
            ),
            |it| Some(it.hop.as_nanos() as f64 / 1e3),
            |it, number| it.hop = Duration::from_nanos(rounded(number * 1e3))
        ),
    ),
    group!(
        "mac",
        "access to the medium",
        (
            key("attempts", Is::Whole(1, 32), "", "how often a unicast frame is sent, in all"),
            |it| Some(f64::from(it.attempts)),
            |it, number| it.attempts = number as u8
        ),
        (
            key("cw_min", Is::Whole(1, 1023), "", "the first contention window, in slots"),
            |it| Some(f64::from(it.window.0)),
            |it, number| it.window.0 = number as u16
        ),
        (
            key("cw_max", Is::Whole(1, 1023), "", "the largest contention window, in slots"),
            |it| Some(f64::from(it.window.1)),
            |it, number| it.window.1 = number as u16
        ),
    ),
    group!(
        "boot",
        "starting",
        (
            key(
                "ms",
                Is::Number(0.0, 60_000.0),
                "",
                "from a reset until the application runs, in milliseconds"
            ),
            |it| as_ms(it.boot),
            |it, number| it.boot = ms(number)
        ),
    ),
    group!(
        "join",
        "joining a network",
        (
            key(
                "ms",
                Is::Number(0.0, 60_000.0),
                "",
                "from a beacon's being heard until there is an address: authentication, association, four-way handshake, DHCP; in milliseconds"
            ),
            |it| as_ms(it.join),
            |it, number| it.join = ms(number)
        ),
        (
            key(
                "scan_dwell_ms",
                Is::Number(1.0, 10_000.0),
                "",
                "how long a scan listens on each channel, in milliseconds"
            ),
            |it| as_ms(it.scan_dwell),
            |it, number| it.scan_dwell = ms(number)
        ),
    ),
];

/// The keys beside the constants.
pub(super) const OWN: [Key; 4] = [
    key("title", Is::Text, "", "one line for people"),
    key(
        "chip",
        Is::Word(&CHIPS),
        "that of `like`",
        "the radio: sensitivities and powers come from its datasheet (`sim::radio::chip`)",
    ),
    key("chip_name", Is::Text, "the chip's", "identity column `chip` of results"),
    key("like", Is::Text, "none", "a profile whose constants hold where this one says nothing"),
];

macro_rules! table {
    ($($name:literal),+ $(,)?) => {
        [$(key($name, Is::Table, "", "constants, see below")),+]
    };
}

const TABLES: [Key; 21] = table![
    "receive",
    "dispatch",
    "transmit",
    "send_latency",
    "sent_latency",
    "seal",
    "open",
    "cache",
    "key_pair",
    "shared_secret",
    "hash",
    "erase",
    "write",
    "read",
    "uart",
    "freertos",
    "buffers",
    "radio",
    "mac",
    "boot",
    "join",
];

/// All keys of a profile.
pub(super) static KEYS: [Key; OWN.len() + TABLES.len()] = {
    let mut keys = [OWN[0]; OWN.len() + TABLES.len()];
    let mut at = 0;
    while at < keys.len() {
        keys[at] = if at < OWN.len() { OWN[at] } else { TABLES[at - OWN.len()] };
        at += 1;
    }
    keys
};

/// A profile's file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct File {
    pub(super) title: String,
    pub(super) chip: Option<Chip>,
    pub(super) chip_name: Option<String>,
    /// The profile it leans on.
    pub(super) like: Option<String>,
    pub(super) values: Values,
}

/// Reads a profile.
pub(super) fn read(text: Text<'_>) -> Result<File, Wrong> {
    let keys: Keys = &KEYS;
    let block = text.block(keys)?;
    let title = block.text("title")?;
    let file = File {
        title: block.must("title", title)?,
        chip: block.word("chip")?.map(|at| Chip::ALL[at]),
        chip_name: block.text("chip_name")?,
        like: block.text("like")?,
        values: Values::read(&block, GROUPS)?,
    };
    if file.like.is_none() {
        block.must("chip", file.chip)?;
        if let Some(key) = file.values.missing(GROUPS) {
            let message = "is missing: give it, or name a profile with `like` that has it";
            return Err(block.wrong(alloc::format!("`{key}` {message}")));
        }
    }
    Ok(file)
}

impl File {
    /// What `base` says where this one says nothing.
    pub(super) fn over(&self, base: &Self) -> Self {
        let mut values = base.values.clone();
        values.overlay(&self.values);
        Self {
            title: self.title.clone(),
            chip: self.chip.or(base.chip),
            chip_name: self.chip_name.clone().or_else(|| {
                // Another chip has another name.
                self.chip.is_none().then(|| base.chip_name.clone()).flatten()
            }),
            like: base.like.clone(),
            values,
        }
    }

    /// The profile; complete, or on a base that is.
    pub(super) fn profile(&self, name: &str) -> Profile {
        let chip = self.chip.unwrap_or(Chip::Esp32);
        let mut profile = blank(name, chip);
        profile.chip_name = self.chip_name.clone().unwrap_or_else(|| target(chip).to_string());
        self.values.apply(&mut profile, GROUPS);
        profile.sources.clone_from(&self.values.sources);
        profile
    }
}

/// One that costs nothing.
fn blank(name: &str, chip: Chip) -> Profile {
    let free = Cost::default();
    Profile {
        name: name.to_string(),
        chip_name: String::new(),
        chip,
        receive: free,
        dispatch: free,
        transmit: free,
        send_latency: free,
        sent_latency: free,
        seal: free,
        open: free,
        cold_ns: 0,
        key_pair: free,
        shared_secret: free,
        hash: free,
        erase: free,
        write: free,
        read: free,
        uart_baud: 115_200,
        uart_fifo: 128,
        tick_hz: 100,
        tx_buffers: 32,
        rx_buffers: 10,
        tx_power_dbm: 20.0,
        attempts: 7,
        window: (31, 1023),
        hop: Duration::ZERO,
        boot: Duration::ZERO,
        join: Duration::ZERO,
        scan_dwell: Duration::ZERO,
        sources: Vec::new(),
    }
}
