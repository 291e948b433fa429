//! What hooks are handed: a registry that can only be added to, and that
//! judges an entry at once, so that a mistake is reported with the author's
//! own file and line.

use std::collections::HashSet;
use std::marker::PhantomData;
use std::panic::Location;

use replio_plugin_abi::HostDoor;
use replio_plugin_abi::abi_stable::std_types::RStr;

use crate::entry::Entry;
use crate::{AgentType, Result, Skill, Team};

/// The largest entry, in bytes of JSON.
const LARGEST_ENTRY: usize = 1024 * 1024;
/// The most entries of a plugin, and the most bytes in all. The host counts
/// over all kinds; here each kind is counted by itself.
const MOST_ENTRIES: usize = 10_000;
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// Collects the entries of one kind.
#[derive(Debug)]
pub struct Registry<E> {
    names: HashSet<String>,
    entries: Vec<String>,
    bytes: usize,
    first_fault: Option<String>,
    host: HostDoor,
    kind: PhantomData<fn(E)>,
}

/// Collects agent types: what `register_types` is handed.
pub type TypeRegistry = Registry<AgentType>;
/// Collects skills: what `register_skills` is handed.
pub type SkillRegistry = Registry<Skill>;
/// Collects teams: what `register_teams` is handed.
pub type TeamRegistry = Registry<Team>;

impl<E: Entry> Registry<E> {
    pub(crate) fn new(host: HostDoor) -> Self {
        Self {
            names: HashSet::new(),
            entries: Vec::new(),
            bytes: 0,
            first_fault: None,
            host,
            kind: PhantomData,
        }
    }

    /// Adds an entry to the catalog's plugin layer.
    ///
    /// # Errors
    /// When the entry can't be right: a name that is no name, one that was
    /// added before, a tool category that doesn't exist, a loop over stages
    /// that the team doesn't have, more than 1 MiB in one entry, more than
    /// 10,000 entries or 16 MiB in all. The error begins with the file and
    /// line of this call.
    ///
    /// A hook in which an entry was refused fails, with the first such error,
    /// even if it ignores the error and returns `Ok`.
    #[track_caller]
    pub fn add_plugin(&mut self, entry: E) -> Result<()> {
        let at = Location::caller();
        self.add(&entry).map_err(|reason| {
            let fault = format!("{at}: {} {:?}: {reason}", E::KIND, entry.name());
            self.first_fault.get_or_insert_with(|| fault.clone());
            fault.into()
        })
    }

    fn add(&mut self, entry: &E) -> Result<(), String> {
        let json = entry.to_json()?.to_string();
        if json.len() > LARGEST_ENTRY {
            return Err(format!("it has {} bytes as JSON, and 1 MiB is allowed", json.len()));
        }
        if self.entries.len() == MOST_ENTRIES {
            return Err("a plugin may bring 10,000 entries".into());
        }
        if self.bytes + json.len() > MOST_BYTES {
            return Err("a plugin may bring 16 MiB of entries in all".into());
        }
        if !self.names.insert(entry.name().to_owned()) {
            return Err("this plugin has already added one of that name".into());
        }
        self.bytes += json.len();
        self.entries.push(json);
        Ok(())
    }

    /// The host that runs this hook. Ask for it where it is needed: it borrows
    /// the registry.
    pub fn host(&self) -> Host<'_> {
        Host { door: self.host, hook: PhantomData }
    }

    /// The entries, or why the first one that was refused was.
    pub(crate) fn into_entries(self) -> Result<Vec<String>, String> {
        self.first_fault.map_or(Ok(self.entries), Err)
    }
}

/// The host, as a plugin sees it while one of its hooks runs.
#[derive(Debug, Clone, Copy)]
pub struct Host<'hook> {
    door: HostDoor,
    hook: PhantomData<&'hook ()>,
}

impl Host<'_> {
    /// Tells the operator something. `replio --verbose` shows it, with the
    /// plugin's name.
    ///
    /// # Errors
    /// When the host doesn't take it: there is a bound on what a plugin may
    /// log. That is no reason for a hook to fail, so ignore it:
    ///
    /// ```
    /// # use replio_plugin_api::{Result, TypeRegistry};
    /// # fn register_types(registry: &mut TypeRegistry) -> Result<()> {
    /// let _ = registry.host().log("no profile is set, so the general one is used");
    /// # Ok(())
    /// # }
    /// ```
    pub fn log(&self, message: impl Into<String>) -> Result<()> {
        let input = serde_json::json!({ "message": message.into() }).to_string();
        self.call("log", &input).map(drop)
    }

    /// Calls a door of the host by name, JSON in and JSON out. Which doors
    /// there are depends on the host's version; a door that it doesn't have
    /// is an error.
    ///
    /// # Errors
    /// When the host doesn't have that door, or says no.
    pub fn call(&self, door: &str, input: &str) -> Result<String> {
        let answer = (self.door.call)(self.door.context, RStr::from(door), RStr::from(input));
        match answer.into_result() {
            Ok(output) => Ok(output.into_string()),
            Err(error) => Err(error.message.into_string().into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use replio_plugin_abi::abi_stable::std_types::{RErr, ROk, RString};
    use replio_plugin_abi::{DoorResult, HookError};
    use serde_json::{Value, json};

    use super::*;
    use crate::{Loop, Stage};

    fn registry<E: Entry>() -> Registry<E> {
        extern "C" fn echo(_: *const std::ffi::c_void, door: RStr<'_>, input: RStr<'_>) -> DoorResult {
            match door.as_str() {
                "log" => ROk(RString::from(input.as_str())),
                _ => RErr(HookError::new(HookError::UNKNOWN_HOOK, "no such door")),
            }
        }
        Registry::new(HostDoor { context: std::ptr::null(), call: echo })
    }

    /// The entry as it crosses.
    fn json<E: Entry>(entry: E) -> Value {
        let mut registry = registry();
        registry.add_plugin(entry).unwrap();
        serde_json::from_str(&registry.into_entries().unwrap()[0]).unwrap()
    }

    /// What is said of an entry, after the place.
    fn fault<E: Entry>(entry: E) -> String {
        fault_in(&mut registry(), entry)
    }

    fn fault_in<E: Entry>(registry: &mut Registry<E>, entry: E) -> String {
        let line = line!() + 1;
        let error = registry.add_plugin(entry).unwrap_err().to_string();
        let place = format!("{}:{line}:", file!());
        let rest = error.strip_prefix(&place).unwrap_or_else(|| panic!("{error:?} begins with {place}"));
        rest.split_once(": ").unwrap().1.to_owned()
    }

    const NO_NAME: &str = "is not a name: 1 to 64 of letters, digits, '.', '_' and '-', \
                           beginning with a letter or digit, without '..'";

    #[test]
    fn an_entry_carries_only_the_fields_that_were_set() {
        assert_eq!(json(AgentType::new("a")), json!({"name": "a"}));
        assert_eq!(json(Skill::partial("a")), json!({"name": "a"}));
        assert_eq!(json(Team::new("a")), json!({"name": "a"}));
    }

    #[test]
    fn an_agent_type_has_the_schema_of_types_json() {
        let auditor = AgentType::new("auditor")
            .system_prompt("You \"audit\".\n")
            .model("openai/gpt-x")
            .skill("checklist")
            .skills(["other/style"])
            .tag("review")
            .tags(vec![String::from("security")])
            .allow("read")
            .deny("edit")
            .ask("bash");
        let expected = json!({
            "name": "auditor", "system_prompt": "You \"audit\".\n", "model": "openai/gpt-x",
            "skills": ["checklist", "other/style"], "tags": ["review", "security"],
            "tool_permission": {"read": "allow", "edit": "deny", "bash": "ask"},
        });
        assert_eq!(json(auditor), expected);
    }

    #[test]
    fn a_skill_has_name_content_description_and_tags() {
        let skill = Skill::new("checklist", "#### One").description("What to check").tag("review");
        let expected = json!({
            "name": "checklist", "content": "#### One", "description": "What to check", "tags": ["review"],
        });
        assert_eq!(json(skill), expected);
    }

    #[test]
    fn one_byte_order_mark_at_the_beginning_is_left_out() {
        for (text, kept) in [
            ("\u{feff}One", "One"),
            ("\u{feff}", ""),
            ("\u{feff}\u{feff}", "\u{feff}"),
            ("a\u{feff}", "a\u{feff}"),
        ] {
            assert_eq!(json(AgentType::new("a").system_prompt(text))["system_prompt"], kept);
            assert_eq!(json(Skill::new("a", text))["content"], kept);
        }
    }

    #[test]
    fn a_team_has_the_schema_of_teams_json() {
        let team = Team::new("audit")
            .description("Plan, then audit")
            .tag("review")
            .stage("planner")
            .stages([String::from("programmer")])
            .stage(
                Stage::new("auditor").task_hint("Audit.").handoff_note("Return findings.").skill("checklist"),
            )
            .repeat(Loop::new("programmer", "auditor").max_iterations(2).verdict("RESULT:"));
        let expected = json!({
            "name": "audit", "description": "Plan, then audit", "tags": ["review"],
            "stages": [
                {"type": "planner"},
                {"type": "programmer"},
                {"type": "auditor", "task_hint": "Audit.", "handoff_note": "Return findings.",
                 "skills": ["checklist"]},
            ],
            "loop": {"from": "programmer", "until": "auditor", "max_iterations": 2, "verdict": "RESULT:"},
        });
        assert_eq!(json(team), expected);
        let bare = Team::new("audit").repeat(Loop::new("a", "b"));
        assert_eq!(json(bare), json!({"name": "audit", "loop": {"from": "a", "until": "b"}}));
    }

    #[test]
    fn an_empty_list_is_a_value() {
        let none = Vec::<String>::new;
        assert_eq!(
            json(AgentType::new("a").skills(none()).tags(none())),
            json!({"name": "a", "skills": [], "tags": []})
        );
        assert_eq!(json(Skill::partial("a").tags(none())), json!({"name": "a", "tags": []}));
        assert_eq!(
            json(Team::new("a").stages(none()).tags(none())),
            json!({"name": "a", "stages": [], "tags": []})
        );
    }

    #[test]
    fn names_are_checked() {
        let long = "a".repeat(65);
        for name in ["", ".a", "-a", "a b", "a/b", "a..b", "gr\u{fc}n", "a\n", &long] {
            assert_eq!(fault(AgentType::new(name)), format!("agent type {name:?}: {name:?} {NO_NAME}"));
            assert_eq!(fault(Skill::new(name, "")), format!("skill {name:?}: {name:?} {NO_NAME}"));
            assert_eq!(fault(Team::new(name)), format!("team {name:?}: {name:?} {NO_NAME}"));
        }
        for name in ["a", "9", "A.b_c-d.", &"a".repeat(64)] {
            assert_eq!(json(AgentType::new(name)), json!({"name": name}));
        }
    }

    #[test]
    fn a_name_comes_once_in_each_kind() {
        let mut registry = registry();
        registry.add_plugin(Skill::new("a", "one")).unwrap();
        registry.add_plugin(Skill::new("b", "two")).unwrap();
        assert_eq!(
            fault_in(&mut registry, Skill::new("a", "three")),
            "skill \"a\": this plugin has already added one of that name"
        );
    }

    #[test]
    fn a_refused_entry_is_not_forgotten() {
        let mut registry = registry();
        registry.add_plugin(AgentType::new("a")).unwrap();
        let first = registry.add_plugin(AgentType::new("b").deny("shell")).unwrap_err().to_string();
        registry.add_plugin(AgentType::new("a")).unwrap_err();
        registry.add_plugin(AgentType::new("c")).unwrap();
        assert_eq!(registry.into_entries(), Err(first));
    }

    #[test]
    fn permissions_are_checked() {
        assert_eq!(
            fault(AgentType::new("a").allow("shell")),
            "agent type \"a\": \"shell\" is no category of tools; \
             the categories are read, list, edit, bash, web, delegate, mcp"
        );
        assert_eq!(
            fault(AgentType::new("a").allow("bash").deny("bash")),
            "agent type \"a\": the permission for \"bash\" is given twice"
        );
    }

    #[test]
    fn references_are_checked() {
        assert_eq!(
            fault(AgentType::new("a").skill("b c")),
            format!("agent type \"a\": a skill: \"b c\" {NO_NAME}")
        );
        let no_plugin = "is not the name of a plugin: 1 to 64 of small letters, digits and '-', \
                         beginning with a letter";
        for plugin in ["", "Audit", "my_audit", "9"] {
            assert_eq!(
                fault(AgentType::new("a").skill(format!("{plugin}/b"))),
                format!("agent type \"a\": a skill: {plugin:?} {no_plugin}")
            );
        }
        assert_eq!(
            fault(Team::new("a").stage("b/c/d")),
            format!("team \"a\": a stage's type: \"c/d\" {NO_NAME}")
        );
        assert_eq!(
            fault(Team::new("a").stage(Stage::new("b").skill(""))),
            format!("team \"a\": a skill: \"\" {NO_NAME}")
        );
    }

    #[test]
    fn loops_are_checked() {
        let team = |repeat| Team::new("t").stages(["a", "b", "c"]).repeat(repeat);
        for (repeat, said) in [
            (Loop::new("x", "b"), "the loop names \"x\", which is the type of none of the stages"),
            (Loop::new("a", "y"), "the loop names \"y\", which is the type of none of the stages"),
            (Loop::new("c", "b"), "the loop goes from \"c\" until \"b\", which comes before it"),
            (Loop::new("a", "b").max_iterations(0), "the loop's max_iterations is 0; it runs at least once"),
            (Loop::new("a", "b").verdict(" "), "the loop's verdict is empty, which every answer would match"),
        ] {
            assert_eq!(fault(team(repeat)), format!("team \"t\": {said}"));
        }
        json(team(Loop::new("b", "b")));
        // The stages of another layer are not known here; the names' form is.
        json(Team::new("t").repeat(Loop::new("c", "b")));
        assert_eq!(
            fault(Team::new("t").repeat(Loop::new("a", " "))),
            format!("team \"t\": the loop: \" \" {NO_NAME}")
        );
    }

    #[test]
    fn sizes_and_numbers_are_bounded() {
        let around = json(Skill::new("a", "")).to_string().len();
        let largest = LARGEST_ENTRY - around;
        json(Skill::new("a", "x".repeat(largest)));
        assert_eq!(
            fault(Skill::new("a", "x".repeat(largest + 1))),
            "skill \"a\": it has 1048577 bytes as JSON, and 1 MiB is allowed"
        );

        let mut full = registry();
        for number in 0..MOST_ENTRIES {
            full.add_plugin(Skill::partial(number.to_string())).unwrap();
        }
        assert_eq!(
            fault_in(&mut full, Skill::partial("a")),
            "skill \"a\": a plugin may bring 10,000 entries"
        );

        let mut full = registry();
        for number in 0..16 {
            full.add_plugin(Skill::new(format!("{number:x}"), "x".repeat(largest))).unwrap();
        }
        assert_eq!(
            fault_in(&mut full, Skill::partial("a")),
            "skill \"a\": a plugin may bring 16 MiB of entries in all"
        );
    }

    #[test]
    fn an_error_names_the_place_of_the_call() {
        let mut registry = registry();
        let error = registry.add_plugin(Skill::partial("")).unwrap_err();
        let place = format!("{}:{}:30: skill \"\": ", file!(), line!() - 1);
        assert!(error.to_string().starts_with(&place), "{error} begins with {place}");
    }

    #[test]
    fn the_host_is_reached_by_the_names_of_its_doors() {
        let registry = registry::<Skill>();
        registry.host().log("a \"b\"").unwrap();
        assert_eq!(registry.host().call("log", "{}").unwrap(), "{}");
        assert_eq!(registry.host().call("tools", "{}").unwrap_err().to_string(), "no such door");
    }
}
