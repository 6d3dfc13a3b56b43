#!/bin/bash
# Runs conversations of two nodes, and of two hosts over IP, on Debian's QEMU, RV32IMC with `-icount shift=0`, and holds what they take
# (instructions, stack) against tests/icount/budgets.txt: more than 3 % above a budget fails.
# `BLESS=1 ci/icount.sh` writes the budgets anew. The counts are exact for one compiler, Debian's.
set -euo pipefail
cd "$(dirname "$0")/../tests/icount"
target=riscv32imc-unknown-none-elf
export RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1
export CARGO_TARGET_RISCV32IMC_UNKNOWN_NONE_ELF_LINKER=ld.lld
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/../../target}/icount"
/usr/bin/cargo build --quiet --release --locked -p icount --target $target -Zbuild-std=core,alloc
figures="$CARGO_TARGET_DIR/figures.txt"
timeout 300 qemu-system-riscv32 -machine virt -cpu rv32,c=on -m 64 -nographic -bios none -icount shift=0 \
    -kernel "$CARGO_TARGET_DIR/$target/release/icount" </dev/null | tr -d '\r' >"$figures" || {
    cat "$figures"
    echo "the conversations failed" >&2
    exit 1
}
if [ "${BLESS:-}" = 1 ]; then
    { head -3 budgets.txt; cat "$figures"; } >"$CARGO_TARGET_DIR/budgets.txt"
    cp "$CARGO_TARGET_DIR/budgets.txt" budgets.txt
fi
awk '
    FNR == 1 { file++ }
    /^#/ || NF == 0 { next }
    file == 1 { budget[$1] = $2; next }
    !($1 in budget) { printf "%s: %d, without a budget\n", $1, $2; bad = 1; next }
    {
        change = budget[$1] == 0 ? ($2 == 0 ? 0 : 100) : ($2 / budget[$1] - 1) * 100
        printf "%-40s %10d  budget %10d  %+.1f %%%s\n", $1, $2, budget[$1], change, (change > 3 ? "  TOO MUCH" : "")
        if (change > 3) bad = 1
        delete budget[$1]
    }
    END {
        for (name in budget) { printf "%s: a budget without a figure\n", name; bad = 1 }
        if (bad) print "BLESS=1 ci/icount.sh writes the budgets anew"
        exit bad
    }' budgets.txt "$figures"
