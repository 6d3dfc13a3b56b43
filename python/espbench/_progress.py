"""Progress: a bar in notebooks, a line on terminals, nothing elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

#: Where progress is shown: as usual, yes, no, or by a function of what is done and all there is.
Progress = bool | Callable[[int, int], object] | None

#: Function that hears what is done, all there is, and both in words, such as "3 of 10" or "35 %".
ProgressListener = Callable[[int, int, str], object]


def in_notebook() -> bool:
    """Tells whether the program is a cell of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and "IPKernelApp" in getattr(shell, "config", {})


class _Bar:
    """Shows how many of how many are done. The first second is silent: most calls are over by then."""

    def __init__(self, what: str, notebook: bool) -> None:
        self.what = what
        self.notebook = notebook
        self.begun = time.monotonic()
        self.handle: Any = None
        self.shown = -1

    def __call__(self, done: int, total: int, told: str) -> None:
        if done == self.shown or (self.handle is None and self.shown < 0 and time.monotonic() - self.begun < 1.0):
            return
        self.shown = done
        if self.notebook:
            self._in_notebook(done, total, told)
        else:
            end = "\n" if done >= total else ""
            sys.stderr.write(f"\r{self.what}: {told}{end}")
            sys.stderr.flush()

    def _in_notebook(self, done: int, total: int, told: str) -> None:
        from IPython import display

        shown: Any = display
        bar = shown.HTML(f'<progress value="{done}" max="{total}"></progress> {self.what}: {told}')
        if self.handle is None:
            self.handle = shown.display(bar, display_id=True)
        else:
            self.handle.update(bar)


def counter(progress: Progress, what: str) -> ProgressListener | None:
    """Returns who hears how far the work is."""
    if callable(progress):
        return lambda done, total, told: progress(done, total)
    notebook = in_notebook()
    wanted = progress if progress is not None else notebook or sys.stderr.isatty()
    return _Bar(what, notebook) if wanted else None
