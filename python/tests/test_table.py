"""Tables over Arrow's C interface, read by the libraries that people use."""

from __future__ import annotations

import gc

import espbench
import pytest
from rooms import PING

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")


def test_three_libraries_read_the_same(ping: espbench.Result) -> None:
    table = pa.table(ping.samples)
    assert table.num_rows == len(ping.samples) == 800
    assert table.column_names == ping.samples.columns
    frame, polar = ping.samples.to_pandas(), ping.samples.to_polars()
    for name in ("received_s", "payload_bytes", "fate", "run"):
        values = ping.samples[name]
        assert table[name].to_pylist() == values
        assert polar[name].to_list() == values
        assert [None if pd.isna(it) else it for it in frame[name]] == values
    assert frame["received_s"].dtype.kind == "f" or "double" in str(frame["received_s"].dtype)


def test_units_and_meanings_go_with_the_table(ping: espbench.Result) -> None:
    assert ping.samples.units["received_s"] == "s"
    field = pa.schema(ping.samples).field("round_trip_s")
    assert field.metadata[b"unit"] == b"s" and field.metadata[b"meaning"]
    assert ping.cells.meanings["loss" if "loss" in ping.cells.meanings else "metric"]


def test_one_array_and_a_stream_twice(ping: espbench.Result) -> None:
    array = pa.array(ping.cells) if hasattr(pa, "array") else None
    assert array is not None and len(array) == len(ping.cells)
    assert pa.table(ping.cells).equals(pa.table(ping.cells))


def test_a_table_outlives_its_result() -> None:
    table = pa.table(espbench.run(PING, seed=3).samples)
    gc.collect()
    assert table["payload_bytes"].to_pylist().count(230) == 400


def test_capsules_that_nobody_takes_are_freed(ping: espbench.Result) -> None:
    for _ in range(1000):
        ping.samples.__arrow_c_stream__()
        ping.samples.__arrow_c_schema__()
    gc.collect()


def test_rows_and_names_without_a_library(ping: espbench.Result) -> None:
    (row,) = ping.cells.rows(1)
    assert row["metric"] == "rtt_exact_avg" and "source" not in row
    assert ping.cells.rows(0) == [] and len(ping.cells.rows()) == len(ping.cells)
    with pytest.raises(KeyError, match="there is no column `nothing`; there are run, "):
        ping.cells["nothing"]


def test_figures_follow_from_samples(ping: espbench.Result) -> None:
    frame = ping.samples.to_polars().filter(pl.col("payload_bytes") == 10)
    median = frame["round_trip_s"].sort()[199] * 1e3
    assert ping.figures("rtt_exact_p50", payload_bytes=10).value == pytest.approx(median, rel=1e-9)


def test_intervals_of_streams_are_another_table(ping: espbench.Result) -> None:
    assert len(ping.intervals) == 0 and "bytes" in " ".join(ping.intervals.columns)
