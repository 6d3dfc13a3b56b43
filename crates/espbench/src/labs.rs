//! Labs by name: the built-in ones, and files of the user's.

use crate::user_error::UserError;
use crate::{named_file, texts};
use anyhow::bail;
use espbench_model::sdkconfig::ChipWithoutWifi;
use espbench_model::speech::{self, Asker, FlagName};
use espbench_sim::lab::file::{FileKind, Library, is_path};
use std::collections::BTreeSet;
use std::path::Path;

/// Reason for which the lab does not show, or search from, the file of a host.
pub const NO_HOST: &str = "the lab has no host with a co-processor beside it (ESP-Hosted)";

/// Returns a library that has the lab (profile, environment) of that name: a built-in one or, if
/// the name ends in `.toml`, that file with the files beside it that it names.
///
/// # Errors
/// A file cannot be read, or what is wrong in it, with line and column; an unknown name.
pub fn library(kind: FileKind, name: &str) -> anyhow::Result<Library> {
    let mut library = Library::built_in();
    if is_path(name) {
        add(&mut library, kind, name, Path::new(name))?;
        let folder = Path::new(name).parent().unwrap_or_else(|| Path::new(""));
        beside(&mut library, kind, name, folder)?;
    }
    let remedy = match name.strip_prefix("sim:") {
        Some(lab) => format!("`sim:` belongs to {}: write `{lab}`", FlagName("--on")),
        None => {
            let all = match speech::asker() {
                Asker::Terminal => "`espbench lab list` shows all",
                Asker::Caller => "name one of these",
            };
            format!("{all}; the name of a file of your own ends in .toml")
        }
    };
    if let (FileKind::Profile, Some(chip)) = (kind, ChipWithoutWifi::of(name)) {
        return Err(UserError::from(chip).into());
    }
    library.knows(kind, name).map_err(|wrong| UserError::new(wrong.to_string()).remedy(remedy))?;
    Ok(library)
}

/// Files of one lab.
const MOST_FILES: usize = 100;

/// Adds the files that one of the library names, those that they name, and so on.
fn beside(library: &mut Library, kind: FileKind, name: &str, folder: &Path) -> anyhow::Result<()> {
    let mut known = BTreeSet::from([(kind, name.to_owned())]);
    // Who names it, and what: the user's file is named by its whole path, the others from there.
    let mut todo = vec![(kind, name.to_owned(), Path::new(name).to_owned())];
    while let Some((kind, name, path)) = todo.pop() {
        for need in library.needs(kind, &name) {
            if !is_path(&need.name) || !known.insert((need.kind, need.name.clone())) {
                continue;
            }
            if known.len() > MOST_FILES {
                bail!("{}: more than {MOST_FILES} files belong to it", path.display());
            }
            let file = folder.join(&need.name);
            add(library, need.kind, &need.name, &file).map_err(|error| {
                // A mistake within that file says its own place.
                if file.is_file() {
                    return error;
                }
                let (line, column) = (need.line, need.column);
                anyhow::anyhow!("{}: line {line}, column {column}: {error:#}", path.display())
            })?;
            todo.push((need.kind, need.name, file));
        }
    }
    link_trace(library, name, folder)
}

/// Adds the trace that drives links of a lab, if it names one.
fn link_trace(library: &mut Library, lab: &str, folder: &Path) -> anyhow::Result<()> {
    let Some((name, line, column)) = library.link_trace_of(lab) else { return Ok(()) };
    let (name, file) = (name.to_owned(), folder.join(name));
    let text = texts::read(&file, "trace", named_file::RECORDED)
        .map_err(|error| anyhow::anyhow!("{lab}: line {line}, column {column}: {error:#}"))?;
    library.add_link_trace(&name, &text).map_err(|mut wrong| {
        wrong.file = file.display().to_string();
        wrong.into()
    })
}

fn add(library: &mut Library, kind: FileKind, name: &str, path: &Path) -> anyhow::Result<()> {
    let text = texts::read(path, kind.word(), named_file::WRITTEN)?;
    library.add(kind, name, &text).map_err(|mut wrong| {
        wrong.file = path.display().to_string();
        let remedy = format!("docs/labs.md has every key of a {}", kind.word());
        UserError::new(wrong.to_string()).remedy(remedy).into()
    })
}

/// Returns the kind of a file of the user's, or of a built-in name; `usual` where neither tells.
///
/// # Errors
/// The file cannot be read.
pub fn kind(name: &str, usual: FileKind) -> anyhow::Result<FileKind> {
    if is_path(name) {
        let text = texts::read(Path::new(name), "file", named_file::WRITTEN)?;
        return Ok(FileKind::of(&text).unwrap_or(usual));
    }
    let library = Library::built_in();
    let others = FileKind::ALL.into_iter().filter(|it| *it != usual);
    let mut kinds = std::iter::once(usual).chain(others);
    Ok(kinds.find(|kind| library.knows(*kind, name).is_ok()).unwrap_or(usual))
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
        let found = library(FileKind::Lab, &lab).unwrap();
        let scene = found.scene(&lab, &Overrides::default(), 1).unwrap();
        assert_eq!(scene.nodes[0].profile.chip_name, "esp32c6");
        assert_eq!(scene.environment.name, "hall");
        write("base.toml", "title = \"t\"\nlike = 6\n");
        let said = library(FileKind::Lab, &lab).unwrap_err().to_string();
        assert!(said.contains("base.toml: line 2, column 8: `like`"), "{said}");
        std::fs::remove_file(folder.join("base.toml")).unwrap();
        let said = library(FileKind::Lab, &lab).unwrap_err().to_string();
        let place = "board.toml: line 2, column 8: cannot read the profile ";
        assert!(
            said.contains(place) && said.ends_with("base.toml: there is no such file"),
            "{said}"
        );
        let of = |name: &str| kind(folder.join(name).to_str().unwrap(), FileKind::Lab).unwrap();
        let kinds = ["mine.toml", "hall.toml", "board.toml"].map(of);
        assert_eq!(kinds, [FileKind::Lab, FileKind::Environment, FileKind::Profile]);
        assert_eq!(kind("office", FileKind::Lab).unwrap(), FileKind::Environment);
        std::fs::remove_dir_all(&folder).unwrap();
        let said = library(FileKind::Lab, "offcie").unwrap_err().to_string();
        assert!(said.starts_with("no lab is called `offcie`. Known here: "), "{said}");
        let wrong = library(FileKind::Lab, "sim:smooth").unwrap_err();
        let [.., remedy] = wrong.downcast_ref::<UserError>().unwrap().shown();
        assert_eq!(remedy, "`sim:` belongs to --on: write `smooth`");
    }
}
