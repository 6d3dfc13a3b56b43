"""Prints a report with its samples, for a comparison of machines (ci/cross.sh): everything but the machine itself."""

import json

import espbench

PLAN = """
name = "cross"
[[measure]]
kind = "esp-now"
test = ["ping", "handshake"]
count = 20
[[measure]]
kind = "esp-now"
test = "multi-ping"
devices = 3
count = 20
[[measure]]
kind = "udp-echo"
variant = ["wifi-beside-esp-now", "esp-now-beside-wifi"]
size = 64
format = "binary"
count = 40
interval = "50 ms"
timeout = "1 s"
"""

result = espbench.run(PLAN, on="sim", seed=7, progress=False)
assert not result.failures, result.failures
report = result.json
# The instant of the run is the one thing that two runs cannot have in common.
del report["run"]["started"]
print(json.dumps({"report": report, "samples": result.samples.rows()}, indent=1))
