//! Writes the doctor's own rules without what only people, tests and documents read: comments, examples, sources, and the spaces
//! around signs of equality and before lines.

use std::path::Path;
use std::{env, fs};

/// Keys of a rule that say nothing about a log.
const LEFT_OUT: [&str; 3] = ["examples = ", "not = ", "source = "];

/// Returns a file of rules without comments and those keys.
fn stripped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if LEFT_OUT.iter().any(|it| line.starts_with(it)) {
            // A list of several lines ends with a bracket of its own.
            if line.ends_with('[') {
                lines.by_ref().find(|it| *it == "]").expect("the list has an end");
            }
        } else if !line.is_empty() && !line.starts_with('#') {
            // What stands before the first one is a key, unless the line is of a list.
            match line.split_once(" = ").filter(|it| !it.0.contains(['"', ' '])) {
                Some((key, value)) => out.extend([key, "=", value]),
                None => out.push_str(line.trim_start()),
            }
            out.push('\n');
        }
    }
    out
}

fn main() {
    println!("cargo::rerun-if-changed=rules");
    let out = env::var_os("OUT_DIR").expect("cargo names it");
    for file in fs::read_dir("rules").expect("the rules are beside this file") {
        let path = file.expect("the folder can be read").path();
        if path.extension().is_none_or(|it| it != "toml") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("rules are text");
        let to = Path::new(&out).join(path.file_name().expect("a file has a name"));
        fs::write(to, stripped(&text)).expect("cargo made the folder");
    }
}
