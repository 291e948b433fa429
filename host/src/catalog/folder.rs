//! Where the folder of a scope has what, and reading it.

use std::path::{Path, PathBuf};

use super::{Kind, Layer, Origin, Scope, read_entries_file, read_skills_folder};
use crate::diagnostic::Diagnostic;

/// The file (types, teams) or folder (skills) of a kind in the folder of a scope.
pub fn path_in(folder: &Path, kind: Kind) -> PathBuf {
    folder.join(match kind {
        Kind::Type => "types.json",
        Kind::Team => "teams.json",
        Kind::Skill => "skills",
    })
}

/// The layer of a kind in the folder of a scope, and what is wrong with it.
pub fn read_folder(folder: &Path, kind: Kind, scope: Scope) -> (Layer, Vec<Diagnostic>) {
    let path = path_in(folder, kind);
    match kind {
        Kind::Skill => read_skills_folder(&path, Origin::from(scope)),
        Kind::Type | Kind::Team => read_entries_file(kind, &path, Origin::from(scope)),
    }
}
