"""The types of flags and metrics, for checkers: a file that is made from the engine's own tables. BLESS=1 writes it."""

from __future__ import annotations

import os

import espbench
import pytest
from espbench import EspbenchError, _espbench, _words

from rooms import ROOT

FILE = ROOT / "python/espbench/_flags.py"

HEAD = '''"""Flags of the functions and metrics of results, for type checkers. Made by python/tests/test_flags.py (BLESS=1)."""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import timedelta
from typing import SupportsFloat, TypedDict

from .figures import Figures

_One = str | SupportsFloat | timedelta | os.PathLike[str]
_Value = _One | Iterable[_One] | None
'''

FUNCTIONS = {
    "RunFlags": ("run", [["run"]], {"on", "seed", "store", "threads", "lab"}),
    **{f"{it.title()}Flags": (f"predict('{it}')", [["predict", it]], set()) for it in ("fleet", "rate", "range", "frames", "compare")},
    "TuneFlags": ("tune", [["tune"]], {"check", "want"}),
    "DoctorFlags": ("doctor", [["doctor"]], set()),
}


# Short names, where one metric leads with them.
STATISTICS = ("avg", "p50", "p90", "p99", "p999", "max", "min")


def made() -> str:
    parts = [HEAD]
    for name, (function, commands, own) in FUNCTIONS.items():
        flags: dict[str, str] = {}
        for command in commands:
            for flag in _espbench.flags(command):
                flags.setdefault(flag.name.replace("-", "_"), "_Value" if flag.takes_value else "bool")
        lines = [f"    {flag}: {kind}\n" for flag, kind in sorted(flags.items()) if flag not in own | set(_words._DRAWING)]
        parts.append(f'\n\nclass {name}(TypedDict, total=False):\n    """Flags of `{function}`."""\n\n{"".join(lines)}')
    names = sorted({*espbench.metrics(), *STATISTICS})
    lines = [f"    {name}: Figures\n" for name in names]
    parts.append(f'\n\nclass MetricNames:\n    """Attributes that a result has."""\n\n{"".join(lines)}')
    return "".join(parts)


def test_the_types_are_those_of_the_command() -> None:
    text = made()
    if os.environ.get("BLESS"):
        FILE.write_text(text)
    assert FILE.read_text() == text, "BLESS=1 writes python/espbench/_flags.py"


def test_there_are_flags() -> None:
    known = {it.name: it for it in [*_espbench.flags(["predict", "fleet"]), *_espbench.flags(["run"])] if it.meaning}
    assert known["devices"].needs_value and known["set"].repeats
    assert not known["encrypt"].takes_value and not known["encrypt"].repeats
    assert known["resume"].takes_value and not known["resume"].needs_value
    assert known["output"].short == "o" and known["resume"].short is None
    assert _espbench.flags(["no", "such"]) == []
    assert _words.flags(["predict", "fleet"], {}, {"devices": [5, 10], "encrypt": True, "set": ["A=1", "B=2"]}) == [
        "--devices=5,10", "--encrypt", "--set=A=1", "--set=B=2",
    ]


@pytest.mark.parametrize("name", ["format", "quiet", "help", "devicez"])
def test_what_is_no_argument_is_refused(name: str) -> None:
    with pytest.raises(EspbenchError, match=f"predict fleet has no argument `{name}`"):
        _words.flags(["predict", "fleet"], {"format": "json"}, {name: "x"})

