//! Tests carried out in a lab: one cell of a plan at a time, whatever its kind.
//!
//! [`check`] says whether a lab can do a cell, [`scene`] makes its room, and [`run_in`] carries it out
//! there and gives samples, counters and facts to a [`Record`]. [`run`] does all of it.
//!
//! | module | tests |
//! |---|---|
//! | [`consoles`] | those of Espressif's ESP-NOW report: commands are typed at the devices' consoles |
//! | [`programs`] | those over IP: devices and the PC get programs |
//! | `failed` | why a cell was not carried out |

pub mod consoles;
mod failed;
pub mod programs;
#[cfg(test)]
mod tests;

pub use failed::SuiteError;

use super::file::Library;
use super::record::Record;
use super::run::Tap;
use super::scene::Scene;
use super::wifi::watch::Watcher;
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
    matches!(workload, Workload::EspNow(_) | Workload::Wifi(_))
}

/// Checks that a cell can be carried out in a lab, before any of it is.
///
/// # Errors
/// [`SuiteError::File`], [`SuiteError::NoDevice`], or [`SuiteError::Unable`] with what is missing.
pub fn check(workload: &Workload, library: &Library, lab: Option<&str>) -> Result<(), SuiteError> {
    // Any seed will do: only places depend on it.
    let scene = scene(workload, library, lab, 1)?;
    match workload {
        Workload::EspNow(work) => consoles::check(work, &scene),
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
        Workload::Wifi(work) => programs::scene(work, library, lab)?,
        _ => return Err(SuiteError::NoDevice),
    };
    scene.environment.place = Some(place);
    Ok(scene)
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
    match workload {
        Workload::EspNow(work) => consoles::run_in(work, scene, seed, witness, record),
        Workload::Wifi(work) => programs::run_in(work, scene, seed, witness, record),
        _ => Err(SuiteError::NoDevice),
    }
}
