"""The command `espbench` of the wheel: the same code as the binary that cargo installs, in the extension module."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from . import _espbench


def main() -> int:
    """Runs the command with the words of the command line; returns the exit status."""
    # The command has handlers of its own where it needs them. Python's would wait for the end of the command.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # Where `espbench serve` finds the page of the wheel: the command of this process is Python, whose folders are not the package's.
    page = Path(__file__).with_name("page")
    if page.is_dir():
        os.environ.setdefault("ESPBENCH_PAGE", str(page))
    return _espbench.main(["espbench", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
