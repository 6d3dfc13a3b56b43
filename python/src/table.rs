//! Tables over Arrow's C interface, which pandas, polars and pyarrow read without a copy.
//!
//! The names of methods and capsules are of Arrow's PyCapsule interface.

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    Array as _, ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, RecordBatchIterator,
    StringArray, StructArray,
};
use arrow_schema::{ArrowError, Field, SchemaRef};
use pyo3::exceptions::{PyKeyError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};

/// A table in memory.
#[pyclass(frozen, name = "Table", module = "espbench._espbench")]
pub(crate) struct PyTable {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

fn refused(wrong: &ArrowError) -> PyErr {
    PyRuntimeError::new_err(format!("Arrow: {wrong}"))
}

impl PyTable {
    /// Creates the table of these batches.
    pub(crate) fn new((schema, batches): (SchemaRef, Vec<RecordBatch>)) -> Self {
        Self { schema, batches }
    }

    fn facts(&self, key: &str) -> impl Iterator<Item = (&str, &str)> {
        let fact = move |it: &'_ &std::sync::Arc<Field>| it.metadata().contains_key(key);
        let fields = self.schema.fields().iter().filter(fact);
        fields.map(move |it| (it.name().as_str(), it.metadata()[key].as_str()))
    }
}

/// Returns a value of a column; none where it is not known.
fn value<'py>(py: Python<'py>, array: &ArrayRef, at: usize) -> PyResult<Bound<'py, PyAny>> {
    let any = array.as_any();
    if array.is_null(at) {
        return Ok(py.None().into_bound(py));
    }
    if let Some(it) = any.downcast_ref::<Int64Array>() {
        return Ok(it.value(at).into_pyobject(py)?.into_any());
    }
    if let Some(it) = any.downcast_ref::<Float64Array>() {
        return Ok(it.value(at).into_pyobject(py)?.into_any());
    }
    if let Some(it) = any.downcast_ref::<StringArray>() {
        return Ok(it.value(at).into_pyobject(py)?.into_any());
    }
    if let Some(it) = any.downcast_ref::<BooleanArray>() {
        return Ok(it.value(at).into_pyobject(py)?.to_owned().into_any());
    }
    Err(PyRuntimeError::new_err(format!("a column of the type {}", array.data_type())))
}

#[pymethods]
impl PyTable {
    /// Returns the schema as a capsule `arrow_schema`.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(&*self.schema).map_err(|it| refused(&it))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// Returns the table as a capsule `arrow_array_stream`. Types other than the table's own are not made, as
    /// the interface allows.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches = self.batches.clone().into_iter().map(Ok);
        let reader = RecordBatchIterator::new(batches, SchemaRef::clone(&self.schema));
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// Returns the table in one piece, as the capsules `arrow_schema` and `arrow_array`.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        let _ = requested_schema;
        let one = arrow_select::concat::concat_batches(&self.schema, &self.batches);
        let array = StructArray::from(one.map_err(|it| refused(&it))?);
        let schema = self.__arrow_c_schema__(py)?;
        let array = FFI_ArrowArray::new(&array.to_data());
        Ok((schema, PyCapsule::new_with_value(py, array, c"arrow_array")?))
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// Names of the columns.
    #[getter]
    fn columns(&self) -> Vec<&str> {
        self.schema.fields().iter().map(|it| it.name().as_str()).collect()
    }

    /// Units of the columns that have one.
    #[getter]
    fn units<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let units = PyDict::new(py);
        self.facts("unit").try_for_each(|(name, unit)| units.set_item(name, unit))?;
        Ok(units)
    }

    /// Meanings of the columns, in a sentence each.
    #[getter]
    fn meanings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        self.facts("meaning").try_for_each(|(name, it)| all.set_item(name, it))?;
        Ok(all)
    }

    /// Returns the values of a column as a list.
    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        let Ok(index) = self.schema.index_of(name) else {
            let said =
                format!("there is no column `{name}`; there are {}", self.columns().join(", "));
            return Err(PyKeyError::new_err(said));
        };
        let list = PyList::empty(py);
        for batch in &self.batches {
            let array = batch.column(index);
            (0..array.len()).try_for_each(|at| list.append(value(py, array, at)?))?;
        }
        Ok(list)
    }

    /// Returns so many rows from the first, each a dict of the columns whose value is known.
    #[pyo3(signature = (limit = None))]
    fn rows<'py>(&self, py: Python<'py>, limit: Option<usize>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        let mut left = limit.unwrap_or(usize::MAX);
        for batch in &self.batches {
            for at in 0..batch.num_rows().min(left) {
                let row = PyDict::new(py);
                for (field, array) in self.schema.fields().iter().zip(batch.columns()) {
                    if !array.is_null(at) {
                        row.set_item(field.name(), value(py, array, at)?)?;
                    }
                }
                list.append(row)?;
            }
            left -= batch.num_rows().min(left);
        }
        Ok(list)
    }

    /// Returns a `pyarrow.Table`, without a copy.
    fn to_arrow<'py>(slf: Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("pyarrow")?.call_method1("table", (slf,))
    }

    /// Returns a `polars.DataFrame`.
    fn to_polars<'py>(slf: Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("polars")?.call_method1("DataFrame", (slf,))
    }

    /// Returns a `pandas.DataFrame`; pandas reads Arrow by pyarrow, which must be installed.
    fn to_pandas<'py>(slf: Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let frame = slf.py().import("pandas")?.getattr("DataFrame")?;
        if frame.hasattr("from_arrow")? {
            return frame.call_method1("from_arrow", (slf,));
        }
        Self::to_arrow(slf)?.call_method0("to_pandas")
    }
}
