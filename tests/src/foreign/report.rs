//! What a plugin's child process reports.

use replio::catalog::{Entry, Kind, entry_from_json};
use replio::names::EntryName;
use replio::plugins::digest::Digest;
use replio::plugins::report::{Limits, Report, ReportWriter, jail_of};
use serde_json::Value;

/// A report about a library whose digest is that of `library`; its beginning,
/// which tells of the jail, may be left out.
///
/// # Panics
/// When what must hold doesn't.
pub fn report(bytes: &[u8]) {
    let bytes = match jail_of(bytes) {
        Ok((jail, rest)) => {
            let again = ReportWriter::jailed(&jail);
            assert_eq!(jail_of(&again), Ok((jail, &[][..])));
            assert!(!jail.to_string().is_empty());
            rest
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            bytes
        }
    };
    // Small, so that a short input can go beyond them.
    let limits = Limits { entries: 8, entry_bytes: 256, total_bytes: 1024, ..Limits::RELEASE };
    let library = Digest::of(b"library");
    let report = match Report::read(bytes, &library, &limits) {
        Ok(report) => report,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    assert!(report.entries.len() <= limits.entries);
    assert!(report.entries.iter().all(|(_, json)| json.len() <= limits.entry_bytes));
    assert!(report.entries.iter().map(|(_, json)| json.len()).sum::<usize>() <= limits.total_bytes);

    let mut writer = ReportWriter::default();
    for (kind, json) in &report.entries {
        writer.entry(*kind, json.as_bytes());
        entry(*kind, json);
    }
    for line in &report.log {
        writer.log(line);
    }
    let again = match &report.failure {
        None => writer.done(&library),
        Some(failure) => writer.failed(failure),
    };
    assert_eq!(Report::read(&again, &library, &limits).as_ref(), Ok(&report));
}

/// An entry that a plugin sent says the same when it is sent once more.
pub(super) fn entry(kind: Kind, json: &str) {
    match entry_from_json(kind, json) {
        Ok((name, entry)) => {
            let again = entry_from_json(kind, &sent(&name, &entry)).expect("an entry that was one before");
            assert_eq!(again, (name, entry));
        }
        Err(error) => assert!(!error.message.is_empty()),
    }
}

fn sent(name: &EntryName, entry: &Entry) -> String {
    let mut fields = entry.to_json();
    fields.insert("name".into(), name.as_str().into());
    Value::Object(fields).to_string()
}
