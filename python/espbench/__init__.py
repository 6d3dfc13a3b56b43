"""espbench: measures, predicts and tunes the wireless links of ESP32-class devices.

    import espbench
    echo = espbench.run("round-trip", seed=1)         # in the virtual lab
    echo.p99                                          # figures with 95 % intervals
    echo.samples.to_polars()                          # each probe, lost ones included
    espbench.predict("fleet", devices=60, every="5s")
    espbench.doctor("boot.log")

Functions take what the flags of the command of the same name take, with `_` in place of `-`: `phy_rate="6M"` is
`--phy-rate 6M`. Quantities are texts with a unit ("50ms", "1%", "20Mbit/s") or `datetime.timedelta`.
"""

from __future__ import annotations

import json as _json
import os as _os
import tempfile as _tempfile
from collections.abc import Callable as _Callable
from collections.abc import Iterable as _Iterable
from datetime import datetime as _datetime
from datetime import timezone as _timezone
from pathlib import Path as _Path
from typing import Any as _Any

from . import _espbench, _progress, _words
from ._errors import EspbenchError, NoCell, WrongUnit
from ._espbench import TOOL, Table
from .figures import Comparison, Estimate, Figures, Verdict
from .result import Cause, Diagnosis, Result, SettingsCheck

__version__ = TOOL.split()[1]
__all__ = [
    "Cause",
    "Comparison",
    "Diagnosis",
    "EspbenchError",
    "Estimate",
    "Figures",
    "NoCell",
    "Result",
    "SettingsCheck",
    "Table",
    "Verdict",
    "WrongUnit",
    "doctor",
    "plans",
    "predict",
    "read",
    "run",
    "runs",
    "tune",
]

_PathLike = str | _os.PathLike[str]
_Progress = bool | _Callable[..., object] | None
_Plan = str | _os.PathLike[str] | dict[str, _Any]

# Beginning of a file of SQLite.
_SQLITE = b"SQLite format 3\0"


def _plan(plan: object) -> tuple[str, bool]:
    """Returns a plan, and whether it is a text: that has a line's end, a name has none."""
    if isinstance(plan, dict):
        return _words.to_toml(plan), True
    if not isinstance(plan, (str, _os.PathLike)):
        raise TypeError(f"plans and labs are texts, paths or dicts, and not of the type {type(plan).__name__}")
    text = str(_os.fspath(plan))
    return text, "\n" in text


def plans() -> dict[str, str]:
    """Returns the built-in plans: names and titles."""
    return dict(_espbench.plans())


def run(
    plan: _Plan | _Iterable[_Plan],
    *,
    on: str | list[str] | None = None,
    lab: _PathLike | None = None,
    seed: int | None = None,
    store: _PathLike | None = None,
    threads: int | None = None,
    progress: _Progress = None,
    **flags: _Any,
) -> Result:
    """Carries out a plan and returns its result.

    plan: name of a built-in plan (`plans()`), a .toml file, the text of one, or a dict of it; or several of these.
    on: target, as `espbench run --on` takes it: `sim`, `loopback`, `udp:HOST`, `serial:PORT,PORT`, `mqtt:HOST`, …
        Without one, plans for the lab are simulated and others go over loopback.
    lab: a lab in which all cells are simulated: a built-in name, a .toml file, or the text of one.
    seed: seed of everything random; the same seed gives the same figures.
    store: file in which the run is kept. Without one, what is simulated is kept in memory alone.
    threads: threads of the simulation; they do not change the result.
    progress: None shows it in notebooks and terminals; True, False; or a function of cells done and all.
    flags: those of `espbench run`, such as chip="esp32c3" or beside="shield-box".

    Ctrl-C, and an exception of `progress`, stop the run; other Python threads go on meanwhile.
    """
    several = plan if isinstance(plan, (list, tuple)) else [plan]
    given = [_plan(it) for it in several]
    targets = [on] if isinstance(on, str) else list(on or [])
    in_lab = lab is not None or all(it == "sim" or it.startswith("sim:") for it in targets)
    if in_lab and (targets or lab is not None):
        given = [(it if is_text else _espbench.of_lab(it), is_text) for it, is_text in given]
    if in_lab and len(targets) <= 1 and store is None and not flags and (targets or lab is not None or _espbench.are_for_lab(given)):
        place = _plan(lab) if lab is not None else None
        if targets and ":" in targets[0]:
            if lab is not None:
                raise EspbenchError("a lab is named twice", f"lab={lab!r} and on={on!r}", "leave one of them out")
            name = targets[0].partition(":")[2]
            place = (name, False) if name else None
        started = _datetime.now(_timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        shown = _progress.counter(progress, "cells")
        return _of(_espbench.simulate(given, place, seed, started, threads, shown))
    if lab is not None:
        targets.append(f"sim:{_words.word('lab', lab)}")
    with _tempfile.TemporaryDirectory(prefix="espbench-") as folder:
        words = ["run", *(_file(it, _Path(folder) / f"plan-{at}.toml") for at, it in enumerate(given))]
        kept = _Path(folder) / "runs.sqlite" if store is None else _Path(store)
        all_flags = {"on": targets or None, "seed": seed, "store": kept, "threads": threads, "format": "json", **flags}
        listener = _progress.lines(progress)
        quiet = [] if listener else ["--quiet"]
        status, out = _espbench.ask([*words, *quiet, *_words.flags(all_flags)], listener)
        name = _json.loads(out)["run"]["name"]
        report = _espbench.read_store(kept, name)
        if store is None:
            # The samples are read while their file is there.
            result = Result(report, status)
            _ = result.samples, result.intervals, result._diagnosis
            return result
        return Result(report, status)


def _file(plan: tuple[str, bool], path: _Path) -> str:
    text, is_text = plan
    if not is_text:
        return text
    path.write_text(text, encoding="utf-8")
    return str(path)


def _of(report: _espbench.Report) -> Result:
    """Returns a result with the exit status that the command has."""
    return Result(report, report.status)


def predict(question: str = "fleet", *, progress: _Progress = None, **flags: _Any) -> Result:
    """Answers a what-if question in the virtual lab.

    question: `fleet` (loss and latency of many devices, or the largest fleet), `rate` (PHY rates), `range` (metres),
        or `frames` (one long frame or several short ones).
    flags: those of `espbench predict QUESTION`, such as devices=60, every="5s", payload=50 (bytes), room="home",
        battery="2xAA", loss="1%", p99="50ms".

    The result has latency in ms, loss in percent, range in m, charge in mAh and battery life in days.
    """
    if question not in ("fleet", "rate", "range", "frames"):
        raise ValueError(f"there is no question {question!r}: ask for 'fleet', 'rate', 'range' or 'frames'")
    listener = _progress.lines(progress)
    # Of a range nothing is simulated, so that it has no progress.
    quiet = [] if listener or question == "range" else ["--quiet"]
    words = ["predict", question, *quiet, *_words.flags({"format": "json", **flags})]
    status, out = _espbench.ask(words, listener)
    return Result(_espbench.Report.from_json(out), status)


def tune(
    check: _PathLike | None = None,
    want: str | list[str] | None = None,
    *,
    progress: _Progress = None,
    **flags: _Any,
) -> Result | SettingsCheck:
    """Checks an sdkconfig, or searches for settings that reach a goal (in the virtual lab).

    check: an sdkconfig or sdkconfig.defaults. Alone, its mistakes and what limits its throughput are returned as a
        `SettingsCheck`.
    want: goals such as "tcp-tx>=20Mbit/s", "udp-latency<=150ms", "heap>=100KB", "battery>=4d"; then a `Result` is
        returned, whose status is 1 where nothing reaches them all.
    flags: those of `espbench tune`, such as rtt="20ms", chip="esp32c3", budget=120, fragment="sdkconfig.tuned".
    """
    if check is None and not want:
        raise TypeError("name an sdkconfig (check=) or a goal (want=)")
    listener = _progress.lines(progress)
    quiet = [] if listener else ["--quiet"]
    words = ["tune", *quiet, *_words.flags({"check": check, "want": want, "format": "json", **flags})]
    status, out = _espbench.ask(words, listener)
    if want:
        return Result(_espbench.Report.from_json(out), status)
    return SettingsCheck(_json.loads(out))


def doctor(*files: _PathLike, **flags: _Any) -> Diagnosis:
    """Finds the causes of trouble in console logs, an sdkconfig of their firmware, or a stored run.

    flags: those of `espbench doctor`: no_proof=True (do not show the first cause in the lab), store="runs.sqlite".
    """
    if not files:
        raise TypeError("name a log, an sdkconfig or a stored run")
    named = [_words.word("a file", it) for it in files]
    _, out = _espbench.ask(["doctor", *_words.flags({"format": "json", **flags}), "--", *named])
    return Diagnosis(_json.loads(out))


def read(path: _PathLike, run: str = "last") -> Result | Diagnosis:
    """Reads a store (the newest run, or that of the name `run`), a report (.json) or a console log.

    What a file is, its contents tell. Of a store raw samples are read when they are asked for. A log is diagnosed
    without the lab; `doctor` shows the first cause there.
    """
    with open(path, "rb") as file:
        head = file.read(4096)
    if _Path(path).suffix == ".toml":
        raise EspbenchError(f"{path} is no result", "a .toml file is a plan or a lab", "carry it out: espbench.run")
    if head.startswith(_SQLITE):
        return Result(_espbench.read_store(path, run))
    if head.lstrip().startswith(b"{"):
        text = _Path(path).read_text(encoding="utf-8")
        return _of(_espbench.Report.from_json(text))
    return doctor(path, no_proof=True)


def runs(store: _PathLike) -> list[dict[str, _Any]]:
    """Returns the runs of a store, the oldest first: name, start in UTC, target, and cells planned, done and failed."""
    names = ("name", "started", "target", "planned", "done", "failed")
    return [dict(zip(names, row, strict=True)) for row in _espbench.runs(_os.fspath(store))]
