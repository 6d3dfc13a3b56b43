//! Samples as CSV.

use super::{FileColumn, RowWriter};
use crate::render::csv::field;
use espbench_measure::columns::ColumnValue;
use std::io::Write;

/// A file of rows as RFC 4180 has them.
pub(super) struct CsvRows<W: Write> {
    writer: ::csv::Writer<W>,
}

impl<W: Write> CsvRows<W> {
    /// Writes the head.
    pub(super) fn new(out: W, columns: &[FileColumn]) -> anyhow::Result<Self> {
        let mut writer =
            ::csv::WriterBuilder::new().terminator(::csv::Terminator::Any(b'\n')).from_writer(out);
        writer.write_record(columns.iter().map(|it| it.0)).map_err(system)?;
        Ok(Self { writer })
    }
}

impl<W: Write> RowWriter for CsvRows<W> {
    fn row(&mut self, values: &mut dyn Iterator<Item = Option<ColumnValue>>) -> anyhow::Result<()> {
        Ok(self.writer.write_record(values.map(field)).map_err(system)?)
    }

    fn finish(mut self: Box<Self>) -> anyhow::Result<()> {
        Ok(self.writer.flush()?)
    }
}

/// Returns the system's error that stands behind one of the library.
fn system(error: ::csv::Error) -> std::io::Error {
    match error.into_kind() {
        ::csv::ErrorKind::Io(error) => error,
        other => std::io::Error::other(format!("{other:?}")),
    }
}
