#!/usr/bin/env bash
# Makes what a release has, of a binary that is built: archive, Debian package, image, bill of materials, checksums, and with a
# key their signature. The same binary gives the same bytes, with SOURCE_DATE_EPOCH as the time in them.
#
#     cargo build --profile dist --locked -p espbench --features full && ci/page.sh
#     packaging/release.sh [--binary FILE] [--target TRIPLE] [--key SSH_KEY] FOLDER
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)

binary=$root/target/dist/espbench
target=$(rustc -vV | sed -n 's/^host: //p')
key=
out=
while [ $# -gt 0 ]; do
    case $1 in
        --binary) binary=$2; shift 2 ;;
        --target) target=$2; shift 2 ;;
        --key) key=$2; shift 2 ;;
        -*) echo "release.sh: no flag $1" >&2; exit 2 ;;
        *) out=$1; shift ;;
    esac
done
[ -n "$out" ] || { echo "release.sh: name the folder of the release" >&2; exit 2; }
[ -x "$binary" ] || { echo "release.sh: $binary is not there: cargo build --profile dist --locked -p espbench --features full" >&2; exit 2; }
page=$root/target/share/espbench/page
[ -s "$page/index.html" ] || { echo "release.sh: the page is not built: ci/page.sh" >&2; exit 2; }

version=$("$binary" --version)
version=${version#* }
: "${SOURCE_DATE_EPOCH:=$(git -C "$root" log -1 --format=%ct 2>/dev/null || echo 0)}"
export SOURCE_DATE_EPOCH
name=espbench-$version-$target
# The project's address is in Cargo.toml, and nowhere else of what a release is made of.
HOMEPAGE=$(sed -n 's/^homepage = "\(.*\)"$/\1/p' "$root/Cargo.toml")
export HOMEPAGE
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What stands in the archive, and what the Debian package is made of.
tree=$work/$name
mkdir -p "$tree/completions" "$tree/man"
install -m 755 "$binary" "$tree/espbench"
# A debug build has symbols that nobody reads in a release.
if command -v strip >/dev/null; then strip "$tree/espbench" 2>/dev/null || true; fi
for shell in bash zsh fish powershell elvish; do
    "$binary" completions "$shell" >"$tree/completions/espbench.$shell"
done
"$binary" man "$tree/man"
cp "$root/README.md" "$root/CHANGELOG.md" "$root/LICENSE-MIT" "$root/LICENSE-APACHE" "$tree/"
(cd "$root" && ci/sbom.py "$target") >"$tree/espbench.cdx.json"
"$root/packaging/licenses.py" --target "$target" >"$tree/THIRD-PARTY-LICENSES.txt"
# The page, where the command looks for it.
mkdir -p "$tree/share/espbench"
cp -r "$page" "$tree/share/espbench/page"
# Images of the firmware, where they were built (ci/firmware.sh).
for image in "$root"/target/firmware/*.bin; do
    [ ! -f "$image" ] || install -Dm 644 "$image" "$tree/firmware/$(basename "$image")"
done

pack() { # FOLDER FILE: the same bytes whoever packs it, and when
    tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" --mode=go+u,go-w \
        -C "$work" -cf - "$1" | gzip "-${GZIP_LEVEL:-9}n" >"$2"
}
pack "$name" "$out/$name.tar.gz"
cp "$tree/espbench.cdx.json" "$out/$name.cdx.json"
case $target in
    *-linux-gnu)
        "$root/packaging/deb.sh" "$tree" "$version" "$target" "$out"
        "$root/packaging/oci.py" "$tree" "$out/$name.oci.tar"
        ;;
esac
sed -e "s|@HOMEPAGE@|$HOMEPAGE|g" -e "s/@VERSION@/$version/g" -e "s/@TARGET@/$target/g" \
    -e "s/@SHA256@/$(sha256sum "$out/$name.tar.gz" | cut -d' ' -f1)/g" "$root/packaging/homebrew.rb.in" >"$out/espbench.rb"

(cd "$out" && find . -maxdepth 1 -type f ! -name 'SHA256SUMS*' -printf '%f\n' | LC_ALL=C sort | xargs sha256sum >SHA256SUMS)
rm -f "$out/SHA256SUMS.sig"
if [ -n "$key" ]; then
    ssh-keygen -q -Y sign -f "$key" -n espbench-release "$out/SHA256SUMS"
fi
(cd "$out" && ls -l)
