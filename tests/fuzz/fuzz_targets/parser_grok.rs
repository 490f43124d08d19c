//! Fuzzes the target `parser_grok` of `remembrancer_tests::fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| remembrancer_tests::fuzz::run("parser_grok", data));
