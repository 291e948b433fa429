//! What people do with types, skills and teams, by hand and from scripts.

use std::fs;

use replio_tests::{Plugin, Ran, World};

fn told<const RUNS: usize>(story: [Ran; RUNS]) -> String {
    story.map(|ran| ran.to_string()).join("\n")
}

#[test]
fn a_first_look_at_the_catalog() {
    let world = World::new();
    insta::assert_snapshot!(told([
        world.run(&["type"]),
        world.run(&["types", "list", "review"]),
        world.run(&["type", "list", "revew"]),
        world.run(&["skill"]),
        world.run(&["team"]),
        world.run(&["team", "show", "programming"]),
        world.run(&["type", "show", "wrter"]),
    ]));
    assert!(!world.local().exists() && !world.global().exists(), "looking writes nothing");
}

#[test]
fn a_type_is_overridden_field_by_field_and_taken_back() {
    let world = World::new();
    insta::assert_snapshot!(told([
        world.run(&["type", "new", "planner", "You plan.", "--tag", "mine", "--deny", "read", "--global"]),
        world.run(&["type", "new", "planner", "--model", "local/small", "--allow", "read", "--ask", "edit"]),
        world.run(&["type", "show", "planner"]),
        world.run(&["type", "list", "mine"]),
        world.run(&["type", "remove", "planner"]),
        world.run(&["type", "remove", "planner", "--local"]),
        world.run(&["type", "remove", "planner"]),
        world.run(&["type", "remove", "planner"]),
    ]));
    assert_eq!(fs::read_to_string(world.local().join("types.json")).unwrap(), "{}\n");
    assert!(world.local().join(".gitignore").exists());
}

#[test]
fn what_is_not_asked_to_change_stays_byte_for_byte() {
    let world = World::new();
    let types = world.local().join("types.json");
    world.write(&types, "\u{feff}{ \"$note\": \"mine\",\n  \"a\" : {\"tags\": [ \"x\" ], \"model\":\"m\"}, \"bad\": {\"tags\": 5}\n}");
    assert_eq!(world.run(&["type", "new", "a", "--model", "n"]).code, 0);
    let after = "\u{feff}{ \"$note\": \"mine\",\n  \"a\" : {\"tags\": [ \"x\" ], \"model\":\"n\"}, \"bad\": {\"tags\": 5}\n}";
    assert_eq!(fs::read_to_string(&types).unwrap(), after);
    // An entry that can't be read is not written over, and can be removed.
    let refused = world.run(&["type", "new", "bad", "prompt"]);
    assert_eq!(refused.code, 1, "{refused}");
    assert_eq!(fs::read_to_string(&types).unwrap(), after);
    assert_eq!(world.run(&["type", "remove", "bad"]).code, 0);
}

#[test]
fn a_damaged_file_is_never_written() {
    let world = World::new();
    let types = world.local().join("types.json");
    world.write(&types, "{\n  \"mine\": {},\n}\n");
    insta::assert_snapshot!(told([
        world.run(&["type", "list", "research"]),
        world.run(&["type", "new", "other", "hi"]),
        world.run(&["type", "remove", "mine"]),
        world.run(&["type", "new", "other", "hi", "--json"]),
    ]));
    assert_eq!(fs::read_to_string(&types).unwrap(), "{\n  \"mine\": {},\n}\n");
}

#[test]
fn a_skill_is_made_once_shown_and_injected() {
    let world = World::new();
    insta::assert_snapshot!(told([
        world.run_with_input(
            &["skill", "new", "finders", "--from", "-"],
            "# finders\n\nFind \u{1b}[31msources.\n\n"
        ),
        world.run(&["skill", "new", "finders"]),
        world.run(&["skill", "new", "empty"]),
        world.run(&["skill"]),
        world.run(&["skill", "show", "finders"]),
        world.run(&[
            "type",
            "new",
            "a",
            "You find.",
            "--skill",
            "finders",
            "--skill",
            "empty",
            "--skill",
            "gone"
        ]),
        world.run(&["type", "show", "a", "--resolved"]),
        world.run(&["skill", "new", "latin", "--from", "-"]),
        world.run(&["skill", "remove", "finders"]),
        world.run(&["skill", "remove", "finders"]),
    ]));
    let file = fs::read_to_string(world.local().join("skills/empty.md")).unwrap();
    assert_eq!(file, "", "an empty skill is an empty file");
}

#[test]
fn json_names_the_layer_of_each_field() {
    let world = World::new();
    world.write(&world.local().join("skills/tone.md"), "Be brief.\n");
    world.run(&["type", "new", "writer", "--skill", "tone", "--allow", "bash"]);
    let shown = world.json(&["type", "show", "writer", "--resolved"]);
    assert_eq!(shown["origin"], "merged");
    assert_eq!(shown["layers"], serde_json::json!(["bundled", "local"]));
    assert_eq!(shown["fields"]["skills"]["layer"], "local");
    assert_eq!(shown["fields"]["tags"]["layer"], "bundled");
    assert_eq!(shown["fields"]["model"]["layer"], serde_json::Value::Null);
    assert_eq!(shown["fields"]["tool_permission"]["bash"]["value"], "allow");
    assert_eq!(shown["fields"]["tool_permission"]["bash"]["layer"], "local");
    assert_eq!(shown["fields"]["tool_permission"]["edit"]["layer"], "bundled");
    let prompt = shown["resolved"]["system_prompt"].as_str().unwrap();
    assert!(prompt.ends_with("\n\n## Skills\n\n### tone\n\nBe brief."), "{prompt}");
    assert_eq!(shown["resolved"]["bytes"], prompt.len());
    let text = world.run(&["type", "show", "writer", "--resolved"]);
    assert_eq!(text.stdout, format!("{prompt}\n"));
}

#[test]
fn usage_that_is_wrong_is_told_apart() {
    let world = World::new();
    insta::assert_snapshot!(told([
        world.run(&["type", "new", "x", "--deny", "bsh"]),
        world.run(&["type", "new", "x", "--deny", "bsh", "--json"]),
        world.run(&["type", "new", "x", "--deny", "bash", "--allow", "bash"]),
        world.run(&["type", "new", "my type", "hi"]),
        world.run(&["type", "new", "audit/x", "hi"]),
        world.run(&["team", "run", "writing", "task"]),
    ]));
    assert!(!world.local().exists(), "nothing was written");
}

#[cfg(unix)]
#[test]
fn an_editor_is_opened_and_what_it_left_is_checked() {
    let world = World::new();
    let with = |editor: &str, arguments: &[&str]| {
        let output = world.command(arguments).env("EDITOR", editor).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap(), stderr)
    };
    let edit = ["type", "edit", "planner"];
    let (code, _, stderr) = with("true", &edit);
    assert_eq!(code, Some(1));
    assert!(stderr.contains("replio type new planner"), "{stderr}");
    world.run(&["type", "new", "planner", "You plan."]);
    let without = world.run(&edit);
    assert_eq!(without.code, 1);
    assert!(without.stderr.contains("VISUAL") && without.stderr.contains("types.json"), "{without}");
    let (code, _, stderr) = with("/nonexistent --wait", &edit);
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.contains("`/nonexistent --wait` can't be run"), "{stderr}");
    assert!(stderr.contains("help: set VISUAL or EDITOR"), "{stderr}");
    let (code, stdout, stderr) = with("sed -i -e 's/You plan/We plan/'", &edit);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stdout.contains("is in order"), "{stdout}");
    let (code, _, stderr) = with("sed -i -e s/system_prompt.*/tags\\\":5/", &edit);
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.contains("tags must be a list") && stderr.contains("types.json:3:"), "{stderr}");
    // What is damaged can be opened again.
    let (code, _, stderr) = with("printf '{' >", &edit);
    assert_eq!(code, Some(1), "{stderr}");
    let (code, stdout, stderr) = with("printf '{}' >", &edit);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stdout.contains("no longer in"), "{stdout}");
}

#[test]
fn an_override_of_a_plugins_entry_is_hollow_once_the_plugin_is_gone() {
    let world = World::new();
    let library = Plugin::with_hooks(
        "hollow",
        r#"registry.add_plugin(AgentType::new("auditor").system_prompt("You audit.").tag("review").deny("edit"))"#,
        r#"registry.add_plugin(Skill::new("check", "Twice.").description("Checks").tag("review"))"#,
        "",
    )
    .build();
    let story = [
        world.run(&["plugins", "install", library.to_str().unwrap(), "--quiet"]),
        world.run(&["type", "list", "review"]),
        world.run(&["type", "new", "auditor", "--allow", "edit"]),
        world.run(&["type", "show", "auditor"]),
        world.run(&["type", "show", "hollow/auditor"]),
        world.run(&["skill", "remove", "check"]),
        world.run_with_input(&["skill", "new", "check", "--from", "-"], "Thrice."),
        world.run(&["skill", "show", "check"]),
        world.run(&["--no-plugins", "type", "list", "review"]),
        world.run(&["plugins", "disable", "hollow", "--quiet"]),
        world.run(&["type", "show", "hollow/auditor"]),
        world.run(&["plugins", "uninstall", "hollow", "--quiet"]),
        world.run(&["type", "list"]),
        world.run(&["type", "remove", "auditor"]),
    ];
    insta::assert_snapshot!(told(story));
}

#[test]
fn help_is_what_can_be_done() {
    let world = World::new();
    world.write(
        &world.local().join("teams.json"),
        r#"{
  "turned": { "stages": ["writer", "planner"], "loop": { "until": "writer", "from": "planner", "verdict": "V:" } },
  "astray": { "stages": ["writer"], "loop": { "from": "writer", "until": "wrter" } },
  "round": { "stages": ["writer", "writer"], "loop": { "max_iterations": 2, "from": "writer", "until": "writer" } }
}"#,
    );
    insta::assert_snapshot!(told([
        world.run(&["type", "new", "aa", "x", "--skill", "nope/x"]),
        world.run(&["team", "new", "zz", "--stage", "nope/writer"]),
        world.run(&["type", "show", "nope/writer"]),
        world.run(&["type", "show", "nope/writer", "--no-plugins"]),
        world.run(&["type", "show", ""]),
        world.run(&["type", "new", "writer", "--tag", "a", "--local"]),
        world.run(&["type", "new", "writer"]),
        world.run(&["type", "new", "coder", "--local", "--global"]),
        world.run(&["type", "new", "reviewer", "--quiet"]),
        world.run(&["skill", "new", "a.md"]),
        world.run(&["team", "show", "turned"]),
        world.run(&["team", "list"]),
    ]));
    world.write(
        &world.global().join("types.json"),
        r#"{ "kept": { "tool_permission": { "bash": "dney" } } }"#,
    );
    let warned = world.run(&["type", "list", "a"]);
    assert!(warned.stderr.contains("`deny`? (meanwhile what it denies is not in force)"), "{warned}");
}

#[test]
fn colour_of_what_is_wrong_with_the_arguments_is_as_they_say() {
    let world = World::new();
    assert!(world.run(&["--color", "always", "tpye"]).stderr.contains("\u{1b}["));
    assert!(world.run(&["type", "--help", "--color=always"]).stdout.contains("\u{1b}["));
    assert!(!world.run(&["--color", "never", "tpye"]).stderr.contains('\u{1b}'));
}
