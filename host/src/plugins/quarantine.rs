//! `quarantine.json`: plugins that crashed, hung or lied, and are not run
//! again until their library or this replio is another one, or a person says
//! so. A kill from outside is no crash; it takes two in a row to lay blame.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::global_file::{GlobalFile, forget, now, section};
use crate::diagnostic::Diagnostic;
use crate::names::PluginName;
use crate::plugins::digest::Digest;
use crate::plugins::run::{Blame, Fault};

const FILE: GlobalFile = GlobalFile {
    name: "quarantine.json",
    code: "quarantine-damaged",
    means: "no plugin is set aside and all are checked afresh",
    sections: &[SECTION],
};
const SECTION: &str = "plugins";
/// This replio: another one runs the plugin again.
const HOST: &str = env!("CARGO_PKG_VERSION");
/// How often a plugin may end by a kill from outside before it is to blame.
const ENDS_TO_BLAME: u64 = 2;

/// The libraries that are set aside, or about to be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Quarantine {
    notes: BTreeMap<Digest, Note>,
}

/// Why a library is set aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// What it did.
    pub reason: String,
    /// When, as `2026-12-01T00:15:42Z`.
    pub since: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Note {
    reason: Reason,
    ends: u64,
}

/// What the last run of a library says about it.
#[derive(Debug, Clone)]
pub struct Verdict {
    /// The library.
    pub sha256: Digest,
    /// The plugin's name, for people who read the file.
    pub name: PluginName,
    /// What it did wrong; `None` where it did as it should.
    pub fault: Option<Fault>,
}

impl Quarantine {
    /// What the file in the global folder says; nothing is set aside where
    /// there is none.
    ///
    /// # Errors
    /// When it can't be read as a whole.
    pub fn read(global: &Path) -> Result<Self, Diagnostic> {
        FILE.read(global).map(|document| Self::of(&document))
    }

    /// What a text says.
    ///
    /// # Errors
    /// As [`Quarantine::read`], without the file.
    pub fn parse(text: &str) -> Result<Self, Diagnostic> {
        FILE.parse(text).map(|document| Self::of(&document))
    }

    /// Notes of another replio, and what can't be read, set nothing aside.
    fn of(document: &Map<String, Value>) -> Self {
        let all = document.get(SECTION).and_then(Value::as_object).into_iter().flatten();
        let notes = all.filter_map(|(sha256, note)| Some((sha256.parse().ok()?, note_of(note)?)));
        Self { notes: notes.collect() }
    }

    /// Why a library is set aside, if it is.
    pub fn reason(&self, sha256: &Digest) -> Option<&Reason> {
        let note = self.notes.get(sha256)?;
        (note.ends >= ENDS_TO_BLAME).then_some(&note.reason)
    }

    /// Whether anything is noted about a library.
    pub fn has_note(&self, sha256: &Digest) -> bool {
        self.notes.contains_key(sha256)
    }

    /// Whether this verdict says something that is not noted yet.
    fn is_changed_by(&self, verdict: &Verdict) -> bool {
        match verdict.fault.as_ref().map(Fault::blame) {
            Some(Blame::Certain) => self.reason(&verdict.sha256).is_none(),
            Some(Blame::Possible) => true,
            Some(Blame::None) => false,
            None => self.notes.contains_key(&verdict.sha256),
        }
    }

    /// Writes down what the last runs say, and returns what is set aside then.
    ///
    /// # Errors
    /// When the file can't be read, locked or written.
    pub fn judge(&self, global: &Path, verdicts: &[Verdict]) -> Result<Self, Diagnostic> {
        if !verdicts.iter().any(|verdict| self.is_changed_by(verdict)) {
            return Ok(self.clone());
        }
        FILE.change(global, |document| Self::write(document, verdicts))
    }

    /// What is set aside after the last runs, and the text of the file then;
    /// `None` where they change nothing.
    ///
    /// # Errors
    /// As [`Quarantine::parse`].
    pub fn judge_text(text: &str, verdicts: &[Verdict]) -> Result<(Self, Option<String>), Diagnostic> {
        FILE.change_text(text, |document| Self::write(document, verdicts))
    }

    fn write(document: &mut Map<String, Value>, verdicts: &[Verdict]) -> Self {
        for verdict in verdicts {
            let there = Self::of(document);
            if there.is_changed_by(verdict) {
                verdict.write(document, there.notes.get(&verdict.sha256));
            }
        }
        Self::of(document)
    }

    /// Takes a library back that was set aside. Returns whether it was.
    ///
    /// # Errors
    /// When the file can't be read, locked or written.
    pub fn release(global: &Path, sha256: &Digest) -> Result<bool, Diagnostic> {
        FILE.change(global, |document| Self::take_out(document, sha256))
    }

    /// The text of the file after a library is taken back; `None` where it was
    /// not set aside.
    ///
    /// # Errors
    /// As [`Quarantine::parse`].
    pub fn release_text(text: &str, sha256: &Digest) -> Result<Option<String>, Diagnostic> {
        FILE.change_text(text, |document| Self::take_out(document, sha256)).map(|(_, text)| text)
    }

    fn take_out(document: &mut Map<String, Value>, sha256: &Digest) -> bool {
        let was = Self::of(document).notes.contains_key(sha256);
        if was {
            forget(document, SECTION, sha256);
        }
        was
    }
}

fn note_of(note: &Value) -> Option<Note> {
    let text = |key: &str| note.get(key).and_then(Value::as_str).map(str::to_owned);
    let ends = note.get("ends").and_then(Value::as_u64)?;
    (text("replio")? == HOST)
        .then_some(Note { reason: Reason { reason: text("reason")?, since: text("since")? }, ends })
}

impl Verdict {
    fn write(&self, document: &mut Map<String, Value>, there: Option<&Note>) {
        forget(document, SECTION, &self.sha256);
        let Some(fault) = &self.fault else { return };
        let ends = match fault.blame() {
            Blame::Possible => there.map_or(0, |note| note.ends).saturating_add(1),
            _ => ENDS_TO_BLAME,
        };
        let note = json!({
            "name": self.name,
            "replio": HOST,
            "since": now(),
            "code": fault.code(),
            "reason": fault.reason(),
            "ends": ends,
        });
        let notes = section(document, SECTION);
        notes.insert(self.sha256.to_string(), note);
        notes.sort_keys();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugins::run::FaultKind;

    fn verdict(kind: Option<FaultKind>) -> Verdict {
        let name: PluginName = "audit".parse().unwrap();
        let fault = kind.map(|kind| Fault::new(&name, kind));
        Verdict { sha256: Digest::of(b"audit"), name, fault }
    }

    fn signal(signal: i32) -> FaultKind {
        FaultKind::Signal { signal, panic_aborts: false }
    }

    /// Whether it is set aside after each of these runs.
    fn after(runs: &[Option<FaultKind>]) -> Vec<bool> {
        let folder = tempfile::tempdir().unwrap();
        let mut quarantine = Quarantine::read(folder.path()).unwrap();
        let after = |kind: &Option<FaultKind>| {
            let verdict = verdict(kind.clone());
            quarantine = quarantine.judge(folder.path(), std::slice::from_ref(&verdict)).unwrap();
            assert_eq!(Quarantine::read(folder.path()).unwrap(), quarantine);
            quarantine.reason(&verdict.sha256).is_some()
        };
        runs.iter().map(after).collect()
    }

    #[test]
    fn a_crash_sets_a_plugin_aside_at_once_and_a_kill_only_the_second_time_in_a_row() {
        assert_eq!(after(&[None, Some(signal(11))]), [false, true]);
        assert_eq!(after(&[Some(signal(9)), Some(signal(9))]), [false, true]);
        assert_eq!(
            after(&[Some(signal(9)), None, Some(signal(9)), Some(signal(15))]),
            [false, false, false, true]
        );
        assert_eq!(after(&[Some(signal(9)), Some(FaultKind::EndedEarly(0))]), [false, true]);
        assert_eq!(after(&[Some(FaultKind::HookFailed("no".into()))]), [false]);
        assert_eq!(after(&[Some(FaultKind::Runner("gone".into()))]), [false]);
    }

    #[test]
    fn it_is_taken_back_when_a_person_says_so_and_under_another_replio() {
        let folder = tempfile::tempdir().unwrap();
        let verdict = verdict(Some(signal(11)));
        Quarantine::default().judge(folder.path(), std::slice::from_ref(&verdict)).unwrap();
        let path = folder.path().join("quarantine.json");
        let text = std::fs::read_to_string(&path).unwrap();
        let newer = Quarantine::parse(&text.replace(HOST, "999.0.0")).unwrap();
        assert_eq!(newer.reason(&verdict.sha256), None);
        assert!(Quarantine::release(folder.path(), &verdict.sha256).unwrap());
        assert!(!Quarantine::release(folder.path(), &verdict.sha256).unwrap());
        assert_eq!(Quarantine::read(folder.path()).unwrap().reason(&verdict.sha256), None);
    }

    #[test]
    fn what_is_noted_in_capital_digits_can_be_taken_back() {
        let verdict = verdict(Some(signal(11)));
        let (_, text) = Quarantine::judge_text("{}", std::slice::from_ref(&verdict)).unwrap();
        let digits = verdict.sha256.to_string();
        let text = text.unwrap().replace(&digits, &digits.to_uppercase());
        assert!(Quarantine::parse(&text).unwrap().reason(&verdict.sha256).is_some());
        let after = Quarantine::release_text(&text, &verdict.sha256).unwrap().unwrap();
        assert!(!Quarantine::parse(&after).unwrap().has_note(&verdict.sha256));
    }

    #[test]
    fn a_damaged_file_sets_nothing_aside_and_is_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("quarantine.json");
        std::fs::write(&path, "{").unwrap();
        assert_eq!(Quarantine::read(folder.path()).unwrap_err().code, "quarantine-damaged");
        let error = Quarantine::default().judge(folder.path(), &[verdict(Some(signal(11)))]).unwrap_err();
        assert_eq!(error.code, "quarantine-damaged");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "{");
    }
}
