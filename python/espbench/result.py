"""Results: figures with intervals, tables, drawings."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _words
from ._errors import NoCell
from ._espbench import Report, Table
from .figures import Estimate, Figures

if TYPE_CHECKING:
    from ._flags import MetricNames
else:
    MetricNames = object

# Forms of a file, by its ending.
_FORMS = {".html": "html", ".htm": "html", ".json": "json", ".csv": "csv", ".md": "markdown", ".txt": "full"}

# Columns that name a place, with the words around them.
_PLACE = [
    ("lab_variant", "{}"),
    ("mode", "{}"),
    ("payload_bytes", "{} B"),
    ("devices", "{} devices"),
    ("distance_m", "{:g} m"),
]


# Values of these columns that name no place.
_UNSTATED = {"mode": "unstated", "devices": 1}


@dataclass(frozen=True)
class Cause:
    """A likely cause of losses or delays: what it is, how much speaks for it, and what to do."""

    title: str
    weight: str
    remedy: str = ""


class Result(MetricNames):
    """A run, a prediction or a search of settings: `result.p99`, `result["loss"]`, `result.cells.to_pandas()`.

    Every figure is in its cell's unit (`unit`), and most have a 95 % interval; `espbench.metrics()` has the unit of each metric. Columns of
    tables name theirs (`result.samples.units`).
    """

    def __init__(self, report: Report, status: int = 0) -> None:
        self._report = report
        #: Exit status of the same command: 0 fine, 1 a threshold failed, 2 something could not be measured, 130 stopped.
        self.status = status

    # What stands in the report.

    @cached_property
    def json(self) -> dict[str, Any]:
        """The whole report as a dict, in the form of docs/report.schema.json."""
        report: dict[str, Any] = json.loads(self._report.draw("json"))
        return report

    @property
    def name(self) -> str:
        """Name of the run."""
        return self._report.name

    @property
    def seed(self) -> int:
        """Seed of everything random in it."""
        return self._report.seed

    @property
    def origin(self) -> str:
        """`measured` or `simulated`."""
        return str(self.json["run"]["origin"])

    @cached_property
    def cells(self) -> Table:
        """The result cells, a row for each figure; columns as in docs/data.md."""
        return self._report.cells()

    @cached_property
    def samples(self) -> Table:
        """The raw samples: a row for each probe, lost ones included. Empty where the report was read from a file."""
        return self._report.samples(False)

    @cached_property
    def intervals(self) -> Table:
        """The raw samples of streams: a row for each interval."""
        return self._report.samples(True)

    @cached_property
    def _diagnosis(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self._report.diagnosis())
        return found

    @property
    def warnings(self) -> list[str]:
        """Advice on how far the figures can be trusted, a sentence each."""
        return [str(it) for it in self._diagnosis["notes"]]

    @property
    def failures(self) -> list[str]:
        """Cells that could not be measured, each with its cause."""
        return [f"{it['place']}: {it['error']}" for it in self.json["failures"]]

    @property
    def checks(self) -> list[dict[str, Any]]:
        """Outcomes of the plan's thresholds."""
        return list(self.json["checks"])

    # Figures.

    @property
    def metrics(self) -> list[str]:
        """Names of all metrics."""
        return list(dict.fromkeys(it["metric"] for it in self.json["cells"]))

    def figures(self, metric: str, **settings: Any) -> Figures:
        """Returns the figures of a metric, of the cells with these settings: `figures("rtt_p99", payload_bytes=230)`.

        `metric` is a name of `metrics`, or a statistic such as `p99` where only one metric leads with it. Settings
        are columns of `cells`.
        """
        name = self._metric(metric)
        columns = self.cells.columns
        for key in settings:
            if key not in columns:
                raise NoCell(f"results have no column `{key}`", "", "result.cells.columns lists them")
        rows = [it for it in self.json["cells"] if it["metric"] == name and it["origin"] != "published"]
        settings = {key: _words.plain(value) for key, value in settings.items()}
        found = [it for it in rows if all(it.get(key) == value for key, value in settings.items())]
        if not found:
            told = ", ".join(f"{key} = {value!r}" for key, value in settings.items())
            raise NoCell(f"no {name} with {told}", "; ".join(_there(key, rows) for key in settings))
        return Figures(name, [_estimate(it) for it in found], self)

    def __getitem__(self, metric: str) -> Figures:
        return self.figures(metric)

    def __iter__(self) -> Iterator[str]:
        """Goes through the names of the metrics: `{name: result[name] for name in result}`."""
        return iter(self.metrics)

    def __contains__(self, metric: object) -> bool:
        try:
            return isinstance(metric, str) and bool(self._metric(metric))
        except NoCell:
            return False

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.metrics})

    # Type checkers know the metrics by name, so that they find one that is mistyped.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Figures:
            # Python asks for names of its own, too, and copies look before there is anything.
            if name.startswith("_") or "_report" not in self.__dict__:
                raise AttributeError(name)
            try:
                return self.figures(name)
            except NoCell as wrong:
                raise AttributeError(str(wrong)) from None

    def _metric(self, name: str) -> str:
        """Returns the metric of a name, or that which leads with a statistic."""
        metrics = self.metrics
        if name in metrics:
            return name
        leading = [it["metric"] for group in self.json.get("glance", []) for it in group["metrics"]]
        for some in (leading, metrics):
            found = list(dict.fromkeys(it for it in some if it.endswith(f"_{name}") and it in metrics))
            if len(found) == 1:
                return str(found[0])
            if found:
                raise NoCell(f"`{name}` may be {' or '.join(found)}", "", "name one of them")
        raise NoCell(f"there is no metric `{name}`", f"there are {', '.join(metrics)}", "")

    def causes(self) -> list[Cause]:
        """Returns the likeliest causes of losses and delays, those first that explain most."""
        causes = []
        for it in self._diagnosis["findings"]:
            weight = f"{it['incidents']} losses, {100 * it['share']:.0f} % of all; certainty {it['certainty']}"
            causes.append(Cause(it["title"], weight, it["remedy"]))
        causes += self._of_counters() + self._of_channel()
        limited = (self.json.get("prediction") or {}).get("limited_by", [])
        causes += [Cause(it["part"], f"{100 * it['share']:.0f} % of the {it['of']}") for it in limited]
        return causes

    def _of_counters(self) -> list[Cause]:
        """Returns what the lab or the target has counted beside the probes."""
        total: dict[str, int] = {}
        for cell in self.json["losses"]:
            for name, count in cell["counters"].items():
                total[name] = total.get(name, 0) + count
        sent = total.get("frames-sent", 0)
        known = [
            ("retries", "frames were repeated on the air", "bring the devices nearer, or use a slower PHY rate"),
            ("collided", "frames of others overlapped with ours", "use a quieter channel"),
            ("queue-drops", "queues overflowed", "send less often, or enlarge the queue"),
            ("receive-drops", "receive buffers overflowed", "enlarge the receive buffers, or read faster"),
            ("late-sends", "this host sent late", "use an idle machine"),
            ("socket-overflow", "this host's socket overflowed", "use an idle machine"),
        ]
        found = [(total.get(name, 0), text, remedy) for name, text, remedy in known if total.get(name, 0)]
        of = f" beside {sent} frames sent" if sent else ""
        return [Cause(text, f"{count}{of}", remedy) for count, text, remedy in sorted(found, reverse=True)]

    def _of_channel(self) -> list[Cause]:
        """Returns what share of its channel's time others take, where that is much."""
        shares = []
        for it in self.json.get("occupancy", []):
            spent = it["spent_ns"]
            shares.append((spent.get("background", 0) + spent.get("beacon", 0)) / max(1, it["time_ns"]))
        most = max(shares, default=0.0)
        if most < 0.1:
            return []
        return [Cause("other networks are on the channel", f"{100 * most:.0f} % of its time", "use a quieter channel")]

    # Drawings.

    @property
    def text(self) -> str:
        """The answer in a few lines, as the command prints it."""
        return self._report.draw("text")

    def save(self, *paths: str | os.PathLike[str]) -> None:
        """Writes the report: .html (a page with figures), .json, .csv, .md or .txt."""
        for path in map(Path, paths):
            form = _FORMS.get(path.suffix.lower())
            if form is None:
                raise ValueError(f"{path}: no form has that ending; use one of {', '.join(_FORMS)}")
            path.write_text(self._report.draw(form), encoding="utf-8")

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<espbench.Result {self.name}: {len(self.cells)} figures>"

    def _repr_html_(self) -> str:
        title, *rest = self.text.splitlines() or [""]
        body = html.escape("\n".join(rest))
        style = "line-height:1.3;overflow-x:auto;font-family:monospace;background:none"
        return f'<div class="espbench"><b>{html.escape(title)}</b><pre style="{style}">{body}</pre></div>'

    def __reduce__(self) -> tuple[Callable[[str, int], Result], tuple[str, int]]:
        # Raw samples stay where they are: a report is some KB, they may be millions.
        return _from_json, (self._report.draw("json"), self.status)


def _from_json(text: str, status: int = 0) -> Result:
    return Result(Report.from_json(text), status)


def _estimate(cell: dict[str, Any]) -> Estimate:
    parts = [form.format(cell[key]) for key, form in _PLACE if cell.get(key) not in (None, "", _UNSTATED.get(key, ""))]
    return Estimate(
        cell["metric"],
        cell["value"],
        cell.get("ci_low"),
        cell.get("ci_high"),
        cell["unit"],
        cell.get("n"),
        ", ".join(parts),
        cell,
    )


def _there(key: str, rows: list[dict[str, Any]]) -> str:
    """Tells the values that a column has."""
    values = {it[key] for it in rows if it.get(key) is not None}
    try:
        listed = sorted(values)
    except TypeError:
        listed = sorted(values, key=str)
    return f"`{key}` is {', '.join(map(str, listed))}" if listed else f"`{key}` is of none"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}" if count else ""


class _Document(dict[str, Any]):
    """A JSON document that draws itself in notebooks."""

    def _lines(self) -> list[str]:
        return [json.dumps(self, indent=2)]

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _repr_html_(self) -> str:
        return f'<pre class="espbench">{html.escape(str(self))}</pre>'


class Diagnosis(_Document):
    """What logs, an sdkconfig or a run tell of trouble (docs/doctor.schema.json)."""

    @property
    def findings(self) -> list[dict[str, Any]]:
        """All findings, ranked, with `cause`, `title`, `certainty`, `share` (0 to 1), `evidence` and `remedy`."""
        return [it for one in self["diagnoses"] for it in one["findings"]]

    @property
    def causes(self) -> list[str]:
        """Names of the causes, ranked."""
        return [str(it["cause"]) for it in self.findings]

    def _lines(self) -> list[str]:
        lines = []
        for one in self["diagnoses"]:
            lines.append(f"{' and '.join(one['files'])}: {one['answer']}")
            for it in one["findings"]:
                lines.append(f"  {it['title']} ({100 * it['share']:.0f} %, certainty {it['certainty']})")
                lines.append(f"    do: {it['remedy']}")
        return lines


class SettingsCheck(_Document):
    """What is wrong with an sdkconfig, and what limits its throughput (simulated, in Mbit/s)."""

    def _lines(self) -> list[str]:
        lines = [f"{self['chip']}, ESP-IDF {self['release']}: " + (_counted(len(self.wrong), "mistake") or "no mistake")]
        for it in self["findings"]:
            lines.append(f"  {it['severity']}: {it['what']}")
            lines += [f"    do: {one['name']}={one['to']} (now {one['from']})" for one in it["set"]]
        for it in self["limits"]:
            there = "" if it["simulated_mbit_s"] is None else f" {it['simulated_mbit_s']:.3g} Mbit/s in the lab,"
            lines.append(f"  {it['metric']}:{there} limited by {it['limits'][0]['what']}" if it["limits"] else f"  {it['metric']}:{there}".rstrip(","))
        if self.recommended:
            lines.append("  do first: " + ", ".join(self.recommended))
        return lines

    @property
    def wrong(self) -> list[dict[str, Any]]:
        """Findings that are mistakes."""
        return [it for it in self["findings"] if it["severity"] == "wrong"]

    @property
    def recommended(self) -> list[str]:
        """Lines for sdkconfig.defaults that lift the first limit."""
        return [str(it["line"]) for it in (self.get("advice") or {}).get("set", [])]
