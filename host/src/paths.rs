//! Where the user's and the project's files are.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};

use crate::diagnostic::Diagnostic;
use crate::files::{self, FileError};

/// The folder in a project that holds its part of the catalog.
pub const LOCAL_FOLDER: &str = ".replio";

/// What of the local folder is no part of a project.
const GITIGNORE: &str = "plugins/store\nplugins/staging\nplugins/lock\nsessions\n";

/// Which of the two writable folders something is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// The user's folder.
    Global,
    /// The project's folder.
    Local,
}

impl Scope {
    /// `global` or `local`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Local => "local",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.word())
    }
}

impl Serialize for Scope {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

/// The global folder, and the project's where there is one.
#[derive(Debug, Clone)]
pub struct Places {
    global: PathBuf,
    project: Option<PathBuf>,
}

/// What of the surroundings decides where files are.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// `--path`.
    pub path: Option<PathBuf>,
    /// The current folder.
    pub current: PathBuf,
    /// The user's home, where it is known.
    pub home: Option<PathBuf>,
    /// `REPLIO_HOME`.
    pub replio_home: Option<OsString>,
    /// `XDG_CONFIG_HOME`.
    pub config_home: Option<OsString>,
}

impl Surroundings {
    /// Those of this process.
    ///
    /// # Errors
    /// When the current folder has gone away and `--path` is not absolute.
    pub fn of_this_process(path: Option<PathBuf>) -> Result<Self, Diagnostic> {
        let current = match (std::env::current_dir(), &path) {
            (Ok(current), _) => current,
            (Err(_), Some(path)) if path.is_absolute() => path.clone(),
            (Err(error), _) => {
                return Err(Diagnostic::new(
                    "no-current-folder",
                    format!("the current folder can't be read: {error}"),
                )
                .help("change to a folder that exists, or name one with --path"));
            }
        };
        Ok(Self {
            path,
            current,
            home: std::env::home_dir().filter(|home| !home.as_os_str().is_empty()),
            replio_home: std::env::var_os("REPLIO_HOME"),
            config_home: std::env::var_os("XDG_CONFIG_HOME"),
        })
    }
}

impl Places {
    /// Finds the folders.
    ///
    /// # Errors
    /// When there is no place for global files, or `--path` names no folder.
    pub fn find(from: &Surroundings) -> Result<Self, Diagnostic> {
        let global = global_folder(from)?;
        let home = home(from).map(canonical);
        let project = match &from.path {
            Some(path) => {
                let path = from.current.join(path);
                if !path.is_dir() {
                    return Err(Diagnostic::new(
                        "no-such-folder",
                        format!("--path {} is not a folder", path.display()),
                    )
                    .help("name a folder that exists"));
                }
                Some(canonical(&path))
            }
            None => project_around(&canonical(&from.current), home.as_deref()),
        };
        Ok(Self { global, project: project.filter(|project| Some(project) != home.as_ref()) })
    }

    /// The global folder, which need not exist.
    pub fn global(&self) -> &Path {
        &self.global
    }

    /// The project, where there is one.
    pub fn project(&self) -> Option<&Path> {
        self.project.as_deref()
    }

    /// The folder of a scope, which need not exist; `None` for the local one
    /// where there is no project.
    pub fn folder(&self, scope: Scope) -> Option<PathBuf> {
        match scope {
            Scope::Global => Some(self.global.clone()),
            Scope::Local => self.project.as_ref().map(|project| project.join(LOCAL_FOLDER)),
        }
    }

    /// The folder of a scope, for a command that can't do without it.
    ///
    /// # Errors
    /// When there is no project.
    pub fn folder_for_writing(&self, scope: Scope) -> Result<PathBuf, Diagnostic> {
        self.folder(scope).ok_or_else(|| {
            Diagnostic::new("no-project", "the home folder is not a project, and this command needs one")
                .help("add --global to use your own folder, or name a project with --path DIR")
        })
    }
}

/// Makes the folder of a scope before something is written into it. A local
/// one gets a `.gitignore` for what is no part of the project.
///
/// # Errors
/// When the system refuses.
pub fn make_folder(folder: &Path, scope: Scope) -> Result<(), FileError> {
    files::create_folder(folder)?;
    if scope == Scope::Global {
        return Ok(());
    }
    let path = folder.join(".gitignore");
    if path.symlink_metadata().is_ok() {
        return Ok(());
    }
    match files::write_new(&path, GITIGNORE.as_bytes()) {
        Err(error) if error.io().kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// The home folder; one that is not absolute would be another in each folder.
fn home(from: &Surroundings) -> Option<&Path> {
    from.home.as_deref().filter(|home| home.is_absolute())
}

fn global_folder(from: &Surroundings) -> Result<PathBuf, Diagnostic> {
    if let Some(folder) = from.replio_home.as_ref().filter(|folder| !folder.is_empty()) {
        return Ok(from.current.join(folder));
    }
    // A relative one is to be ignored, as the convention has it.
    if let Some(folder) = from.config_home.as_ref().filter(|folder| Path::new(folder).is_absolute()) {
        return Ok(Path::new(folder).join("replio"));
    }
    match home(from) {
        Some(home) => Ok(home.join(".config").join("replio")),
        None => Err(Diagnostic::new("no-home", "there is no home folder to keep global files in")
            .help("set HOME to an absolute path, or REPLIO_HOME to a folder of your choice")),
    }
}

/// The project around a folder: the nearest folder upwards that has a
/// `.replio`, but not above the top of a git tree; else that top; else the
/// folder itself. The home folder is none of them.
fn project_around(current: &Path, home: Option<&Path>) -> Option<PathBuf> {
    let is_project = |folder: &&Path| Some(*folder) != home;
    let mut top = None;
    for folder in current.ancestors() {
        if folder.join(LOCAL_FOLDER).is_dir() && is_project(&folder) {
            return Some(folder.to_owned());
        }
        if folder.join(".git").exists() {
            top = Some(folder);
            break;
        }
    }
    top.filter(is_project).or(Some(current)).filter(is_project).map(Path::to_owned)
}

fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(root: &Path, current: &str, path: Option<&str>) -> Places {
        Places::find(&Surroundings {
            path: path.map(PathBuf::from),
            current: root.join(current),
            home: Some(root.join("home")),
            ..Surroundings::default()
        })
        .unwrap()
    }

    #[test]
    fn the_project_is_the_nearest_that_has_a_folder_of_ours_within_the_git_tree() {
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path().canonicalize().unwrap();
        for folder in
            ["home/.replio", "home/tree/.git", "home/tree/a/.replio", "home/tree/b/c", "home/loose/d"]
        {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        let project = |current, path| places(&root, current, path).project().map(Path::to_owned);
        assert_eq!(project("home/tree/a", None), Some(root.join("home/tree/a")));
        assert_eq!(project("home/tree/b/c", None), Some(root.join("home/tree")));
        assert_eq!(project("home/loose/d", None), Some(root.join("home/loose/d")));
        assert_eq!(project("home", None), None);
        assert_eq!(project("home", Some("tree/b")), Some(root.join("home/tree/b")));
        assert_eq!(project("home/tree", Some("..")), None);
        std::fs::create_dir(root.join("home/.git")).unwrap();
        assert_eq!(project("home/loose/d", None), Some(root.join("home/loose/d")));
    }

    #[test]
    fn the_global_folder_follows_the_environment() {
        let root = std::env::temp_dir();
        let mut from =
            Surroundings { current: root.clone(), home: Some("/h".into()), ..Surroundings::default() };
        assert_eq!(Places::find(&from).unwrap().global(), Path::new("/h/.config/replio"));
        from.config_home = Some("relative".into());
        assert_eq!(Places::find(&from).unwrap().global(), Path::new("/h/.config/replio"));
        from.config_home = Some("/x".into());
        assert_eq!(Places::find(&from).unwrap().global(), Path::new("/x/replio"));
        from.replio_home = Some("/r".into());
        assert_eq!(Places::find(&from).unwrap().global(), Path::new("/r"));
        for home in [None, Some("relative".into())] {
            let nowhere = Surroundings { current: root.clone(), home, ..Surroundings::default() };
            assert_eq!(Places::find(&nowhere).unwrap_err().code, "no-home");
        }
    }
}
