//! Environments: the constants of a place, and other people's stations there.

use super::Surroundings;
use super::block::{Item, Keys, TomlTable, TomlText};
use super::constant::{
    ASSUMED, BY_HAND, CONFIDENCE, ConstantGroup, ConstantKey, FITTED, LOOKED_AT, Notes, ORIGIN,
    SOURCE, Values, constant, group,
};
use super::key::{KeySpec, KeyType, key};
use super::wrong::{FileError, hint};
use crate::lab::profile::Source;
use crate::lab::scene::{Background, BehindWalls, Environment, NoiseBursts};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_dot11::radio::{Ofdm, WifiMode};

/// All constants of an environment, in the order of the documentation.
pub(super) static GROUPS: &[ConstantGroup<Environment>] = &[
    group!(
        "path_loss",
        "log-distance path loss, with free space up to 1 m",
        (EXPONENT, float exponent),
        (BREAKPOINT, option breakpoint_m),
        (FAR_EXPONENT, option far_exponent),
        (SHADOW, float shadow_db),
        (WALL, option wall_db),
        (HEIGHT, option antenna_height_m),
        (VALID, option valid_m),
    ),
    group!(
        "behind_walls",
        "path loss between places that do not see each other, of a place whose own is in sight",
        (BEHIND_EXPONENT, option behind_walls.exponent),
        (BREAKPOINT, option behind_walls.breakpoint_m),
        (FAR_EXPONENT, option behind_walls.far_exponent),
        (BEHIND_SHADOW, option behind_walls.shadow_db),
        (BEHIND_VALID, option behind_walls.valid_m),
    ),
    group!(
        "fast_fading",
        "what people who move do to the links within a second: Nakagami-m block fading",
        (NAKAGAMI, option nakagami_m),
        (FAST_COHERENCE, option fast_coherence_ms),
    ),
    group!(
        "slow_fading",
        "what people and doors in the way do to the links over minutes: log-normal block fading",
        (SLOW_DEVIATION, option slow_fading_db),
        (SLOW_COHERENCE, option slow_coherence_s),
    ),
    group!(
        "carrier_sense",
        "when a station finds the medium busy",
        (ENERGY, float energy_dbm),
    ),
    group!(
        "receiver",
        "which of several frames a receiver reads",
        (DETECT, float detect_db),
        (CAPTURE, option capture_db),
    ),
];

const EXPONENT: KeySpec = key(
    "exponent",
    KeyType::Number(1.0, 8.0),
    "",
    "path loss exponent beyond 1 m: 2 in free space",
);
const BREAKPOINT: KeySpec = key(
    "breakpoint_m",
    KeyType::Number(1.0, 10_000.0),
    "none",
    "distance in metres beyond which `far_exponent` holds",
);
const FAR_EXPONENT: KeySpec = key(
    "far_exponent",
    KeyType::Number(1.0, 8.0),
    "none",
    "path loss exponent beyond the breakpoint",
);
/// Words for what a key of a place behind walls means that is left out.
const IN_SIGHT: &str = "as in sight";
const BEHIND_EXPONENT: KeySpec = key(
    "exponent",
    KeyType::Number(1.0, 8.0),
    IN_SIGHT,
    "path loss exponent beyond 1 m; `predict --walls` takes it, and adds the loss of the walls",
);
const BEHIND_SHADOW: KeySpec = key(
    "shadow_db",
    KeyType::Number(0.0, 20.0),
    IN_SIGHT,
    "standard deviation of the shadowing there",
);
const BEHIND_VALID: KeySpec = key(
    "valid_m",
    KeyType::Number(1.0, 100_000.0),
    IN_SIGHT,
    "farthest distance for which the source holds there",
);
const WALL: KeySpec = key(
    "wall_db",
    KeyType::Number(0.0, 60.0),
    "3.4",
    "loss in one wall, for `--walls` of `espbench predict` (`--wall` names another): a light one by default (COST 231, Digital Mobile Radio, chapter 4.7)",
);
const HEIGHT: KeySpec = key(
    "antenna_height_m",
    KeyType::Number(0.1, 100.0),
    "none",
    "height above flat ground, in metres, of a station that stands at 0 and of predictions; if it is given the fourth power of the distance holds beyond 4 h1 h2 / wavelength, with the heights of both stations (two rays: Recommendation ITU-R P.1411, 4.1.1)",
);
const VALID: KeySpec = key(
    "valid_m",
    KeyType::Number(1.0, 100_000.0),
    "not known",
    "farthest distance for which the source of the path loss holds: predicted ranges end there",
);
const SHADOW: KeySpec = key(
    "shadow_db",
    KeyType::Number(0.0, 20.0),
    "0",
    "standard deviation of what walls, furniture and bodies add, drawn once for each pair",
);
const NAKAGAMI: KeySpec = key(
    "nakagami_m",
    KeyType::Number(0.5, 1000.0),
    "none",
    "shape of the received power's distribution: 1 is Rayleigh, (1 + K)^2 / (1 + 2 K) is Rice with a factor K, times the independent fades within 20 MHz",
);
const FAST_COHERENCE: KeySpec = key(
    "coherence_ms",
    KeyType::Number(1.0, 100_000.0),
    "none",
    "milliseconds after which the autocorrelation of the gain has fallen to one half",
);
const SLOW_DEVIATION: KeySpec = key(
    "deviation_db",
    KeyType::Number(0.0, 20.0),
    "none",
    "standard deviation of what people and doors add and take away",
);
const SLOW_COHERENCE: KeySpec = key(
    "coherence_s",
    KeyType::Number(0.1, 100_000.0),
    "none",
    "seconds after which the autocorrelation of the gain has fallen to one half",
);
const ENERGY: KeySpec = key(
    "energy_dbm",
    KeyType::Number(-110.0, 0.0),
    "",
    "energy that makes the medium busy even where no preamble was found",
);
const DETECT: KeySpec = key(
    "detect_db",
    KeyType::Number(-20.0, 40.0),
    "",
    "how far a preamble must stand out from noise and other frames",
);
const CAPTURE: KeySpec = key(
    "capture_db",
    KeyType::Number(0.0, 60.0),
    "never",
    "how far a later frame must stand out to be read instead of the one being read",
);

/// Constants of a background station.
pub(super) static LOAD: [ConstantKey<Background>; 4] = [
    constant!(
        key("power_dbm", KeyType::Number(-20.0, 36.0), "", "transmit power"),
        float power_dbm
    ),
    constant!(
        key("rate_hz", KeyType::Number(0.0, 10_000.0), "", "frames a second, in the mean"),
        float rate
    ),
    constant!(
        key("burst", KeyType::Number(1.0, 1000.0), "1", "frames that come at once, in the mean"),
        float burst
    ),
    constant!(
        key(
            "octets",
            KeyType::Whole(14, 65_535),
            "",
            "length of what one PPDU carries: an MPDU with its FCS, or an A-MPDU"
        ),
        whole u32 octets
    ),
];

/// Key of the modes in which a station repeats a frame that no ACK has answered.
pub(super) const FALLBACK: KeySpec = key(
    "fallback",
    KeyType::Modes,
    "as the first",
    "how the second and later attempts of a unicast frame are sent; the last one is kept",
);

/// Key of the place of a background station.
const AT: KeySpec = key("at", KeyType::Place, "", "where it is");
/// Names of the three numbers of a place as constants, in metres.
pub(super) const PLACE: [&str; 3] = ["at_x", "at_y", "at_z"];

/// Keys of a background station.
pub(super) static BACKGROUND: [KeySpec; 16] = [
    key("name", KeyType::Text, "", "its name"),
    AT,
    key("channel", KeyType::Whole(1, 14), "", "its channel"),
    LOAD[0].key,
    LOAD[1].key,
    LOAD[2].key,
    LOAD[3].key,
    key("mode", KeyType::Mode, "", "how it sends"),
    FALLBACK,
    key(
        "to",
        KeyType::Text,
        "to all",
        "the background station that its frames are for and that acknowledges them",
    ),
    SOURCE,
    FITTED,
    ORIGIN,
    ASSUMED,
    BY_HAND,
    LOOKED_AT,
];

/// Keys of an environment.
pub(super) static KEYS: [KeySpec; 9] = [
    key("title", KeyType::Text, "", "one line for people"),
    key("path_loss", KeyType::Table, "", GROUPS[0].about),
    key("behind_walls", KeyType::Table, "as in sight", GROUPS[1].about),
    key("fast_fading", KeyType::Table, "none", GROUPS[2].about),
    key("slow_fading", KeyType::Table, "none", GROUPS[3].about),
    key("carrier_sense", KeyType::Table, "", GROUPS[4].about),
    key("receiver", KeyType::Table, "", GROUPS[5].about),
    key("background", KeyType::Blocks, "none", "other people's stations"),
    key("interferer", KeyType::Blocks, "none", "microwave ovens, and what else emits noise"),
];

/// Reads an environment.
pub(super) fn read(text: TomlText<'_>, name: &str) -> Result<Surroundings, FileError> {
    let keys: Keys = &KEYS;
    let block = text.block(keys)?;
    let title = block.text("title")?;
    let title = block.must("title", title)?;
    let values = Values::read(&block, GROUPS)?;
    if let Some(key) = values.missing(GROUPS) {
        let (table, _) = key.split_once('.').unwrap_or_default();
        return Err(block.wrong(format!("`{key}` is missing: give it in [{table}]")));
    }
    let mut environment = Environment {
        name: name.to_string(),
        exponent: 2.0,
        breakpoint_m: None,
        far_exponent: None,
        wall_db: None,
        valid_m: None,
        shadow_db: 0.0,
        behind_walls: BehindWalls::default(),
        nakagami_m: None,
        fast_coherence_ms: None,
        slow_fading_db: None,
        slow_coherence_s: None,
        place: None,
        antenna_height_m: None,
        barriers: Arc::default(),
        energy_dbm: 0.0,
        detect_db: 0.0,
        capture_db: None,
        sources: values.sources.clone(),
    };
    values.apply(&mut environment, GROUPS);
    let pairs = [
        (
            "fast_fading",
            NAKAGAMI.name,
            environment.nakagami_m,
            FAST_COHERENCE.name,
            environment.fast_coherence_ms,
        ),
        (
            "slow_fading",
            SLOW_DEVIATION.name,
            environment.slow_fading_db,
            SLOW_COHERENCE.name,
            environment.slow_coherence_s,
        ),
        (
            "path_loss",
            BREAKPOINT.name,
            environment.breakpoint_m,
            FAR_EXPONENT.name,
            environment.far_exponent,
        ),
    ];
    let behind = environment.behind_walls;
    let behind = (
        "behind_walls",
        BREAKPOINT.name,
        behind.breakpoint_m,
        FAR_EXPONENT.name,
        behind.far_exponent,
    );
    for (table, one, first, other, second) in pairs.into_iter().chain([behind]) {
        let missing = match (first, second) {
            (Some(_), None) => other,
            (None, Some(_)) => one,
            _ => continue,
        };
        return Err(block.wrong(format!(
            "`{table}.{missing}` is missing: `{one}` and `{other}` belong together"
        )));
    }
    if environment.antenna_height_m.is_some() && environment.breakpoint_m.is_some() {
        return Err(block.wrong(
            "`path_loss.antenna_height_m` gives the breakpoint: leave `breakpoint_m` and `far_exponent` out",
        ));
    }
    let (background, sources) = background(&block)?;
    environment.sources.extend(sources);
    Ok(Surroundings { title, environment, background })
}

/// Reads the background stations of a file.
pub(super) fn background(
    block: &TomlTable<'_>,
) -> Result<(Vec<Background>, Vec<Source>), FileError> {
    let (mut stations, mut sources) = (Vec::new(), Vec::new());
    let mut partners: Vec<Option<Item<String>>> = Vec::new();
    for it in block.blocks("background", &BACKGROUND)? {
        let station = station(&it, &mut sources)?;
        if stations.iter().any(|other: &Background| other.name == station.name) {
            return Err(it.wrong_value("name", "two stations have this name"));
        }
        stations.push(station);
        partners.push(it.text("to")?.map(|to| (to, it.place_of("to"))));
    }
    for (from, partner) in partners.into_iter().enumerate() {
        let Some((name, at)) = partner else { continue };
        let to = stations.iter().position(|it| it.name == name).filter(|&to| to != from);
        let Some(to) = to else {
            let others = stations.iter().enumerate().filter(|(other, _)| *other != from);
            let others: Vec<&str> = others.map(|(_, it)| it.name.as_str()).collect();
            let message =
                format!("`to`: no other station is called `{name}`{}", hint(&name, &others));
            return Err(block.source.wrong(at, message));
        };
        if stations[to].channel != stations[from].channel {
            return Err(block.source.wrong(at, format!("`to`: `{name}` is on another channel")));
        }
        stations[from].to = Some(to as u16);
    }
    for it in block.blocks("interferer", &INTERFERER)? {
        let station = interferer(&it, &mut sources)?;
        if stations.iter().any(|other: &Background| other.name == station.name) {
            return Err(it.wrong_value("name", "two stations have this name"));
        }
        stations.push(station);
    }
    Ok((stations, sources))
}

/// Keys of an interferer, whose defaults are those of a microwave oven.
pub(super) static INTERFERER: [KeySpec; 8] = [
    key("name", KeyType::Text, "", "its name"),
    key("at", KeyType::Place, "", "where it is"),
    key(
        "power_dbm",
        KeyType::Number(-20.0, 60.0),
        "20",
        "power that it emits while it does: ovens were measured at 16 to 33 dBm (Kamerman and Erkocevic, PIMRC 1997)",
    ),
    key(
        "period_ms",
        KeyType::Number(0.1, 10_000.0),
        "20",
        "milliseconds from one burst to the next: a period of the mains of 50 Hz, 16.7 at 60 Hz",
    ),
    key(
        "duty",
        KeyType::Number(0.001, 1.0),
        "0.5",
        "part of the period for which it emits: a magnetron works in one half-wave (Gawthrop et al., NTIA Report 94-303-1)",
    ),
    key("channel", KeyType::Whole(1, 14), "6", "first channel, on which a burst begins"),
    key(
        "last_channel",
        KeyType::Whole(1, 14),
        "13",
        "last channel: a burst passes all from the first on, as the frequency of a magnetron moves with its current (the same: 2.45 to 2.47 GHz)",
    ),
    SOURCE,
];

fn interferer(it: &TomlTable<'_>, sources: &mut Vec<Source>) -> Result<Background, FileError> {
    let name = it.must("name", it.text("name")?)?;
    let channel = it.whole("channel")?.unwrap_or(6);
    let last_channel = it.whole("last_channel")?.unwrap_or(13_u8.max(channel));
    if last_channel < channel {
        return Err(it.wrong_value("last_channel", format!("it is below `channel`, {channel}")));
    }
    let ms = it.number("period_ms")?.unwrap_or(20.0);
    let duty = it.number("duty")?.unwrap_or(0.5);
    if let Some(text) = it.text(SOURCE.name)? {
        let key = format!("interferer.{name}");
        sources.push(Source { key, text, ..Source::default() });
    }
    Ok(Background {
        at: it.must("at", it.place("at")?)?,
        channel,
        power_dbm: it.number("power_dbm")?.unwrap_or(20.0),
        rate: 0.0,
        burst: 1.0,
        octets: 0,
        mode: WifiMode::Ofdm(Ofdm::M6),
        fallback: Vec::new(),
        to: None,
        noise: Some(NoiseBursts {
            period: Duration::from_nanos(libm::rint(ms * 1e6) as u64),
            duty,
            last_channel,
        }),
        name,
    })
}

fn station(it: &TomlTable<'_>, sources: &mut Vec<Source>) -> Result<Background, FileError> {
    let name = it.must("name", it.text("name")?)?;
    it.must(SOURCE.name, it.text(SOURCE.name)?)?;
    let known = LOAD.iter().map(|constant| constant.key.name).chain([AT.name]);
    let notes = Notes::read(it, known)?;
    let mut station = Background {
        at: it.must("at", it.place("at")?)?,
        channel: it.must("channel", it.whole("channel")?)?,
        power_dbm: 0.0,
        rate: 0.0,
        burst: 1.0,
        octets: 0,
        mode: it.must("mode", it.mode("mode")?)?,
        fallback: it.modes(FALLBACK.name)?,
        to: None,
        noise: None,
        name,
    };
    for constant in &LOAD {
        let key = constant.key.name;
        let number = it.number(key)?;
        if constant.key.usual.is_empty() {
            it.must(key, number)?;
        }
        let Some(number) = number else { continue };
        (constant.set)(&mut station, number);
        sources.push(notes.of(key, format!("background.{}.{key}", station.name)));
    }
    for key in PLACE {
        sources.push(notes.of(AT.name, format!("background.{}.{key}", station.name)));
    }
    Ok(station)
}
