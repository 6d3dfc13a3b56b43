#!/usr/bin/env bash
# Follows docs/install.md in a fresh Debian, as root of a folder: its commands for archives, for packages and for a wheel are run as they
# stand there. Needs debootstrap and a release: packaging/release.sh DIST, and a wheel beside it (ci/wheel.sh). Takes some minutes, so CI
# does not run it.
#
#     ci/install.sh DIST ALLOWED_SIGNERS
set -euo pipefail
cd "$(dirname "$0")/.."

dist=$(realpath "$1")
signers=$(realpath "$2")
suite=${SUITE:-bookworm}
# The mirror that this machine's apt asks, which debootstrap does not read.
mirror=${MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' "Codename: $suite" 'Created-By: Packages' 2>/dev/null | sed -n 1p)}
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

# Returns the commands of a chapter's blocks in shell.
commands() {
    awk -v chapter="## $1" '$0 == chapter { on = 1; next } /^## / { on = 0 }
        on && /^```sh/ { code = 1; next } /^```/ { code = 0 } on && code' docs/install.md
}

fresh() {
    rm -rf "$root/debian"
    debootstrap --variant=minbase --include=ca-certificates,openssh-client,python3-venv "$suite" "$root/debian" ${mirror:+"$mirror"} >"$root/log" ||
        { tail -5 "$root/log" >&2; exit 1; }
}

try() { # CHAPTER
    rm -rf "$root/debian/release" && mkdir "$root/debian/release"
    cp "$dist"/* "$root/debian/release/"
    cp "$signers" "$root/debian/release/allowed_signers"
    echo "== $1"
    { echo 'set -eux; cd /release'; commands "$1"; } | chroot "$root/debian" bash
}

fresh
try "From an archive"
chroot "$root/debian" rm /usr/local/bin/espbench
try "On Debian and Ubuntu"
chroot "$root/debian" sh -c 'espbench run crypto-time --on sim -q --format csv | sed -n 1,2p && apt-get remove -y espbench >/dev/null'
[ ! -e "$root/debian/usr/bin/espbench" ]
if compgen -G "$dist/*.whl" >/dev/null; then
    try "With pip"
fi
echo "install: docs/install.md holds in a fresh $suite"
