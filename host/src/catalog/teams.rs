//! A merged entry as a team: agent types that work one after another.

use serde::Serialize;
use serde_json::Value;

use super::Resolved;
use super::types::{text, texts};

/// How often a loop runs where its team doesn't say.
pub const DEFAULT_ITERATIONS: u32 = 3;
/// The marker of a verdict where its team doesn't name one.
pub const DEFAULT_VERDICT: &str = "VERDICT:";

/// A team. Serializes to the fields of the JSON contract.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Team {
    /// The name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Tags.
    pub tags: Vec<String>,
    /// The stages, in order.
    pub stages: Vec<Stage>,
    /// The stages that are repeated until one of them is content.
    #[serde(rename = "loop")]
    pub loop_: Option<Loop>,
}

/// One stage of a team.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Stage {
    /// The agent type; the name may be qualified by a plugin.
    #[serde(rename = "type")]
    pub agent_type: String,
    /// What the stage is to do.
    pub task_hint: String,
    /// What it is to hand to the next stage.
    pub handoff_note: String,
    /// Skills that the type has in this stage, beside its own.
    pub skills: Vec<String>,
}

/// Stages that are repeated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Loop {
    /// The agent type of the stage that it goes back to.
    pub from: String,
    /// The agent type of the stage that gives the verdict.
    pub until: String,
    /// How often at most.
    pub max_iterations: u32,
    /// What a line with the verdict begins with.
    pub verdict: String,
}

impl Resolved<'_> {
    /// The team that it describes. Of another kind it has only what the two
    /// have in common.
    pub fn team(&self) -> Team {
        let stages = self.value("stages").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        Team {
            name: self.name().to_owned(),
            description: self.text("description"),
            tags: texts(self.value("tags")),
            stages: stages.iter().map(stage).collect(),
            loop_: self.value("loop").map(team_loop),
        }
    }
}

fn stage(value: &Value) -> Stage {
    if let Value::String(name) = value {
        return Stage {
            agent_type: name.clone(),
            task_hint: String::new(),
            handoff_note: String::new(),
            skills: Vec::new(),
        };
    }
    Stage {
        agent_type: text(value.get("type")),
        task_hint: text(value.get("task_hint")),
        handoff_note: text(value.get("handoff_note")),
        skills: texts(value.get("skills")),
    }
}

fn team_loop(value: &Value) -> Loop {
    let iterations = value.get("max_iterations").and_then(Value::as_u64);
    Loop {
        from: text(value.get("from")),
        until: text(value.get("until")),
        max_iterations: iterations.and_then(|n| u32::try_from(n).ok()).unwrap_or(DEFAULT_ITERATIONS),
        verdict: value.get("verdict").and_then(Value::as_str).unwrap_or(DEFAULT_VERDICT).to_owned(),
    }
}
