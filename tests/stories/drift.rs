//! A plugin brings something else at one start than at another.

use replio_tests::World;

#[test]
fn what_changed_since_the_install_is_used_and_named_until_it_is_accepted() {
    let mut world = World::new();
    world.install_actor(1, "type=a type=b skills:skill=s");
    assert_eq!(world.types().1, Vec::<String>::new());
    world.tell(1, "type=a:bash=deny type=c skills:skill=s");
    let story = [
        world.run(&["type", "list", "of-an-actor"]),
        world.run(&["plugins", "enable", "actor-01"]),
        world.run(&["type", "list", "of-an-actor"]),
    ];
    insta::assert_snapshot!(story.map(|ran| ran.to_string()).join("\n"));
}

#[test]
fn a_permission_that_became_looser_is_not_used_until_it_is_accepted() {
    let mut world = World::new();
    world.install_actor(1, "type=a:bash=ask,web=deny,edit=allow");
    let permission = |world: &World| world.json(&["type", "show", "a"])["tool_permission"].clone();
    let recorded = permission(&world);
    world.tell(1, "type=a:bash=allow,edit=allow type=b:bash=allow");
    assert_eq!(permission(&world), recorded);
    let shown = world.run(&["type", "show", "a"]);
    assert_eq!(shown.code, 0);
    insta::assert_snapshot!(shown.stderr);
    world.ok(&["plugins", "enable", "actor-01"]);
    let accepted = permission(&world);
    assert_eq!(
        (&accepted["bash"], &accepted["web"]),
        (&"allow".into(), &serde_json::Value::Null),
        "{accepted}"
    );
    assert_eq!(world.types().1, Vec::<String>::new());
}

#[test]
fn a_stricter_permission_is_used_at_once() {
    let mut world = World::new();
    world.install_actor(1, "type=a:bash=allow");
    world.tell(1, "type=a:bash=deny");
    assert_eq!(world.json(&["type", "show", "a"])["tool_permission"]["bash"], "deny");
}
