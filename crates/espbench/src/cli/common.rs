//! Flags that every measuring subcommand takes, and what they mean.

use super::site_names;
use crate::target::spec::Access;
use crate::user_error::UserError;
use anyhow::Context as _;
use clap::ValueEnum;
use espbench_measure::plan::MOST_CELLS;
use espbench_measure::run::Site;
use espbench_model::sdkconfig::{Chip, ChipWithoutWifi, UnknownChip};
use espbench_model::speech::{CommandName, FlagValue};
use std::fmt;
use std::path::{Path, PathBuf};

pub use crate::TOOL;

/// How a report is drawn on stdout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// The answer in a few lines; all tables with --full
    #[default]
    Text,
    /// The whole report as one value (docs/report.schema.json)
    Json,
    /// A line of JSON for each thing that happens, as it happens; the result last (docs/jsonl.md)
    Jsonl,
    /// One row a figure, one column a fact (docs/data.md)
    Csv,
    /// Tables for a README or an issue
    Markdown,
    /// One self-contained page with figures
    Html,
    /// JUnit's XML: a test for each threshold (docs/ci.md)
    Junit,
    /// Bencher Metric Format: figures with intervals, by test and metric
    Bencher,
    /// Figures of which lower ones are better, for github-action-benchmark
    BenchmarkSmaller,
    /// Figures of which higher ones are better, for github-action-benchmark
    BenchmarkBigger,
    /// SARIF 2.1.0, of `tune --check`: what was found, by line of the sdkconfig
    Sarif,
}

impl Format {
    /// Returns whether it has no tables, but what CI systems read.
    #[must_use]
    pub const fn is_for_ci(self) -> bool {
        matches!(
            self,
            Self::Junit
                | Self::Bencher
                | Self::BenchmarkSmaller
                | Self::BenchmarkBigger
                | Self::Sarif
        )
    }

    /// Returns the format that a file name's ending asks for.
    ///
    /// # Errors
    /// An ending that is none of ours.
    pub fn of_file(path: &Path) -> anyhow::Result<Self> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        for (ending, format) in [
            (".bencher.json", Self::Bencher),
            (".smaller.json", Self::BenchmarkSmaller),
            (".bigger.json", Self::BenchmarkBigger),
            (".sarif.json", Self::Sarif),
        ] {
            if name.ends_with(ending) {
                return Ok(format);
            }
        }
        let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
        Ok(match ending.to_ascii_lowercase().as_str() {
            "html" | "htm" => Self::Html,
            "json" => Self::Json,
            "csv" => Self::Csv,
            "md" => Self::Markdown,
            "txt" => Self::Text,
            "xml" => Self::Junit,
            "sarif" => Self::Sarif,
            _ => {
                return Err(UserError::new(format!("cannot write {}", path.display()))
                    .because("no format has that ending")
                    .remedy("use .html, .json, .csv, .md, .txt, .xml, or one of docs/ci.md")
                    .into());
            }
        })
    }
}

/// Where runs are stored and how they are shown.
#[derive(Clone, Debug, clap::Args)]
pub struct StoreArgs {
    /// The database of runs [default: runs.sqlite in the user's data folder]
    #[arg(long, value_name = "FILE", env = "ESPBENCH_STORE", global = true)]
    pub store: Option<PathBuf>,
}

/// Output flags.
#[derive(Clone, Debug, clap::Args)]
pub struct OutputArgs {
    /// Format of the report on stdout
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Print all tables as text, not only the answer
    #[arg(long)]
    pub full: bool,
    /// Add the published figures that results were held against, as rows of CSV and cells of JSON
    #[arg(long)]
    pub published: bool,
    /// Also write the report to this file: .html, .json, .csv, .md, .txt, .xml (JUnit), .bencher.json,
    /// .smaller.json, .bigger.json (repeatable)
    #[arg(short, long, value_name = "FILE")]
    pub output: Vec<PathBuf>,
}

/// Options that describe the device and the place. Results are compared with published ones only
/// where these agree.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "The device and the place")]
pub struct SiteArgs {
    /// Chip of the device under test, such as esp32c3
    #[arg(long, value_parser = site_names::chip)]
    pub chip: Option<String>,
    /// How the device is attached: station, softap, …
    #[arg(long, value_parser = site_names::mode)]
    pub mode: Option<String>,
    /// Security of the link: open, wpa2, …
    #[arg(long)]
    pub security: Option<String>,
    /// The place: home, office, shield-box, …, or my-NAME
    #[arg(long, value_parser = site_names::environment)]
    pub environment: Option<String>,
    /// Distance between device and access point, or from device to device, in metres; in the virtual lab the
    /// devices are put there
    #[arg(long, value_name = "METRES", value_parser = one_distance)]
    pub distance: Option<f64>,
}

/// Parses the name of a chip that has an sdkconfig.
///
/// # Errors
/// There is none of that name, or it has no Wi-Fi.
pub fn chip(text: &str) -> Result<Chip, UserError> {
    text.parse().map_err(|wrong| match wrong {
        UnknownChip::NoWifi(chip) => chip.into(),
        UnknownChip::NoChip => UserError::new(format!("there is no {}", FlagValue("--chip", text)))
            .because(format!("`{text}` is {wrong}"))
            .remedy(format!(
                "write it as CONFIG_IDF_TARGET does: {}",
                FlagValue("--chip", "esp32c3")
            )),
    })
}

/// Parses the name of a chip or of a profile: any word but a chip that has no Wi-Fi.
///
/// # Errors
/// It is a chip without Wi-Fi.
pub fn with_wifi(text: &str) -> Result<String, UserError> {
    match ChipWithoutWifi::of(text) {
        Some(chip) => Err(chip.into()),
        None => Ok(text.into()),
    }
}

impl SiteArgs {
    /// Returns the site of a target that is reached over a network.
    #[must_use]
    pub fn site(&self) -> Site {
        let word = |given: &Option<String>| given.clone().unwrap_or_else(|| "unstated".into());
        Site {
            chip: word(&self.chip),
            mode: word(&self.mode),
            distance_m: self.distance,
            security: self.security.clone(),
            environment: self.environment.clone(),
        }
    }

    /// Returns the first of these flags that was given.
    #[must_use]
    pub fn given(&self) -> Option<&'static str> {
        let all = [
            ("--chip", self.chip.is_some()),
            ("--mode", self.mode.is_some()),
            ("--security", self.security.is_some()),
            ("--environment", self.environment.is_some()),
            ("--distance", self.distance.is_some()),
        ];
        all.into_iter().find(|(_, given)| *given).map(|(flag, _)| flag)
    }

    /// Returns how to reach a target with this site.
    #[must_use]
    pub fn access(&self) -> Access {
        Access { site: self.site(), ..Access::default() }
    }
}

/// Flags of every subcommand that measures.
#[derive(Clone, Debug, clap::Args)]
pub struct MeasureArgs {
    /// Where the run is stored.
    #[command(flatten)]
    pub store: StoreArgs,
    /// How it is shown.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Seed of everything random in the run and in its statistics [default: 1, or the plan's]
    #[arg(long)]
    pub seed: Option<u64>,
    /// Keep the current figures in the OpenMetrics text format: in FILE, replaced each second (for
    /// node_exporter's textfile collector), or over HTTP for Prometheus; :PORT is on loopback only,
    /// HOST:PORT on that address
    #[arg(long, value_name = "FILE|[HOST]:PORT", value_parser = super::live::parse)]
    pub openmetrics: Option<super::live::Where>,
    /// Print the answer and errors alone: no progress, no names of files
    #[arg(short, long)]
    pub quiet: bool,
}

/// Flags of every subcommand that measures in the virtual lab.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "In the virtual lab")]
pub struct SimArgs {
    /// Write all that was on the air to this file, as pcapng with radiotap, for Wireshark and
    /// tshark; one file for each cell, with its number, where there are several
    #[arg(long, value_name = "FILE")]
    pub pcap: Option<PathBuf>,
    /// Threads that simulate [default: one for each core]; they do not change the result
    #[arg(long, value_name = "THREADS", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
}

impl SimArgs {
    /// Returns the first of these flags that was given.
    #[must_use]
    pub fn given(&self) -> Option<&'static str> {
        let all = [("--pcap", self.pcap.is_some()), ("--threads", self.threads.is_some())];
        all.into_iter().find(|(_, given)| *given).map(|(flag, _)| flag)
    }
}

/// Returns the error of a flag that does nothing where it stands.
#[must_use]
pub fn idle(
    flag: impl fmt::Display,
    place: impl fmt::Display,
    remedy: impl Into<String>,
) -> UserError {
    UserError::new(format!("{flag} does nothing {place}")).remedy(remedy)
}

/// Checks that lists of flags whose values are combined do not make too many cells, before any is made.
///
/// # Errors
/// They do.
pub fn count_cells(flags: &str, lengths: &[usize]) -> Result<(), UserError> {
    let cells = lengths.iter().try_fold(1_usize, |all, it| all.checked_mul(*it));
    if cells.is_some_and(|it| it <= MOST_CELLS) {
        return Ok(());
    }
    Err(UserError::new(format!("{flags} make more than {MOST_CELLS} cells"))
        .because("each value of one is measured with each of the other")
        .remedy("shorten the lists"))
}

impl StoreArgs {
    /// Returns the path of the store's file.
    ///
    /// # Errors
    /// No flag was given and the user has no data folder.
    pub fn path(&self) -> anyhow::Result<PathBuf> {
        match &self.store {
            Some(path) => Ok(path.clone()),
            None => default_path().with_context(|| {
                let store = FlagValue("--store", "FILE");
                format!("no home folder to keep the runs in: choose a file with {store}")
            }),
        }
    }

    /// Opens the store.
    ///
    /// # Errors
    /// As [`Store::open`](crate::store::Store::open).
    pub fn open(&self) -> anyhow::Result<crate::store::Store> {
        Ok(crate::store::Store::open(&self.path()?)?)
    }

    /// Opens a store that is there, to add to it: makes none.
    ///
    /// # Errors
    /// There is none, and those of [`Store::open`](crate::store::Store::open).
    pub fn existing(&self) -> anyhow::Result<crate::store::Store> {
        Ok(crate::store::Store::open(&self.found()?)?)
    }

    /// Opens a store to read of it, where it may be only read too: makes none.
    ///
    /// # Errors
    /// There is none, and those of [`Store::read`](crate::store::Store::read).
    pub fn to_read(&self) -> anyhow::Result<crate::store::Store> {
        Ok(crate::store::Store::read(&self.found()?)?)
    }

    fn found(&self) -> anyhow::Result<PathBuf> {
        let path = self.path()?;
        if !path.exists() {
            let what = format!("there is no store {} yet", path.display());
            return Err(UserError::new(what)
                .remedy(format!("{} makes one", CommandName("run")))
                .into());
        }
        Ok(path)
    }
}

/// Returns the store's default path, in the data folder of each system (XDG base directories, Known
/// Folders, Apple's Library).
fn default_path() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let home = std::env::home_dir();
    let folder = if cfg!(windows) {
        set("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        home.map(|h| h.join("Library/Application Support"))
    } else {
        set("XDG_DATA_HOME").or_else(|| home.map(|h| h.join(".local/share")))
    };
    folder.filter(|f| f.is_absolute()).map(|f| f.join("espbench").join("runs.sqlite"))
}

/// Farther than this no lab goes, in metres.
const FARTHEST_M: f64 = 100_000.0;

/// Metres to the nearest and the farthest: `3`, or `0.5-1`.
///
/// # Errors
/// What was meant.
pub fn distance(text: &str) -> Result<(f64, f64), String> {
    let number = |text: &str| text.trim().trim_end_matches('m').trim_end().parse::<f64>().ok();
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    match number(from).zip(number(to)) {
        Some((from, to)) if 0.0 <= from && from <= to && to <= FARTHEST_M => Ok((from, to)),
        _ => Err(format!(
            "`{text}` is no distance: metres, such as 3, or from the nearest to the farthest, such as 0.5-1"
        )),
    }
}

/// Parses the distance that a result is of, in metres.
fn one_distance(text: &str) -> Result<f64, String> {
    match distance(text) {
        Ok((from, to)) if from == to => Ok(from),
        Ok((from, to)) => Err(format!(
            "`{text}` is a range, and a result has one distance: give one, such as {from} or {to}; the places of a \
             lab's file stay where the flag is left out"
        )),
        Err(_) => Err(format!("`{text}` is no distance: metres, such as 3")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_has_one_distance() {
        assert_eq!(one_distance("3 m"), Ok(3.0));
        assert!(one_distance("0.5-1").unwrap_err().starts_with("`0.5-1` is a range"));
        for text in ["x", "-1", "nan", "inf"] {
            assert!(one_distance(text).unwrap_err().contains("is no distance"), "{text}");
        }
    }

    #[test]
    fn distances_are_one_or_two_numbers() {
        assert_eq!(distance("3"), Ok((3.0, 3.0)));
        assert_eq!(distance("0.5-1 m"), Ok((0.5, 1.0)));
        for text in ["", "-1", "2-1", "x", "1-inf", "nan", "1e300"] {
            assert!(distance(text).is_err(), "{text}");
        }
    }
}
