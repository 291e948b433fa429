//! How a [`Plugin`](crate::Plugin) becomes a shared library: the macro, and
//! the guard that turns a panic into an error before it reaches the boundary,
//! where it would abort the process.

use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use replio_plugin_abi::abi_stable::library::{
    __call_root_module_loader, CheckTypeLayout, LibHeader, RootModuleResult,
};
use replio_plugin_abi::abi_stable::prefix_type::PrefixTypeTrait;
use replio_plugin_abi::abi_stable::std_types::{RErr, ROk, RStr, RString, RVec};
use replio_plugin_abi::manifest::Section;
use replio_plugin_abi::{DoorResult, HookError, HookResult, HostDoor, PluginModule, PluginModuleRef};

use crate::entry::Entry;
use crate::registry::Registry;
use crate::{Plugin, Result};

thread_local! {
    /// Whether a hook runs on this thread.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
    /// Where the hook on this thread panicked.
    static PANICKED_AT: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// What a library exports: how the host comes to its hooks, then its manifest.
///
/// The host looks for a `LibHeader` and knows nothing of what follows. The
/// pointer is there for the linker, which would otherwise drop the manifest's
/// section as one that nothing refers to: `#[used]` alone binds only newer
/// compilers and linkers.
#[repr(C)]
pub struct Root<const BODY: usize> {
    header: LibHeader,
    manifest: &'static Section<BODY>,
}

/// The root of the plugin `P`.
pub const fn root<P: Plugin, const BODY: usize>(manifest: &'static Section<BODY>) -> Root<BODY> {
    // SAFETY: `load` returns the erased form of exactly `PluginModuleRef`.
    let header = unsafe { LibHeader::from_constructor::<PluginModuleRef>(load::<P>, CheckTypeLayout::Yes) };
    Root { header, manifest }
}

extern "C" fn load<P: Plugin>() -> RootModuleResult {
    __call_root_module_loader(module::<P>)
}

fn module<P: Plugin>() -> PluginModuleRef {
    PluginModule {
        register_types: register_types::<P>,
        register_skills: register_skills::<P>,
        register_teams: register_teams::<P>,
        call,
    }
    .leak_into_prefix()
}

extern "C" fn register_types<P: Plugin>(host: HostDoor) -> HookResult {
    run_hook("register_types", host, P::register_types)
}

extern "C" fn register_skills<P: Plugin>(host: HostDoor) -> HookResult {
    run_hook("register_skills", host, P::register_skills)
}

extern "C" fn register_teams<P: Plugin>(host: HostDoor) -> HookResult {
    run_hook("register_teams", host, P::register_teams)
}

/// Plugins of this version know no hooks but the three above.
extern "C" fn call(hook: RStr<'_>, _input: RStr<'_>, _host: HostDoor) -> DoorResult {
    let message = format!(
        "this plugin's version of replio-plugin-api ({}) has no hook {:?}",
        crate::VERSION,
        hook.as_str()
    );
    RErr(HookError::new(HookError::UNKNOWN_HOOK, message))
}

/// Runs one registration hook and gives its entries the form in which they
/// cross.
fn run_hook<E: Entry>(
    name: &'static str,
    host: HostDoor,
    hook: fn(&mut Registry<E>) -> Result<()>,
) -> HookResult {
    let run = || {
        let mut registry = Registry::new(host);
        let failed = |message| HookError::new(HookError::FAILED, message);
        hook(&mut registry).map_err(|error| failed(whole_message(&*error)))?;
        let entries = registry.into_entries().map_err(failed)?;
        Ok(entries.into_iter().map(RString::from).collect::<RVec<RString>>())
    };
    match guard(name, run) {
        Ok(Ok(entries)) => ROk(entries),
        Ok(Err(error)) | Err(error) => RErr(error),
    }
}

fn guard<T>(name: &str, run: impl FnOnce() -> T) -> Result<T, HookError> {
    remember_where_hooks_panic();
    PANICKED_AT.with(|at| at.borrow_mut().take());
    GUARDED.with(|guarded| guarded.set(true));
    let result = panic::catch_unwind(AssertUnwindSafe(run));
    GUARDED.with(|guarded| guarded.set(false));
    result.map_err(|payload| {
        let text = if let Some(text) = payload.downcast_ref::<&'static str>() {
            (*text).to_owned()
        } else if let Some(text) = payload.downcast_ref::<String>() {
            text.clone()
        } else {
            "the panic carries no text".to_owned()
        };
        // Dropping the payload runs the author's code, which may panic again.
        if let Err(second) = panic::catch_unwind(AssertUnwindSafe(move || drop(payload))) {
            std::mem::forget(second);
        }
        // Unknown where the author has a panic hook of their own, or resumed
        // a panic that they had caught.
        let at = PANICKED_AT.with(|at| at.borrow_mut().take());
        let at = at.map_or_else(String::new, |at| format!(" at {at}"));
        HookError::new(HookError::PANICKED, format!("{name} panicked{at}: {text}"))
    })
}

/// Installs a panic hook that notes the place while a hook runs, and leaves
/// every other panic, such as one on the author's own threads, to the hook
/// that was there before.
fn remember_where_hooks_panic() {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(chain_panic_hook);
}

fn chain_panic_hook() {
    let previous = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if GUARDED.try_with(Cell::get).unwrap_or(false) {
            let at = info.location().map(ToString::to_string);
            let _ = PANICKED_AT.try_with(|slot| *slot.borrow_mut() = at);
        } else {
            previous(info);
        }
    }));
}

fn whole_message(error: &(dyn std::error::Error + 'static)) -> String {
    let mut texts = Vec::new();
    let mut next = Some(error);
    while let Some(error) = next {
        let text = error.to_string();
        if !text.trim().is_empty() {
            texts.push(text);
        }
        next = error.source();
    }
    if texts.is_empty() { "it gave an error without a text".into() } else { texts.join(": ") }
}

/// Makes the crate's shared library a replio plugin.
///
/// Takes the type that implements [`Plugin`](crate::Plugin). The plugin is
/// called as its package is, with `_` turned into `-`; version, description,
/// authors, licence and homepage come from its Cargo.toml too.
///
/// ```
/// # use replio_plugin_api::{export_plugin, Plugin};
/// struct Audit;
/// impl Plugin for Audit {}
/// export_plugin!(Audit);
/// ```
///
/// A plugin that needs a certain host says so, as a semver requirement; what is
/// none does not compile:
///
/// ```
/// # use replio_plugin_api::{export_plugin, Plugin};
/// # struct Audit;
/// # impl Plugin for Audit {}
/// export_plugin!(Audit, replio: ">=0.1, <2");
/// ```
///
/// A crate exports one plugin, so a second `export_plugin!` in it does not
/// compile. In the same module, the compiler says that
/// `_A_CRATE_CALLS_EXPORT_PLUGIN_ONLY_ONCE` is defined multiple times; in
/// another, that the symbol `_1as_0lib_1header_0root_bmodule_bloader` is already
/// defined.
///
/// The macro works in crates that forbid `unsafe_code`.
#[macro_export]
macro_rules! export_plugin {
    ($plugin:ty $(,)?) => {
        $crate::export_plugin!($plugin, replio: "");
    };
    ($plugin:ty, replio: $requirement:literal $(,)?) => {
        // Its name is for the compiler's message about a second one.
        #[doc(hidden)]
        const _A_CRATE_CALLS_EXPORT_PLUGIN_ONLY_ONCE: () = {
            const FIELDS: &[(&str, &str)] = &[
                ("name", ::core::env!("CARGO_PKG_NAME")),
                ("version", ::core::env!("CARGO_PKG_VERSION")),
                ("abi", $crate::__private::ABI_VERSION),
                ("api", $crate::VERSION),
                ("panic", if ::core::cfg!(panic = "abort") { "abort" } else { "unwind" }),
                ("replio", $requirement),
                ("description", ::core::env!("CARGO_PKG_DESCRIPTION")),
                ("authors", ::core::env!("CARGO_PKG_AUTHORS")),
                ("license", ::core::env!("CARGO_PKG_LICENSE")),
                ("homepage", ::core::env!("CARGO_PKG_HOMEPAGE")),
            ];
            const BODY: usize = $crate::__private::manifest::body_length(FIELDS);
            const _: () = ::core::assert!(
                $crate::__private::manifest::is_plugin_name(::core::env!("CARGO_PKG_NAME")),
                "a plugin is called as its package is, so the package's name must begin with a small letter \
                 and have at most 64 small letters, digits, '-' and '_'"
            );
            const _: () = ::core::assert!(
                $requirement.is_empty() || $crate::__private::is_requirement($requirement),
                "what stands after `replio:` in `export_plugin!` is no semver requirement, such as \">=0.1\" or \
                 \">=0.1, <2\""
            );

            #[used]
            #[cfg_attr(target_vendor = "apple", link_section = "__DATA,__replio,regular,no_dead_strip")]
            #[cfg_attr(not(target_vendor = "apple"), link_section = ".replio")]
            static MANIFEST: $crate::__private::manifest::Section<BODY> =
                $crate::__private::manifest::section::<BODY>(FIELDS);

            #[export_name = "_1as_0lib_1header_0root_bmodule_bloader"]
            static ROOT: $crate::__private::Root<BODY> = $crate::__private::root::<$plugin, BODY>(&MANIFEST);
        };
    };
}

#[cfg(test)]
mod tests {
    use std::any::Any;
    use std::fmt;
    use std::sync::{Mutex, MutexGuard, PoisonError};

    use replio_plugin_abi::abi_stable::std_types::RResult;
    use replio_plugin_abi::manifest::{body_length, section};

    use super::*;
    use crate::{AgentType, Skill, SkillRegistry, Team, TeamRegistry, TypeRegistry};

    extern "C" fn no_door(_: *const std::ffi::c_void, _: RStr<'_>, _: RStr<'_>) -> DoorResult {
        RErr(HookError::new(HookError::FAILED, "closed"))
    }
    const HOST: HostDoor = HostDoor { context: std::ptr::null(), call: no_door };

    fn error(run: impl FnOnce()) -> String {
        let error = guard("register_types", run).unwrap_err();
        assert_eq!(error.kind, HookError::PANICKED);
        error.message.into_string()
    }

    /// The panic hook is the process's, and so is shared by these tests.
    fn alone() -> MutexGuard<'static, ()> {
        static ALONE: Mutex<()> = Mutex::new(());
        ALONE.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn here(line: u32) -> String {
        format!("register_types panicked at {}:{line}:", file!())
    }

    #[test]
    fn a_panic_becomes_an_error_with_hook_place_and_text() {
        let _alone = alone();
        let (line, message) = (line!(), error(|| panic!("no luck")));
        assert!(message.starts_with(&here(line)) && message.ends_with(": no luck"), "{message}");
        let (line, message) = (line!(), error(|| panic!("no luck {}", [7][0])));
        assert!(message.starts_with(&here(line)) && message.ends_with(": no luck 7"), "{message}");
        let (line, message) = (line!(), error(|| panic::panic_any(7)));
        assert!(message.starts_with(&here(line)), "{message}");
        assert!(message.ends_with(": the panic carries no text"), "{message}");
    }

    #[test]
    fn a_payload_that_panics_when_dropped_does_no_harm() {
        struct Bomb;
        impl Drop for Bomb {
            fn drop(&mut self) {
                panic::panic_any(Bomb);
            }
        }
        let _alone = alone();
        assert!(error(|| panic::panic_any(Bomb)).ends_with(": the panic carries no text"));
    }

    #[test]
    fn a_resumed_panic_is_not_given_the_place_of_another() {
        let _alone = alone();
        let message = error(|| {
            let caught: Box<dyn Any + Send> = panic::catch_unwind(|| panic!("first")).unwrap_err();
            PANICKED_AT.with(|at| at.borrow_mut().take());
            panic::resume_unwind(caught);
        });
        assert_eq!(message, "register_types panicked: first");
        let _ = error(|| panic!("leaves nothing behind"));
        assert_eq!(error(|| panic::resume_unwind(Box::new("bare"))), "register_types panicked: bare");
    }

    /// The author's own threads report as they would without us, during a hook
    /// and after it; a hook's thread reports to nobody but the host.
    #[test]
    fn other_threads_panic_into_the_hook_that_was_there_before() {
        static SEEN: Mutex<Vec<String>> = Mutex::new(Vec::new());
        fn note(info: &str) {
            SEEN.lock().unwrap().push(info.to_owned());
        }
        let _alone = alone();
        // The order is the one of a library: first some hook, then ours.
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            note(&info.to_string());
            previous(info);
        }));
        chain_panic_hook();
        let thread = || std::thread::spawn(|| panic!("on a thread of the author's")).join().unwrap_err();
        let hook = || {
            drop(thread());
            panic!("in a hook");
        };
        assert!(error(hook).ends_with(": in a hook"));
        drop(thread());
        let seen = SEEN.lock().unwrap();
        let count = |text: &str| seen.iter().filter(|info| info.contains(text)).count();
        assert_eq!(count("on a thread of the author's"), 2);
        assert_eq!(count("in a hook"), 0);
    }

    #[derive(Debug)]
    struct Outer(std::num::ParseIntError);
    impl fmt::Display for Outer {
        fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
            to.write_str("the table can't be read")
        }
    }
    impl std::error::Error for Outer {
        fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
            Some(&self.0)
        }
    }

    struct Careless;
    impl Plugin for Careless {
        fn register_types(registry: &mut TypeRegistry) -> Result<()> {
            registry.add_plugin(AgentType::new("first"))?;
            registry.add_plugin(AgentType::new("auditor").deny("shell")).ok();
            Ok(())
        }
        fn register_skills(_: &mut SkillRegistry) -> Result<()> {
            Err("".into())
        }
        fn register_teams(_: &mut TeamRegistry) -> Result<()> {
            Err(Blank(Outer("x".parse::<u8>().unwrap_err())).into())
        }
    }

    #[derive(Debug)]
    struct Blank(Outer);
    impl fmt::Display for Blank {
        fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
            to.write_str(" ")
        }
    }
    impl std::error::Error for Blank {
        fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
            Some(&self.0)
        }
    }

    #[test]
    fn what_a_careless_author_leaves_out_is_said_all_the_same() {
        let _alone = alone();
        let module = module::<Careless>();
        let message = |result: HookResult| result.into_result().unwrap_err().message.into_string();

        let refused = message(module.register_types()(HOST));
        assert!(refused.starts_with(&format!("{}:", file!())), "{refused}");
        assert!(refused.contains("agent type \"auditor\": \"shell\" is no category of tools"), "{refused}");
        assert_eq!(message(module.register_skills()(HOST)), "it gave an error without a text");
        let without_the_blank = "the table can't be read: invalid digit found in string";
        assert_eq!(message(module.register_teams()(HOST)), without_the_blank);
    }

    struct Whole;
    impl Plugin for Whole {
        fn register_types(registry: &mut TypeRegistry) -> Result<()> {
            registry.add_plugin(AgentType::new("auditor").deny("edit"))
        }
        fn register_skills(registry: &mut SkillRegistry) -> Result<()> {
            registry.add_plugin(Skill::new("checklist", "Check."))?;
            Err(Outer("x".parse::<u8>().unwrap_err()).into())
        }
        fn register_teams(registry: &mut TeamRegistry) -> Result<()> {
            registry.add_plugin(Team::new("audit"))?;
            panic!("no team")
        }
    }

    #[test]
    fn the_host_reaches_every_hook_through_the_exported_root() {
        let _alone = alone();
        const FIELDS: &[(&str, &str)] = &[("name", "whole")];
        const BODY: usize = body_length(FIELDS);
        static MANIFEST: Section<BODY> = section(FIELDS);
        static ROOT: Root<BODY> = root::<Whole, BODY>(&MANIFEST);
        // The host takes the symbol's address for a header's.
        assert!(std::ptr::eq((&ROOT as *const Root<BODY>).cast(), &ROOT.header));
        let module = ROOT.header.init_root_module::<PluginModuleRef>().unwrap();

        let types = module.register_types()(HOST).into_result().unwrap();
        assert_eq!(types.len(), 1);
        assert_eq!(types[0].as_str(), r#"{"name":"auditor","tool_permission":{"edit":"deny"}}"#);

        let failed = module.register_skills()(HOST).into_result().unwrap_err();
        assert_eq!(failed.kind, HookError::FAILED);
        assert_eq!(failed.message.as_str(), "the table can't be read: invalid digit found in string");

        let panicked = module.register_teams()(HOST).into_result().unwrap_err();
        assert_eq!(panicked.kind, HookError::PANICKED);
        assert!(panicked.message.as_str().starts_with("register_teams panicked at "), "{panicked:?}");

        let unknown = match module.call()(RStr::from("tools"), RStr::from("{}"), HOST) {
            RResult::RErr(error) => error,
            RResult::ROk(output) => panic!("{output}"),
        };
        assert_eq!(unknown.kind, HookError::UNKNOWN_HOOK);
        let version = crate::VERSION;
        assert_eq!(
            unknown.message.as_str(),
            format!("this plugin's version of replio-plugin-api ({version}) has no hook \"tools\"")
        );
    }
}
