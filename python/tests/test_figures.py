"""Comparisons by intervals, and quantities."""

from __future__ import annotations

from datetime import timedelta

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
    assert found.verdict is verdict and found.holds is (verdict is Verdict.HOLDS)
    if verdict is Verdict.INCONCLUSIVE:
        with pytest.raises(espbench.Inconclusive, match="inconclusive"):
            bool(found)
        with pytest.raises(AssertionError):
            assert not found
    else:
        assert bool(found) is found.holds


def test_there_is_no_equality_of_intervals() -> None:
    one = figures(20, 25, 29)
    same = figures(20, 25, 29)
    for wrong in (
        lambda: one == "25 ms", lambda: one != "25 ms", lambda: one == same,
        lambda: one[0] == 25, lambda: one[0] == same[0], lambda: one[0] != same[0],
    ):
        with pytest.raises(TypeError, match="is compared by < <= > or >="):
            wrong()
    both = Figures("rtt_p99", [*one, *same])
    assert one[0] == one[0] and both.index(same[0]) == 1 and same[0] in both and figures(1, 2, 3)[0] not in both
    with pytest.raises(ValueError, match="none of these figures"):
        one.index(same[0])


def test_elements_and_durations_compare() -> None:
    several = Figures("rtt_p99", [*figures(20, 25, 29), *figures(10, 15, 19)])
    assert all(it < "30 ms" for it in several) and not several[1] > "20 ms"
    assert several < timedelta(milliseconds=30) and several > timedelta(microseconds=9_000)
    assert f"{several[0]:.2f}" == "25.00" and max(several, key=float).value == 25
    assert isinstance(several[:1], Figures) and len(several[:1]) == 1


def test_figures_compare_with_figures_by_both_intervals() -> None:
    low, high = figures(20, 25, 29), figures(40, 45, 50)
    assert low < high and not low > high and low[0] < high[0]
    # The ends touch, and their difference does not reach zero: the engine's rule, not one of overlap.
    assert (low < figures(28, 33, 38)).holds
    assert (low < figures(24, 26, 32)).verdict is Verdict.INCONCLUSIVE
    assert low < figures(0.04, 0.045, 0.05, "s")
    with pytest.raises(espbench.EspbenchError, match="one by one"):
        _ = Figures("a", [*low, *low]) < Figures("b", [*low, *low, *low])


def test_every_figure_must_hold() -> None:
    three = Figures("loss", [Estimate("loss", 1, 0, 2, "percent", 9), Estimate("loss", 3, 2.5, 4, "percent", 9, "230 B")])
    found = three < "2.1 %"
    assert found.verdict is Verdict.FAILS and not found.holds
    assert found.explain()[1] == "  fails: loss (230 B): 3 %, 95 % interval 2.5 to 4, n = 9"
    assert three < "5 %"
    assert not (Figures("loss", []) < "5 %").holds, "of nothing nothing holds"


@pytest.mark.parametrize(
    ("ends", "holds", "counts"),
    [
        ([(10, 19), (11, 18)], True, ""),
        ([(31, 40), (32, 41)], False, ""),
        # All others hold or fail, and one is not decided: then neither `not` nor `or` passes.
        ([(10, 19), (29, 40)], None, "inconclusive"),
        ([(31, 40), (29, 40)], None, "inconclusive"),
        ([(10, 19), (31, 40)], None, "1 holds, 1 fails"),
    ],
)
def test_what_is_not_the_same_of_each_figure_is_neither_true_nor_false(ends, holds, counts) -> None:
    several = Figures("rtt_p99", [Estimate("rtt_p99", sum(it) / 2, *it, "ms", 1000) for it in ends])
    if holds is not None:
        assert bool(several < "30 ms") is holds
        return
    for asked in (lambda: several < "30 ms", lambda: not several < "30 ms", lambda: not several > "30 ms"):
        with pytest.raises(espbench.Inconclusive, match=counts):
            assert asked()
    assert (several < "30 ms").verdict in (Verdict.FAILS, Verdict.INCONCLUSIVE) and not (several < "30 ms").holds


def test_what_to_write_is_said() -> None:
    several = Figures("rtt_p99", [Estimate("rtt_p99", 15, 10, 19, "ms", 9), Estimate("rtt_p99", 35, 31, 40, "ms", 9)])
    with pytest.raises(espbench.Inconclusive, match=r"1 holds, 1 fails\n  do: compare one figure, result.figures\(…\)\[0\] < limit"):
        bool(several < "30 ms")


def test_a_duration_of_numpy_is_a_limit() -> None:
    numpy = pytest.importorskip("numpy")
    assert figures(20, 25, 29) < numpy.timedelta64(30, "ms") and figures(20, 25, 29) > numpy.timedelta64(9_000_000, "ns")
    assert figures(20, 25, 29) < numpy.array(numpy.timedelta64(1, "s"))
    with pytest.raises(espbench.EspbenchError, match="is no time"):
        _ = figures(1, 2, 3) < numpy.timedelta64("NaT")


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
    with pytest.raises(espbench.NoCell, match="no rtt_exact_p99 with payload_bytes = 77\n  why: `payload_bytes` is 10, 230$"):
        ping.figures("p99", payload_bytes=77)
    with pytest.raises(espbench.NoCell, match="no column `colour`"):
        ping.figures("p99", colour="red")
    with pytest.raises(AttributeError):
        _ = ping.no_such_thing
    assert figures(1, 2, 3)[0].to("us").high == pytest.approx(3000)
