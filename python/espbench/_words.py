"""Arguments of functions as the words of a command line."""

from __future__ import annotations

import os
from datetime import timedelta
from typing import Any

def word(name: str, value: object) -> str:
    """Returns a value as a word; `name` is told where it is of no such type."""
    if isinstance(value, timedelta):
        return f"{value / timedelta(microseconds=1):.0f}us"
    if isinstance(value, (str, int, float)):
        return str(value)
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    kind = type(value).__name__
    raise TypeError(f"{name} is of the type {kind}: use a text such as '50ms', a number, a path or a timedelta")


def flags(given: dict[str, Any]) -> list[str]:
    """Returns flags: `phy_rate='6M'` is `--phy-rate 6M`, True the flag alone, a list the flag repeated."""
    words: list[str] = []
    for name, value in given.items():
        flag = "--" + name.strip("_").replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            words.append(flag)
            continue
        for one in value if isinstance(value, (list, tuple)) else [value]:
            # One word, so that a value may begin with a dash.
            words.append(f"{flag}={word(name, one)}")
    return words


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
        elif isinstance(it, list) and it and all(isinstance(one, dict) for one in it):
            tables.extend(f"[[{name}]]\n{to_toml(one, name)}" for one in it)
        else:
            plain.append(f"{json.dumps(key)} = {_scalar(key, it)}\n")
    return "".join(plain + tables)


def _scalar(key: str, value: object) -> str:
    import json

    if isinstance(value, timedelta):
        return json.dumps(word(key, value))
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_scalar(key, one) for one in value) + "]"
    if isinstance(value, (str, bool, int, float)):
        return json.dumps(value, allow_nan=False)
    raise TypeError(f"`{key}` of a plan is of the type {type(value).__name__}: use texts, numbers, lists or dicts")
