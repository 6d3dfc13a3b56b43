#!/usr/bin/env python3
"""Rooms over a Dask cluster of this machine, one worker of which is killed in the middle. Prints the time, the memory
of all processes, and a hash of the rows, which is the same on any cluster; fails where a room is lost or differs.

    target/wheel-env/bin/python bench/cluster.py [--rooms 10000] [--workers 2] [--no-kill] [--least]
"""

import argparse
import hashlib
import json
import statistics
import threading
import time

import distributed
import espbench
import espbench.dask
import psutil

ROOM = {
    "name": "room",
    "measure": [{"kind": "esp-now", "test": "ping", "cast": "unicast", "size": 230, "count": 50, "distance": "3 m"}],
}
METRIC = "rtt_exact_avg"


class Memory(threading.Thread):
    """The memory of this process and those that it started, looked at five times a second."""

    def __init__(self):
        super().__init__(daemon=True)
        self.stop = threading.Event()
        self.most_in_all = 0
        self.most = {}

    def run(self):
        while not self.stop.wait(0.2):
            of = {}
            for process in [psutil.Process(), *psutil.Process().children(recursive=True)]:
                try:
                    of[process.pid] = process.memory_info().rss
                except psutil.NoSuchProcess:
                    continue
            self.most_in_all = max(self.most_in_all, sum(of.values()))
            self.most = {pid: max(self.most.get(pid, 0), of.get(pid, 0)) for pid in self.most | of}


def pids(client):
    """Returns the processes of the workers."""
    return sorted(it["pid"] for it in client.run(lambda: {"pid": __import__("os").getpid()}).values())


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rooms", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--no-kill", action="store_true", help="let all workers live")
    parser.add_argument("--least", action="store_true", help="the least counts: whether all of it runs")
    args = parser.parse_args()
    again = 100
    if args.least:
        args.rooms, again = 200, 5
    seeds = range(1, args.rooms + 1)
    killed = []
    said = 0.0
    memory = Memory()
    memory.start()

    cluster = distributed.LocalCluster(n_workers=args.workers, threads_per_worker=1, dashboard_address=None, processes=True)
    with cluster, distributed.Client(cluster) as client:
        workers = set(pids(client))
        begun = time.perf_counter()

        def progress(done, of):
            nonlocal said
            now = time.perf_counter() - begun
            if now - said >= 1 or done == of:
                said = now
                print(f"{now:6.1f} s: {done} of {of} rooms", flush=True)
            if not args.no_kill and not killed and done >= of // 2:
                killed.append(pids(client)[0])
                psutil.Process(killed[0]).kill()
                print(f"{now:6.1f} s: worker {killed[0]} killed", flush=True)

        rows = espbench.dask.run([ROOM], seeds=seeds, client=client, metrics=[METRIC], progress=progress)
        took = time.perf_counter() - begun
        workers |= set(pids(client))
    memory.stop.set()
    memory.join()

    # Every room once, in order, and as it is on this machine alone.
    assert [it["seed"] for it in rows] == list(seeds), "rooms are lost"
    assert not any("error" in it for it in rows), "rooms failed"
    assert args.no_kill or killed, "no worker was killed: there are too few rooms"
    for at in range(0, args.rooms, max(args.rooms // again, 1)):
        alone = espbench.run(ROOM, seed=seeds[at], threads=1, progress=False)[METRIC]
        assert rows[at]["value"] == alone.value, f"room {at} differs"
    times = []
    for seed in seeds[: again // 2]:
        at = time.perf_counter()
        espbench.run(ROOM, seed=seed, threads=1, progress=False)
        times.append(time.perf_counter() - at)
    mib = 1 << 20
    print(f"{args.rooms} rooms on {args.workers} workers{', one killed' if killed else ''}: {took:.1f} s, {args.rooms / took:.0f} rooms/s")
    print(f"one room alone: {1e3 * statistics.median(times):.2f} ms")
    print(f"memory: {memory.most_in_all / mib:.0f} MiB in all, {max(memory.most.get(it, 0) for it in workers) / mib:.0f} MiB a worker at most")
    print(f"rows: {len(rows)}, SHA-256 {hashlib.sha256(json.dumps(rows, sort_keys=True).encode()).hexdigest()[:16]}")


if __name__ == "__main__":
    main()
