# Builds $scenario.cc (default: room) against Debian's ns-3 into "$work", which is removed at the end.
# For run.sh, speed.sh, tcp.sh and air.sh.
scenario=${scenario:-room}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
modules="ns3-wifi ns3-mobility ns3-propagation"
[ "$scenario" = room ] || modules="$modules ns3-internet ns3-applications"
# shellcheck disable=SC2086
pkg-config --exists $modules || {
    echo "ns-3 is not installed: apt-get install libns3-dev pkg-config" >&2
    exit 2
}
# Debian's pkg-config files name development files of GSL, which nothing here needs.
# shellcheck disable=SC2086
libs=$(pkg-config --libs $modules | tr ' ' '\n' | grep -v gsl | tr '\n' ' ')
# shellcheck disable=SC2086,SC2046
g++ -O3 -std=c++17 "bench/ns3/$scenario.cc" -o "$work/$scenario" $(pkg-config --cflags $modules) $libs
target=${CARGO_TARGET_DIR:-target}/release/examples
