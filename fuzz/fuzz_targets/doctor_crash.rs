#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| espbench_fuzz::doctor_crash(data));
