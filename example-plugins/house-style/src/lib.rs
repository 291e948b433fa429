//! A replio plugin that adds a house style to agent types which exist already.
//!
//! An entry carries only the fields that are set here. All others, the system
//! prompt above all, come from the layer below, so the bundled types keep their
//! prompts, and a user's `types.json` can still override what this plugin sets.
#![deny(warnings)]

use replio_plugin_api::{AgentType, Plugin, Result, Skill, SkillRegistry, TypeRegistry, export_plugin};

struct HouseStyle;

impl Plugin for HouseStyle {
    fn register_types(registry: &mut TypeRegistry) -> Result<()> {
        registry.add_plugin(AgentType::new("writer").skill("house-style"))?;

        // A list replaces the list below it. To add a tag, repeat those of the
        // bundled type, here `writing` and `review`.
        registry
            .add_plugin(AgentType::new("editor").skill("house-style").tags(["writing", "review", "style"]))?;

        // Permissions merge by category: only `bash` becomes stricter, and what
        // the bundled type says of edit, web and read stays.
        registry.add_plugin(AgentType::new("programmer").skill("commit-messages").ask("bash"))?;

        registry.add_plugin(AgentType::new("code-reviewer").skill("commit-messages"))
    }

    fn register_skills(registry: &mut SkillRegistry) -> Result<()> {
        registry.add_plugin(
            Skill::new("house-style", include_str!("../skills/house-style.md"))
                .description("Plain words, structure, numbers and names in prose")
                .tag("writing"),
        )?;
        registry.add_plugin(
            Skill::new("commit-messages", include_str!("../skills/commit-messages.md"))
                .description("What a commit holds and how its message reads")
                .tag("programming"),
        )
    }
}

export_plugin!(HouseStyle);
