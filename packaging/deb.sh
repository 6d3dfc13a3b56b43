#!/usr/bin/env bash
# Makes a Debian package of the tree that release.sh has laid: HOMEPAGE=ADDRESS packaging/deb.sh TREE VERSION TARGET FOLDER
set -euo pipefail
tree=$1 version=$2 target=$3 out=$4

case $target in
    x86_64-*) architecture=amd64 ;;
    aarch64-*) architecture=arm64 ;;
    armv7-*) architecture=armhf ;;
    *) echo "deb.sh: Debian has no name for $target here" >&2; exit 2 ;;
esac
# The oldest C library that has all functions of the binary.
glibc=$(objdump -T "$tree/espbench" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -1 | cut -d_ -f2)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
package=$work/package
share=$package/usr/share
install -Dm 755 "$tree/espbench" "$package/usr/bin/espbench"
install -Dm 644 "$tree/completions/espbench.bash" "$share/bash-completion/completions/espbench"
install -Dm 644 "$tree/completions/espbench.zsh" "$share/zsh/vendor-completions/_espbench"
install -Dm 644 "$tree/completions/espbench.fish" "$share/fish/vendor_completions.d/espbench.fish"
for page in "$tree"/man/*.1; do
    mkdir -p "$share/man/man1"
    gzip -9n <"$page" >"$share/man/man1/$(basename "$page").gz"
done
mkdir -p "$share/doc/espbench"
gzip -9n <"$tree/CHANGELOG.md" >"$share/doc/espbench/changelog.gz"
install -m 644 "$tree/espbench.cdx.json" "$share/doc/espbench/espbench.cdx.json"
gzip -9n <"$tree/THIRD-PARTY-LICENSES.txt" >"$share/doc/espbench/THIRD-PARTY-LICENSES.txt.gz"
{
    echo "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/"
    echo "Upstream-Name: espbench"
    echo
    echo "Files: *"
    echo "Copyright: 2026 The espbench developers"
    echo "License: MIT or Apache-2.0"
    echo " Apache-2.0 is in /usr/share/common-licenses/Apache-2.0; the licence texts of the crates that are built in"
    echo " are in THIRD-PARTY-LICENSES.txt.gz beside this file. MIT:"
    sed 's/^$/./; s/^/ /' "$tree/LICENSE-MIT"
} >"$share/doc/espbench/copyright"
chmod 644 "$share/doc/espbench/copyright"
cp -r "$tree/share/espbench" "$share/"
if [ -d "$tree/firmware" ]; then
    cp -r "$tree/firmware" "$share/espbench/"
fi

mkdir -p "$package/DEBIAN"
cat >"$package/DEBIAN/control" <<CONTROL
Package: espbench
Version: $version
Architecture: $architecture
Maintainer: The espbench developers <espbench@localhost>
Homepage: $HOMEPAGE
Installed-Size: $(du -ks "$package/usr" | cut -f1)
Depends: libc6 (>= $glibc), libgcc-s1
Recommends: ca-certificates
Section: net
Priority: optional
Description: measures, predicts and tunes wireless links of ESP32-class devices
 ESP-NOW, UDP, TCP and MQTT, on boards or in a virtual lab, with intervals,
 reports and gates for CI. One binary, without a service.
CONTROL
(cd "$package" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum >DEBIAN/md5sums)
chmod -R go+rX,go-w "$package"
dpkg-deb --root-owner-group -Zgzip "-z${GZIP_LEVEL:-9}" --build "$package" "$out/espbench_${version}_$architecture.deb" >/dev/null
