//! Links to pseudo-terminals, by the devices' names.

use crate::user_error::UserError;
use anyhow::Context as _;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// A folder of links, which are removed when it is dropped; and the folder, if it was made here and is
/// empty then.
#[derive(Debug)]
pub(super) struct LinkDir {
    dir: PathBuf,
    is_ours: bool,
    /// Links with what they lead to.
    made: BTreeMap<PathBuf, PathBuf>,
}

impl LinkDir {
    /// Opens a folder, or makes it.
    pub(super) fn open(dir: &Path) -> anyhow::Result<Self> {
        let dir = std::path::absolute(dir).with_context(|| dir.display().to_string())?;
        let is_ours = !dir.is_dir();
        if is_ours {
            std::fs::create_dir_all(&dir)
                .with_context(|| format!("cannot make the folder {}", dir.display()))?;
        }
        Ok(Self { dir, is_ours, made: BTreeMap::new() })
    }

    /// Makes a link, in place of one that is there; of another kind of file it is an error.
    pub(super) fn make(&mut self, name: &str, to: &Path) -> anyhow::Result<PathBuf> {
        let link = self.dir.join(name);
        if let Ok(there) = std::fs::symlink_metadata(&link) {
            if !there.is_symlink() {
                let error = UserError::new(format!("{} is there and no link", link.display()));
                return Err(error.remedy("choose another folder with --link").into());
            }
            std::fs::remove_file(&link).with_context(|| link.display().to_string())?;
        }
        symlink(to, &link).with_context(|| format!("cannot make the link {}", link.display()))?;
        self.made.insert(link.clone(), to.to_owned());
        Ok(link)
    }

    /// Removes a link, unless it leads elsewhere by now.
    pub(super) fn remove(&mut self, link: &Path) {
        let Some(to) = self.made.remove(link) else { return };
        if std::fs::read_link(link).is_ok_and(|it| it == to) {
            let _ = std::fs::remove_file(link);
        }
    }
}

impl Drop for LinkDir {
    fn drop(&mut self) {
        let links: Vec<_> = self.made.keys().cloned().collect();
        links.iter().for_each(|link| self.remove(link));
        if self.is_ours {
            // Others may have put something there.
            let _ = std::fs::remove_dir(&self.dir);
        }
    }
}

#[cfg(unix)]
fn symlink(to: &Path, link: &Path) -> std::io::Result<()> {
    match std::os::unix::fs::symlink(to, link) {
        Err(e) if e.kind() == ErrorKind::AlreadyExists => Ok(()),
        result => result,
    }
}

#[cfg(not(unix))]
fn symlink(_: &Path, _: &Path) -> std::io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use tempfile::TempDir;

    #[test]
    fn links_go_with_their_folder_and_no_file_of_others_does() {
        let temp = TempDir::new().unwrap();
        let dir = temp.path().join("a/boards");
        let mut links = LinkDir::open(&dir).unwrap();
        let first = links.make("node0", Path::new("/dev/null")).unwrap();
        let second = links.make("node1", Path::new("/dev/zero")).unwrap();
        assert_eq!(std::fs::read_link(&first).unwrap(), Path::new("/dev/null"));
        links.remove(&first);
        assert!(!first.is_symlink());
        // Another process has it now.
        std::fs::remove_file(&second).unwrap();
        std::os::unix::fs::symlink("/dev/full", &second).unwrap();
        std::fs::write(dir.join("node2"), "mine").unwrap();
        assert!(links.make("node2", Path::new("/dev/null")).is_err());
        drop(links);
        assert!(second.is_symlink() && dir.join("node2").is_file());
        let mut again = LinkDir::open(&dir).unwrap();
        again.make("node1", Path::new("/dev/null")).unwrap();
        drop(again);
        assert!(!second.is_symlink() && dir.is_dir(), "the folder was there before");
    }
}
