"""The plugin of pytest: a fixture that measures in a test, and assertions with intervals.

    def test_echo(espbench):
        echo = espbench.run("round-trip.toml")
        assert echo.p99 < "30 ms"
        espbench.baseline(echo)
"""

from __future__ import annotations

import contextlib
import json
import warnings
from collections.abc import Iterator
from typing import Any, Literal

import pytest

import espbench as _espbench
from espbench import _espbench as _engine
from espbench import units
from espbench.baselines import Baselines
from espbench.figures import Comparison, Figures
from espbench.fleet import Fleet
from espbench.result import Diagnosis, Result, SettingsCheck


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options of the plugin."""
    group = parser.getgroup("espbench", "espbench: measurements of wireless links")
    group.addoption("--espbench-on", metavar="TARGET", help="target of runs that name none: sim, serial:auto, udp:HOST, …")
    group.addoption(
        "--espbench-update", action="store_true", help="write what is measured into the file of baselines, and compare nothing"
    )
    parser.addini("espbench_on", "target of runs that name none", default="")
    parser.addini("espbench_baselines", "file of baselines, from the root of the project", default="espbench-baselines.json")


class Bench:
    """What a test has of espbench: the functions of the module, on the target of the command line, and baselines."""

    def __init__(self, node: str, on: str | None, baselines: Baselines, update: bool) -> None:
        self._node = node
        self._on = on
        self._baselines = baselines
        self._update = update
        self._named: set[str] = set()

    def run(self, plan: Any, **given: Any) -> Result:
        """Carries out a plan as `espbench.run` does, on `--espbench-on` where no target is named."""
        if self._on and not given.get("on") and not given.get("lab"):
            given["on"] = self._on
        result = _espbench.run(plan, progress=given.pop("progress", False), **given)
        if result.failures:
            pytest.fail("not measured:\n  " + "\n  ".join(result.failures), pytrace=False)
        failed = [it for it in result.json.get("checks", []) if not it["passed"]]
        if failed:
            lines = [f"  {it['place']}: {it['threshold']}: {_checked(it)}" for it in failed]
            pytest.fail("\n".join(["thresholds of the plan failed:", *lines]), pytrace=False)
        return result

    def predict(self, question: Literal["fleet", "rate", "range", "frames", "compare"] = "fleet", **given: Any) -> Result:
        """Answers as `espbench.predict` does."""
        return _espbench.predict(question, progress=given.pop("progress", False), **given)

    def tune(self, check: Any = None, want: Any = None, **given: Any) -> Result | SettingsCheck:
        """Answers as `espbench.tune` does."""
        found: Result | SettingsCheck = _espbench.tune(check, want, progress=given.pop("progress", False), **given)
        return found

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

    def baseline(
        self,
        result: Result,
        *metrics: str,
        name: str | None = None,
        tolerance: str | float = "10 %",
        points: str | float = "1 %",
    ) -> None:
        """Fails where figures are worse than their baseline by more than the tolerance, new, or missing.

        tolerance: a text such as "10 %", or a part below 1: of a figure's value before.
        points: the same of shares, such as loss: a text such as "1 %", or a number, in percentage points.

        Both intervals decide: a figure fails where they show that it is worse. Where it is beyond the tolerance and they
        do not show it, it is inconclusive: then it fails if you have named its metric, and is a warning otherwise.
        What has no interval, or had an unbounded one, is left out unless you name it. Which direction is better, the
        engine knows; counts of which neither is are not kept. `--espbench-update` writes the baseline.
        """
        part = units.parse(tolerance, "percent") / 100 if isinstance(tolerance, str) else float(tolerance)
        of_shares = units.parse(points, "percent") if isinstance(points, str) else float(points)
        if not (part >= 0 and of_shares >= 0):
            raise ValueError(f"a tolerance is not negative: tolerance={tolerance!r}, points={points!r}")
        if isinstance(tolerance, (int, float)) and tolerance >= 1:
            raise ValueError(f"a tolerance of {tolerance!r} is {100 * tolerance:g} %: write '{tolerance:g} %', or '{100 * tolerance:g} %'")
        name = name or self._node
        if name in self._named:
            raise ValueError(f"the test has a baseline `{name}` already: give each one a name, espbench.baseline(result, name=…)")
        self._named.add(name)
        _check_metrics(result, metrics)
        if self._update:
            self._baselines.put(name, json.loads(result._report.to_keep(metrics)))
            return
        before = self._baselines.get(name)
        if before is None:
            pytest.fail(f"{self._baselines.path} has no baseline `{name}`: run pytest --espbench-update once", pytrace=False)
        rows = json.loads(result._report.against(json.dumps(before), metrics, part, of_shares))
        failing = _FAILING | ({"inconclusive"} if metrics else set())
        wrong = [it for it in rows if it["verdict"] in failing]
        if wrong or not any(it["verdict"] in _DECIDED for it in rows):
            lines = [_told(it) for it in wrong[:_LINES]] or ["  no figure of the baseline can be decided: name metrics"]
            if len(wrong) > _LINES:
                lines.append(f"  and {len(wrong) - _LINES} further figures")
            causes = Figures("", [], result).causes()
            pytest.fail("\n".join([f"against the baseline `{name}`:", *lines, *causes]), pytrace=False)
        left_out = [it for it in rows if it["verdict"] == "left-out"]
        if left_out:
            of = sorted({it["now"]["metric"] for it in left_out})
            warnings.warn(
                f"against the baseline `{name}`: {len(left_out)} figures have no bounded interval and are not decided: {', '.join(of)}",
                stacklevel=2,
            )
        for it in rows:
            if it["verdict"] == "inconclusive":
                warnings.warn(f"against the baseline `{name}`: {_told(it).strip()}", stacklevel=2)


# Figures that are told of a baseline.
_LINES = 20

# What has been decided, and what never passes.
_DECIDED = {"holds", "worse", "inconclusive"}
_FAILING = {"worse", "new", "missing"}


def _check_metrics(result: Result, metrics: tuple[str, ...]) -> None:
    """Refuses names that the result does not have, and those of which neither direction is better."""
    there = {it["metric"]: it["unit"] for it in result.json["cells"] if it["origin"] != "published"}
    for metric in metrics:
        if metric not in there:
            raise _espbench.NoCell(f"there is no metric `{metric}`", f"there are {', '.join(there)}")
        if _better(metric) == "neither":
            raise _espbench.EspbenchError(
                f"a baseline of `{metric}` decides nothing", "neither direction of it is better", "assert a limit of it"
            )


def _better(metric: str) -> str:
    """Returns the engine's word for the direction that is better."""
    return next((better for name, _, better, _ in _engine.metrics() if name == metric), "")


def _checked(check: dict[str, Any]) -> str:
    """Tells the value that a threshold was held against."""
    value = check.get("value")
    return "unknown" if value is None else f"{value:.4g} {units.shown(check['unit'])}"


def _told(row: dict[str, Any]) -> str:
    """Tells a figure that has not passed."""
    now, before = row["now"], row["before"]
    named = now or before
    head = f"  {row['verdict']}: {named['metric']} of {named['test']}"
    if now is None:
        return f"{head}: before {_value(before)}, and now there is none"
    if before is None:
        return f"{head}: {_value(now)} is not in the baseline (pytest --espbench-update)"
    allowed = "" if row["allowed"] is None else f", allowed {row['allowed']:.4g} {units.shown(now['unit'])}"
    return f"{head}: {_value(now)}, before {_value(before)}{allowed}"


def _value(figure: dict[str, Any]) -> str:
    low, high = figure.get("ci_low"), figure.get("ci_high")
    ends = f" [{'?' if low is None else f'{low:.4g}'} to {'?' if high is None else f'{high:.4g}'}]"
    return f"{figure['value']:.4g} {units.shown(figure['unit'])}{'' if low is None and high is None else ends}"


@pytest.fixture
def espbench(request: pytest.FixtureRequest) -> Bench:
    """Measures in a test: `espbench.run(plan)`, `predict`, `tune`, `doctor`, `baseline(result)`, `board(dut)`."""
    config = request.config
    on = config.getoption("--espbench-on") or config.getini("espbench_on") or None
    path = config.rootpath / str(config.getini("espbench_baselines"))
    return Bench(request.node.nodeid, on, Baselines(path), bool(config.getoption("--espbench-update")))


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
