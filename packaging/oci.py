#!/usr/bin/env python3
"""Writes an OCI image of the command, without Docker: HOMEPAGE=ADDRESS packaging/oci.py TREE FILE.oci.tar

The image has the command, the page, the C library's files that it needs, and the system's certificates, and nothing else: no shell.
It is an archive of an image layout (OCI image specification 1.1), which podman, skopeo, docker load and containerd read.
The same tree gives the same bytes.
"""

import gzip
import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
from datetime import datetime, timezone
from pathlib import Path

EPOCH = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


def libraries(binary):
    """Returns the files that the loader maps for a binary, each where the loader looks for it."""
    told = subprocess.run(["ldd", binary], check=True, capture_output=True, text=True).stdout
    for line in told.splitlines():
        words = line.split()
        paths = [it for it in words if it.startswith("/")]
        if paths:
            yield paths[0]


def add(tar, name, data, mode):
    entry = tarfile.TarInfo(name.lstrip("/"))
    entry.size, entry.mode, entry.mtime = len(data), mode, EPOCH
    tar.addfile(entry, io.BytesIO(data))


def folder(tar, name, mode=0o755):
    entry = tarfile.TarInfo(name.strip("/"))
    entry.type, entry.mode, entry.mtime = tarfile.DIRTYPE, mode, EPOCH
    tar.addfile(entry)


def layer(tree):
    files = {"/usr/bin/espbench": (tree / "espbench", 0o755)}
    for path in libraries(tree / "espbench"):
        files[path] = (Path(path), 0o755)
    if CERTIFICATES.exists():
        files[str(CERTIFICATES)] = (CERTIFICATES, 0o644)
    for name in ("LICENSE-MIT", "LICENSE-APACHE", "THIRD-PARTY-LICENSES.txt", "espbench.cdx.json"):
        files[f"/usr/share/doc/espbench/{name}"] = (tree / name, 0o644)
    for path in (tree / "share").rglob("*"):
        if path.is_file():
            files[f"/usr/{path.relative_to(tree)}"] = (path, 0o644)
    parents = {str(up) for it in files for up in Path(it).parents if str(up) != "/"}
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name in sorted(parents):
            folder(tar, name)
        # Where the store is by default, for whichever user runs it.
        folder(tar, "/data", 0o1777)
        folder(tar, "/tmp", 0o1777)
        for name, (source, mode) in sorted(files.items()):
            add(tar, name, source.read_bytes(), mode)
    return out.getvalue()


def digest(data):
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def blob(blobs, data, media):
    blobs[digest(data)] = data
    return {"mediaType": media, "digest": digest(data), "size": len(data)}


def main():
    tree, out = Path(sys.argv[1]), Path(sys.argv[2])
    machine = os.uname().machine
    if machine not in ARCHITECTURES:
        sys.exit(f"oci.py: no name of OCI's for {machine}")
    version = subprocess.run([tree / "espbench", "--version"], check=True, capture_output=True, text=True)
    version = version.stdout.split()[1]
    when = datetime.fromtimestamp(EPOCH, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    plain = layer(tree)
    packed = gzip.compress(plain, int(os.environ.get("GZIP_LEVEL", "9")), mtime=0)
    blobs = {}
    config = {
        "created": when,
        "architecture": ARCHITECTURES[machine],
        "os": "linux",
        "config": {
            "User": "65532:65532",
            "Env": ["PATH=/usr/bin", "ESPBENCH_STORE=/data/runs.sqlite", "HOME=/data"],
            "Entrypoint": ["/usr/bin/espbench"],
            "Cmd": ["--help"],
            "WorkingDir": "/data",
            "Volumes": {"/data": {}},
            "Labels": {
                "org.opencontainers.image.title": "espbench",
                "org.opencontainers.image.version": version,
                "org.opencontainers.image.licenses": "MIT OR Apache-2.0",
                "org.opencontainers.image.source": os.environ["HOMEPAGE"],
            },
        },
        "rootfs": {"type": "layers", "diff_ids": [digest(plain)]},
        "history": [{"created": when, "created_by": "packaging/oci.py"}],
    }
    kind = "application/vnd.oci.image"
    manifest = {
        "schemaVersion": 2,
        "mediaType": f"{kind}.manifest.v1+json",
        "config": blob(blobs, json.dumps(config, sort_keys=True).encode(), f"{kind}.config.v1+json"),
        "layers": [blob(blobs, packed, f"{kind}.layer.v1.tar+gzip")],
    }
    entry = blob(blobs, json.dumps(manifest, sort_keys=True).encode(), f"{kind}.manifest.v1+json")
    entry["annotations"] = {"org.opencontainers.image.ref.name": version}
    entry["platform"] = {"architecture": ARCHITECTURES[machine], "os": "linux"}
    index = {"schemaVersion": 2, "mediaType": f"{kind}.index.v1+json", "manifests": [entry]}
    with tarfile.open(out, "w", format=tarfile.USTAR_FORMAT) as tar:
        add(tar, "oci-layout", b'{"imageLayoutVersion":"1.0.0"}', 0o644)
        add(tar, "index.json", json.dumps(index, sort_keys=True).encode(), 0o644)
        folder(tar, "blobs")
        folder(tar, "blobs/sha256")
        for name, data in sorted(blobs.items()):
            add(tar, f"blobs/{name.replace(':', '/')}", data, 0o644)


if __name__ == "__main__":
    main()
