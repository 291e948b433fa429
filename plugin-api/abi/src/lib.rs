//! What crosses between replio and a plugin, and nothing else.
//!
//! Plugin authors do not use this crate: they depend on `replio-plugin-api`,
//! which wraps it. It is a crate of its own because the layout check compares
//! the *package version* of every type that crosses. This one stays at 1.x for
//! good, while the API around it follows semver without breaking a library
//! that was built years ago.
//!
//! Two doors carry everything, with JSON through them, so that nothing here
//! ever has to grow:
//!
//! - [`PluginModule`]: the three registration hooks, and [`PluginModule::call`]
//!   for every hook that comes later;
//! - [`HostDoor`]: what a plugin may ask of its host, by name.
//!
//! No trait object and no type of the standard library crosses. The manifest
//! ([`manifest`]) is read from the file without running any of it.

use std::ffi::c_void;
use std::fmt;

use abi_stable::StableAbi;
use abi_stable::library::RootModule;
use abi_stable::package_version_strings;
use abi_stable::sabi_types::VersionStrings;
use abi_stable::std_types::{RResult, RStr, RString, RVec};

pub mod manifest;

/// abi_stable, for the crates that put a plugin together or take it apart.
#[doc(hidden)]
pub use abi_stable;

/// This crate's version, which a manifest carries as `abi`. Host and plugin
/// understand each other when the major numbers are equal.
pub const ABI_VERSION: &str = env!("CARGO_PKG_VERSION");

/// The symbol under which a library exports its root module. It is the only
/// symbol a plugin needs to export.
pub const ROOT_SYMBOL: &str = "_1as_0lib_1header_0root_bmodule_bloader";

/// What a registration hook returns: one JSON object for each entry, in the
/// schema of `types.json` and `teams.json` (skills: `name`, `content`,
/// `description`, `tags`).
pub type HookResult = RResult<RVec<RString>, HookError>;

/// What either door returns: JSON.
pub type DoorResult = RResult<RString, HookError>;

/// The root module of a plugin. It never gains a field: a host whose root
/// module has more fields than a plugin's refuses that plugin.
#[repr(C)]
#[derive(StableAbi)]
#[sabi(kind(Prefix(prefix_ref = PluginModuleRef)))]
#[sabi(missing_field(panic))]
pub struct PluginModule {
    /// Returns the agent types that the plugin brings.
    pub register_types: extern "C" fn(HostDoor) -> HookResult,
    /// Returns the skills that the plugin brings.
    pub register_skills: extern "C" fn(HostDoor) -> HookResult,
    /// Returns the teams that the plugin brings.
    pub register_teams: extern "C" fn(HostDoor) -> HookResult,
    /// The one door for every later hook: its name and JSON in, JSON out.
    /// May be called from any thread and from several at once; a name that the
    /// plugin does not know is an error of kind [`HookError::UNKNOWN_HOOK`].
    #[sabi(last_prefix_field)]
    pub call: extern "C" fn(RStr<'_>, RStr<'_>, HostDoor) -> DoorResult,
}

impl RootModule for PluginModuleRef {
    abi_stable::declare_root_module_statics! {PluginModuleRef}
    const BASE_NAME: &'static str = "replio_plugin";
    const NAME: &'static str = "replio_plugin";
    const VERSION_STRINGS: VersionStrings = package_version_strings!();
}

/// Why a hook or a door gave no result.
#[repr(C)]
#[derive(Debug, Clone, StableAbi)]
pub struct HookError {
    /// One of the constants below. An integer, since an enum value that the
    /// other side does not know would be undefined behaviour.
    pub kind: u32,
    /// What happened, for a person.
    pub message: RString,
    /// JSON, or empty.
    pub details: RString,
}

impl HookError {
    /// The hook returned an error of its own.
    pub const FAILED: u32 = 0;
    /// The hook panicked.
    pub const PANICKED: u32 = 1;
    /// There is no hook or door of that name.
    pub const UNKNOWN_HOOK: u32 = 2;
    /// The input was not what the hook or door takes.
    pub const BAD_INPUT: u32 = 3;

    /// An error without details.
    pub fn new(kind: u32, message: impl Into<String>) -> Self {
        Self { kind, message: RString::from(message.into()), details: RString::new() }
    }
}

/// What a plugin may ask of its host while one of its hooks runs.
#[repr(C)]
#[derive(Clone, Copy, StableAbi)]
pub struct HostDoor {
    /// A token that the host looks up, never a pointer that it follows: a call
    /// after the hook has returned is an error and not a use after free.
    pub context: *const c_void,
    /// Calls the host: token, name, JSON. May be called from any thread.
    pub call: extern "C" fn(*const c_void, RStr<'_>, RStr<'_>) -> DoorResult,
}

// Not derived: older compilers find no `Debug` for a function of two lifetimes.
impl fmt::Debug for HostDoor {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("HostDoor").field("context", &self.context).finish_non_exhaustive()
    }
}

// SAFETY: `context` is a number that is never followed as a pointer, and every
// host lets `call` be called from any thread, several at once.
unsafe impl Send for HostDoor {}
// SAFETY: as above.
unsafe impl Sync for HostDoor {}

#[cfg(test)]
mod tests {
    #[test]
    fn the_root_symbol_is_the_one_that_abi_stable_looks_up() {
        assert_eq!(super::ROOT_SYMBOL, abi_stable::library::ROOT_MODULE_LOADER_NAME);
    }
}
