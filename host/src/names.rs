//! Names that came from outside, checked once, when they are made. A value of
//! one of these types is safe in a path, in a message and as a key.

use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;

/// The longest name, in bytes, of an entry or a plugin.
pub const LONGEST_NAME: usize = 64;

/// A name that breaks the rules, and the rule in words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name:?} is not a name for {what}: {rule}")]
pub struct InvalidName {
    /// The text as it was given.
    pub name: String,
    what: &'static str,
    rule: &'static str,
}

/// The name of an agent type, a skill or a team:
/// `[A-Za-z0-9][A-Za-z0-9._-]{0,63}` without `..`.
///
/// ```
/// use replio::names::EntryName;
/// assert!("code-reviewer".parse::<EntryName>().is_ok());
/// assert!("../../AGENTS".parse::<EntryName>().is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryName(String);

/// The name of a plugin: `[a-z][a-z0-9-]{0,63}`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PluginName(String);

impl FromStr for EntryName {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        let invalid = |rule| InvalidName { name: text.to_owned(), what: "an entry", rule };
        let mut bytes = text.bytes();
        match bytes.next() {
            None => return Err(invalid("it is empty")),
            Some(first) if !first.is_ascii_alphanumeric() => {
                return Err(invalid("it must begin with a letter or digit (a-z, A-Z, 0-9)"));
            }
            Some(_) => {}
        }
        if !bytes.all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte)) {
            return Err(invalid("only letters (a-z, A-Z), digits, '.', '_' and '-' are allowed"));
        }
        if text.contains("..") {
            return Err(invalid("it must not contain '..'"));
        }
        if text.len() > LONGEST_NAME {
            return Err(invalid("it is longer than 64 characters"));
        }
        Ok(Self(text.to_owned()))
    }
}

impl FromStr for PluginName {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        let invalid = |rule| InvalidName { name: text.to_owned(), what: "a plugin", rule };
        if !text.bytes().next().is_some_and(|first| first.is_ascii_lowercase()) {
            return Err(invalid("it must begin with a small letter (a-z)"));
        }
        if !text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-') {
            return Err(invalid("only small letters (a-z), digits and '-' are allowed"));
        }
        if text.len() > LONGEST_NAME {
            return Err(invalid("it is longer than 64 characters"));
        }
        Ok(Self(text.to_owned()))
    }
}

macro_rules! text_like {
    ($name:ident) => {
        impl $name {
            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.pad(&self.0)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

text_like!(EntryName);
text_like!(PluginName);

/// The candidate nearest to `wanted`, when one is near enough to be what was
/// meant: "did you mean `writer`?".
pub fn nearest<'a>(wanted: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A text from outside may be of any length, and is then near to nothing, as
    // is an empty one.
    if wanted.is_empty() || wanted.len() > 2 * LONGEST_NAME {
        return None;
    }
    let wanted = wanted.to_lowercase();
    let allowed = (wanted.chars().count() / 3).clamp(1, 3);
    candidates
        .into_iter()
        .filter_map(|candidate| {
            let lower = candidate.to_lowercase();
            let distance = edit_distance(&wanted, &lower);
            let prefix = wanted.len() >= 3 && lower.starts_with(&wanted);
            (distance <= allowed || prefix).then_some((distance, candidate))
        })
        .min()
        .map(|(_, candidate)| candidate)
}

/// Insertions, deletions, substitutions and swaps of neighbours that turn one
/// text into the other (optimal string alignment).
fn edit_distance(left: &str, right: &str) -> usize {
    let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut previous: Vec<usize> = (0..=right.len()).collect();
    for i in 1..=left.len() {
        let mut row = vec![i; right.len() + 1];
        for j in 1..=right.len() {
            let substitution = usize::from(left[i - 1] != right[j - 1]);
            row[j] = (previous[j] + 1).min(row[j - 1] + 1).min(previous[j - 1] + substitution);
            if i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut previous, row);
    }
    previous[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_could_be_paths_or_terminal_codes_are_refused() {
        for bad in ["", ".", "..", "a..b", "../x", "a/b", "a\\b", "a b", "\u{1b}[2J", "a\n", "ä", "-x", "_x"]
        {
            assert!(bad.parse::<EntryName>().is_err(), "{bad:?} as an entry");
            assert!(bad.parse::<PluginName>().is_err(), "{bad:?} as a plugin");
        }
        assert!("a".repeat(64).parse::<EntryName>().is_ok());
        assert!("a".repeat(65).parse::<EntryName>().is_err());
        assert!("a".repeat(65).parse::<PluginName>().is_err());
        assert!("Upper".parse::<PluginName>().is_err());
        assert!("4.1-Beast".parse::<EntryName>().is_ok());
    }

    #[test]
    fn the_nearest_name_is_offered_only_when_it_is_near() {
        let names = ["researcher", "writer", "referencer", "editor"];
        assert_eq!(nearest("writre", names), Some("writer"));
        assert_eq!(nearest("resercher", names), Some("researcher"));
        assert_eq!(nearest("Editor", names), Some("editor"));
        assert_eq!(nearest("bananas", names), None);
        assert_eq!(nearest("", ["a", "b"]), None);
    }
}
