//! Fuzzes the target `recollection_file` of `remembrancer_tests::fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| remembrancer_tests::fuzz::run("recollection_file", data));
