"""Quantities with units, as people write them: `30 ms`, `2 %`, `1.5 Mbit/s`."""

from __future__ import annotations

import re

from ._errors import WrongUnit

# Unit: dimension, and factor to the dimension's own unit.
_UNITS: dict[str, tuple[str, float]] = {
    "ns": ("time", 1e-9),
    "us": ("time", 1e-6),
    "µs": ("time", 1e-6),
    "ms": ("time", 1e-3),
    "s": ("time", 1.0),
    "min": ("time", 60.0),
    "h": ("time", 3600.0),
    "d": ("time", 86400.0),
    "days": ("time", 86400.0),
    "percent": ("part", 0.01),
    "%": ("part", 0.01),
    "bit/s": ("rate", 1.0),
    "kbit/s": ("rate", 1e3),
    "Mbit/s": ("rate", 1e6),
    "B": ("size", 1.0),
    "kB": ("size", 1e3),
    "KB": ("size", 1024.0),
    "mA": ("current", 1e-3),
    "uA": ("current", 1e-6),
    "A": ("current", 1.0),
    "m": ("length", 1.0),
}

# Signs of units whose names in tables are words.
_SIGNS = {"percent": "%", "index": ""}

_QUANTITY = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(\S.*?)?\s*")


def shown(unit: str) -> str:
    """Returns a unit as people write it behind a number."""
    return _SIGNS.get(unit, unit)


def convert(value: float, unit: str, to: str) -> float:
    """Returns a value in another unit of its dimension."""
    if unit == to:
        return value
    ours, wanted = _UNITS.get(unit), _UNITS.get(to)
    if ours is None or wanted is None or ours[0] != wanted[0]:
        raise WrongUnit(f"{value:g} {unit} cannot be compared with a figure in {to}", "", _advice(to))
    return value * ours[1] / wanted[1]


def parse(text: str, unit: str) -> float:
    """Returns a quantity such as `30 ms` in the unit of a figure."""
    found = _QUANTITY.fullmatch(text)
    if found is None:
        raise WrongUnit(f"`{text}` is no quantity", "", _advice(unit))
    number, own = float(found[1]), found[2]
    if own is None:
        raise WrongUnit(f"`{text}` has no unit", f"the figure is in {unit}", _advice(unit))
    return convert(number, own, unit)


def _advice(unit: str) -> str:
    kind = _UNITS.get(unit, ("", 0.0))[0]
    known = [name for name, (of, _) in _UNITS.items() if of == kind] or [unit]
    return "write a number with one of " + ", ".join(known)
