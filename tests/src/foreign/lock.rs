//! `plugins.lock`, which may come with a project.

use replio::names::PluginName;
use replio::plugins::lockfile::{Lockfile, Record};
use serde_json::{Map, Value};

/// The whole file.
///
/// # Panics
/// When what must hold doesn't.
pub fn plugins_lock(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let lockfile = match Lockfile::parse(text) {
        Ok(lockfile) => lockfile,
        Err(error) => {
            assert!(matches!(error.code, "lock-damaged" | "lock-too-new"), "{error:?}");
            assert!(error.help.is_some());
            return super::check_place(&error, bytes);
        }
    };
    // Written again as it is, nothing of it is lost.
    let before: Value = serde_json::from_str(text).expect("it was read");
    let after = document(&lockfile);
    assert_eq!(after, before);
    let again = Lockfile::parse(&lockfile.text()).expect("what replio writes, it reads");
    assert!(again.plugins().eq(lockfile.plugins()));
    assert!(again.digests().eq(lockfile.digests()));

    let names: Vec<PluginName> = lockfile.plugins().map(|(name, _)| name.clone()).collect();
    for name in &names {
        if let Some(Ok(record)) = lockfile.get(name).cloned() {
            switched(&lockfile, name, record, &before);
        }
        let mut without = lockfile.clone();
        without.remove(name);
        let mut expected = before.clone();
        plugins(&mut expected).shift_remove(name.as_str());
        assert_eq!(document(&without), expected);
    }
}

/// To enable or disable a plugin changes that word and nothing that was not
/// understood.
fn switched(lockfile: &Lockfile, name: &PluginName, record: Record, before: &Value) {
    let record = Record { enabled: !record.enabled, ..record };
    let mut switched = lockfile.clone();
    switched.put(name, record.clone());
    let again = Lockfile::parse(&switched.text()).expect("what replio writes, it reads");
    assert_eq!(again.get(name), Some(&Ok(record)));

    let (mut before, mut after) = (before.clone(), document(&switched));
    let (old, new) =
        (plugins(&mut before).shift_remove(name.as_str()), plugins(&mut after).shift_remove(name.as_str()));
    assert_eq!(before, after);
    let (Some(old), Some(new)) = (old, new) else { panic!("{name} is gone") };
    keys_are_kept(&old, &new);
    for inner in ["needs", "provides", "previous"] {
        keys_are_kept(&old[inner], &new[inner]);
    }
    keys_are_kept(&old["previous"]["needs"], &new["previous"]["needs"]);
    keys_are_kept(&old["previous"]["provides"], &new["previous"]["provides"]);
}

/// Every key of the old object is in the new one, a `null` excepted.
fn keys_are_kept(old: &Value, new: &Value) {
    for (key, value) in old.as_object().into_iter().flatten() {
        assert!(value.is_null() || new.get(key).is_some(), "{key:?} is lost");
    }
}

fn document(lockfile: &Lockfile) -> Value {
    serde_json::from_str(&lockfile.text()).expect("JSON")
}

fn plugins(document: &mut Value) -> &mut Map<String, Value> {
    document["plugins"].as_object_mut().expect("an object of plugins")
}
