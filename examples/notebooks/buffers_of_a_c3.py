# # Buffers of an ESP32-C3
#
# How much a larger TCP window and more buffers give, and what holds the throughput back then. Each row is an sdkconfig that
# `espbench.tune` checks in the lab.

import tempfile
from pathlib import Path

import espbench
import pandas as pd

def checked(window, buffers):
    text = f"""CONFIG_IDF_TARGET="esp32c3"
CONFIG_ESP_WIFI_STATIC_RX_BUFFER_NUM={buffers}
CONFIG_ESP_WIFI_DYNAMIC_RX_BUFFER_NUM={2 * buffers}
CONFIG_LWIP_TCP_WND_DEFAULT={window}
CONFIG_LWIP_TCPIP_RECVMBOX_SIZE=64
CONFIG_LWIP_TCP_RECVMBOX_SIZE=64
"""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sdkconfig"
        path.write_text(text)
        return espbench.tune(path, rtt="5ms", time="500ms", progress=False)

rows = []
for window in (5760, 32768):
    for buffers in (4, 16):
        found = checked(window, buffers)
        (limit,) = [it for it in found["limits"] if it["metric"] == "tcp-rx"]
        rows.append(
            {
                "window in B": window,
                "static RX buffers": buffers,
                "TCP to the device in Mbit/s": limit["simulated_mbit_s"],
                "first limit": limit["limits"][0]["cause"],
                "Mbit/s without it": limit["limits"][0]["lifted_mbit_s"],
            }
        )

# Simulated, over the same air:

pd.DataFrame(rows).round(1)

# What espbench would set next, as lines for sdkconfig.defaults:

print("\n".join(checked(5760, 10).recommended))
