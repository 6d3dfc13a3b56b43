"""Figures with their intervals, and what holds of them.

A comparison decides by the whole interval and not by the figure: `rtt < "30 ms"` holds where the interval's upper end
is below 30 ms, fails where its lower end is not, and is inconclusive where 30 ms lies within, or where there is no
interval. What is inconclusive is neither true nor false: whoever asks which, as `assert`, `not` and `if` do, gets the
exception `Inconclusive`. So does a comparison of several figures of which some hold and some do not: it is true where each
holds, and false where each fails. `(rtt < "30 ms").verdict` asks without one.
"""

from __future__ import annotations

import numbers
import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import Enum
from functools import partial
from typing import Any, overload

from . import _espbench, _words, units
from ._errors import EspbenchError, Inconclusive, WrongUnit


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


class _Compared:
    """Comparisons of figures: by intervals, and so never `==`."""

    def _figures(self) -> Figures:
        raise NotImplementedError

    def __lt__(self, limit: object) -> Comparison:
        return Comparison(self._figures(), "<", limit)

    def __le__(self, limit: object) -> Comparison:
        return Comparison(self._figures(), "<=", limit)

    def __gt__(self, limit: object) -> Comparison:
        return Comparison(self._figures(), ">", limit)

    def __ge__(self, limit: object) -> Comparison:
        return Comparison(self._figures(), ">=", limit)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        figures = self._figures()
        raise TypeError(f"{figures.name} has an interval, and is compared by < <= > or >=; a value alone is .value")

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = object.__hash__


@dataclass(frozen=True, eq=False)
class Estimate(_Compared):
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

    def _figures(self) -> Figures:
        return Figures(self.metric, [self])

    def __format__(self, form: str) -> str:
        return format(float(self), form) if form else str(self)

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
        return float(self.value)

    def __str__(self) -> str:
        def number(it: float | None) -> str:
            return "unbounded" if it is None else f"{it:.4g}"

        value = "not determined" if self.value is None else f"{self.value:.4g} {units.shown(self.unit)}".rstrip()
        interval = "no interval"
        if self.has_interval:
            interval = f"95 % interval {number(self.low)} to {number(self.high)}"
        count = "" if self.n is None else f", n = {self.n}"
        place = f" ({self.place})" if self.place else ""
        return f"{self.metric}{place}: {value}, {interval}{count}"

    def _against(self, op: str, limit: float, may_be_negative: bool = False) -> Verdict:
        """Tells what the interval shows. `op` is one of < <= > >=."""
        upper = op in ("<", "<=")
        if self.value is None or not self.has_interval:
            return Verdict.INCONCLUSIVE
        good, bad = (self.high, self.low) if upper else (self.low, self.high)
        if op == ">=" and good is None and limit <= 0.0 and not may_be_negative:
            return Verdict.HOLDS
        holds = partial(_INSIDE[op], limit)
        if good is not None and holds(good):
            return Verdict.HOLDS
        if bad is not None and not holds(bad):
            return Verdict.FAILS
        return Verdict.INCONCLUSIVE


def _between(ours: Estimate, op: str, other: Estimate) -> Verdict:
    """Tells what the interval of the difference shows, as the engine computes it from both."""
    there = other if other.unit == ours.unit else other.to(ours.unit)
    if not (ours.has_interval and there.has_interval):
        return Verdict.INCONCLUSIVE
    ends = [(it.value, it.low, it.high, it.n or 0) for it in (ours, there)]
    value, low, high = _espbench.difference(*ends)
    return Estimate(ours.metric, value, low, high, ours.unit, ours.n)._against(op, 0.0, may_be_negative=True)


class Comparison:
    """What a limit shows. True where it holds for every figure, false where it fails for every one, and otherwise an exception.

    `verdict` is of all figures together: it holds where it does for each, and fails where it does for one.
    """

    def __init__(self, figures: Figures, op: str, limit: object) -> None:
        self.figures = figures
        self.op = op
        self.limit = limit
        limit = _in_order(figures, limit)
        self.verdicts = [(it, _verdict(it, op, limit, at, len(figures))) for at, it in enumerate(figures)]
        found = [verdict for _, verdict in self.verdicts]
        if not found or all(it is Verdict.HOLDS for it in found):
            self.verdict = Verdict.HOLDS if found else Verdict.INCONCLUSIVE
        else:
            self.verdict = Verdict.FAILS if Verdict.FAILS in found else Verdict.INCONCLUSIVE

    @property
    def holds(self) -> bool:
        """Whether it holds for every figure; false of what is inconclusive, too."""
        return self.verdict is Verdict.HOLDS

    def __bool__(self) -> bool:
        found = {verdict for _, verdict in self.verdicts}
        if len(found) != 1 or Verdict.INCONCLUSIVE in found:
            raise Inconclusive("\n".join([*self.explain(), *self._advice(found)]))
        return self.holds

    def _advice(self, found: set[Verdict]) -> list[str]:
        """Returns what to write where figures are neither all on one side nor all on the other."""
        if self.verdict is not Verdict.FAILS:
            return []
        told = [f"{count} {verdict.value}" for verdict in Verdict if verdict in found and (count := self._count(verdict))]
        return [
            f"  neither true nor false of all figures: {', '.join(told)}",
            "  do: compare one figure, result.figures(…)[0] < limit, or ask .verdict or .holds of the comparison",
        ]

    def _count(self, verdict: Verdict) -> int:
        return sum(it is verdict for _, it in self.verdicts)

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
        if not self.holds:
            lines += self.figures.causes(causes)
        return lines


def _in_order(figures: Figures, limit: object) -> object:
    """Returns figures that are compared one by one in the order of the first ones' tests."""
    if not isinstance(limit, Figures) or len(limit) < 2 or len(limit) != len(figures):
        return limit
    there = {it.place: it for it in limit}
    if [it.place for it in figures] == [it.place for it in limit]:
        return limit
    if len(there) == len(limit) and {it.place for it in figures} == set(there):
        return Figures(limit.name, [there[it.place] for it in figures], limit._source)
    raise EspbenchError(
        f"{figures.name} and {limit.name} are of different tests",
        "figures are compared one by one, each with that of the same test",
        "choose some by result.figures(…), or compare single figures",
    )


def _verdict(of: Estimate, op: str, limit: object, at: int, count: int) -> Verdict:
    if isinstance(limit, Estimate):
        return _between(of, op, limit)
    if isinstance(limit, Figures):
        if len(limit) not in (1, count):
            raise EspbenchError(
                f"{of.metric} has {count} figures, and {limit.name} has {len(limit)}",
                "figures are compared one by one, or all with one",
                "choose some by result.figures(…)",
            )
        return _between(of, op, limit[at if len(limit) > 1 else 0])
    return of._against(op, _limit(limit, of))


def _limit(limit: object, of: Estimate) -> float:
    limit = _words.plain(limit)
    if isinstance(limit, str):
        return units.parse(limit, of.unit)
    if isinstance(limit, timedelta):
        return units.convert(limit.total_seconds(), "s", of.unit)
    if isinstance(limit, numbers.Real) and not isinstance(limit, bool) and _plain(of.unit):
        return float(limit)
    unit = units.shown(of.unit)
    if isinstance(limit, numbers.Real):
        raise WrongUnit(f"the limit {limit} has no unit", f"{of.metric} is in {unit}", f"write '{limit} {unit}'")
    raise TypeError(f"{of.metric} cannot be compared with {type(limit).__name__}: write a text such as '30 {unit}'")


def _plain(unit: str) -> bool:
    """Whether a unit only names what is counted."""
    return unit in ("", "probes", "messages", "devices", "frames", "packets", "datagrams", "messages/s", "index")


class Figures(_Compared, Sequence[Estimate]):
    """One metric of one or several cells: `<`, `<=`, `>` and `>=` hold where they hold for each of them."""

    def __init__(self, name: str, estimates: Sequence[Estimate], source: Any = None) -> None:
        self.name = name
        self._estimates = list(estimates)
        self._source = source

    def __len__(self) -> int:
        return len(self._estimates)

    @overload
    def __getitem__(self, at: int) -> Estimate: ...
    @overload
    def __getitem__(self, at: slice) -> Figures: ...
    def __getitem__(self, at: int | slice) -> Estimate | Figures:
        if isinstance(at, slice):
            return Figures(self.name, self._estimates[at], self._source)
        return self._estimates[at]

    def _figures(self) -> Figures:
        return self

    def __contains__(self, one: object) -> bool:
        return any(it is one for it in self._estimates)

    def index(self, value: Any, start: int = 0, stop: int | None = None) -> int:
        """Returns the place of this very figure."""
        for at in range(*slice(start, stop).indices(len(self))):
            if self._estimates[at] is value:
                return at
        raise ValueError(f"{value!r} is none of these figures")

    def __format__(self, form: str) -> str:
        return format(self._only(), form) if form else str(self)

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
