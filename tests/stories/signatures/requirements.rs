//! What must be signed, and by whom: what config.json asks for, and what a
//! project says of signers.

use std::fs;

use replio_tests::{Plugin, World, text};
use serde_json::{Value, json};

use super::{Author, all, code, install, lock, signed, signer, unsigned, update};

fn change_lock(world: &World, change: impl FnOnce(&mut Value)) {
    let mut document = lock(world);
    change(&mut document["plugins"]["actor-01"]);
    world.write(&world.local().join("plugins/plugins.lock"), document.to_string());
}

#[test]
fn where_a_signature_is_required_nothing_goes_without() {
    let mut world = World::new();
    world.tell(1, "type=a");
    let author = Author::new();
    let (one, two) = (unsigned(&world, "1.0.0"), unsigned(&world, "2.0.0"));
    world.ok(&install(&one, &[]));
    world.ok(&update(&two, &[]));
    world.ok(&["plugins", "disable", "actor-01"]);
    let config = world.global().join("config.json");
    let folder = world.path("crate");
    Plugin::with_hooks("built", "", "", "").write_to(&folder);
    world.write(&folder.join("build.rs"), "fn main() { panic!(\"it was built\") }");
    let other = world.actor(2);
    let required =
        |world: &World, arguments: &[&str]| assert_eq!(code(world, arguments), "signature-required");
    for (file, text) in [
        (&config, r#"{"require_signature": true}"#),
        (&world.local().join("config.json"), r#"{"require_signature": "yes"}"#),
    ] {
        world.write(&config, r#"{"require_signature": false}"#);
        world.write(file, text);
        let before = all(&world);
        required(&world, &install(&other, &[]));
        required(&world, &install(&other, &["--accept-key", "none"]));
        required(&world, &install(&folder, &[]));
        required(&world, &["plugins", "enable", "actor-01"]);
        required(&world, &["plugins", "rollback", "actor-01"]);
        required(&world, &update(&unsigned(&world, "3.0.0"), &[]));
        required(&world, &update(&folder, &[]));
        assert!(all(&world) == before, "nothing was changed");
    }
    // A project can't take it back.
    world.write(&config, r#"{"require_signature": true}"#);
    world.write(&world.local().join("config.json"), r#"{"require_signature": false}"#);
    required(&world, &["plugins", "enable", "actor-01"]);

    world.ok(&["plugins", "keys", "trust", &author.key()]);
    world.ok(&update(&signed(&world, "3.0.0", &author), &[]));
    world.ok(&["plugins", "enable", "actor-01"]);
    assert_eq!(world.types().0, ["a"]);
    // A file that can't be read may require it.
    world.write(&config, "{");
    required(&world, &install(&other, &[]));
    let refused = world.run(&install(&other, &[]));
    assert!(refused.stderr.contains("config.json can't be used"), "{refused}");
}

#[test]
fn what_a_project_says_of_signers_is_only_what_it_says() {
    let mut world = World::new();
    world.tell(1, "type=a");
    let (author, attacker) = (Author::new(), Author::new());
    let one = signed(&world, "1.0.0", &author);
    world.ok(&install(&one, &["--accept-key", &author.key()]));
    let two = unsigned(&world, "2.0.0");

    // The list no longer speaks of a signer.
    let original = lock(&world);
    let restore =
        |world: &World| change_lock(world, |record| *record = original["plugins"]["actor-01"].clone());
    change_lock(&world, |record| {
        record.as_object_mut().unwrap().retain(|key, _| key != "signer" && key != "signature");
    });
    assert_eq!(code(&world, &update(&two, &[])), "signer-missing");
    assert_eq!(signer(&world), author.key());
    assert_eq!(code(&world, &["plugins", "verify", "actor-01"]), "plugin-broken");

    // It speaks of another, who has really signed what is installed.
    let forged = attacker.signature(&fs::read(&one).unwrap(), "actor-01 1.0.0");
    let by_attacker = |record: &mut Value| {
        record["signer"] = attacker.key().into();
        record["signature"] = forged.clone().into();
    };
    change_lock(&world, by_attacker);
    attacker.sign(&two, "actor-01 2.0.0");
    assert_eq!(code(&world, &update(&two, &[])), "signer-changed");
    assert_eq!(signer(&world), author.key());
    assert_eq!(code(&world, &["plugins", "verify", "actor-01"]), "plugin-broken");

    // Someone else has the project: nothing is noted, and nobody is known.
    let visitor = world.path("visitor");
    fs::create_dir(&visitor).unwrap();
    world.set("REPLIO_HOME", text(&visitor));
    assert_eq!(world.standing(), ["actor-01 local untrusted"]);
    assert_eq!(signer(&world), attacker.key(), "it has really signed it");
    assert_eq!(world.json(&["plugins", "keys"]), json!({ "keys": [] }));
    world.ok(&install(&one, &["--accept-key", &author.key()]));
    assert_eq!(signer(&world), author.key());

    // Trusting what a project brings takes no forged signature, and notes a signer
    // only where the user trusts the key.
    restore(&world);
    world.set("REPLIO_HOME", text(&world.path("trusting")));
    world.write(&world.path("trusting/config.json"), r#"{"require_signature": true}"#);
    let trust = ["plugins", "trust", "actor-01"];
    assert_eq!(code(&world, &trust), "signature-required");
    world.ok(&["plugins", "keys", "revoke", &author.key()]);
    assert_eq!(code(&world, &trust), "signer-revoked");
    world.ok(&["plugins", "keys", "trust", &author.key()]);
    change_lock(&world, |record| record["signature"] = forged.clone().into());
    assert_eq!(code(&world, &trust), "signature-bad");
    restore(&world);
    assert!(world.ok(&trust).stdout.contains(&format!("signed by key {}, which you trust", author.id())));
    assert_eq!(world.types().0, ["a"]);
    let notes = fs::read_to_string(world.path("trusting/trust.json")).unwrap();
    assert_eq!(notes.matches(&author.key()).count(), 2, "{notes}");

    // The signature is not one of these bytes.
    world.set("REPLIO_HOME", text(&world.path("another")));
    change_lock(&world, |record| {
        record["signer"] = author.key().into();
        record["signature"] = author.signature(b"other bytes", "actor-01 1.0.0").into();
    });
    let (list, show) = (world.run(&["plugins", "list"]), world.run(&["plugins", "show", "actor-01"]));
    assert!(list.stdout.contains("not verified") && !list.stdout.contains(&author.id()), "{list}");
    assert!(show.stdout.contains("not verified"), "{show}");
    assert_eq!(signer(&world), Value::Null);
    assert_eq!(code(&world, &["plugins", "verify", "actor-01"]), "signature-bad");
    assert_eq!(world.run(&["plugins", "verify"]).code, 1);

    // Damage does not make it unsigned.
    restore(&world);
    for (key, value) in [("signature", Value::Null), ("signature", "x".into()), ("signer", 7.into())] {
        change_lock(&world, |record| record[key] = value.clone());
        assert_eq!(world.standing(), ["actor-01 local broken"], "{key} {value}");
        restore(&world);
    }
}

#[test]
fn a_signer_that_only_a_projects_list_knows_is_not_enough_where_one_is_required() {
    let mut world = World::new();
    world.tell(1, "type=a");
    let author = Author::new();
    let (one, two) = (signed(&world, "1.0.0", &author), signed(&world, "2.0.0", &author));
    world.ok(&install(&one, &["--accept-key", &author.key()]));
    world.set("REPLIO_HOME", text(&world.path("visitor")));
    world.ok(&install(&one, &[]));
    world.ok(&update(&two, &[]));
    world.write(&world.path("visitor/config.json"), r#"{"require_signature": true}"#);
    for arguments in
        [&["plugins", "enable", "actor-01"][..], &["plugins", "rollback", "actor-01"], &["plugins", "update"]]
    {
        let ran = world.run(&[arguments, &["--json"]].concat());
        assert!(ran.code == 1 && ran.stdout.contains("signature-required"), "{ran}");
    }
    world.ok(&["plugins", "update", "actor-01", "--accept-key", &author.key()]);
    world.ok(&["plugins", "enable", "actor-01"]);
}

#[test]
fn a_stored_library_that_was_signed_by_nobody_as_recorded_is_not_switched_on() {
    let mut world = World::new();
    world.tell(1, "type=a");
    let author = Author::new();
    world.ok(&install(&signed(&world, "1.0.0", &author), &["--accept-key", &author.key()]));
    world.ok(&["plugins", "disable", "actor-01"]);
    change_lock(&world, |record| {
        record["signature"] = author.signature(b"other bytes", "actor-01 1.0.0").into();
    });
    assert_eq!(code(&world, &["plugins", "enable", "actor-01"]), "signature-bad");
    assert_eq!(code(&world, &["plugins", "verify", "actor-01"]), "signature-bad");
    // What the help says.
    world.ok(&["plugins", "update", "actor-01"]);
    world.ok(&["plugins", "verify"]);
    world.ok(&["plugins", "enable", "actor-01"]);
}
