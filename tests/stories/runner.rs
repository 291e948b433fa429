//! A plugin goes for the process that runs it, and takes nobody with it.

use replio_tests::{Plugin, World};

fn good(name: &str) -> Plugin {
    let types = format!(r#"registry.add_plugin(AgentType::new("of-{name}").system_prompt("x"))"#);
    Plugin::with_hooks(name, &types, "", "")
}

#[test]
fn a_plugin_that_kills_the_runner_costs_only_its_own_entries() {
    if !World::can_be_on_an_old_kernel() {
        return;
    }
    let source = r#"
        use replio_plugin_api::{export_plugin, Plugin, Result, TypeRegistry};
        extern "C" {
            fn getppid() -> i32;
            fn kill(process: i32, signal: i32) -> i32;
        }
        struct Assassin;
        impl Plugin for Assassin {
            fn register_types(_: &mut TypeRegistry) -> Result<()> {
                if std::env::var_os("REPLIO_TEST_PLUGIN_assassin").is_some() {
                    unsafe { kill(getppid(), 9) };
                    std::thread::sleep(std::time::Duration::from_secs(60));
                }
                Ok(())
            }
        }
        export_plugin!(Assassin);
    "#;
    // In a jail it could not.
    let mut world = World::new().on_an_old_kernel().environment("REPLIO_TEST_PLUGIN_MILLISECONDS", "3000");
    for plugin in [good("ahead"), Plugin::new("assassin", source), good("behind")] {
        let ran = world.run(&["plugins", "install", plugin.build().to_str().unwrap()]);
        assert_eq!(ran.code, 0, "{ran}");
    }
    world.tell_plugin("assassin", "strike");
    let ran = world.run(&["type", "list"]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.stdout.contains("of-ahead") && ran.stdout.contains("of-behind"), "{ran}");
    assert!(ran.stderr.contains("plugin assassin"), "{ran}");
    assert!(!ran.stderr.contains("plugin ahead") && !ran.stderr.contains("plugin behind"), "{ran}");
}
