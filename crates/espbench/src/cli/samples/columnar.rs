//! Samples in columns: Apache Parquet and Apache Arrow's IPC file. Rows are gathered in batches, each
//! of which is written when it is full.

use super::{FileColumn, RowWriter};
use crate::batches::{BATCH_ROWS, BatchColumn, data_type};
use arrow_array::RecordBatch;
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};
use espbench_measure::columns::ColumnValue;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use std::io::{self, Write};
use std::sync::Arc;

/// A file whose rows are written in batches.
pub(super) struct Batches<W: Write + Send> {
    schema: SchemaRef,
    columns: Vec<BatchColumn>,
    rows: usize,
    file: ColumnarFile<W>,
}

enum ColumnarFile<W: Write + Send> {
    Arrow(FileWriter<W>),
    Parquet(ArrowWriter<W>),
}

impl<W: Write + Send> Batches<W> {
    /// Begins a file of Arrow.
    pub(super) fn arrow(out: W, columns: Vec<FileColumn>) -> anyhow::Result<Self> {
        let schema = schema(&columns);
        let file = FileWriter::try_new(out, &schema).map_err(of_arrow)?;
        Ok(Self::new(schema, &columns, ColumnarFile::Arrow(file)))
    }

    /// Begins a file of Parquet.
    pub(super) fn parquet(out: W, columns: Vec<FileColumn>) -> anyhow::Result<Self> {
        let schema = schema(&columns);
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(crate::TOOL.into())
            .build();
        let file = ArrowWriter::try_new(out, Arc::clone(&schema), Some(properties));
        Ok(Self::new(schema, &columns, ColumnarFile::Parquet(file.map_err(of_parquet)?)))
    }

    fn new(schema: SchemaRef, columns: &[FileColumn], file: ColumnarFile<W>) -> Self {
        let columns = columns.iter().map(|it| BatchColumn::new(it.1)).collect();
        Self { schema, columns, rows: 0, file }
    }

    fn flush(&mut self) -> anyhow::Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        self.rows = 0;
        let arrays = self.columns.iter_mut().map(BatchColumn::finish).collect();
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), arrays)?;
        match &mut self.file {
            ColumnarFile::Arrow(file) => file.write(&batch).map_err(of_arrow)?,
            ColumnarFile::Parquet(file) => {
                file.write(&batch).and_then(|()| file.flush()).map_err(of_parquet)?;
            }
        }
        Ok(())
    }
}

impl<W: Write + Send> RowWriter for Batches<W> {
    fn row(&mut self, values: &mut dyn Iterator<Item = Option<ColumnValue>>) -> anyhow::Result<()> {
        for (column, value) in self.columns.iter_mut().zip(values) {
            column.append(value.as_ref());
        }
        self.rows += 1;
        if self.rows == BATCH_ROWS { self.flush() } else { Ok(()) }
    }

    fn finish(mut self: Box<Self>) -> anyhow::Result<()> {
        self.flush()?;
        match self.file {
            ColumnarFile::Arrow(file) => {
                let mut out = file.into_inner().map_err(of_arrow)?;
                out.flush()?;
            }
            ColumnarFile::Parquet(file) => {
                let mut out = file.into_inner().map_err(of_parquet)?;
                out.flush()?;
            }
        }
        Ok(())
    }
}

fn schema(columns: &[FileColumn]) -> SchemaRef {
    let field = |(name, column_type): &FileColumn| Field::new(*name, data_type(*column_type), true);
    Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<Field>>()))
}

/// Returns the system's error that stands behind one of the library.
fn of_arrow(error: ArrowError) -> io::Error {
    match error {
        ArrowError::IoError(_, error) => error,
        other => io::Error::other(other),
    }
}

fn of_parquet(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(error) => {
            error.downcast::<io::Error>().map_or_else(io::Error::other, |it| *it)
        }
        other => io::Error::other(other),
    }
}
