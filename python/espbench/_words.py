"""Arguments of functions as the words of a command line."""

from __future__ import annotations

import difflib
import numbers
import os
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from . import _espbench
from ._errors import EspbenchError


def plain(value: object) -> object:
    """Returns a value of NumPy, pandas or alike as Python's own: a number, a text, a list."""
    if isinstance(value, (str, bool, int, float, list, dict)):
        return value
    tolist = getattr(value, "tolist", None)
    if callable(tolist):
        return tolist()
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value)
    return list(value) if isinstance(value, (tuple, range)) else value


def whole(name: str, value: object, least: int, most: int) -> int | None:
    """Returns a whole number within bounds; None of None."""
    value = plain(value)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{name} is of the type {type(value).__name__}: use a whole number")
    if not least <= value <= most:
        raise EspbenchError(f"{name} is {value}", f"it is a whole number from {least} to {most}", f"give {name} such a number")
    return value


def word(name: str, value: object) -> str:
    """Returns a value as a word; `name` is told where it is of no such type."""
    if isinstance(value, timedelta):
        return f"{value / timedelta(microseconds=1):.0f}us"
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    value = plain(value)
    if isinstance(value, (str, int, float)):
        return str(value)
    kind = type(value).__name__
    raise TypeError(f"{name} is of the type {kind}: use a text such as '50ms', a number, a path or a timedelta")


# Flags that say how a command draws its answer: functions return it.
_DRAWING = {"format", "output", "full", "quiet", "list", "help"}


def flags(path: list[str], set_here: dict[str, Any], given: Mapping[str, Any] | None = None) -> list[str]:
    """Returns flags of a command: `phy_rate='6M'` is `--phy-rate 6M`, True the flag alone, a list several values.

    set_here: flags that the function sets itself, where the command has them.
    given: flags of the caller, who may give neither those nor any of how an answer is drawn.
    """
    known = {name.replace("-", "_"): (takes_value, repeats) for name, takes_value, repeats, _ in _espbench.flags(path)}
    there = sorted(set(known) - set(set_here) - _DRAWING)
    words: list[str] = []
    for key, value in (given or {}).items():
        if key.strip("_") not in there:
            meant = difflib.get_close_matches(key, {*there, *set_here, "progress"} - _DRAWING, 1)
            why = "the function sets it itself" if key in known else ""
            remedy = f"did you mean `{meant[0]}`?" if meant else f"there are {', '.join(there)}"
            raise EspbenchError(f"{' '.join(path)} has no argument `{key}`", why, remedy)
        words += _flag(key.strip("_"), value, *known[key.strip("_")])
    for key, value in set_here.items():
        if key in known:
            words += _flag(key, value, *known[key])
    return words


def _flag(key: str, value: object, takes_value: bool, repeats: bool) -> list[str]:
    name = "--" + key.replace("_", "-")
    if value is None or value is False:
        return []
    if value is True and not takes_value:
        return [name]
    value = value if isinstance(value, (timedelta, os.PathLike)) else plain(value)
    values = [word(key, one) for one in (value if isinstance(value, list) else [value])]
    # One word, so that a value may begin with a dash.
    return [f"{name}={one}" for one in values] if repeats else [f"{name}={','.join(values)}"]


def to_toml(value: object, path: str = "") -> str:
    """Returns a plan that was given as a dict as TOML, of which plans need numbers, texts, lists and tables."""
    import json

    if not isinstance(value, dict):
        raise TypeError(f"a plan is a dict, a text or a path, and not of the type {type(value).__name__}")
    plain: list[str] = []
    tables: list[str] = []
    for key, it in value.items():
        if not isinstance(key, str):
            raise TypeError(f"the key {key!r} of a plan is no text")
        name = f"{path}.{json.dumps(key)}" if path else json.dumps(key)
        if isinstance(it, dict):
            tables.append(f"[{name}]\n{to_toml(it, name)}")
        elif isinstance(it, (list, tuple)) and it and all(isinstance(one, dict) for one in it):
            tables.extend(f"[[{name}]]\n{to_toml(one, name)}" for one in it)
        else:
            plain.append(f"{json.dumps(key)} = {_scalar(key, it)}\n")
    return "".join(plain + tables)


def _scalar(key: str, value: object) -> str:
    import json

    if isinstance(value, timedelta):
        return json.dumps(word(key, value))
    value = plain(value)
    if isinstance(value, list):
        return "[" + ", ".join(_scalar(key, one) for one in value) + "]"
    if isinstance(value, (str, bool, int, float)):
        return json.dumps(value, allow_nan=False)
    raise TypeError(f"`{key}` of a plan is of the type {type(value).__name__}: use texts, numbers, lists or dicts")
