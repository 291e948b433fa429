//! How a [`Plugin`](crate::Plugin) becomes a shared library: the macro, and
//! the guard that turns a panic into an error before it reaches the boundary,
//! where it would abort the process.

use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use replio_plugin_abi::abi_stable::std_types::{RErr, ROk, RResult, RString, RVec};
use replio_plugin_abi::{HookError, HookResult, HostDoor};

use crate::Result;
use crate::entry::Entry;
use crate::registry::Registry;

thread_local! {
    /// Whether a hook runs on this thread.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
    /// Where the hook on this thread panicked.
    static PANICKED_AT: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs one registration hook and gives its entries the form in which they
/// cross.
#[allow(private_bounds)]
pub fn run_hook<E: Entry>(
    name: &'static str,
    host: HostDoor,
    hook: fn(&mut Registry<E>) -> Result<()>,
) -> HookResult {
    let run = || {
        let mut registry = Registry::new(host);
        hook(&mut registry).map_err(|error| HookError::new(HookError::FAILED, whole_message(&*error)))?;
        Ok(registry.into_entries().map(RString::from).collect::<RVec<RString>>())
    };
    match guard(name, run) {
        Ok(Ok(entries)) => ROk(entries),
        Ok(Err(error)) | Err(error) => RErr(error),
    }
}

/// What a plugin of this version answers to a hook that it does not know.
pub fn unknown_hook(name: &str) -> RResult<RString, HookError> {
    let message =
        format!("this plugin's version of replio-plugin-api ({}) has no hook {name:?}", crate::VERSION);
    RErr(HookError::new(HookError::UNKNOWN_HOOK, message))
}

fn guard<T>(name: &str, run: impl FnOnce() -> T) -> Result<T, HookError> {
    remember_where_hooks_panic();
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
        let at = PANICKED_AT.with(|at| at.borrow_mut().take()).unwrap_or_default();
        HookError::new(HookError::PANICKED, format!("{name} panicked at {at}: {text}"))
    })
}

/// Installs a panic hook that notes the place while a hook runs, and leaves
/// every other panic, such as one on the author's own threads, to the hook
/// that was there before.
fn remember_where_hooks_panic() {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(|| {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if GUARDED.try_with(Cell::get).unwrap_or(false) {
                let at = info.location().map(ToString::to_string);
                let _ = PANICKED_AT.try_with(|slot| *slot.borrow_mut() = at);
            } else {
                previous(info);
            }
        }));
    });
}

fn whole_message(error: &(dyn std::error::Error + 'static)) -> String {
    let mut message = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        message.push_str(": ");
        message.push_str(&cause.to_string());
        source = cause.source();
    }
    message
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
/// A plugin that needs a certain host says so, as a semver requirement:
///
/// ```
/// # use replio_plugin_api::{export_plugin, Plugin};
/// # struct Audit;
/// # impl Plugin for Audit {}
/// export_plugin!(Audit, replio: ">=0.1, <2");
/// ```
#[macro_export]
macro_rules! export_plugin {
    ($plugin:ty $(,)?) => {
        $crate::export_plugin!($plugin, replio: "");
    };
    ($plugin:ty, replio: $requirement:literal $(,)?) => {
        const _: () = {
            const FIELDS: &[(&str, &str)] = &[
                ("name", env!("CARGO_PKG_NAME")),
                ("version", env!("CARGO_PKG_VERSION")),
                ("abi", $crate::__private::ABI_VERSION),
                ("api", $crate::VERSION),
                ("panic", if cfg!(panic = "abort") { "abort" } else { "unwind" }),
                ("replio", $requirement),
                ("description", env!("CARGO_PKG_DESCRIPTION")),
                ("authors", env!("CARGO_PKG_AUTHORS")),
                ("license", env!("CARGO_PKG_LICENSE")),
                ("homepage", env!("CARGO_PKG_HOMEPAGE")),
            ];
            const BODY: usize = $crate::__private::manifest::body_length(FIELDS);
            const _: () = assert!(
                $crate::__private::manifest::is_plugin_name(env!("CARGO_PKG_NAME")),
                "a plugin is called as its package is, so the package's name must begin with a small letter \
                 and have at most 64 small letters, digits, '-' and '_'"
            );

            #[used]
            #[cfg_attr(target_vendor = "apple", link_section = "__DATA,__replio,regular,no_dead_strip")]
            #[cfg_attr(not(target_vendor = "apple"), link_section = ".replio")]
            static MANIFEST: $crate::__private::manifest::Section<BODY> =
                $crate::__private::manifest::section::<BODY>(FIELDS);

            extern "C" fn __register_types(host: $crate::__private::HostDoor) -> $crate::__private::HookResult {
                $crate::__private::run_hook("register_types", host, <$plugin as $crate::Plugin>::register_types)
            }
            extern "C" fn __register_skills(host: $crate::__private::HostDoor) -> $crate::__private::HookResult {
                $crate::__private::run_hook("register_skills", host, <$plugin as $crate::Plugin>::register_skills)
            }
            extern "C" fn __register_teams(host: $crate::__private::HostDoor) -> $crate::__private::HookResult {
                $crate::__private::run_hook("register_teams", host, <$plugin as $crate::Plugin>::register_teams)
            }
            extern "C" fn __call(
                hook: $crate::__private::RStr<'_>,
                _input: $crate::__private::RStr<'_>,
                _host: $crate::__private::HostDoor,
            ) -> $crate::__private::DoorResult {
                $crate::__private::unknown_hook(hook.as_str())
            }

            fn __module() -> $crate::__private::PluginModuleRef {
                use $crate::__private::PrefixTypeTrait as _;
                $crate::__private::PluginModule {
                    register_types: __register_types,
                    register_skills: __register_skills,
                    register_teams: __register_teams,
                    call: __call,
                }
                .leak_into_prefix()
            }
            extern "C" fn __load() -> $crate::__private::RootModuleResult {
                $crate::__private::__call_root_module_loader(__module)
            }

            #[export_name = "_1as_0lib_1header_0root_bmodule_bloader"]
            pub static ROOT: $crate::__private::LibHeader =
                // SAFETY: `__load` returns the erased form of exactly `PluginModuleRef`.
                unsafe {
                    $crate::__private::LibHeader::from_constructor::<$crate::__private::PluginModuleRef>(
                        __load,
                        $crate::__private::CheckTypeLayout::Yes,
                    )
                };
        };
    };
}
