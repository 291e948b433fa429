//! The libraries that this process has loaded itself, and where systems keep
//! libraries: a plugin that needs no others has no need to read any.

use std::ffi::{CStr, OsStr, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Where the system's loader looks, in one distribution or another; and where
/// those distributions have libraries that have a folder for each package.
const LIBRARY_FOLDERS: [&str; 12] = [
    "/etc/ld.so.cache",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/libx32",
    "/usr/local/lib",
    "/nix/store",
    "/gnu/store",
];

/// Whether all of these are loaded.
pub(super) fn has_all(needed: &[String]) -> bool {
    let loaded = loaded();
    let names: Vec<&OsStr> = loaded.iter().filter_map(|path| path.file_name()).collect();
    needed.iter().all(|needed| names.contains(&OsStr::new(needed)))
}

/// Where libraries are, as far as anyone knows.
pub(super) fn library_folders() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = LIBRARY_FOLDERS.map(PathBuf::from).into();
    let loaded = loaded();
    let others = loaded.iter().filter_map(|path| path.parent()).filter(|folder| folder.is_absolute());
    for folder in others {
        // Never all there is, wherever a loader may lie.
        if folder != Path::new("/") && !folders.iter().any(|known| folder.starts_with(known)) {
            folders.push(folder.to_owned());
        }
    }
    folders
}

/// The libraries, by the paths that the loader found them at.
fn loaded() -> Vec<PathBuf> {
    unsafe extern "C" fn add(about: *mut libc::dl_phdr_info, _size: usize, paths: *mut c_void) -> c_int {
        // SAFETY: the loader hands on what it was given below, and a record of
        // its own that is good for this call, as is the C string in it.
        let (paths, name) = unsafe { (&mut *paths.cast::<Vec<PathBuf>>(), (*about).dlpi_name) };
        if !name.is_null() {
            // SAFETY: as above.
            let name = unsafe { CStr::from_ptr(name) };
            paths.push(PathBuf::from(OsStr::from_bytes(name.to_bytes())));
        }
        0
    }
    let mut paths: Vec<PathBuf> = Vec::new();
    // SAFETY: `add` has the type that is asked for, and the list outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(add), (&raw mut paths).cast()) };
    paths
}
