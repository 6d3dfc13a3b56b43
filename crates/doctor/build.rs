//! Writes the doctor's own rules without what only people, tests and documents read: comments, examples, sources, and blanks
//! that stand in no text.

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
            out.extend(without_blanks(line));
            out.push('\n');
        }
    }
    out
}

/// Returns a line of TOML without the blanks outside its texts, of which none goes over several lines.
fn without_blanks(line: &str) -> impl Iterator<Item = char> {
    let (mut quote, mut is_escaped) = (None, false);
    line.chars().filter(move |it| {
        match (quote, it) {
            (None, '"' | '\'') => quote = Some(*it),
            (Some(by), _) if by == *it && !is_escaped => quote = None,
            _ => {}
        }
        is_escaped = quote == Some('"') && *it == '\\' && !is_escaped;
        quote.is_some() || *it != ' '
    })
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
