//! Plugins that go around the API and return what no author could return by
//! mistake.

use replio_tests::{Plugin, World};

pub const RETURNS: &str = r#"
    let entry = |text: &str| -> HookResult { ROk(std::iter::once(RString::from(text)).collect()) };
    let told = told();
    let (word, value) = told.split_once(' ').unwrap_or((&told, ""));
    match word {
        "entries" => ROk(value.split('|').map(RString::from).collect()),
        "bytes" => {
            let mut bytes = RVec::from(b"{\"name\":\"a\"}".to_vec());
            bytes[9] = 0xff;
            // SAFETY: it breaks the promise that a string is UTF-8, on purpose.
            entry(unsafe { &RString::from_utf8_unchecked(bytes) })
        }
        "large" => entry(&" ".repeat((1 << 20) + 1)),
        "huge" => entry(&" ".repeat(100 << 20)),
        "hundred-thousand" => ROk((0..100_000).map(|_| RString::from("{}")).collect()),
        "much" => ROk((0..17).map(|_| RString::from(" ".repeat(1 << 20))).collect()),
        "many" => ROk((0..3_000_000).map(|_| RString::new()).collect()),
        "deep" => entry(&("{\"name\":".to_owned() + &"[".repeat(100_000))),
        "forged" => {
            // SAFETY: it says that there is far more than there is, on purpose.
            ROk(unsafe { std::mem::transmute::<[usize; 4], RVec<RString>>([8, 1 << 40, 1 << 40, 8]) })
        }
        "kind" => RErr(HookError::new(4_000_000_000, value)),
        "panicked" => RErr(HookError::new(HookError::PANICKED, value)),
        "message" => {
            // SAFETY: it breaks the promise that a string is UTF-8, on purpose.
            let message = unsafe { RString::from_utf8_unchecked(RVec::from(b"no \xff \x1b[2J".to_vec())) };
            RErr(HookError { kind: 0, message, details: RString::new() })
        }
        _ => ROk(RVec::new()),
    }
"#;

#[test]
fn what_no_author_could_return_by_mistake_is_refused_too() {
    let mut world = World::new();
    let library = Plugin::without_api("hostile", RETURNS).build();
    let library = library.to_str().unwrap();
    let mut story = String::new();
    for told in [
        "entries not json",
        "entries ",
        "entries []",
        "entries 7",
        "entries {}",
        r#"entries {"name":7}"#,
        r#"entries {"name":"../../AGENTS"}"#,
        r#"entries {"name":"a\u001b[2J"}"#,
        r#"entries {"name":"a","tool_permission":{"bash":"permit"}}"#,
        r#"entries {"name":"a","tool_permission":{"shell":"allow"}}"#,
        r#"entries {"name":"a","tool_permission":"allow"}"#,
        r#"entries {"name":"a","system_prompt":7}"#,
        r#"entries {"name":"a","skills":"abc"}"#,
        r#"entries {"name":"a","tags":[["x"]]}"#,
        r#"entries {"name":"a"}|{"name":"a"}"#,
        r#"entries {"name":"a","name":"b"}"#,
        r#"entries {"name":"a"} {"name":"b"}"#,
        "bytes",
        "large",
        "much",
        "many",
        "deep",
        "forged",
        "kind an unknown kind",
        "panicked said so itself",
        "message",
    ] {
        world.tell_plugin("hostile", told);
        let ran = world.run(&["plugins", "install", library]);
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{told}: {ran}");
        story += &format!("{told}\n{}\n", ran.stderr);
    }
    insta::assert_snapshot!(story);
    world.tell_plugin("hostile", "");
    world.ok(&["plugins", "install", library]);
}

#[test]
fn a_root_module_of_another_shape_is_refused_in_one_line() {
    let world = World::new();
    // The same crate in all but a field's type: what a plugin would be that was
    // built with a changed copy of the ABI.
    let library = Plugin::without_api("shape", "ROk(RVec::new())").with_changed_abi().build();
    let ran = world.run(&["plugins", "install", library.to_str().unwrap()]);
    assert_eq!(ran.code, 1, "{ran}");
    insta::assert_snapshot!(ran);
    let ran = world.run(&["plugins", "install", library.to_str().unwrap(), "--verbose"]);
    assert!(ran.stderr.lines().count() > 6, "all that is known is said when asked for: {ran}");
}
