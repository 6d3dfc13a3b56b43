//! Tests carried out in a lab: one cell of a plan at a time, whatever its kind.
//!
//! [`check`] says whether a lab can do a cell, [`scene`] makes its room, and [`run_in`] carries it out
//! there and gives samples, counters and facts to a [`Record`]. [`run`] does all of it.
//!
//! | module | tests |
//! |---|---|
//! | [`consoles`] | those of Espressif's ESP-NOW report: commands are typed at the devices' consoles |
//! | [`mark`] | lines of consoles that a test waits for, as values: of simulated devices and of boards |
//! | `messages` | messages of applications on nodes of ESP-NOW: relay lines, many to many, slots |
//! | [`notes`] | the notes of whoever types the commands: record, what was typed, pauses |
//! | [`procedure`] | the commands of that report, and for how long somebody waits: for boards on serial ports as well |
//! | [`programs`] | those over IP: devices and the PC get programs |
//! | `raw` | `esp_now_send` without the component, between two boards |
//! | `failed` | why a cell was not carried out |
//! | `overridden` | what a plan sets of a lab to another value than the lab's file |

pub mod consoles;
mod failed;
pub mod mark;
mod messages;
pub mod notes;
mod overridden;
pub mod procedure;
pub mod programs;
mod raw;
#[cfg(test)]
mod tests;

pub use failed::{SuiteError, Unable};
pub use overridden::{LabNotice, Overridden};

use super::file::{FileKind, Library, built_in_text};
use super::record::Record;
use super::run::Tap;
use super::scene::Scene;
use super::wifi::watch::Watcher;
use alloc::format;
use alloc::vec::Vec;
use espbench_model::fact;
use espbench_model::workload::Workload;

/// Seeds of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seeds {
    /// Seed of the place (where the devices of a cluster stand, shadowing): all cells of a run have
    /// the same.
    pub place: u64,
    /// Seed of all other chance: each cell has its own.
    pub cell: u64,
}

impl Seeds {
    /// Uses one seed for both.
    #[must_use]
    pub const fn both(seed: u64) -> Self {
        Self { place: seed, cell: seed }
    }
}

/// Witness of a test: of frames and nodes ([`Tap`]), and of machines with programs ([`Watcher`]).
/// [`Tap::wants_frames`] says whether it wants to be told at all.
pub trait Witness: Tap + Watcher {}

impl<T: Tap + Watcher> Witness for T {}

/// Returns whether a workload is one for a lab: ESP-NOW, or of a variant over Wi-Fi.
#[must_use]
pub const fn is_for_lab(workload: &Workload) -> bool {
    matches!(
        workload,
        Workload::EspNow(_)
            | Workload::RawEspNow(_)
            | Workload::EspNowMessages(_)
            | Workload::Wifi(_)
    )
}

/// Checks that a cell can be carried out in a lab, before any of it is.
///
/// # Errors
/// [`SuiteError::File`], [`SuiteError::NoDevice`], or [`SuiteError::Unable`] with what is missing.
pub fn check(workload: &Workload, library: &Library, lab: Option<&str>) -> Result<(), SuiteError> {
    // Any seed will do: only places depend on it.
    let scene = scene(workload, library, lab, 1)?;
    match workload {
        Workload::EspNow(work) => consoles::check(&consoles::placed(work, &scene), &scene),
        Workload::RawEspNow(work) => raw::check(work, &scene),
        Workload::EspNowMessages(work) => messages::check(work, &scene),
        Workload::Wifi(work) => programs::check(work, &scene),
        _ => Err(SuiteError::NoDevice),
    }
}

/// Makes the room of a cell: in the lab of that name, or in the one that the cell is usually carried
/// out in. `place` is the seed of [`Seeds::place`].
///
/// # Errors
/// [`SuiteError::File`] or [`SuiteError::NoDevice`]; [`SuiteError::Unable`] where no lab has the variant.
pub fn scene(
    workload: &Workload,
    library: &Library,
    lab: Option<&str>,
    place: u64,
) -> Result<Scene, SuiteError> {
    let mut scene = match workload {
        Workload::EspNow(work) => consoles::scene(work, library, lab, place)?,
        Workload::RawEspNow(work) => raw::scene(work, library, lab, place)?,
        Workload::EspNowMessages(work) => messages::scene(work, library, lab, place)?,
        Workload::Wifi(work) => programs::scene(work, library, lab)?,
        _ => return Err(SuiteError::NoDevice),
    };
    scene.environment.place = Some(place);
    let set = overridden::of(workload, library, &scene.name, lab.is_some())?;
    scene.overridden = set.into_iter().filter(|it| it.plan != it.lab).collect();
    // Where our own labs stretch a model, their sources say so: the reader did not, and can do nothing about it.
    if let Workload::Wifi(work) = workload
        && work.lab.distance_m.is_none()
        && work.lab.environment.is_none()
        && built_in_text(FileKind::Lab, &scene.name).is_some()
    {
        scene.environment.valid_m = None;
    }
    Ok(scene)
}

/// Returns what the cells of a plan set of their labs to other values than the labs' files, by lab.
///
/// # Errors
/// As [`scene`].
pub fn notices<'a>(
    workloads: impl Iterator<Item = &'a Workload>,
    library: &Library,
    lab: Option<&str>,
) -> Result<Vec<LabNotice>, SuiteError> {
    let mut notices = Vec::new();
    for workload in workloads {
        let Some(name) = lab_of(workload, library, lab) else { continue };
        let set = overridden::of(workload, library, name, lab.is_some())?;
        overridden::note(&mut notices, name, set);
    }
    for notice in &mut notices {
        // What is everywhere as the file has it is not told.
        notice.properties.retain(|(_, _, plan, lab)| plan != lab);
    }
    notices.retain(|it| !it.properties.is_empty());
    Ok(notices)
}

/// Returns the name of the lab in which a cell is carried out; `None` for no lab's work.
fn lab_of<'a>(workload: &Workload, library: &'a Library, lab: Option<&'a str>) -> Option<&'a str> {
    match workload {
        Workload::EspNow(work) => Some(lab.unwrap_or(consoles::default_lab(work.test))),
        Workload::RawEspNow(_) => Some(lab.unwrap_or(raw::LAB)),
        Workload::EspNowMessages(work) => Some(lab.unwrap_or(messages::default_lab(work))),
        Workload::Wifi(work) => lab.or_else(|| library.lab_of(work.variant.as_str())),
        _ => None,
    }
}

/// Carries out one cell in a lab of the library, without a witness.
///
/// # Errors
/// Why it was not carried out to its end. Samples that were given stay.
pub fn run(
    workload: &Workload,
    library: &Library,
    lab: Option<&str>,
    seeds: Seeds,
    record: &mut dyn Record,
) -> Result<(), SuiteError> {
    let scene = scene(workload, library, lab, seeds.place)?;
    run_in(workload, &scene, seeds.cell, &mut (), record)
}

/// Carries out one cell in a room that is as [`scene`] makes them.
///
/// # Errors
/// As [`run`].
pub fn run_in<W: Witness>(
    workload: &Workload,
    scene: &Scene,
    seed: u64,
    witness: &mut W,
    record: &mut dyn Record,
) -> Result<(), SuiteError> {
    for set in &scene.overridden {
        let Overridden { property, plan, lab, .. } = set;
        let space = if set.unit.is_empty() { "" } else { " " };
        let plan = format!("{plan}{space}{}", set.unit);
        record.fact(&format!("{}{property}", fact::PLAN_SETS), plan);
        record.fact(&format!("{}{property}", fact::LAB_HAS), lab.clone());
    }
    if let Some((farthest, valid)) = scene.beyond_model() {
        record.typed(fact::FARTHEST_M, farthest);
        record.typed(fact::MODEL_ENDS_M, valid);
    }
    let (devices, distance) = scene.open_places();
    if let Some(devices) = devices {
        record.typed(fact::LAB_DEVICES, devices);
    }
    if let Some((near, far)) = distance {
        record.typed(fact::LAB_NEAREST_M, near);
        record.typed(fact::LAB_FARTHEST_M, far);
    }
    match workload {
        Workload::EspNow(work) => {
            let work = &consoles::placed(work, scene);
            consoles::run_in(work, scene, seed, witness, record)
        }
        Workload::RawEspNow(work) => raw::run_in(work, scene, seed, witness, record),
        Workload::EspNowMessages(work) => messages::run_in(work, scene, seed, witness, record),
        Workload::Wifi(work) => programs::run_in(work, scene, seed, witness, record),
        _ => Err(SuiteError::NoDevice),
    }
}
