#!/usr/bin/env python3
"""Checks what cargo has packed of the crates, as a reader of crates.io would see it: packaging/crates.py FOLDER"""

import sys
import tarfile
import tomllib
from pathlib import Path

# What crates.io shows of a crate, and what the licences ask for.
KEYS = ("authors", "categories", "description", "documentation", "homepage", "keywords", "license", "readme", "repository", "rust-version")
FILES = ("Cargo.lock", "Cargo.toml", "LICENSE-APACHE", "LICENSE-MIT", "README.md")
# crates.io refuses more.
LONGEST = 10 * 1024 * 1024


def faults(crate):
    """Returns what a packed crate lacks, a line each."""
    with tarfile.open(crate) as tar:
        members = {it.name.split("/", 1)[1]: it for it in tar.getmembers()}
        own = tomllib.load(tar.extractfile(members["Cargo.toml"]))["package"]
        for file in FILES:
            if file not in members or not members[file].isfile() or members[file].size < 100:
                yield f"it has no {file}"
    yield from (f"its manifest has no {key}" for key in KEYS if not own.get(key))
    if crate.stat().st_size > LONGEST:
        yield f"it has {crate.stat().st_size} bytes, and {LONGEST} are allowed"


def main():
    crates = sorted(Path(sys.argv[1]).glob("*.crate"))
    wrong = [f"{it.name}: {fault}" for it in crates for fault in faults(it)]
    for line in wrong:
        print(line, file=sys.stderr)
    print(f"{len(crates)} crates are packed, {sum(it.stat().st_size for it in crates)} bytes")
    return 1 if wrong or not crates else 0


if __name__ == "__main__":
    sys.exit(main())
