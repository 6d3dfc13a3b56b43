"""The plugin of pytest: a fixture that measures in a test, and assertions with intervals.

    def test_echo(espbench):
        echo = espbench.run("round-trip.toml")
        assert echo.p99 < "30 ms"
        espbench.baseline(echo)
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import espbench as _espbench
from espbench import units
from espbench.figures import Comparison, Figures, Verdict
from espbench.fleet import Fleet
from espbench.result import Diagnosis, Result, SettingsCheck

# What a baseline file begins with.
SCHEMA = "espbench-baselines/1"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options of the plugin."""
    group = parser.getgroup("espbench", "espbench: measurements of wireless links")
    group.addoption("--espbench-on", metavar="TARGET", help="target of runs that name none: sim, serial:auto, udp:HOST, …")
    group.addoption(
        "--espbench-update", action="store_true", help="write what is measured into the file of baselines, and compare nothing"
    )
    parser.addini("espbench_on", "target of runs that name none", default="")
    parser.addini("espbench_baselines", "file of baselines, from the root of the project", default="espbench-baselines.json")


class Baselines:
    """The file of baselines: reports by name."""

    def __init__(self, path: Path, update: bool) -> None:
        self.path = path
        self.update = update

    def _read(self) -> dict[str, Any]:
        try:
            known = json.loads(self.path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {"schema": SCHEMA, "baselines": {}}
        except ValueError as wrong:
            raise _espbench.EspbenchError(f"{self.path} is no file of baselines", str(wrong), "restore it, or remove it") from None
        if not isinstance(known, dict) or known.get("schema") != SCHEMA:
            raise _espbench.EspbenchError(f"{self.path} is no file of baselines", f"it is not of {SCHEMA}", "remove it")
        return known

    def get(self, name: str) -> list[dict[str, Any]] | None:
        """Returns the figures of a baseline."""
        found = self._read()["baselines"].get(name)
        return None if found is None else list(found)

    def put(self, name: str, figures: list[dict[str, Any]]) -> None:
        """Writes a baseline: a file of one line for each figure, so that differences can be read."""
        known = self._read()
        known["baselines"][name] = figures
        lines = []
        for key, rows in sorted(known["baselines"].items()):
            inner = ",\n".join("   " + json.dumps(row, sort_keys=True) for row in rows)
            lines.append(f"  {json.dumps(key)}: [\n{inner}\n  ]")
        text = '{"schema": %s, "baselines": {\n%s\n}}\n' % (json.dumps(SCHEMA), ",\n".join(lines))
        beside = self.path.with_suffix(".part")
        beside.write_text(text, encoding="utf-8")
        os.replace(beside, self.path)


# What tells the figure of one cell from that of another.
_IDENTITY = ("kind", "chip", "mode", "metric", "payload_bytes", "devices", "distance_m", "security", "environment", "lab_variant", "cell")
_KEPT = (*_IDENTITY, "value", "unit", "n", "ci_low", "ci_high", "origin", "seed")

# Metrics of which more is better.
_MORE = ("throughput", "rate", "heap", "battery", "range", "goodput")


def _rows(result: Result, metrics: tuple[str, ...]) -> list[dict[str, Any]]:
    cells = [it for it in result.json["cells"] if it["origin"] != "published" and it["value"] is not None]
    cells = [it for it in cells if not metrics or it["metric"] in metrics]
    return [{key: it[key] for key in _KEPT if it.get(key) is not None} for it in cells]


def _is_worse(ours: dict[str, Any], before: dict[str, Any], tolerance: float) -> Verdict:
    """Tells whether a figure has become worse than its baseline by more than a part of that."""
    exact = ours["origin"] == before["origin"] == "simulated" and ours.get("seed") == before.get("seed")
    if exact and ours["value"] == before["value"]:
        return Verdict.HOLDS
    if "ci_low" not in ours and "ci_high" not in ours:
        # Extremes and counts have no interval: they are kept to be read, and decide only where all is exact.
        return Verdict.INCONCLUSIVE
    sign = -1.0 if any(it in ours["metric"] for it in _MORE) else 1.0
    limit = before["value"] * (1.0 + sign * tolerance)
    ends = (ours.get("ci_low"), ours.get("ci_high"))
    good, bad = (ends[1], ends[0]) if sign > 0 else (ends[0], ends[1])
    if bad is not None and (bad - limit) * sign > 0:
        return Verdict.FAILS
    if good is not None and (good - limit) * sign <= 0:
        return Verdict.HOLDS
    return Verdict.INCONCLUSIVE


class Bench:
    """What a test has of espbench: the functions of the module, on the target of the command line, and baselines."""

    def __init__(self, node: str, on: str | None, baselines: Baselines) -> None:
        self._node = node
        self._on = on
        self._baselines = baselines

    def run(self, plan: Any, **given: Any) -> Result:
        """Carries out a plan as `espbench.run` does, on `--espbench-on` where no target is named."""
        if self._on and not given.get("on") and not given.get("lab"):
            given["on"] = self._on
        result = _espbench.run(plan, progress=given.pop("progress", False), **given)
        if result.failures:
            pytest.fail("not measured:\n  " + "\n  ".join(result.failures), pytrace=False)
        return result

    def predict(self, question: str = "fleet", **given: Any) -> Result:
        """Answers as `espbench.predict` does."""
        return _espbench.predict(question, progress=given.pop("progress", False), **given)

    def tune(self, check: Any = None, want: Any = None, **given: Any) -> Result | SettingsCheck:
        """Answers as `espbench.tune` does."""
        return _espbench.tune(check, want, progress=given.pop("progress", False), **given)

    def doctor(self, *files: Any, **given: Any) -> Diagnosis:
        """Answers as `espbench.doctor` does."""
        return _espbench.doctor(*files, **given)

    @contextlib.contextmanager
    def board(self, *duts: Any) -> Iterator[str]:
        """Takes the serial ports of pytest-embedded's `dut` (or several, the initiator first) for the block, as a target.

        pytest-embedded reads on afterwards. What boards print meanwhile is in espbench's record and not in its log.
        """
        serials = [getattr(it, "serial", it) for it in duts]
        if not serials:
            raise TypeError("name a dut, or several")
        killed = [it.stop_redirect_thread() for it in serials]
        for it in serials:
            it.proc.close()
        try:
            yield "serial:" + ",".join(str(it.port) for it in serials)
        finally:
            for it, was_going in zip(serials, killed, strict=True):
                it.proc.open()
                if was_going:
                    it.start_redirect_thread()

    def baseline(self, result: Result, *metrics: str, name: str | None = None, tolerance: str | float = "10 %") -> None:
        """Fails where figures are worse than their baseline by more than the tolerance, or where that stays open.

        A simulation with the baseline's seed is compared exactly: what is the same has passed. Others are compared by
        intervals: the whole interval must be within the tolerance of the baseline's value. Without metrics those that
        have intervals are compared. `--espbench-update` writes the baseline.
        """
        part = units.parse(tolerance, "percent") / 100 if isinstance(tolerance, str) else tolerance
        name = name or self._node
        ours = _rows(result, metrics)
        if metrics and not ours:
            raise _espbench.NoCell(f"there is none of the metrics {', '.join(metrics)}")
        if self._baselines.update:
            self._baselines.put(name, ours)
            return
        before = self._baselines.get(name)
        if before is None:
            pytest.fail(f"{self._baselines.path} has no baseline `{name}`: run pytest --espbench-update once", pytrace=False)
        lines = _compare(ours, before, part, bool(metrics))
        if lines:
            causes = Figures("", [], result).causes()
            pytest.fail("\n".join([f"against the baseline `{name}`:", *lines, *causes]), pytrace=False)


def _key(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row.get(it) for it in _IDENTITY)


def _compare(ours: list[dict[str, Any]], before: list[dict[str, Any]], tolerance: float, named: bool) -> list[str]:
    """Returns a line for each figure that has not passed."""
    known = {_key(it): it for it in before}
    lines = []
    seen = 0
    for row in ours:
        base = known.get(_key(row))
        if base is None:
            lines.append(f"  new: {_told(row)} is not in the baseline (pytest --espbench-update)")
            continue
        seen += 1
        verdict = _is_worse(row, base, tolerance)
        if verdict is Verdict.INCONCLUSIVE and not named and "ci_low" not in row and "ci_high" not in row:
            continue
        if verdict is not Verdict.HOLDS:
            word = "worse" if verdict is Verdict.FAILS else "inconclusive"
            lines.append(f"  {word}: {_told(row)}, before {base['value']:.4g} {base['unit']}, allowed {100 * tolerance:g} % more or less")
    if not seen:
        lines.append("  no figure of the baseline was measured")
    return lines[:20]


def _told(row: dict[str, Any]) -> str:
    low, high = (f"{row[it]:.4g}" if it in row else "unbounded" for it in ("ci_low", "ci_high"))
    size = f" of {row['payload_bytes']} B" if "payload_bytes" in row else ""
    return f"{row['metric']}{size} {row['value']:.4g} {row['unit']} (95 % interval {low} to {high})"


@pytest.fixture
def espbench(request: pytest.FixtureRequest) -> Bench:
    """Measures in a test: `espbench.run(plan)`, `predict`, `tune`, `doctor`, `baseline(result)`, `board(dut)`."""
    config = request.config
    on = config.getoption("--espbench-on") or config.getini("espbench_on") or None
    path = config.rootpath / str(config.getini("espbench_baselines"))
    return Bench(request.node.nodeid, on, Baselines(path, bool(config.getoption("--espbench-update"))))


@pytest.fixture(scope="session")
def espbench_fleet() -> Iterator[Fleet]:
    """Two simulated boards on pseudo-terminals, for tests without hardware."""
    with Fleet("two-boards", app="solution") as fleet:
        yield fleet


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    """Explains why a limit does not hold: the figures with their intervals, and the likeliest causes."""
    if isinstance(left, Figures) and op in ("<", "<=", ">", ">="):
        return Comparison(left, op, right).explain()
    if isinstance(right, Figures) and op in ("<", "<=", ">", ">="):
        turned = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}[op]
        return Comparison(right, turned, left).explain()
    return None
