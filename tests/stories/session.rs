//! What `replio` alone does with lines that come from a pipe.

use replio_tests::{Plugin, World};

#[test]
fn lines_are_commands_and_errors_do_not_end_the_session() {
    let world = World::new();
    let lines = "/type list research\n\nhello there\nexit\n/tpye\n/type shw x\n/type new \"open\n\
                 /type new mine \"Don't guess.\" --deny web\n/type show mine\n/skill new x --from -\n\
                 /help\n/team list writing --json\n/exit\n/type\n";
    let ran = world.run_with_input(&[], lines);
    insta::assert_snapshot!(ran.to_string());
    assert_eq!(world.run_with_input(&[], "/team list writing\n/skill").code, 0);
}

#[test]
fn json_is_one_document_on_one_line_for_each_line() {
    let world = World::new();
    let ran =
        world.run_with_input(&["--json"], "/skill\nhello\n/type new\n/help type\n/nonsense\n/type show x\n");
    let documents: Vec<serde_json::Value> =
        ran.stdout.lines().map(|line| serde_json::from_str(line).expect("one document")).collect();
    assert_eq!(documents.len(), 6, "{ran}");
    assert_eq!(documents[0], serde_json::json!({ "skills": [] }));
    let codes: Vec<_> = documents.iter().map(|document| document["error"]["code"].as_str()).collect();
    let expected =
        [None, Some("no-provider"), Some("usage"), None, Some("unknown-command"), Some("unknown-type")];
    assert_eq!(codes, expected);
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""));
}

#[test]
fn plugins_run_once_for_many_lines_and_again_after_a_change() {
    let world = World::new();
    let plugin = Plugin::with_hooks(
        "talker",
        r#"println!("here"); registry.add_plugin(AgentType::new("talker").system_prompt("You talk."))"#,
        "",
        "",
    );
    let library = plugin.build();
    let lines = format!(
        "/type show talker\n/plugins install '{}'\n/type list\n/type show talker\n/skill\n/plugins disable talker\n/type show talker\n",
        library.display()
    );
    let ran = world.run_with_input(&["--verbose"], &lines);
    assert_eq!(ran.stderr.matches("there is no agent type `talker`").count(), 2, "{ran}");
    assert_eq!(ran.stdout.matches("You talk.").count(), 1, "{ran}");
    assert_eq!(world.run(&["plugins", "enable", "talker"]).code, 0);
    let ran = world.run_with_input(&["--verbose"], "/type\n/skill\n/team\n/type show talker\n");
    assert_eq!(ran.stderr.matches("plugin talker printed: here").count(), 1, "{ran}");
    let off = world.run_with_input(&["--no-plugins"], "/type show talker\n");
    assert_eq!(off.code, 1, "{off}");
}

#[test]
fn files_that_change_between_lines_are_seen() {
    let world = World::new();
    let ran = world.run_with_input(
        &[],
        "/type new a One.\n/type new a Two.\n/type show a --resolved\n/type remove a\n/type show a\n",
    );
    assert!(ran.stdout.contains("\nTwo.\n"), "{ran}");
    assert!(ran.stderr.contains("no agent type `a`"), "{ran}");
}
