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

import errno as _errno
import json as _json
import os as _os
import tempfile as _tempfile
from collections.abc import Iterable as _Iterable
from collections.abc import Mapping as _Mapping
from datetime import datetime as _datetime
from datetime import timezone as _timezone
from pathlib import Path as _Path
from typing import TYPE_CHECKING
from typing import Any as _Any
from typing import Literal as _Literal
from typing import overload as _overload

from . import _espbench, _progress, _words
from ._errors import EspbenchError, Inconclusive, NoCell, WrongUnit
from ._espbench import TOOL, Table
from .figures import Comparison, Estimate, Figures, Verdict
from .result import Cause, Diagnosis, Result, SettingsCheck

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from . import _flags

__version__ = TOOL.split()[1]
__all__ = [
    "Cause",
    "Comparison",
    "Diagnosis",
    "EspbenchError",
    "Estimate",
    "Figures",
    "Inconclusive",
    "NoCell",
    "Result",
    "SettingsCheck",
    "Table",
    "Verdict",
    "WrongUnit",
    "doctor",
    "metrics",
    "plans",
    "predict",
    "read",
    "read_log",
    "read_run",
    "run",
    "runs",
    "tune",
]

_PathLike = str | _os.PathLike[str]
_Progress = _progress.Progress
_Plan = str | _os.PathLike[str] | _Mapping[str, _Any]

# Most threads, and the largest seed.
_THREADS = 65_535
_SEED = 2**64 - 1

# Beginning of a file of SQLite.
_SQLITE = b"SQLite format 3\0"


def _plan(plan: object) -> tuple[str, bool]:
    """Returns a plan, and whether it is a text: that has a line's end, a name has none."""
    if isinstance(plan, _Mapping):
        return _words.to_toml(dict(plan)), True
    if not isinstance(plan, (str, _os.PathLike)):
        raise TypeError(f"plans and labs are texts, paths or dicts, and not of the type {type(plan).__name__}")
    text = _words.text("the plan or lab", str(_os.fspath(plan)))
    return text, "\n" in text


def plans() -> dict[str, str]:
    """Returns the built-in plans: names and titles."""
    return dict(_espbench.plans())


def metrics() -> dict[str, dict[str, _Any]]:
    """Returns all metrics: for each name its unit, which direction is better (`lower`, `higher`, `neither`), and whether it is a share."""
    return {name: {"unit": unit, "better": better, "share": share} for name, unit, better, share in _espbench.metrics()}


def _ask(
    path: list[str],
    set_here: dict[str, _Any],
    flags: _Mapping[str, _Any],
    progress: _Progress,
    what: str,
    files: _Iterable[str] = (),
    shown: _Mapping[str, str] | None = None,
) -> tuple[int, str]:
    """Asks a command: returns the exit status and its JSON.

    shown: what the caller knows as what, for paths of temporary files.
    """
    given = _words.flags(path, {**set_here, "format": "json", "quiet": True}, flags)
    try:
        return _espbench.ask([*path, *given, *(["--", *files] if files else [])], _progress.counter(progress, what))
    except EspbenchError as wrong:
        parts = [wrong.what, wrong.why, wrong.remedy]
        for temporary, name in (shown or {}).items():
            parts = [it.replace(temporary, name) for it in parts]
        raise type(wrong)(*parts) from None


def run(
    plan: _Plan | _Iterable[_Plan],
    *,
    on: str | _Iterable[str] | None = None,
    lab: _PathLike | None = None,
    seed: int | None = None,
    store: _PathLike | None = None,
    threads: int | None = None,
    progress: _Progress = None,
    **flags: Unpack[_flags.RunFlags],
) -> Result:
    """Carries out a plan and returns its result.

    plan: name of a built-in plan (`plans()`), a .toml file, the text of one, or a dict of it; or several of these.
    on: target, as `espbench run --on` takes it: `sim`, `loopback`, `udp:HOST`, `serial:PORT,PORT`, `mqtt:HOST`, …
        Without one, plans for the lab are simulated and others go over loopback.
    lab: a lab in which all cells are simulated: a built-in name, a .toml file, or the text of one.
    seed: seed of everything random; the same seed gives the same figures.
    store: file in which the run is kept. Without one, what is simulated is kept in memory alone.
    threads: threads of the simulation; they do not change the result.
    progress: None shows it in notebooks and terminals; True, False; or a function `progress(done, total)`, here of cells.
    flags: those of `espbench run`, such as chip="esp32c3" or beside="shield-box".

    Ctrl-C, and an exception of `progress`, stop the run; other Python threads go on meanwhile.
    """
    seed, threads = _words.whole("seed", seed, 0, _SEED), _words.whole("threads", threads, 1, _THREADS)
    several: _Iterable[object] = [plan] if isinstance(plan, (str, _Mapping, _os.PathLike)) or not isinstance(plan, _Iterable) else plan
    given = [_plan(it) for it in _words.listed(several)]
    targets = _words.texts(on)
    in_lab = lab is not None or all(it == "sim" or it.startswith("sim:") for it in targets)
    if lab is not None and targets:
        named = [it for it in targets if it != "sim"]
        if named:
            what = "a lab is named twice" if named[0].startswith("sim:") else f"{named[0]} is not in a lab"
            raise EspbenchError(what, f"lab={lab!r} and on={on!r}", "leave one of them out")
    if in_lab and (targets or lab is not None):
        given = [(it if is_text else _espbench.of_lab(it), is_text) for it, is_text in given]
    if in_lab and len(targets) <= 1 and store is None and not flags and (targets or lab is not None or _espbench.are_for_lab(given)):
        place = _plan(lab) if lab is not None else None
        if targets and ":" in targets[0]:
            name = targets[0].partition(":")[2]
            place = (name, False) if name else None
        started = _datetime.now(_timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        heard = _progress.counter(progress, "cells")
        return _of(_espbench.simulate(given, place, seed, started, threads, heard))
    with _tempfile.TemporaryDirectory(prefix="espbench-") as folder:
        shown = {}
        if lab is not None:
            path = _file(_plan(lab), _Path(folder) / "lab.toml")
            targets = [f"sim:{path}"]
            shown[path] = "lab"
        kept = _Path(folder) / "runs.sqlite" if store is None else _Path(store)
        set_here = {"on": targets or None, "seed": seed, "store": kept, "threads": threads}
        names = [_file(it, _Path(folder) / f"plan-{at}.toml") for at, it in enumerate(given)]
        for at, (name, (_, is_text)) in enumerate(zip(names, given, strict=True), 1):
            if is_text:
                shown[name] = "plan" if len(given) == 1 else f"plan {at}"
        status, out = _ask(["run"], set_here, flags, progress, "cells", names, shown)
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


@_overload
def predict(question: _Literal["fleet"] = "fleet", *, progress: _Progress = None, **flags: Unpack[_flags.FleetFlags]) -> Result: ...
@_overload
def predict(question: _Literal["rate"], *, progress: _Progress = None, **flags: Unpack[_flags.RateFlags]) -> Result: ...
@_overload
def predict(question: _Literal["range"], *, progress: _Progress = None, **flags: Unpack[_flags.RangeFlags]) -> Result: ...
@_overload
def predict(question: _Literal["frames"], *, progress: _Progress = None, **flags: Unpack[_flags.FramesFlags]) -> Result: ...
@_overload
def predict(question: _Literal["compare"], *, progress: _Progress = None, **flags: Unpack[_flags.CompareFlags]) -> Result: ...
def predict(question: str = "fleet", *, progress: _Progress = None, **flags: _Any) -> Result:
    """Answers a what-if question in the virtual lab.

    question: `fleet` (loss and latency of many devices, or the largest fleet), `rate` (PHY rates), `range` (metres),
        `frames` (one long frame or several short ones), or `compare` (which chip: profile=["esp32", "esp32c3"], or all).
    progress: as of `run`, here of thousandths of the work.
    flags: those of `espbench predict QUESTION`, such as devices=60, every="5s", payload=50 (bytes), room="home",
        battery="2xAA", loss="1%", p99="50ms". A list is several values: devices=[5, 10].

    The result has latency in ms, loss in percent, range in m, charge in uC and battery life in h. Its status is 1 where
    limits that were given (loss=, p99=) are broken, 2 where nothing could be found out.
    """
    if question not in ("fleet", "rate", "range", "frames", "compare"):
        raise ValueError(f"there is no question {question!r}: ask for 'fleet', 'rate', 'range', 'frames' or 'compare'")
    status, out = _ask(["predict", question], {}, flags, progress, "prediction")
    return Result(_espbench.Report.from_json(out), status)


@_overload
def tune(
    check: _PathLike, want: None = None, *, progress: _Progress = None, **flags: Unpack[_flags.TuneFlags]
) -> SettingsCheck: ...
@_overload
def tune(
    check: _PathLike | None, want: str | _Iterable[str], *, progress: _Progress = None, **flags: Unpack[_flags.TuneFlags]
) -> Result: ...
@_overload
def tune(
    check: _PathLike | None = None,
    *,
    want: str | _Iterable[str],
    progress: _Progress = None,
    **flags: Unpack[_flags.TuneFlags],
) -> Result: ...
def tune(
    check: _PathLike | None = None,
    want: str | _Iterable[str] | None = None,
    *,
    progress: _Progress = None,
    **flags: Unpack[_flags.TuneFlags],
) -> Result | SettingsCheck:
    """Checks an sdkconfig, or searches for settings that reach a goal (in the virtual lab).

    check: an sdkconfig or sdkconfig.defaults. Alone, its mistakes and what limits its throughput are returned as a
        `SettingsCheck`.
    want: goals such as "tcp-tx>=20Mbit/s", "udp-latency<=150ms", "heap>=100KB", "battery>=4d"; then a `Result` is
        returned, whose status is 1 where nothing reaches them all.
    progress: as of `run`, here of trials; a search has parts, of which each begins at 0.
    flags: those of `espbench tune`, such as rtt="20ms", chip="esp32c3", budget=120, fragment="sdkconfig.tuned".
    """
    goals = _words.texts(want)
    if check is None and not goals:
        raise TypeError("name an sdkconfig (check=) or a goal (want=)")
    status, out = _ask(["tune"], {"check": check, "want": goals or None}, flags, progress, "search")
    if goals:
        return Result(_espbench.Report.from_json(out), status)
    return SettingsCheck(_json.loads(out))


def doctor(*files: _PathLike, log: str | None = None, **flags: Unpack[_flags.DoctorFlags]) -> Diagnosis:
    """Finds the causes of trouble in console logs, captures, an sdkconfig of their firmware, or a stored run.

    files: paths, or names of stored runs.
    log: text of a console log, in place of a file.
    flags: those of `espbench doctor`: no_proof=True (do not show the first cause in the lab), store="runs.sqlite".
    """
    if not files and log is None:
        raise TypeError("name a log, an sdkconfig or a stored run, or give the text of a log (log=)")
    named = [_words.word("a file", it) for it in files]
    with _tempfile.TemporaryDirectory(prefix="espbench-") as folder:
        shown = {}
        if log is not None:
            path = _Path(folder) / "log"
            path.write_bytes(_octets(log))
            named.append(str(path))
            shown[str(path)] = "log"
        _, out = _ask(["doctor"], {}, flags, False, "files", named, shown)
    found = Diagnosis(_json.loads(out))
    if log is not None:
        for one in found["diagnoses"]:
            one["files"] = ["log" if it == named[-1] else it for it in one["files"]]
    return found


def _octets(log: str) -> bytes:
    """Returns the bytes of a log, those that are no UTF-8 as Python has read them (errors="surrogateescape")."""
    try:
        return log.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return log.encode("utf-8", "surrogatepass")


def read(path: _PathLike, run: str = "last") -> Result | Diagnosis:
    """Reads a store (the newest run, or that of the name `run`), a report (.json), a diagnosis (.json) or a console log.

    What a file is, its contents tell; `read_run` and `read_log` are for those who know. Of a store raw samples are read
    when they are asked for. A log is diagnosed without the lab; `doctor` shows the first cause there.
    """
    with open(path, "rb") as file:
        head = file.read(4096)
    if _Path(path).suffix == ".toml":
        raise EspbenchError(f"{path} is no result", "a .toml file is a plan or a lab", "carry it out: espbench.run")
    if head.startswith(_SQLITE):
        return Result(_espbench.read_store(path, run))
    if head.lstrip().startswith(b"{"):
        return _of_json(path)
    return doctor(path, no_proof=True)


def _of_json(path: _PathLike) -> Result | Diagnosis:
    text = _Path(path).read_text(encoding="utf-8")
    try:
        known = _json.loads(text)
        if isinstance(known, dict) and "diagnoses" in known:
            return Diagnosis(known)
        return _of(_espbench.Report.from_json(text))
    except ValueError as wrong:
        raise EspbenchError(f"{path} is no report of espbench", str(wrong), "name a .json that Result.save or espbench has written") from None


def read_run(path: _PathLike, run: str = "last") -> Result:
    """Reads a run of a store, or a report (.json), as `read` does; anything else is an error."""
    found = read(path, run)
    if isinstance(found, Result):
        return found
    raise EspbenchError(f"{path} is no run", "it was read as a log", "use espbench.read_log")


def read_log(path: _PathLike) -> Diagnosis:
    """Reads a console log, as `read` does; anything else is an error."""
    found = read(path)
    if isinstance(found, Diagnosis):
        return found
    raise EspbenchError(f"{path} is no log", "it is a run", "use espbench.read_run")


def runs(store: _PathLike) -> list[dict[str, _Any]]:
    """Returns the runs of a store, the oldest first: name, start in UTC, target, and cells planned, done and failed."""
    if not _Path(store).exists():
        raise FileNotFoundError(_errno.ENOENT, "there is no store", _os.fspath(store))
    names = ("name", "started", "target", "planned", "done", "failed")
    return [dict(zip(names, row, strict=True)) for row in _espbench.runs(_os.fspath(store))]
