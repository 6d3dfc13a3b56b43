"""Boards of the tests: those of `--port A|B`, or two simulated ones on pseudo-terminals where none are named."""

from __future__ import annotations

import time

import pytest
from espbench.fleet import Fleet


def pytest_configure(config: pytest.Config) -> None:
    if not config.getoption("port"):
        # On a machine that is busy with other things the lab may be late.
        fleet = Fleet("two-boards", app="solution", late_most="1h")
        config.add_cleanup(fleet.close)
        config.option.port = "|".join(fleet.ports)
    config.option.count = 2
    config.option.embedded_services = "serial"


@pytest.fixture
def typed():
    """Types a command as a person does: what follows within 30 ms is pasted text to the line editor of ESP-IDF 4.4."""

    def type_command(board, command: str) -> None:
        for part in (*command, "\r"):
            board.serial.proc.write(part.encode())
            time.sleep(0.05)

    return type_command
