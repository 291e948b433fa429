//! `trust.json` and `quarantine.json`, read and changed.

use replio::names::PluginName;
use replio::plugins::digest::Digest;
use replio::plugins::quarantine::{Quarantine, Verdict};
use replio::plugins::run::{Fault, FaultKind};
use replio::plugins::signature::SignerKey;
use replio::plugins::trust::{KeyTrust, Trust, TrustChange};
use serde_json::{Map, Value};

/// The key of someone who signs.
const SIGNER: &str = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";

/// The whole file.
///
/// # Panics
/// When what must hold doesn't.
pub fn trust_json(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let trust = match Trust::parse(text) {
        Ok(trust) => trust,
        Err(error) => {
            assert_eq!(error.code, "trust-damaged");
            super::check_place(&error, bytes);
            let change = [TrustChange::Key { key: "RWa".into(), trust: KeyTrust::Trusted }];
            return assert!(Trust::change_text(text, &change).is_err(), "what can't be read is written over");
        }
    };
    let changed = |change: TrustChange| {
        let change = [change];
        let Some(after) = Trust::change_text(text, &change).expect("it can be read") else {
            return trust.clone();
        };
        assert_eq!(
            Trust::change_text(&after, &change).as_ref(),
            Ok(&None),
            "the same again changes something"
        );
        nothing_else_is_lost(text, &after, &["plugins", "files", "keys"]);
        Trust::parse(&after).expect("what replio writes, it reads")
    };
    let (new, name) = (Digest::of(b"new"), plugin_name());
    assert!(changed(TrustChange::Plugin { sha256: new, name }).has_plugin(&new));
    assert!(changed(TrustChange::File { sha256: new, path: "types.json".into() }).has_file(&new));
    for sha256 in digests(text).into_iter().chain([new]) {
        let without = changed(TrustChange::ForgetPlugin(sha256));
        assert!(!without.has_plugin(&sha256));
        assert_eq!(without.has_file(&sha256), trust.has_file(&sha256));
        let without = changed(TrustChange::ForgetFile(sha256));
        assert!(!without.has_file(&sha256));
        assert_eq!(without.has_plugin(&sha256), trust.has_plugin(&sha256));
    }
    let signer: SignerKey = SIGNER.parse().expect("a key");
    for sha256 in digests(text).into_iter().chain([new]) {
        let noted = changed(TrustChange::Signer { sha256, signer: Some(signer.clone()) });
        assert_eq!(noted.has_plugin(&sha256), trust.has_plugin(&sha256));
        assert!(noted.signer(&sha256).is_none_or(|noted| *noted == signer));
        let unsigned = changed(TrustChange::Signer { sha256, signer: None });
        assert_eq!(
            (unsigned.signer(&sha256), unsigned.has_plugin(&sha256)),
            (None, trust.has_plugin(&sha256))
        );
    }
    for (key, _) in trust.keys().take(4).chain([("RWnew", KeyTrust::Trusted)]) {
        for trust in [KeyTrust::Trusted, KeyTrust::Revoked] {
            assert_eq!(changed(TrustChange::Key { key: key.into(), trust }).key(key), Some(trust));
        }
    }
}

/// The whole file.
///
/// # Panics
/// When what must hold doesn't.
pub fn quarantine_json(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let fault = Fault::new(&plugin_name(), FaultKind::EndedEarly(0));
    let verdict = |sha256, fault| [Verdict { sha256, name: plugin_name(), fault }];
    if let Err(error) = Quarantine::parse(text) {
        assert_eq!(error.code, "quarantine-damaged");
        super::check_place(&error, bytes);
        let crashed = verdict(Digest::of(b"new"), Some(fault));
        return assert!(
            Quarantine::judge_text(text, &crashed).is_err(),
            "what can't be read is written over"
        );
    }
    for sha256 in digests(text).into_iter().chain([Digest::of(b"new")]) {
        let text_after = |verdict: &[Verdict]| {
            let (quarantine, after) = Quarantine::judge_text(text, verdict).expect("it can be read");
            let after = after.unwrap_or_else(|| text.to_owned());
            nothing_else_is_lost(text, &after, &["plugins"]);
            assert_eq!(Quarantine::parse(&after), Ok(quarantine));
            after
        };
        let crashed = text_after(&verdict(sha256, Some(fault.clone())));
        assert!(Quarantine::parse(&crashed).is_ok_and(|after| after.reason(&sha256).is_some()));
        let released =
            Quarantine::release_text(&crashed, &sha256).expect("it can be read").expect("it is set aside");
        assert!(Quarantine::parse(&released).is_ok_and(|after| !after.has_note(&sha256)));
        let went_well = text_after(&verdict(sha256, None));
        assert!(Quarantine::parse(&went_well).is_ok_and(|after| !after.has_note(&sha256)));
    }
}

fn plugin_name() -> PluginName {
    "audit".parse().expect("a name")
}

/// Some of the digests that a file speaks of.
fn digests(text: &str) -> Vec<Digest> {
    let document: Map<String, Value> = serde_json::from_str(text).expect("an object");
    let keys = document.values().filter_map(Value::as_object).flat_map(Map::keys);
    keys.filter_map(|key| key.parse().ok()).take(4).collect()
}

/// A change touches the sections that it is about, and in them nothing but
/// digests and keys; what no digest is stays as it was.
fn nothing_else_is_lost(before: &str, after: &str, sections: &[&str]) {
    let [before, after]: [Map<String, Value>; 2] =
        [before, after].map(|text| serde_json::from_str(text).expect("an object"));
    for (key, old) in &before {
        let new = after.get(key);
        if !sections.contains(&key.as_str()) {
            assert_eq!(new, Some(old), "{key:?}");
            continue;
        }
        for (inner, old) in old.as_object().into_iter().flatten() {
            if inner.parse::<Digest>().is_err() && key != "keys" {
                assert_eq!(new.and_then(|new| new.get(inner)), Some(old), "{inner:?}");
            }
        }
    }
}
