//! The constants of a lab's profile and environment that may be fitted.

use super::{FitError, FitQuestion};
use crate::simulator::Simulator;
use crate::{SeededCell, seeded_cells};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_sim::lab::file::{Constant, Constants, constants};
use espbench_sim::lab::file::{FileKind, Need};
use espbench_sim::lab::profile::Confidence;
use espbench_sim::lab::scene::Scene;

/// A constant that may be fitted.
#[derive(Clone, Debug, PartialEq)]
pub struct FitConstant {
    /// Kind of its file: a profile or an environment.
    pub kind: FileKind,
    /// Name of the file.
    pub file: String,
    /// Key of the constant, such as `transmit.fixed_us`.
    pub key: String,
    /// Meaning of the constant.
    pub about: String,
    /// Value of the constant, above 0.
    pub value: f64,
    /// Whether nothing better than a fit or an assumption is known: such constants are looked at where
    /// none is named.
    pub open: bool,
}

impl FitConstant {
    fn of(kind: FileKind, file: &str, it: Constant) -> Option<Self> {
        let value = it.value.filter(|value| *value > 0.0)?;
        let open = it.fitted() || it.confidence == Some(Confidence::Low);
        Some(Self { kind, file: file.into(), key: it.key, about: it.about, value, open })
    }

    /// Returns the name with its file: `esp32/transmit.fixed_us`.
    fn full_name(&self) -> String {
        format!("{}/{}", self.file, self.key)
    }
}

/// Returns the name of the lab in which a question's plans are simulated, and the constants of its
/// profiles and its environment.
pub(super) fn of_lab(question: &FitQuestion<'_>) -> Result<(String, Vec<FitConstant>), FitError> {
    let simulator = Simulator::new(question.library.clone(), question.lab);
    let mut labs = BTreeSet::new();
    let (mut profiles, mut places) = (BTreeSet::new(), BTreeSet::new());
    let mut seen: Vec<SeededCell> = Vec::new();
    for cell in seeded_cells(question.set, question.set.seed()) {
        // Repetitions are in the same room.
        if seen.iter().any(|it| it.step.ordinal == cell.step.ordinal) {
            continue;
        }
        let scene = simulator.scene(&cell).map_err(|error| FitError::Cell(format!("{error}")))?;
        labs.insert(scene.name.clone());
        profiles.extend(profiles_of(&scene));
        places.insert(scene.environment.name.clone());
        seen.push(cell);
    }
    let lab = labs.pop_first().ok_or(FitError::NoCells)?;
    if !labs.is_empty() {
        return Err(FitError::SeveralLabs(core::iter::once(lab).chain(labs).collect()));
    }
    let mut all = Vec::new();
    let needs = question.library.needs(FileKind::Lab, question.lab.unwrap_or(&lab));
    let file = |kind: FileKind, name: String| {
        // A scene has the short name of a user's file.
        let is = |it: &&Need| it.kind == kind && it.name.trim_end_matches(".toml") == name;
        needs.iter().find(is).map_or(name.clone(), |it| it.name.clone())
    };
    for name in profiles.into_iter().map(|it| file(FileKind::Profile, it)) {
        let profile = question.library.profile(&name).map_err(FitError::File)?;
        let of = |it| FitConstant::of(FileKind::Profile, &name, it);
        all.extend(constants(Constants::Profile(&profile)).into_iter().filter_map(of));
    }
    for name in places.into_iter().map(|it| file(FileKind::Environment, it)) {
        let place = question.library.environment(&name).map_err(FitError::File)?;
        let of = |it| FitConstant::of(FileKind::Environment, &name, it);
        all.extend(constants(Constants::Environment(&place)).into_iter().filter_map(of));
    }
    Ok((lab, all))
}

fn profiles_of(scene: &Scene) -> impl Iterator<Item = String> {
    let nodes = scene.nodes.iter().map(|it| it.profile.name.clone());
    let devices = scene.devices.iter().take(usize::from(scene.measured));
    nodes.chain(devices.map(|it| it.profile.name.clone()))
}

/// Returns the constants of these names: a key, or `FILE/KEY`.
pub(super) fn named(all: &[FitConstant], names: &[String]) -> Result<Vec<FitConstant>, FitError> {
    let mut found = Vec::new();
    for name in names {
        let is = |it: &&FitConstant| it.key == *name || it.full_name() == *name;
        let mut those = all.iter().filter(is);
        let Some(one) = those.next() else {
            let known = all.iter().map(|it| it.key.clone()).collect();
            return Err(FitError::NoConstant(name.clone(), known));
        };
        let others: Vec<String> = those.map(FitConstant::full_name).collect();
        if !others.is_empty() {
            let all = core::iter::once(one.full_name()).chain(others).collect();
            return Err(FitError::SeveralConstants(name.clone(), all));
        }
        if !found.contains(one) {
            found.push(one.clone());
        }
    }
    Ok(found)
}
