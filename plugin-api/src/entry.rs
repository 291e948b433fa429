//! The entries a plugin brings, field by field. An entry carries only the
//! fields that were set: what was left out, the operator's catalog inherits
//! from the layer below. So an entry with the name of a bundled type and one
//! field set changes that one field.

use replio_plugin_abi::manifest::is_plugin_name;
use serde_json::{Map, Value, json};

mod sealed {
    pub trait Entry {
        /// What an error calls it.
        const KIND: &'static str;
        fn name(&self) -> &str;
        /// The entry as a JSON object, or what is wrong with it.
        fn to_json(&self) -> Result<serde_json::Value, String>;
    }
}

pub(crate) use sealed::Entry;

/// The tool categories that a permission can be given for.
pub const CATEGORIES: &[&str] = &["read", "list", "edit", "bash", "web", "delegate", "mcp"];

/// An agent type: a system prompt, what the agent may do, and the skills it
/// works with.
///
/// ```
/// use replio_plugin_api::AgentType;
///
/// let auditor = AgentType::new("auditor")
///     .system_prompt("You audit code and report what you can show.")
///     .skill("checklist")
///     .tag("review")
///     .allow("read")
///     .deny("edit")
///     .ask("bash");
/// # let _ = auditor;
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "an entry does nothing until it is handed to `registry.add_plugin`"]
pub struct AgentType {
    name: String,
    system_prompt: Option<String>,
    model: Option<String>,
    skills: Option<Vec<String>>,
    tags: Option<Vec<String>>,
    tool_permission: Vec<(String, &'static str)>,
}

impl AgentType {
    /// A type of this name, with nothing set. Names are made of letters,
    /// digits, `.`, `_` and `-`, begin with a letter or digit, and have at
    /// most 64 characters.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            system_prompt: None,
            model: None,
            skills: None,
            tags: None,
            tool_permission: Vec::new(),
        }
    }

    /// Sets the system prompt. A byte order mark at its beginning, as some
    /// editors put it into files, is left out.
    pub fn system_prompt(mut self, prompt: impl Into<String>) -> Self {
        self.system_prompt = Some(without_byte_order_mark(prompt.into()));
        self
    }

    /// Sets the model the type runs on, as `model` or `provider/model`. The
    /// user approves it before it first runs; most types leave it unset and
    /// run on their caller's model.
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Attaches a skill, by name. It need not be one of this plugin's.
    pub fn skill(mut self, skill: impl Into<String>) -> Self {
        self.skills.get_or_insert_with(Vec::new).push(skill.into());
        self
    }

    /// Attaches several skills. With an empty list, such as
    /// `Vec::<String>::new()`, and no [`skill`](Self::skill) call, the type is
    /// given *no* skills, where a lower layer may have some. (A bare `[]` doesn't
    /// say what it is a list of, and doesn't compile.)
    pub fn skills<S: Into<String>>(mut self, skills: impl IntoIterator<Item = S>) -> Self {
        self.skills.get_or_insert_with(Vec::new).extend(skills.into_iter().map(Into::into));
        self
    }

    /// Adds a tag, for grouping and filtering.
    pub fn tag(mut self, tag: impl Into<String>) -> Self {
        self.tags.get_or_insert_with(Vec::new).push(tag.into());
        self
    }

    /// Adds several tags; an empty list, such as `Vec::<String>::new()`, says
    /// that there are none.
    pub fn tags<S: Into<String>>(mut self, tags: impl IntoIterator<Item = S>) -> Self {
        self.tags.get_or_insert_with(Vec::new).extend(tags.into_iter().map(Into::into));
        self
    }

    /// Allows the tools of a category, one of [`CATEGORIES`].
    pub fn allow(self, category: impl Into<String>) -> Self {
        self.permission(category.into(), "allow")
    }

    /// Has the person asked before each use of a tool of this category.
    pub fn ask(self, category: impl Into<String>) -> Self {
        self.permission(category.into(), "ask")
    }

    /// Denies the tools of a category: the agent is not even offered them.
    pub fn deny(self, category: impl Into<String>) -> Self {
        self.permission(category.into(), "deny")
    }

    fn permission(mut self, category: String, action: &'static str) -> Self {
        self.tool_permission.push((category, action));
        self
    }
}

impl Entry for AgentType {
    const KIND: &'static str = "agent type";

    fn name(&self) -> &str {
        &self.name
    }

    fn to_json(&self) -> Result<Value, String> {
        let mut fields = named(&self.name)?;
        put(&mut fields, "system_prompt", &self.system_prompt);
        put(&mut fields, "model", &self.model);
        put(&mut fields, "skills", &self.skills);
        put(&mut fields, "tags", &self.tags);
        let mut permissions = Map::new();
        for (category, action) in &self.tool_permission {
            if !CATEGORIES.contains(&category.as_str()) {
                return Err(format!(
                    "{category:?} is no category of tools; the categories are {}",
                    CATEGORIES.join(", ")
                ));
            }
            if permissions.insert(category.clone(), json!(action)).is_some() {
                return Err(format!("the permission for {category:?} is given twice"));
            }
        }
        if !permissions.is_empty() {
            fields.insert("tool_permission".into(), permissions.into());
        }
        check_skills(self.skills.iter().flatten())?;
        Ok(fields.into())
    }
}

/// A skill: Markdown instructions that an agent type can attach.
///
/// ```
/// use replio_plugin_api::Skill;
///
/// // Longer ones read best as files: Skill::new("checklist", include_str!("checklist.md"))
/// let skill = Skill::new("checklist", "Check twice.").description("What to check").tag("review");
/// # let _ = skill;
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "an entry does nothing until it is handed to `registry.add_plugin`"]
pub struct Skill {
    name: String,
    content: Option<String>,
    description: Option<String>,
    tags: Option<Vec<String>>,
}

impl Skill {
    /// A skill of this name and content. A byte order mark at the beginning of
    /// the content is left out.
    pub fn new(name: impl Into<String>, content: impl Into<String>) -> Self {
        Self { content: Some(without_byte_order_mark(content.into())), ..Self::partial(name) }
    }

    /// A skill without content of its own, to set the description or tags of
    /// one that another layer has.
    pub fn partial(name: impl Into<String>) -> Self {
        Self { name: name.into(), content: None, description: None, tags: None }
    }

    /// Sets the description that listings show. Without one they show the
    /// first line of the content.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Adds a tag, for grouping and filtering.
    pub fn tag(mut self, tag: impl Into<String>) -> Self {
        self.tags.get_or_insert_with(Vec::new).push(tag.into());
        self
    }

    /// Adds several tags; an empty list, such as `Vec::<String>::new()`, says
    /// that there are none.
    pub fn tags<S: Into<String>>(mut self, tags: impl IntoIterator<Item = S>) -> Self {
        self.tags.get_or_insert_with(Vec::new).extend(tags.into_iter().map(Into::into));
        self
    }
}

impl Entry for Skill {
    const KIND: &'static str = "skill";

    fn name(&self) -> &str {
        &self.name
    }

    fn to_json(&self) -> Result<Value, String> {
        let mut fields = named(&self.name)?;
        put(&mut fields, "content", &self.content);
        put(&mut fields, "description", &self.description);
        put(&mut fields, "tags", &self.tags);
        Ok(fields.into())
    }
}

/// A team: agent types that work one after another, each on what the ones
/// before it handed on.
///
/// ```
/// use replio_plugin_api::{Loop, Stage, Team};
///
/// let team = Team::new("audit")
///     .description("Plan, then audit until nothing is left")
///     .tag("review")
///     .stage("planner")
///     .stage("programmer")
///     .stage(Stage::new("auditor").task_hint("Audit the change.").handoff_note("Return findings.").skill("checklist"))
///     .repeat(Loop::new("programmer", "auditor").max_iterations(2));
/// # let _ = team;
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "an entry does nothing until it is handed to `registry.add_plugin`"]
pub struct Team {
    name: String,
    description: Option<String>,
    tags: Option<Vec<String>>,
    stages: Option<Vec<Stage>>,
    repeat: Option<Loop>,
}

impl Team {
    /// A team of this name, with nothing set.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), description: None, tags: None, stages: None, repeat: None }
    }

    /// Sets the description.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Adds a tag, for grouping and filtering.
    pub fn tag(mut self, tag: impl Into<String>) -> Self {
        self.tags.get_or_insert_with(Vec::new).push(tag.into());
        self
    }

    /// Adds several tags; an empty list, such as `Vec::<String>::new()`, says
    /// that there are none.
    pub fn tags<S: Into<String>>(mut self, tags: impl IntoIterator<Item = S>) -> Self {
        self.tags.get_or_insert_with(Vec::new).extend(tags.into_iter().map(Into::into));
        self
    }

    /// Adds a stage: the name of an agent type, or a [`Stage`] that says more.
    pub fn stage(mut self, stage: impl Into<Stage>) -> Self {
        self.stages.get_or_insert_with(Vec::new).push(stage.into());
        self
    }

    /// Adds several stages; an empty list says that there are none.
    pub fn stages<S: Into<Stage>>(mut self, stages: impl IntoIterator<Item = S>) -> Self {
        self.stages.get_or_insert_with(Vec::new).extend(stages.into_iter().map(Into::into));
        self
    }

    /// Repeats a run of stages until their last one is content. In files this
    /// is the field `loop`.
    pub fn repeat(mut self, repeat: Loop) -> Self {
        self.repeat = Some(repeat);
        self
    }
}

impl Entry for Team {
    const KIND: &'static str = "team";

    fn name(&self) -> &str {
        &self.name
    }

    fn to_json(&self) -> Result<Value, String> {
        let mut fields = named(&self.name)?;
        put(&mut fields, "description", &self.description);
        put(&mut fields, "tags", &self.tags);
        if let Some(stages) = &self.stages {
            let stages: Result<Vec<Value>, String> = stages.iter().map(Stage::to_json).collect();
            fields.insert("stages".into(), stages?.into());
        }
        if let Some(repeat) = &self.repeat {
            fields.insert("loop".into(), repeat.to_json(self.stages.as_deref())?);
        }
        Ok(fields.into())
    }
}

/// One stage of a [`Team`]: which agent type works, and what it is told.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "a stage does nothing until it is handed to `Team::stage`"]
pub struct Stage {
    agent_type: String,
    task_hint: Option<String>,
    handoff_note: Option<String>,
    skills: Vec<String>,
}

impl Stage {
    /// A stage of this agent type: its name, or `plugin/name` where it must be
    /// that plugin's and no other.
    pub fn new(agent_type: impl Into<String>) -> Self {
        Self { agent_type: agent_type.into(), task_hint: None, handoff_note: None, skills: Vec::new() }
    }

    /// What this stage is to do with the team's task.
    pub fn task_hint(mut self, hint: impl Into<String>) -> Self {
        self.task_hint = Some(hint.into());
        self
    }

    /// What this stage is to hand on to the next.
    pub fn handoff_note(mut self, note: impl Into<String>) -> Self {
        self.handoff_note = Some(note.into());
        self
    }

    /// Gives the stage a skill beside those of its type.
    pub fn skill(mut self, skill: impl Into<String>) -> Self {
        self.skills.push(skill.into());
        self
    }

    /// Gives the stage several skills beside those of its type.
    pub fn skills<S: Into<String>>(mut self, skills: impl IntoIterator<Item = S>) -> Self {
        self.skills.extend(skills.into_iter().map(Into::into));
        self
    }

    fn to_json(&self) -> Result<Value, String> {
        check_reference(&self.agent_type).map_err(|reason| format!("a stage's type: {reason}"))?;
        let mut fields = Map::new();
        fields.insert("type".into(), json!(self.agent_type));
        put(&mut fields, "task_hint", &self.task_hint);
        put(&mut fields, "handoff_note", &self.handoff_note);
        check_skills(&self.skills)?;
        if !self.skills.is_empty() {
            fields.insert("skills".into(), json!(self.skills));
        }
        Ok(fields.into())
    }
}

impl From<&str> for Stage {
    fn from(agent_type: &str) -> Self {
        Self::new(agent_type)
    }
}

impl From<String> for Stage {
    fn from(agent_type: String) -> Self {
        Self::new(agent_type)
    }
}

impl From<&String> for Stage {
    fn from(agent_type: &String) -> Self {
        Self::new(agent_type)
    }
}

/// A run of stages that is repeated until its last one gives its verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "a loop does nothing until it is handed to `Team::repeat`"]
pub struct Loop {
    from: String,
    until: String,
    max_iterations: Option<u32>,
    verdict: Option<String>,
}

impl Loop {
    /// Repeats the stages from the one of type `from` to the one of type
    /// `until`, until the latter's answer says `VERDICT: PASS`.
    pub fn new(from: impl Into<String>, until: impl Into<String>) -> Self {
        Self { from: from.into(), until: until.into(), max_iterations: None, verdict: None }
    }

    /// How often at most; 3 where nothing is said.
    pub fn max_iterations(mut self, times: u32) -> Self {
        self.max_iterations = Some(times);
        self
    }

    /// The marker that stands before `PASS`; `VERDICT:` where nothing is said.
    pub fn verdict(mut self, marker: impl Into<String>) -> Self {
        self.verdict = Some(marker.into());
        self
    }

    fn to_json(&self, stages: Option<&[Stage]>) -> Result<Value, String> {
        for end in [&self.from, &self.until] {
            check_reference(end).map_err(|reason| format!("the loop: {reason}"))?;
        }
        // Where the stages come from another layer, only the host can tell.
        if let Some(stages) = stages {
            self.check_order(stages)?;
        }
        if self.max_iterations == Some(0) {
            return Err("the loop's max_iterations is 0; it runs at least once".into());
        }
        if self.verdict.as_ref().map_or(false, |marker| marker.trim().is_empty()) {
            return Err("the loop's verdict is empty, which every answer would match".into());
        }
        let mut fields = Map::new();
        fields.insert("from".into(), json!(self.from));
        fields.insert("until".into(), json!(self.until));
        put(&mut fields, "max_iterations", &self.max_iterations);
        put(&mut fields, "verdict", &self.verdict);
        Ok(fields.into())
    }

    fn check_order(&self, stages: &[Stage]) -> Result<(), String> {
        let is = |end: &String| {
            let end = end.clone();
            move |stage: &Stage| stage.agent_type == end
        };
        let no_stage = |end| format!("the loop names {end:?}, which is the type of none of the stages");
        let first = stages.iter().position(is(&self.from)).ok_or_else(|| no_stage(&self.from))?;
        let last = stages.iter().rposition(is(&self.until)).ok_or_else(|| no_stage(&self.until))?;
        if first > last {
            return Err(format!(
                "the loop goes from {:?} until {:?}, which comes before it",
                self.from, self.until
            ));
        }
        Ok(())
    }
}

fn without_byte_order_mark(mut text: String) -> String {
    const MARK: char = '\u{feff}';
    if text.starts_with(MARK) {
        text.drain(..MARK.len_utf8());
    }
    text
}

fn named(name: &str) -> Result<Map<String, Value>, String> {
    check_name(name)?;
    let mut fields = Map::new();
    fields.insert("name".into(), json!(name));
    Ok(fields)
}

fn put<T: Clone + Into<Value>>(fields: &mut Map<String, Value>, key: &str, value: &Option<T>) {
    if let Some(value) = value {
        fields.insert(key.into(), value.clone().into());
    }
}

fn check_name(name: &str) -> Result<(), String> {
    let fits = name.len() <= 64
        && name.starts_with(|first: char| first.is_ascii_alphanumeric())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
        && !name.contains("..");
    if fits {
        return Ok(());
    }
    Err(format!(
        "{name:?} is not a name: 1 to 64 of letters, digits, '.', '_' and '-', \
         beginning with a letter or digit, without '..'"
    ))
}

/// A name, or `plugin/name`.
fn check_reference(reference: &str) -> Result<(), String> {
    let (plugin, name) = match reference.split_once('/') {
        Some((plugin, name)) => (Some(plugin), name),
        None => (None, reference),
    };
    if let Some(plugin) = plugin {
        // Stricter than a package's name: `_` became `-`.
        if !is_plugin_name(plugin) || plugin.contains('_') {
            return Err(format!(
                "{plugin:?} is not the name of a plugin: 1 to 64 of small letters, digits and '-', \
                 beginning with a letter"
            ));
        }
    }
    check_name(name)
}

fn check_skills<'a>(skills: impl IntoIterator<Item = &'a String>) -> Result<(), String> {
    skills
        .into_iter()
        .try_for_each(|skill| check_reference(skill).map_err(|reason| format!("a skill: {reason}")))
}
