//! A library file, and the manifest in it.

use std::path::Path;

use replio::plugins::digest::Digest;
use replio::plugins::inspect::{Host, Inspection, incompatibility, inspect_bytes};
use replio::plugins::lockfile::{Build, Lockfile, Needs, Record};
use replio::plugins::provides::Provides;
use replio_plugin_abi::manifest::{LONGEST_BODY, MAGIC, Manifest};

/// The whole file.
///
/// # Panics
/// When what must hold doesn't.
pub fn library(bytes: &[u8]) {
    match inspect_bytes(bytes.to_vec(), Path::new("libforeign.so")) {
        Ok(inspection) => {
            assert!(inspection.bytes == bytes);
            assert_eq!(inspection.sha256, Digest::of(bytes));
            if let Some(reason) = incompatibility(&inspection.library, &inspection.about, &Host::this()) {
                assert!(!reason.help().is_empty(), "{reason}");
            }
            reads_back_from_the_lock(&inspection);
        }
        Err(error) => {
            assert!(!error.to_string().is_empty() && !error.help().is_empty() && !error.code().is_empty())
        }
    }
}

/// What is recorded of a library at its installation is what is known of it
/// from then on.
fn reads_back_from_the_lock(inspection: &Inspection) {
    let (library, about) = (&inspection.library, &inspection.about);
    let needs = Needs::of(library, about);
    assert_eq!(needs.glibc(), library.glibc);
    assert_eq!(needs.replio(), about.replio);
    let build = Build {
        version: about.version.clone(),
        sha256: inspection.sha256,
        file: "libforeign.so".into(),
        source: "./libforeign.so".into(),
        abi: about.abi.clone(),
        api: about.api.clone(),
        needs,
        provides: Provides::default(),
        signer: None,
    };
    let record = Record { previous: Some(build.clone()), build, enabled: true };
    let mut lockfile = Lockfile::default();
    lockfile.put(&about.name, record.clone());
    let again = Lockfile::parse(&lockfile.text()).expect("what replio writes, it reads");
    assert_eq!(again.get(&about.name), Some(&Ok(record)));
}

/// The section that holds the manifest.
///
/// # Panics
/// When what must hold doesn't.
pub fn manifest(section: &[u8]) {
    match Manifest::read(section) {
        Ok(manifest) => {
            let again = written(&manifest);
            if again.len() <= LONGEST_BODY + MAGIC.len() + 4 {
                assert_eq!(Manifest::read(&again).as_ref(), Ok(&manifest));
            }
            let padded = [section, &[0; 7]].concat();
            assert_eq!(Manifest::read(&padded), Ok(manifest));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// A manifest as the macro for plugins writes it.
fn written(manifest: &Manifest) -> Vec<u8> {
    let always = [&manifest.name, &manifest.version, &manifest.abi, &manifest.api, &manifest.panic];
    let perhaps =
        [&manifest.replio, &manifest.description, &manifest.authors, &manifest.license, &manifest.homepage];
    let always = ["name", "version", "abi", "api", "panic"].into_iter().zip(always.map(Some));
    let keys = ["replio", "description", "authors", "license", "homepage"];
    let body: String = always
        .chain(keys.into_iter().zip(perhaps.map(Option::as_ref)))
        .filter_map(|(key, value)| {
            let value = value?.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r");
            Some(format!("{key}={value}\n"))
        })
        .collect();
    let length = u32::try_from(body.len()).expect("it was read from fewer bytes");
    [&MAGIC[..], &length.to_le_bytes(), body.as_bytes()].concat()
}
