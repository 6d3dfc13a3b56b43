//! A page of documentation: its fences, its commands with what they print, and its figures.

use std::ops::Range;
use std::path::{Path, PathBuf};

/// Returns a file of the repository.
pub fn root(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

/// A page by its lines.
pub struct Page {
    pub name: String,
    pub lines: Vec<String>,
}

/// A block between two fences.
pub struct Fence {
    /// Word behind the first fence.
    pub info: String,
    /// Text of the comment above, `<!-- … -->`; empty where there is none.
    pub note: String,
    /// Lines between the fences.
    pub lines: Range<usize>,
}

/// A command of a console, and the lines that it prints.
pub struct Command {
    pub at: usize,
    pub text: String,
    pub prints: Range<usize>,
}

/// A figure in a sentence: `<!-- figure: SOURCE -->VALUE<!-- -->`.
pub struct Figure {
    pub at: usize,
    pub source: String,
    /// Octets of the value in its line.
    pub value: Range<usize>,
}

impl Page {
    pub fn read(name: &str) -> Self {
        let text = std::fs::read_to_string(root(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
        Self { name: name.into(), lines: text.lines().map(String::from).collect() }
    }

    pub fn write(&self) {
        std::fs::write(root(&self.name), self.lines.join("\n") + "\n").unwrap();
    }

    /// Returns a line as people name it.
    pub fn place(&self, at: usize) -> String {
        format!("{}:{}", self.name, at + 1)
    }

    pub fn fences(&self) -> Vec<Fence> {
        let mut fences = Vec::new();
        let mut at = 0;
        while at < self.lines.len() {
            if let Some(info) = self.lines[at].strip_prefix("```") {
                let body = &self.lines[at + 1..];
                let len = body.iter().position(|it| it.starts_with("```"));
                let len = len.unwrap_or_else(|| panic!("{}: no end", self.place(at)));
                let above = at.checked_sub(1).map_or("", |above| &self.lines[above]);
                let note = above.strip_prefix("<!-- ").and_then(|it| it.strip_suffix(" -->"));
                fences.push(Fence {
                    info: info.trim().into(),
                    note: note.unwrap_or_default().into(),
                    lines: at + 1..at + 1 + len,
                });
                at += len + 1;
            }
            at += 1;
        }
        fences
    }

    /// Returns the commands of a console, `$ …`, each with the lines up to the next.
    pub fn commands(&self, fence: &Fence) -> Vec<Command> {
        let mut commands: Vec<Command> = Vec::new();
        for at in fence.lines.clone() {
            if let Some(text) = self.lines[at].strip_prefix("$ ") {
                let text = text.split("  #").next().unwrap_or(text);
                let text = text.rsplit_once(" # ").map_or(text, |(text, _)| text).trim();
                commands.push(Command { at, text: text.into(), prints: at + 1..at + 1 });
            } else if let Some(last) = commands.last_mut() {
                last.prints.end = at + 1;
            }
        }
        commands
    }

    /// Returns the lines that stand in no fence, with their places.
    pub fn sentences(&self) -> impl Iterator<Item = (usize, &str)> {
        let mut is_fenced = false;
        self.lines.iter().enumerate().filter_map(move |(at, line)| {
            let is_fence = line.trim_start().starts_with("```");
            is_fenced ^= is_fence;
            (!is_fenced && !is_fence).then_some((at, line.as_str()))
        })
    }

    pub fn figures(&self) -> Vec<Figure> {
        let mut figures = Vec::new();
        for (at, line) in self.sentences() {
            let mut from = 0;
            while let Some(found) = line[from..].find("<!-- figure: ") {
                let begin = from + found + "<!-- figure: ".len();
                let value = begin + line[begin..].find(" -->").expect("a comment ends") + 4;
                let end = line[value..].find("<!-- -->");
                let end = value + end.unwrap_or_else(|| panic!("{}: no end", self.place(at)));
                let source = line[begin..value - 4].to_string();
                figures.push(Figure { at, source, value: value..end });
                from = end;
            }
        }
        figures
    }
}

/// Returns the names of pages in a folder, and below it.
fn markdown(folder: &str, pages: &mut Vec<String>) {
    for entry in std::fs::read_dir(root(folder)).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let path = format!("{folder}/{name}");
        if root(&path).is_dir() && !["target", "node_modules"].contains(&&*name) {
            markdown(&path, pages);
        } else if name.ends_with(".md") {
            pages.push(path);
        }
    }
}

/// Returns all pages for readers.
pub fn pages() -> Vec<Page> {
    let root = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"];
    let mut names = root.map(String::from).to_vec();
    for folder in ["docs", "crates", "components", "examples", "firmware", "packaging", "python"] {
        markdown(folder, &mut names);
    }
    names.sort();
    names.iter().map(|it| Page::read(it)).collect()
}
