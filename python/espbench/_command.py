"""The command `espbench` of the wheel: the same code as the binary that cargo installs, in the extension module."""

from __future__ import annotations

import signal
import sys

from . import _espbench


def main() -> int:
    """Runs the command with the words of the command line; returns the exit status."""
    # The command has handlers of its own where it needs them. Python's would wait for the end of the command.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _espbench.main(["espbench", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
