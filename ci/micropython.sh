#!/usr/bin/env bash
# Brings Debian's MicroPython for the tests of components/espbench. Debian 12 has none: there it is unpacked from
# Debian 13, with the C library and what else it needs, to target/micropython, and nothing is installed.
set -euo pipefail
cd "$(dirname "$0")/.."
RELEASE=trixie
place=$PWD/target/micropython

command -v micropython >/dev/null && exit 0
[ -x "$place/micropython" ] && "$place/micropython" -c '' 2>/dev/null && exit 0
if apt-cache policy micropython 2>/dev/null | grep 'Candidate: [0-9]' >/dev/null; then
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq micropython >/dev/null
    exit 0
fi

# The mirror that this machine uses anyway.
mirror=$(apt-get indextargets --format '$(ORIGIN) $(LABEL) $(REPO_URI)' 'Created-By: Packages' | awk '$1 == "Debian" && $2 == "Debian" && !n++ { print $3 }')
[ -n "$mirror" ] || { echo "no mirror of Debian is among apt's sources" >&2; exit 1; }
rm -rf "$place"
mkdir -p "$place/lists/partial" "$place/packages"
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $RELEASE main" >"$place/sources.list"
options=(-qq -o Dir::Etc::sourcelist="$place/sources.list" -o Dir::Etc::sourceparts=/dev/null -o Dir::State::lists="$place/lists"
    -o APT::Sandbox::User=root)
apt-get "${options[@]}" update
needs=$(apt-cache "${options[@]}" depends micropython | awk '$1 == "Depends:" { print $2 }')
# The names are words, without spaces.
# shellcheck disable=SC2086
(cd "$place/packages" && apt-get "${options[@]}" download micropython $needs)
for package in "$place"/packages/*.deb; do
    dpkg-deb -x "$package" "$place/root"
done
rm -rf "$place/lists" "$place/packages"
libraries=$(dirname "$(find "$place/root/usr/lib" -name 'libc.so.6' -print -quit)")
loader=$(find "$libraries" -name 'ld-linux*.so*' -print -quit)
cat >"$place/micropython" <<END
#!/bin/sh
exec "$loader" --library-path "$libraries" "$place/root/usr/bin/micropython" "\$@"
END
chmod +x "$place/micropython"
"$place/micropython" -c 'import sys; print(sys.version)'
