use std::sync::LazyLock;

use minisign::KeyPair;
use proptest::prelude::*;

use super::*;

const BYTES: &[u8] = b"a library";

struct Signer {
    pair: KeyPair,
    key: SignerKey,
}

impl Signer {
    fn new() -> Self {
        let pair = KeyPair::generate_unencrypted_keypair().unwrap();
        let key = pair.pk.to_base64().parse().unwrap();
        Self { pair, key }
    }

    fn sign(&self, bytes: &[u8], comment: &str) -> String {
        minisign::sign(Some(&self.pair.pk), &self.pair.sk, bytes, Some(comment), None).unwrap().to_string()
    }
}

fn verdict(text: &str, key: &SignerKey) -> Result<(), SignatureError> {
    let (name, version) = ("audit".parse().unwrap(), Version::new(1, 2, 0));
    Signature::parse(text.as_bytes())?.verify(&Signed { bytes: BYTES, name: &name, version: &version }, key)
}

#[test]
fn a_signature_counts_for_its_bytes_its_key_and_its_comment() {
    let signer = Signer::new();
    let sign = |comment: &str| verdict(&signer.sign(BYTES, comment), &signer.key);
    for comment in
        ["replio-plugin:audit 1.2.0", "audit 1.2.0", "audit 1.2.0 from June", "audit 1.2.0\tfile:libaudit.so"]
    {
        assert_eq!(sign(comment), Ok(()), "{comment}");
    }
    for comment in [
        "",
        "timestamp:1555779966\tfile:test",
        "audit 1.2.1",
        "audit 1.2.0-rc.1",
        "audit 1.2.01",
        "audit  1.2.0",
        " audit 1.2.0",
        "audit-more 1.2.0",
        "replio-plugin: audit 1.2.0",
        "other:audit 1.2.0",
        "1.2.0 audit",
    ] {
        assert!(matches!(sign(comment), Err(SignatureError::Comment { .. })), "{comment}");
    }
    let of_other_bytes = signer.sign(b"another library", "audit 1.2.0");
    assert_eq!(verdict(&of_other_bytes, &signer.key), Err(SignatureError::Mismatch { key: signer.key.id() }));
    let other = Signer::new();
    let with_other_key = verdict(&other.sign(BYTES, "audit 1.2.0"), &signer.key);
    assert!(matches!(with_other_key, Err(SignatureError::OtherKey { .. })));
}

#[test]
fn a_comment_that_was_exchanged_is_found_out() {
    let signer = Signer::new();
    let (old, new) = (signer.sign(BYTES, "audit 1.1.0"), signer.sign(b"newer", "audit 1.2.0"));
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    for mixed in [[old[0], old[1], new[2], old[3]], [old[0], old[1], new[2], new[3]]] {
        let mismatch = Err(SignatureError::Mismatch { key: signer.key.id() });
        assert_eq!(verdict(&mixed.join("\n"), &signer.key), mismatch);
    }
}

#[test]
fn a_key_that_took_anothers_number_is_told_apart() {
    let signer = Signer::new();
    let mut forger = Signer::new();
    let mut bytes = forger.pair.pk.to_bytes();
    bytes[2..10].copy_from_slice(&signer.pair.pk.to_bytes()[2..10]);
    forger.pair.pk = minisign::PublicKey::from_bytes(&bytes).unwrap();
    let mut secret = forger.pair.sk.to_bytes();
    let at = secret.len() - 104;
    secret[at..at + 8].copy_from_slice(&bytes[2..10]);
    forger.pair.sk = minisign::SecretKey::from_bytes(&secret).unwrap();
    let text = forger.sign(BYTES, "audit 1.2.0");
    assert_eq!(Signature::parse(text.as_bytes()).unwrap().key_id(), signer.key.id());
    assert_eq!(verdict(&text, &signer.key), Err(SignatureError::Mismatch { key: signer.key.id() }));
}

#[test]
fn the_old_kind_of_signature_is_refused_by_name() {
    // From the tests of minisign-verify; it is a right one of its kind.
    let text = "untrusted comment: signature from minisign secret key
RWQf6LRCGA9i59SLOFxz6NxvASXDJeRtuZykwQepbDEGt87ig1BNpWaVWuNrm73YiIiJbq71Wi+dP9eKL8OC351vwIasSSbXxwA=
trusted comment: timestamp:1555779966\tfile:test
QtKMXWyYcwdpZAlPF7tE2ENJkRd1ujvKjlj1m9RtHTBnZPa5WKU5uWRs5GoP5M/VqE81QFuMKI5k/SfNQUaOAA==";
    assert_eq!(Signature::parse(text.as_bytes()), Err(SignatureError::Legacy));
}

#[test]
fn a_text_that_is_no_signature_says_why() {
    let text = Signer::new().sign(BYTES, "audit 1.2.0");
    let lines: Vec<&str> = text.lines().collect();
    let with_more = format!("{text}trusted comment: more\n");
    let without_head = text.replacen("untrusted comment:", "comment:", 1);
    let with_return = text.replacen("audit 1", "audit\r1", 1);
    let too_large = text.clone() + &"\n".repeat(16 * 1024);
    for bad in [
        "",
        "\n\n\n\n",
        &lines[..3].join("\n"),
        &with_more,
        &without_head,
        &with_return,
        &too_large,
        "a\nb\nc\nd",
    ] {
        assert!(matches!(Signature::parse(bad.as_bytes()), Err(SignatureError::Shape(_))), "{bad:?}");
    }
    assert!(matches!(Signature::parse(b"\xff\xfe"), Err(SignatureError::Shape(_))));
}

proptest! {
    /// The lines of a signature that still reads are the lines that are kept.
    #[test]
    fn what_was_changed_anywhere_is_refused_or_is_the_same(at in 0usize..400, with in prop::collection::vec(any::<u8>(), 0..3)) {
        static SIGNER: LazyLock<Signer> = LazyLock::new(Signer::new);
        let signer = &*SIGNER;
        let mut content = signer.sign(BYTES, "audit 1.2.0").into_bytes();
        let right = Signature::parse(&content).unwrap();
        prop_assume!(at < content.len());
        content.splice(at..=at, with);
        let Ok(read) = Signature::parse(&content) else { return Ok(()) };
        prop_assert_eq!(&Signature::parse(read.text().as_bytes()).unwrap(), &read);
        let signed = |text: &Signature| text.text().lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
        if signed(&read) != signed(&right) {
            prop_assert!(verdict(read.text(), &signer.key).is_err());
        }
    }

    #[test]
    fn no_content_makes_the_reader_panic(content in prop::collection::vec(any::<u8>(), 0..300), text in ".{0,80}") {
        let _ = Signature::parse(&content);
        let _ = text.parse::<SignerKey>();
        let _ = text.parse::<KeyId>();
    }
}
