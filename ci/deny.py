#!/usr/bin/env python3
"""Checks licences, banned crates and sources of all dependencies by deny.toml, without a network.

deny.toml is the configuration of cargo-deny, which takes longer to build than all of espbench and whose advisories
need a database from the network. This script checks what the lock file and the crates' manifests tell:
licences, bans and sources. Where cargo-deny is installed, `cargo deny check` checks all four.
"""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Workspaces with a lock of their own that become part of a release; firmware is checked where its crates are there.
MANIFESTS = ["Cargo.toml"]
REGISTRY = re.compile(r"^(sparse\+|registry\+)")


def tokens(expression):
    """Splits an SPDX expression; the old form `MIT/Apache-2.0` is an OR."""
    return re.findall(r"\(|\)|[^\s()]+", expression.replace("/", " OR "))


def allowed(expression, allow):
    """Tells whether an SPDX expression (annex D of SPDX 2.3) can be met by licences of a list."""
    words = tokens(expression)

    def primary():
        word = words.pop(0)
        if word == "(":
            found = either()
            if not words or words.pop(0) != ")":
                raise ValueError(expression)
            return found
        if words and words[0] == "WITH":
            words.pop(0)
            word = f"{word} WITH {words.pop(0)}"
        return word in allow

    def both():
        found = primary()
        while words and words[0] == "AND":
            words.pop(0)
            found = primary() and found
        return found

    def either():
        found = both()
        while words and words[0] == "OR":
            words.pop(0)
            found = both() or found
        return found

    try:
        found = either()
    except IndexError as error:
        raise ValueError(expression) from error
    if words:
        raise ValueError(expression)
    return found


def faults(config, packages):
    """Returns what deny.toml forbids in these packages, a line each."""
    licences = config["licenses"]
    exceptions = {it["name"]: it["allow"] for it in licences.get("exceptions", [])}
    banned = {it["name"] for it in config["bans"].get("deny", [])}
    found, used = [], set()
    for package in packages:
        name, version, source = package["name"], package["version"], package["source"]
        if source is not None and not REGISTRY.match(source):
            found.append(f"{name} {version}: its source {source} is no registry")
        if name in banned:
            found.append(f"{name} {version}: deny.toml bans it")
        if source is None:
            for it in package["dependencies"]:
                if it["req"] == "*" and not it.get("path"):
                    found.append(f"{name}: its dependency {it['name']} has no version")
        own = package["license"]
        if not own:
            found.append(f"{name} {version}: its manifest names no licence")
            continue
        try:
            if allowed(own, licences["allow"]):
                continue
            if name in exceptions and allowed(own, licences["allow"] + exceptions[name]):
                used.add(name)
                continue
        except ValueError:
            found.append(f"{name} {version}: `{own}` is no SPDX expression")
            continue
        found.append(f"{name} {version}: deny.toml does not allow {own}")
    found += [f"deny.toml has an exception for {it}, which needs none" for it in exceptions if it not in used]
    return found


def main():
    config = tomllib.loads((ROOT / "deny.toml").read_text())
    failed = False
    for manifest in MANIFESTS:
        command = ["cargo", "metadata", "--format-version", "1", "--locked", "--all-features"]
        told = subprocess.run(command, cwd=(ROOT / manifest).parent, check=True, capture_output=True)
        packages = json.loads(told.stdout)["packages"]
        found = faults(config, packages)
        for fault in found:
            print(f"{manifest}: {fault}", file=sys.stderr)
        print(f"{manifest}: {len(packages)} crates, {len(found)} faults")
        failed |= bool(found)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
