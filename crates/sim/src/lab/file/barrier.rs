//! Walls and floors of a lab.

use super::block::TomlTable;
use super::key::{KeySpec, KeyType, key};
use super::wrong::FileError;
use crate::lab::scene::{Barriers, Floor, Wall};

/// The most walls or floors of a lab.
const MOST: usize = 1000;

/// Materials by name, with the loss at 2.4 GHz in dB. The first two: COST 231, "Digital Mobile Radio Towards
/// Future Generation Systems", 1999, chapter 4.7; so the floor. The others: a slab, hit at a right angle,
/// with the permittivity and conductivity of Recommendation ITU-R P.2040-1, Table 3 (plasterboard of 25 mm,
/// wood of 40 mm, glass of 6 mm, brick of 120 mm, concrete of 200 mm; the mean over a tenth more and less).
const MATERIALS: [(&str, f64); 8] = [
    ("light", 3.4),
    ("heavy", 6.9),
    ("plasterboard", 1.2),
    ("wood", 0.6),
    ("glass", 1.9),
    ("brick", 3.8),
    ("concrete", 14.7),
    ("floor", 18.3),
];

/// Returns the materials with their losses in dB, and whether these are COST 231's.
pub(in crate::lab) fn material_constants() -> impl Iterator<Item = (&'static str, f64, bool)> {
    MATERIALS.into_iter().map(|(name, db)| (name, db, ["light", "heavy", "floor"].contains(&name)))
}

/// Returns the loss in one wall of a material, in dB; `None` where there is none of that name.
#[must_use]
pub fn material_db(name: &str) -> Option<f64> {
    MATERIALS.iter().find(|it| it.0 == name).map(|it| it.1)
}

/// Returns the names of the materials.
#[must_use]
pub const fn materials() -> &'static [&'static str] {
    &NAMES
}

/// Their names.
static NAMES: [&str; MATERIALS.len()] = {
    let mut names = [""; MATERIALS.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = MATERIALS[at].0;
        at += 1;
    }
    names
};

const MATERIAL: KeySpec = key(
    "material",
    KeyType::Word(&NAMES),
    "\"light\"",
    "what it is of, in place of `loss_db`: 3.4, 6.9 (light and heavy walls: COST 231), 1.2, 0.6, 1.9, 3.8, 14.7 dB (slabs of 25, 40, 6, 120 and 200 mm: ITU-R P.2040), 18.3 dB (a floor: COST 231)",
);
const LOSS: KeySpec = key(
    "loss_db",
    KeyType::Number(0.0, 100.0),
    "that of `material`",
    "what it takes from a link that goes through it",
);

pub(super) static WALL: [KeySpec; 4] = [
    key("from", KeyType::Place, "", "one end: to the right, away, and the height of its foot"),
    key(
        "to",
        KeyType::Place,
        "",
        "the other end, with the height of its top; with equal heights it has no end above and below",
    ),
    MATERIAL,
    LOSS,
];

pub(super) static FLOOR: [KeySpec; 3] = [
    key("height_m", KeyType::Number(-1000.0, 1000.0), "", "its height in metres"),
    KeySpec { usual: "\"floor\"", ..MATERIAL },
    LOSS,
];

/// Reads the walls and floors of a lab.
pub(super) fn read(lab: &TomlTable<'_>) -> Result<Barriers, FileError> {
    let mut barriers = Barriers::default();
    for it in lab.blocks("wall", &WALL)? {
        let from = it.must("from", it.place("from")?)?;
        let to = it.must("to", it.place("to")?)?;
        if (from.x, from.y) == (to.x, to.y) {
            return Err(it.wrong_value("to", "both ends are in one place of the plan"));
        }
        barriers.walls.push(Wall { ends: [from, to], loss_db: loss_db(&it, 0)? });
    }
    for it in lab.blocks("floor", &FLOOR)? {
        let height_m = it.must("height_m", it.number("height_m")?)?;
        let loss_db = loss_db(&it, MATERIALS.len() - 1)?;
        barriers.floors.push(Floor { height_m, loss_db });
    }
    if barriers.walls.len().max(barriers.floors.len()) > MOST {
        return Err(lab.wrong("a lab has at most 1000 walls and 1000 floors"));
    }
    Ok(barriers)
}

/// Returns the loss of a wall or floor, whose material is the usual one if nothing is said.
fn loss_db(it: &TomlTable<'_>, usual: usize) -> Result<f64, FileError> {
    let (material, loss) = (it.word(MATERIAL.name)?, it.number(LOSS.name)?);
    match (material, loss) {
        (Some(_), Some(_)) => Err(it.wrong_value(LOSS.name, "give either `material` or `loss_db`")),
        (_, Some(loss)) => Ok(loss),
        (material, None) => Ok(MATERIALS[material.unwrap_or(usual)].1),
    }
}
