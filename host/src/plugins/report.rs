//! What a plugin's child process sends: frames of a kind, a length and that
//! many bytes. Whoever reads a report holds it for hostile: it counts only if
//! it is whole, within the bounds, and for the library that was asked for.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::catalog::Kind;
use crate::plugins::digest::Digest;
use crate::plugins::jail::Jail;

const TYPE: u8 = 1;
const SKILL: u8 = 2;
const TEAM: u8 = 3;
const LOG: u8 = 4;
const FAILED: u8 = 5;
const DONE: u8 = 6;
const JAIL: u8 = 7;

const HEAD: usize = 5;
/// What a report may hold beside its entries: heads, log lines, the end.
const SLACK: usize = 512 * 1024;

/// How much memory a plugin may write to, in bytes.
pub const MEMORY: u64 = 1024 * 1024 * 1024;

/// What one run of one plugin may take.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Limits {
    /// Milliseconds of wall time.
    pub wall_milliseconds: u64,
    /// Seconds of processor time, of all threads together.
    pub cpu_seconds: u64,
    /// Entries of all kinds together.
    pub entries: usize,
    /// Bytes of one entry, as JSON.
    pub entry_bytes: usize,
    /// Bytes of all entries.
    pub total_bytes: usize,
}

impl Limits {
    /// The limits of a release.
    pub const RELEASE: Self = Self {
        wall_milliseconds: 10_000,
        cpu_seconds: 12,
        entries: 10_000,
        entry_bytes: 1024 * 1024,
        total_bytes: 16 * 1024 * 1024,
    };

    /// The limits in force. Builds with debug assertions let the environment
    /// lower them, so that tests of slow and large plugins are quick.
    pub fn in_force() -> Self {
        let mut limits = Self::RELEASE;
        if cfg!(debug_assertions) {
            let lowered =
                |variable: &str| std::env::var(variable).ok().and_then(|text| text.parse::<u64>().ok());
            if let Some(milliseconds) = lowered("REPLIO_TEST_PLUGIN_MILLISECONDS") {
                limits.wall_milliseconds = limits.wall_milliseconds.min(milliseconds);
            }
            if let Some(seconds) = lowered("REPLIO_TEST_PLUGIN_CPU_SECONDS") {
                limits.cpu_seconds = limits.cpu_seconds.min(seconds);
            }
            if let Some(entries) = lowered("REPLIO_TEST_PLUGIN_ENTRIES") {
                limits.entries = limits.entries.min(usize::try_from(entries).unwrap_or(usize::MAX));
            }
        }
        limits
    }

    /// The same, as a duration.
    pub fn wall(&self) -> Duration {
        Duration::from_millis(self.wall_milliseconds)
    }

    /// The most bytes that a report can have and still be within the limits.
    pub fn report_bytes(&self) -> usize {
        self.total_bytes + self.entries * HEAD + SLACK
    }
}

/// A report that was read, without its beginning, which [`jail_of`] reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The entries, each as the JSON text that the plugin gave.
    pub entries: Vec<(Kind, String)>,
    /// What the plugin told its host through [`log`](replio_plugin_abi::HostDoor).
    pub log: Vec<String>,
    /// Why there are no entries, when the plugin could say so.
    pub failure: Option<Failure>,
}

/// A failure that the child process lived to report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What was being done.
    pub stage: Stage,
    /// What happened, in the words of the loader or the plugin.
    pub message: String,
    /// More, for the log.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub details: String,
}

/// What a child process was doing when it failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Opening the library.
    Open,
    /// Comparing its ABI with the host's.
    Abi,
    /// Running a hook that returned an error.
    Hook,
    /// Running a hook that panicked.
    Panic,
    /// Counting what the hooks returned.
    Limit,
}

/// Why bytes are no report.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum ReportError {
    #[error("it breaks off")]
    Truncated,
    #[error("something follows its end")]
    Trailing,
    #[error("it has a frame of unknown kind {0}")]
    UnknownFrame(u8),
    #[error("it is not UTF-8")]
    NotUtf8,
    #[error("it holds more than {0} entries")]
    TooManyEntries(usize),
    #[error("it holds an entry of more than {0} bytes")]
    EntryTooLarge(usize),
    #[error("it holds more than {0} bytes of entries")]
    TooLarge(usize),
    #[error("it is for another library")]
    OtherLibrary,
    #[error("it does not begin with what its jail is")]
    NoJail,
    #[error("it gives its failure in a form that can't be read")]
    BadFailure,
}

/// Puts a report together, frame by frame.
#[derive(Debug, Default)]
pub struct ReportWriter {
    bytes: Vec<u8>,
}

impl ReportWriter {
    /// The beginning of a report, which is sent before any code of the plugin runs.
    ///
    /// # Panics
    /// Never: words and numbers always serialize.
    pub fn jailed(jail: &Jail) -> Vec<u8> {
        let json = serde_json::to_vec(jail).expect("words and numbers always serialize");
        let mut beginning = Self::default();
        beginning.frame(JAIL, &json);
        beginning.bytes
    }

    /// Adds an entry.
    pub fn entry(&mut self, kind: Kind, json: &[u8]) {
        let frame = match kind {
            Kind::Type => TYPE,
            Kind::Skill => SKILL,
            Kind::Team => TEAM,
        };
        self.frame(frame, json);
    }

    /// Adds a log line.
    pub fn log(&mut self, line: &str) {
        self.frame(LOG, line.as_bytes());
    }

    /// Ends the report of a plugin whose hooks all returned.
    pub fn done(mut self, sha256: &Digest) -> Vec<u8> {
        self.frame(DONE, sha256.to_string().as_bytes());
        self.bytes
    }

    /// Ends the report of a plugin that failed.
    ///
    /// # Panics
    /// Never: texts and a word always serialize.
    pub fn failed(mut self, failure: &Failure) -> Vec<u8> {
        let json = serde_json::to_vec(failure).expect("texts and a word always serialize");
        self.frame(FAILED, &json);
        self.bytes
    }

    fn frame(&mut self, kind: u8, payload: &[u8]) {
        // Everything was bounded far below 4 GiB before it came here.
        let length = u32::try_from(payload.len()).expect("a bounded payload");
        self.bytes.push(kind);
        self.bytes.extend(length.to_le_bytes());
        self.bytes.extend(payload);
    }
}

/// Reads the beginning of a report: what the jail is, which was said before any
/// code of the plugin ran, and the rest, which is the plugin's word.
///
/// # Errors
/// When the report begins with anything else.
pub fn jail_of(bytes: &[u8]) -> Result<(Jail, &[u8]), ReportError> {
    let (kind, payload, rest) = next_frame(bytes)?;
    if kind != JAIL {
        return Err(ReportError::NoJail);
    }
    Ok((serde_json::from_slice(payload).map_err(|_| ReportError::NoJail)?, rest))
}

impl Report {
    /// Reads what a plugin reported, after the [beginning](jail_of), about the
    /// library with this digest.
    ///
    /// # Errors
    /// Whatever makes it not count.
    pub fn read(mut bytes: &[u8], sha256: &Digest, limits: &Limits) -> Result<Self, ReportError> {
        let mut report = Self { entries: Vec::new(), log: Vec::new(), failure: None };
        let mut total = 0;
        loop {
            let (kind, payload, rest) = next_frame(bytes)?;
            bytes = rest;
            let text = || std::str::from_utf8(payload).map_err(|_| ReportError::NotUtf8);
            let entry = match kind {
                TYPE => Kind::Type,
                SKILL => Kind::Skill,
                TEAM => Kind::Team,
                LOG => {
                    report.log.push(text()?.to_owned());
                    continue;
                }
                FAILED => {
                    let failure = serde_json::from_slice(payload).map_err(|_| ReportError::BadFailure)?;
                    report.failure = Some(failure);
                    break;
                }
                DONE if payload == sha256.to_string().as_bytes() => break,
                DONE => return Err(ReportError::OtherLibrary),
                other => return Err(ReportError::UnknownFrame(other)),
            };
            total += payload.len();
            if report.entries.len() == limits.entries {
                return Err(ReportError::TooManyEntries(limits.entries));
            }
            if payload.len() > limits.entry_bytes {
                return Err(ReportError::EntryTooLarge(limits.entry_bytes));
            }
            if total > limits.total_bytes {
                return Err(ReportError::TooLarge(limits.total_bytes));
            }
            report.entries.push((entry, text()?.to_owned()));
        }
        if bytes.is_empty() { Ok(report) } else { Err(ReportError::Trailing) }
    }
}

fn next_frame(bytes: &[u8]) -> Result<(u8, &[u8], &[u8]), ReportError> {
    let (head, rest) = bytes.split_at_checked(HEAD).ok_or(ReportError::Truncated)?;
    let length = u32::from_le_bytes([head[1], head[2], head[3], head[4]]) as usize;
    let (payload, rest) = rest.split_at_checked(length).ok_or(ReportError::Truncated)?;
    Ok((head[0], payload, rest))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::plugins::jail::Extent;

    fn digest() -> Digest {
        Digest::of(b"library")
    }

    fn read(bytes: &[u8]) -> Result<Report, ReportError> {
        Report::read(
            bytes,
            &digest(),
            &Limits { entries: 2, entry_bytes: 8, total_bytes: 12, ..Limits::RELEASE },
        )
    }

    #[test]
    fn a_report_comes_back_as_it_was_written() {
        let mut writer = ReportWriter::default();
        writer.entry(Kind::Type, b"{}");
        writer.log("hello");
        writer.entry(Kind::Team, "ä".as_bytes());
        let report = read(&writer.done(&digest())).unwrap();
        assert_eq!(report.entries, [(Kind::Type, "{}".to_owned()), (Kind::Team, "ä".to_owned())]);
        assert_eq!(report.log, ["hello"]);
        assert_eq!(report.failure, None);

        let failure = Failure { stage: Stage::Panic, message: "boom".into(), details: String::new() };
        let report = read(&ReportWriter::default().failed(&failure)).unwrap();
        assert_eq!(report.failure, Some(failure));
    }

    #[test]
    fn a_report_that_breaks_off_never_counts() {
        let mut writer = ReportWriter::default();
        writer.entry(Kind::Skill, b"{}");
        let whole = writer.done(&digest());
        for length in 0..whole.len() {
            assert_eq!(read(&whole[..length]), Err(ReportError::Truncated), "{length} bytes");
        }
        assert_eq!(read(&[whole.clone(), whole].concat()), Err(ReportError::Trailing));
    }

    #[test]
    fn a_report_counts_only_within_its_bounds_and_for_its_library() {
        let entries = |entries: &[&[u8]]| {
            let mut writer = ReportWriter::default();
            for entry in entries {
                writer.entry(Kind::Type, entry);
            }
            read(&writer.done(&digest()))
        };
        assert_eq!(entries(&[b"1", b"2", b"3"]), Err(ReportError::TooManyEntries(2)));
        assert_eq!(entries(&[b"123456789"]), Err(ReportError::EntryTooLarge(8)));
        assert_eq!(entries(&[b"1234567", b"1234567"]), Err(ReportError::TooLarge(12)));
        assert_eq!(entries(&[b"\xff"]), Err(ReportError::NotUtf8));
        let other = ReportWriter::default().done(&Digest::of(b"other"));
        assert_eq!(read(&other), Err(ReportError::OtherLibrary));
        assert_eq!(read(&[9, 0, 0, 0, 0]), Err(ReportError::UnknownFrame(9)));
        assert_eq!(read(&[FAILED, 1, 0, 0, 0, b'x']), Err(ReportError::BadFailure));
    }

    #[test]
    fn what_the_jail_is_comes_first_and_once() {
        let jail = Jail {
            no_new_privileges: true,
            landlock: Extent::Partly,
            landlock_abi: Some(7),
            seccomp: Extent::Full,
            limits: Extent::Full,
        };
        let (beginning, rest) = (ReportWriter::jailed(&jail), ReportWriter::default().done(&digest()));
        let whole = [beginning.clone(), rest.clone()].concat();
        assert_eq!(jail_of(&whole), Ok((jail, &rest[..])));
        assert_eq!(jail_of(&rest), Err(ReportError::NoJail));
        assert_eq!(jail_of(&[JAIL, 2, 0, 0, 0, b'{', b'}']), Err(ReportError::NoJail));
        // From then on it is the plugin that speaks, and it can't say so of itself.
        assert_eq!(read(&whole), Err(ReportError::UnknownFrame(JAIL)));
        assert!(beginning.len() < 256, "it is within the beginning that is kept of any report");
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(0u8..8, 0..200)) {
            let _ = read(&bytes);
            let _ = jail_of(&bytes);
        }
    }
}
