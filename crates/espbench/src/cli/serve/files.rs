//! Files of the page by their paths. All are read at the start: what a path names is looked up among them,
//! and no path reaches the file system.

use super::no_page;
use crate::say::say;
use crate::user_error::UserError;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Most files of a page, and most octets of all.
const MOST_FILES: usize = 1000;
const MOST_OCTETS: u64 = 64 << 20;

/// Deepest folder.
const DEEPEST: usize = 4;

/// A file.
#[derive(Debug)]
pub(super) struct PageFile {
    /// Media type.
    pub(super) kind: &'static str,
    /// Octets.
    pub(super) bytes: Cow<'static, [u8]>,
    /// Whether the name has a hash of the content, so that a browser may keep it.
    pub(super) is_named_by_content: bool,
}

/// Files by their paths.
#[derive(Debug, Default)]
pub(super) struct PageFiles {
    files: BTreeMap<String, PageFile>,
    octets: u64,
}

impl PageFiles {
    /// Reads the page of a folder, or the one that comes with the command.
    ///
    /// # Errors
    /// There is none.
    pub(super) fn find(folder: Option<&Path>) -> Result<Self, UserError> {
        if let Some(folder) = folder {
            return Self::read(folder);
        }
        let places = command().map(|it| places(&it)).unwrap_or_default();
        let found = places.iter().find(|it| it.join("index.html").is_file());
        match found {
            Some(folder) => Self::read(folder),
            None => {
                let looked: Vec<String> =
                    places.iter().map(|it| it.display().to_string()).collect();
                Err(no_page(if looked.is_empty() {
                    "--page is not given, and the system does not tell where this command is".into()
                } else {
                    format!("--page is not given, and there is none in {}", looked.join(" or "))
                }))
            }
        }
    }

    fn read(folder: &Path) -> Result<Self, UserError> {
        let mut files = Self::default();
        let root = fs::canonicalize(folder);
        let added = root.and_then(|root| files.add(&root, folder, "/", 0));
        added.map_err(|why| no_page(format!("{}: {why}", folder.display())))?;
        if !files.files.contains_key("/index.html") {
            return Err(no_page(format!("{} has no index.html", folder.display())));
        }
        Ok(files)
    }

    /// Adds the files of a folder, but no link that leads out of `root`.
    fn add(&mut self, root: &Path, folder: &Path, path: &str, depth: usize) -> io::Result<()> {
        let too_much = || io::Error::other("it has more files than a page, or larger ones");
        let mut entries: Vec<PathBuf> =
            fs::read_dir(folder)?.map(|it| it.map(|it| it.path())).collect::<io::Result<_>>()?;
        entries.sort();
        for entry in entries {
            let Some(name) = entry.file_name().and_then(|it| it.to_str()) else { continue };
            // A file that a link names, which may be missing, too.
            if !fs::canonicalize(&entry).is_ok_and(|it| it.starts_with(root)) {
                say!("{path}{name} is left out: it is a link out of the folder");
                continue;
            }
            let about = fs::metadata(&entry)?;
            if about.is_dir() && depth < DEEPEST {
                self.add(root, &entry, &format!("{path}{name}/"), depth + 1)?;
            } else if about.is_file() {
                self.octets += about.len();
                if self.files.len() >= MOST_FILES || self.octets > MOST_OCTETS {
                    return Err(too_much());
                }
                let file = PageFile {
                    kind: kind(name),
                    bytes: fs::read(&entry)?.into(),
                    is_named_by_content: path == "/assets/",
                };
                self.files.insert(format!("{path}{name}"), file);
            }
        }
        Ok(())
    }

    /// Returns the file at a path.
    pub(super) fn get(&self, path: &str) -> Option<&PageFile> {
        self.files.get(if path == "/" { "/index.html" } else { path })
    }
}

/// Returns where this command is, not a link to it (Homebrew has one): it stands elsewhere than the page.
fn command() -> io::Result<PathBuf> {
    // A root without /proc does not tell; then the whole path by which the command was called does.
    let called = || std::env::args_os().next().map(PathBuf::from).filter(|it| it.is_absolute());
    let told = std::env::current_exe().or_else(|error| called().ok_or(error))?;
    fs::canonicalize(told)
}

/// Returns where the page of a command is, in the order in which it is looked for: beside it, as in an unpacked archive, or in the
/// folder that has `bin`, as where a system installs it. A checkout has it in `target`, beside `debug` and `release`.
fn places(command: &Path) -> Vec<PathBuf> {
    let folders = command.ancestors().skip(1).take(2);
    folders.map(|it| it.join("share/espbench/page")).collect()
}

/// Returns the media type of a file by its ending.
fn kind(name: &str) -> &'static str {
    match name.rsplit_once('.').map_or("", |it| it.1) {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "wasm" => "application/wasm",
        "webmanifest" => "application/manifest+json",
        "json" => "application/json",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_names_a_file_of_the_page_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let page = folder.path().join("page");
        fs::create_dir_all(page.join("assets")).unwrap();
        fs::write(folder.path().join("secret"), "no").unwrap();
        fs::write(page.join("index.html"), "<!doctype html>").unwrap();
        fs::write(page.join("assets/engine-1.wasm"), "\0asm").unwrap();
        let files = PageFiles::find(Some(&page)).unwrap();
        assert_eq!(&*files.get("/").unwrap().bytes, b"<!doctype html>");
        assert!(!files.get("/index.html").unwrap().is_named_by_content);
        let engine = files.get("/assets/engine-1.wasm").unwrap();
        assert_eq!((engine.kind, engine.is_named_by_content), ("application/wasm", true));
        for path in
            ["/../secret", "//secret", "/assets/../../secret", "/assets", "", "/%2e%2e/secret"]
        {
            assert!(files.get(path).is_none(), "{path}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_out_of_the_folder_is_no_file_of_the_page() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let (page, secret) = (folder.path().join("page"), folder.path().join("secret"));
        fs::create_dir_all(&page).unwrap();
        fs::create_dir_all(&secret).unwrap();
        fs::write(secret.join("key"), "no").unwrap();
        fs::write(page.join("index.html"), "<!doctype html>").unwrap();
        symlink(secret.join("key"), page.join("key.txt")).unwrap();
        symlink(&secret, page.join("folder")).unwrap();
        symlink("/dev/zero", page.join("zero")).unwrap();
        symlink("index.html", page.join("home.html")).unwrap();
        let files = PageFiles::find(Some(&page)).unwrap();
        for path in ["/key.txt", "/folder/key", "/zero"] {
            assert!(files.get(path).is_none(), "{path}");
        }
        assert!(files.get("/home.html").is_some(), "a link within the folder");
    }

    #[test]
    fn a_page_is_looked_for_beside_the_command_and_where_systems_install_it() {
        assert_eq!(
            places(Path::new("/usr/bin/espbench")),
            [Path::new("/usr/bin/share/espbench/page"), Path::new("/usr/share/espbench/page")]
        );
    }

    #[test]
    fn a_folder_without_a_page_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let error = PageFiles::find(Some(folder.path())).unwrap_err();
        assert!(error.why.contains("has no index.html"), "{error}");
        let error = PageFiles::find(Some(&folder.path().join("none"))).unwrap_err();
        assert!(!error.remedy.is_empty());
    }
}
