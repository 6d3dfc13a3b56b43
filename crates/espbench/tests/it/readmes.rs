//! Each crate has a README, which names its examples. Programs in it run as tests of the crate's
//! documentation; a whole one, with a `main`, is an example word for word.

use std::path::Path;

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
