//! The public key of someone who signs plugins, and the short number by which
//! people tell such keys apart.

use std::fmt;
use std::str::FromStr;

use ct_codecs::{Base64, Decoder};
use minisign_verify::PublicKey;

/// How the first line of minisign's files begins.
pub(super) const UNTRUSTED: &str = "untrusted comment:";
/// A public key in base64; there is one text for each.
const KEY_CHARACTERS: usize = 56;
/// The bytes of a secret key, which nobody should hand out.
const SECRET_KEY_BYTES: usize = 158;

/// A public key of minisign: one line that begins with `RW`.
///
/// ```
/// use replio::plugins::signature::SignerKey;
/// let key: SignerKey = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3".parse()?;
/// assert_eq!(key.id().to_string(), "E7620F1842B4E81F");
/// # Ok::<(), replio::plugins::signature::InvalidKey>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SignerKey {
    text: String,
    id: KeyId,
}

/// The number that minisign gives a key. Anyone can make a key that has the
/// same one, so nothing is decided by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId(u64);

/// A text that is no public key of minisign. It is not repeated: it could be
/// a secret one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum InvalidKey {
    #[error("it is a secret key, which only its owner should ever see")]
    Secret,
    #[error("a public key of minisign is one line of {KEY_CHARACTERS} characters that begins with RW")]
    Shape,
}

impl SignerKey {
    /// Its number.
    pub fn id(&self) -> KeyId {
        self.id
    }

    pub(super) fn public_key(&self) -> Option<PublicKey> {
        PublicKey::from_base64(&self.text).ok()
    }
}

impl FromStr for SignerKey {
    type Err = InvalidKey;

    /// Reads the line alone, or the text of a `.pub` file with the comment
    /// above it.
    fn from_str(text: &str) -> Result<Self, InvalidKey> {
        let mut lines = text.trim().lines();
        let line = match (lines.next(), lines.next(), lines.next()) {
            (Some(comment), Some(line), None) if comment.starts_with(UNTRUSTED) => line.trim(),
            (Some(line), None, None) => line,
            _ => return Err(InvalidKey::Shape),
        };
        let bytes = Base64::decode_to_vec(line, None).map_err(|_| InvalidKey::Shape)?;
        if bytes.len() == SECRET_KEY_BYTES {
            return Err(InvalidKey::Secret);
        }
        // Another two letters would be another text of the same key.
        if line.len() != KEY_CHARACTERS || !line.starts_with("RW") || PublicKey::from_base64(line).is_err() {
            return Err(InvalidKey::Shape);
        }
        let id = KeyId::after_algorithm(&bytes).ok_or(InvalidKey::Shape)?;
        Ok(Self { text: line.to_owned(), id })
    }
}

impl fmt::Display for SignerKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl serde::Serialize for SignerKey {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl KeyId {
    /// Keys and signatures begin with two letters for the algorithm; then comes
    /// the number.
    pub(super) fn after_algorithm(bytes: &[u8]) -> Option<Self> {
        let number: [u8; 8] = bytes.get(2..10)?.try_into().ok()?;
        Some(Self(u64::from_le_bytes(number)))
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&format!("{:016X}", self.0))
    }
}

impl FromStr for KeyId {
    type Err = InvalidKey;

    fn from_str(text: &str) -> Result<Self, InvalidKey> {
        let is_number = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = u64::from_str_radix(text, 16).ok().filter(|_| is_number);
        number.map(Self).ok_or(InvalidKey::Shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";

    #[test]
    fn a_key_is_read_from_its_line_or_its_file() {
        let file = format!("untrusted comment: minisign public key E7620F1842B4E81F\r\n{KEY}\r\n");
        for text in [KEY, &format!("  {KEY}\n"), &file] {
            let key: SignerKey = text.parse().unwrap();
            assert_eq!((key.to_string().as_str(), key.id().to_string().as_str()), (KEY, "E7620F1842B4E81F"));
        }
        assert_eq!("e7620f1842b4e81f".parse::<KeyId>().unwrap(), KEY.parse::<SignerKey>().unwrap().id());
    }

    #[test]
    fn what_is_no_key_is_refused_and_not_repeated() {
        let other_letters = KEY.replacen("RWQ", "RUQ", 1);
        let three = format!("untrusted comment: x\n{KEY}\n{KEY}");
        let no_comment = format!("minisign public key\n{KEY}");
        for text in ["", "RW", &KEY[..55], &other_letters, &three, &no_comment, "ä", "\n\n\n"] {
            assert_eq!(text.parse::<SignerKey>(), Err(InvalidKey::Shape), "{text:?}");
        }
        let secret = minisign::KeyPair::generate_unencrypted_keypair().unwrap().sk.to_box(None).unwrap();
        assert_eq!(secret.to_string().parse::<SignerKey>(), Err(InvalidKey::Secret));
        for text in ["", "+7620F1842B4E81F", "E7620F1842B4E81", "E7620F1842B4E81G"] {
            assert!(text.parse::<KeyId>().is_err(), "{text}");
        }
    }
}
