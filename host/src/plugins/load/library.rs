//! Opening a library and running its hooks: the one place where foreign code
//! is entered.

use std::error::Error;
use std::fs::File;
use std::mem::ManuallyDrop;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use replio_plugin_abi::abi_stable::library::{LibHeader, LibraryError, lib_header_from_path};
use replio_plugin_abi::{HookError, HookResult, HostDoor, PluginModuleRef};

use super::{PluginToRun, door};
use crate::catalog::Kind;
use crate::plugins::digest::Digest;
use crate::plugins::report::{Failure, Limits, ReportWriter, Stage};
use crate::plugins::store::FileIdentity;

/// Opens the plugin of this digest, runs its hooks, and puts together its report.
pub(super) fn report(path: &Path, sha256: &Digest, limits: &Limits) -> Vec<u8> {
    let mut report = ReportWriter::default();
    let result = open(path).and_then(|module| register(module, limits, &mut report));
    if result.is_err() {
        // Nothing of a plugin that failed is used.
        report = ReportWriter::default();
    }
    for line in door::take_log() {
        report.log(&line);
    }
    match result {
        Ok(()) => report.done(sha256),
        Err(failure) => report.failed(&failure),
    }
}

fn open(path: &Path) -> Result<PluginModuleRef, Failure> {
    // All symbols are bound now, so that a missing one is an error here and not
    // the end of the process at its first use; and none is shared with others.
    // SAFETY: opening runs the library's initializers. They are foreign code,
    // which is why this process exists: it has nothing to lose but itself.
    let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) };
    match library {
        // Never closed: what the plugin started may still run in it.
        Ok(library) => std::mem::forget(library),
        Err(error) => {
            let message = error.source().map_or_else(|| error.to_string(), ToString::to_string);
            return Err(Failure { stage: Stage::Open, message, details: String::new() });
        }
    }
    // Not `load_from_file`, which returns the first plugin for every path.
    lib_header_from_path(path)
        .and_then(LibHeader::init_root_module::<PluginModuleRef>)
        .map_err(|error| abi_failure(&error))
}

/// A library that is about to be opened.
pub(super) struct Found {
    /// Where the loader finds it.
    pub(super) path: PathBuf,
    /// Keeps it there; open until the process ends, unless the plugin closes it.
    _file: ManuallyDrop<File>,
}

/// Opens the library's file, and makes sure that it is the one that was found
/// right. What the loader opens afterwards is this file, whatever is put in its
/// place meanwhile.
pub(super) fn find(plugin: &PluginToRun) -> Result<Found, Failure> {
    let failure = |message: String| Failure { stage: Stage::Open, message, details: String::new() };
    let path = enter_folder(&plugin.path)?;
    let file = File::open(&path).map_err(|error| failure(format!("it can't be read: {error}")))?;
    let metadata = file.metadata().map_err(|error| failure(format!("it can't be looked at: {error}")))?;
    if plugin.file.is_some_and(|expected| FileIdentity::of(&metadata) != Some(expected)) {
        return Err(failure("it was replaced or changed while it was about to be opened".into()));
    }
    let by_descriptor = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
    // Where there is no such thing, the path has to do.
    let path = if by_descriptor.exists() { by_descriptor } else { path };
    Ok(Found { path, _file: ManuallyDrop::new(file) })
}

/// Goes to the library's folder and returns its path from there: a loader takes
/// `$ORIGIN` and the like in a path for something else, and folders are the
/// user's to name. (Their own names in the store hold no such thing.)
fn enter_folder(path: &Path) -> Result<PathBuf, Failure> {
    let failure = |message: String| Failure { stage: Stage::Open, message, details: String::new() };
    let (Some(folder), Some(file)) = (path.parent(), path.file_name()) else {
        return Err(failure("it has no path".into()));
    };
    std::env::set_current_dir(folder)
        .map_err(|error| failure(format!("its folder can't be entered: {error}")))?;
    Ok(Path::new(".").join(file))
}

/// `abi_stable` describes a layout in hundreds of lines; people get one.
fn abi_failure(error: &LibraryError) -> Failure {
    let message = match error {
        LibraryError::InvalidAbiHeader(_) => "it was built with another abi_stable".to_owned(),
        LibraryError::IncompatibleVersionNumber { expected_version, actual_version, .. } => {
            format!("its plugin ABI is {actual_version}, and this replio's is {expected_version}")
        }
        LibraryError::AbiInstability(_) => "the layout of its types is not that of this ABI".to_owned(),
        LibraryError::GetSymbolError { .. } => "it does not export the plugin symbol".to_owned(),
        LibraryError::RootModule { .. } => "its root module could not be made".to_owned(),
        _ => "its ABI could not be compared".to_owned(),
    };
    Failure { stage: Stage::Abi, message, details: error.to_string().chars().take(16 * 1024).collect() }
}

fn register(module: PluginModuleRef, limits: &Limits, report: &mut ReportWriter) -> Result<(), Failure> {
    let hooks: [(Kind, &str, extern "C" fn(HostDoor) -> HookResult); 3] = [
        (Kind::Type, "register_types", module.register_types()),
        (Kind::Skill, "register_skills", module.register_skills()),
        (Kind::Team, "register_teams", module.register_teams()),
    ];
    let (mut count, mut total) = (0, 0);
    for (kind, name, hook) in hooks {
        let entries = door::open_for(hook).into_result().map_err(|error| hook_failure(name, &error))?;
        let too_much = |what: String| Failure { stage: Stage::Limit, message: what, details: String::new() };
        count += entries.len();
        if count > limits.entries {
            return Err(too_much(format!("more than {} entries", limits.entries)));
        }
        for entry in &entries {
            total += entry.len();
            if entry.len() > limits.entry_bytes {
                return Err(too_much(format!("an entry of more than {} bytes", limits.entry_bytes)));
            }
            if total > limits.total_bytes {
                return Err(too_much(format!("more than {} bytes of entries", limits.total_bytes)));
            }
            report.entry(kind, entry.as_bytes());
        }
    }
    Ok(())
}

fn hook_failure(hook: &str, error: &HookError) -> Failure {
    let bounded = |text: &[u8]| String::from_utf8_lossy(&text[..text.len().min(8 * 1024)]).into_owned();
    let message = bounded(error.message.as_bytes());
    if error.kind == HookError::PANICKED {
        return Failure { stage: Stage::Panic, message, details: bounded(error.details.as_bytes()) };
    }
    Failure {
        stage: Stage::Hook,
        message: format!("{hook}: {message}"),
        details: bounded(error.details.as_bytes()),
    }
}
