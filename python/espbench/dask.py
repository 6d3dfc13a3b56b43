"""Plans over a Dask cluster: a run is a pure function of plan, lab and seed, so that it may run anywhere, and again.

    from dask.distributed import Client
    import espbench.dask
    rows = espbench.dask.run([plan_of(n) for n in range(10_000)], client=Client("tcp://scheduler:8786"))

A worker that is lost takes nothing with it: its rooms are simulated again elsewhere, with the same figures.
Needs `pip install espbench[dask]`, on the workers as well.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from . import EspbenchError, NoCell, _progress, _words
from . import metrics as _metrics
from . import run as _run

if TYPE_CHECKING:
    from distributed import Client

# Rooms of a task: a scheduler takes a millisecond or so for each task, which is as long as a small room.
BATCH = 50

# Times that a task is tried where its worker dies or a room fails.
RETRIES = 3


def simulate(jobs: Sequence[tuple[Any, int | None]], lab: Any, metrics: Sequence[str]) -> list[list[dict[str, Any]]]:
    """Simulates rooms one after the other; returns the figures of each, as rows without what is unknown."""
    return [_room(plan, seed, lab, metrics) for plan, seed in jobs]


def _room(plan: Any, seed: int | None, lab: Any, metrics: Sequence[str]) -> list[dict[str, Any]]:
    try:
        result = _run(plan, on=None if lab else "sim", lab=lab, seed=seed, threads=1, progress=False)
    except (EspbenchError, TypeError) as wrong:
        # The same comes of it anywhere: it is not tried again.
        return [{"error": str(wrong)}]
    if result.failures:
        return [{"error": it} for it in result.failures]
    rows = [it for it in result.cells.rows() if it["origin"] != "published"]
    found = [it for it in rows if not metrics or it["metric"] in metrics]
    there = ", ".join(dict.fromkeys(it["metric"] for it in rows))
    return found or [{"error": f"none of the metrics {', '.join(metrics)}; there are {there}"}]


def _jobs(plans: Iterable[Any], seeds: Iterable[int] | None) -> Iterator[tuple[Any, int | None]]:
    if seeds is None:
        for it in _words.listed(plans):
            yield it if isinstance(it, tuple) else (it, None)
        return
    every = _words.listed(seeds)
    for plan in _words.listed(plans):
        for seed in every:
            yield plan, seed


def run(
    plans: Iterable[Any] | str | os.PathLike[str] | Mapping[str, Any],
    *,
    client: Client | None = None,
    seeds: Iterable[int] | None = None,
    lab: Any = None,
    metrics: str | Iterable[str] = (),
    batch: int = BATCH,
    retries: int = RETRIES,
    progress: _progress.Progress = None,
) -> list[dict[str, Any]]:
    """Simulates each plan (with each seed) on the cluster; returns the figures as rows, in the order of the jobs.

    plans: plans as `espbench.run` takes them, or one, or pairs of a plan and a seed.
    client: the cluster; without one, the client that Dask knows, or a cluster on this machine.
    seeds: seeds with which each plan is simulated.
    metrics: metrics to keep; all where none is named.
    batch: rooms of a task.
    retries: times that a task is tried again where its worker dies.
    progress: as of `espbench.run`, with rooms done and all.

    Each row has `job`, its number from 0, beside the columns of docs/data.md. A room that cannot be simulated is a row
    with `job` and `error`.
    """
    if batch < 1:
        raise ValueError(f"batch is {batch}: a task has at least one room")
    known = _metrics()
    metrics = _words.texts(metrics)
    for it in metrics:
        if it not in known:
            meant = difflib.get_close_matches(it, known, 1)
            raise NoCell(f"there is no metric `{it}`", "", f"did you mean `{meant[0]}`?" if meant else "espbench.metrics() lists them")
    if isinstance(plans, (str, os.PathLike, Mapping)):
        plans = [plans]
    try:
        import distributed
    except ImportError as wrong:
        raise EspbenchError("there is no Dask", str(wrong), "pip install espbench[dask]") from None
    dask: Any = distributed
    if client is None:
        try:
            client = dask.get_client()
        except ValueError:
            client = dask.Client(processes=True, threads_per_worker=1, dashboard_address=None)
    all_jobs = list(_jobs(plans, seeds))
    rest = iter(all_jobs)
    parts = list(iter(lambda: list(islice(rest, batch)), []))
    shown = _progress.counter(progress, "rooms")
    cluster: Any = client
    futures = cluster.map(simulate, parts, lab=lab, metrics=tuple(metrics), retries=retries, pure=False)
    places = {future.key: at for at, future in enumerate(futures)}
    found: list[list[list[dict[str, Any]]]] = [[] for _ in parts]
    done = 0
    # A result is taken as soon as it is there: what has come is not lost with its worker.
    for future, rooms in dask.as_completed(futures, with_results=True):
        found[places[future.key]] = rooms
        done += len(rooms)
        if shown is not None:
            shown(done, len(all_jobs), f"{done} of {len(all_jobs)}")
        future.release()
    rows = (row for rooms in found for row in rooms)
    return [{"job": job, **row} for job, room in enumerate(rows) for row in room]
