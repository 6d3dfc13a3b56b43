//! One type name means one thing in the workspace.

use std::collections::BTreeMap;
use std::path::Path;

/// Public names that may be defined more than once, each for a reason.
const ALLOWED: [(&str, &str); 3] = [
    ("Args", "the options of a subcommand, private to its module: clap's own custom"),
    ("Batch", "one type in two forms: with the system calls of Linux, and without them"),
    ("Readme", "the README of a crate, so that its snippets run as tests; nothing outside sees it"),
];

#[test]
fn a_public_type_name_is_defined_once() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for member in std::fs::read_dir(crates).unwrap() {
        read(&member.unwrap().path().join("src"), &mut found);
    }
    let several = |name: &str| found.get(name).is_some_and(|places| places.len() > 1);
    let again: Vec<_> = found
        .iter()
        .filter(|(name, _)| several(name) && ALLOWED.iter().all(|it| it.0 != *name))
        .collect();
    assert!(again.is_empty(), "names that mean several things: {again:#?}");
    let needless: Vec<_> = ALLOWED.iter().filter(|it| !several(it.0)).collect();
    assert!(needless.is_empty(), "names that are defined once: {needless:?}");
    assert!(found.len() > 1000, "only {} types were found", found.len());
}

/// Adds the public types of a folder's files, with their places. Tests may have names of their own.
fn read(folder: &Path, found: &mut BTreeMap<String, Vec<String>>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if name.starts_with("test") {
            continue;
        }
        if path.is_dir() {
            read(&path, found);
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        for (line, number) in text.lines().zip(1..) {
            if let Some(name) = public_type(line) {
                found.entry(name.into()).or_default().push(format!("{}:{number}", path.display()));
            }
        }
    }
}

/// Returns the name of the public type that a line defines.
fn public_type(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("pub")?;
    let rest = if rest.starts_with('(') { rest.split_once(')')?.1 } else { rest };
    let (word, name) = rest.trim_start().split_once(' ')?;
    let is_type = matches!(word, "struct" | "enum" | "trait" | "union" | "type");
    let end = name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len());
    is_type.then_some(&name[..end])
}

#[test]
fn types_are_found_in_lines() {
    assert_eq!(public_type("    pub(crate) enum Fate {"), Some("Fate"));
    assert_eq!(public_type("pub struct Link(pub u16);"), Some("Link"));
    assert_eq!(public_type("pub type Floors = fn();"), Some("Floors"));
    assert_eq!(public_type("struct Own {"), None);
    assert_eq!(public_type("pub fn enumerate() {"), None);
    assert_eq!(public_type("public struct X"), None);
}
