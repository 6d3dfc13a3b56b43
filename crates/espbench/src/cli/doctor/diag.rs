//! Report of `idf.py diag`, as a folder or a zip: the monitor's logs and the sdkconfig are of one device.
//!
//! Its layout is that of the recipe `project` of esp-idf-diag.

use super::folder;
use crate::named_file::{UNPACKED, bounded};
use crate::user_error::{ForUser as _, UserError};
use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use zip::ZipArchive;

/// Largest archive, in bytes.
const LARGEST: u64 = 64 << 20;

/// First bytes of a zip.
const ZIP: [u8; 4] = *b"PK\x03\x04";

/// Place of the monitor's logs in a report, and the begin of their names.
const MONITOR: &str = "logs/monitor/idf_py_stdout_output";

/// Place of the sdkconfig in a report.
const CONFIG: &str = "sdkconfig";

/// Report, with the parts that the doctor reads.
pub(super) struct DiagReport {
    from: DiagSource,
    /// Logs of the monitor, in their order.
    pub(super) logs: Vec<String>,
    /// The sdkconfig.
    pub(super) config: Option<String>,
    /// Bytes that its parts may still unpack to.
    left: u64,
}

enum DiagSource {
    Folder(PathBuf),
    Zip(Box<ZipArchive<File>>),
}

/// Returns whether a part is read, by its name.
fn is_read(name: &str) -> bool {
    in_project(name).is_some_and(|it| it == CONFIG || it.starts_with(MONITOR))
}

/// Returns the number at the end of a log's name: that of the process, and those that were later have higher ones.
fn number(name: &str) -> Option<u64> {
    let begin = name.trim_end_matches(|it: char| it.is_ascii_digit()).len();
    name[begin..].parse().ok()
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
        let is_part = |it: &Path| name(it.to_owned()).is_some_and(|it| is_read(&it));
        let names = folder::files(path, &is_part)?.into_iter().filter_map(name);
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
        let names: Vec<String> = names.filter(|it| is_read(it)).collect();
        if names.len() > folder::MOST {
            let why = format!("it has more than {} logs", folder::MOST);
            return Err(UserError::new(what()).because(why).remedy(remedy));
        }
        let report = Self::of(DiagSource::Zip(Box::new(archive)), names);
        if report.logs.is_empty() && report.config.is_none() {
            let why = "it is a zip without the report of `idf.py diag`";
            return Err(UserError::new(what()).because(why).remedy(remedy));
        }
        Ok(Some(report))
    }

    fn of(from: DiagSource, names: Vec<String>) -> Self {
        let is_config = |it: &String| in_project(it) == Some(CONFIG);
        let (configs, mut logs): (Vec<String>, Vec<String>) =
            names.into_iter().partition(is_config);
        logs.sort_by_cached_key(|it| (number(it), it.clone()));
        Self { from, logs, config: configs.into_iter().next(), left: UNPACKED }
    }

    /// Opens a part. All parts together unpack to no more than a log may have.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) fn open(&mut self, part: &str) -> io::Result<Box<dyn Read + '_>> {
        Ok(match &mut self.from {
            DiagSource::Folder(folder) => Box::new(File::open(folder.join(part))?),
            DiagSource::Zip(archive) => bounded(archive.by_name(part)?, &mut self.left),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn parts_are_known_by_their_place() {
        assert_eq!(in_project("project/sdkconfig"), Some("sdkconfig"));
        assert_eq!(in_project("idf-diag-1/project/logs/a"), Some("logs/a"));
        assert_eq!(in_project("myproject/sdkconfig"), None);
        assert_eq!(in_project("sdkconfig"), None);
    }

    #[test]
    fn logs_stand_in_the_order_of_their_numbers() {
        let names = ["_10", "_9", "_100", ""].map(|it| format!("project/{MONITOR}{it}"));
        let report = DiagReport::of(DiagSource::Folder(PathBuf::new()), names.to_vec());
        let [ten, nine, hundred, none] = names;
        assert_eq!(report.logs, [none, nine, ten, hundred]);
    }

    #[test]
    fn parts_of_a_zip_share_the_bound_of_what_they_unpack_to() {
        let path = std::env::temp_dir().join(format!("espbench-diag-{}.zip", std::process::id()));
        let mut archive = zip::ZipWriter::new(File::create(&path).unwrap());
        let names = ["1", "2"].map(|it| format!("project/{MONITOR}_{it}"));
        for name in &names {
            archive.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
            archive.write_all(&[b'x'; 600]).unwrap();
        }
        archive.finish().unwrap();
        let mut report =
            DiagReport::of_zip(&path, &mut File::open(&path).unwrap()).unwrap().unwrap();
        report.left = 1000;
        let mut read = |it: &str| report.open(it).unwrap().read_to_end(&mut Vec::new());
        assert_eq!(read(&names[0]).unwrap(), 600);
        assert!(read(&names[1]).unwrap_err().to_string().starts_with("it unpacks to more than"));
        std::fs::remove_file(&path).unwrap();
    }
}
