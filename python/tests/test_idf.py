"""`idf.py espbench`, loaded by a stand-in for idf.py (`standin_idf.py`) that follows ESP-IDF's documentation."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from espbench.espbench_ext import action_extensions, command

STANDIN = Path(__file__).with_name("standin_idf.py")

pytest.importorskip("click")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project that was configured for an ESP32-C3."""
    (tmp_path / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.22)\n")
    (tmp_path / "sdkconfig").write_text('CONFIG_IDF_TARGET="esp32c3"\nCONFIG_LWIP_TCP_WND_DEFAULT=5744\n')
    (tmp_path / "build").mkdir()
    facts = {"target": "esp32c3", "config_file": str(tmp_path / "sdkconfig")}
    (tmp_path / "build/project_description.json").write_text(json.dumps(facts))
    return tmp_path


def idf(project: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(STANDIN), "-C", str(project), *words], capture_output=True, text=True, timeout=600)


def test_the_entry_point_is_where_idf_py_looks() -> None:
    (found,) = [it for it in entry_points(group="idf_extension") if it.name == "espbench"]
    # Without a colon and this name, idf.py 6 warns; `idf_ext:action_extensions` is for components.
    assert found.value == "espbench.espbench_ext:action_extensions"
    assert found.load() is action_extensions
    made = action_extensions({}, "/project")
    assert made["version"] == "1" and list(made["actions"]) == ["espbench"]


def test_help_lists_the_action(project: Path) -> None:
    ran = idf(project, "--help")
    assert ran.returncode == 0 and "espbench" in ran.stdout and "Check, measure, tune" in ran.stdout


def test_check_reads_the_projects_sdkconfig(project: Path) -> None:
    ran = idf(project, "espbench", "check", "--rtt", "20ms", "--time", "500ms", "--quiet")
    assert ran.returncode == 0, ran.stderr
    assert f"espbench tune --check {project}/sdkconfig --chip esp32c3 --rtt 20ms" in ran.stdout
    assert "TCP" in ran.stdout or "tcp" in ran.stdout


def test_it_stands_behind_other_commands(project: Path) -> None:
    ran = idf(project, "build", "espbench", "check", "--rtt", "20ms", "--time", "500ms", "--quiet")
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.index("Executing action: build") < ran.stdout.index("Executing action: espbench")


def test_the_port_of_idf_py_is_the_board_of_a_run(project: Path) -> None:
    facts = {"sdkconfig": "sdkconfig", "target": "esp32", "port": "/dev/ttyUSB0"}
    assert command(["run", "round-trip"], facts) == ["run", "--on", "serial:/dev/ttyUSB0", "round-trip"]
    assert command(["run", "round-trip", "--on", "sim"], facts) == ["run", "--sdkconfig", "sdkconfig", "round-trip", "--on", "sim"]
    assert command(["run", "round-trip", "--on=udp:192.0.2.1"], facts) == ["run", "round-trip", "--on=udp:192.0.2.1"]
    # A plan over sockets has no device whose firmware that would be, and neither has one of two targets.
    simulated = {**facts, "port": ""}
    assert command(["run", "--", "round-trip"], simulated) == ["run", "--sdkconfig", "sdkconfig", "--", "round-trip"]
    for without in (["run", "udp-echo"], ["run", "round-trip", "--on=sim", "--on", "loopback"], ["run", "no/such.toml"]):
        assert command(without, simulated) == without
    for nothing in (["run"], ["run", "-q"], ["run", "--seed", "3"], ["run", "-qo", "a.html", "--threads=2"], ["run", "--beside", "two-boards"]):
        with pytest.raises(LookupError, match="name a plan"):
            command(nothing, facts)
    assert command(["tune", "--want", "heap>=100KB"], facts)[:3] == ["tune", "--check", "sdkconfig"]
    assert command(["predict", "fleet", "--devices", "9"], facts)[:4] == ["predict", "fleet", "--sdkconfig", "sdkconfig"]
    assert command(["predict", "range"], facts) == ["predict", "range", "--sdkconfig", "sdkconfig"]
    for without in (["predict"], ["predict", "no-such"], ["predict", "fleet", "--sdkconfig=b"], ["tune", "--check", "b"]):
        assert command(without, facts) == without
    assert command(["doctor", "boot.log"], facts) == ["doctor", "boot.log", "sdkconfig"]
    assert command([], facts) == ["tune", "--check", "sdkconfig", "--chip", "esp32"]
    assert command(["runs"], facts) == ["runs"]
    ran = idf(project, "-p", "/dev/no-such-port", "espbench", "run", "round-trip")
    assert ran.returncode == 2 and "/dev/no-such-port" in ran.stderr


@pytest.mark.parametrize("words", [["--resume"], ["--resume", "last"], ["--resume=last", "-q"], ["--list"], ["-q", "--list"]])
def test_nothing_stands_beside_resume_and_list(words: list[str]) -> None:
    for port in ("", "/dev/ttyUSB0"):
        assert command(["run", *words], {"sdkconfig": "sdkconfig", "target": "esp32", "port": port}) == ["run", *words]


def test_the_plans_are_listed(project: Path) -> None:
    ran = idf(project, "espbench", "run", "--list")
    assert ran.returncode == 0 and "round-trip" in ran.stdout, ran.stderr


def test_a_run_in_the_lab(project: Path) -> None:
    (project / "plan.toml").write_text(
        'name = "two"\n[[measure]]\nkind = "esp-now"\ntest = "ping"\nsize = 10\ncount = 20\ndistance = "3 m"\ncast = "unicast"\n'
    )
    ran = idf(project, "espbench", "run", f"{project}/plan.toml", "--on", "sim", "--store", f"{project}/runs.sqlite", "-q")
    assert ran.returncode == 0, ran.stderr
    assert "round trip" in ran.stdout and not ran.stderr, ran.stderr
    import espbench

    text = espbench.read_run(project / "runs.sqlite").json["run"]["plan_text"]
    assert 'profile = "esp32c3"' in text, "the project's chip"


def test_a_project_without_an_sdkconfig_is_told_so(tmp_path: Path) -> None:
    ran = idf(tmp_path, "espbench", "check")
    assert ran.returncode != 0 and "idf.py reconfigure" in ran.stderr


def test_wrong_words_are_the_commands_own_errors(project: Path) -> None:
    ran = idf(project, "espbench", "frobnicate")
    assert ran.returncode == 2 and "frobnicate" in ran.stderr


def test_a_projects_own_idf_ext_may_have_it(project: Path) -> None:
    (project / "idf_ext.py").write_text("from espbench.espbench_ext import action_extensions\n")
    ran = idf(project, "--no-entry-points", "espbench", "runs", "--store", f"{project}/none.sqlite")
    assert ran.returncode == 0, ran.stderr
