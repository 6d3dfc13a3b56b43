#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| espbench_fuzz::ieee80211(data));
