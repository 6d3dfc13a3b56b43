"""Comparisons by intervals, and quantities."""

from __future__ import annotations

import espbench
import pytest
from espbench import units
from espbench.figures import Comparison, Estimate, Figures, Verdict


def figures(low: float | None, value: float | None, high: float | None, unit: str = "ms") -> Figures:
    return Figures("rtt_p99", [Estimate("rtt_p99", value, low, high, unit, 1000)])


@pytest.mark.parametrize(
    ("low", "value", "high", "op", "limit", "verdict"),
    [
        (20, 25, 29, "<", "30 ms", Verdict.HOLDS),
        (20, 25, 30, "<", "30 ms", Verdict.INCONCLUSIVE),
        (20, 25, 30, "<=", "30 ms", Verdict.HOLDS),
        (30, 35, 40, "<", "30 ms", Verdict.FAILS),
        (30, 35, 40, "<=", "30 ms", Verdict.INCONCLUSIVE),
        (31, 35, None, "<", "30 ms", Verdict.FAILS),
        (20, 25, None, "<", "30 ms", Verdict.INCONCLUSIVE),
        (None, 25, 29, "<", "0.03 s", Verdict.HOLDS),
        (None, None, None, "<", "30 ms", Verdict.INCONCLUSIVE),
        (None, 5, None, "<", "30 ms", Verdict.INCONCLUSIVE),
        (31, 35, None, ">", "30 ms", Verdict.HOLDS),
        (29, 35, 40, ">", "30000 us", Verdict.INCONCLUSIVE),
        (10, 15, 20, ">=", "30 ms", Verdict.FAILS),
    ],
)
def test_the_whole_interval_decides(low, value, high, op, limit, verdict) -> None:
    found = Comparison(figures(low, value, high), op, limit)
    assert found.verdict is verdict
    assert bool(found) is (verdict is Verdict.HOLDS)


def test_every_figure_must_hold() -> None:
    three = Figures("loss", [Estimate("loss", 1, 0, 2, "percent", 9), Estimate("loss", 3, 2.5, 4, "percent", 9, "230 B")])
    found = three < "2.1 %"
    assert found.verdict is Verdict.FAILS and not found
    assert found.explain()[1] == "  fails: loss (230 B): 3 percent, 95 % interval 2.5 to 4, n = 9"
    assert three < "5 %"
    assert not Figures("loss", []) < "5 %", "of nothing nothing holds"


def test_units() -> None:
    assert units.parse("30 ms", "ms") == 30
    assert units.parse("0.5s", "ms") == 500
    assert units.parse("2 %", "percent") == pytest.approx(2)
    assert units.parse("1.5e1 Mbit/s", "kbit/s") == pytest.approx(15_000)
    for text in ("30", "30 parsecs", "30 %", "ms", "", "nan ms", "1 2 ms"):
        with pytest.raises(espbench.WrongUnit, match="do: write a number with one of"):
            units.parse(text, "ms")
    with pytest.raises(espbench.WrongUnit, match="has no unit"):
        _ = figures(1, 2, 3) < 30
    with pytest.raises(TypeError):
        _ = figures(1, 2, 3) < object()


def test_one_figure_is_asked_for(ping: espbench.Result) -> None:
    with pytest.raises(espbench.EspbenchError, match="has 2 figures"):
        _ = ping.p99.value
    with pytest.raises(espbench.NoCell, match="there is no metric `rssi`"):
        ping["rssi"]
    with pytest.raises(espbench.NoCell, match="no rtt_exact_p99 with payload_bytes = 77"):
        ping.figures("p99", payload_bytes=77)
    with pytest.raises(espbench.NoCell, match="no column `colour`"):
        ping.figures("p99", colour="red")
    with pytest.raises(AttributeError):
        _ = ping.no_such_thing
    assert figures(1, 2, 3)[0].to("us").high == pytest.approx(3000)
