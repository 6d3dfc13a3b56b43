"""Plans that several tests carry out, and the repository."""

import os
from pathlib import Path

#: The repository; CI runs the tests elsewhere, so that the installed package is found and not its sources.
ROOT = Path(os.environ.get("ESPBENCH_REPOSITORY", Path(__file__).resolve().parents[2]))

#: Round trips of two boards in the lab.
PING = """
name = "two"
[[measure]]
kind = "esp-now"
test = "ping"
cast = ["unicast"]
size = [10, 230]
count = 400
distance = "3 m"
"""
