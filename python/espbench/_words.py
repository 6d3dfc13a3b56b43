"""Arguments of functions as the words of a command line."""

from __future__ import annotations

import difflib
import json
import math
import numbers
import os
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any, SupportsFloat, TypeVar, cast

from . import _espbench
from ._errors import EspbenchError

_T = TypeVar("_T")


def plain(value: object) -> object:
    """Returns a value of NumPy, pandas or alike as Python's own: a number, a text, a list, a dict."""
    if isinstance(value, (str, bytes, bool, int, float, list, dict, timedelta, os.PathLike)):
        return value
    if type(value).__name__ == "timedelta64":
        return _duration(value)
    tolist = getattr(value, "tolist", None)
    if callable(tolist):
        return plain(tolist())
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, SupportsFloat):
        number = float(value)
        return int(number) if number.is_integer() else number
    if isinstance(value, Mapping):
        return dict(value)
    return listed(value) if isinstance(value, Iterable) else value


def _duration(value: Any) -> timedelta:
    """Returns a duration of NumPy, whatever its unit is."""
    found = value.astype("timedelta64[us]").tolist()
    if not isinstance(found, timedelta):
        raise EspbenchError(f"{value} is no time", "", "give a text such as '50ms', or a timedelta")
    return found


def listed(values: Iterable[_T]) -> list[_T]:
    """Returns values as a list, those of a set in an order that is always the same."""
    if not isinstance(values, (set, frozenset)):
        return list(values)
    unordered = cast("Iterable[Any]", values)
    try:
        return sorted(unordered)
    except TypeError:
        return sorted(unordered, key=str)


def texts(value: str | Iterable[str] | None) -> list[str]:
    """Returns a text, or several, as a list."""
    return [value] if isinstance(value, str) else listed(value or [])


def whole(name: str, value: object, least: int, most: int) -> int | None:
    """Returns a whole number within bounds; None of None."""
    value = plain(value)
    if value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, (bool, float)):
        raise TypeError(f"{name} is {value}: use a whole number")
    if not isinstance(value, int):
        raise TypeError(f"{name} is of the type {type(value).__name__}: use a whole number")
    if not least <= value <= most:
        raise EspbenchError(f"{name} is {value}", f"it is a whole number from {least} to {most}", f"give {name} such a number")
    return value


def word(name: str, value: object) -> str:
    """Returns a value as a word; `name` is told where it is of no such type."""
    value = plain(value)
    if isinstance(value, timedelta):
        return f"{value / timedelta(microseconds=1):.0f}us"
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    if isinstance(value, bool):
        raise TypeError(f"{name} is {value}: use {_KINDS}")
    # A member of an enumeration is its value here.
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise EspbenchError(f"{name} is {value}", "a number is finite", f"give {name} such a number, or leave it out")
        return str(int(value)) if value.is_integer() else float.__repr__(value)
    raise TypeError(f"{name} is of the type {type(value).__name__}: use {_KINDS}")


# What an argument may be.
_KINDS = "a text such as '50ms', a number, a path or a timedelta"


# Flags that say how a command draws its answer: functions return it. What does that here.
_DRAWING = {
    "format": "what is returned has it all: a Result `text`, `json` and `cells`; other answers are dicts",
    "output": "use Result.save(path) of what is returned; other answers are dicts",
    "full": "print `text` of the Result that is returned",
    "quiet": "use progress=False",
    "list": "use espbench.plans()",
    "help": "use help(espbench)",
}


def flags(path: list[str], set_here: dict[str, Any], given: Mapping[str, Any] | None = None) -> list[str]:
    """Returns flags of a command: `phy_rate='6M'` is `--phy-rate 6M`, True the flag alone, a list several values.

    set_here: flags that the function sets itself, where the command has them.
    given: flags of the caller, who may give neither those nor any of how an answer is drawn.
    """
    known = {it.name.replace("-", "_"): it for it in _espbench.flags(path)}
    there = sorted(set(known) - set(set_here) - set(_DRAWING))
    words: list[str] = []
    for key, value in (given or {}).items():
        if key.strip("_") not in there:
            meant = difflib.get_close_matches(key, {*there, *set_here, "progress"} - set(_DRAWING), 1)
            remedy = f"did you mean `{meant[0]}`?" if meant else f"there are {', '.join(there)}"
            raise EspbenchError(f"{' '.join(path)} has no argument `{key}`", "", _DRAWING.get(key, remedy))
        words += _flag(key.strip("_"), value, known[key.strip("_")])
    for key, value in set_here.items():
        if key in known:
            words += _flag(key, value, known[key])
    return words


def _flag(key: str, value: object, flag: _espbench.Flag) -> list[str]:
    name = f"--{flag.name}"
    value = plain(value)
    if value is None or (value is False and not flag.needs_value):
        return []
    if value is True and not flag.needs_value:
        return [name]
    values = [word(key, one) for one in (value if isinstance(value, list) else [value])]
    # One word, so that a value may begin with a dash.
    return [f"{name}={one}" for one in values] if flag.repeats else [f"{name}={','.join(values)}"]


def text(what: str, value: str) -> str:
    """Returns a text that can be written as UTF-8; `what` is told where it has half a character, as bytes that are no UTF-8 become."""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as wrong:
        why = f"{value[wrong.start]!r}, its character {wrong.start + 1}, is half of one: it was read from bytes that are no UTF-8"
        raise EspbenchError(f"{what} is no text", why, "write it as UTF-8") from None
    return value


def to_toml(value: object, path: str = "") -> str:
    """Returns a plan that was given as a dict as TOML, of which plans need numbers, texts, lists and tables."""
    value = plain(value)
    if not isinstance(value, dict):
        raise TypeError(f"a plan is a dict, a text or a path, and not of the type {type(value).__name__}")
    scalars: list[str] = []
    tables: list[str] = []
    for key, it in value.items():
        if not isinstance(key, str):
            raise TypeError(f"the key {key!r} of a plan is no text")
        quoted = _quoted(f"the key {key!r} of a plan", key)
        name = f"{path}.{quoted}" if path else quoted
        it = plain(it)
        if isinstance(it, dict):
            tables.append(f"[{name}]\n{to_toml(it, name)}")
        elif isinstance(it, list) and it and all(isinstance(one, Mapping) for one in it):
            tables.extend(f"[[{name}]]\n{to_toml(one, name)}" for one in it)
        else:
            scalars.append(f"{quoted} = {_scalar(key, it)}\n")
    return "".join(scalars + tables)


def _quoted(what: str, value: str) -> str:
    """Returns a text as TOML has it, which knows the escapes of JSON, but none of a pair, and wants DEL escaped."""
    return json.dumps(text(what, value), ensure_ascii=False).replace("\x7f", "\\u007f")


def _scalar(key: str, value: object) -> str:
    what = f"`{key}` of a plan"
    value = plain(value)
    if isinstance(value, list):
        return "[" + ", ".join(_scalar(key, one) for one in value) + "]"
    if isinstance(value, float) and not math.isfinite(value):
        raise EspbenchError(f"{what} is {value}", "a number of a plan is finite", f"give `{key}` such a number, or leave it out")
    if isinstance(value, (bool, int, float)):
        return json.dumps(value)
    if isinstance(value, (str, timedelta, os.PathLike)):
        return _quoted(what, word(key, value))
    raise TypeError(f"{what} is of the type {type(value).__name__}: use texts, numbers, lists or dicts")
