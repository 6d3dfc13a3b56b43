"""The link between two boards: a limit in the lab, the same at the boards, and a gate against regressions."""

from __future__ import annotations

from pathlib import Path

HERE = Path(__file__).parent


def test_the_firmware_has_its_console(dut, typed) -> None:
    """pytest-embedded alone: the board says which commands it has."""
    for board in dut:
        typed(board, "help")
        board.expect("espnow_iperf", timeout=30)


def test_the_design_keeps_its_limit(espbench) -> None:
    """Before there is a board: the lab, exact with its seed."""
    echo = espbench.run(HERE / "link.toml", lab="two-boards", seed=1)
    assert echo["rtt_exact_p50"] < "20 ms"
    assert echo["loss"] < "5 %"


def test_the_boards_keep_it_too(espbench, dut, typed) -> None:
    """At the boards' consoles, between two things that pytest-embedded does with them."""
    with espbench.board(*dut) as boards:
        echo = espbench.run(HERE / "link.toml", on=boards)
    assert echo["rtt_avg"] < "60 ms"
    assert echo["loss"] < "5 %"
    typed(dut[0], "help")
    dut[0].expect("espnow_iperf", timeout=30)


def test_it_has_not_become_worse(espbench) -> None:
    """The figures of espbench-baselines.json; `pytest --espbench-update` writes them anew."""
    espbench.baseline(espbench.run(HERE / "link.toml", lab="two-boards", seed=1), tolerance="10 %")


def test_the_settings_are_free_of_mistakes(espbench) -> None:
    checked = espbench.tune(HERE / "sdkconfig.defaults", rtt="5ms", time="500ms")
    assert not checked.wrong, checked
