//! Each crate has a README, which names its examples. Programs in it run as tests of the crate's
//! documentation; a whole one, with a `main`, is an example word for word.

use std::path::{Path, PathBuf};

fn root(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

#[test]
fn readmes_show_the_examples() {
    let mut wrong = Vec::new();
    for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).unwrap() {
        let folder = entry.unwrap().path();
        let place = folder.file_name().unwrap().to_str().unwrap().to_string();
        let Ok(readme) = std::fs::read_to_string(folder.join("README.md")) else {
            wrong.push(format!("{place} has no README.md"));
            continue;
        };
        let examples = examples(&folder.join("examples"));
        for (name, _) in &examples {
            if !readme.contains(&format!("examples/{name}")) {
                wrong.push(format!("{place}: the README does not name examples/{name}"));
            }
        }
        let shown: Vec<&str> = readme.split("```rust\n").skip(1).collect();
        for program in &shown {
            let program = program.split("```").next().unwrap();
            if program.contains("fn main") && !examples.iter().any(|(_, text)| text == program) {
                wrong.push(format!("{place}: a program of the README is no example"));
            }
        }
        let run = std::fs::read_to_string(folder.join("src/lib.rs")).unwrap();
        if !shown.is_empty() && !run.contains("include_str!(\"../README.md\")") {
            wrong.push(format!("{place}: the program of the README does not run as a test"));
        }
        if shown.is_empty() && place != "espbench" {
            wrong.push(format!("{place}: the README shows no program"));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

/// Returns names and programs of a crate's examples; a program is its text without the opening
/// comment.
fn examples(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|it| it == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            let program: String = text
                .split_inclusive('\n')
                .skip_while(|line| line.starts_with("//!") || line.trim().is_empty())
                .collect();
            found.push((path.file_name().unwrap().to_str().unwrap().to_string(), program));
        }
    }
    found
}

/// Returns the blocks of the quick start: for whom, and its commands.
fn blocks() -> Vec<(String, Vec<String>)> {
    let readme = std::fs::read_to_string(root("README.md")).unwrap();
    let (_, rest) = readme.split_once("\n## Quick start\n").unwrap();
    let (part, _) = rest.split_once("\n## ").unwrap();
    let mut blocks = Vec::new();
    for (text, code) in part.split("```console\n").zip(part.split("```console\n").skip(1)) {
        let person = text.rsplit("**I ").next().and_then(|it| it.split("**").next()).unwrap();
        let code = code.split("```").next().unwrap();
        let commands = code.lines().filter_map(|line| line.strip_prefix("$ espbench "));
        let commands = commands.map(|it| it.split("  #").next().unwrap().trim().to_string());
        blocks.push((person.to_string(), commands.collect()));
    }
    blocks
}

#[test]
fn four_people_have_three_commands_each() {
    let all = blocks();
    let people: Vec<&str> = all.iter().map(|(person, _)| person.as_str()).collect();
    assert_eq!(
        people,
        ["have a board", "have a log or an sdkconfig", "plan a product", "do research"]
    );
    assert!(all.iter().all(|(_, commands)| commands.len() == 3), "{all:?}");
}

/// The README names the folder that has the program.
#[test]
fn the_folder_that_is_installed_has_the_program() {
    let readme = std::fs::read_to_string(root("README.md")).unwrap();
    let (_, rest) = readme.split_once("cargo install --path ").unwrap();
    let folder = rest.split(['`', ' ']).next().unwrap();
    let manifest = root(folder).join("Cargo.toml");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let metadata = std::process::Command::new(cargo)
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1", "--manifest-path"])
        .arg(&manifest)
        .output()
        .unwrap();
    let metadata: serde_json::Value = serde_json::from_slice(&metadata.stdout).unwrap();
    let manifest = manifest.canonicalize().unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let package =
        packages.iter().find(|it| Path::new(it["manifest_path"].as_str().unwrap()) == manifest);
    let targets = package.expect("a package")["targets"].as_array().unwrap().clone();
    let is_program = |it: &serde_json::Value| it["kind"][0] == "bin" && it["name"] == "espbench";
    assert!(targets.iter().any(is_program), "{targets:?}");
}
