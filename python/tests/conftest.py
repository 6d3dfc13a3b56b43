"""What the tests of the package share."""

from __future__ import annotations

import espbench
import pytest
from rooms import PING

pytest_plugins = ["pytester"]

@pytest.fixture(scope="session")
def ping() -> espbench.Result:
    """Round trips of 10 and of 230 bytes, 400 each."""
    return espbench.run(PING, seed=1)
