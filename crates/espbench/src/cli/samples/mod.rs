//! `espbench samples`: the raw samples of a stored run, as they were recorded.
//!
//! | module | contents |
//! |---|---|
//! | `columnar` | Parquet and Arrow IPC |
//! | `csv` | CSV |

#[cfg(feature = "arrow")]
mod columnar;
mod csv;

use super::common::StoreArgs;
use super::output::cannot_write;
use super::{file, left_out};
use crate::say::{self, say};
use crate::store::{Store, StoredRun};
use crate::user_error::UserError;
use anyhow::{Context as _, bail};
use espbench_measure::columns::{ColumnType, ColumnValue, RunColumn, SampleTable, TestRow};
use espbench_measure::settings::SettingKey;
use espbench_model::sample::Sample;
use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Flags.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Name of the run, or `last`, or `last~1` for the one before
    #[arg(default_value = "last")]
    run: String,
    /// Samples that are the rows [default: probes, or intervals where the run has no probes]
    #[arg(long, value_enum)]
    table: Option<TableChoice>,
    /// Form of the table [default: by the ending of FILE, or csv]
    #[arg(long, value_enum)]
    format: Option<SampleFormat>,
    /// Write to this file instead of stdout: .csv, .parquet or .arrow
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    store: StoreArgs,
}

/// Samples that are the rows of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum TableChoice {
    /// Probes and messages: when each was due, sent and received, and its fate
    Probes,
    /// Intervals of streams: bytes, datagrams, losses
    Intervals,
}

/// Form of a table of samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum SampleFormat {
    /// One row a line (RFC 4180)
    Csv,
    /// Apache Parquet, compressed with Snappy
    Parquet,
    /// Apache Arrow's IPC file, also known as Feather version 2
    Arrow,
}

impl SampleFormat {
    /// Returns the format that a file name's ending asks for.
    fn of_file(path: &Path) -> anyhow::Result<Self> {
        let ending = path.extension().and_then(|it| it.to_str()).unwrap_or_default();
        Ok(match ending.to_ascii_lowercase().as_str() {
            "csv" => Self::Csv,
            "parquet" => Self::Parquet,
            "arrow" | "feather" => Self::Arrow,
            _ => bail!(
                UserError::new(format!("{}: no format has that ending", path.display()))
                    .remedy("use .csv, .parquet or .arrow, or add --format")
            ),
        })
    }
}

/// Name and type of a column of the file.
type FileColumn = (&'static str, ColumnType);

/// A file that takes rows, in bounded memory.
trait RowWriter {
    /// Takes a row: as many values as there are columns.
    fn row(&mut self, values: &mut dyn Iterator<Item = Option<ColumnValue>>) -> anyhow::Result<()>;
    /// Writes what is left.
    fn finish(self: Box<Self>) -> anyhow::Result<()>;
}

/// Runs the subcommand.
///
/// # Errors
/// The store's; a format that cannot be written; a run without samples.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let format = match (&args.output, args.format) {
        (_, Some(format)) => format,
        (Some(path), None) => SampleFormat::of_file(path)?,
        (None, None) => SampleFormat::Csv,
    };
    if args.output.is_none() && format != SampleFormat::Csv && io::stdout().is_terminal() {
        bail!(
            UserError::new("this format is not for a terminal")
                .remedy("add -o FILE, or write it into a pipe")
        );
    }
    if cfg!(not(feature = "arrow")) && format != SampleFormat::Csv {
        bail!(left_out::without("Parquet and Arrow: it writes CSV", "arrow"));
    }
    let store = args.store.to_read()?;
    let stored = store.run(&args.run)?;
    let table = choose(&store, &stored, args.table)?;
    let export = Export { store: &store, run: &stored, table, format };
    let Some(path) = &args.output else {
        let written = export.write(BufWriter::new(io::stdout()));
        return written.map(|_| ExitCode::SUCCESS).or_else(|e| match e.downcast::<io::Error>() {
            // A reader that has gone has read all that it wanted.
            Ok(e) => say::unless_gone(Err(e)).map(|()| ExitCode::SUCCESS).context("stdout"),
            Err(e) => Err(e),
        });
    };
    let mut rows = 0;
    file::replace_with(path, |file| {
        rows = export.write(BufWriter::new(file)).map_err(io_error)?;
        Ok(())
    })
    .with_context(|| cannot_write(path))?;
    say!("wrote {}: {rows} {} of {}", path.display(), table.name(), stored.facts.name);
    Ok(ExitCode::SUCCESS)
}

fn io_error(error: anyhow::Error) -> io::Error {
    error.downcast::<io::Error>().unwrap_or_else(io::Error::other)
}

/// Returns which samples are the rows: those that were asked for, or that the run has.
fn choose(
    store: &Store,
    run: &StoredRun,
    asked: Option<TableChoice>,
) -> anyhow::Result<SampleTable> {
    let has = |table| store.has_samples(run, table);
    let (probes, intervals) = (has(SampleTable::Probes)?, has(SampleTable::Intervals)?);
    let name = &run.facts.name;
    match asked {
        _ if !probes && !intervals => bail!(
            UserError::new(format!("{name} has no samples"))
                .because("nothing was measured in it")
                .remedy(
                    "`espbench runs` lists the runs; `espbench run --resume` goes on with this one"
                )
        ),
        Some(TableChoice::Probes) if !probes => bail!(
            UserError::new(format!("{name} has no probes, but intervals of streams"))
                .remedy("use --table intervals")
        ),
        Some(TableChoice::Intervals) if !intervals => bail!(
            UserError::new(format!("{name} has no intervals of streams, but probes"))
                .remedy("use --table probes")
        ),
        Some(TableChoice::Probes) => Ok(SampleTable::Probes),
        Some(TableChoice::Intervals) => Ok(SampleTable::Intervals),
        None if probes => {
            if intervals {
                say!(
                    "these are the probes; {name} has intervals of streams, too: --table intervals"
                );
            }
            Ok(SampleTable::Probes)
        }
        None => Ok(SampleTable::Intervals),
    }
}

/// A table of a run's samples, on its way to a file.
struct Export<'a> {
    store: &'a Store,
    run: &'a StoredRun,
    table: SampleTable,
    format: SampleFormat,
}

impl Export<'_> {
    /// Writes the table, one sample at a time; returns the number of rows.
    fn write(&self, out: impl Write + Send + 'static) -> anyhow::Result<u64> {
        let steps = self.run.cells.iter().map(|it| &it.step);
        let tests = steps.map(|it| (it.ordinal, it.repetition, &it.workload));
        let tests = TestRow::all(&self.run.facts, tests);
        let settings = TestRow::settings(&tests);
        let columns = self.columns(&settings);
        let mut writer = self.writer(out, columns)?;
        let mut rows = 0;
        for (cell, test) in self.run.cells.iter().zip(&tests) {
            let same = test.values(&settings);
            let mut failed = None;
            self.store.each_sample(cell, self.table, |sample| {
                rows += 1;
                match writer.row(&mut same.iter().cloned().chain(self.values(sample))) {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(e) => {
                        failed = Some(e);
                        ControlFlow::Break(())
                    }
                }
            })?;
            if let Some(e) = failed {
                return Err(e);
            }
        }
        writer.finish()?;
        Ok(rows)
    }

    fn columns(&self, settings: &[SettingKey]) -> Vec<FileColumn> {
        let of_run = RunColumn::ALL.iter().map(|it| (it.name(), it.field_type()));
        let of_test = settings.iter().map(|it| (it.name(), it.field_type()));
        let of_sample = self.table.columns().iter().map(|it| (it.name, it.field_type));
        let all = of_run.chain(of_test).chain(of_sample);
        all.collect()
    }

    fn values<'a>(
        &self,
        sample: &'a Sample,
    ) -> impl Iterator<Item = Option<ColumnValue>> + use<'a> {
        self.table.columns().iter().map(move |it| it.value(sample))
    }

    #[cfg(feature = "arrow")]
    fn writer(
        &self,
        out: impl Write + Send + 'static,
        columns: Vec<FileColumn>,
    ) -> anyhow::Result<Box<dyn RowWriter>> {
        Ok(match self.format {
            SampleFormat::Csv => Box::new(csv::CsvRows::new(out, &columns)?),
            SampleFormat::Parquet => Box::new(columnar::Batches::parquet(out, columns)?),
            SampleFormat::Arrow => Box::new(columnar::Batches::arrow(out, columns)?),
        })
    }

    #[cfg(not(feature = "arrow"))]
    fn writer(
        &self,
        out: impl Write + Send + 'static,
        columns: Vec<FileColumn>,
    ) -> anyhow::Result<Box<dyn RowWriter>> {
        debug_assert!(self.format == SampleFormat::Csv, "others were refused");
        Ok(Box::new(csv::CsvRows::new(out, &columns)?))
    }
}
