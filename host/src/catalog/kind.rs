//! The three kinds of entry and the fields each of them has.

use std::fmt;

use serde::{Serialize, Serializer};

/// What an entry of the catalog is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// An agent type: `types.json`.
    Type,
    /// A skill: `skills/<name>.md`.
    Skill,
    /// A team: `teams.json`.
    Team,
}

impl Kind {
    /// All kinds, in the order in which they are shown.
    pub const ALL: [Self; 3] = [Self::Type, Self::Skill, Self::Team];

    /// The word for one: `type`, `skill`, `team`.
    pub const fn singular(self) -> &'static str {
        match self {
            Self::Type => "type",
            Self::Skill => "skill",
            Self::Team => "team",
        }
    }

    /// The word for several, which is also the key of a list in JSON.
    pub const fn plural(self) -> &'static str {
        match self {
            Self::Type => "types",
            Self::Skill => "skills",
            Self::Team => "teams",
        }
    }

    /// The word for one in a sentence: `agent type`, `skill`, `team`.
    pub const fn described(self) -> &'static str {
        match self {
            Self::Type => "agent type",
            Self::Skill => "skill",
            Self::Team => "team",
        }
    }

    /// The known fields, in the order in which they are shown and written.
    pub const fn fields(self) -> &'static [&'static str] {
        match self {
            Self::Type => &["system_prompt", "model", "skills", "tags", "tool_permission"],
            Self::Skill => &["content", "description", "tags"],
            Self::Team => &["description", "tags", "stages", "loop"],
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.singular())
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.singular())
    }
}
