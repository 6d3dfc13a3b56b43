//! A lab as it is drawn, and frames on the air of it.

use crate::answer::PageError;
use crate::fleet::FleetDesk;
use espbench_engine::TOOL;
use espbench_measure::plan::DEFAULT_SEED;
use espbench_sim::lab::file::{FileError, FileKind, Library, Overrides, built_in_text};
use espbench_sim::lab::predict::Load;
use espbench_sim::lab::scene::{Point, Scene};
use espbench_sim::lab::survey::StationKind;
use espbench_sim::lab::trace::{AirtimeKind, Flight};
use serde::Serialize;
use std::time::Duration;

/// Longest text of a lab that is read.
const LONGEST: usize = 1 << 20;

/// Most stations that are drawn; further ones are counted.
const DRAWN: usize = 2000;

/// Most frames that are handed out at once.
const FLIGHTS: usize = 20_000;

/// A file of the library.
#[derive(Serialize)]
struct LibraryFile {
    name: String,
    title: String,
    /// Text, of a lab.
    text: Option<&'static str>,
}

/// All files by kind, and the version of the engine.
#[derive(Serialize)]
pub(crate) struct LibraryList {
    tool: &'static str,
    labs: Vec<LibraryFile>,
    environments: Vec<LibraryFile>,
    profiles: Vec<String>,
}

/// Returns what there is.
pub(crate) fn library() -> LibraryList {
    let library = Library::built_in();
    let names = |kind| library.names(kind).map(String::from).collect::<Vec<_>>();
    let lab = |name: String| LibraryFile {
        title: library.title(FileKind::Lab, &name).unwrap_or_default().to_string(),
        text: built_in_text(FileKind::Lab, &name),
        name,
    };
    let environment = |name: String| LibraryFile {
        title: library.environment(&name).map(|it| it.title).unwrap_or_default(),
        text: None,
        name,
    };
    LibraryList {
        tool: TOOL,
        labs: names(FileKind::Lab).into_iter().map(lab).collect(),
        environments: names(FileKind::Environment).into_iter().map(environment).collect(),
        profiles: names(FileKind::Profile),
    }
}

/// Adds a lab of the page's.
pub(crate) fn add_lab(library: &mut Library, name: &str, text: &str) -> Result<(), PageError> {
    let remedy = "leave out what is not needed: a lab has some kilobytes";
    if text.len() > LONGEST {
        let why = format!("it has {} bytes, and {LONGEST} are read", text.len());
        return Err(PageError::new("the lab is too long", why, remedy));
    }
    library.add(FileKind::Lab, name, text).map_err(wrong)
}

fn wrong(it: FileError) -> PageError {
    let what = "the room has a mistake";
    PageError { line: it.line, ..PageError::new(what, &it, "docs/labs.md has every key of a lab") }
}

/// A station as it is drawn.
#[derive(Serialize)]
struct DrawnStation {
    name: String,
    group: String,
    /// `device`, `router`, `other` or `noise`.
    kind: &'static str,
    x: f64,
    y: f64,
    z: f64,
    chip: String,
    channel: u8,
}

/// Signals of a group at the initiator.
#[derive(Serialize)]
struct DrawnSignal {
    group: String,
    count: u32,
    weakest_dbm: f64,
    strongest_dbm: f64,
    unread: u32,
}

/// A wall on the plan.
#[derive(Serialize)]
struct DrawnWall {
    from: (f64, f64),
    to: (f64, f64),
    loss_db: f64,
}

/// A lab as it is drawn.
#[derive(Serialize)]
pub(crate) struct DrawnRoom {
    title: String,
    environment: String,
    stations: Vec<DrawnStation>,
    /// Stations beyond those.
    left_out: usize,
    /// Devices beside the first.
    devices: usize,
    walls: Vec<DrawnWall>,
    signals: Vec<DrawnSignal>,
    /// Pairs of devices that cannot read each other, and that do not hear each other while both reach the
    /// first.
    deaf: u32,
    hidden: u32,
    /// Variants, of a lab over Wi-Fi: the first is drawn.
    variants: Vec<String>,
}

/// Returns a lab as it is drawn.
pub(crate) fn drawn(name: &str, text: &str, seed: Option<u64>) -> Result<DrawnRoom, PageError> {
    let mut library = Library::built_in();
    add_lab(&mut library, name, text)?;
    let variants: Vec<String> = library.variants(name).into_iter().map(String::from).collect();
    let seed = seed.unwrap_or(DEFAULT_SEED);
    let scene = match variants.first() {
        Some(variant) => library.variant_scene(name, variant),
        None => library.scene(name, &Overrides::default(), seed),
    };
    let scene = scene.map_err(wrong)?;
    let mut stations = stations(&scene);
    let left_out = stations.len().saturating_sub(DRAWN);
    stations.truncate(DRAWN);
    let survey = scene.survey(seed);
    let signal = |to: usize| {
        let first = survey.groups.iter().position(|it| it.stations.contains(&0))?;
        let link = survey.between.iter().find(|it| it.from == to && it.to == first)?;
        let group = &survey.groups[to];
        (group.kind == StationKind::Device && !group.stations.contains(&0)).then(|| DrawnSignal {
            group: group.name.clone(),
            count: group.stations.len() as u32,
            weakest_dbm: link.weakest_dbm,
            strongest_dbm: link.strongest_dbm,
            unread: link.unread,
        })
    };
    let walls = scene.environment.barriers.walls.iter().map(|it| {
        let [from, to] = it.ends.map(|end| (end.x, end.y));
        DrawnWall { from, to, loss_db: it.loss_db }
    });
    Ok(DrawnRoom {
        title: scene.title.clone(),
        environment: scene.environment.name.clone(),
        left_out,
        devices: scene.nodes.len().saturating_sub(1),
        walls: walls.collect(),
        signals: (0..survey.groups.len()).filter_map(signal).collect(),
        deaf: survey.deaf,
        hidden: survey.hidden,
        variants,
        stations,
    })
}

/// Returns the stations of a scene, in the order of their numbers but for the PC.
fn stations(scene: &Scene) -> Vec<DrawnStation> {
    let mut drawn = Vec::new();
    let mut draw = |kind, name: &str, group: &str, at: Point, chip: &str, channel| {
        let (name, group, chip) = (name.into(), group.into(), chip.into());
        let Point { x, y, z } = at;
        drawn.push(DrawnStation { name, group, kind, x, y, z, chip, channel });
    };
    for (number, it) in scene.nodes.iter().enumerate() {
        draw(
            "device",
            &format!("node{number}"),
            &it.group,
            it.at,
            &it.profile.chip_name,
            it.channel,
        );
    }
    for it in &scene.routers {
        draw("router", &it.name, &it.name, it.at, "", it.channel);
    }
    for it in &scene.access_points {
        draw("router", &it.name, &it.name, it.at, "", it.channel);
    }
    for (number, it) in scene.devices.iter().enumerate() {
        draw("device", &format!("device{number}"), &it.group, it.at, &it.profile.chip_name, 0);
    }
    for it in &scene.background {
        let kind = if it.noise.is_some() { "noise" } else { "other" };
        draw(kind, &it.name, &it.name, it.at, "", it.channel);
    }
    drawn
}

/// Frame on the air: begin and end in microseconds since the applications began, sender, addressee (-1: all), kind, how
/// many read it, missed it for a collision and found it too weak, and the attempt.
type FlightRow = (f64, f64, u32, i64, u8, u32, u32, u32, u8);

/// Frames on the air of a room.
#[derive(Serialize)]
pub(crate) struct DrawnFlights {
    stations: Vec<DrawnStation>,
    kinds: [&'static str; 4],
    flights: Vec<FlightRow>,
    /// Frames beyond those.
    dropped: u64,
    seconds: f64,
}

/// Returns the frames of the first room of a question.
pub(crate) fn flights(
    desk: &FleetDesk,
    seconds: f64,
    most: usize,
) -> Result<DrawnFlights, PageError> {
    let Some(first) = desk.cases.first() else {
        return Err(PageError::new("nothing flies here", "the room has no devices", "add one"));
    };
    let time = Duration::try_from_secs_f64(seconds.clamp(0.1, 3600.0)).unwrap_or_default();
    // No warm-up: what flies at the start is of interest, too.
    let load =
        Load { warm_up: Duration::ZERO, time, drain: Duration::from_millis(500), ..first.load };
    let case = espbench_engine::predict::RoomCase { load, ..*first };
    let watched = desk.predictor.watch(&case, 0, most.min(FLIGHTS));
    let watched = watched
        .map_err(|why| PageError::new("this room cannot be simulated", why, "try fewer devices"))?;
    let begun = watched.outcome.begun;
    let since = |at: espbench_model::time::Instant| at.since(begun).as_nanos() as f64 / 1e3;
    let row = |it: &Flight| {
        let kind = match it.what {
            AirtimeKind::Data => 0,
            AirtimeKind::Ack | AirtimeKind::BlockAck | AirtimeKind::Clearance => 1,
            AirtimeKind::Beacon | AirtimeKind::Management | AirtimeKind::Null => 2,
            AirtimeKind::Background => 3,
        };
        let to = it.to.map_or(-1, i64::from);
        (
            since(it.begin),
            since(it.end),
            it.from,
            to,
            kind,
            it.heard,
            it.collided,
            it.noise,
            it.attempt,
        )
    };
    Ok(DrawnFlights {
        stations: stations(&watched.scene),
        kinds: ["data", "control", "management", "background"],
        flights: watched.outcome.flights.iter().map(row).collect(),
        dropped: watched.outcome.flights_dropped,
        seconds,
    })
}
