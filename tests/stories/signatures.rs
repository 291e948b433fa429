//! Who signed a plugin counts: at its install, at each update, and for as long
//! as it is there.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use minisign::{KeyPair, PublicKey, SecretKey};
use replio::plugins::signature::SignerKey;
use replio_tests::{Plugin, World, text, tree};
use serde_json::{Value, json};

mod keys;
mod requirements;

/// Someone who signs.
struct Author {
    pair: KeyPair,
}

impl Author {
    fn new() -> Self {
        Self { pair: KeyPair::generate_unencrypted_keypair().unwrap() }
    }

    /// One whose key has the number of another's.
    fn posing_as(other: &Self) -> Self {
        let number = &other.pair.pk.to_bytes()[2..10];
        let Self { pair } = Self::new();
        let (mut public, mut secret) = (pair.pk.to_bytes(), pair.sk.to_bytes());
        public[2..10].copy_from_slice(number);
        let at = secret.len() - 104;
        secret[at..at + 8].copy_from_slice(number);
        let (pk, sk) = (PublicKey::from_bytes(&public).unwrap(), SecretKey::from_bytes(&secret).unwrap());
        Self { pair: KeyPair { pk, sk } }
    }

    fn key(&self) -> String {
        self.pair.pk.to_base64()
    }

    fn id(&self) -> String {
        self.key().parse::<SignerKey>().unwrap().id().to_string()
    }

    fn signature(&self, bytes: &[u8], comment: &str) -> String {
        minisign::sign(Some(&self.pair.pk), &self.pair.sk, bytes, Some(comment), None).unwrap().to_string()
    }

    /// Signs a library with this comment; the signature lies beside it then.
    fn sign(&self, library: &Path, comment: &str) {
        let signature = self.signature(&fs::read(library).unwrap(), comment);
        fs::write(beside(library), signature).unwrap();
    }
}

fn beside(library: &Path) -> PathBuf {
    library.with_extension("so.minisig")
}

/// Version `version` of the actor 1, signed by an author.
fn signed(world: &World, version: &str, author: &Author) -> PathBuf {
    let library = world.actor_version(1, version);
    author.sign(&library, &format!("replio-plugin:actor-01 {version}"));
    library
}

/// Version `version` of the actor 1, without a signature.
fn unsigned(world: &World, version: &str) -> PathBuf {
    let library = world.actor_version(1, version);
    let _ = fs::remove_file(beside(&library));
    library
}

fn install<'a>(library: &'a Path, more: &[&'a str]) -> Vec<&'a str> {
    [&["plugins", "install", text(library)], more].concat()
}

fn update<'a>(library: &'a Path, more: &[&'a str]) -> Vec<&'a str> {
    [&["plugins", "update", "actor-01", "--from", text(library)], more].concat()
}

fn code(world: &World, arguments: &[&str]) -> String {
    world.error(arguments)["code"].as_str().unwrap().to_owned()
}

fn signer(world: &World) -> Value {
    world.json(&["plugins", "list"])["plugins"][0]["signer"].clone()
}

fn lock(world: &World) -> Value {
    serde_json::from_str(&fs::read_to_string(world.local().join("plugins/plugins.lock")).unwrap()).unwrap()
}

/// All that counts of what is installed and trusted.
fn all(world: &World) -> (replio_tests::Tree, replio_tests::Tree) {
    let mut global = tree(&world.global());
    global.retain(|path, _| !path.starts_with(world.global().join("cache")));
    (tree(&world.local()), global)
}

#[test]
fn a_signed_plugin_is_taken_from_a_known_key_and_keeps_its_signer() {
    let mut world = World::new();
    world.tell(1, "type=a");
    let author = Author::new();
    let one = signed(&world, "1.0.0", &author);
    let public = world.path("author.pub");
    world.write(&public, author.pair.pk.to_box().unwrap().to_string());
    let key = author.key();
    let story = [
        world.run(&install(&one, &[])),
        world.run(&install(&one, &["--accept-key", text(&public), "--dry-run"])),
        world.run(&install(&one, &["--accept-key", text(&public)])),
        world.run(&install(&one, &[])),
        world.run(&["plugins", "list"]),
        world.run(&["plugins", "show", "actor-01"]),
        world.run(&["plugins", "verify"]),
        world.run(&update(&signed(&world, "2.0.0", &author), &[])),
        world.run(&["plugins", "keys"]),
    ];
    let story = story.map(|ran| ran.to_string()).join("\n");
    insta::assert_snapshot!(story.replace(&key, "[key]").replace(&author.id(), "[id]"));
    assert_eq!(signer(&world), key.as_str());
    let document = lock(&world);
    let record = &document["plugins"]["actor-01"];
    assert_eq!((&record["signer"], &record["previous"]["signer"]), (&json!(key), &json!(key)));
    assert!(record["signature"].as_str().unwrap().contains("replio-plugin:actor-01 2.0.0"));
    // It was accepted for this plugin, and for no other.
    let other = world.actor(2);
    author.sign(&other, "actor-02 1.0.0");
    assert_eq!(code(&world, &install(&other, &[])), "signer-unknown");
    world.ok(&["plugins", "keys", "trust", &key]);
    world.ok(&install(&other, &[]));
}

#[test]
fn a_signature_that_does_not_count_is_refused_before_anything_runs() {
    let mut world = World::new();
    let author = Author::new();
    world.tell(1, "type=a");
    let one = signed(&world, "1.0.0", &author);
    let two = world.actor_version(1, "2.0.0");
    let bytes = fs::read(&two).unwrap();
    let sign = |comment: &str| author.signature(&bytes, comment);
    let right = sign("actor-01 2.0.0");
    let signatures: Vec<(&str, Vec<u8>)> = vec![
        ("of other bytes", author.signature(&fs::read(&one).unwrap(), "actor-01 2.0.0").into()),
        ("of another plugin", sign("actor-02 2.0.0").into()),
        ("of an old version", sign("actor-01 1.0.0").into()),
        ("without a word", sign("timestamp:1\tfile:libactor_01.so\thashed").into()),
        ("escapes", sign("\u{1b}[2Jactor-01 2.0.0\u{7} \u{202e}").into()),
        ("truncated", right.as_bytes()[..right.len() / 2].into()),
        ("another comment", right.replace("actor-01 2.0.0", "actor-01 2.0.0!").into()),
        (
            "of the old kind",
            right
                .replacen("\nRUQ", "\nRWQ", 1)
                .replacen("\nRUR", "\nRWR", 1)
                .replacen("\nRUS", "\nRWS", 1)
                .replacen("\nRUT", "\nRWT", 1)
                .into(),
        ),
        ("empty", Vec::new()),
        ("noise", vec![0xfe; 300]),
        ("large", [right.as_bytes(), &vec![b'\n'; 1 << 20]].concat()),
        ("posing", Author::posing_as(&author).signature(&bytes, "actor-01 2.0.0").into()),
    ];
    for is_update in [false, true] {
        if is_update {
            world.tell(1, "type=a");
            world.ok(&install(&one, &["--accept-key", &author.key()]));
        } else {
            world.ok(&["plugins", "keys", "trust", &author.key()]);
        }
        world.tell(1, "open:abort");
        let arguments = if is_update { update(&two, &[]) } else { install(&two, &[]) };
        let before = all(&world);
        let refuse = |what: &str| {
            let ran = world.run(&arguments);
            assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{what}: {ran}");
            assert!(
                !ran.stderr.chars().any(|c| c.is_control() && c != '\n' || c == '\u{202e}'),
                "{what}: {ran}"
            );
            assert_eq!(code(&world, &arguments), "signature-bad", "{what}: {ran}");
            assert!(all(&world) == before, "{what}");
        };
        for (what, signature) in &signatures {
            fs::write(beside(&two), signature).unwrap();
            refuse(what);
        }
        fs::remove_file(beside(&two)).unwrap();
        assert!(Command::new("mkfifo").arg(beside(&two)).status().unwrap().success());
        refuse("a pipe");
        fs::remove_file(beside(&two)).unwrap();
        symlink("nowhere", beside(&two)).unwrap();
        refuse("a link to nothing");
        fs::remove_file(beside(&two)).unwrap();
        fs::create_dir(beside(&two)).unwrap();
        refuse("a folder");
        fs::remove_dir(beside(&two)).unwrap();
    }
}

#[test]
fn an_update_by_another_signer_or_by_none_is_refused_until_it_is_accepted() {
    let mut world = World::new();
    world.tell(1, "type=a");
    let (author, other) = (Author::new(), Author::new());
    world.ok(&install(&signed(&world, "1.0.0", &author), &["--accept-key", &author.key()]));
    let before = all(&world);
    let two = unsigned(&world, "2.0.0");
    assert_eq!(code(&world, &update(&two, &[])), "signer-missing");
    assert_eq!(code(&world, &update(&two, &["--dry-run"])), "signer-missing");
    assert_eq!(code(&world, &update(&two, &["--accept-key", &author.key()])), "signer-missing");
    other.sign(&two, "actor-01 2.0.0");
    assert_eq!(code(&world, &update(&two, &[])), "signer-changed");
    assert_eq!(code(&world, &update(&two, &["--accept-key", "none"])), "signer-changed");
    assert_eq!(code(&world, &update(&two, &["--accept-key", &author.key()])), "signer-other");
    assert!(all(&world) == before, "nothing was changed");
    // That it is trusted for other plugins is no reason.
    world.ok(&["plugins", "keys", "trust", &other.key()]);
    let refused = world.error(&update(&two, &[]));
    assert_eq!((&refused["code"], &refused["plugin"]), (&json!("signer-changed"), &json!("actor-01")));
    let message = refused["message"].as_str().unwrap();
    assert!(message.contains(&author.id()) && message.contains(&other.id()), "{refused}");

    let ran = world.ok(&update(&two, &["--accept-key", &other.key()]));
    assert!(ran.stdout.contains(&format!("signed by {}", other.id())), "{ran}");
    let three = unsigned(&world, "3.0.0");
    assert_eq!(code(&world, &update(&three, &[])), "signer-missing");
    assert!(world.ok(&update(&three, &["--accept-key", "none"])).stdout.contains("unsigned"));
    assert_eq!(signer(&world), Value::Null);
    assert!(!lock(&world)["plugins"]["actor-01"].as_object().unwrap().contains_key("signature"));
    world.ok(&update(&unsigned(&world, "4.0.0"), &[]));

    // Back to a build of a signer that the user had.
    world.ok(&update(&two, &["--allow-downgrade"]));
    world.ok(&update(&three, &["--accept-key", "none"]));
    world.ok(&["plugins", "rollback", "actor-01"]);
    assert_eq!(signer(&world), other.key());
    assert_eq!(code(&world, &update(&three, &[])), "signer-missing");
    world.ok(&["plugins", "verify"]);
}

#[test]
fn what_is_installed_unsigned_becomes_signed_by_a_key_that_counts() {
    let mut world = World::new();
    world.tell(1, "type=a");
    let author = Author::new();
    let one = unsigned(&world, "1.0.0");
    world.ok(&install(&one, &[]));
    author.sign(&one, "actor-01 1.0.0");
    let before = all(&world);
    assert_eq!(code(&world, &install(&one, &[])), "signer-unknown");
    assert_eq!(code(&world, &["plugins", "update", "actor-01"]), "signer-unknown");
    world.ok(&install(&one, &["--accept-key", &author.key(), "--dry-run"]));
    assert!(all(&world) == before, "nothing was changed");
    let ran = world.ok(&install(&one, &["--accept-key", &author.key()]));
    assert!(ran.stdout.contains(&format!("signed by {}", author.id())), "{ran}");
    assert_eq!(signer(&world), author.key());
    // Without its signature it is still the same bytes.
    let before = all(&world);
    fs::remove_file(beside(&one)).unwrap();
    world.ok(&install(&one, &[]));
    world.ok(&["plugins", "update"]);
    assert!(all(&world) == before, "nothing was changed");
    world.ok(&["plugins", "update", "actor-01", "--accept-key", "none"]);
    assert_eq!(signer(&world), Value::Null);
    author.sign(&one, "actor-01 1.0.0");
    world.ok(&["plugins", "keys", "trust", &author.key()]);
    let ran = world.ok(&["plugins", "update"]);
    assert!(ran.stdout.contains("recorded as signed by"), "{ran}");
    assert_eq!(signer(&world), author.key());

    // What was uninstalled begins anew.
    world.ok(&["plugins", "uninstall", "actor-01"]);
    fs::remove_file(beside(&one)).unwrap();
    world.ok(&install(&one, &[]));
    assert_eq!(signer(&world), Value::Null);
    world.ok(&update(&unsigned(&world, "2.0.0"), &[]));
}

#[test]
fn an_old_signed_version_does_not_pass_for_a_new_one() {
    let mut world = World::new();
    world.tell(1, "type=a");
    let author = Author::new();
    let (one, two) = (signed(&world, "1.0.0", &author), signed(&world, "2.0.0", &author));
    world.ok(&install(&two, &["--accept-key", &author.key()]));
    let three = world.path("actor-01-3.0.0/libactor_01.so");
    fs::create_dir(three.parent().unwrap()).unwrap();
    fs::copy(&one, &three).unwrap();
    fs::copy(beside(&one), beside(&three)).unwrap();
    assert_eq!(code(&world, &update(&three, &[])), "downgrade");
    fs::copy(beside(&two), beside(&three)).unwrap();
    assert_eq!(code(&world, &update(&three, &["--allow-downgrade"])), "signature-bad");
    assert_eq!(world.json(&["plugins", "list"])["plugins"][0]["version"], "2.0.0");
}

#[test]
fn a_signature_may_lie_beside_a_link_or_beside_what_it_leads_to() {
    let mut world = World::new();
    world.tell(1, "type=a");
    let (author, other) = (Author::new(), Author::new());
    let one = signed(&world, "1.0.0", &author);
    let link = world.path("current.so");
    symlink(&one, &link).unwrap();
    other.sign(&link, "actor-01 1.0.0");
    assert_eq!(code(&world, &install(&link, &["--accept-key", &author.key()])), "signer-other");
    fs::remove_file(beside(&link)).unwrap();
    world.ok(&install(&link, &["--accept-key", &author.key()]));
    fs::remove_file(&link).unwrap();
    symlink(signed(&world, "2.0.0", &author), &link).unwrap();
    world.ok(&["plugins", "update"]);
    assert_eq!(signer(&world), author.key());
}

#[test]
fn one_bad_signature_does_not_keep_the_others_from_their_update() {
    let mut world = World::new();
    let author = Author::new();
    world.ok(&["plugins", "keys", "trust", &author.key()]);
    for number in 1..=2 {
        world.install_actor(number, &format!("type=t{number}"));
        let library = world.path(&format!("v1.0.0/libactor_0{number}.so"));
        fs::copy(world.actor_version(number, "2.0.0"), &library).unwrap();
        author.sign(&library, "actor-02 2.0.0");
    }
    let document = world.json(&["plugins", "update"]);
    let results = &document["results"];
    assert_eq!(
        (&results[0]["name"], &results[0]["error"]["code"]),
        (&json!("actor-01"), &json!("signature-bad"))
    );
    assert_eq!(
        (&results[1]["plugin"]["version"], &results[1]["plugin"]["signer"]),
        (&json!("2.0.0"), &json!(author.key()))
    );
    assert_eq!(world.run(&["plugins", "update"]).code, 1);
}

#[test]
fn a_folder_takes_the_place_of_a_signed_library_only_when_that_is_said() {
    let world = World::new().with_shared_builds();
    let author = Author::new();
    let plugin = Plugin::with_hooks("signed-once", "", "", "");
    let library = world.copy(&plugin.build(), "libsigned_once.so");
    author.sign(&library, "signed-once 1.0.0");
    world.ok(&install(&library, &["--accept-key", &author.key()]));
    let folder = world.path("crate");
    plugin.version("1.1.0").write_to(&folder);
    let update = |more: &[&str]| {
        [&["plugins", "update", "signed-once", "--from", text(&folder)][..], more].concat().join("\n")
    };
    let run = |more: &[&str]| world.run(&update(more).split('\n').collect::<Vec<_>>());
    assert_eq!(code(&world, &update(&[]).split('\n').collect::<Vec<_>>()), "signer-missing");
    assert_eq!(code(&world, &install(&folder, &["--accept-key", &author.key()])), "signature-required");
    let ran = run(&["--accept-key", "none"]);
    assert_eq!(ran.code, 0, "{ran}");
    assert_eq!(signer(&world), Value::Null);
}

#[test]
fn a_pinned_digest_is_compared_before_anything_runs() {
    let mut world = World::new();
    world.tell(1, "open:abort");
    let library = world.actor(1);
    let digest = replio::plugins::digest::Digest::of(&fs::read(&library).unwrap()).to_string();
    let wrong = "0".repeat(63) + "1";
    let output = world.command(&install(&library, &["--sha256", &wrong])).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && said.contains(&digest) && said.contains(&wrong), "{said}");
    assert!(!world.local().exists());
    world.tell(1, "type=a");
    world.ok(&install(&library, &["--sha256", &digest.to_uppercase()]));
}
