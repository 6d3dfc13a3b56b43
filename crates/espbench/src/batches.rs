//! Tables as record batches of Apache Arrow: results, and raw samples.

use arrow_array::builder::{BooleanBuilder, Float64Builder, Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use espbench_measure::cell::Cell;
use espbench_measure::columns::{
    ColumnType, ColumnValue, ResultColumn, RunColumn, SampleTable, TestRow,
};
use espbench_measure::settings::SettingKey;
use espbench_model::sample::Sample;
use std::collections::HashMap;
use std::sync::Arc;

/// Rows of a batch at most.
pub const BATCH_ROWS: usize = 65_536;

/// The values of one column of a batch so far.
pub enum BatchColumn {
    /// True or false.
    Flag(BooleanBuilder),
    /// Whole numbers.
    Count(Int64Builder),
    /// Finite numbers.
    Number(Float64Builder),
    /// Texts.
    Text(StringBuilder),
}

impl BatchColumn {
    /// Creates an empty column.
    #[must_use]
    pub fn new(field_type: ColumnType) -> Self {
        match field_type {
            ColumnType::Flag => Self::Flag(BooleanBuilder::new()),
            ColumnType::Count => Self::Count(Int64Builder::new()),
            ColumnType::Number => Self::Number(Float64Builder::new()),
            ColumnType::Text => Self::Text(StringBuilder::new()),
        }
    }

    /// Appends a value; one of another type is as unknown as none.
    pub fn append(&mut self, value: Option<&ColumnValue>) {
        match (self, value) {
            (Self::Flag(it), Some(ColumnValue::Flag(flag))) => it.append_value(*flag),
            // Programs for data know signed numbers best, and no count of a sample is beyond them.
            (Self::Count(it), Some(ColumnValue::Count(count))) => {
                it.append_option((*count).try_into().ok())
            }
            (Self::Number(it), Some(ColumnValue::Number(number))) => it.append_value(*number),
            (Self::Text(it), Some(ColumnValue::Text(text))) => it.append_value(text),
            (Self::Flag(it), _) => it.append_null(),
            (Self::Count(it), _) => it.append_null(),
            (Self::Number(it), _) => it.append_null(),
            (Self::Text(it), _) => it.append_null(),
        }
    }

    /// Returns the values, and begins anew.
    pub fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Flag(it) => Arc::new(it.finish()),
            Self::Count(it) => Arc::new(it.finish()),
            Self::Number(it) => Arc::new(it.finish()),
            Self::Text(it) => Arc::new(it.finish()),
        }
    }
}

/// Returns the type that a column has in Arrow.
#[must_use]
pub const fn data_type(column_type: ColumnType) -> DataType {
    match column_type {
        ColumnType::Flag => DataType::Boolean,
        ColumnType::Count => DataType::Int64,
        ColumnType::Number => DataType::Float64,
        ColumnType::Text => DataType::Utf8,
    }
}

/// Returns a field that bears unit and meaning.
fn field(name: &str, column_type: ColumnType, unit: &str, doc: &str) -> Field {
    let facts = [("unit", unit), ("meaning", doc)].into_iter().filter(|it| !it.1.is_empty());
    let facts: HashMap<String, String> = facts.map(|(key, it)| (key.into(), it.into())).collect();
    Field::new(name, data_type(column_type), true).with_metadata(facts)
}

/// Returns result cells as a table, in the columns of [`ResultColumn::of`].
///
/// # Errors
/// Arrow refuses it, which it does not.
pub fn of_cells(cells: &[Cell]) -> Result<RecordBatch, ArrowError> {
    let columns = ResultColumn::of(cells);
    let fields = columns.iter().map(|it| field(it.name(), it.field_type(), it.unit(), it.doc()));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<Field>>()));
    let array = |column: &ResultColumn| {
        let mut values = BatchColumn::new(column.field_type());
        cells.iter().for_each(|cell| values.append(column.value(cell).as_ref()));
        values.finish()
    };
    RecordBatch::try_new(schema, columns.iter().map(array).collect())
}

/// A table of samples on its way to batches.
pub struct SampleBatches {
    table: SampleTable,
    settings: Vec<SettingKey>,
    schema: SchemaRef,
    columns: Vec<BatchColumn>,
    rows: usize,
    batches: Vec<RecordBatch>,
}

impl SampleBatches {
    /// Begins the table of a run with these tests.
    #[must_use]
    pub fn new(table: SampleTable, tests: &[TestRow]) -> Self {
        let settings = TestRow::settings(tests);
        let of_run = RunColumn::ALL.iter().map(|it| field(it.name(), it.field_type(), "", ""));
        let of_test =
            settings.iter().map(|it| field(it.name(), it.field_type(), it.unit(), it.doc()));
        let of_sample =
            table.columns().iter().map(|it| field(it.name, it.field_type, it.unit, it.doc));
        let fields: Vec<Field> = of_run.chain(of_test).chain(of_sample).collect();
        let types = RunColumn::ALL.iter().map(|it| it.field_type());
        let types = types.chain(settings.iter().map(|it| it.field_type()));
        let types = types.chain(table.columns().iter().map(|it| it.field_type));
        let columns = types.map(BatchColumn::new).collect();
        let schema = Arc::new(Schema::new(fields));
        Self { table, settings, schema, columns, rows: 0, batches: Vec::new() }
    }

    /// Returns what the rows of a test share, for [`push`](Self::push).
    #[must_use]
    pub fn shared(&self, test: &TestRow) -> Vec<Option<ColumnValue>> {
        test.values(&self.settings)
    }

    /// Appends a sample of a test; those of the other table are left out.
    ///
    /// # Errors
    /// As [`of_cells`].
    pub fn push(
        &mut self,
        shared: &[Option<ColumnValue>],
        sample: &Sample,
    ) -> Result<(), ArrowError> {
        let is_row = match sample {
            Sample::Probe(_) => self.table == SampleTable::Probes,
            Sample::Interval(_) => self.table == SampleTable::Intervals,
        };
        if !is_row {
            return Ok(());
        }
        let (of_test, of_sample) = self.columns.split_at_mut(shared.len());
        for (column, value) in of_test.iter_mut().zip(shared) {
            column.append(value.as_ref());
        }
        for (column, it) in of_sample.iter_mut().zip(self.table.columns()) {
            column.append(it.value(sample).as_ref());
        }
        self.rows += 1;
        if self.rows == BATCH_ROWS { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), ArrowError> {
        if self.rows > 0 {
            let arrays = self.columns.iter_mut().map(BatchColumn::finish).collect();
            self.batches.push(RecordBatch::try_new(Arc::clone(&self.schema), arrays)?);
        }
        self.rows = 0;
        Ok(())
    }

    /// Returns the schema and the batches.
    ///
    /// # Errors
    /// As [`of_cells`].
    pub fn finish(mut self) -> Result<(SchemaRef, Vec<RecordBatch>), ArrowError> {
        self.flush()?;
        Ok((self.schema, self.batches))
    }
}
