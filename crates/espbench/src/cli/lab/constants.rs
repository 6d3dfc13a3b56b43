//! All constants of the simulator: how many there are, where they are from, and what those that were fitted
//! were fitted to.

use super::super::output;
use crate::render::text;
use espbench_engine::published;
use espbench_measure::cell::Cell;
use espbench_measure::table::Column;
use espbench_sim::lab::file::{Constant, Constants, FileKind, Library, constants};
use espbench_sim::lab::profile::Confidence;
use std::collections::{BTreeMap, BTreeSet};

/// Flags.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Print every constant with its source, and not only those that were fitted
    #[arg(long)]
    full: bool,
}

/// Constants that a built-in file states itself.
struct FileConstants {
    kind: FileKind,
    name: String,
    constants: Vec<Constant>,
}

/// Numbers of constants by their origin.
#[derive(Default)]
struct OriginCounts {
    fitted: usize,
    graded: BTreeMap<Option<Confidence>, usize>,
}

impl OriginCounts {
    fn of(list: &[Constant]) -> Self {
        let mut counts = Self::default();
        for it in list {
            if it.fitted {
                counts.fitted += 1;
            } else {
                *counts.graded.entry(it.confidence).or_default() += 1;
            }
        }
        counts
    }

    fn graded(&self, confidence: Option<Confidence>) -> usize {
        self.graded.get(&confidence).copied().unwrap_or_default()
    }
}

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    let files = built_in()?;
    let cells = published::built_in();
    let mut out = text::table(&overview(&files));
    let fitted: usize = files.iter().map(|it| OriginCounts::of(&it.constants).fitted).sum();
    out += &format!(
        "\nA constant stands at the file that states it, and not at those that are like it. {fitted} were fitted: \
         the cells that they were fitted to are marked in reports, and docs/fit.md tells what was chosen with a \
         look at tables.\n\n"
    );
    let rows = files.iter().flat_map(|file| {
        let shown = file.constants.iter().filter(|it| args.full || it.fitted);
        shown.map(|it| row(file, it, &cells))
    });
    let columns = ["file", "constant", "value", "origin", "fitted to", "source"];
    let columns = columns.map(Column::words).to_vec();
    out += &text::table(&super::table("constants", "", columns, rows.collect()));
    output::print(&out)
}

/// Returns the built-in files with the constants that each states itself.
fn built_in() -> anyhow::Result<Vec<FileConstants>> {
    let library = Library::built_in();
    let mut files = Vec::new();
    for name in library.names(FileKind::Profile) {
        let constants = constants(Constants::Profile(&*library.profile(name)?));
        files.push(FileConstants { kind: FileKind::Profile, name: name.into(), constants });
    }
    let bases: Vec<(String, BTreeMap<String, String>)> = files
        .iter()
        .map(|it| {
            let sources = it.constants.iter().map(|it| (it.key.clone(), it.source.clone()));
            (it.name.clone(), sources.collect())
        })
        .collect();
    for file in &mut files {
        let is_of = |it: &Constant, base: &(String, BTreeMap<String, String>)| {
            base.1
                .get(&it.key)
                .is_some_and(|source| it.source == format!("as {}: {source}", base.0))
        };
        let stated = |it: &Constant| it.value.is_some() && !it.source.is_empty();
        file.constants.retain(|it| stated(it) && !bases.iter().any(|base| is_of(it, base)));
    }
    for name in library.names(FileKind::Environment) {
        let mut constants = constants(Constants::Environment(&library.environment(name)?));
        constants.retain(|it| it.value.is_some());
        files.push(FileConstants { kind: FileKind::Environment, name: name.into(), constants });
    }
    Ok(files)
}

/// Returns the table of how many constants each file has, by their origin.
fn overview(files: &[FileConstants]) -> espbench_measure::table::Table {
    let columns = [
        "file",
        "kind",
        "constants",
        "fitted",
        "of a document",
        "computed of one",
        "assumed",
        "not graded",
    ];
    let grades = [Some(Confidence::High), Some(Confidence::Medium), Some(Confidence::Low), None];
    let rows = files.iter().map(|file| {
        let counts = OriginCounts::of(&file.constants);
        let mut row =
            vec![file.name.clone(), file.kind.word().into(), file.constants.len().to_string()];
        row.push(counts.fitted.to_string());
        row.extend(grades.map(|it| counts.graded(it).to_string()));
        row
    });
    super::table("origins", "", columns.map(Column::words).to_vec(), rows.collect())
}

/// Returns the row of a constant.
fn row(file: &FileConstants, it: &Constant, cells: &[Cell]) -> Vec<String> {
    let origin = match (it.fitted, it.confidence) {
        (true, _) => "fitted",
        (false, Some(Confidence::High)) => "document",
        (false, Some(Confidence::Medium)) => "computed",
        (false, Some(Confidence::Low)) => "assumed",
        (false, None) => "",
    };
    let value = it.value.map_or_else(String::new, |value| value.to_string());
    let fitted_to = if it.fitted { fitted_to(file, &it.key, cells) } else { String::new() };
    vec![file.name.clone(), it.key.clone(), value, origin.into(), fitted_to, it.source.clone()]
}

/// Returns the number of published cells to which a constant was fitted, with their tables.
fn fitted_to(file: &FileConstants, key: &str, cells: &[Cell]) -> String {
    let own = format!("{}.{key}", file.name);
    let of: Vec<&Cell> = cells
        .iter()
        .filter(|cell| {
            let names = cell.fitted_constant.as_deref().unwrap_or_default();
            names.split_whitespace().any(|name| name == key || name == own)
        })
        .collect();
    if of.is_empty() {
        return "no published cell: see the source".into();
    }
    let tables: BTreeSet<&str> = of.iter().map(|it| it.id.table.as_str()).collect();
    let tables: Vec<&str> = tables.into_iter().collect();
    format!("{} of {}", of.len(), tables.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_are_fitted_and_none_hides() {
        let files = built_in().unwrap();
        let library = Library::built_in();
        let names: usize = [FileKind::Profile, FileKind::Environment]
            .map(|it| library.names(it).count())
            .iter()
            .sum();
        assert_eq!(files.len(), names);
        let cells = published::built_in();
        let fitted: Vec<(&FileConstants, &Constant)> = files
            .iter()
            .flat_map(|file| file.constants.iter().map(move |it| (file, it)))
            .filter(|(_, it)| it.fitted)
            .collect();
        // docs/fit.md lists those that stand in labs and programs.
        assert!((20..=30).contains(&fitted.len()), "{}", fitted.len());
        for (file, it) in &fitted {
            assert!(!it.source.is_empty(), "{} {}", file.name, it.key);
        }
        // Each constant that a published cell names is there and is marked, but for those of labs.
        for name in cells.iter().filter_map(|it| it.fitted_constant.as_deref()) {
            let mut words = name.split_whitespace().filter(|it| it.contains('.'));
            let known = |word: &str| {
                fitted
                    .iter()
                    .any(|(file, it)| word == it.key || word == format!("{}.{}", file.name, it.key))
            };
            assert!(
                words.all(|it| known(it) || it.contains("access_point") || it.ends_with("heap")),
                "{name}"
            );
        }
    }
}
