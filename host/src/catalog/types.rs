//! A merged entry as the thing that it describes: an agent type, a skill.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::{Action, Category, Resolved};

/// A kind of agent. Serializes to the fields of the JSON contract.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AgentType {
    /// The name.
    pub name: String,
    /// The system prompt.
    pub system_prompt: String,
    /// The model; `None` for the caller's own. An empty text is none.
    pub model: Option<String>,
    /// Names of skills, in order.
    pub skills: Vec<String>,
    /// Tags.
    pub tags: Vec<String>,
    /// Actions of the categories that the type sets.
    pub tool_permission: BTreeMap<Category, Action>,
}

/// A named set of instructions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Skill {
    /// The name.
    pub name: String,
    /// The instructions, verbatim.
    pub content: String,
    /// What it is for: as given, else the content's first line as it stands.
    pub description: String,
    /// Tags.
    pub tags: Vec<String>,
}

impl Resolved<'_> {
    /// The agent type that it describes. Of another kind it has only what the
    /// two have in common.
    pub fn agent_type(&self) -> AgentType {
        AgentType {
            name: self.name().to_owned(),
            system_prompt: self.text("system_prompt"),
            model: Some(self.text("model")).filter(|model| !model.trim().is_empty()),
            skills: texts(self.value("skills")),
            tags: texts(self.value("tags")),
            tool_permission: self.permission(),
        }
    }

    /// The skill that it describes. Of another kind it has only what the two
    /// have in common.
    pub fn skill(&self) -> Skill {
        let content = self.text("content");
        let description = match self.value("description") {
            Some(_) => self.text("description"),
            None => first_line(&content).to_owned(),
        };
        Skill { name: self.name().to_owned(), content, description, tags: texts(self.value("tags")) }
    }

    /// A text; empty where it is not set.
    pub(super) fn text(&self, field: &str) -> String {
        text(self.value(field))
    }
}

pub(super) fn text(value: Option<&Value>) -> String {
    value.and_then(Value::as_str).unwrap_or_default().to_owned()
}

pub(super) fn texts(value: Option<&Value>) -> Vec<String> {
    let list = value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// A content's first line, which may be empty, without its line break.
pub(super) fn first_line(content: &str) -> &str {
    content.lines().next().unwrap_or_default()
}
