//! A name as it is read: `writer`, or `audit/writer` for what one plugin says.

use std::fmt;
use std::str::FromStr;

use crate::names::{EntryName, InvalidName, PluginName};

/// A name that may be qualified by a plugin. Accepted wherever a name is
/// read, never where one is written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reference {
    /// The plugin, when the name is qualified.
    pub plugin: Option<PluginName>,
    /// The entry.
    pub name: EntryName,
}

impl FromStr for Reference {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        Ok(match text.split_once('/') {
            Some((plugin, name)) => Self { plugin: Some(plugin.parse()?), name: name.parse()? },
            None => Self { plugin: None, name: text.parse()? },
        })
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(plugin) = &self.plugin {
            write!(formatter, "{plugin}/")?;
        }
        self.name.fmt(formatter)
    }
}
