//! Signatures of minisign: whose key has signed which version of which plugin.
//! Bytes go in and a verdict comes out; which keys count is decided elsewhere.
//!
//! A signature counts only if its trusted comment, which is signed too, begins
//! with the plugin's name and version: an old library with its old signature
//! can't pass for a new one.

use std::fmt;

use ct_codecs::{Base64, Decoder};
use semver::Version;

use crate::names::PluginName;

mod key;

pub use key::{InvalidKey, KeyId, SignerKey};

/// The largest file of a signature that is read.
pub const LARGEST_SIGNATURE: u64 = 16 * 1024;
/// The trusted comment may begin with this, so that it says what it is about.
const PREFIX: &str = "replio-plugin:";
/// How much of a comment an error repeats, in characters.
const REPEATED: usize = 100;

/// A library, and what its manifest says that it is.
#[derive(Debug, Clone, Copy)]
pub struct Signed<'a> {
    /// Its bytes.
    pub bytes: &'a [u8],
    /// The plugin's name.
    pub name: &'a PluginName,
    /// The plugin's version.
    pub version: &'a Version,
}

/// A signature that can be read. Whether it is right, [`verify`](Self::verify)
/// tells.
#[derive(Clone)]
pub struct Signature {
    text: String,
    key: KeyId,
    read: minisign_verify::Signature,
}

/// Why a signature does not count.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum SignatureError {
    #[error("{0}")]
    Unreadable(String),
    #[error("it is not the text of a signature that minisign makes: {0}")]
    Shape(&'static str),
    #[error("it is of the old kind, which signs the file itself and not its hash")]
    Legacy,
    #[error("it was made with key {made_with}, and not with {key}")]
    OtherKey { made_with: KeyId, key: KeyId },
    #[error(
        "key {key} did not sign this file with this comment: one of them was changed, or belongs elsewhere"
    )]
    Mismatch { key: KeyId },
    #[error("its trusted comment must begin with \"replio-plugin:{name} {version}\", and is {comment:?}")]
    Comment { name: PluginName, version: Version, comment: String },
}

impl SignatureError {
    /// What to do next.
    pub fn help(&self) -> String {
        match self {
            Self::Unreadable(_) | Self::Shape(_) => {
                "fetch the .minisig again, or move it away to go without a signature".into()
            }
            Self::Legacy => {
                "its author signs it again with `minisign -S`, version 0.10 or newer and without -l".into()
            }
            Self::OtherKey { .. } | Self::Mismatch { .. } => {
                "fetch the library and its .minisig again, from one release; if they still don't fit, don't use them"
                    .into()
            }
            Self::Comment { name, version, .. } => {
                format!("its author signs it with `minisign -S -t \"{PREFIX}{name} {version}\" -m FILE`")
            }
        }
    }
}

impl Signature {
    /// Reads the content of a `.minisig` file.
    ///
    /// # Errors
    /// When it is no signature of minisign, or one of the old kind.
    pub fn parse(content: &[u8]) -> Result<Self, SignatureError> {
        let shape = SignatureError::Shape;
        if content.len() as u64 > LARGEST_SIGNATURE {
            return Err(shape("it is too large"));
        }
        let text = std::str::from_utf8(content).map_err(|_| shape("it is not UTF-8"))?;
        let lines: Vec<&str> = text.trim_end().lines().collect();
        let [untrusted, signature, _, _] = lines.as_slice() else {
            return Err(shape("it must have four lines"));
        };
        if !untrusted.starts_with(key::UNTRUSTED) {
            return Err(shape("its first line must begin with \"untrusted comment:\""));
        }
        // Whoever reads the text again must find the same lines.
        if lines.iter().any(|line| line.contains('\r')) {
            return Err(shape("there is a carriage return within a line"));
        }
        let text = lines.join("\n") + "\n";
        let read = minisign_verify::Signature::decode(&text)
            .map_err(|_| shape("its second, third or fourth line can't be read"))?;
        let bytes =
            Base64::decode_to_vec(signature, None).map_err(|_| shape("its second line is no base64"))?;
        if bytes.starts_with(b"Ed") {
            return Err(SignatureError::Legacy);
        }
        let key = KeyId::after_algorithm(&bytes).ok_or(shape("its second line is too short"))?;
        Ok(Self { text, key, read })
    }

    /// The four lines.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The number of the key that it says it was made with.
    pub fn key_id(&self) -> KeyId {
        self.key
    }

    /// Makes sure that this key has signed this library as what it is.
    ///
    /// # Errors
    /// When it has not.
    pub fn verify(&self, library: &Signed<'_>, key: &SignerKey) -> Result<(), SignatureError> {
        if key.id() != self.key {
            return Err(SignatureError::OtherKey { made_with: self.key, key: key.id() });
        }
        let mismatch = SignatureError::Mismatch { key: key.id() };
        let Some(public) = key.public_key() else { return Err(mismatch) };
        public.verify(library.bytes, &self.read, false).map_err(|_| mismatch)?;
        let comment = self.read.trusted_comment();
        if speaks_of(comment, library) {
            return Ok(());
        }
        let comment = comment.chars().take(REPEATED).collect();
        Err(SignatureError::Comment { name: library.name.clone(), version: library.version.clone(), comment })
    }
}

/// Whether a comment begins with the plugin's name and version, as whole words.
fn speaks_of(comment: &str, library: &Signed<'_>) -> bool {
    let words = format!("{} {}", library.name, library.version);
    let rest = comment.strip_prefix(PREFIX).unwrap_or(comment).strip_prefix(&words);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
}

impl PartialEq for Signature {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Signature {}

impl fmt::Debug for Signature {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Signature").field(&self.text).finish()
    }
}

#[cfg(test)]
mod tests;
