//! Text files that people wrote: plans, labs, profiles, environments.

use crate::named_file;
use anyhow::{Context as _, bail};
use espbench_model::text::place;
use std::io::ErrorKind;
use std::path::Path;

/// Reads the text of a file of at most so many bytes; errors call the file a `what` (a plan, a lab).
///
/// # Errors
/// It cannot be read, or is no text, with what to do.
pub fn read(path: &Path, what: &str, most: u64) -> anyhow::Result<String> {
    let shown = path.display();
    let bytes = match named_file::bytes(path, most) {
        Ok(bytes) => bytes,
        Err(_) if path.is_dir() => {
            bail!("cannot read the {what} {shown}: it is a folder, name a .toml file in it")
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            bail!("cannot read the {what} {shown}: there is no such file")
        }
        Err(error) => return Err(error).context(format!("cannot read the {what} {shown}")),
    };
    String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let text = String::from_utf8_lossy(&error.as_bytes()[..good]);
        let (line, column) = place(&text, good);
        anyhow::anyhow!("{shown}: line {line}, column {column}: not UTF-8, save the {what} as that")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_text_is_told_with_its_place() {
        let folder = std::env::temp_dir().join(format!("espbench-texts-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("a.toml");
        let said = |path: &Path| read(path, "lab", named_file::WRITTEN).unwrap_err().to_string();
        std::fs::write(&file, b"a = 1\n\xc3\xbc = \"\xff\"").unwrap();
        let broken = said(&file);
        assert!(broken.ends_with("a.toml: line 2, column 6: not UTF-8, save the lab as that"));
        assert!(said(&folder).ends_with(": it is a folder, name a .toml file in it"));
        assert!(said(&folder.join("b.toml")).ends_with("b.toml: there is no such file"));
        std::fs::write(&file, "\u{fc}").unwrap();
        assert_eq!(read(&file, "lab", named_file::WRITTEN).unwrap(), "\u{fc}");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
