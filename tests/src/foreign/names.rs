//! Names, which end up in paths and messages.

use std::fmt::{Debug, Display};
use std::path::{Component, Path};
use std::str::FromStr;

use replio::catalog::{Kind, Reference};
use replio::names::{EntryName, InvalidName, LONGEST_NAME, PluginName, nearest};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// An entry's name, which may be qualified by a plugin.
///
/// # Panics
/// When what must hold doesn't.
pub fn entry_name(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let name = checked::<EntryName>(text);
    assert_eq!(name.is_some(), text.parse::<Reference>().is_ok_and(|reference| reference.plugin.is_none()));
    if let Ok(reference) = text.parse::<Reference>() {
        assert_eq!(reference.to_string(), text);
    }
    for kind in Kind::ALL {
        if let Some(near) = nearest(text, kind.fields().iter().copied()) {
            assert!(kind.fields().contains(&near));
        }
    }
}

/// A plugin's name.
///
/// # Panics
/// When what must hold doesn't.
pub fn plugin_name(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if checked::<PluginName>(text).is_some() {
        // What is a plugin's name is always an entry's name too.
        assert!(text.parse::<EntryName>().is_ok());
    }
}

/// A name is one harmless part of a path, and the same wherever it is read.
fn checked<Name>(text: &str) -> Option<Name>
where
    Name: FromStr<Err = InvalidName> + Display + Debug + PartialEq + Serialize + DeserializeOwned,
{
    let json = serde_json::to_string(text).expect("a text");
    let from_json = serde_json::from_str::<Name>(&json);
    match text.parse::<Name>() {
        Ok(name) => {
            assert_eq!(name.to_string(), text);
            assert_eq!(serde_json::to_string(&name).expect("a name"), json);
            assert_eq!(from_json.ok().as_ref(), Some(&name));
            assert!(text.len() <= LONGEST_NAME);
            assert!(
                text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte)),
                "{text:?}"
            );
            let parts: Vec<Component<'_>> = Path::new(text).components().collect();
            assert_eq!(parts, [Component::Normal(text.as_ref())]);
            assert!(!text.starts_with(['.', '-']) && !text.contains(".."), "{text:?}");
            Some(name)
        }
        Err(error) => {
            assert!(from_json.is_err());
            assert!(!error.to_string().chars().any(char::is_control), "{error}");
            None
        }
    }
}
