"""Rooms over a Dask cluster on this machine, with a worker killed in the middle."""

from __future__ import annotations

import os
import signal
from typing import Any

import espbench
import pytest

distributed = pytest.importorskip("distributed")

import espbench.dask  # noqa: E402

#: Rooms; `ESPBENCH_ROOMS=10000` is what docs/python.md measures.
ROOMS = int(os.environ.get("ESPBENCH_ROOMS", "120"))

ROOM = {
    "name": "room",
    "measure": [{"kind": "esp-now", "test": "ping", "cast": "unicast", "size": 230, "count": 50, "distance": "3 m"}],
}


@pytest.fixture(scope="module")
def cluster() -> Any:
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, processes=True) as it:
        yield it


def test_rooms_come_in_order_and_are_those_of_one_machine(cluster: Any) -> None:
    with distributed.Client(cluster) as client:
        rows = espbench.dask.run([ROOM], seeds=range(1, 9), client=client, metrics=["rtt_exact_avg", "loss"], batch=3)
    assert [it["job"] for it in rows] == sorted(it["job"] for it in rows)
    assert [it["seed"] for it in rows if it["metric"] == "loss"] == list(range(1, 9))
    for seed in (1, 8):
        alone = espbench.run(ROOM, seed=seed)["rtt_exact_avg"]
        assert alone.value == next(it["value"] for it in rows if it["seed"] == seed and it["metric"] == "rtt_exact_avg")


def test_nothing_is_lost_with_a_worker(cluster: Any) -> None:
    seen: list[int] = []
    killed: list[int] = []
    with distributed.Client(cluster) as client:

        def progress(done: int, of: int) -> None:
            assert of == ROOMS
            seen.append(done)
            if done >= ROOMS // 3 and not killed:
                killed.extend(client.run(os.getpid).values())
                os.kill(killed[0], signal.SIGKILL)

        rows = espbench.dask.run([ROOM], seeds=range(1, ROOMS + 1), client=client, metrics=["rtt_exact_avg"], batch=5, progress=progress)
    assert killed and seen[-1] == ROOMS and seen == sorted(seen)
    assert [it["seed"] for it in rows] == list(range(1, ROOMS + 1))
    assert not any("error" in it for it in rows)
    last = espbench.run(ROOM, seed=ROOMS)["rtt_exact_avg"]
    assert rows[-1]["value"] == last.value


def test_a_room_that_cannot_be_is_an_error_of_its_own(cluster: Any) -> None:
    broken = {"name": "a", "measure": [{"kind": "no-such"}]}
    with distributed.Client(cluster) as client:
        # One plan is as good as a list of one.
        (row,) = espbench.dask.run(broken, client=client)
        assert row["job"] == 0 and "no-such" in row["error"]
        rows = espbench.dask.run([broken, ROOM], client=client, metrics=["loss"])
        assert [("error" in it, it["job"]) for it in rows] == [(True, 0), (False, 1)]
        (none,) = espbench.dask.run([ROOM], client=client, metrics=["throughput"])
        assert "none of the metrics throughput; there are " in none["error"]
    with pytest.raises(espbench.NoCell, match="did you mean `rtt_exact_avg`"):
        espbench.dask.run([ROOM], metrics=["rtt_exact_av"])
    with pytest.raises(ValueError, match="batch is 0"):
        espbench.dask.run([ROOM], batch=0)
