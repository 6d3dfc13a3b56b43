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


def _values(words: list[str], flag: str) -> list[str]:
    """Returns the values of a flag, as one word or as two."""
    of_two = [value for word, value in zip(words, words[1:], strict=False) if word == flag]
    return of_two + [it.partition("=")[2] for it in words if it.startswith(f"{flag}=")]


def command(words: Sequence[str], project: dict[str, str]) -> list[str]:
    """Returns the words of espbench's own command for words behind `idf.py espbench` and what the project knows."""
    word, rest = (words[0], list(words[1:])) if words else ("check", [])
    if word not in _WORDS or {"-h", "--help"} & set(rest):
        return list(words)
    config, target = project["sdkconfig"], project["target"]
    flags = {it.partition("=")[0] for it in rest}
    if word in ("check", "tune"):
        if not config:
            raise LookupError("the project has no sdkconfig yet: idf.py reconfigure makes it")
        chip = ["--chip", target] if target and "--chip" not in flags else []
        check = ["--check", config] if "--check" not in flags else []
        return ["tune", *check, *chip, *rest]
    if word == "run":
        port = project["port"]
        if not rest or all(it.startswith("-") for it in rest):
            raise LookupError("name a plan: idf.py espbench run PLAN (a .toml file, or a name of `espbench run --list`)")
        if port and "--on" not in flags:
            return ["run", *rest, "--on", f"serial:{port}"]
        # The board of a port has its firmware; what is simulated gets the project's.
        simulates = "--on" not in flags or any(it.startswith("sim") for it in _values(rest, "--on"))
        takes_firmware = simulates and config and "--sdkconfig" not in flags
        return ["run", *rest, *(["--sdkconfig", config] if takes_firmware else [])]
    if word == "doctor":
        return ["doctor", *rest, *([config] if config else [])]
    asked = rest[0] if rest else ""
    takes_firmware = asked in ("fleet", "frames", "rate") and "--sdkconfig" not in flags
    return ["predict", *rest, *(["--sdkconfig", config] if config and takes_firmware else [])]


def action_extensions(base_actions: dict[str, Any], project_path: str) -> dict[str, Any]:
    """Returns the actions for idf.py."""
    import click

    def run(subcommand_name: str, ctx: Any, global_args: Any, **action_args: Any) -> None:
        from . import _espbench

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
