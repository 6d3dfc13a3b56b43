#!/bin/sh
# Stands before rustc (RUSTC_WRAPPER) where what is built is tested and thrown away: of other people's large crates we call little, and
# functions that nobody calls are not compiled (rustc's -Zhint-mostly-unused). What they do is the same. Compiling these takes
# half the time.
name=
case "$2 " in
    "--crate-name "*) name=$3 ;;
esac
case $name in
    arrow_array | arrow_cmp | arrow_data | arrow_ipc | arrow_select | bitvec | chrono | cpp_demangle | espflash | gimli | object | parquet | \
        rmcp | rustls | tokio | zip)
        RUSTC_BOOTSTRAP=1 exec "$@" -Zhint-mostly-unused
        ;;
esac
exec "$@"
