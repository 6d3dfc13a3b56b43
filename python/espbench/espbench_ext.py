"""`idf.py espbench check|run|tune|predict|doctor …`: the extension for ESP-IDF v6.

idf.py finds it by the entry point `idf_extension` of the installed package; a project may also have it as its
`idf_ext.py` (`from espbench.espbench_ext import action_extensions`). The interface is that of ESP-IDF's guide
"IDF Frontend - idf.py", chapter "Extending idf.py", version 1.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import _espbench
from ._errors import EspbenchError

# Subcommands that look at the project.
_WORDS = ("check", "run", "tune", "predict", "doctor")

_HELP = """Check, measure, tune or predict the wireless links of this project with espbench.

check [FLAGS]            mistakes in the project's sdkconfig, and what limits its throughput

run PLAN [FLAGS]         carry a plan out at the board of --port, or in the virtual lab with this sdkconfig

tune --want GOAL         the fewest changes of the sdkconfig that reach a goal, such as 'tcp-tx>=20Mbit/s'

predict fleet [FLAGS]    loss and latency of a fleet with this sdkconfig

doctor LOG               the cause of trouble, from a log and the sdkconfig

All that follows `espbench` are its own words, so it stands last: idf.py build espbench check --rtt 20ms"""


def _project(project_path: str, global_args: Any) -> dict[str, str]:
    """Returns what the project knows: sdkconfig and target. An option before a file, a file before a default."""
    root = Path(project_path)

    def option(name: str) -> str:
        value = global_args.get(name) if isinstance(global_args, dict) else getattr(global_args, name, None)
        return str(value) if value else ""

    build = Path(option("build_dir") or root / "build")
    described: dict[str, Any] = {}
    try:
        described = json.loads((build / "project_description.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        # A project that was never configured has none.
        pass
    cache = option("define_cache_entry")
    candidates = [described.get("config_file"), root / "sdkconfig", root / "sdkconfig.defaults"]
    found = next((str(it) for it in candidates if it and Path(it).is_file()), "")
    target = described.get("target") or os.environ.get("IDF_TARGET", "")
    return {"sdkconfig": found, "target": str(target), "port": option("port") or os.environ.get("ESPPORT", ""), "cache": cache}


def _read(path: list[str], words: list[str]) -> tuple[list[str], dict[str, list[str]]]:
    """Reads words of a command by its own flags; returns what is no flag, and the values of each flag that is there."""
    known = {f"--{it.name}": it for it in _espbench.flags(path)}
    known.update({f"-{it.short}": it for it in known.values() if it.short})
    plain: list[str] = []
    given: dict[str, list[str]] = {}
    left = list(words)
    while left:
        word = left.pop(0)
        if word == "--":
            return plain + left, given
        if not word.startswith("-") or word == "-":
            plain.append(word)
            continue
        name, equals, value = word.partition("=")
        if not word.startswith("--"):
            # Letters behind one dash are flags, up to the first that takes a value: it has what follows.
            name, value = word[:2], word[2:].removeprefix("=")
            equals = value if name in known and known[name].takes_value else ""
            left[:0] = [f"-{value}"] if value and not equals else []
        flag = known.get(name)
        values = given.setdefault(flag.name if flag else name.lstrip("-"), [])
        if equals:
            values.append(value)
        elif flag and flag.takes_value and left and (flag.needs_value or not left[0].startswith("-")):
            values.append(left.pop(0))
    return plain, given


def command(words: Sequence[str], project: dict[str, str]) -> list[str]:
    """Returns the words of espbench's own command for words behind `idf.py espbench` and what the project knows."""
    word, rest = (words[0], list(words[1:])) if words else ("check", [])
    if word not in _WORDS or {"-h", "--help"} & set(rest):
        return list(words)
    config, target = project["sdkconfig"], project["target"]
    if word in ("check", "tune"):
        _, given = _read(["tune"], rest)
        if "check" in given:
            # Another file has a chip of its own.
            return ["tune", *rest]
        if not config:
            raise LookupError("the project has no sdkconfig yet: idf.py reconfigure makes it")
        chip = ["--chip", target] if target and "chip" not in given else []
        return ["tune", "--check", config, *chip, *rest]
    if word == "run":
        return _run(rest, project)
    if word == "doctor":
        return ["doctor", *rest, *([config] if config else [])]
    if not config or not rest or "sdkconfig" in _read(["predict", rest[0]], rest[1:])[1]:
        return ["predict", *rest]
    firmware = ["--sdkconfig", config] if any(it.name == "sdkconfig" for it in _espbench.flags(["predict", rest[0]])) else []
    return ["predict", rest[0], *firmware, *rest[1:]]


def _run(words: list[str], project: dict[str, str]) -> list[str]:
    """Returns the words of a run."""
    plans, given = _read(["run"], words)
    if {"resume", "list"} & set(given):
        return ["run", *words]
    if not plans:
        raise LookupError("name a plan: idf.py espbench run PLAN (a .toml file, or a name of `espbench run --list`)")
    targets, config = given.get("on", []), project["sdkconfig"]
    if project["port"] and not targets:
        return ["run", "--on", f"serial:{project['port']}", *words]
    if not config or "sdkconfig" in given or not _is_simulated(plans, targets):
        return ["run", *words]
    return ["run", "--sdkconfig", config, *words]


def _is_simulated(plans: list[str], targets: list[str]) -> bool:
    """Tells whether a run is in the lab, whose devices get the project's firmware: a board has its own."""
    if not all(it == "sim" or it.startswith("sim:") for it in targets):
        return False
    try:
        return _espbench.are_for_lab([(_espbench.of_lab(it) if targets else it, False) for it in plans])
    except EspbenchError:
        # The run tells what is wrong with them.
        return False


def action_extensions(base_actions: dict[str, Any], project_path: str) -> dict[str, Any]:
    """Returns the actions for idf.py."""
    import click

    def run(subcommand_name: str, ctx: Any, global_args: Any, **action_args: Any) -> None:
        del subcommand_name, ctx
        words = list(action_args.get("words") or ())
        try:
            mine = command(words, _project(project_path, global_args))
        except LookupError as wrong:
            raise click.ClickException(str(wrong)) from None
        print(f"espbench {' '.join(mine)}", flush=True)
        status = _espbench.main(["espbench", *mine])
        if status:
            sys.exit(status)

    action = {
        "callback": run,
        "short_help": "Check, measure, tune or predict this project's wireless links.",
        "help": _HELP,
        # What stands behind the first word belongs to espbench, flags as well.
        "arguments": [{"names": ["words"], "nargs": -1, "type": click.UNPROCESSED}],
    }
    return {"version": "1", "actions": {"espbench": action}}
