//! A crate or folder with several modules opens with a map: a table with a row for each of them.

use crate::layers::files;
use std::path::Path;

/// Modules that a reader finds without a table.
const FEW: usize = 3;

#[test]
fn every_crate_and_folder_has_a_true_map() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let (mut maps, mut wrong) = (0, Vec::new());
    for name in std::fs::read_dir(&crates).unwrap() {
        for file in files(&name.unwrap().path().join("src")) {
            if !["lib.rs", "mod.rs"].contains(&file.file_name().unwrap().to_str().unwrap()) {
                continue;
            }
            let map = Map::of(&std::fs::read_to_string(&file).unwrap());
            maps += usize::from(map.rows.is_some());
            let place = file.strip_prefix(&crates).unwrap().display();
            wrong.extend(map.faults().into_iter().map(|fault| format!("{place}: {fault}")));
        }
    }
    assert_eq!(wrong, Vec::<String>::new(), "tables of `//! | module | contents |`");
    assert!(maps > 80, "only {maps} maps were found");
}

/// The modules that a file declares, and those that its map names.
struct Map {
    modules: Vec<String>,
    /// Modules of tests: they may be in the map, and need not be.
    tests: Vec<String>,
    rows: Option<Vec<String>>,
}

impl Map {
    fn of(text: &str) -> Self {
        let (mut modules, mut tests, mut is_test) = (Vec::new(), Vec::new(), false);
        for line in text.lines() {
            if let Some(name) = declared(line) {
                if is_test { &mut tests } else { &mut modules }.push(name.to_string());
            }
            is_test = line.starts_with("#[") && (is_test || line.contains("cfg(test)"));
        }
        let mut rows = None;
        let mut doc = text.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim);
        while let Some(line) = doc.next() {
            if line.starts_with("| module |") {
                let cells = doc.by_ref().skip(1).map_while(|row| row.strip_prefix('|'));
                let named = cells.flat_map(|row| names(row.split('|').next().unwrap()));
                rows.get_or_insert_with(Vec::new).extend(named);
            }
        }
        Self { modules, tests, rows }
    }

    fn faults(&self) -> Vec<String> {
        let Some(rows) = &self.rows else {
            let many = self.modules.len() > FEW;
            return if many { vec!["has no map".to_string()] } else { Vec::new() };
        };
        let missing = self.modules.iter().filter(|it| !rows.contains(it));
        let known = |it: &&String| self.modules.contains(it) || self.tests.contains(it);
        let strange = rows.iter().filter(|it| !known(it));
        missing
            .map(|it| format!("the map misses `{it}`"))
            .chain(strange.map(|it| format!("the map names `{it}`, which is no module of it")))
            .collect()
    }
}

/// Returns the name of the module that a line declares, if its text is in a file of its own.
fn declared(line: &str) -> Option<&str> {
    let (visibility, name) = line.strip_suffix(';')?.rsplit_once("mod ")?;
    (visibility.is_empty() || visibility.starts_with("pub")).then_some(name)
}

/// Returns the names in a cell: each in backticks, with or without a link or what it is.
fn names(cell: &str) -> impl Iterator<Item = String> {
    cell.split('`').skip(1).step_by(2).map(|it| it.trim_start_matches("mod@").to_string())
}

#[test]
fn faults_are_told() {
    let faults = |text: &str| Map::of(text).faults();
    let map =
        |rows: &str| format!("//! Rooms.\n//!\n//! | module | contents |\n//! |---|---|\n{rows}\n");
    let modules = "mod a;\npub mod b;\npub(in crate::a) mod c;\n#[path = \"e.rs\"]\nmod d;\n\
                   #[cfg(test)]\nmod tests;\nmod inline {\n}\n";
    assert_eq!(faults(modules), ["has no map"]);
    assert_eq!(faults("mod a;\nmod b;\nmod c;\n"), [""; 0]);
    let whole = "//! | `a`, [`b`] | x |\n//! | [`mod@c`] | `d` |\n//! | `d` | y |";
    assert_eq!(faults(&(map(whole) + modules)), [""; 0]);
    let (fewer, more) = ("//! | `a`, [`b`] | `c` |\n//! | `d` | y |", "\n//! | `e` | z |");
    assert_eq!(faults(&(map(fewer) + modules)), ["the map misses `c`"]);
    let strange = faults(&(map(&(whole.to_string() + more)) + modules));
    assert_eq!(strange, ["the map names `e`, which is no module of it"]);
}
