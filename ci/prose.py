#!/usr/bin/env python3
"""Checks how doc comments open: `ci/prose.py` prints a table of the crates, `ci/prose.py PATH` each offender.

A doc comment must not open with one of OPENERS, which refer to something that the reader has not seen
yet. The comment of a function opens with a verb in the third person ("Returns", "Sends"). Tests are
named by what they show, so their comments only have to keep off OPENERS. The table's last column is the
share of functions whose comment opens with a verb.
"""

import re
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OPENERS = ("What", "Its", "It", "The same", "This", "That", "Both")
# Offenders that a crate may have, in percent of its doc comments.
LIMIT = 0.0
# Crates with another limit for a time. These limits may only go down.
LATER = {}

OPENER = re.compile(r"(?:%s)\b" % "|".join(OPENERS))
DOC = re.compile(r"\s*//([/!])(?!/) ?(.*)$")
ATTRIBUTE = re.compile(r"\s*#!?\[")
FUNCTION = re.compile(
    r"\s*(?:pub(?:\([^)]*\))?\s+)?(?:default\s+)?(?:const\s+)?(?:async\s+)?(?:unsafe\s+)?"
    r"(?:extern\s+\"[^\"]*\"\s+)?fn\s+\w+"
)
VERB = re.compile(r"(?:Also |Never |Only )?[A-Z][a-z-]+s\b")
# Words that end like a verb and are none, or none that a comment needs.
NOUNS = set(
    "Address Addresses As Axes Bits Bytes Cells Charts Columns Constants Counters Devices Digits Events Facts"
    " Fields Frames Has Is Keys Less Lines Messages Microseconds Milliseconds Modes Nanoseconds Octets Options"
    " Packets Probes Programs Rows Seconds Sections Series Settings Sockets Tables Texts This Thus Values"
    " Variants Was Whose Widths Words".split()
)


def item_after(lines, at):
    """Returns the line of the item that a doc comment before `at` is of, and the attributes between."""
    attributes, depth = [], 0
    while at < len(lines) and (depth > 0 or ATTRIBUTE.match(lines[at])):
        depth += lines[at].count("[") - lines[at].count("]")
        attributes.append(lines[at].strip())
        at += 1
    return (lines[at] if at < len(lines) else ""), attributes


def comments(path):
    """Yields line number, first line, and whether it is of a function, for each doc comment of a file."""
    lines = path.read_text(encoding="utf-8").split("\n")
    at = 0
    while at < len(lines):
        found = DOC.match(lines[at])
        if not found:
            at += 1
            continue
        first, mark = at, found.group(1)
        while at < len(lines) and (more := DOC.match(lines[at])) and more.group(1) == mark:
            at += 1
        item, attributes = item_after(lines, at)
        is_function = mark == "/" and FUNCTION.match(item) and "#[test]" not in attributes
        yield first + 1, found.group(2), bool(is_function)


def opens_with_verb(text):
    """Returns whether a comment opens with a verb in the third person."""
    return bool(VERB.match(text)) and text.split(" ")[0].rstrip(",.:;") not in NOUNS


def offends(text, is_function):
    """Returns whether a comment opens as it should not."""
    return bool(OPENER.match(text)) or (is_function and not opens_with_verb(text))


def percent(part, whole):
    """Returns `part` of `whole` in percent; 0 of nothing."""
    return 100.0 * part / max(whole, 1)


def main():
    """Prints the table, or the offenders below a path; exits with 1 where a crate has too many."""
    only = sys.argv[1] if len(sys.argv) > 1 else None
    count, bad, functions, verbs = Counter(), Counter(), Counter(), Counter()
    for path in sorted([*(ROOT / "crates").rglob("*.rs"), *(ROOT / "fuzz").rglob("*.rs")]):
        name = str(path.relative_to(ROOT))
        parts = name.split("/")
        crate = "/".join(parts[: 1 if parts[0] == "fuzz" else 2])
        if name.startswith(f"{crate}/target/") or (only and not name.startswith(only)):
            continue
        for line, text, is_function in comments(path):
            count[crate] += 1
            functions[crate] += is_function
            verbs[crate] += is_function and opens_with_verb(text)
            if offends(text, is_function):
                bad[crate] += 1
                if only:
                    print(f"{name}:{line}: {text}")
    if only:
        return 0
    failed = False
    for crate in sorted(count):
        share, limit = percent(bad[crate], count[crate]), LATER.get(crate, LIMIT)
        failed |= share > limit
        verb = percent(verbs[crate], functions[crate])
        print(
            f"{crate:18} {bad[crate]:4} of {count[crate]:5}  {share:5.1f} %, at most {limit} %;"
            f" functions with a verb {verb:5.1f} %"
        )
    share = percent(sum(bad.values()), sum(count.values()))
    verb = percent(sum(verbs.values()), sum(functions.values()))
    print(
        f"{'all':18} {sum(bad.values()):4} of {sum(count.values()):5}  {share:5.1f} %;"
        f" functions with a verb {verb:5.1f} %"
    )
    return int(failed)


sys.exit(main())
