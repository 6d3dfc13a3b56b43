"""Prints reports with their samples, for a comparison of machines (ci/cross.sh): everything but the machine itself."""

import json
import pathlib

import espbench

for plan in sorted(pathlib.Path(__file__).with_name("plans").glob("*.toml")):
    result = espbench.run(plan.read_text(), on="sim", seed=7, progress=False)
    assert not result.failures, result.failures
    report = result.json
    # The instant of the run is the one thing that two runs cannot have in common.
    del report["run"]["started"]
    print(json.dumps({"report": report, "samples": result.samples.rows()}, indent=1))
