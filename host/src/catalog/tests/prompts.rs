//! The prompt that is sent.

use super::*;

fn agent_type(prompt: &str, skills: &[&str]) -> AgentType {
    let entries = json!({"t": {"system_prompt": prompt, "skills": skills}});
    Stack::new(Kind::Type, [types(Origin::Local, &entries)]).resolve("t").unwrap().agent_type()
}

fn contents(name: &str) -> Option<&'static str> {
    match name {
        "finders" => Some("\n\n# finders\n\n  Find.  \n\n"),
        "crlf" => Some("one\r\ntwo\r\n"),
        "empty" => Some(""),
        "blank" => Some(" \n\t\n"),
        _ => None,
    }
}

#[test]
fn a_type_without_skills_has_its_prompt_unchanged() {
    for skills in [&[][..], &["missing", "empty", "blank"][..]] {
        assert_eq!(resolved_prompt(&agent_type("You.\n\n", skills), &[], contents), "You.\n\n");
    }
}

#[test]
fn skills_follow_in_order_each_once_without_their_outer_line_breaks() {
    let extra = ["crlf", "finders", "missing", "crlf"].map(str::to_owned);
    let prompt = resolved_prompt(&agent_type("You.", &["finders", "empty", "finders"]), &extra, contents);
    assert_eq!(
        prompt,
        "You.\n\n## Skills\n\n### finders\n\n# finders\n\n  Find.  \n\n### crlf\n\none\r\ntwo"
    );
}

#[test]
fn the_parts_are_one_blank_line_apart_whatever_the_prompt_ends_with() {
    let extra = ["crlf".to_owned()];
    let skills = "## Skills\n\n### crlf\n\none\r\ntwo";
    assert_eq!(resolved_prompt(&agent_type("You.\n", &[]), &extra, contents), format!("You.\n\n{skills}"));
    assert_eq!(resolved_prompt(&agent_type("", &[]), &extra, contents), skills);
}
