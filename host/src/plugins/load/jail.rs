//! The jail that plugin code runs in. What does not need to know the child is
//! done once, in the runner, and inherited; the rest in each child, before it
//! opens its library, whose initializers are the plugin's code already. Each
//! part is best effort: where the system has none of it, plugins run all the
//! same, and what is in force is told.

use std::path::PathBuf;

use crate::plugins::jail::{Extent, Jail};
use crate::plugins::report::Limits;

#[cfg(target_os = "linux")]
mod landlock;
mod limits;
#[cfg(target_os = "linux")]
mod loaded;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod seccomp;

/// What the runner holds itself to, and so all of its children.
#[derive(Debug, Clone, Copy)]
pub(super) struct RunnerJail {
    no_new_privileges: bool,
    is_filtered: bool,
    limits: Extent,
}

/// Gives up for good what neither the runner nor a plugin needs.
pub(super) fn enter_runner() -> RunnerJail {
    RunnerJail {
        no_new_privileges: forgo_new_privileges(),
        limits: limits::of_runner(),
        // Last, since setting limits is among what it forbids in a child.
        is_filtered: filter_runner(),
    }
}

/// Gives up what no plugin needs. From here on only these files can be read,
/// and of folders all that is in them.
pub(super) fn enter_child(runner: RunnerJail, limits: &Limits, readable: &[PathBuf]) -> Jail {
    let processor_time = limits::of_child(limits);
    let (landlock, landlock_abi) = restrict_files(readable);
    let is_filtered = filter_child();
    Jail {
        no_new_privileges: runner.no_new_privileges,
        landlock,
        landlock_abi,
        seccomp: Extent::of([runner.is_filtered, is_filtered]),
        limits: match (runner.limits, processor_time) {
            (limits, true) => limits,
            (Extent::None, false) => Extent::None,
            (_, false) => Extent::Partly,
        },
    }
}

/// Where a plugin that needs these libraries may read, beside its own file: no
/// further where the runner has loaded all of them, or the system's folders of
/// libraries. It is the same for a plugin of which nobody knows what it needs.
#[cfg(target_os = "linux")]
pub(super) fn library_folders(needed: Option<&[String]>) -> Vec<PathBuf> {
    match needed {
        Some(needed) if loaded::has_all(needed) => Vec::new(),
        _ => loaded::library_folders(),
    }
}

/// Nothing is kept from reading here. (Reviewed, not run.)
#[cfg(not(target_os = "linux"))]
pub(super) fn library_folders(_needed: Option<&[String]>) -> Vec<PathBuf> {
    Vec::new()
}

#[cfg(target_os = "linux")]
fn restrict_files(readable: &[PathBuf]) -> (Extent, Option<u32>) {
    landlock::restrict(readable)
}

/// Other systems have no landlock. (Reviewed, not run.)
#[cfg(not(target_os = "linux"))]
fn restrict_files(_readable: &[PathBuf]) -> (Extent, Option<u32>) {
    (Extent::None, None)
}

/// No program that is started gives more rights than this process has; and of
/// the rights of root, only that of reading is kept, since the library may be in
/// another user's folder.
#[cfg(target_os = "linux")]
fn forgo_new_privileges() -> bool {
    use rustix::thread::{CapabilitySet, capabilities, set_capabilities, set_no_new_privs};
    let is_set = set_no_new_privs(true).is_ok();
    if let Ok(mut sets) = capabilities(None)
        && !sets.permitted.is_empty()
    {
        sets.effective &= CapabilitySet::DAC_READ_SEARCH;
        sets.permitted &= CapabilitySet::DAC_READ_SEARCH;
        sets.inheritable = CapabilitySet::empty();
        let _ = set_capabilities(None, sets);
    }
    is_set
}

/// Other systems have no such thing. (Reviewed, not run.)
#[cfg(not(target_os = "linux"))]
fn forgo_new_privileges() -> bool {
    false
}

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
use seccomp::{filter_child, filter_runner};

/// Filters are written for two processors. (Reviewed, not run.)
#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
fn filter_runner() -> bool {
    false
}

/// Filters are written for two processors. (Reviewed, not run.)
#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
fn filter_child() -> bool {
    false
}
