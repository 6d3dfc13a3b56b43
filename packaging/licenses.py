#!/usr/bin/env python3
"""Writes the licence texts of all crates that are linked into a package of the workspace, each text once.

    packaging/licenses.py [--package espbench-python] [--target TRIPLE] > THIRD-PARTY-LICENSES.txt

Which crates those are ci/sbom.py tells, and their texts are those that the crates were published with. Two runs give the same bytes.
"""

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "ci"))
import sbom  # noqa: E402

# LICENSE, LICENSE-MIT, COPYING.txt and the like, and no source file of such a name.
FILES = re.compile(r"^(licen[cs]e|copying|copyright|notice|unlicense)(-.*|\.md|\.txt)?$", re.IGNORECASE)
INTRODUCTION = """\
Licences of what is linked into espbench, beside its own (LICENSE-MIT or LICENSE-APACHE, at your option).

Rust's standard library is linked in: Copyright (c) The Rust Project Contributors, MIT OR Apache-2.0. SQLite, within the crate
libsqlite3-sys, is in the public domain.

"""


def texts(package):
    """Returns the licence files of a crate, also those of what it has within."""
    folder = Path(package["manifest_path"]).parent
    found = [it for it in folder.rglob("*") if FILES.match(it.name) and it.is_file()]
    return [it.read_text(errors="replace") for it in sorted(found)] or usual(package)


def usual(package):
    """Returns the text of the licence that a crate names which was published without one."""
    licence = package["license"] or ""
    if "Apache-2.0" in licence:
        return [(ROOT / "LICENSE-APACHE").read_text()]
    if "MIT" in licence:
        holders = ", ".join(package["authors"]) or f"the authors of {package['name']}"
        return [re.sub("(?m)^Copyright.*$", f"Copyright (c) {holders}", (ROOT / "LICENSE-MIT").read_text())]
    return []


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--package", default=sbom.NAME)
    arguments.add_argument("--target", default="", help="default: all that Rust has")
    asked = arguments.parse_args()

    root, edges, packages = sbom.built(sbom.metadata(asked.target), asked.package)
    crates = sorted((packages[it] for it in edges if packages[it]["source"] is not None), key=sbom.purl)
    # A text by its words: copies differ in how lines are broken. The crates that have it, and how the first of them prints it.
    shared, wrong = {}, []
    for crate in crates:
        found = texts(crate)
        if not found:
            wrong.append(f"{crate['name']} {crate['version']} ({crate['license']}) has no licence text")
        for text in found:
            names, _ = shared.setdefault(" ".join(text.split()), ([], text))
            if crate not in names:
                names.append(crate)
    if wrong:
        sys.exit("\n".join(f"licenses.py: {it}" for it in wrong))

    out = [INTRODUCTION]
    for crate in crates:
        out.append(f"{crate['name']} {crate['version']}: {crate['license']}\n")
    for names, text in shared.values():
        told = ", ".join(f"{it['name']} {it['version']}" for it in names)
        out.append(f"\n{'-' * 80}\n{told}\n\n{text.strip()}\n")
    sys.stdout.write("".join(out))


if __name__ == "__main__":
    main()
