"""Plans that several tests carry out, and the repository."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

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
