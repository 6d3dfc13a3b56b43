//! Profiles: the constants of a chip with its firmware.

use super::block::{Keys, Source as Text};
use super::constant::{Constant, FITTED, Group, SOURCE, Values, constant, group, rounded};
use super::key::{Is, Key, key};
use super::wrong::Wrong;
use super::{Kind, Need};
use crate::lab::profile::Profile;
use crate::radio::Chip;
use alloc::string::String;
use core::time::Duration;

/// The words of the key `chip`.
const CHIPS: [&str; Chip::ALL.len()] = {
    let mut names = [""; Chip::ALL.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = Chip::ALL[at].name();
        at += 1;
    }
    names
};

/// Ten seconds at the most, in microseconds.
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

/// All constants of a profile, in the order of the documentation.
pub(super) static GROUPS: &[Group<Profile>] = ALL;
const ALL: &[Group<Profile>] = &[
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
            spare 1e3 cold_ns
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
            whole u32 uart_baud
        ),
        (
            key("fifo_bytes", Is::Whole(0, 4096), "", "bytes that wait for the line"),
            whole u16 uart_fifo
        ),
    ),
    group!(
        "freertos",
        "the operating system",
        (
            key("tick_hz", Is::Whole(1, 1000), "", "`CONFIG_FREERTOS_HZ`"),
            whole u32 tick_hz
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
            whole u16 tx_buffers
        ),
        (
            key("rx", Is::Whole(1, 255), "", "frames that wait for the receive callback"),
            whole u16 rx_buffers
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
            float tx_power_dbm
        ),
        (
            key(
                "hop_us",
                Is::Number(0.0, 1_000_000.0),
                "",
                "how long tuning to another channel takes, in microseconds"
            ),
            time 1e3 hop
        ),
    ),
    group!(
        "mac",
        "access to the medium",
        (
            key("attempts", Is::Whole(1, 32), "", "how often a unicast frame is sent, in all"),
            whole u8 attempts
        ),
        (
            key("cw_min", Is::Whole(1, 1023), "", "the first contention window, in slots"),
            whole u16 window.0
        ),
        (
            key("cw_max", Is::Whole(1, 1023), "", "the largest contention window, in slots"),
            whole u16 window.1
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
            time 1e6 boot
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
            time 1e6 join
        ),
        (
            key(
                "scan_dwell_ms",
                Is::Number(1.0, 10_000.0),
                "",
                "how long a scan listens on each channel, in milliseconds"
            ),
            time 1e6 scan_dwell
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

/// All keys of a profile.
pub(super) static KEYS: [Key; OWN.len() + ALL.len()] = {
    let mut keys = [OWN[0]; OWN.len() + ALL.len()];
    let mut at = 0;
    while at < keys.len() {
        keys[at] = if at < OWN.len() {
            OWN[at]
        } else {
            key(ALL[at - OWN.len()].table, Is::Table, "", "constants, see below")
        };
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
    pub(super) like: Option<Need>,
    pub(super) values: Values,
}

/// Reads a profile.
pub(super) fn read(text: Text<'_>) -> Result<File, Wrong> {
    let keys: Keys = &KEYS;
    let block = text.block(keys)?;
    let title = block.text("title")?;
    let like = block.text("like")?.map(|name| (name, block.place_of("like")));
    let file = File {
        title: block.must("title", title)?,
        chip: block.word("chip")?.map(|at| Chip::ALL[at]),
        chip_name: block.text("chip_name")?,
        like: like.map(|it| Need::at(Kind::Profile, &it, text.text)),
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
    /// What `base`, called `name`, says where this one says nothing.
    pub(super) fn over(&self, name: &str, base: &Self) -> Self {
        let mut values = base.values.clone();
        for source in &mut values.sources {
            // What was found out about another chip is a guess about this one.
            source.text = alloc::format!("as {name}: {}", source.text);
        }
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
        let mut profile = Profile::free(name, self.chip.unwrap_or(Chip::Esp32));
        if let Some(chip_name) = &self.chip_name {
            profile.chip_name.clone_from(chip_name);
        }
        self.values.apply(&mut profile, GROUPS);
        profile.sources.clone_from(&self.values.sources);
        profile
    }
}
