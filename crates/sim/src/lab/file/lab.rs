//! Labs: what stands where.

use super::block::{Block, Item, Keys, Source as Text};
use super::environment;
use super::firmware::{self, Firmware};
use super::key::{Is, Key, key};
use super::pattern::{self, Pattern};
use super::wrong::{Wrong, hint};
use super::{Kind, Need};
use crate::lab::profile::Source;
use crate::lab::scene::{Background, Point, Router};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_dot11::radio::{RadioChip, WifiMode};

/// The most devices of a lab: what the room's numbers of stations were tried with.
pub(super) const MOST_DEVICES: usize = 20_000;

/// Keys of a lab.
pub(super) static KEYS: [Key; 7] = [
    key("title", Is::Text, "", "one line for people"),
    key("environment", Is::Text, "", "name of the environment"),
    key(
        "initiator",
        Is::Text,
        "the first group",
        "group of the device that tests start from, and that distances are counted from; its first device is node 0",
    ),
    key("varied", Is::Text, "the last group", "group whose number of devices a test changes"),
    key("group", Is::Blocks, "", "groups of devices"),
    key("router", Is::Blocks, "none", "access points"),
    key(
        "background",
        Is::Blocks,
        "none",
        "other people's stations, beside those of the environment",
    ),
];

/// How the devices of a group stand.
pub(super) const LINE_TABLE: Key = key("line", Is::Table, "none", "devices in a line");
pub(super) const GRID_TABLE: Key =
    key("grid", Is::Table, "none", "devices in a square grid, as on USB hubs on a table");
pub(super) const RING_TABLE: Key =
    key("ring", Is::Table, "none", "devices in a ring around the middle");
pub(super) const CLUSTER_TABLE: Key =
    key("cluster", Is::Table, "none", "devices strewn about the middle, by the seed");

/// Keys of a group of devices.
pub(super) static GROUP: [Key; 14] = [
    key("name", Is::Text, "", "its name"),
    key("profile", Is::Text, "", "name of the profile of its devices"),
    key("count", Is::Whole(1, MOST_DEVICES as i64), "1", "how many devices"),
    key(
        "at",
        Is::Place,
        "at `distance_m`",
        "the middle of the group; a test does not move it then",
    ),
    key(
        "distance_m",
        Is::Number(0.0, super::key::ROOM_M),
        "0",
        "metres from the initiator to the middle of the group, to the right",
    ),
    key("channel", Is::Whole(1, 14), "1", "channel at the start"),
    key("mode", Is::Mode, "\"1M\"", "how ESP-NOW frames are sent"),
    environment::FALLBACK,
    key("power_dbm", Is::Number(-20.0, 30.0), "that of the profile", "transmit power"),
    LINE_TABLE,
    GRID_TABLE,
    RING_TABLE,
    CLUSTER_TABLE,
    key("firmware", Is::Table, "none", "settings of the firmware"),
];

/// Keys of a router.
pub(super) static ROUTER: [Key; 8] = [
    key("name", Is::Text, "", "its name"),
    key("ssid", Is::Text, "", "its SSID: 1 to 32 bytes"),
    key("password", Is::Text, "", "its password: 8 to 63 bytes"),
    key("at", Is::Place, "", "where it is"),
    key("channel", Is::Whole(1, 14), "", "its channel"),
    key("power_dbm", Is::Number(-20.0, 36.0), "20", "transmit power"),
    key("beacon_ms", Is::Number(1.0, 70_000.0), "102.4", "time between beacons"),
    key("beacon_octets", Is::Whole(60, 2000), "250", "length of a beacon with its FCS"),
];

/// Devices alike.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) name: String,
    pub(super) profile: Item<String>,
    pub(super) count: u16,
    pub(super) at: Option<Point>,
    pub(super) distance_m: f64,
    pub(super) channel: u8,
    pub(super) mode: WifiMode,
    pub(super) fallback: Vec<WifiMode>,
    pub(super) power_dbm: Option<f64>,
    pub(super) pattern: Option<Pattern>,
    pub(super) firmware: Firmware,
    /// Where it begins in the text.
    pub(super) start: usize,
}

/// A lab's file.
#[derive(Clone, Debug)]
pub(super) struct File {
    pub(super) title: String,
    pub(super) environment: Item<String>,
    /// Indices of groups.
    pub(super) initiator: usize,
    pub(super) varied: usize,
    pub(super) groups: Vec<Group>,
    pub(super) routers: Vec<Router>,
    pub(super) background: Vec<Background>,
    pub(super) sources: Vec<Source>,
}

/// Reads a lab.
pub(super) fn read(text: Text<'_>) -> Result<File, Wrong> {
    let keys: Keys = &KEYS;
    let block = text.block(keys)?;
    let title = block.must("title", block.text("title")?)?;
    let place = block.must("environment", block.text("environment")?)?;
    let groups = groups(&block)?;
    if groups.is_empty() {
        return Err(block.wrong("no devices: add a [[group]]"));
    }
    let initiator = named(&block, "initiator", &groups)?.unwrap_or(0);
    let varied = named(&block, "varied", &groups)?.unwrap_or(groups.len() - 1);
    check(&block, &groups, initiator)?;
    let (background, sources) = environment::background(&block)?;
    Ok(File {
        title,
        environment: (place, block.place_of("environment")),
        initiator,
        varied,
        groups,
        routers: block.blocks("router", &ROUTER)?.iter().map(router).collect::<Result<_, _>>()?,
        background,
        sources,
    })
}

fn groups(block: &Block<'_>) -> Result<Vec<Group>, Wrong> {
    let mut groups: Vec<Group> = Vec::new();
    for it in block.blocks("group", &GROUP)? {
        let next = group(&it)?;
        if groups.iter().any(|other| other.name == next.name) {
            return Err(it.wrong_value("name", "two groups have this name"));
        }
        groups.push(next);
    }
    Ok(groups)
}

fn group(it: &Block<'_>) -> Result<Group, Wrong> {
    if it.has("at") && it.has("distance_m") {
        return Err(it.wrong_value("distance_m", "the group has `at`, too: give one of the two"));
    }
    let count = it.whole("count")?.unwrap_or(1);
    let pattern = pattern::read(it)?;
    if count > 1 && pattern.is_none() {
        let message = "more than one device needs [group.line], .grid, .ring or .cluster";
        return Err(it.wrong_value("count", message));
    }
    Ok(Group {
        name: it.must("name", it.text("name")?)?,
        profile: (it.must("profile", it.text("profile")?)?, it.place_of("profile")),
        count,
        at: it.place("at")?,
        distance_m: it.number("distance_m")?.unwrap_or(0.0),
        channel: it.whole("channel")?.unwrap_or(1),
        mode: it.mode("mode")?.unwrap_or(WifiMode::ESP_NOW),
        fallback: it.modes(environment::FALLBACK.name)?,
        power_dbm: it.number("power_dbm")?,
        pattern,
        firmware: firmware::read(it)?,
        start: it.start,
    })
}

/// The group that a key names.
fn named(block: &Block<'_>, name: &str, groups: &[Group]) -> Result<Option<usize>, Wrong> {
    let Some(wanted) = block.text(name)? else { return Ok(None) };
    let at = groups.iter().position(|it| it.name == wanted);
    at.map(Some).ok_or_else(|| {
        let known: Vec<&str> = groups.iter().map(|it| it.name.as_str()).collect();
        block.wrong_value(
            name,
            format_args!("no group is called `{wanted}`{}", hint(&wanted, &known)),
        )
    })
}

fn check(block: &Block<'_>, groups: &[Group], initiator: usize) -> Result<(), Wrong> {
    let first = &groups[initiator];
    if first.count != 1 {
        let message = format!("the initiator's group, `{}`, has one device", first.name);
        return Err(block.source.wrong(first.start, message));
    }
    let mut devices = 0;
    for group in groups {
        devices += usize::from(group.count);
        if devices > MOST_DEVICES {
            let name = &group.name;
            let message = format!(
                "with `{name}` there are {devices} devices: a lab has at most {MOST_DEVICES}"
            );
            return Err(block.source.wrong(group.start, message));
        }
    }
    Ok(())
}

fn router(it: &Block<'_>) -> Result<Router, Wrong> {
    let ssid = it.must("ssid", it.text("ssid")?)?;
    if ssid.len() > 32 {
        return Err(
            it.wrong_value("ssid", "an SSID has at most 32 bytes (IEEE 802.11-2020, 9.4.2.2)")
        );
    }
    let password = it.must("password", it.text("password")?)?;
    if !(8..=63).contains(&password.len()) {
        return Err(it.wrong_value("password", "a WPA2 password has 8 to 63 bytes"));
    }
    Ok(Router {
        name: it.must("name", it.text("name")?)?,
        ssid,
        password,
        at: it.must("at", it.place("at")?)?,
        channel: it.must("channel", it.whole("channel")?)?,
        power_dbm: it.number("power_dbm")?.unwrap_or(20.0),
        beacon: Duration::from_nanos(
            libm::rint(it.number("beacon_ms")?.unwrap_or(102.4) * 1e6) as u64
        ),
        beacon_octets: it.whole("beacon_octets")?.unwrap_or(250),
    })
}

impl Group {
    /// What a chip cannot do that it is to do here.
    pub(super) fn unable(&self, chip: RadioChip) -> Option<String> {
        let modes = core::iter::once(&self.mode).chain(&self.fallback);
        let mode = modes.into_iter().find(|mode| !chip.sends(**mode))?;
        let (name, chip) = (&self.name, chip.name());
        Some(format!("`{name}` cannot send {mode}: an {chip} has no channels of 40 MHz, use HT20"))
    }
}

impl File {
    /// What it names, and where.
    pub(super) fn needs(&self, text: &str) -> Vec<Need> {
        let environment = core::iter::once((Kind::Environment, &self.environment));
        let profiles = self.groups.iter().map(|it| (Kind::Profile, &it.profile));
        environment.chain(profiles).map(|(kind, it)| Need::at(kind, it, text)).collect()
    }
}
