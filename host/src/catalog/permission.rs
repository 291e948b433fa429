//! What an agent type may do: categories of tools, and an action for each.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use crate::names::nearest;

/// A category of tools that is allowed or denied together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    /// Reading files.
    Read,
    /// Listing folders and searching.
    List,
    /// Writing files.
    Edit,
    /// Running commands.
    Bash,
    /// Reaching the network.
    Web,
    /// Handing work to other agents.
    Delegate,
    /// Tools of connected servers.
    Mcp,
}

/// What happens when a tool of a category is called. The order is that of
/// strictness: `max` of two is the stricter one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// It runs.
    Allow,
    /// The person is asked.
    Ask,
    /// It is refused.
    Deny,
}

/// A word that is no category or no action.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("it is none of {}", .known.join(", "))]
pub struct UnknownWord {
    /// The words that exist.
    pub known: &'static [&'static str],
    /// The one that was probably meant.
    pub nearest: Option<&'static str>,
}

impl Category {
    /// All categories, in the order in which they are shown.
    pub const ALL: [Self; 7] =
        [Self::Read, Self::List, Self::Edit, Self::Bash, Self::Web, Self::Delegate, Self::Mcp];
    /// Their words, in the same order.
    pub const WORDS: [&'static str; 7] = ["read", "list", "edit", "bash", "web", "delegate", "mcp"];

    /// The word in files.
    pub const fn word(self) -> &'static str {
        Self::WORDS[self as usize]
    }
}

impl Action {
    /// All actions, the least strict first.
    pub const ALL: [Self; 3] = [Self::Allow, Self::Ask, Self::Deny];
    /// Their words, in the same order.
    pub const WORDS: [&'static str; 3] = ["allow", "ask", "deny"];

    /// The word in files.
    pub const fn word(self) -> &'static str {
        Self::WORDS[self as usize]
    }

    /// The stricter of two.
    #[must_use]
    pub fn stricter(self, other: Self) -> Self {
        self.max(other)
    }
}

macro_rules! words {
    ($name:ident) => {
        impl FromStr for $name {
            type Err = UnknownWord;

            fn from_str(text: &str) -> Result<Self, UnknownWord> {
                Self::ALL
                    .into_iter()
                    .find(|known| known.word() == text)
                    .ok_or_else(|| UnknownWord { known: &Self::WORDS, nearest: nearest(text, Self::WORDS) })
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.pad(self.word())
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.word())
            }
        }
    };
}

words!(Category);
words!(Action);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deny_is_the_strictest_action() {
        assert_eq!(Action::Allow.stricter(Action::Ask), Action::Ask);
        assert_eq!(Action::Deny.stricter(Action::Ask), Action::Deny);
    }

    #[test]
    fn a_misspelt_action_or_category_has_a_nearest_one() {
        assert_eq!("dney".parse::<Action>().map_err(|e| e.nearest), Err(Some("deny")));
        assert_eq!("Bash".parse::<Category>().map_err(|e| e.nearest), Err(Some("bash")));
        for (category, word) in Category::ALL.into_iter().zip(Category::WORDS) {
            assert_eq!(word.parse(), Ok(category));
        }
    }
}
