#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| replio_tests::foreign::config_json(bytes));
