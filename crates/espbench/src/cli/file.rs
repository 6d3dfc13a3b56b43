//! Files that the command writes: whole, or not at all.

use std::ffi::OsString;
use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

/// Writes a file in one step: to a temporary name beside it, which then takes its place. So a full disk
/// leaves no part of a file, and what was there before stays until all of the new one is written.
/// Links are followed; what is no plain file (a device, a pipe) is written to.
///
/// # Errors
/// The system's; there is no new file then.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    step(path, bytes, true)
}

/// Replaces a file that is written again and again, without waiting for the disk.
///
/// # Errors
/// As [`replace`].
pub fn swap(path: &Path, bytes: &[u8]) -> io::Result<()> {
    step(path, bytes, false)
}

/// Writes a file in one step, as [`replace`] does, from what a function writes into it.
///
/// # Errors
/// The system's, and the function's; there is no new file then.
pub fn replace_with(path: &Path, write: impl FnOnce(File) -> io::Result<()>) -> io::Result<()> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let old = std::fs::metadata(&path).ok();
    if old.as_ref().is_some_and(|it| !it.is_file()) {
        return write(OpenOptions::new().write(true).open(&path)?);
    }
    let beside = beside(&path);
    let _ = std::fs::remove_file(&beside);
    let filled = OpenOptions::new().write(true).create_new(true).open(&beside).and_then(|file| {
        if let Some(old) = &old {
            file.set_permissions(old.permissions())?;
        }
        write(file.try_clone()?)?;
        file.sync_all()
    });
    filled
        .and_then(|()| std::fs::rename(&beside, &path))
        .inspect_err(|_| drop(std::fs::remove_file(&beside)))
}

fn step(path: &Path, bytes: &[u8], sync: bool) -> io::Result<()> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let old = std::fs::metadata(&path).ok();
    if old.as_ref().is_some_and(|it| !it.is_file()) {
        return std::fs::write(&path, bytes);
    }
    let beside = beside(&path);
    match write_new(&beside, bytes, old.map(|it| it.permissions()), sync) {
        Ok(()) => {
            std::fs::rename(&beside, &path).inspect_err(|_| drop(std::fs::remove_file(&beside)))
        }
        // A folder that takes no new file may hold one that can be written.
        Err(e) if e.kind() == ErrorKind::PermissionDenied && path.exists() => {
            std::fs::write(&path, bytes)
        }
        failed => failed,
    }
}

/// Returns a hidden name in the same folder, and so on the same file system.
pub(super) fn beside(path: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}.tmp", std::process::id()));
    path.with_file_name(name)
}

/// Writes a file that was not there, to the disk; nothing is left of it where that fails.
fn write_new(path: &Path, bytes: &[u8], like: Option<Permissions>, sync: bool) -> io::Result<()> {
    // One of the same name can only be what a process that was killed left.
    let _ = std::fs::remove_file(path);
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    let written = fill(&mut file, bytes, like, sync);
    written.inspect_err(|_| drop(std::fs::remove_file(path)))
}

fn fill(file: &mut File, bytes: &[u8], like: Option<Permissions>, sync: bool) -> io::Result<()> {
    if let Some(like) = like {
        file.set_permissions(like)?;
    }
    file.write_all(bytes)?;
    // Some file systems tell only here that there is no room.
    if sync { file.sync_all() } else { Ok(()) }
}

/// Appends to a file, or makes it; a failure takes back the part that was written.
///
/// # Errors
/// The system's.
pub fn append(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    let before = file.metadata()?.len();
    file.write_all(bytes).inspect_err(|_| drop(file.set_len(before)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_and_nothing_else_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        for text in ["first, which is longer", "second"] {
            replace(&path, text.as_bytes()).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_stay() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("a.json"), folder.path().join("link.json"));
        std::fs::write(&path, "old").unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        symlink(&path, &link).unwrap();
        replace(&link, b"new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn rows_are_added_after_those_that_are_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.csv");
        append(&path, b"1\n").unwrap();
        append(&path, b"2\n").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "1\n2\n");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_device_is_written_to_and_stays_one() {
        use std::os::unix::fs::FileTypeExt as _;
        replace(Path::new("/dev/null"), b"x").unwrap();
        assert!(std::fs::metadata("/dev/null").unwrap().file_type().is_char_device());
        let full = replace(Path::new("/dev/full"), b"x").unwrap_err();
        assert_eq!(full.kind(), ErrorKind::StorageFull);
    }
}
