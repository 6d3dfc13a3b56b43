# # The ESP-NOW report again
#
# Espressif's report has round trips of 10,000 pings in each cell. Here the lab carries out a part of that matrix with fewer
# pings, and each figure stands beside the published one.

import espbench

plan = {
    "name": "round-trip",
    "measure": [
        {
            "kind": "esp-now",
            "test": "ping",
            "cast": ["unicast", "broadcast 3 + ack"],
            "size": [10, 100, 230],
            "count": 300,
            "distance": "3 m",
        }
    ],
}
report = espbench.run(plan, seed=1)

# The means beside the published ones, with 95 % intervals. `ratio` is ours / published:

cells = report.cells.to_pandas()
means = cells[cells["metric"] == "rtt_avg"]
means[["mode", "payload_bytes", "value", "ci_low", "ci_high", "published", "ratio", "verdict"]].round(3)

# Raw samples have each probe, so that any statistic can be computed again:

import matplotlib.pyplot as plt

samples = report.samples.to_pandas()
figure, axes = plt.subplots(figsize=(6, 3.2))
for (cast, size), group in samples.groupby(["cast", "payload_bytes"]):
    times = (1e3 * group["round_trip_s"].dropna()).sort_values()
    axes.step(times, [(at + 1) / len(group) for at in range(len(times))], label=f"{cast}, {size} B")
axes.set(xlabel="round trip in ms (simulated)", ylabel="part of the probes", xlim=(0, 40))
axes.legend(fontsize=7)
figure.tight_layout()

# What holds, by the whole interval and not by the figure alone:

report.figures("rtt_exact_p50", payload_bytes=230) < "20 ms"
