//! Keys of a plan's block.

use super::{DEFAULT, PATTERNS, word};
use crate::plan::{DAY, MILLISECOND, PlanKey, PlanValue, Scalar, quoted, words};
use crate::settings::metres;
use crate::units::print_duration;
use alloc::format;
use alloc::string::{String, ToString};
use core::time::Duration;
use espbench_model::messages::{BluetoothState, EspNowMessages, MessagePattern};
use espbench_model::overrides::OpenPlaces;
use espbench_model::workload::EspNowCast;

/// Most hops of a line and most nodes beside the first, of which the lab keeps whole devices.
const MOST: u64 = 2000;
/// The longest payload of ESP-NOW v2.0 under the component's header.
const LONGEST: u64 = 1450;
/// Octets of a message's number.
const SHORTEST: u64 = 5;

const CASTS: [(&str, bool); 2] = [("broadcast", false), ("unicast", true)];
const SCHEDULES: [(&str, bool); 2] = [("contention", false), ("beacon-slots", true)];
const RADIOS: [(&str, bool); 2] = [("on", false), ("scheduled", true)];

/// All keys.
pub(super) const KEYS: [PlanKey; 21] = [
    PlanKey::new(
        "pattern",
        PlanValue::Word(&["relay-line", "many-to-many", "many-to-any", "many-to-one"]),
        "\"many-to-many\"",
        "from one end of a line to the other; from every node to all others; from every node to one drawn for each message; from all to the first",
    ),
    PlanKey::new(
        "hops",
        PlanValue::Whole(1, MOST),
        "10",
        "of a relay line: hops from one end to the other, whose relays are one fewer",
    )
    .or("those in the file of a lab behind `--on sim:LAB`; else 5"),
    PlanKey::new(
        "devices",
        PlanValue::Whole(1, MOST),
        "49",
        "of other patterns: nodes beside the first one",
    )
    .or("those in the file of a lab behind `--on sim:LAB`; else 5"),
    PlanKey::new("size", PlanValue::Bytes(SHORTEST, LONGEST), "230", "bytes of a message"),
    PlanKey::new("count", PlanValue::Whole(1, 100_000), "100", "messages of each sender"),
    PlanKey::new(
        "interval",
        PlanValue::Time(MILLISECOND, DAY),
        "\"100 ms\"",
        "time from one message of a sender to the next; of many senders each draws the moment in each interval",
    ),
    PlanKey::new(
        "cast",
        PlanValue::Word(&["broadcast", "unicast"]),
        "\"unicast\"",
        "on the air to all, which alone is relayed, or to the receiver, with the MAC's acknowledgement",
    ),
    PlanKey::new(
        "copies",
        PlanValue::Whole(1, 31),
        "3",
        "copies of each broadcast, and of each relay's (`retransmit_count`)",
    ),
    PlanKey::new(
        "ack",
        PlanValue::Switch,
        "true",
        "whether the receiver acknowledges in the component's way; relays bring that back, and `copies` are attempts",
    ),
    PlanKey::new(
        "ttl",
        PlanValue::Whole(0, 31),
        "10",
        "hops that relays may still send it (`forward_ttl`): 0 is not relayed, 31 never counted down",
    )
    .or("0; of a relay line 31"),
    PlanKey::new(
        "forward_rssi",
        PlanValue::Number(-128.0, 0.0),
        "-90",
        "dBm below which relays do not send on what they heard",
    ),
    PlanKey::new(
        "distance",
        PlanValue::Form("0.01 m to 100 km"),
        "\"14 m\"",
        "of a relay line: from one node to the next",
    )
    .or("what the file of a lab behind `--on sim:LAB` says; else \"14 m\""),
    PlanKey::new(
        "schedule",
        PlanValue::Word(&["contention", "beacon-slots"]),
        "\"beacon-slots\"",
        "senders contend as the MAC does, or each also waits for its slot after the first node's beacon (TDMA)",
    ),
    PlanKey::new(
        "slot",
        PlanValue::Time(MILLISECOND, Duration::from_secs(60)),
        "\"8 ms\"",
        "with beacons: length of a slot",
    ),
    PlanKey::new(
        "guard",
        PlanValue::Time(Duration::ZERO, Duration::from_secs(1)),
        "\"1 ms\"",
        "with beacons: guard interval, before which nobody sends in a slot",
    ),
    PlanKey::new(
        "beacon_interval",
        PlanValue::Time(MILLISECOND, Duration::from_secs(3600)),
        "\"1 s\"",
        "with beacons: time from one to the next; each node has one slot in it",
    ),
    PlanKey::new(
        "drift_ppm",
        PlanValue::Number(0.0, 10_000.0),
        "20",
        "with beacons: most that a node's clock is fast or slow, in parts per million",
    ),
    PlanKey::new(
        "task_jitter",
        PlanValue::Time(Duration::ZERO, Duration::from_secs(1)),
        "\"500 us\"",
        "with beacons: most that a task is later than its timer",
    ),
    PlanKey::new(
        "missed_beacons",
        PlanValue::Whole(0, 250),
        "3",
        "with beacons: how many in a row a node may miss and still send by its own clock; then it is silent until it hears one",
    ),
    PlanKey::new(
        "radio",
        PlanValue::Word(&["on", "scheduled"]),
        "\"scheduled\"",
        "many to one: radios are always on, or only to send and to listen for beacons",
    ),
    PlanKey::new(
        "bluetooth",
        PlanValue::Word(&words(&BluetoothState::NAMED)),
        "\"scanning\"",
        "what Bluetooth Low Energy does on every node, which has the radio meanwhile: as in labs",
    )
    .or("what the lab's file says"),
];

/// Sets one key.
pub(super) fn set(work: &mut EspNowMessages, key: &str, value: &Scalar) -> Result<(), String> {
    let slots = &mut work.slots;
    match (key, &mut work.cast) {
        ("pattern", _) => work.pattern = value.word(&PATTERNS)?,
        ("hops" | "devices", _) => work.devices = value.int()? as u16,
        ("size", _) => work.size = value.bytes()? as u32,
        ("count", _) => work.count = value.int()? as u32,
        ("interval", _) => work.interval = value.duration()?,
        ("cast", cast) => match (value.word(&CASTS)?, *cast) {
            (true, _) => *cast = EspNowCast::Unicast,
            (false, EspNowCast::Unicast) => *cast = DEFAULT.cast,
            (false, EspNowCast::Broadcast { .. }) => {}
        },
        ("copies", EspNowCast::Broadcast { copies, .. }) => *copies = value.int()? as u8,
        ("ack", EspNowCast::Broadcast { ack, .. }) => *ack = value.bool()?,
        ("copies" | "ack", EspNowCast::Unicast) => {
            return Err("it is of broadcasts: leave it out with `cast = \"unicast\"`".into());
        }
        ("ttl", _) => work.ttl = value.int()? as u8,
        ("forward_rssi", _) => work.forward_rssi = value.number()? as i8,
        ("distance", _) => work.spacing_m = crate::plan::metres(value.text()?)?,
        ("schedule", _) => work.in_slots = value.word(&SCHEDULES)?,
        ("slot", _) => slots.slot = value.duration()?,
        ("guard", _) => slots.guard = value.duration()?,
        ("beacon_interval", _) => slots.beacon_interval = value.duration()?,
        ("drift_ppm", _) => slots.drift_ppm = value.number()? as f32,
        ("task_jitter", _) => slots.task_jitter = value.duration()?,
        ("missed_beacons", _) => slots.missed_most = value.int()? as u8,
        ("radio", _) => work.radio_scheduled = value.word(&RADIOS)?,
        _ => work.bluetooth = Some(value.word(&BluetoothState::NAMED)?),
    }
    Ok(())
}

/// Returns the value of a key as TOML.
pub(super) fn get(work: &EspNowMessages, key: &str) -> Option<String> {
    let is_line = work.pattern == MessagePattern::RelayLine;
    let slots = &work.slots;
    let broadcast = match work.cast {
        EspNowCast::Unicast => None,
        EspNowCast::Broadcast { copies, ack } => Some((copies, ack)),
    };
    Some(match key {
        "pattern" => quoted(word(work.pattern)),
        "hops" | "devices" if work.lab.open.devices => return None,
        "hops" => is_line.then(|| work.devices.to_string())?,
        "devices" => (!is_line).then(|| work.devices.to_string())?,
        "size" => work.size.to_string(),
        "count" => work.count.to_string(),
        "interval" => quoted(&print_duration(work.interval)),
        "cast" => quoted(CASTS[usize::from(broadcast.is_none())].0),
        "copies" => broadcast?.0.to_string(),
        "ack" => broadcast?.1.to_string(),
        "ttl" => work.ttl.to_string(),
        "forward_rssi" => work.forward_rssi.to_string(),
        "distance" if work.lab.open.distance => return None,
        "distance" => quoted(&format!("{} m", metres(work.spacing_m))),
        "schedule" => quoted(SCHEDULES[usize::from(work.in_slots)].0),
        "slot" => quoted(&print_duration(slots.slot)),
        "guard" => quoted(&print_duration(slots.guard)),
        "beacon_interval" => quoted(&print_duration(slots.beacon_interval)),
        "drift_ppm" => metres(slots.drift_ppm).to_string(),
        "task_jitter" => quoted(&print_duration(slots.task_jitter)),
        "missed_beacons" => slots.missed_most.to_string(),
        "radio" => quoted(RADIOS[usize::from(work.radio_scheduled)].0),
        _ => quoted(work.bluetooth?.name()),
    })
}

/// Sets what follows from other keys. A number of nodes by the key of another pattern is none.
pub(super) fn complete(work: &mut EspNowMessages, named: &[&str]) {
    let is_line = work.pattern == MessagePattern::RelayLine;
    if is_line && !named.contains(&"ttl") {
        work.ttl = EspNowMessages::TTL_ENDLESS;
    }
    let (ours, other) = if is_line { ("hops", "devices") } else { ("devices", "hops") };
    let (is_ours, is_other) = (named.contains(&ours), named.contains(&other));
    if is_other && !is_ours {
        work.devices = 0;
    }
    work.lab.open = OpenPlaces {
        devices: !is_ours && !is_other,
        distance: is_line && !named.contains(&"distance"),
    };
}

/// Checks that the keys go together.
pub(super) fn check(work: &EspNowMessages) -> Result<(), String> {
    let pattern = word(work.pattern);
    let is_line = work.pattern == MessagePattern::RelayLine;
    let to_all = work.pattern == MessagePattern::ManyToMany;
    if work.devices == 0 {
        return Err(if is_line {
            "a relay line has no `devices`: give its `hops`".into()
        } else {
            format!(
                "`hops` are those of a relay line: with `pattern = \"{pattern}\"` give `devices`"
            )
        });
    }
    match work.cast {
        EspNowCast::Unicast if is_line && work.devices > 1 => Err(
            "relays send on broadcasts alone: leave `cast` out, or give `hops = 1`".into(),
        ),
        EspNowCast::Unicast if to_all => Err(
            "what goes to all others is broadcast: leave `cast` out, or take `pattern = \"many-to-any\"`"
                .into(),
        ),
        EspNowCast::Broadcast { ack: true, .. } if to_all => Err(
            "the component acknowledges what is for one node: leave `ack` out, or take `pattern = \"many-to-any\"`"
                .into(),
        ),
        _ if work.in_slots && is_line => Err(
            "only the first node's neighbours would hear its beacons: leave `schedule` out of a relay line"
                .into(),
        ),
        _ if work.in_slots && work.slots.guard >= work.slots.slot => {
            Err("`guard` leaves nothing of a slot: shorten it, or lengthen `slot`".into())
        }
        _ if work.radio_scheduled && work.pattern != MessagePattern::ManyToOne => Err(format!(
            "with `pattern = \"{pattern}\"` every node has to listen: leave `radio` out, or take `pattern = \"many-to-one\"`"
        )),
        _ => Ok(()),
    }
}
