#![no_main]

use std::sync::LazyLock;

static TARGET: LazyLock<fn(&[u8])> = LazyLock::new(espbench_fuzz::target_of_environment);

libfuzzer_sys::fuzz_target!(|data: &[u8]| TARGET(data));
