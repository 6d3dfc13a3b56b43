"""Arguments of functions: what the types allow is taken (mypy reads this file), and what is refused is told in Python's words."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType

import espbench
import pytest
from espbench import EspbenchError, _progress, _words


class Room(str, enum.Enum):
    HOME = "home"


class Count(enum.IntEnum):
    FEW = 3


def words(**given: object) -> list[str]:
    return _words.flags(["predict", "fleet"], {}, given)


def test_all_that_the_types_allow_is_taken() -> None:
    def devices(answer: espbench.Result) -> list[int]:
        return [it["devices"] for it in answer.json["cells"] if it["metric"] == "loss"]

    of_set = espbench.predict(devices={4, 3}, rooms=Fraction(2), messages=Decimal(100), distance=Decimal("3"), room=Room.HOME)
    assert devices(of_set) == [3, 4]
    of_generator = espbench.predict(devices=(it for it in (4, 3)), rooms=Count.FEW, messages=100, every=timedelta(seconds=1))
    assert sorted(devices(of_generator)) == [3, 4]


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({10, 9, 100}, "9,10,100"),
        (frozenset(["b", "a"]), "a,b"),
        ({1, "a"}, "1,a"),
        ((it for it in (2, 1)), "2,1"),
        ({"b": 1, "a": 2}.keys(), "b,a"),
        (range(3), "0,1,2"),
        (map(Decimal, ("0.5", "2")), "0.5,2"),
        ([5.0, 2.5, 1e22], "5,2.5,10000000000000000000000"),
        (Fraction(1, 4), "0.25"),
        (Room.HOME, "home"),
        ([Count.FEW, timedelta(milliseconds=2), Path("a/b")], "3,2000us,a/b"),
    ],
)
def test_several_values_are_one_word(given: object, wanted: str) -> None:
    assert words(devices=given) == [f"--devices={wanted}"]


def test_several_texts_are_a_text_or_any_of_them() -> None:
    assert _words.texts("a") == ["a"] and _words.texts(None) == []
    # The order of a set is not that of its hashes, which each process has anew: results would differ.
    assert _words.texts({"c", "a", "b"}) == ["a", "b", "c"] and _words.texts(it for it in "ba") == ["b", "a"]


def test_numpy_has_no_words_of_its_own() -> None:
    numpy = pytest.importorskip("numpy")
    assert words(encrypt=numpy.True_, every=numpy.timedelta64(5, "ms"), distance=numpy.float64(3)) == [
        "--encrypt", "--every=5000us", "--distance=3",
    ]
    assert words(every=numpy.timedelta64(5_000_000, "ns"), devices=numpy.array([5.0, 10.0])) == ["--every=5000us", "--devices=5,10"]


def test_a_flag_whose_value_may_be_missing_is_true() -> None:
    assert _words.flags(["run"], {}, {"beside": True, "resume": "last", "published": False}) == ["--beside", "--resume=last"]


@pytest.mark.parametrize("value", [b"home", object(), {"a": 1}, [[1]]])
def test_other_types_are_refused(value: object) -> None:
    with pytest.raises(TypeError, match="room is of the type .*: use a text such as '50ms'"):
        words(room=value)


def test_what_is_no_number_is_refused_by_its_name() -> None:
    for value in (True, False, [True]):
        with pytest.raises(TypeError, match="devices is (True|False): use a text"):
            words(devices=value)
    for number in (math.nan, -math.inf):
        with pytest.raises(EspbenchError, match="devices is (nan|-inf)\n  why: a number is finite"):
            words(devices=number)
    assert espbench.run("name = 'p'\n[[measure]]\nkind = 'esp-now'\ntest = 'ping'\nsize = 10\ncount = 2\n", seed=5.0, progress=False).seed == 5  # type: ignore[arg-type]
    for seed in (True, 5.5, math.nan):
        with pytest.raises(TypeError, match="seed is .*: use a whole number"):
            espbench.run("round-trip", seed=seed)  # type: ignore[arg-type]


def test_answers_speak_of_arguments_and_of_no_flags() -> None:
    fleet = espbench.predict(devices=40, loss="0.01%", rooms=2, messages=1000, progress=False)
    assert 'phy_rate="11M' in fleet.text and 'save("FILE.html")' in fleet.text
    assert "--" not in fleet.text and "-o FILE" not in fleet.text
    plan = "name = 'p'\n[[measure]]\nkind = 'esp-now'\ntest = 'ping'\nsize = [10, 20]\ncount = 20\n"
    assert "--full" not in espbench.run(plan, seed=1, progress=False).text
    # The command in the same process is for a terminal.
    assert espbench._espbench.main(["espbench", "predict", "fleet", "--devices", "3", "--rooms", "2", "--messages", "100", "-q"]) == 0
    with pytest.raises(EspbenchError, match="devices=60"):
        espbench.predict("fleet")


@pytest.mark.parametrize(
    ("call", "wanted"),
    [
        (lambda: espbench.run("round-trip", output="x"), "`output`\n  do: use Result.save"),  # type: ignore[call-arg]
        (lambda: espbench.predict(quiet=True), "`quiet`\n  do: use progress=False"),  # type: ignore[call-overload]
        (lambda: espbench.predict(ack="yes"), "`ack` cannot be \"yes\"\n  do: it is true or false"),  # type: ignore[call-overload]
        (lambda: espbench.predict(), "without `devices` .*\n  do: say how many with devices=60, or the limits: loss=\"1%\""),
        (lambda: espbench.predict("fleet", devices=5, ack=True), "`ack` does nothing beside cast=\"unicast\".*\n.*\n  do: add cast=\"broadcast\""),
        (lambda: espbench.doctor(log=""), "log is no console log\n  why: it is empty"),
        (lambda: espbench.run("name = 1\n", on="loopback", published=True), "plan: line 1"),
        (lambda: espbench.run(["round-trip", "name = 1\n"], on="loopback", published=True), "plan 2: line 1"),
        (lambda: espbench.run("round-trip", lab="[x]\n", published=True), "lab: line 1"),
        (lambda: espbench.run("name = \"a\udc80\"\n"), "is no text\n  why: .*, its character 10, is half of one"),
        (lambda: espbench.run({"name": "a\udc80"}), "`name` of a plan is no text"),
        (lambda: espbench.run({"measure": [{"count": math.nan}]}), "`count` of a plan is nan\n  why: a number of a plan is finite"),
        (lambda: espbench.run({"measure": [{"size": [1, math.inf]}]}), "`size` of a plan is inf"),
    ],
)
def test_what_is_refused_is_told_in_words_of_python(call: Callable[[], object], wanted: str) -> None:
    with pytest.raises(EspbenchError, match=wanted) as wrong:
        call()
    assert "--" not in str(wrong.value), "no flag is told"
    assert "espbench-" not in str(wrong.value), "no temporary file is told"


def test_a_checker_knows_the_questions_and_their_flags() -> None:
    with pytest.raises(ValueError, match="there is no question 'fleat'"):
        espbench.predict("fleat")  # type: ignore[call-overload]
    with pytest.raises(EspbenchError, match="predict range has no argument `devices`"):
        espbench.predict("range", devices=5)  # type: ignore[call-overload]


def test_a_plan_may_have_any_character() -> None:
    block = MappingProxyType({"kind": "esp-now", "test": "ping", "cast": "unicast", "size": {10, 20}, "count": 5, "distance": "3 m"})
    for name in ("\N{GRINNING FACE}", "a\x7f\x01\\\"b", "\u2028"):
        run = espbench.run({"name": name, "measure": (block,)}, seed=1, progress=False)
        assert run.json["run"]["plan_name"] == name


def test_a_log_may_have_any_bytes() -> None:
    for log in (b"a\x80b\n".decode(errors="surrogateescape"), "a\ud83d\n"):
        assert espbench.doctor(log=log).causes == []


def test_a_thousand_cells_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    def shown(done: int, total: int, told: str) -> str:
        bar = _progress._Bar("cells", notebook=False)
        bar.begun -= 10
        bar(done, total, told)
        return capsys.readouterr().err

    heard: list[tuple[int, int, str]] = []

    def hear(done: int, total: int, told: str) -> None:
        heard.append((done, total, told))

    espbench._espbench.ask(["predict", "fleet", "--devices=3", "--rooms=2", "--messages=100", "--format=json", "--quiet"], hear)
    assert heard[-1] == (1000, 1000, "100 %")
    heard.clear()
    plan = 'name = "a"\n[[measure]]\nkind = "esp-now"\ntest = "ping"\ncast = "unicast"\nsize = [%s]\ncount = 1\ndistance = "3 m"\n'
    espbench._espbench.simulate([(plan % ",".join(map(str, range(10, 20))), True)], None, 1, "2026-01-01T00:00:00Z", None, hear)
    assert heard[-1] == (10, 10, "10 of 10")
    assert shown(500, 1000, "500 of 1000") == "\rcells: 500 of 1000"
    assert shown(1000, 1000, "100 %") == "\rcells: 100 %\n"
