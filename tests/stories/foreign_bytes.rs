//! Whatever bytes come from outside, reading them ends soon, with an answer or
//! an error. What the fuzzer found worth keeping is replayed here; besides,
//! libraries are damaged by chance.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{OnceLock, mpsc};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use replio::plugins::inspect::{InspectError, Inspection, inspect_bytes};
use replio_tests::Plugin;
use replio_tests::foreign::{TARGETS, Target};

/// The longest that any kept input may take, on a busy machine too.
const PATIENCE: Duration = Duration::from_secs(60);

fn fuzz_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz")
}

/// The names of what is in a folder, which need not be there.
fn names_in(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// What becomes of one input: nothing, or what is wrong.
fn replay(target: Target, bytes: Vec<u8>) -> Result<(), &'static str> {
    let (sender, receiver) = mpsc::channel();
    let replayed = std::thread::spawn(move || {
        target(&bytes);
        // Nobody waits for it any more, if it took too long.
        let _ = sender.send(());
    });
    match receiver.recv_timeout(PATIENCE) {
        Ok(()) => Ok(()),
        Err(mpsc::RecvTimeoutError::Timeout) => Err("does not end"),
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            assert!(replayed.join().is_err());
            Err("panics; see above")
        }
    }
}

#[test]
fn every_input_that_is_kept_is_survived() {
    let mut faults = Vec::new();
    for (name, target) in TARGETS {
        for kept in ["corpus", "regressions"] {
            let folder = fuzz_folder().join(kept).join(name);
            for file in names_in(&folder) {
                if let Err(fault) = replay(target, fs::read(folder.join(&file)).unwrap()) {
                    faults.push(format!("{kept}/{name}/{file} {fault}"));
                }
            }
        }
    }
    assert!(faults.is_empty(), "in tests/fuzz:\n{}", faults.join("\n"));
}

#[test]
fn every_target_has_a_corpus_and_a_fuzzer_and_nothing_else_is_there() {
    let targets: BTreeSet<String> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(names_in(&fuzz_folder().join("corpus")), targets);
    assert!(names_in(&fuzz_folder().join("regressions")).is_subset(&targets));
    let fuzzers = targets.iter().map(|name| format!("{name}.rs")).collect();
    assert_eq!(names_in(&fuzz_folder().join("fuzz_targets")), fuzzers);
    let manifest = fs::read_to_string(fuzz_folder().join("Cargo.toml")).unwrap();
    for name in &targets {
        assert!(manifest.contains(&format!("path = \"fuzz_targets/{name}.rs\"")), "{name}");
        assert!(!names_in(&fuzz_folder().join("corpus").join(name)).is_empty(), "{name}");
    }
}

/// The seeds are what they are called; otherwise the fuzzer would begin with
/// files that nothing reads far into.
#[test]
fn the_libraries_in_the_corpus_are_libraries() {
    for name in
        ["elf32", "elf32-big-endian", "elf64", "elf64-glibc", "elf64-big-endian", "mach-o", "mach-o-fat"]
    {
        let inspection = inspect(fs::read(fuzz_folder().join("corpus/library").join(name)).unwrap());
        assert_eq!(inspection.unwrap().about.name.as_str(), "audit", "{name}");
    }
}

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
