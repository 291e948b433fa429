//! The file that an entry of the user's or the project's is in.

use std::path::{Path, PathBuf};

use super::kept_trust::{Edit, KeptTrust};
use crate::app::App;
use crate::catalog::{
    EditError, Kind, Layer, Scope, path_in, read_folder, read_text, remove_entry, set_entry,
};
use crate::diagnostic::Diagnostic;
use crate::files::{self, Lock};
use crate::names::EntryName;
use crate::paths;

/// Where one entry is, or would be.
#[derive(Debug)]
pub(super) struct EntryFile {
    pub(super) kind: Kind,
    pub(super) name: EntryName,
    pub(super) scope: Scope,
    folder: PathBuf,
    /// The file: one for all types or teams, its own for a skill.
    pub(super) path: PathBuf,
}

impl EntryFile {
    /// # Errors
    /// There is no project, and one is needed.
    pub(super) fn find(app: &App, kind: Kind, name: EntryName, scope: Scope) -> Result<Self, Diagnostic> {
        let folder = app.places.folder_for_writing(scope)?;
        let path = path_in(&folder, kind);
        let path = if kind == Kind::Skill { path.join(format!("{name}.md")) } else { path };
        Ok(Self { kind, name, scope, folder, path })
    }

    /// The folder that holds the files of the scope.
    fn lock(&self) -> Result<Lock, Diagnostic> {
        paths::make_folder(&self.folder, self.scope)?;
        Ok(Lock::folder(&self.folder)?)
    }

    /// Sets fields of the entry, and returns whether that changed anything.
    /// Another process that changes the file waits.
    ///
    /// # Errors
    /// The file can't be read, understood or written; it is then as it was.
    pub(super) fn set(&self, app: &App, fields: &[(&str, serde_json::Value)]) -> Result<bool, Diagnostic> {
        let _lock = self.lock()?;
        let before = self.text()?;
        let after = set_entry(before.as_deref(), self.kind, &self.name, fields)
            .map_err(|error| self.refused(&error))?;
        let changed = before.as_deref() != Some(after.as_str());
        if changed {
            self.write(app, before.as_deref(), &after)?;
        }
        Ok(changed)
    }

    /// Writes a skill that must not be there yet.
    ///
    /// # Errors
    /// It is there, or can't be written.
    pub(super) fn write_skill(&self, content: &str) -> Result<(), Diagnostic> {
        let _lock = self.lock()?;
        if self.path.symlink_metadata().is_ok() {
            let (name, path) = (&self.name, self.path.display());
            let message = format!("the skill `{name}` is there already, and its file is left as it is");
            return Err(Diagnostic::new("already-there", message)
                .file(&self.path)
                .help(format!("change it with `replio skill edit {name}`, or move {path} out of the way")));
        }
        files::write_new(&self.path, content.as_bytes())?;
        Ok(())
    }

    /// Takes the entry out of the file, or a skill's file away. Returns
    /// whether there was one.
    ///
    /// # Errors
    /// The file can't be read, understood or written; it is then as it was.
    pub(super) fn remove(&self, app: &App) -> Result<bool, Diagnostic> {
        let _lock = self.lock()?;
        if self.kind == Kind::Skill {
            let was_there = self.path.symlink_metadata().is_ok();
            files::remove_file(&self.path)?;
            return Ok(was_there);
        }
        let Some(before) = self.text()? else { return Ok(false) };
        match remove_entry(&before, self.kind, &self.name).map_err(|error| self.refused(&error))? {
            None => Ok(false),
            Some(after) => {
                self.write(app, Some(&before), &after)?;
                Ok(true)
            }
        }
    }

    /// Writes a changed text. What the user trusts is noted first: by itself it
    /// changes nothing.
    fn write(&self, app: &App, before: Option<&str>, after: &str) -> Result<(), Diagnostic> {
        if let Some(kept) = KeptTrust::before(app, self, before, Edit::OneEntry) {
            kept.note(after);
        }
        Ok(files::write_whole(&self.path, after.as_bytes())?)
    }

    fn text(&self) -> Result<Option<String>, Diagnostic> {
        read_text(&self.path).map_err(|error| Diagnostic {
            message: format!("the file can't be changed: {}", error.message),
            ..error
        })
    }

    fn refused(&self, error: &EditError) -> Diagnostic {
        let diagnostic = error.diagnostic().clone();
        if matches!(error, EditError::Invalid(_)) {
            return diagnostic;
        }
        let help = format!("`replio {} edit {} {}` opens it", self.kind, self.name, super::flag(self.scope));
        let help = match &diagnostic.help {
            Some(first) => format!("{first}; {help}"),
            None => format!("mend it first; {help}"),
        };
        Diagnostic { message: error.to_string(), ..diagnostic }.file(&self.path).help(help)
    }

    /// What the scope says now. What is wrong with it takes the place of the
    /// warnings from before the change.
    pub(super) fn read_again(&self, app: &App) -> Layer {
        let (layer, faults) = self.read();
        self.forget_warnings(app);
        self.warn_again(app, &layer, faults);
        layer
    }

    /// What is to be said about the file as it is now.
    pub(super) fn warn_again(&self, app: &App, layer: &Layer, faults: Vec<Diagnostic>) {
        app.warn(faults);
        if self.scope == Scope::Local {
            app.warn_of_untrusted_permissions(layer);
        }
    }

    /// Forgets what was wrong with the file before it was changed.
    pub(super) fn forget_warnings(&self, app: &App) {
        let mut warnings = app.take_warnings();
        warnings.retain(|warning| warning.file.as_ref() != Some(&self.path));
        app.warn(warnings);
    }

    /// What the scope says now: its layer, and what is wrong with it.
    pub(super) fn read(&self) -> (Layer, Vec<Diagnostic>) {
        let path = path_in(&self.folder, self.kind);
        let (layer, mut faults) = read_folder(&self.folder, self.kind, self.scope);
        if self.kind == Kind::Skill {
            faults.retain(|fault| fault.file.as_deref().is_none_or(|file| file == self.path || file == path));
        }
        (layer, faults)
    }

    /// Where in its file the entry begins.
    pub(super) fn line(&self, layer: &Layer) -> Option<usize> {
        if self.kind == Kind::Skill {
            return None;
        }
        Some(layer.get(self.name.as_str())?.place().position()?.line)
    }

    /// The file with the line, as editors take it.
    pub(super) fn path_with_line(&self, line: Option<usize>) -> String {
        with_line(&self.path, line)
    }
}

/// `types.json:12`.
pub(super) fn with_line(path: &Path, line: Option<usize>) -> String {
    match line {
        Some(line) => format!("{}:{line}", path.display()),
        None => path.display().to_string(),
    }
}
