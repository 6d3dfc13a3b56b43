"""Figures with their intervals, and what holds of them.

A comparison decides by the whole interval and not by the figure: `rtt < "30 ms"` holds where the interval's upper end
is below 30 ms, fails where its lower end is not, and is inconclusive where 30 ms lies within, or where there is no
interval. What is inconclusive is not true.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from typing import Any

from . import units
from ._errors import EspbenchError, WrongUnit


# Whether a limit, first, holds for an end of an interval.
_INSIDE: dict[str, Callable[[float, float], bool]] = {
    "<": operator.gt,
    "<=": operator.ge,
    ">": operator.lt,
    ">=": operator.le,
}


class Verdict(Enum):
    """Outcome of a comparison."""

    HOLDS = "holds"
    FAILS = "fails"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True)
class Estimate:
    """A figure of one cell: value and 95 % interval, in `unit`, from `n` observations.

    An end of the interval is None where the samples do not bound it (too few of them for a high quantile).
    """

    metric: str
    value: float | None
    low: float | None
    high: float | None
    unit: str
    n: int | None
    place: str = ""
    cell: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def has_interval(self) -> bool:
        """Whether one of the interval's ends is known."""
        return self.low is not None or self.high is not None

    def to(self, unit: str) -> Estimate:
        """Returns the figure in another unit: `rtt.to("us")`."""
        ends = [None if it is None else units.convert(it, self.unit, unit) for it in (self.value, self.low, self.high)]
        return Estimate(self.metric, ends[0], ends[1], ends[2], unit, self.n, self.place, self.cell)

    def __float__(self) -> float:
        if self.value is None:
            raise EspbenchError(f"{self.metric} could not be determined")
        return self.value

    def __str__(self) -> str:
        def number(it: float | None) -> str:
            return "unbounded" if it is None else f"{it:.4g}"

        value = "not determined" if self.value is None else f"{self.value:.4g} {self.unit}"
        interval = "no interval"
        if self.has_interval:
            interval = f"95 % interval {number(self.low)} to {number(self.high)}"
        count = "" if self.n is None else f", n = {self.n}"
        place = f" ({self.place})" if self.place else ""
        return f"{self.metric}{place}: {value}, {interval}{count}"

    def _against(self, op: str, limit: float) -> Verdict:
        """Tells what the interval shows. `op` is one of < <= > >=."""
        upper = op in ("<", "<=")
        if self.value is None or not self.has_interval:
            return Verdict.INCONCLUSIVE
        good, bad = (self.high, self.low) if upper else (self.low, self.high)
        if not upper and good is None and limit <= 0.0:
            return Verdict.HOLDS
        holds = partial(_INSIDE[op], limit)
        if good is not None and holds(good):
            return Verdict.HOLDS
        if bad is not None and not holds(bad):
            return Verdict.FAILS
        return Verdict.INCONCLUSIVE


class Comparison:
    """What a limit shows: true only where it holds for every figure."""

    def __init__(self, figures: Figures, op: str, limit: object) -> None:
        self.figures = figures
        self.op = op
        self.limit = limit
        self.verdicts = [(it, it._against(op, _limit(limit, it))) for it in figures]
        found = [verdict for _, verdict in self.verdicts]
        if not found or all(it is Verdict.HOLDS for it in found):
            self.verdict = Verdict.HOLDS if found else Verdict.INCONCLUSIVE
        else:
            self.verdict = Verdict.FAILS if Verdict.FAILS in found else Verdict.INCONCLUSIVE

    def __bool__(self) -> bool:
        return self.verdict is Verdict.HOLDS

    def __repr__(self) -> str:
        return "\n".join(self.explain())

    def explain(self, causes: int = 3) -> list[str]:
        """Returns lines: the outcome, each figure that does not hold, and the likeliest causes."""
        lines = [f"{self.figures.name} {self.op} {self.limit}: {self.verdict.value}"]
        wrong = [(it, verdict) for it, verdict in self.verdicts if verdict is not Verdict.HOLDS]
        lines += [f"  {verdict.value}: {it}" for it, verdict in wrong[:10]]
        if len(wrong) > 10:
            lines.append(f"  and {len(wrong) - 10} further figures")
        if self.verdict is Verdict.INCONCLUSIVE:
            lines.append("  inconclusive is not passed: take more samples, or allow a wider limit")
        if not self:
            lines += self.figures.causes(causes)
        return lines


def _limit(limit: object, of: Estimate) -> float:
    if isinstance(limit, str):
        return units.parse(limit, of.unit)
    if isinstance(limit, Estimate):
        return units.convert(float(limit), limit.unit, of.unit)
    if isinstance(limit, (int, float)) and not isinstance(limit, bool) and _plain(of.unit):
        return float(limit)
    if isinstance(limit, (int, float)):
        raise WrongUnit(f"the limit {limit} has no unit", f"{of.metric} is in {of.unit}", f"write '{limit} {of.unit}'")
    raise TypeError(f"{of.metric} cannot be compared with {type(limit).__name__}: write a text such as '30 {of.unit}'")


def _plain(unit: str) -> bool:
    """Whether a unit only names what is counted."""
    return unit in ("", "probes", "messages", "devices", "frames", "packets", "datagrams", "messages/s")


class Figures(Sequence[Estimate]):
    """One metric of one or several cells: `<`, `<=`, `>` and `>=` hold where they hold for each of them."""

    def __init__(self, name: str, estimates: Sequence[Estimate], source: Any = None) -> None:
        self.name = name
        self._estimates = list(estimates)
        self._source = source

    def __len__(self) -> int:
        return len(self._estimates)

    def __getitem__(self, at: Any) -> Any:
        return self._estimates[at]

    def __iter__(self) -> Iterator[Estimate]:
        return iter(self._estimates)

    def _only(self) -> Estimate:
        if len(self) != 1:
            raise EspbenchError(
                f"{self.name} has {len(self)} figures",
                "; ".join(it.place for it in self._estimates[:5]),
                f"choose one: result.figures({self.name!r}, payload_bytes=…)",
            )
        return self._estimates[0]

    @property
    def value(self) -> float | None:
        """The value, where there is one figure only."""
        return self._only().value

    @property
    def interval(self) -> tuple[float | None, float | None]:
        """The ends of the 95 % interval, where there is one figure only."""
        return self._only().low, self._only().high

    @property
    def unit(self) -> str:
        """The unit of value and interval."""
        return self._estimates[0].unit

    def __float__(self) -> float:
        return float(self._only())

    def __lt__(self, limit: object) -> Comparison:
        return Comparison(self, "<", limit)

    def __le__(self, limit: object) -> Comparison:
        return Comparison(self, "<=", limit)

    def __gt__(self, limit: object) -> Comparison:
        return Comparison(self, ">", limit)

    def __ge__(self, limit: object) -> Comparison:
        return Comparison(self, ">=", limit)

    def __repr__(self) -> str:
        return "\n".join(str(it) for it in self._estimates)

    def causes(self, most: int = 3) -> list[str]:
        """Returns lines that tell the likeliest causes of losses and delays, as the run shows them."""
        if self._source is None:
            return []
        findings = self._source.causes()[:most]
        if not findings:
            return ["  causes: the samples show none"]
        lines = ["  likeliest causes:"]
        for number, it in enumerate(findings, 1):
            lines.append(f"    {number}. {it.title} ({it.weight})" + (f": {it.remedy}" if it.remedy else ""))
        return lines
