//! Keys are trusted, accepted and revoked, and told apart by all that they are.

use replio_tests::{World, text};
use serde_json::{Value, json};

use super::{Author, code, install, signed, signer, unsigned, update};

#[test]
fn nothing_that_a_revoked_key_signed_is_taken_or_run() {
    let mut world = World::new();
    world.tell(1, "type=a");
    world.tell(2, "type=b");
    let (author, other) = (Author::new(), Author::new());
    let one = signed(&world, "1.0.0", &author);
    world.ok(&install(&one, &["--accept-key", &author.key()]));
    world.ok(&["plugins", "install", text(&world.actor(2))]);
    let id = author.id();
    let story = [
        world.run(&["plugins", "keys", "revoke", &id]),
        world.run(&["plugins", "list"]),
        world.run(&["type", "list", "of-an-actor"]),
        world.run(&["plugins", "verify"]),
        world.run(&["plugins", "enable", "actor-01"]),
        world.run(&update(&signed(&world, "2.0.0", &author), &[])),
        world.run(&["plugins", "keys"]),
    ];
    let story = story.map(|ran| ran.to_string()).join("\n");
    insta::assert_snapshot!(story.replace(&author.key(), "[key]").replace(&id, "[id]"));
    assert_eq!(world.standing(), ["actor-01 local broken", "actor-02 local enabled"]);
    assert_eq!(code(&world, &update(&one, &["--accept-key", &author.key()])), "signer-revoked");

    let session = world.run_with_input(&[], &format!("/plugins keys trust {}\n/type list of-an-actor\n/plugins keys revoke {id}\n/type list of-an-actor\n", author.key()));
    assert_eq!(session.stdout.matches("plugin actor-01").count(), 1, "{session}");

    // The help's ways out, each of them.
    let two = world.actor_version(1, "2.0.0");
    other.sign(&two, "actor-01 2.0.0");
    world.ok(&["plugins", "keys", "trust", &author.key()]);
    assert_eq!(world.types().0, ["a", "b"]);
    world.ok(&["plugins", "keys", "revoke", &author.key()]);
    world.ok(&update(&two, &["--accept-key", &other.key()]));
    assert_eq!(world.types().0, ["a", "b"]);
    assert_eq!(code(&world, &["plugins", "rollback", "actor-01"]), "signer-revoked");
    world.ok(&["plugins", "verify"]);
    world.ok(&["plugins", "uninstall", "actor-01"]);
    assert_eq!(code(&world, &install(&one, &[])), "signer-revoked");
}

#[test]
fn damage_in_trust_json_takes_no_revocation_back() {
    let mut world = World::new();
    world.tell(1, "type=a");
    let author = Author::new();
    let one = signed(&world, "1.0.0", &author);
    world.ok(&install(&one, &["--global", "--accept-key", &author.key()]));
    assert_eq!(world.types().0, ["a"]);
    world.ok(&["plugins", "keys", "revoke", &author.key()]);
    let path = world.global().join("trust.json");
    let before = std::fs::read_to_string(&path).unwrap();
    let revoked = serde_json::from_str::<serde_json::Value>(&before).unwrap()["keys"].clone();
    let nothing = json!({ author.key(): null });
    for keys in [json!([revoked]), json!("none"), json!(null), nothing] {
        let mut document: serde_json::Value = serde_json::from_str(&before).unwrap();
        document["keys"] = keys;
        world.write(&path, document.to_string());
        assert_eq!(world.types().0, [] as [&str; 0], "{document}");
        assert_eq!(world.standing(), ["actor-01 global broken"], "{document}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), document.to_string());
    }
    world.write(&path, "x");
    assert_eq!(world.types(), (vec![], vec!["trust-damaged".into(), "plugin-broken".into()]));
    world.write(&path, before);
    world.ok(&["plugins", "keys", "trust", &author.key()]);
    assert_eq!(world.types().0, ["a"]);
}

#[test]
fn keys_are_listed_trusted_and_revoked() {
    let world = World::new();
    assert_eq!(world.json(&["plugins", "keys", "list"]), json!({ "keys": [] }));
    let (author, other) = (Author::new(), Author::new());
    let public = world.project().join("other.pub");
    world.write(&public, other.pair.pk.to_box().unwrap().to_string());
    world.ok(&install(&signed(&world, "1.0.0", &author), &["--accept-key", &author.key()]));
    let trusted = world.json(&["plugins", "keys", "trust", "other.pub"]);
    let row = |author: &Author, standing: &str, plugins: Value| json!({"id": author.id(), "key": author.key(), "standing": standing, "plugins": plugins});
    assert_eq!(trusted, json!({ "keys": [row(&other, "trusted", json!([]))] }));
    let revoked = world.json(&["plugins", "keys", "revoke", &author.id().to_lowercase()]);
    assert_eq!(revoked, json!({ "keys": [row(&author, "revoked", json!(["actor-01"]))] }));
    let mut expected = [row(&author, "revoked", json!(["actor-01"])), row(&other, "trusted", json!([]))];
    expected.sort_by_key(|row| row["key"].as_str().unwrap().to_owned());
    assert_eq!(world.json(&["plugins", "keys"])["keys"], json!(expected));

    // One that was never heard of is noted; its number alone says nothing.
    let stranger = Author::new();
    assert_eq!(code(&world, &["plugins", "keys", "revoke", &stranger.id()]), "bad-key");
    world.ok(&["plugins", "keys", "revoke", &stranger.key()]);
    world.ok(&["plugins", "keys", "trust", &Author::posing_as(&stranger).key()]);
    assert_eq!(code(&world, &["plugins", "keys", "revoke", &stranger.id()]), "bad-key");
}

#[test]
fn a_key_that_took_anothers_number_is_none_of_its_own() {
    let mut world = World::new();
    world.tell(1, "type=a");
    let author = Author::new();
    let poser = Author::posing_as(&author);
    assert_eq!((author.id(), author.key() == poser.key()), (poser.id(), false));
    world.ok(&["plugins", "keys", "trust", &author.key()]);
    let one = signed(&world, "1.0.0", &poser);
    assert_eq!(code(&world, &install(&one, &[])), "signature-bad");
    assert_eq!(code(&world, &install(&one, &["--accept-key", &author.key()])), "signature-bad");
    world.ok(&install(&signed(&world, "1.0.0", &author), &[]));
    assert_eq!(code(&world, &update(&signed(&world, "2.0.0", &poser), &[])), "signature-bad");
    assert_eq!(
        code(&world, &update(&signed(&world, "2.0.0", &poser), &["--accept-key", &author.key()])),
        "signature-bad"
    );
    world.ok(&["plugins", "keys", "trust", &poser.key()]);
    assert_eq!(code(&world, &update(&signed(&world, "2.0.0", &poser), &[])), "signer-changed");
    world.ok(&update(&signed(&world, "2.0.0", &poser), &["--accept-key", &poser.key()]));
    assert_eq!(signer(&world), poser.key());
}

#[test]
fn what_accept_key_takes() {
    let mut world = World::new();
    world.tell(1, "type=a");
    let author = Author::new();
    let one = unsigned(&world, "1.0.0");
    assert_eq!(code(&world, &install(&one, &["--accept-key", &author.key()])), "signer-missing");
    let secret = author.pair.sk.to_box(None).unwrap().to_string();
    let line = secret.lines().nth(1).unwrap();
    let (key_file, large) = (world.path("secret.key"), world.path("large.pub"));
    world.write(&key_file, &secret);
    world.write(&large, "x".repeat(1 << 20));
    for bad in ["RWnope", "", "/dev/zero", text(&large), text(&world.path("no.pub")), text(&key_file), line] {
        let refused = world.run(&install(&one, &["--accept-key", bad]));
        assert_eq!(code(&world, &install(&one, &["--accept-key", bad])), "bad-key", "{bad}");
        assert!(!refused.stderr.contains(&line[..20]), "{refused}");
    }
    assert_eq!(world.run(&["plugins", "update", "--accept-key", "none"]).code, 2);
    world.ok(&install(&one, &["--accept-key", "none"]));
}
