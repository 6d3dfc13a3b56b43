#!/usr/bin/env bash
# Every check of the project, as steps: `./ci.sh` runs all of them in this order, `./ci.sh clippy test` those, and `./ci.sh --list` names
# them. Each runs by itself, and takes what an earlier one has built. `./ci.sh cross`, for releases, is run by name alone.
set -euo pipefail
cd "$(dirname "$0")"

STEPS=(peers fmt clippy doc deny sizes prose test layers page component terminals packages publish python bench wasm web nostd riscv icount ns3 fuzz
    firmware aarch64)

# Removes what no later step needs, in a checkout that is thrown away (.ci/run): its disk may be small.
spent() { [ "${CI_ONCE:-}" != true ] || rm -rf "$@"; }

# Real programs that the tests talk to. In CI they are installed, and one that is missing fails.
peers() {
    [ "${CI:-}" = true ] || return 0
    local packages=(iperf iperf3 mosquitto mosquitto-clients tshark sockperf udhcpc curl chromium python3 python3-venv python3-prometheus-client util-linux iproute2
        iputils-ping openssl time procps picocom minicom g++ gcc libmosquitto-dev sigrok-cli
        openssh-client rustc-web cargo-web rust-web-src rust-web-clippy lld qemu-system-misc nodejs binutils libns3-dev pkg-config)
    # Node.js of some sources has npm within.
    command -v npm >/dev/null || packages+=(npm)
    local missing=()
    for package in "${packages[@]}"; do
        dpkg -s "$package" >/dev/null 2>&1 || missing+=("$package")
    done
    if [ ${#missing[@]} -gt 0 ]; then
        apt-get update -qq
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${missing[@]}" >/dev/null
    fi
    ci/micropython.sh
    ci/schemas.sh
    # Libraries of the examples in docs/data.md, once.
    if ! cmp -s ci/python.txt target/python/python.txt; then
        python3 -m venv --clear target/python
        target/python/bin/pip install -q --disable-pip-version-check --no-compile -r ci/python.txt
        cp ci/python.txt target/python/
    fi
}

fmt() { cargo fmt --all --check; }

clippy() {
    cargo clippy --workspace --all-targets --features as-tested --locked -- -D warnings
    # As a user has it who asks for nothing, and without what may be left out of that.
    cargo clippy --workspace --all-targets --locked -- -D warnings
    cargo clippy -p espbench --no-default-features --locked -- -D warnings
}

doc() {
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --features as-tested --no-deps --locked
    spent target/doc
}

# Prints a folder for the tests' stores and files. A store is synced to its disk, which takes seconds while others compile. So the
# folder is one in memory, where Linux has 2 GB for it and lets programs of tests run.
memory_folder() {
    local free options
    if read -r free options < <(findmnt -bno AVAIL,OPTIONS /dev/shm 2>/dev/null) && [ "$free" -gt 2000000000 ] &&
        [[ ",$options," != *,noexec,* ]]; then
        echo /dev/shm
    else
        echo "${TMPDIR:-/tmp}"
    fi
}

# That examples compile is what clippy checks.
test() {
    TMPDIR=$(memory_folder) cargo test --workspace --features as-tested --locked --tests
    cargo test --workspace --features as-tested --locked --doc
    # Without features, as the README has it: what is left out is refused in words.
    cargo test -p espbench --locked --lib
}

# Which crate may use which: cargo's own view of the workspace. For one package alone cargo would choose other features, and
# compile all again.
layers() {
    local programs
    cargo test --workspace --features as-tested --locked --test it layers
    # The programs of the tests; the libraries that they are made of stay.
    mapfile -t programs < <(find target/debug/deps -maxdepth 1 -type f -perm -u+x ! -name '*.so')
    spent "${programs[@]}"
}

# Links the lower crates without std: a leak of std is a link error.
nostd() {
    ci/nostd.sh
    spent target/nostd
}

# A whole node for the ESP32-C3, which must fit 24 KiB.
riscv() { ci/riscv.sh; }

# Images of the firmware for three chips, with bounds, and tests of its part that knows no chip.
firmware() {
    ci/firmware.sh
    spent target/firmware
}

# Conversations on a simulated RV32IMC processor: instructions and stack, within 3 % of their budgets.
icount() {
    ci/icount.sh
    spent target/icount
}

# The engine as a module of WebAssembly: the same reports to the byte.
wasm() { ci/wasm.sh; }

# The page, which wheel and packages carry.
page() { ci/page.sh; }
page_built() { [ -s target/share/espbench/page/index.html ] || page; }

# The page: types, unit tests, bundle, its flows in Chromium, and the command's figures to the byte.
web() {
    built
    ci/page.sh --test --built
    spent web/node_modules
}

# Runs every fuzz target over its corpus, then for a short time; ci/fuzz_long.py counts millions of executions.
fuzz() {
    ci/fuzz.sh 5
    spent fuzz/target
}

# The command and the Python module, of what the tests have compiled: cargo compiles a dependency anew where it gets other features.
built() { cargo build --locked -p espbench -p espbench-python --features as-tested; }

# The device's side in C, built for this machine under sanitizers, against real peers.
component() {
    built
    components/espbench/test/run.py
}

# Serial programs at the consoles of simulated boards.
terminals() { ci/terminals.sh; }

# The Python package: its wheel, tests, types, example project and notebooks. Without optimization, of what `built` has
# compiled; a release wheel, and its bench, are of `ci/python.sh`.
python() {
    page_built
    ci/python.sh --dev
}

# Every script of bench/ with the least counts: whether it runs, and nothing of how fast. Those of the wheel are of `python`.
bench() {
    built
    ci/bench.sh target/debug/espbench
}

# The wheel for Linux aarch64, installed into Python of that architecture and run under qemu: its figures are those of this machine's
# wheel, to the byte. Without optimization.
aarch64() {
    page_built
    ci/cross.sh wheel --plain
    ci/cross.sh compare
    spent target/cross
}

# That wheel as a release has it, and `cargo check` for Windows and macOS.
cross() { ci/cross.sh; }

# The medium beside ns-3: throughput within 2 %.
ns3() {
    if [ "${CI:-}" != true ] && ! pkg-config --exists ns3-wifi 2>/dev/null; then
        echo "skipped: ns-3 is not installed (apt-get install libns3-dev pkg-config)" >&2
        return 0
    fi
    bench/ns3/run.sh --quick
}

# What a release has, of the binary of the tests: installed into roots of its own, and run.
packages() {
    built
    page_built
    ci/packages.sh
}

# Crates and the Python package as they would be uploaded: whole, and compiled away from the repository.
publish() { packaging/publish.sh --dry-run --quick; }

# Licences, bans and sources of all dependencies, by deny.toml. Advisories need a network: SECURITY.md.
deny() { ci/deny.py; }

# File lengths: 600 lines is a stop.
sizes() { ci/sizes.sh; }

# How doc comments open: with a verb or a noun, and not with What, It or This.
prose() { ci/prose.py; }

if [ "${1:-}" = --list ]; then
    printf '%s\n' "${STEPS[@]}"
    exit
fi
[ $# -gt 0 ] || set -- "${STEPS[@]}"
for step in "$@"; do
    case " ${STEPS[*]} cross " in
        *" $step "*) ;;
        *) echo "no step '$step'; there are: ${STEPS[*]} cross" >&2; exit 2 ;;
    esac
done
for step in "$@"; do
    echo "== $step"
    begun=$SECONDS
    "$step"
    echo "== $step took $((SECONDS - begun)) s"
done
echo "steps: $# passed, 0 failed, in $SECONDS s"
