//! The file that lies beside a library and says who signed it, and public keys.

use replio::names::PluginName;
use replio::plugins::inspect::Host;
use replio::plugins::signature::{InvalidKey, KeyId, Signature, SignatureError, Signed, SignerKey};

/// A key whose owner has never signed a plugin.
const KEY: &str = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";

/// The whole file.
///
/// # Panics
/// When what must hold doesn't.
pub fn signature(bytes: &[u8]) {
    let signature = match Signature::parse(bytes) {
        Ok(signature) => signature,
        Err(error) => return check_error(&error),
    };
    let again = Signature::parse(signature.text().as_bytes()).expect("what is kept can be read");
    assert_eq!((&again, again.key_id()), (&signature, signature.key_id()));
    assert_eq!(signature.text().lines().count(), 4);
    let name: PluginName = "audit".parse().expect("a name");
    let version = Host::this().version;
    let key: SignerKey = KEY.parse().expect("a key");
    // What its owner did sign, and some other bytes.
    for bytes in [b"test".as_slice(), bytes] {
        let library = Signed { bytes, name: &name, version: &version };
        check_error(&signature.verify(&library, &key).expect_err("nobody can have signed this"));
    }
}

fn check_error(error: &SignatureError) {
    let message = error.to_string();
    assert!(!message.is_empty() && !error.help().is_empty());
    assert!(!message.chars().any(char::is_control), "{message:?}");
}

/// A public key, or the file that it is in; and the number of one.
///
/// # Panics
/// When what must hold doesn't.
pub fn signer_key(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(id) = text.parse::<KeyId>() {
        assert_eq!(id.to_string(), text.to_uppercase());
    }
    match text.parse::<SignerKey>() {
        Ok(key) => {
            assert!(text.contains(&key.to_string()));
            assert_eq!(key.to_string().parse::<SignerKey>().as_ref(), Ok(&key));
            assert_eq!(key.id().to_string().parse::<KeyId>(), Ok(key.id()));
            assert_eq!(key.to_string() == KEY, KEY.parse::<SignerKey>().as_ref() == Ok(&key));
        }
        Err(error) => assert!(matches!(error, InvalidKey::Secret | InvalidKey::Shape)),
    }
}
