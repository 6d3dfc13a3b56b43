#!/usr/bin/env bash
# The Python package and the command for other machines than this one.
#
# `ci/cross.sh wheel [--plain]`: the wheel for Linux aarch64, from Debian's compilers. It is installed into Debian's Python of that
# architecture, and runs under qemu. With `--plain` it is built without optimization.
# `ci/cross.sh compare`: what it printed against what this machine's wheel in target/wheel-env prints, which is the same to the byte. That
# wheel is made where there is none.
# `ci/cross.sh musl [--plain]`: the wheel for Linux with musl in place of glibc (Alpine), of this machine's architecture. It runs in a
# Python that is built with musl from Debian's source of it, and its figures are those of this machine's wheel.
# `ci/cross.sh check`: the crates `espbench` and `espbench-python` for Windows and macOS, as far as `cargo check` goes.
#
# Debian's Rust is used: its library for aarch64 is a package, and where there is none, std is built from source.
# Nothing of the other architecture is installed: its packages are unpacked under target/cross.
set -euo pipefail
cd "$(dirname "$0")/.."
cross=$PWD/target/cross
arm=$cross/debian-arm64

# Installs packages in CI; elsewhere says which are missing.
need() {
    local package missing=()
    for package in "$@"; do
        dpkg -s "$package" >/dev/null 2>&1 || missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    if [ "${CI:-}" != true ]; then
        echo "missing: apt-get install --no-install-recommends ${missing[*]}" >&2
        exit 1
    fi
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# Unpacks what of Debian is for aarch64: Rust's library, of the version of the compiler, and Python.
unpack() {
    local version options
    version=$(dpkg-query -W -f '${Version}' libstd-rust-web-dev)
    [ "$(cat "$arm/version" 2>/dev/null)" != "$version" ] || return 0
    rm -rf "$arm"
    mkdir -p "$arm/apt/lists/partial" "$arm/apt/archives/partial"
    : >"$arm/apt/status"
    # With lists and a status of its own apt takes itself for a machine of that architecture with nothing installed.
    options=(-qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User=root -o Dir::State="$arm/apt"
        -o Dir::State::lists="$arm/apt/lists" -o Dir::State::status="$arm/apt/status" -o Dir::Cache="$arm/apt")
    apt-get "${options[@]}" update
    apt-get "${options[@]}" install -y --download-only --no-install-recommends python3-minimal libpython3-stdlib >/dev/null
    (cd "$arm/apt/archives" && apt-get "${options[@]}" download "libstd-rust-web-dev=$version")
    for package in "$arm"/apt/archives/*.deb; do
        dpkg-deb -x "$package" "$arm"
    done
    rm -rf "$arm/apt"
    echo "$version" >"$arm/version"
}

# Runs Python of Debian's aarch64.
arm_python() { qemu-aarch64-static -L "$arm" "$arm/usr/bin/python3" "$@"; }

# Makes the environments of maturin and of zig, a C compiler with the headers of other systems.
tools() {
    cmp -s ci/wheel.txt "$cross/tools/wheel.txt" && return 0
    python3 -m venv --clear "$cross/tools"
    "$cross/tools/bin/pip" install -q --disable-pip-version-check --no-compile "$(grep '^maturin==' ci/wheel.txt)"
    cp ci/wheel.txt "$cross/tools/"
}
zig() {
    cmp -s ci/cross.txt "$cross/zig/cross.txt" && return 0
    python3 -m venv --clear "$cross/zig"
    "$cross/zig/bin/pip" install -q --disable-pip-version-check -r ci/cross.txt
    cp ci/cross.txt "$cross/zig/"
}

wheel() {
    need rustc-web cargo-web libstd-rust-web-dev gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static
    unpack
    tools
    local profile=dist
    [ "${1:-}" != --plain ] || profile=plain
    rm -rf "$cross/wheels" "$cross/site"
    packaging/python.sh
    # Proc macros and build scripts are for this machine; `--sysroot` is for the target alone.
    PATH=/usr/bin:$PATH RUSTC=/usr/bin/rustc CARGO_TARGET_DIR=$cross \
        CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
        CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUSTFLAGS=--sysroot=$arm/usr \
        "$cross/tools/bin/maturin" build --quiet --locked --profile $profile --manifest-path python/Cargo.toml \
        --target aarch64-unknown-linux-gnu --out "$cross/wheels"
    echo "the wheel has $(wc -c <"$cross"/wheels/*.whl) bytes: $(basename "$cross"/wheels/*.whl)"

    # pip of this machine, run by the other Python, which judges by itself whether the wheel's name suits it.
    local packages
    packages=$("$cross/tools/bin/python" -c 'import pip, pathlib; print(pathlib.Path(pip.__file__).parent.parent)')
    PYTHONPATH=$packages arm_python -m pip install -q --disable-pip-version-check --no-index --no-deps --no-compile \
        --target "$cross/site" "$cross"/wheels/*.whl
    run_wheel arm_python
}

# Builds Python with musl: of Debian's source only what its authors gave out, and no module of another library.
musl_python() {
    musl=$cross/musl
    [ ! -x "$musl/python/python" ] || return 0
    rm -rf "$musl"
    mkdir -p "$musl/apt/lists/partial" "$musl/apt/parts" "$musl/kernel" "$musl/python"
    # Sources of the lists that the machine has, in both of apt's forms.
    local file
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
        [ ! -f "$file" ] || sed -n 's/^deb /deb-src /p' "$file" >>"$musl/apt/parts/source.list"
    done
    for file in /etc/apt/sources.list.d/*.sources; do
        [ ! -f "$file" ] || sed 's/^Types:.*/Types: deb-src/' "$file" >"$musl/apt/parts/$(basename "$file")"
    done
    local options=(-qq -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$musl/apt/parts" -o Dir::State::lists="$musl/apt/lists"
        -o APT::Sandbox::User=root)
    apt-get "${options[@]}" update
    local version address name
    version=$(python3 -c 'import sys; print("python%d.%d" % sys.version_info[:2])')
    read -r address name _ < <(apt-get "${options[@]}" source --print-uris "$version" | tr -d "'" | grep '\.orig\.tar') ||
        { echo "cross.sh: apt-get knows no source of $version" >&2; exit 1; }
    /usr/lib/apt/apt-helper -qq download-file "$address" "$musl/apt/$name"
    tar xf "$musl/apt/$name" -C "$musl/python" --strip-components 1
    rm -rf "$musl/apt"
    # The headers of Linux alone; those of Debian's other libraries are for glibc.
    ln -s /usr/include/linux /usr/include/asm-generic "$musl/kernel/"
    ln -s "/usr/include/$(uname -m)-linux-gnu/asm" "$musl/kernel/"
    cat >"$musl/cc" <<END
#!/bin/sh
case \$1 in *-print-multiarch) exit ;; esac
exec musl-gcc "\$@" -idirafter $musl/kernel
END
    chmod +x "$musl/cc"
    (
        cd "$musl/python"
        sed -i 's/self\.add_multiarch_paths()$/pass/' setup.py
        ./configure -q CC="$musl/cc" CFLAGS=-O1 --without-ensurepip --disable-test-modules &&
            make -s -j"$(nproc)"
    ) >"$musl/build.log" 2>&1 || { tail "$musl/build.log" >&2; exit 1; }
}

musl() {
    need rustc-web cargo-web rust-web-src musl musl-dev musl-tools linux-libc-dev gcc make xz-utils
    tools
    zig
    musl_python
    local profile=dist target
    target=$(uname -m)-unknown-linux-musl
    [ "${1:-}" != --plain ] || profile=plain
    rm -rf "$cross/musl-wheels" "$cross/site"
    packaging/python.sh
    PATH=$cross/zig/bin:/usr/bin:$PATH RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR=$cross \
        CARGO_UNSTABLE_BUILD_STD=std,panic_unwind,panic_abort \
        "$cross/tools/bin/maturin" build --quiet --locked --profile $profile --manifest-path python/Cargo.toml \
        --target "$target" --zig --out "$cross/musl-wheels"
    echo "the wheel has $(wc -c <"$cross"/musl-wheels/*.whl) bytes: $(basename "$cross"/musl-wheels/*.whl)"
    "$cross/tools/bin/pip" install -q --disable-pip-version-check --no-index --no-deps --no-compile --only-binary=:all: \
        --platform "musllinux_1_2_$(uname -m)" --target "$cross/site" "$cross"/musl-wheels/*.whl
    run_wheel "$musl/python/python"
    compare_with "musl"
}

# Runs the wheel in the folder `site` with that Python, and keeps what it prints.
run_wheel() {
    export PYTHONPATH=$cross/site PYTHONDONTWRITEBYTECODE=1
    "$@" -c 'import espbench, platform; print(platform.machine(), platform.python_version(), espbench.TOOL)'
    "$@" -m espbench lab list >"$cross/labs.other"
    "$@" ci/cross_report.py >"$cross/report.other"
    unset PYTHONPATH
}

compare() { compare_with aarch64; }

compare_with() {
    compgen -G 'target/wheels/*.whl' >/dev/null || ci/wheel.sh --dev
    local python=$PWD/target/wheel-env/bin/python what
    (cd "$cross" && "$python" -m espbench lab list) >"$cross/labs.here"
    (cd "$cross" && "$python" ../../ci/cross_report.py) >"$cross/report.here"
    for what in labs report; do
        cmp "$cross/$what.here" "$cross/$what.other"
        echo "$what: $(wc -c <"$cross/$what.other") bytes on $1, the same"
    done
}

check() {
    need rustc-web cargo-web rust-web-src gcc-mingw-w64-x86-64
    zig
    # Crates name the target as clang does, and zig in its own way.
    cat >"$cross/zig/cc" <<'END'
#!/usr/bin/env bash
words=()
while [ $# -gt 0 ]; do
    case $1 in
        --target=* | -mmacosx-version-min=* | -mmacos-version-min=*) ;;
        -arch | -isysroot) shift ;;
        *) words+=("$1") ;;
    esac
    shift
done
exec "$(dirname "$0")/bin/python" -m ziglang cc -target aarch64-macos "${words[@]}"
END
    chmod +x "$cross/zig/cc"
    # Build scripts ask for the SDK, of which a check needs nothing: zig has its C headers.
    mkdir -p "$cross/sdk"
    local target
    for target in x86_64-pc-windows-gnu aarch64-apple-darwin; do
        echo "check for $target"
        CC_aarch64_apple_darwin=$cross/zig/cc SDKROOT=$cross/sdk \
            RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR=$cross \
            CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUSTFLAGS="-D warnings" CARGO_TARGET_AARCH64_APPLE_DARWIN_RUSTFLAGS="-D warnings" \
            PYO3_BUILD_EXTENSION_MODULE=1 PYO3_NO_PYTHON=1 \
            /usr/bin/cargo check --quiet --locked -p espbench -p espbench-python --features full --target $target -Zbuild-std=std,panic_unwind
    done
}

case ${1:-all} in
    wheel) wheel "${2:-}" ;;
    compare) compare ;;
    check) check ;;
    musl) musl "${2:-}" ;;
    # Each in a line of its own: behind && a command that fails would not end the script.
    all)
        check
        wheel
        compare
        musl
        ;;
    *) echo "usage: ci/cross.sh [wheel [--plain] | compare | musl [--plain] | check]" >&2; exit 2 ;;
esac
