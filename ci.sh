#!/usr/bin/env bash
# Every check of the project, as named steps: `./ci.sh` runs all of them but `cross` (releases for other machines), `./ci.sh clippy test` those.
set -euo pipefail
cd "$(dirname "$0")"

# Steps that need nothing of what `peers` installs, and are run beside it.
FIRST=(fmt clippy doc)
# Tests, and what is read without compiling.
FOREMOST=(deny sizes prose test layers page)
# Steps that need what the tests have compiled into target/debug.
BUILT=(component terminals packages python bench)
# Steps that run beside those: each of the two rows uses little more than one processor.
LAST=(fuzz web)
# Steps that compile into folders of their own: they have what the others leave of the processors, which compile
# with one thread for a good part, and wait for real time. Two rows, since the last crate of an image or a module is compiled
# with one thread. `wasm`, for which `web` waits, needs what the tests compile, and would compile it with what they leave if it came
# first.
BESIDE=(nostd riscv wasm icount ns3)
BESIDE_TOO=(targets aarch64 firmware)
# Steps that need what the rows have made.
AFTER=(machines)
STEPS=(peers "${FIRST[@]}" "${FOREMOST[@]}" "${BUILT[@]}" "${LAST[@]}" "${BESIDE[@]}" "${BESIDE_TOO[@]}" "${AFTER[@]}")
# Steps that are run by name.
BY_NAME=(cross)

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
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --features full --no-deps --locked
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

# Many tests of whole commands wait for real time: with as many threads as processors, half of these would be idle.
# That examples compile is what clippy checks.
test() {
    RUST_TEST_THREADS=${RUST_TEST_THREADS:-$((2 * $(nproc)))} TMPDIR=$(memory_folder) cargo test --workspace --features as-tested --locked --tests
    cargo test --workspace --features as-tested --locked --doc
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

# The engine as a module of WebAssembly: the same reports to the byte. That of the page is linked, too: `web` would wait for one
# thread.
wasm() {
    ci/wasm.sh
    ci/engine.sh
}

# The page, which wheel and packages carry.
page() { ci/page.sh; }

# The page: types, unit tests, bundle, its flows in Chromium, and the command's figures to the byte.
web() {
    built
    ci/page.sh --test --built
    spent web/node_modules
}

# Compiles the fuzz targets.
targets() { ci/fuzz.sh 0; }

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
python() { ci/python.sh --dev; }

# Every script of bench/ with the least counts: whether it runs, and nothing of how fast. Those of the wheel are of `python`.
bench() {
    built
    ci/bench.sh target/debug/espbench
}

# The wheel for Linux aarch64, installed into Python of that architecture and run under qemu. Without optimization.
aarch64() {
    ci/cross.sh wheel --plain
    spent target/cross/aarch64-unknown-linux-gnu target/cross/plain
}

# Its figures, which are those of the wheel that `python` has made.
machines() { ci/cross.sh compare --built; }

# That wheel for a release, and `cargo check` for Windows and macOS.
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
    ci/packages.sh
}

# Licences, bans and sources of all dependencies, by deny.toml. Advisories need a network: SECURITY.md.
deny() { ci/deny.py; }

# File lengths: 600 lines is a stop.
sizes() { ci/sizes.sh; }

# How doc comments open: with a verb or a noun, and not with What, It or This.
prose() { ci/prose.py; }

# Prints the seconds of processor time that all commands so far took together.
processor_time() {
    local stat
    stat=$(cat /proc/$$/stat)
    # Fields 16 and 17 (cutime, cstime), in clock ticks; the second field is a name in parentheses.
    read -r -a stat <<<"${stat##*) }"
    echo $(((stat[13] + stat[14]) / $(getconf CLK_TCK)))
}

# Prints how much of the disk is free, in GB.
free_disk() { df --output=avail -BGB . | tail -n 1 | tr -d ' GB'; }

# Runs steps one after the other, and says what each took.
run() {
    local step begun processor
    for step in "$@"; do
        case " ${STEPS[*]} ${BY_NAME[*]} " in
            *" $step "*) ;;
            *) echo "no step '$step'; there are: ${STEPS[*]} ${BY_NAME[*]}" >&2; exit 2 ;;
        esac
        echo "== $step"
        begun=$SECONDS processor=$(processor_time)
        "$step"
        echo "== $step took $((SECONDS - begun)) s, and $(($(processor_time) - processor)) s of processor time; $(free_disk) GB of disk are free"
    done
}

if [ $# -gt 0 ]; then
    run "$@"
    echo "steps: $# passed, 0 failed"
    exit
fi

mkdir -p target
installed=target/ci-peers.done
rm -f "$installed"
# Process groups that were begun and are not waited for yet, by the name of their log.
declare -A groups
# Begins a command in a process group of its own, but no session: Linux weighs sessions against each other, and niceness within one
# alone. Its output goes to a file.
begin() {
    local log=$1
    shift
    set -m
    "$@" >"target/ci-$log.log" 2>&1 &
    groups[$log]=$!
    set +m
}
# Begins steps that have what others leave of the processors, when what they need is installed.
row() {
    local log=$1
    shift
    begin "$log" nice -n 19 bash -c "until [ -e $installed ]; do sleep 1; done; exec ./ci.sh \"\$@\"" row "$@"
}
# Waits for what was begun, prints its output, and ends where it failed.
finish() {
    local status=0
    wait "${groups[$1]}" || status=$?
    unset "groups[$1]"
    cat "target/ci-$1.log"
    [ $status = 0 ] || exit $status
}
# Where a step fails, those beside it have nothing more to tell.
trap 'for pid in "${groups[@]}"; do kill -- "-$pid" 2>/dev/null || true; done' EXIT

begin peers bash -c "./ci.sh peers && touch $installed"
row beside "${BESIDE[@]}"
row beside-too "${BESIDE_TOO[@]}"
run "${FIRST[@]}"
finish peers
run "${FOREMOST[@]}"
begin last ./ci.sh "${LAST[@]}"
run "${BUILT[@]}"
finish last
echo "== beside these after $SECONDS s: ${BESIDE[*]} ${BESIDE_TOO[*]}"
finish beside
finish beside-too
run "${AFTER[@]}"
echo "steps: ${#STEPS[@]} passed, 0 failed, in $SECONDS s"
