"""The file of baselines: figures by the name of what measures them, written by many processes at a time."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ._errors import EspbenchError

# What the file begins with: a name, and the number of its form.
_NAME, _FORM = "espbench-baselines/", 2
SCHEMA = f"{_NAME}{_FORM}"


class Baselines:
    """The file. What one process writes is not lost to another: each update reads it anew, alone."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def get(self, name: str) -> list[dict[str, Any]] | None:
        """Returns the figures of a baseline."""
        found = self._read()["baselines"].get(name)
        return None if found is None else list(found)

    def put(self, name: str, figures: list[dict[str, Any]]) -> None:
        """Writes a baseline: a line for each figure, so that differences can be read."""
        with self._alone():
            known = self._read(to_write=True)
            known["baselines"][name] = figures
            self._write(known["baselines"])

    def _read(self, to_write: bool = False) -> dict[str, Any]:
        empty: dict[str, Any] = {"schema": SCHEMA, "baselines": {}}
        try:
            known = json.loads(self.path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return empty
        except OSError as wrong:
            raise _not_writable(self.path, wrong) from None
        except ValueError as wrong:
            raise EspbenchError(f"{self.path} is no file of baselines", str(wrong), "restore it, or remove it") from None
        schema = known.get("schema") if isinstance(known, dict) else None
        if schema == SCHEMA and isinstance(known.get("baselines"), dict):
            return dict(known)
        form = str(schema).removeprefix(_NAME) if str(schema).startswith(_NAME) else ""
        if not form.isdecimal() or int(form) == _FORM:
            raise EspbenchError(f"{self.path} is no file of baselines", f"it is not of {SCHEMA}", "restore it, or remove it")
        is_newer = int(form) > _FORM
        if to_write and not is_newer:
            return empty
        raise EspbenchError(
            f"{self.path} has the baselines of {'a newer' if is_newer else 'an older'} espbench",
            f"it is of {schema}, and this one reads {SCHEMA}",
            "install that espbench, or name another file: -o espbench_baselines=FILE"
            if is_newer
            else "run pytest --espbench-update once, of all tests",
        )

    def _write(self, baselines: dict[str, list[dict[str, Any]]]) -> None:
        lines = []
        for key, rows in sorted(baselines.items()):
            inner = ",\n".join("   " + json.dumps(row) for row in rows)
            lines.append(f"  {json.dumps(key)}: [\n{inner}\n  ]")
        text = '{"schema": %s, "baselines": {\n%s\n}}\n' % (json.dumps(SCHEMA), ",\n".join(lines))
        handle, beside = tempfile.mkstemp(prefix=self.path.name, suffix=".part", dir=self.path.parent)
        try:
            with open(handle, "w", encoding="utf-8") as file:
                file.write(text)
            # A temporary file is for its user alone, and this one is kept with the project.
            os.chmod(beside, self.path.stat().st_mode & 0o777 if self.path.exists() else 0o644)
            os.replace(beside, self.path)
        except BaseException:
            os.unlink(beside)
            raise

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keeps other processes out, by a lock of the system: the end of a process releases it, whatever happens."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            handle = _locked(self.path)
        except OSError as wrong:
            raise _not_writable(self.path, wrong) from None
        try:
            yield
        finally:
            os.close(handle)


def _not_writable(path: Path, wrong: OSError) -> EspbenchError:
    """Returns the error of a path that can be no file of baselines."""
    return EspbenchError(f"{path} can be no file of baselines", str(wrong), "name another one: -o espbench_baselines=FILE")


if sys.platform == "win32":
    import msvcrt
    import time

    def _locked(path: Path) -> int:
        handle = os.open(path.with_name(f".{path.name}.lock"), os.O_RDWR | os.O_CREAT)
        while True:
            try:
                # Gives up after ten seconds, while a hundred writers may wait.
                msvcrt.locking(handle, msvcrt.LK_LOCK, 1)
                return handle
            except OSError:
                time.sleep(0.05)
else:
    import fcntl

    def _locked(path: Path) -> int:
        # The folder, since the file is replaced, and a further one would stay.
        handle = os.open(path.parent, os.O_RDONLY)
        fcntl.flock(handle, fcntl.LOCK_EX)
        return handle
