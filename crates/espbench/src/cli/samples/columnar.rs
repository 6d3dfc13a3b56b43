//! Samples in columns: Apache Parquet and Apache Arrow's IPC file. Rows are gathered in batches, each
//! of which is written when it is full.

use super::{FileColumn, RowWriter};
use arrow_array::builder::{BooleanBuilder, Float64Builder, Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use espbench_measure::columns::{ColumnType, ColumnValue};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use std::io::{self, Write};
use std::sync::Arc;

/// Rows of a batch of Arrow, and of a row group of Parquet.
const BATCH_ROWS: usize = 65_536;

/// A file whose rows are written in batches.
pub(super) struct Batches<W: Write + Send> {
    schema: SchemaRef,
    columns: Vec<ColumnBuilder>,
    rows: usize,
    file: ColumnarFile<W>,
}

enum ColumnarFile<W: Write + Send> {
    Arrow(FileWriter<W>),
    Parquet(ArrowWriter<W>),
}

/// The values of one column of a batch so far.
enum ColumnBuilder {
    Flag(BooleanBuilder),
    Count(Int64Builder),
    Number(Float64Builder),
    Text(StringBuilder),
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
        let columns = columns.iter().map(|it| ColumnBuilder::new(it.1)).collect();
        Self { schema, columns, rows: 0, file }
    }

    fn flush(&mut self) -> anyhow::Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        self.rows = 0;
        let arrays = self.columns.iter_mut().map(ColumnBuilder::finish).collect();
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
            column.append(value);
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

impl ColumnBuilder {
    fn new(field_type: ColumnType) -> Self {
        match field_type {
            ColumnType::Flag => Self::Flag(BooleanBuilder::new()),
            ColumnType::Count => Self::Count(Int64Builder::new()),
            ColumnType::Number => Self::Number(Float64Builder::new()),
            ColumnType::Text => Self::Text(StringBuilder::new()),
        }
    }

    /// Appends a value; one of another type is as unknown as none.
    fn append(&mut self, value: Option<ColumnValue>) {
        match (self, value) {
            (Self::Flag(it), Some(ColumnValue::Flag(flag))) => it.append_value(flag),
            // Programs for data know signed numbers best, and no count of a sample is beyond them.
            (Self::Count(it), Some(ColumnValue::Count(count))) => {
                it.append_option(count.try_into().ok())
            }
            (Self::Number(it), Some(ColumnValue::Number(number))) => it.append_value(number),
            (Self::Text(it), Some(ColumnValue::Text(text))) => it.append_value(text),
            (Self::Flag(it), _) => it.append_null(),
            (Self::Count(it), _) => it.append_null(),
            (Self::Number(it), _) => it.append_null(),
            (Self::Text(it), _) => it.append_null(),
        }
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Flag(it) => Arc::new(it.finish()),
            Self::Count(it) => Arc::new(it.finish()),
            Self::Number(it) => Arc::new(it.finish()),
            Self::Text(it) => Arc::new(it.finish()),
        }
    }
}

fn schema(columns: &[FileColumn]) -> SchemaRef {
    let field = |(name, column_type): &FileColumn| {
        let data_type = match column_type {
            ColumnType::Flag => DataType::Boolean,
            ColumnType::Count => DataType::Int64,
            ColumnType::Number => DataType::Float64,
            ColumnType::Text => DataType::Utf8,
        };
        Field::new(*name, data_type, true)
    };
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
