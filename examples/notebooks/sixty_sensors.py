# # Sixty sensors: battery against latency
#
# Sixty sensors on two AA cells each send 50 bytes to one listener, and sleep meanwhile. The more often they send, the sooner
# an event is known, and the shorter they live. All figures are simulated.

import espbench

periods = ["10s", "60s", "300s"]
rows = []
for every in periods:
    fleet = espbench.predict(
        "fleet", devices=60, every=every, payload=50, battery="2xAA", sleep="deep", rooms=2, messages=120, progress=False
    )
    rows.append(fleet)

# Of each answer the leading figures, with 95 % intervals (an end that the samples do not bound is left out):

import pandas as pd

def told(result, ending):
    found = [name for name in result.metrics if name.endswith(ending)]
    return result.figures(found[0], devices=60)[0] if found else None

rows[0].metrics

table = pd.DataFrame(
    {
        "every": periods,
        "battery life in days": [round(float(told(it, "battery_life"))) for it in rows],
        "latency p99 in ms": [round(float(told(it, "latency_p99")), 1) for it in rows],
        "loss in percent": [str(told(it, "loss")).split(": ")[1] for it in rows],
    }
)
table

import matplotlib.pyplot as plt

figure, axes = plt.subplots(figsize=(6, 3))
axes.plot([10, 60, 300], table["battery life in days"], marker="o")
axes.set(xscale="log", yscale="log", xlabel="seconds between two messages", ylabel="battery life in days (simulated)")
figure.tight_layout()

# The answer as the command prints it:

print(rows[1].text)
