//! The simulation that stands beside a measured run: the same plan with the same seed, on the chip and
//! with the release of the component that were found.

use crate::simulator::{CellError, Simulator};
use alloc::string::String;
use alloc::vec::Vec;
use esp_now::component::{ComponentRelease, Idf};
use espbench_measure::cell::Cell;
use espbench_measure::plan::PlanSet;
use espbench_model::workload::Name;
use espbench_sim::lab::file::{FileKind, Library};
use espbench_sim::lab::scene::Scene;

/// The device that a run was measured on, as far as its cells tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MeasuredDevice {
    /// Name of the chip.
    pub chip: Option<String>,
    /// Release of the esp-now component.
    pub release: Option<String>,
    /// Release of ESP-IDF.
    pub idf: Option<String>,
}

impl MeasuredDevice {
    /// Returns what the cells of a run tell of its device: what is the same in all that say it.
    #[must_use]
    pub fn of(cells: &[Cell]) -> Self {
        let measured = || cells.iter().filter(|it| it.origin.is_real_time());
        let chip = |it: &Cell| {
            Some(it.id.chip.clone()).filter(|it| !it.is_empty() && it != "unstated" && it != "host")
        };
        let release = |it: &Cell| it.test.esp_now_release.clone();
        let idf = |it: &Cell| it.test.idf_release.clone();
        Self {
            chip: same(measured().filter_map(chip)),
            release: same(measured().filter_map(release)),
            idf: same(measured().filter_map(idf)),
        }
    }
}

/// Returns the value that all have.
fn same(mut all: impl Iterator<Item = String>) -> Option<String> {
    let first = all.next()?;
    all.all(|it| it == first).then_some(first)
}

/// Returns the plans as they are simulated on a device like that: where the lab has another chip, with the
/// profile of that chip. Without a lab's name each test is in that of its document.
#[must_use]
pub fn on_device(mut set: PlanSet, library: &Library, found: &MeasuredDevice) -> PlanSet {
    let Some(chip) = found.chip.as_deref() else { return set };
    let Some(profile) = profile_of(library, chip) else { return set };
    let has_chip = |scene: &Scene| scene.nodes.iter().all(|it| it.profile.chip_name == chip);
    set.change(|work| {
        let room = |work: &_| espbench_sim::lab::suite::scene(work, library, None, 1);
        let is_other =
            work.lab().profile.is_none() && room(work).is_ok_and(|scene| !has_chip(&scene));
        if let (true, Some(lab)) = (is_other, work.lab_mut()) {
            lab.profile = Some(profile);
        }
    });
    set
}

/// Lets all nodes of a library have the releases of a device like that, as far as it told them.
pub fn with_releases(library: &mut Library, found: &MeasuredDevice) {
    let component = named(&ComponentRelease::NAMED, found.release.as_deref());
    library.set_releases(component, named(&Idf::NAMED, found.idf.as_deref()));
}

/// Returns the value of that name.
fn named<T: Copy>(all: &[(&str, T)], name: Option<&str>) -> Option<T> {
    all.iter().find(|it| name == Some(it.0)).map(|it| it.1)
}

/// Returns the built-in profile of a chip: the one that has its name, or else the first that is of it.
fn profile_of(library: &Library, chip: &str) -> Option<Name> {
    let is_of = |name: &&str| library.profile(name).is_ok_and(|it| it.chip_name == chip);
    let all: Vec<&str> = library.names(FileKind::Profile).filter(is_of).collect();
    let own = all.iter().find(|it| **it == chip);
    Name::new(own.or(all.first())?)
}

/// Returns why none of the plans' tests can be simulated: the reason of the first; `None` where one can.
#[must_use]
pub fn refused(set: &PlanSet, simulator: &Simulator) -> Option<CellError> {
    let mut first = None;
    for work in set.plans.iter().flat_map(|plan| &plan.workloads) {
        match simulator.check(work) {
            Ok(()) => return None,
            Err(error) => {
                first.get_or_insert(error);
            }
        }
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;
    use espbench_sim::lab::file::Overrides;

    #[test]
    fn nodes_have_the_releases_that_boards_told() {
        let releases = |release: Option<&str>, idf: Option<&str>| {
            let mut library = Library::built_in();
            let found = MeasuredDevice {
                chip: None,
                release: release.map(Into::into),
                idf: idf.map(Into::into),
            };
            with_releases(&mut library, &found);
            let scene = library.scene("two-boards", &Overrides::default(), 1).unwrap();
            let settings = &scene.nodes[1].settings;
            (settings.compat.release.name(), settings.compat.idf.name(), settings.build.idf)
        };
        assert_eq!(releases(None, None), ("2022-07", "4.4", "v4.4"));
        assert_eq!(releases(Some("2.5.3"), Some("5.4")), ("2.5.3", "5.4", "v5.4"));
        assert_eq!(releases(Some("2.4"), Some("unheard of")), ("2.4", "4.4", "v4.4"));
    }
}
