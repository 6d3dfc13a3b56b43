#!/usr/bin/env bash
# Makes what a release has, of the binary that the tests have built, installs each part into a root of its own, and runs it.
set -euo pipefail
cd "$(dirname "$0")/.."

binary=$(realpath "${1:-target/debug/espbench}")
[ -x "$binary" ] || { echo "packages.sh: $binary is not built: cargo build -p espbench --features full" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "packages.sh: $*" >&2; exit 1; }

# Fast: what is tested is not how small a file becomes.
export GZIP_LEVEL=1
# Once without what a debug binary has of symbols: the rest takes as long as its bytes.
cp "$binary" "$work/espbench" && strip "$work/espbench"
ssh-keygen -q -t ed25519 -N '' -C release@espbench -f "$work/key"
packaging/release.sh --binary "$work/espbench" --key "$work/key" "$work/one" >/dev/null
packaging/release.sh --binary "$work/espbench" "$work/two" >/dev/null
cmp "$work/one/SHA256SUMS" "$work/two/SHA256SUMS" || fail "the same binary gives other bytes"

# Checksums and signature; a file that was changed is found.
echo "release@espbench $(cat "$work/key.pub")" >"$work/allowed_signers"
verify() {
    ssh-keygen -q -Y verify -f "$work/allowed_signers" -I release@espbench -n espbench-release \
        -s "$work/one/SHA256SUMS.sig" <"$1" >/dev/null 2>&1
}
(cd "$work/one" && sha256sum --quiet --check SHA256SUMS)
verify "$work/one/SHA256SUMS" || fail "the signature does not hold"
sed 's/^./0/' "$work/one/SHA256SUMS" >"$work/changed"
! verify "$work/changed" || fail "a changed list of checksums passes"

# The archive.
mkdir "$work/archive"
tar xzf "$work"/one/espbench-*.tar.gz -C "$work/archive"
tree=$(echo "$work"/archive/espbench-*)
"$tree/espbench" lab list >/dev/null
for file in README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE THIRD-PARTY-LICENSES.txt espbench.cdx.json man/espbench-run.1 completions/espbench.zsh; do
    [ -s "$tree/$file" ] || fail "the archive has no $file"
done
bash -n "$tree/completions/espbench.bash"
ci/page_served.py "$tree/espbench" || fail "the archive serves no page"
# Every crate of the bill of materials has its licence's text.
python3 - "$tree" <<'PYTHON'
import json, sys

told = open(f"{sys.argv[1]}/THIRD-PARTY-LICENSES.txt").read()
texts = told.split("-" * 80, 1)[1]
for crate in json.load(open(f"{sys.argv[1]}/espbench.cdx.json"))["components"]:
    # The project's own have the archive's.
    if "hashes" in crate:
        assert f"{crate['name']} {crate['version']}" in texts, crate
PYTHON

# The formula: its address is that of the archive among the repository's releases, its checksum the archive's.
homepage=$(sed -n 's/^homepage = "\(.*\)"$/\1/p' Cargo.toml)
archive=$(basename "$work"/one/espbench-*.tar.gz)
version=$("$binary" --version | cut -d' ' -f2)
grep -qxF "  url \"$homepage/releases/download/v$version/$archive\"" "$work/one/espbench.rb" || fail "the formula's address"
grep -qxF "  sha256 \"$(sha256sum <"$work/one/$archive" | cut -d' ' -f1)\"" "$work/one/espbench.rb" || fail "the formula's checksum"
! grep -q @ "$work/one/espbench.rb" || fail "the formula has something left of its template"

# The Debian package: dpkg installs it into a root, and removes it again.
mkdir -p "$work/root/var/lib/dpkg/info" "$work/root/var/lib/dpkg/updates"
: >"$work/root/var/lib/dpkg/status"
dpkg=(dpkg --root="$work/root" --force-not-root --force-depends --force-script-chrootless --log=/dev/null)
"${dpkg[@]}" --install "$work"/one/espbench_*.deb >/dev/null 2>&1
"$work/root/usr/bin/espbench" --version
ci/page_served.py "$work/root/usr/bin/espbench" || fail "the package serves no page"
[ -s "$work/root/usr/share/man/man1/espbench.1.gz" ] || fail "the package has no manual page"
(cd "$work/root" && md5sum --quiet --check var/lib/dpkg/info/espbench.md5sums)
"${dpkg[@]}" --remove espbench >/dev/null 2>&1
left=$(find "$work/root" -name '*espbench*' ! -path '*/var/lib/dpkg/*')
[ -z "$left" ] || fail "the package leaves $left"

# The image: its layer by the digests of its own index, run in a root that has nothing else.
mkdir "$work/image" "$work/layer"
tar xf "$work"/one/espbench-*.oci.tar -C "$work/image"
python3 - "$work/image" "$work/layer" <<'PYTHON'
import gzip, hashlib, io, json, sys, tarfile
from pathlib import Path

image, root = Path(sys.argv[1]), sys.argv[2]


def blob(entry):
    data = (image / "blobs" / entry["digest"].replace(":", "/")).read_bytes()
    assert len(data) == entry["size"] and "sha256:" + hashlib.sha256(data).hexdigest() == entry["digest"], entry
    return data


assert json.loads((image / "oci-layout").read_text()) == {"imageLayoutVersion": "1.0.0"}
manifest = json.loads(blob(json.loads((image / "index.json").read_text())["manifests"][0]))
config = json.loads(blob(manifest["config"]))
for entry, plain in zip(manifest["layers"], config["rootfs"]["diff_ids"], strict=True):
    data = gzip.decompress(blob(entry))
    assert "sha256:" + hashlib.sha256(data).hexdigest() == plain
    tarfile.open(fileobj=io.BytesIO(data)).extractall(root, filter="fully_trusted")
assert config["config"]["Entrypoint"] == ["/usr/bin/espbench"]
PYTHON
if [ "$(id -u)" = 0 ]; then
    chroot --userspec=65532:65532 "$work/layer" /usr/bin/env -V >/dev/null 2>&1 && fail "the image has more than the command"
    HOME=/data chroot --userspec=65532:65532 "$work/layer" /usr/bin/espbench run crypto-time --on sim -q --format csv \
        --store /data/runs.sqlite | grep simulated >/dev/null || fail "the image does not run"
    ci/page_served.py chroot --userspec=65532:65532 "$work/layer" /usr/bin/espbench || fail "the image serves no page"
fi

# The bill of materials, by CycloneDX's own schema.
if target/python/bin/python -c 'import cyclonedx.validation.json' 2>/dev/null; then
    target/python/bin/python - "$tree/espbench.cdx.json" <<'PYTHON'
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

wrong = JsonStrictValidator(SchemaVersion.V1_5).validate_str(open(sys.argv[1]).read())
assert wrong is None, wrong
PYTHON
elif [ "${CI:-}" = true ]; then
    fail "cyclonedx-python-lib is missing (ci/python.txt)"
fi
grep -q '"name": "rusqlite"' "$tree/espbench.cdx.json" || fail "the bill of materials is not whole"
! grep -q '"name": "jsonschema"' "$tree/espbench.cdx.json" || fail "the bill of materials has what only tests use"
echo "packages: archive, deb, image, checksums, signature and bill of materials hold"
