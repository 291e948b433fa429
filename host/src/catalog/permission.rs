//! What an agent type may do: categories of tools, and an action for each.

use std::collections::BTreeMap;
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

    /// The action where neither a type nor a setting says one.
    pub const fn default_action(self) -> Action {
        match self {
            Self::Read | Self::List | Self::Web | Self::Delegate => Action::Allow,
            Self::Edit | Self::Bash | Self::Mcp => Action::Ask,
        }
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

/// A category whose action became less strict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loosened {
    /// The category.
    pub category: Category,
    /// What it was.
    pub before: Action,
    /// What it is.
    pub after: Action,
}

/// The categories that `after` allows more of than `before` does; one that is
/// not set has its default.
pub fn loosened(before: &BTreeMap<Category, Action>, after: &BTreeMap<Category, Action>) -> Vec<Loosened> {
    let action = |map: &BTreeMap<Category, Action>, category: Category| {
        map.get(&category).copied().unwrap_or(category.default_action())
    };
    let all = Category::ALL.into_iter();
    all.map(|category| Loosened {
        category,
        before: action(before, category),
        after: action(after, category),
    })
    .filter(|change| change.after < change.before)
    .collect()
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
    fn leaving_out_a_deny_loosens_to_the_default() {
        let before = BTreeMap::from([(Category::Bash, Action::Deny), (Category::Web, Action::Deny)]);
        let after = BTreeMap::from([(Category::Web, Action::Deny), (Category::Mcp, Action::Deny)]);
        let bash = Loosened { category: Category::Bash, before: Action::Deny, after: Action::Ask };
        assert_eq!(loosened(&before, &after), [bash]);
        assert!(loosened(&before, &before).is_empty());
        assert_eq!(loosened(&after, &before)[0].category, Category::Mcp);
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
