"""The exception of everything that espbench refuses or cannot do."""

from __future__ import annotations


class EspbenchError(Exception):
    """An error in up to three parts, each a text: what failed, why, and what to do."""

    def __init__(self, what: str, why: str = "", remedy: str = "") -> None:
        super().__init__(what, why, remedy)
        self.what = what
        self.why = why
        self.remedy = remedy

    def __str__(self) -> str:
        parts = [("", self.what), ("why: ", self.why), ("do: ", self.remedy)]
        return "\n  ".join(head + part for head, part in parts if part)


class NoCell(EspbenchError, LookupError):
    """A result has no figure of that name, or none with these settings."""


class WrongUnit(EspbenchError, ValueError):
    """A quantity has no unit, an unknown one, or one of another dimension."""


class Inconclusive(EspbenchError, AssertionError):
    """A comparison was asked whether it is true, and the intervals show neither that it is nor that it is not, for each figure."""
