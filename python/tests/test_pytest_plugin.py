"""The plugin: assertions that explain themselves, and baselines."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from espbench import EspbenchError
from espbench.baselines import Baselines

from rooms import PING

PLAN = f"PLAN = '''{PING}'''\n"


def test_a_limit_that_does_not_hold_is_explained(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        PLAN
        + """
def test_holds(espbench):
    echo = espbench.run(PLAN)
    assert echo.figures("rtt_exact_p50") < "30 ms"
    assert echo.figures("rtt_exact_p50", payload_bytes=10) < "30 ms"

def test_fails(espbench):
    echo = espbench.run(PLAN)
    assert echo.figures("rtt_exact_p50", payload_bytes=230) < "2 ms"

def test_inconclusive(espbench):
    echo = espbench.run(PLAN.replace("count = 400", "count = 50"))
    assert echo.p99 < "10 s"

def test_what_is_inconclusive_passes_in_no_way(espbench):
    echo = espbench.run(PLAN.replace("count = 400", "count = 50"))
    assert not echo.p99 > "10 s"

def test_there_is_no_equality(espbench):
    assert espbench.run(PLAN)["loss"] != "0 %"
"""
    )
    ran = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    ran.assert_outcomes(passed=1, failed=4)
    ran.stdout.fnmatch_lines(
        [
            "E * rtt_exact_p50 < 2 ms: fails",
            "E *fails: rtt_exact_p50 (unicast, 230 B, 3 m): * ms, 95 % interval * to *, n = 400",
            "E *likeliest causes:*",
            "E *1. *",
            "E * rtt_exact_p99 < 10 s: inconclusive",
            "E *inconclusive is not passed: take more samples, or allow a wider limit*",
            "E *rtt_exact_p99 > 10 s: inconclusive",
            "E *loss has an interval, and is compared by < <= > or >=; a value alone is .value",
        ]
    )


def test_baselines_are_written_and_held_against(pytester: pytest.Pytester) -> None:
    body = """
def test_it(espbench):
    echo = espbench.run(PLAN, seed=SEED)
    espbench.baseline(echo, tolerance="25 %")
"""
    pytester.makepyfile(test_gate=PLAN + "SEED = 1\n" + body)
    ran = pytester.runpytest_subprocess()
    ran.assert_outcomes(failed=1)
    ran.stdout.fnmatch_lines(["*has no baseline `test_gate.py::test_it`: run pytest --espbench-update once"])
    pytester.runpytest_subprocess("--espbench-update").assert_outcomes(passed=1)
    file = pytester.path / "espbench-baselines.json"
    known = json.loads(file.read_text())
    assert known["schema"] == "espbench-baselines/2"
    rows = known["baselines"]["test_gate.py::test_it"]
    assert all("230 B" in it["test"] or "10 B" in it["test"] for it in rows)
    # The same seed: the same figures, exactly.
    pytester.runpytest_subprocess().assert_outcomes(passed=1)
    # Half as long as measured: now everything is worse.
    for row in rows:
        for key in ("value", "ci_low", "ci_high"):
            row[key] = row.get(key) and row[key] / 2
    file.write_text(json.dumps(known))
    ran = pytester.runpytest_subprocess()
    ran.assert_outcomes(failed=1)
    ran.stdout.fnmatch_lines(["*worse: rtt_exact_p50 of *230 B*: * ms [[]* to *[]], before * ms [[]* to *[]], allowed * ms"])
    file.write_text("rubbish")
    ran = pytester.runpytest_subprocess()
    ran.assert_outcomes(failed=1)
    ran.stdout.fnmatch_lines(["*espbench-baselines.json is no file of baselines*"])
    file.write_text('{"schema": "espbench-baselines/1", "baselines": {}}')
    pytester.runpytest_subprocess().stdout.fnmatch_lines(["*has the baselines of an older espbench*"])
    pytester.runpytest_subprocess("--espbench-update").assert_outcomes(passed=1)


def test_sizes_come_and_go(pytester: pytest.Pytester) -> None:
    body = PLAN + 'def test_it(espbench):\n    espbench.baseline(espbench.run(PLAN.replace("[10, 230]", "%s"), seed=1), "rtt_exact_p50")\n'
    pytester.makepyfile(test_gate=body % "[100]")
    pytester.runpytest_subprocess("--espbench-update").assert_outcomes(passed=1)
    pytester.makepyfile(test_gate=body % "[10, 100]")
    ran = pytester.runpytest_subprocess()
    ran.stdout.fnmatch_lines(["*new: rtt_exact_p50 of * 10 B*"])
    ran.stdout.no_fnmatch_line("*: rtt_exact_p50 of * 100 B*")
    pytester.runpytest_subprocess("--espbench-update").assert_outcomes(passed=1)
    pytester.makepyfile(test_gate=body % "[10]")
    ran = pytester.runpytest_subprocess()
    ran.assert_outcomes(failed=1)
    ran.stdout.fnmatch_lines(["*missing: rtt_exact_p50 of * 100 B*: before * ms*, and now there is none"])


def test_what_decides_nothing_is_refused(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        PLAN
        + """
import pytest

def test_it(espbench):
    echo = espbench.run(PLAN, seed=1)
    with pytest.raises(LookupError, match="there is no metric `rtt_p9`"):
        espbench.baseline(echo, "rtt_p9")
    with pytest.raises(ValueError, match="not negative"):
        espbench.baseline(echo, tolerance=-0.1)
"""
    )
    pytester.runpytest_subprocess("--espbench-update").assert_outcomes(passed=1)


@pytest.mark.parametrize("number", ["3", "20"])
def test_baselines_of_a_newer_form_are_left_alone(tmp_path: Path, number: str) -> None:
    file = tmp_path / "b.json"
    text = '{"schema": "espbench-baselines/%s", "baselines": {"a": []}}' % number
    file.write_text(text)
    kept = Baselines(file)
    for touch in (lambda: kept.put("b", []), lambda: kept.get("a")):
        with pytest.raises(EspbenchError, match="of a newer espbench\n  why: .*\n  do: install that espbench, or name another"):
            touch()
    assert file.read_text() == text
    # An older form is replaced, by an update alone.
    file.write_text(text.replace(f"/{number}", "/1"))
    with pytest.raises(EspbenchError, match="of an older espbench\n  why: .*\n  do: run pytest --espbench-update"):
        kept.get("a")
    kept.put("b", [])
    assert kept.get("b") == [] and kept.get("a") is None
    for wrong in ("espbench-baselines/", "espbench-baselines/x", "other/1", None, 7):
        file.write_text(json.dumps({"schema": wrong, "baselines": {}}))
        with pytest.raises(EspbenchError, match="is no file of baselines"):
            kept.put("b", [])


def test_the_folder_of_baselines_is_made(tmp_path: Path) -> None:
    kept = Baselines(tmp_path / "no/such/b.json")
    assert kept.get("a") is None
    kept.put("a", [{"value": 1}])
    assert kept.get("a") == [{"value": 1}]
    (tmp_path / "file").touch()
    for path in (tmp_path, tmp_path / "file/b.json"):
        with pytest.raises(EspbenchError, match="can be no file of baselines\n  why: .*\n  do: name another"):
            Baselines(path).put("a", [])


def test_a_hundred_updates_at_a_time_lose_nothing(tmp_path) -> None:
    script = tmp_path / "put.py"
    script.write_text(
        "import sys\nfrom pathlib import Path\nfrom espbench.baselines import Baselines\nkept = Baselines(Path(sys.argv[1]))\n"
        "for at in range(25):\n    kept.put(f'{sys.argv[2]}-{at}', [{'test': 'a', 'metric': 'loss', 'value': at}])\n"
    )
    file = tmp_path / "baselines.json"
    writers = [subprocess.Popen([sys.executable, str(script), str(file), str(it)]) for it in range(4)]
    assert [it.wait() for it in writers] == [0] * 4
    known = json.loads(file.read_text())["baselines"]
    assert sorted(known) == sorted(f"{writer}-{at}" for writer in range(4) for at in range(25))
    assert sorted(it.name for it in tmp_path.iterdir()) == ["baselines.json", "put.py"], "nothing is left beside it"


def test_a_perfect_link_passes_its_baseline_on_real_sockets(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
PLAN = {"name": "desk", "measure": [{"kind": "udp-echo", "size": [20, 200], "count": 300, "timeout": "2 s"}]}

def test_it(espbench):
    # What a busy machine adds is not to decide here; loss has a tolerance of its own.
    echo = espbench.run(PLAN, on="loopback")
    espbench.baseline(echo, tolerance="100000000 %", points="5 %")
    espbench.baseline(echo, "loss", points="5 %", name="loss")
"""
    )
    pytester.runpytest_subprocess("--espbench-update").assert_outcomes(passed=1)
    pytester.runpytest_subprocess().assert_outcomes(passed=1)


def test_other_seeds_are_compared_by_intervals(pytester: pytest.Pytester) -> None:
    body = 'def test_it(espbench):\n    espbench.baseline(espbench.run(PLAN, seed=SEED), "rtt_exact_p50", tolerance="%s", name="rtt")\n'
    pytester.makepyfile(test_gate=PLAN + "SEED = 1\n" + body % "50 %")
    pytester.runpytest_subprocess("--espbench-update").assert_outcomes(passed=1)
    pytester.makepyfile(test_gate=PLAN + "SEED = 2\n" + body % "50 %")
    pytester.runpytest_subprocess().assert_outcomes(passed=1)
    pytester.makepyfile(test_gate=PLAN + "SEED = 2\n" + body % "0 %")
    ran = pytester.runpytest_subprocess()
    ran.assert_outcomes(failed=1)
    ran.stdout.fnmatch_lines_random(["*rtt_exact_p50 of *before*allowed*"])


def test_what_is_not_decided_is_a_warning(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(PLAN + "def test_it(espbench):\n    espbench.baseline(espbench.run(PLAN))\n")
    pytester.runpytest_subprocess("--espbench-update").assert_outcomes(passed=1)
    ran = pytester.runpytest_subprocess()
    # Other plugins warn, too.
    ran.assert_outcomes(passed=1)
    ran.stdout.fnmatch_lines(["*figures have no bounded interval and are not decided: *rtt*"])


def test_two_baselines_of_one_test_need_names(pytester: pytest.Pytester) -> None:
    body = "def test_it(espbench):\n    for seed in (1, 2):\n        espbench.baseline(espbench.run(PLAN, seed=seed))\n"
    pytester.makepyfile(PLAN + body)
    ran = pytester.runpytest_subprocess("--espbench-update")
    ran.assert_outcomes(failed=1)
    ran.stdout.fnmatch_lines(["*has a baseline `*` already: give each one a name*"])


def test_numbers_that_are_no_part_are_refused(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(PLAN + "def test_it(espbench):\n    espbench.baseline(espbench.run(PLAN), tolerance=10)\n")
    ran = pytester.runpytest_subprocess("--espbench-update")
    ran.assert_outcomes(failed=1)
    ran.stdout.fnmatch_lines(["*a tolerance of 10 is 1000 %: write '10 %', or '1000 %'*"])


def test_a_threshold_of_the_plan_that_fails_fails_the_test(pytester: pytest.Pytester) -> None:
    limit = """PLAN += '\\n[[threshold]]\\nmetric = "rtt_exact_p50"\\nmax = "1 us"\\n'\n"""
    pytester.makepyfile(PLAN + limit + "def test_it(espbench):\n    espbench.run(PLAN)\n")
    ran = pytester.runpytest_subprocess()
    ran.assert_outcomes(failed=1)
    ran.stdout.fnmatch_lines(["*thresholds of the plan failed:*", "*rtt_exact_p50*"])


def test_a_metric_without_a_better_direction_is_refused(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(PLAN + 'def test_it(espbench):\n    espbench.baseline(espbench.run(PLAN), "probes_late")\n')
    ran = pytester.runpytest_subprocess("--espbench-update")
    ran.assert_outcomes(failed=1)
    ran.stdout.fnmatch_lines(["*a baseline of `probes_late` decides nothing*"])


def test_what_cannot_be_measured_fails(pytester: pytest.Pytester) -> None:
    pytester.makepyfile('def test_it(espbench):\n    espbench.run("udp-echo", on="udp:127.0.0.1:9")\n')
    ran = pytester.runpytest_subprocess()
    ran.assert_outcomes(failed=1)
    ran.stdout.fnmatch_lines(["*not measured:*"])


def test_a_target_comes_from_the_command_line(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(PLAN + 'def test_it(espbench):\n    assert espbench.run(PLAN).json["run"]["target"] == "sim:two-boards"\n')
    pytester.runpytest_subprocess("--espbench-on", "sim:two-boards").assert_outcomes(passed=1)
    pytester.makeini("[pytest]\nespbench_on = sim:two-boards\n")
    pytester.runpytest_subprocess().assert_outcomes(passed=1)


def test_pytest_embedded_and_espbench_take_turns_at_a_port(pytester: pytest.Pytester) -> None:
    pytest.importorskip("pytest_embedded_serial")
    pytester.makeconftest(
        """
from espbench.fleet import Fleet

def pytest_configure(config):
    fleet = Fleet("two-boards", app="solution", late_most="1h")
    config.add_cleanup(fleet.close)
    config.option.port = "|".join(fleet.ports)
    config.option.count = 2
    config.option.embedded_services = "serial"
"""
    )
    pytester.makepyfile(
        PLAN
        + """
import os, time

def typed(board, text):
    for part in (*text, "\\r"):
        board.serial.proc.write(part.encode())
        time.sleep(0.05)

def test_turns(espbench, dut):
    with espbench.board(*dut) as boards:
        assert boards.startswith("serial:/dev/pts/")
        assert not dut[0].serial.proc.is_open
        echo = espbench.run(PLAN.replace("[10, 230]", "10").replace("400", "20"), on=boards)
    assert echo.origin == "live" and len(echo.samples) == 20
    assert echo["loss"] < "50 %"
    typed(dut[0], "help")
    dut[0].expect("espnow_iperf", timeout=60)
"""
    )
    pytester.runpytest_subprocess().assert_outcomes(passed=1)
