//! What authors write becomes a plugin, however they like to build it, and all
//! that they set arrives.

use std::fs;
use std::process::Command;

use object::{Object, ObjectSymbol};
use replio_tests::{Plugin, World, text};
use serde_json::{Value, json};

/// Everything that the builders of the API can set.
const CATALOGUE: &str = r##"#![deny(warnings, missing_debug_implementations, unreachable_pub)]
#![forbid(unsafe_code)]

use replio_plugin_api::{
    export_plugin, AgentType, Loop, Plugin, Result, Skill, SkillRegistry, Stage, Team, TeamRegistry, TypeRegistry,
};

#[derive(Debug)]
struct Catalogue;

impl Plugin for Catalogue {
    fn register_types(registry: &mut TypeRegistry) -> Result<()> {
        registry.add_plugin(
            AgentType::new("all-fields").system_prompt("You \"set\"\n\tall \u{1f980}.").model("openai/gpt-x").skill("one").skills(["two"])
                .tag("first").tags(["second"]).allow("read").ask("bash").deny("edit"),
        )?;
        registry.add_plugin(AgentType::new("no-fields"))?;
        registry.add_plugin(AgentType::new("empty-lists").skills([] as [&str; 0]).tags(Vec::<String>::new()))?;
        registry.add_plugin(AgentType::new("writer").deny("web"))
    }

    fn register_skills(registry: &mut SkillRegistry) -> Result<()> {
        registry.add_plugin(Skill::new("one", "# One\n\nDo this.").description("The first").tag("t").tags(["u"]))?;
        registry.add_plugin(Skill::partial("two").description("Without content"))
    }

    fn register_teams(registry: &mut TeamRegistry) -> Result<()> {
        registry.add_plugin(
            Team::new("all-fields").description("A team").tag("t").tags(["u"])
                .stage("planner")
                .stage(Stage::new("all-fields").task_hint("Do.").handoff_note("Give.").skill("one").skills(["two"]))
                .repeat(Loop::new("planner", "all-fields").max_iterations(5).verdict("DONE:")),
        )
    }
}

export_plugin!(Catalogue);
"##;

fn all_of_it_arrives(world: &World) {
    let field = |command: &[&str], field: &str| world.json(command)[field].clone();
    let a_type = |name: &str, key: &str| field(&["type", "show", name], key);
    assert_eq!(a_type("all-fields", "system_prompt"), "You \"set\"\n\tall \u{1f980}.");
    assert_eq!(a_type("all-fields", "model"), "openai/gpt-x");
    assert_eq!(a_type("all-fields", "skills"), json!(["one", "two"]));
    assert_eq!(a_type("all-fields", "tags"), json!(["first", "second"]));
    assert_eq!(
        a_type("all-fields", "tool_permission"),
        json!({"read": "allow", "bash": "ask", "edit": "deny"})
    );
    assert_eq!(a_type("no-fields", "model"), Value::Null);
    assert_eq!(a_type("empty-lists", "fields")["tags"]["layer"], "plugin");
    assert_eq!(a_type("writer", "origin"), "merged");
    assert_eq!(a_type("writer", "tool_permission")["web"], "deny");
    let skill = |name: &str, key: &str| field(&["skill", "show", name], key);
    assert_eq!(skill("one", "content"), "# One\n\nDo this.");
    assert_eq!((skill("one", "description"), skill("one", "tags")), ("The first".into(), json!(["t", "u"])));
    assert_eq!(skill("two", "description"), "Without content");
    let team = |key: &str| field(&["team", "show", "all-fields"], key);
    assert_eq!((team("description"), team("tags")), ("A team".into(), json!(["t", "u"])));
    let stages = team("stages");
    assert_eq!((&stages[0]["type"], &stages[1]["type"]), (&"planner".into(), &"all-fields".into()));
    assert_eq!((&stages[1]["task_hint"], &stages[1]["handoff_note"]), (&"Do.".into(), &"Give.".into()));
    assert_eq!(stages[1]["skills"], json!(["one", "two"]));
    let expected = json!({"from": "planner", "until": "all-fields", "max_iterations": 5, "verdict": "DONE:"});
    assert_eq!(team("loop"), expected);
}

#[test]
fn all_that_an_author_can_set_arrives_in_both_editions_and_smallest_form() {
    let smallest = "lto = \"fat\"\nopt-level = \"z\"\ncodegen-units = 1";
    for (edition, profile) in [("2021", ""), ("2024", ""), ("2024", smallest)] {
        let library = Plugin::new("catalogue", CATALOGUE).edition(edition).profile(profile).build();
        let world = World::new();
        world.ok(&["plugins", "install", text(&library)]);
        all_of_it_arrives(&world);
        let bytes = fs::read(&library).unwrap();
        assert_eq!(exported(&bytes), ["_1as_0lib_1header_0root_bmodule_bloader"], "{edition} {profile}");
    }
}

fn exported(bytes: &[u8]) -> Vec<String> {
    let file = object::File::parse(bytes).unwrap();
    let symbols = file.dynamic_symbols().filter(|symbol| symbol.is_definition() && symbol.is_global());
    symbols.map(|symbol| symbol.name().unwrap().to_owned()).collect()
}

#[test]
fn what_the_package_says_of_itself_is_what_the_plugin_says() {
    let package = "description = \"Audits\\nin \\\\ two lines\"\nauthors = [\"A <a@example.org>\", \"B\"]\nlicense = \"MIT\"\nhomepage = \"https://example.org\"";
    let source = "use replio_plugin_api::*;\nstruct P;\nimpl Plugin for P {}\nexport_plugin!(P, replio: \">=0.1, <99\",);\n";
    let library = Plugin::new("code_audit_2", source).version("2.3.4-rc.1").package(package).build();
    let world = World::new();
    let inspected = world.json(&["plugins", "inspect", text(&library)])["plugin"].clone();
    for (key, expected) in [
        ("name", json!("code-audit-2")),
        ("version", json!("2.3.4-rc.1")),
        ("description", json!("Audits\nin \\ two lines")),
        ("authors", json!(["A <a@example.org>", "B"])),
        ("license", json!("MIT")),
        ("homepage", json!("https://example.org")),
        ("replio", json!(">=0.1, <99")),
        ("panic", json!("unwind")),
        ("status", Value::Null),
    ] {
        assert_eq!(inspected[key], expected, "{key}");
    }
    world.ok(&["plugins", "install", text(&library)]);
    let shown = world.json(&["plugins", "show", "code-audit-2"])["plugin"].clone();
    assert_eq!(shown["authors"], inspected["authors"]);
    world.ok(&["plugins", "uninstall", "code-audit-2"]);
}

#[test]
fn a_mistake_that_the_compiler_can_see_is_told_by_it() {
    let use_all = "#[allow(unused_imports)] use replio_plugin_api::*;\nstruct P;\n";
    let whole = format!("{use_all}impl Plugin for P {{}}\nexport_plugin!(P);\n");
    for (name, source, said) in [
        ("Audit", whole.clone(), "must begin with a small letter"),
        ("2audit", whole.clone(), ""),
        ("audit", format!("{use_all}export_plugin!(P);\n"), "the trait bound `P: Plugin` is not satisfied"),
        (
            "audit",
            format!("{use_all}impl Plugin for P {{}}\nexport_plugin!(P, host: \"1\");\n"),
            "no rules expected",
        ),
        (
            "audit",
            format!("{use_all}impl Plugin for P {{}}\nexport_plugin!(P, replio: \">=banana\");\n"),
            "what stands after `replio:` in `export_plugin!` is no semver requirement",
        ),
        (
            "audit",
            format!("{use_all}impl Plugin for P {{}}\nexport_plugin!(P, replio: \"^0.1 || 2\");\n"),
            "what stands after `replio:` in `export_plugin!` is no semver requirement",
        ),
        (
            "audit",
            format!("{whole}export_plugin!(P);\n"),
            "`_A_CRATE_CALLS_EXPORT_PLUGIN_ONLY_ONCE` is defined multiple times",
        ),
        (
            "audit",
            format!("{whole}mod other {{ replio_plugin_api::export_plugin!(super::P); }}\n"),
            "symbol `_1as_0lib_1header_0root_bmodule_bloader` is already defined",
        ),
    ] {
        let errors = Plugin::new(name, &source).build_errors();
        assert!(errors.contains(said), "{name}: {errors}");
    }
}

#[test]
fn the_example_plugins_install_and_agree_with_each_other() {
    let world = World::new();
    for name in ["house-style", "security-review"] {
        let folder = replio_tests::workspace().join("example-plugins").join(name);
        let mut install = world.command(&["plugins", "install", text(&folder)]);
        install.env("CARGO_TARGET_DIR", replio_tests::fixture_target().join("build"));
        let output = install.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(world.standing(), ["house-style local enabled", "security-review local enabled"]);
    world.ok(&["type", "list"]);
    world.ok(&["skill", "list"]);
    world.ok(&["team", "list"]);
}

#[test]
fn a_plugin_of_c_without_the_api_is_no_plugin() {
    let world = World::new();
    world.write(&world.path("plain.c"), "int register_types(void) { return 0; }\n");
    let library = world.path("libplain.so");
    let compiled =
        Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(world.path("plain.c")).status();
    if !compiled.is_ok_and(|status| status.success()) {
        eprintln!("skipped: there is no C compiler here");
        return;
    }
    assert_eq!(world.error(&["plugins", "install", text(&library)])["code"], "not-a-plugin");
}
