//! All constants of the lab: of built-in files and of the code, each with its origin.

use crate::published;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use espbench_measure::cell::Cell;
use espbench_measure::predict::battery;
use espbench_sim::lab::constants::code_constants;
use espbench_sim::lab::file::{Constant, Constants, FileError, FileKind, Library, constants};
use espbench_sim::lab::profile::{Confidence, ConstantOrigin};

/// Published cells that a constant was fitted to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FittedCells {
    /// Number of the cells.
    pub count: usize,
    /// Published tables that have them.
    pub tables: Vec<String>,
}

/// A constant of the lab, where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct LabConstant {
    /// Kind of the file that states it; `None`: it stands in the code.
    pub kind: Option<FileKind>,
    /// Name of the file; `code` where there is none.
    pub file: String,
    /// The constant.
    pub constant: Constant,
    /// Published cells that it was fitted to.
    pub fitted_to: FittedCells,
}

impl LabConstant {
    /// Returns its origin. Numbers that a file leaves to their default are assumptions.
    #[must_use]
    pub fn origin(&self) -> ConstantOrigin {
        self.constant.origin.unwrap_or(ConstantOrigin::Assumed)
    }
}

/// The place of constants that are in no file.
pub const CODE: &str = "code";

/// Returns all constants of the built-in files, at the file that states them and not at those that are
/// like it, and those of the code.
///
/// # Errors
/// A built-in file is wrong, which its tests rule out.
pub fn built_in() -> Result<Vec<LabConstant>, FileError> {
    let library = Library::built_in();
    let cells = published::built_in();
    let mut all = Vec::new();
    for (kind, file, constant) in stated(&library)? {
        let fitted_to = fitted_cells(&file, &constant, &cells);
        all.push(LabConstant { kind: Some(kind), file, constant, fitted_to });
    }
    let code = code_constants().into_iter().chain(battery_constants());
    all.extend(code.map(|constant| LabConstant {
        kind: None,
        file: CODE.to_string(),
        constant,
        fitted_to: FittedCells::default(),
    }));
    Ok(all)
}

/// Returns the numbers behind the life of a battery.
fn battery_constants() -> impl Iterator<Item = Constant> {
    battery::constants().into_iter().map(|it| Constant {
        key: it.key,
        value: Some(it.value),
        about: String::new(),
        source: it.source.to_string(),
        origin: Some(match it.is_assumed {
            true => ConstantOrigin::Assumed,
            false => ConstantOrigin::Published,
        }),
        looked_at: String::new(),
        confidence: Some(if it.is_assumed { Confidence::Low } else { Confidence::Medium }),
    })
}

/// Returns the constants that each file states itself.
fn stated(library: &Library) -> Result<Vec<(FileKind, String, Constant)>, FileError> {
    let mut all = Vec::new();
    let mut of = |kind, name: &str, constants: Vec<Constant>| {
        let stated = |it: &Constant| it.value.is_some() && !it.source.is_empty();
        let own = constants.into_iter().filter(stated);
        all.extend(own.map(|it| (kind, name.to_string(), it)));
    };
    let mut bases: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    let mut profiles = Vec::new();
    for name in library.names(FileKind::Profile) {
        let list = constants(Constants::Profile(&*library.profile(name)?));
        let sources = list.iter().map(|it| (it.key.clone(), it.source.clone()));
        bases.insert(name.to_string(), sources.collect());
        profiles.push((name, list));
    }
    for (name, mut list) in profiles {
        list.retain(|it| {
            let is_of = |(base, sources): (&String, &BTreeMap<String, String>)| {
                let source = sources.get(&it.key);
                source.is_some_and(|source| it.source == format!("as {base}: {source}"))
            };
            !bases.iter().any(is_of)
        });
        of(FileKind::Profile, name, list);
    }
    for name in library.names(FileKind::Environment) {
        let place = library.environment(name)?;
        of(FileKind::Environment, name, constants(Constants::Environment(&place)));
    }
    for name in library.names(FileKind::Lab) {
        of(FileKind::Lab, name, library.lab_constants(name));
    }
    Ok(all)
}

/// Returns the published cells that name a constant as fitted to them.
fn fitted_cells(file: &str, constant: &Constant, cells: &[Cell]) -> FittedCells {
    let own = format!("{file}.{}", constant.key);
    let is_named = |cell: &&Cell| {
        let names = cell.fitted_constant.as_deref().unwrap_or_default();
        let mut names = names.split_whitespace();
        names.any(|name| name == own || name == constant.key && name.contains('.'))
    };
    let tables: Vec<&str> = cells.iter().filter(is_named).map(|it| it.id.table.as_str()).collect();
    let count = tables.len();
    let tables: BTreeSet<&str> = tables.into_iter().collect();
    FittedCells { count, tables: tables.into_iter().map(Into::into).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the names that published cells give to constants, without prose.
    fn named(cells: &[Cell]) -> BTreeSet<&str> {
        let names = cells.iter().filter_map(|it| it.fitted_constant.as_deref());
        names.flat_map(str::split_whitespace).filter(|it| it.contains('.')).collect()
    }

    #[test]
    fn few_are_fitted_and_none_hides() {
        let all = built_in().unwrap();
        let by_hand_or_fitted = |it: &&LabConstant| {
            matches!(it.origin(), ConstantOrigin::Fitted | ConstantOrigin::ByHand)
        };
        let cells = published::built_in();
        for name in named(&cells) {
            let is = |it: &LabConstant| {
                name == it.constant.key || name == format!("{}.{}", it.file, it.constant.key)
            };
            assert!(all.iter().filter(by_hand_or_fitted).any(is), "{name} is not marked");
        }
        let fitted: Vec<String> = all
            .iter()
            .filter(|it| it.origin() == ConstantOrigin::Fitted)
            .map(|it| format!("{}.{}", it.file, it.constant.key))
            .collect();
        assert!((20..=60).contains(&fitted.len()), "{}: {fitted:#?}", fitted.len());
    }

    #[test]
    fn all_kinds_of_places_are_there() {
        let all = built_in().unwrap();
        let has = |kind, file: &str, key: &str| {
            let is =
                |it: &&LabConstant| it.kind == kind && it.file == file && it.constant.key == key;
            assert_eq!(all.iter().filter(is).count(), 1, "{file} {key}");
        };
        has(Some(FileKind::Profile), "work", "wifi_receive.fixed_us");
        has(Some(FileKind::Environment), "lab-air", "background.neighbour-router.rate_hz");
        has(Some(FileKind::Environment), "office", "background.laptop.at_x");
        has(Some(FileKind::Lab), "shield-box", "access_point.forward_us");
        has(Some(FileKind::Lab), "room-office", "device.devices.cluster.most_m");
        has(None, CODE, "lab.wifi.esp.dropped_percent");
        let of_chip = |it: &&LabConstant| it.constant.key == "transmit.fixed_us";
        assert_eq!(all.iter().filter(of_chip).count(), 1, "chips have it from `work`");
    }
}
