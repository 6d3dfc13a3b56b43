mod documented;
mod errors;
mod laws;
mod repository;
mod scenes;

use super::*;

/// A library of the built-in files and one more.
fn with(kind: Kind, name: &str, text: &str) -> Result<Library, Wrong> {
    let mut library = Library::built_in();
    library.add(kind, name, text).map(|()| library)
}

/// What is said of a file, or of the room it describes.
fn complaint(kind: Kind, text: &str) -> String {
    let library = match with(kind, "mine", text) {
        Ok(library) => library,
        Err(wrong) => return wrong.to_string(),
    };
    let scene = match kind {
        Kind::Lab => library.scene("mine", &Overrides::default(), 1).map(drop),
        Kind::Profile => library.profile("mine").map(drop),
        Kind::Environment => library.environment("mine").map(drop),
    };
    scene.err().map_or_else(|| "nothing".into(), |wrong| wrong.to_string())
}
