//! The system prompt that is sent: the type's own, and the skills it has.

use std::collections::HashSet;

use super::AgentType;

/// The type's prompt, `## Skills`, and each skill under its name: the type's
/// own in its order, then `extra_skills`, each once. A skill that is missing
/// (`lookup` finds no content) or empty is left out, and a type without any
/// has its prompt unchanged.
///
/// ```
/// use replio::catalog::{AgentType, resolved_prompt};
/// let agent_type = AgentType {
///     name: "researcher".into(),
///     system_prompt: "You research.".into(),
///     model: None,
///     skills: vec!["finders".into()],
///     tags: vec![],
///     tool_permission: Default::default(),
/// };
/// let prompt = resolved_prompt(&agent_type, &[], |_| Some("Find sources.\n"));
/// assert_eq!(prompt, "You research.\n\n## Skills\n\n### finders\n\nFind sources.");
/// ```
pub fn resolved_prompt<Content: AsRef<str>>(
    agent_type: &AgentType,
    extra_skills: &[String],
    lookup: impl Fn(&str) -> Option<Content>,
) -> String {
    let mut seen = HashSet::new();
    let skills: Vec<String> = agent_type
        .skills
        .iter()
        .chain(extra_skills)
        .filter(|name| seen.insert(name.as_str()))
        .filter_map(|name| {
            let content = lookup(name)?;
            let content = content.as_ref();
            let shown = content.trim_matches(['\r', '\n']);
            (!content.trim().is_empty()).then(|| format!("### {name}\n\n{shown}"))
        })
        .collect();
    if skills.is_empty() {
        return agent_type.system_prompt.clone();
    }
    let prompt = agent_type.system_prompt.trim_end_matches(['\r', '\n']);
    let mut parts = vec![prompt, "## Skills"];
    parts.retain(|part| !part.is_empty());
    parts.extend(skills.iter().map(String::as_str));
    parts.join("\n\n")
}
