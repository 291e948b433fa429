//! Whatever the bytes of a library are, reading what they say of themselves
//! ends soon, with an answer or an error.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use replio::plugins::inspect::{InspectError, Inspection, inspect_bytes};
use replio_tests::Plugin;

fn whole() -> &'static [u8] {
    static WHOLE: OnceLock<Vec<u8>> = OnceLock::new();
    WHOLE.get_or_init(|| {
        let profile = "lto = \"fat\"\nopt-level = \"z\"\ncodegen-units = 1";
        let plugin = Plugin::with_hooks("small", r#"registry.add_plugin(AgentType::new("a"))"#, "", "");
        fs::read(plugin.edition("2024").profile(profile).build()).unwrap()
    })
}

fn inspect(bytes: Vec<u8>) -> Result<Inspection, InspectError> {
    let started = Instant::now();
    let result = inspect_bytes(bytes, Path::new("foreign.so"));
    assert!(started.elapsed() < Duration::from_secs(20));
    result
}

/// Where the file's own structure is: its head, the program headers, the
/// manifest, and the section headers at the end. A change elsewhere is seldom
/// seen by anyone.
fn interesting() -> impl Strategy<Value = usize> {
    let length = whole().len();
    let manifest = whole().windows(8).position(|bytes| bytes == b"REPLIO\0\x01").unwrap();
    prop_oneof![0..1024_usize, manifest.saturating_sub(64)..manifest + 512, length - 4096..length, 0..length]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn no_corruption_makes_the_reader_panic(
        changes in proptest::collection::vec((interesting(), any::<u8>()), 1..12)
    ) {
        let mut bytes = whole().to_vec();
        for (at, byte) in changes {
            bytes[at] = byte;
        }
        let _ = inspect(bytes);
    }

    #[test]
    fn no_length_makes_the_reader_panic_and_none_passes_for_whole(length in 0..whole().len()) {
        prop_assert!(inspect(whole()[..length].to_vec()).is_err());
    }

    #[test]
    fn no_other_number_in_the_head_makes_the_reader_panic(at in 0..1024_usize, number in prop_oneof![any::<u64>(), Just(u64::MAX), Just(0), 0..4096_u64]) {
        let mut bytes = whole().to_vec();
        bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
        let _ = inspect(bytes);
    }

    #[test]
    fn no_other_file_makes_the_reader_panic(
        head in prop_oneof![
            Just(&b"\x7fELF\x02\x01\x01"[..]), Just(&b"\x7fELF\x01\x02\x01"[..]), Just(&b"\xcf\xfa\xed\xfe"[..]), Just(&b"\xca\xfe\xba\xbe\0\0\0"[..]),
            Just(&b"\xca\xfe\xba\xbf\0\0\0"[..]), Just(&b"MZ"[..]), Just(&b"!<arch>\n"[..]), Just(&b""[..]),
        ],
        rest in proptest::collection::vec(prop_oneof![any::<u8>(), Just(0), Just(0xff)], 0..600),
    ) {
        let _ = inspect([head, &rest].concat());
    }
}

#[test]
fn the_plugin_that_all_of_this_begins_with_is_whole() {
    assert_eq!(inspect(whole().to_vec()).unwrap().about.name.as_str(), "small");
}
