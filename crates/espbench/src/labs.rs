//! Labs by name: the built-in ones, and files of the user's.

use anyhow::Context as _;
use espbench_sim::lab::file::{Kind, Library, is_path};
use std::collections::BTreeSet;
use std::path::Path;

/// A library in which there is the lab (profile, environment) of that name: a built-in one, or, if
/// the name ends in `.toml`, the file with all that it names and that lies beside it.
///
/// # Errors
/// A file cannot be read, or what is wrong in it, with line and column; an unknown name.
pub fn library(kind: Kind, name: &str) -> anyhow::Result<Library> {
    let mut library = Library::built_in();
    if is_path(name) {
        let folder = Path::new(name).parent().unwrap_or_else(|| Path::new(""));
        add(&mut library, kind, name, Path::new(name))?;
        let mut known = BTreeSet::from([(kind, name.to_owned())]);
        let mut todo = library.needs(kind, name);
        while let Some((kind, name)) = todo.pop() {
            if is_path(&name) && known.insert((kind, name.clone())) {
                add(&mut library, kind, &name, &folder.join(&name))?;
            }
            if known.len() > MOST_FILES {
                anyhow::bail!("{name}: more than {MOST_FILES} files belong to it");
            }
            if is_path(&name) {
                todo.extend(
                    library.needs(kind, &name).into_iter().filter(|it| !known.contains(it)),
                );
            }
        }
    }
    library.knows(kind, name)?;
    Ok(library)
}

/// Files of one lab.
const MOST_FILES: usize = 100;

fn add(library: &mut Library, kind: Kind, name: &str, path: &Path) -> anyhow::Result<()> {
    let shown = path.display();
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the {} {shown}", kind.word()))?;
    library.add(kind, name, &text).map_err(|mut wrong| {
        wrong.file = shown.to_string();
        wrong.into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use espbench_sim::lab::file::Overrides;

    #[test]
    fn a_lab_of_the_users_finds_what_lies_beside_it() {
        let folder = std::env::temp_dir().join(format!("espbench-labs-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
        write(
            "mine.toml",
            "title = \"t\"\nenvironment = \"hall.toml\"\n\
             [[group]]\nname = \"a\"\nprofile = \"board.toml\"\n",
        );
        write(
            "hall.toml",
            "title = \"t\"\n[path_loss]\nexponent = 2\nsource = \"s\"\n[carrier_sense]\n\
             energy_dbm = -73\nsource = \"s\"\n[receiver]\ndetect_db = 4\nsource = \"s\"\n",
        );
        write("board.toml", "title = \"t\"\nlike = \"base.toml\"\n");
        write("base.toml", "title = \"t\"\nlike = \"esp32c6\"\n");
        let lab = folder.join("mine.toml").to_str().unwrap().to_owned();
        let found = library(Kind::Lab, &lab).unwrap();
        let scene = found.scene(&lab, &Overrides::default(), 1).unwrap();
        assert_eq!(scene.devices[0].profile.chip_name, "esp32c6");
        assert_eq!(scene.environment.name, "hall");
        write("base.toml", "title = \"t\"\nlike = 6\n");
        let said = library(Kind::Lab, &lab).unwrap_err().to_string();
        assert!(said.contains("base.toml: line 2, column 8: `like`"), "{said}");
        std::fs::remove_file(folder.join("base.toml")).unwrap();
        let said = library(Kind::Lab, &lab).unwrap_err().to_string();
        assert!(said.starts_with("cannot read the profile"), "{said}");
        std::fs::remove_dir_all(&folder).unwrap();
        let said = library(Kind::Lab, "offcie").unwrap_err().to_string();
        assert!(said.contains("there is no such lab"), "{said}");
    }
}
