//! A replio plugin that reviews the security of a project: four agent types,
//! four skills, and a team that chains the types.
//!
//! The texts are Markdown files, compiled in, so that they can be read and
//! reviewed as text and the plugin stays one file. Hooks run at each start of
//! replio; they only describe entries and never touch the project.
#![deny(warnings)]

use replio_plugin_api::{
    AgentType, Plugin, Result, Skill, SkillRegistry, Stage, Team, TeamRegistry, TypeRegistry, export_plugin,
};

struct SecurityReview;

impl Plugin for SecurityReview {
    fn register_types(registry: &mut TypeRegistry) -> Result<()> {
        // A category that a type does not name has the action of its caller.
        // These types read code that may be hostile, so each one is named.
        registry.add_plugin(
            reader("threat-modeler", include_str!("../prompts/threat-modeler.md"))
                .skill("threat-model")
                .deny("bash")
                .deny("web"),
        )?;
        // To run the tests of a hostile project is to run hostile code: `ask`
        // puts each command to the person, and is a denial where nobody is.
        registry.add_plugin(
            reader("security-auditor", include_str!("../prompts/security-auditor.md"))
                .skill("secure-code-checklist")
                .skill("finding-format")
                .ask("bash")
                .deny("web"),
        )?;
        // Advisories are on the web, and the addresses asked for leave the machine.
        registry.add_plugin(
            reader("dependency-auditor", include_str!("../prompts/dependency-auditor.md"))
                .skill("dependency-checklist")
                .skill("finding-format")
                .ask("bash")
                .ask("web"),
        )?;
        registry.add_plugin(
            reader("security-reporter", include_str!("../prompts/security-reporter.md"))
                .skill("finding-format")
                .deny("bash")
                .deny("web"),
        )
    }

    fn register_skills(registry: &mut SkillRegistry) -> Result<()> {
        // replio puts a skill's content under its name as a heading of level 3,
        // so the files begin with text and use headings of level 4.
        registry.add_plugin(
            Skill::new("threat-model", include_str!("../skills/threat-model.md"))
                .description("Data flows, trust boundaries, and the threats at each")
                .tags(["review", "security"]),
        )?;
        registry.add_plugin(
            Skill::new("secure-code-checklist", include_str!("../skills/secure-code-checklist.md"))
                .description("What to look for in code, how to find it, and what proves it")
                .tags(["review", "security"]),
        )?;
        registry.add_plugin(
            Skill::new("dependency-checklist", include_str!("../skills/dependency-checklist.md"))
                .description("Known faults, provenance and upkeep of third-party code")
                .tags(["review", "security"]),
        )?;
        registry.add_plugin(
            Skill::new("finding-format", include_str!("../skills/finding-format.md"))
                .description("How to write a security finding, and how to rate it")
                .tags(["review", "security"]),
        )
    }

    fn register_teams(registry: &mut TeamRegistry) -> Result<()> {
        // A stage may name any type of the catalog, bundled ones too.
        let model = Stage::new("threat-modeler")
            .task_hint("Model the threats to the project, or to the part that the task names.")
            .handoff_note("Return the whole model; the auditor works through its threats by number.");
        let audit = Stage::new("security-auditor")
            .task_hint("Test each threat of the model against the code, then go through the checklist.")
            .handoff_note("Return the findings and what was not checked; repeat the threat model.");
        let dependencies = Stage::new("dependency-auditor")
            .task_hint("Audit the third-party code that the project builds with or ships.")
            .handoff_note("Return your findings; repeat the threat model and the auditor's answer.");
        let report = Stage::new("security-reporter")
            .task_hint("Check the findings against the code and write one report.")
            .handoff_note("Return the report alone.");
        registry.add_plugin(
            Team::new("security-review")
                .description("Model the threats, audit code and dependencies, and report")
                .tags(["review", "security"])
                .stage(model)
                .stage(audit)
                .stage(dependencies)
                .stage(report),
        )
    }
}

/// What all four have in common: they read, and change nothing. MCP tools and
/// delegation are closed too, so that no text they read can lead them further.
fn reader(name: &str, prompt: &str) -> AgentType {
    let reader = AgentType::new(name).system_prompt(prompt.trim_end()).tags(["review", "security"]);
    reader.allow("read").allow("list").deny("edit").deny("delegate").deny("mcp")
}

export_plugin!(SecurityReview);
