"""Boards of the tests: those of `--port A|B`, or two simulated ones on pseudo-terminals where none are named."""

from __future__ import annotations

import pytest
from espbench.fleet import Fleet


def pytest_configure(config: pytest.Config) -> None:
    if not config.getoption("port"):
        # The line editor of ESP-IDF asks where the cursor is, and pytest-embedded is no terminal.
        fleet = Fleet("two-boards", answer_cursor=True)
        config.add_cleanup(fleet.close)
        config.option.port = "|".join(fleet.ports)
    config.option.count = 2
    config.option.embedded_services = "serial"
