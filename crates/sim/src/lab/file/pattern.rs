//! Patterns in which the devices of a group stand about its middle.

use super::block::TomlTable;
use super::key::{KeySpec, KeyType, ROOM_M, key};
use super::wrong::FileError;
use crate::lab::scene::Point;
use alloc::format;
use core::f64::consts::PI;
use espbench_dot11::random::RngStream;

const STEP: KeySpec =
    key("step_m", KeyType::Number(0.001, ROOM_M), "", "metres from one to the next");

/// Keys of a line.
pub(super) static LINE: [KeySpec; 2] = [
    STEP,
    key(
        "angle_deg",
        KeyType::Number(-360.0, 360.0),
        "90",
        "its direction: 0 is to the right, 90 away",
    ),
];
/// Keys of a grid.
pub(super) static GRID: [KeySpec; 2] = [
    STEP,
    key(
        "columns",
        KeyType::Whole(1, 1000),
        "as many as rows",
        "devices side by side, away from the initiator",
    ),
];
/// Keys of a ring.
pub(super) static RING: [KeySpec; 1] =
    [key("radius_m", KeyType::Number(0.0, ROOM_M), "", "its radius")];
/// Keys of a cluster.
pub(super) static CLUSTER: [KeySpec; 3] = [
    key("least_m", KeyType::Number(0.0, ROOM_M), "0", "the nearest to the middle"),
    key("most_m", KeyType::Number(0.0, ROOM_M), "", "the farthest from the middle"),
    key(
        "arc_deg",
        KeyType::Number(1.0, 360.0),
        "360",
        "how far around, with its middle to the right",
    ),
];

/// The tables of patterns.
pub(super) const LINE_TABLE: KeySpec = key("line", KeyType::Table, "none", "devices in a line");
pub(super) const GRID_TABLE: KeySpec =
    key("grid", KeyType::Table, "none", "devices in a square grid, as on USB hubs on a table");
pub(super) const RING_TABLE: KeySpec =
    key("ring", KeyType::Table, "none", "devices in a ring around the middle");
pub(super) const CLUSTER_TABLE: KeySpec =
    key("cluster", KeyType::Table, "none", "devices strewn about the middle, by the seed");

/// Pattern of a group's devices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Pattern {
    /// In a line.
    Line { step_m: f64, angle: f64 },
    /// In rows; without columns as wide as deep.
    Grid { step_m: f64, columns: Option<u16> },
    /// Around the middle.
    Ring { radius_m: f64 },
    /// Anywhere at these distances from the middle, evenly over the area.
    Cluster { least_m: f64, most_m: f64, arc: f64 },
}

/// Reads the pattern of a group.
pub(super) fn read(group: &TomlTable<'_>) -> Result<Option<Pattern>, FileError> {
    let mut found = None;
    for name in ["line", "grid", "ring", "cluster"] {
        let pattern = one(group, name)?;
        if pattern.is_some() && found.is_some() {
            return Err(group.wrong_value(name, "the group has another pattern already: give one"));
        }
        found = found.or(pattern);
    }
    Ok(found)
}

fn one(group: &TomlTable<'_>, name: &str) -> Result<Option<Pattern>, FileError> {
    Ok(match name {
        "line" => {
            let Some(it) = group.table(name, &LINE)? else { return Ok(None) };
            let angle = it.number("angle_deg")?.unwrap_or(90.0) * PI / 180.0;
            Some(Pattern::Line { step_m: it.must("step_m", it.number("step_m")?)?, angle })
        }
        "grid" => {
            let Some(it) = group.table(name, &GRID)? else { return Ok(None) };
            let step_m = it.must("step_m", it.number("step_m")?)?;
            Some(Pattern::Grid { step_m, columns: it.whole("columns")? })
        }
        "ring" => {
            let Some(it) = group.table(name, &RING)? else { return Ok(None) };
            Some(Pattern::Ring { radius_m: it.must("radius_m", it.number("radius_m")?)? })
        }
        _ => {
            let Some(it) = group.table(name, &CLUSTER)? else { return Ok(None) };
            let least_m = it.number("least_m")?.unwrap_or(0.0);
            let most_m = it.must("most_m", it.number("most_m")?)?;
            if most_m < least_m {
                let message = format!("it is less than `least_m`, {least_m}");
                return Err(it.wrong_value("most_m", message));
            }
            let arc = it.number("arc_deg")?.unwrap_or(360.0) * PI / 180.0;
            Some(Pattern::Cluster { least_m, most_m, arc })
        }
    })
}

impl Pattern {
    /// Returns the pattern with other distances from the middle; `None` for a pattern that has no
    /// such distance.
    pub(super) fn at_distance(self, nearest: f64, farthest: f64) -> Option<Self> {
        let middle = f64::midpoint(nearest, farthest);
        match self {
            Self::Line { .. } | Self::Grid { .. } => None,
            Self::Ring { .. } => Some(Self::Ring { radius_m: middle }),
            Self::Cluster { least_m, most_m, arc } => {
                let half = if nearest < farthest {
                    (farthest - nearest) / 2.0
                } else {
                    ((most_m - least_m) / 2.0).min(middle)
                };
                Some(Self::Cluster { least_m: middle - half, most_m: middle + half, arc })
            }
        }
    }

    /// Returns the position of the `number`th of `count` devices.
    pub(super) fn place(
        self,
        middle: Point,
        number: u16,
        count: u16,
        random: &mut RngStream,
    ) -> Point {
        let (number, of) = (f64::from(number), f64::from(count.max(1)));
        let (away, angle) = match self {
            Self::Line { step_m, angle } => (step_m * (number - (of - 1.0) / 2.0), angle),
            Self::Grid { step_m, columns } => {
                let columns = columns.map_or_else(|| libm::ceil(libm::sqrt(of)), f64::from);
                let rows = libm::ceil(of / columns);
                let row = libm::floor(number / columns);
                let column = number - row * columns;
                let wide = columns.min(of);
                return Point {
                    x: middle.x + step_m * (row - (rows - 1.0) / 2.0),
                    y: middle.y + step_m * (column - (wide - 1.0) / 2.0),
                    z: middle.z,
                };
            }
            Self::Ring { radius_m } => (radius_m, 2.0 * PI * number / of),
            Self::Cluster { least_m, most_m, arc } => {
                let (one, two) = (random.unit(), random.unit());
                let (least, most) = (least_m * least_m, most_m * most_m);
                (libm::sqrt(least + (most - least) * one), arc * (two - 0.5))
            }
        };
        Point {
            x: middle.x + away * libm::cos(angle),
            y: middle.y + away * libm::sin(angle),
            z: middle.z,
        }
    }
}
