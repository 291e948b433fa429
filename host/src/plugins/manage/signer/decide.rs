//! Whether a build is taken from whoever signed it: from values to a value,
//! without a look at any file.

use super::SignerError;
use crate::plugins::signature::{Signature, SignatureError, Signed, SignerKey};
use crate::plugins::signer::{SignedBy, Signer};
use crate::plugins::source::SignatureFile;
use crate::plugins::trust::{KeyTrust, Trust};

/// Whom the user accepts as the signer of one plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AcceptKey {
    /// This key, from now on.
    Key(SignerKey),
    /// Nobody need have signed it from now on.
    None,
}

/// What is offered.
#[derive(Debug)]
pub(super) struct Offer<'a> {
    pub(super) library: Signed<'a>,
    /// The signature that lies beside it.
    pub(super) beside: Option<&'a SignatureFile>,
    /// The recorded signature of the same bytes, for when none lies beside it.
    pub(super) recorded: Option<&'a Signature>,
}

/// Whose signature is expected.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expected<'a> {
    pub(super) accepted: Option<&'a AcceptKey>,
    /// Who signed what is installed.
    pub(super) before: Option<&'a SignerKey>,
    /// Whether the user knows that signer, and not only a project's list.
    pub(super) knows_before: bool,
    pub(super) trust: &'a Trust,
    pub(super) is_required: bool,
}

/// Who is the signer from now on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::plugins) struct Decision {
    pub(in crate::plugins) signer: Option<Signer>,
    pub(in crate::plugins) note: Note,
}

/// What is to be noted in `trust.json` of who signed these bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::plugins) enum Note {
    /// A key that the user knows.
    Key(SignerKey),
    /// Nobody.
    Nobody,
    /// What is noted stays.
    AsItIs,
}

impl Decision {
    /// Who is shown as the signer: who was verified.
    pub(in crate::plugins) fn signed_by(&self) -> SignedBy {
        match &self.signer {
            Some(signer) => SignedBy::Verified(signer.key.clone()),
            None => SignedBy::Nobody,
        }
    }
}

/// Decides.
pub(super) fn decide(offer: &Offer<'_>, expected: &Expected<'_>) -> Result<Decision, SignerError> {
    let recorded = offer.recorded.filter(|_| expected.accepted != Some(&AcceptKey::None));
    match offer.beside.map(|file| &file.signature).or(recorded) {
        Some(signature) => signed(offer, signature, expected),
        None => unsigned(offer, expected),
    }
}

fn unsigned(offer: &Offer<'_>, expected: &Expected<'_>) -> Result<Decision, SignerError> {
    let name = offer.library.name.clone();
    match (expected.accepted, expected.before) {
        (Some(AcceptKey::Key(accepted)), _) => Err(SignerError::NotSigned { name, accepted: accepted.id() }),
        _ if expected.is_required => Err(SignerError::Required { name }),
        (None, Some(before)) => Err(SignerError::Missing { name, before: before.id() }),
        (None, None) | (Some(AcceptKey::None), _) => Ok(Decision { signer: None, note: Note::Nobody }),
    }
}

fn signed(
    offer: &Offer<'_>,
    signature: &Signature,
    expected: &Expected<'_>,
) -> Result<Decision, SignerError> {
    let name = || offer.library.name.clone();
    let now = signature.key_id();
    let accepted = match expected.accepted {
        Some(AcceptKey::Key(key)) => Some(key),
        Some(AcceptKey::None) | None => None,
    };
    let other =
        |accepted: &SignerKey| SignerError::Other { name: name(), signed_by: now, accepted: accepted.id() };
    let Some(key) = who(offer, signature, accepted, expected)? else {
        return Err(match (accepted, expected.before) {
            (Some(accepted), _) => other(accepted),
            (None, Some(before)) => SignerError::Changed { name: name(), before: before.id(), now },
            (None, None) => SignerError::Unknown { name: name(), id: now },
        });
    };
    let standing = expected.trust.key(&key.to_string());
    if standing == Some(KeyTrust::Revoked) {
        return Err(SignerError::Revoked { name: name(), key });
    }
    match (accepted, expected.before) {
        (Some(accepted), _) if *accepted != key => return Err(other(accepted)),
        (None, Some(before)) if *before != key => {
            return Err(SignerError::Changed { name: name(), before: before.id(), now });
        }
        _ => {}
    }
    let is_known = accepted.is_some() || standing == Some(KeyTrust::Trusted) || expected.knows_before;
    if expected.is_required && !is_known {
        return Err(SignerError::RequiredKnown { name: name(), id: now });
    }
    let note = if is_known { Note::Key(key.clone()) } else { Note::AsItIs };
    Ok(Decision { signer: Some(Signer { key, signature: signature.clone() }), note })
}

/// The key that made the signature, if it is one of those that are known in
/// some way. Several may have its number, so each of them is tried.
fn who(
    offer: &Offer<'_>,
    signature: &Signature,
    accepted: Option<&SignerKey>,
    expected: &Expected<'_>,
) -> Result<Option<SignerKey>, SignerError> {
    let listed = expected.trust.keys().filter_map(|(key, _)| key.parse::<SignerKey>().ok());
    let candidates = accepted.into_iter().chain(expected.before).cloned().chain(listed);
    let mut bad = None;
    for key in candidates.filter(|key| key.id() == signature.key_id()) {
        match signature.verify(&offer.library, &key) {
            Ok(()) => return Ok(Some(key)),
            // The right key says more than one that only has its number.
            Err(error @ SignatureError::Comment { .. }) => bad = Some(error),
            Err(error) => bad = bad.or(Some(error)),
        }
    }
    match bad {
        None => Ok(None),
        Some(error) => Err(SignerError::Bad {
            name: offer.library.name.clone(),
            file: offer.beside.map(|file| file.path.clone()),
            error,
        }),
    }
}

#[cfg(test)]
mod tests {
    use minisign::KeyPair;
    use semver::Version;
    use serde_json::json;

    use super::*;
    use crate::names::PluginName;

    const BYTES: &[u8] = b"a library";

    struct Author {
        pair: KeyPair,
        key: SignerKey,
    }

    impl Author {
        fn new() -> Self {
            let pair = KeyPair::generate_unencrypted_keypair().unwrap();
            let key = pair.pk.to_base64().parse().unwrap();
            Self { pair, key }
        }

        fn signature(&self) -> SignatureFile {
            let text =
                minisign::sign(None, &self.pair.sk, BYTES, Some("audit 1.0.0"), None).unwrap().to_string();
            SignatureFile {
                path: "libaudit.so.minisig".into(),
                signature: Signature::parse(text.as_bytes()).unwrap(),
            }
        }
    }

    fn trust(keys: &[(&Author, &str)]) -> Trust {
        let keys =
            keys.iter().map(|(author, standing)| (author.key.to_string(), json!({ "standing": standing })));
        Trust::parse(&json!({ "keys": keys.collect::<serde_json::Map<_, _>>() }).to_string()).unwrap()
    }

    /// The code of the refusal, or who is recorded and what is noted.
    fn outcome(by: Option<&Author>, expected: &Expected<'_>) -> String {
        let (name, version): (PluginName, _) = ("audit".parse().unwrap(), Version::new(1, 0, 0));
        let file = by.map(Author::signature);
        let library = Signed { bytes: BYTES, name: &name, version: &version };
        let offer = Offer { library, beside: file.as_ref(), recorded: None };
        match decide(&offer, expected) {
            Err(error) => error.code().into(),
            Ok(Decision { signer, note }) => {
                assert_eq!(signer.map(|signer| signer.key), by.map(|author| author.key.clone()));
                match note {
                    Note::Key(_) => "known".into(),
                    Note::Nobody => "unsigned".into(),
                    Note::AsItIs => "only recorded".into(),
                }
            }
        }
    }

    #[test]
    fn who_may_have_signed_is_decided_by_what_is_known_of_the_key() {
        let (author, other) = (Author::new(), Author::new());
        let accept = |author: &Author| Some(AcceptKey::Key(author.key.clone()));
        let nobody = trust(&[]);
        let (trusted, revoked) = (trust(&[(&author, "trusted")]), trust(&[(&author, "revoked")]));
        let of_author = Some((&author.key, true));
        let of_other = Some((&other.key, true));
        let said = Some((&author.key, false));
        let cases = [
            (None, None, None, &nobody, false, "unsigned"),
            (None, None, None, &nobody, true, "signature-required"),
            (None, Some(AcceptKey::None), None, &nobody, true, "signature-required"),
            (None, accept(&author), None, &nobody, false, "signer-missing"),
            (None, None, of_author, &nobody, false, "signer-missing"),
            (None, Some(AcceptKey::None), of_author, &nobody, false, "unsigned"),
            (Some(&author), None, None, &nobody, false, "signer-unknown"),
            (Some(&author), None, None, &trusted, true, "known"),
            (Some(&author), None, None, &revoked, false, "signer-revoked"),
            (Some(&author), accept(&author), None, &nobody, true, "known"),
            (Some(&author), accept(&author), None, &revoked, false, "signer-revoked"),
            (Some(&author), accept(&other), None, &nobody, false, "signer-other"),
            (Some(&author), accept(&other), None, &trusted, false, "signer-other"),
            (Some(&author), Some(AcceptKey::None), None, &nobody, false, "signer-unknown"),
            (Some(&author), None, of_author, &nobody, true, "known"),
            (Some(&author), None, of_author, &revoked, false, "signer-revoked"),
            (Some(&author), None, of_other, &nobody, false, "signer-changed"),
            (Some(&author), None, of_other, &trusted, false, "signer-changed"),
            (Some(&author), Some(AcceptKey::None), of_other, &trusted, false, "signer-changed"),
            (Some(&author), accept(&author), of_other, &nobody, false, "known"),
            (Some(&author), None, said, &nobody, false, "only recorded"),
            (Some(&author), None, said, &nobody, true, "signature-required"),
            (Some(&author), None, said, &trusted, true, "known"),
            (Some(&author), accept(&author), said, &nobody, true, "known"),
        ];
        for (number, (by, accepted, before, trust, is_required, result)) in cases.into_iter().enumerate() {
            let expected = Expected {
                accepted: accepted.as_ref(),
                before: before.map(|(key, _)| key),
                knows_before: before.is_some_and(|(_, is_known)| is_known),
                trust,
                is_required,
            };
            assert_eq!(outcome(by, &expected), result, "case {number}");
        }
    }
}
