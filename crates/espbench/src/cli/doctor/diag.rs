//! Report of `idf.py diag`, as a folder or a zip: the monitor's logs and the sdkconfig are of one device.
//!
//! Its layout is that of the recipe `project` of esp-idf-diag.

use super::folder;
use crate::named_file::bounded;
use crate::user_error::{ForUser as _, UserError};
use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use zip::ZipArchive;

/// Bytes that are read at once.
const CHUNK: usize = 64 * 1024;

/// Largest archive, in bytes.
const LARGEST: u64 = 64 << 20;

/// Logs of a report that are read, at most.
const MOST: usize = 1000;

/// First bytes of a zip.
const ZIP: [u8; 4] = *b"PK\x03\x04";

/// Place of the monitor's logs in a report, and the begin of their names.
const MONITOR: &str = "logs/monitor/idf_py_stdout_output";

/// Report, with the parts that the doctor reads.
pub(super) struct DiagReport {
    from: DiagSource,
    /// Logs of the monitor, in their order.
    pub(super) logs: Vec<String>,
    /// The sdkconfig.
    pub(super) config: Option<String>,
}

enum DiagSource {
    Folder(PathBuf),
    Zip(Box<ZipArchive<File>>),
}

/// Returns the name of a part within the folder `project` of a report.
fn in_project(name: &str) -> Option<&str> {
    name.strip_prefix("project/").or_else(|| name.split_once("/project/").map(|it| it.1))
}

impl DiagReport {
    /// Opens a folder, if it is a report.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) fn of_folder(path: &Path) -> Result<Option<Self>, UserError> {
        let project = path.join("project");
        let is_report = project.join("logs").join("monitor").is_dir()
            || (project.is_dir() && path.join("diag.log").is_file());
        if !is_report {
            return Ok(None);
        }
        let name = |it: PathBuf| Some(it.strip_prefix(path).ok()?.to_str()?.replace('\\', "/"));
        let names = folder::files(path)?.into_iter().filter_map(name);
        Ok(Some(Self::of(DiagSource::Folder(path.to_owned()), names.collect())))
    }

    /// Opens a zip, if a file is one.
    ///
    /// # Errors
    /// It cannot be read, or has no report.
    pub(super) fn of_zip(path: &Path, file: &mut File) -> Result<Option<Self>, UserError> {
        let mut first = [0; ZIP.len()];
        // What cannot be read again from its begin is a pipe.
        if !file.metadata().is_ok_and(|it| it.is_file()) {
            return Ok(None);
        }
        let read = file.read_exact(&mut first).and_then(|()| file.seek(SeekFrom::Start(0)));
        if read.is_err() || first != ZIP {
            let _ = file.seek(SeekFrom::Start(0));
            return Ok(None);
        }
        let what = || format!("cannot read {}", path.display());
        let remedy = "unpack it, and name its folder or a log in it";
        if file.metadata().is_ok_and(|it| it.len() > LARGEST) {
            let why = format!("it is a zip of more than {} MB", LARGEST >> 20);
            return Err(UserError::new(what()).because(why).remedy(remedy));
        }
        let file = file.try_clone().for_user(what, remedy)?;
        let archive = ZipArchive::new(file).for_user(what, remedy)?;
        let names = archive.file_names().filter_map(|it| Some(it.ok()?.clone().into_owned()));
        let names = names.collect();
        let report = Self::of(DiagSource::Zip(Box::new(archive)), names);
        if report.logs.is_empty() && report.config.is_none() {
            let why = "it is a zip without the report of `idf.py diag`";
            return Err(UserError::new(what()).because(why).remedy(remedy));
        }
        Ok(Some(report))
    }

    fn of(from: DiagSource, names: Vec<String>) -> Self {
        let is = |name: &&String, part: &dyn Fn(&str) -> bool| in_project(name).is_some_and(part);
        let config = names.iter().find(|it| is(it, &|part| part == "sdkconfig")).cloned();
        let logs = names.iter().filter(|it| is(it, &|part| part.starts_with(MONITOR)));
        let mut logs: Vec<String> = logs.cloned().collect();
        logs.sort();
        logs.truncate(MOST);
        Self { from, logs, config }
    }

    /// Reads a part, in pieces, as long as they are wanted.
    ///
    /// # Errors
    /// It cannot be read, or unpacks to more than a log may have.
    pub(super) fn read(&mut self, part: &str, to: &mut dyn FnMut(&[u8]) -> bool) -> io::Result<()> {
        match &mut self.from {
            DiagSource::Folder(folder) => pour(File::open(folder.join(part))?, to),
            DiagSource::Zip(archive) => pour(bounded(archive.by_name(part)?), to),
        }
    }
}

fn pour(mut from: impl Read, to: &mut dyn FnMut(&[u8]) -> bool) -> io::Result<()> {
    let mut some = vec![0; CHUNK];
    loop {
        match from.read(&mut some) {
            Ok(0) => return Ok(()),
            Ok(count) if to(&some[..count]) => {}
            Ok(_) => return Ok(()),
            Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
            Err(why) => return Err(why),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_known_by_their_place() {
        assert_eq!(in_project("project/sdkconfig"), Some("sdkconfig"));
        assert_eq!(in_project("idf-diag-1/project/logs/a"), Some("logs/a"));
        assert_eq!(in_project("myproject/sdkconfig"), None);
        assert_eq!(in_project("sdkconfig"), None);
    }
}
