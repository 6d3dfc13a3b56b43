//! Files read, refused and documented.
//!
//! | module | contents |
//! |---|---|
//! | `documented` | `docs/labs.md` says what the code says |
//! | `errors` | what is said of bad files: the place, what is wrong, what would do |
//! | `laws` | what holds for any text |
//! | `links` | antennas, fading, traces |
//! | `overrides` | what a plan sets of a lab, in place of what its file says |
//! | `repository` | the files of the repository |
//! | `scenes` | rooms that labs describe |
//! | `variants` | labs with variants |
mod documented;
mod errors;
mod laws;
mod links;
mod overrides;
mod repository;
mod scenes;
mod variants;

use super::*;
use espbench_dot11::radio::RadioChip;

/// Returns a library of the built-in files and one more.
fn with(kind: FileKind, name: &str, text: &str) -> Result<Library, FileError> {
    static BUILT_IN: std::sync::LazyLock<Library> = std::sync::LazyLock::new(Library::built_in);
    let mut library = BUILT_IN.clone();
    library.add(kind, name, text).map(|()| library)
}

/// Returns a text in which the lists of built-in profiles and of chips are a word each, so that one more
/// of them changes no snapshot.
fn brief(text: &str) -> String {
    let library = Library::built_in();
    let profiles: Vec<&str> = library.names(FileKind::Profile).collect();
    let chips = RadioChip::ALL.map(|chip| format!("\"{}\"", chip.name()));
    let mut with_mine = profiles.clone();
    with_mine.push("mine");
    with_mine.sort_unstable();
    text.replace(&with_mine.join(", "), "PROFILES, mine")
        .replace(&profiles.join(", "), "PROFILES")
        .replace(&chips.join(", "), "CHIPS")
}

const CORRIDOR: &str = include_str!("../../../../../../examples/research/corridor.csv");

/// Returns the error about a file, or about the room that it describes.
fn complaint(kind: FileKind, text: &str) -> String {
    let mut library = match with(kind, "mine", text) {
        Ok(library) => library,
        Err(wrong) => return wrong.to_string(),
    };
    if let Err(wrong) = library.add_link_trace("corridor.csv", CORRIDOR) {
        return wrong.to_string();
    }
    let scene = match kind {
        FileKind::Lab => match library.variants("mine").first() {
            Some(variant) => library.variant_scene("mine", variant).map(drop),
            None => library.scene("mine", &Overrides::default(), 1).map(drop),
        },
        FileKind::Profile => library.profile("mine").map(drop),
        FileKind::Environment => library.environment("mine").map(drop),
    };
    scene.err().map_or_else(|| "nothing".into(), |wrong| wrong.to_string())
}
