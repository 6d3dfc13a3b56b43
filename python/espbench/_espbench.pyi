"""The extension module. Use it by way of `espbench`."""

import os
from collections.abc import Callable, Sequence
from typing import Any

TOOL: str

_Ends = tuple[float | None, float | None, float | None, int]

class Table:
    """A table in memory, over Arrow's C interface: pandas, polars, pyarrow, DuckDB and others read it without a copy."""

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
    @property
    def units(self) -> dict[str, str]:
        """Units of the columns that have one."""
    @property
    def meanings(self) -> dict[str, str]:
        """Meanings of the columns, in a sentence each."""
    def rows(self, limit: int | None = None) -> list[dict[str, Any]]:
        """Returns rows as dicts of the columns whose value is known."""
    def to_arrow(self) -> Any:
        """Returns a `pyarrow.Table`."""
    def to_polars(self) -> Any:
        """Returns a `polars.DataFrame`."""
    def to_pandas(self) -> Any:
        """Returns a `pandas.DataFrame`."""
    def __len__(self) -> int: ...
    def __getitem__(self, name: str) -> list[Any]: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...

class Flag:
    """A flag of a subcommand."""

    @property
    def name(self) -> str:
        """Name without its dashes."""
    @property
    def short(self) -> str | None:
        """Letter that stands for it behind one dash."""
    @property
    def takes_value(self) -> bool:
        """Whether a value follows, or may."""
    @property
    def needs_value(self) -> bool:
        """Whether a value must follow."""
    @property
    def repeats(self) -> bool:
        """Whether it may be given more than once."""
    @property
    def meaning(self) -> str:
        """Meaning, in its first sentence."""

class Report:
    """A report, with its raw samples where there are some."""

    @staticmethod
    def from_json(text: str) -> Report: ...
    @property
    def name(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def status(self) -> int: ...
    @property
    def has_samples(self) -> bool: ...
    def draw(self, form: str) -> str: ...
    def cells(self) -> Table: ...
    def samples(self, intervals: bool) -> Table: ...
    def diagnosis(self) -> str: ...
    def to_keep(self, metrics: Sequence[str]) -> str: ...
    def against(self, before: str, metrics: Sequence[str], part: float, points: float) -> str: ...

def main(words: Sequence[str]) -> int: ...
def ask(
    words: Sequence[str],
    progress: Callable[[int, int, str], object] | None = None,
    said: Callable[[str], object] | None = None,
) -> tuple[int, str]: ...
def flags(words: Sequence[str]) -> list[Flag]: ...
def simulate(
    plans: Sequence[tuple[str, bool]],
    lab: tuple[str, bool] | None,
    seed: int | None,
    started: str,
    threads: int | None,
    progress: Callable[[int, int, str], object] | None,
) -> Report: ...
def are_for_lab(plans: Sequence[tuple[str, bool]]) -> bool: ...
def of_lab(name: str) -> str: ...
def plans() -> list[tuple[str, str]]: ...
def read_store(path: str | os.PathLike[str], run: str) -> Report: ...
def runs(path: str | os.PathLike[str]) -> list[tuple[str, str, str, int, int, int]]: ...
def metrics() -> list[tuple[str, str, str, bool]]: ...
def difference(a: _Ends, b: _Ends) -> tuple[float | None, float | None, float | None]: ...
