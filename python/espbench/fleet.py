"""Simulated boards in real time, each with its console on a pseudo-terminal (docs/live.md).

    with espbench.fleet.Fleet("two-boards") as fleet:
        espbench.run("round-trip", on=fleet.target)
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from types import TracebackType
from typing import IO, Any

from . import _words
from ._errors import EspbenchError


class Fleet:
    """A process of `espbench live --pty`; `ports` are the paths of its consoles, the initiator's first."""

    def __init__(self, lab: str | os.PathLike[str] = "two-boards", **flags: Any) -> None:
        words = ["live", *_words.flags(["live"], {"lab": lab, "format": "json", "pty": True, "quiet": True}, flags)]
        self.devices: list[dict[str, Any]] = []
        #: Counts at the end, once it has ended: `valid` tells whether the lab kept up with the clock.
        self.end: dict[str, Any] | None = None
        command = [sys.executable, "-m", "espbench", *words]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for line in self._stdout:
            event = json.loads(line)
            if event["type"] == "device":
                self.devices.append(event)
            elif event["type"] == "ready":
                return
        _, said = self._process.communicate()
        raise EspbenchError("the fleet did not start", said.strip(), "espbench live --help")

    @property
    def _stdout(self) -> IO[str]:
        assert self._process.stdout is not None
        return self._process.stdout

    @property
    def ports(self) -> list[str]:
        """Paths of the consoles."""
        return [str(it["port"]) for it in self.devices]

    @property
    def target(self) -> str:
        """The boards as a target of `espbench.run(on=…)`."""
        return "serial:" + ",".join(self.ports)

    def close(self) -> None:
        """Ends the fleet."""
        if self._process.poll() is None:
            self._process.terminate()
        out, _ = self._process.communicate(timeout=60)
        ends = [json.loads(line) for line in out.splitlines() if '"end"' in line]
        self.end = ends[-1] if ends else self.end

    def __enter__(self) -> Fleet:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()
