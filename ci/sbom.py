#!/usr/bin/env python3
"""Writes the bill of materials of the command, as CycloneDX 1.5 in JSON: every crate that is built into it.

    ci/sbom.py [TARGET] > espbench.cdx.json

The crates are cargo's own view for that target (without build and test dependencies), their SHA-256 those of
Cargo.lock, their licences those of their manifests. Two runs give the same bytes; SOURCE_DATE_EPOCH is the time in it.
"""

import datetime
import json
import os
import subprocess
import sys
import tomllib
import uuid
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAME = "espbench"


def metadata(target):
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--features", "full"]
    if target:
        command += ["--filter-platform", target]
    return json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout)


def built(told, name=NAME):
    """Returns the packages that are linked into the command, or another package of the workspace, with what each depends on."""
    nodes = {it["id"]: it for it in told["resolve"]["nodes"]}
    packages = {it["id"]: it for it in told["packages"]}
    macros = {
        it["id"] for it in told["packages"] if any("proc-macro" in target["kind"] for target in it["targets"])
    }
    root = next(it["id"] for it in told["packages"] if it["name"] == name and it["source"] is None)

    def needs(package):
        for dep in nodes[package]["deps"]:
            normal = any(kind["kind"] is None for kind in dep["dep_kinds"])
            # What runs in the compiler is no part of what it makes.
            if normal and dep["pkg"] not in macros:
                yield dep["pkg"]

    edges, todo = {}, [root]
    while todo:
        package = todo.pop()
        if package not in edges:
            edges[package] = sorted(set(needs(package)))
            todo += edges[package]
    return root, edges, packages


def purl(package):
    return f"pkg:cargo/{package['name']}@{package['version'].replace('+', '%2B')}"


def component(package, kind, checksums):
    told = {
        "type": kind,
        "bom-ref": purl(package),
        "name": package["name"],
        "version": package["version"],
        "purl": purl(package),
    }
    if package["description"]:
        told["description"] = " ".join(package["description"].split())
    if package["license"]:
        told["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    checksum = checksums.get((package["name"], package["version"]))
    if checksum:
        told["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    return told


def main():
    target = sys.argv[1] if len(sys.argv) > 1 else ""
    root, edges, packages = built(metadata(target))
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text())
    checksums = {(it["name"], it["version"]): it.get("checksum") for it in lock["package"]}
    parts = sorted((packages[it] for it in edges if it != root), key=purl)
    when = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), datetime.timezone.utc)
    document = {
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": when.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": component(packages[root], "application", checksums),
        },
        "components": [component(it, "library", checksums) for it in parts],
        "dependencies": [
            {"ref": purl(packages[it]), "dependsOn": sorted({purl(packages[on]) for on in edges[it]})}
            for it in sorted(edges, key=lambda it: purl(packages[it]))
        ],
    }
    # A name of its own that follows from the contents.
    contents = json.dumps(document, sort_keys=True)
    document["serialNumber"] = f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, contents)}"
    json.dump(document, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
