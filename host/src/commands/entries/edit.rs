//! `edit`: opens the file of an entry in the user's editor, and says what is
//! wrong with it before it ends.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::entry_file::EntryFile;
use super::kept_trust::{Edit, KeptTrust};
use super::looser::{in_words, json_of, looser};
use super::remove::{override_it, scopes_with};
use super::{
    WhichFile, flag, has, hollow_warning, loop_warning, name_to_write, permission_up_to, stack_of_one,
    warn_of_missing,
};
use crate::app::App;
use crate::catalog::{Kind, Layer, Loosened, read_text};
use crate::commands::CommandResult;
use crate::diagnostic::Diagnostic;
use crate::names::EntryName;
use crate::output::{Answer, CAUTION, NAME, Page, clean};

struct Edited {
    file: EntryFile,
    line: Option<usize>,
    changed: bool,
    /// The entry is in the file.
    there: bool,
    looser: Vec<Loosened>,
}

/// Opens the file that has the entry: the local one, if both have it and
/// nobody says which.
pub(in crate::commands) fn run<'a>(
    kind: Kind,
    name: &str,
    which: &WhichFile,
    app: &'a App,
) -> CommandResult<'a> {
    let name = name_to_write(kind, name)?;
    let scopes = scopes_with(kind, &name, app);
    let scope = which.scope().filter(|scope| scopes.contains(scope)).or_else(|| {
        let first = scopes.first().copied();
        first.filter(|_| which.scope().is_none())
    });
    let Some(scope) = scope else { return Err(nothing_to_edit(kind, &name, which, app)) };
    let file = EntryFile::find(app, kind, name, scope)?;
    let stack = app.stack(kind);
    let permission_before = permission_up_to(stack, &file.name, |_| true);
    file.forget_warnings(app);

    let text_before = read_text(&file.path).ok();
    let text_then = text_before.as_ref().map(Option::as_deref);
    let kept = text_then.and_then(|text| KeptTrust::before(app, &file, text, Edit::Anything));
    let opened = open_editor(&file.path, app.output.json);
    let text_after = read_text(&file.path).ok();
    // What the editor wrote counts even where it failed afterwards.
    if let (Some(kept), Some(Some(text))) = (&kept, &text_after) {
        kept.note(text);
    }
    opened?;

    let (layer, faults) = file.read();
    if let Some(fault) = fault_that_counts(&file, &layer, &faults) {
        app.warn(faults.into_iter().filter(|other| *other != fault));
        let help = format!("`replio {kind} edit {} {}` opens it again", file.name, flag(scope));
        let help = fault.help.as_ref().map_or(help.clone(), |first| format!("{first}; {help}"));
        return Err(fault.help(help));
    }
    file.warn_again(app, &layer, faults);
    let after = stack_of_one(stack, &file.name, Some(&layer));
    let mut looser_now = Vec::new();
    if let Ok(entry) = after.resolve(file.name.as_str()) {
        app.warn(hollow_warning(&entry));
        app.warn(loop_warning(&entry));
        warn_of_missing(app, &entry);
        looser_now = looser(&[&permission_before], &entry.permission());
    }
    let there = layer.get(file.name.as_str()).is_some();
    let changed = text_before != text_after;
    Ok(Box::new(Edited { line: file.line(&layer), file, changed, there, looser: looser_now }))
}

/// The fault of the whole file, or the one that loses the entry.
fn fault_that_counts(file: &EntryFile, layer: &Layer, faults: &[Diagnostic]) -> Option<Diagnostic> {
    let named = format!("`{}`", file.name);
    if layer.damaged {
        faults.first().cloned()
    } else if layer.lost.contains(file.name.as_str()) {
        faults.iter().find(|fault| fault.message.contains(&named)).or(faults.first()).cloned()
    } else {
        None
    }
}

fn nothing_to_edit(kind: Kind, name: &EntryName, which: &WhichFile, app: &App) -> Diagnostic {
    if let Err(unknown) = app.stack(kind).resolve(name.as_str()) {
        let diagnostic = unknown.diagnostic();
        return match diagnostic.help {
            Some(_) => diagnostic,
            None => diagnostic.help(format!("`replio {kind} new {name}` makes it")),
        };
    }
    let in_other = app.stack(kind).layers().iter().any(|layer| layer.file.is_some() && has(layer, name));
    let files = match which.scope() {
        Some(scope) => format!("the {scope} layer"),
        None => "no file of yours or of this project".to_owned(),
    };
    let message = if which.scope().is_some() {
        format!("{files} has no {kind} `{name}` to edit")
    } else {
        format!("the {} `{name}` is in {files}, so there is nothing to edit yet", kind.described())
    };
    Diagnostic::new("not-in-layer", message).help(if in_other {
        format!("the other layer has it: `replio {kind} edit {name}`")
    } else {
        override_it(kind, name, None).replace("instead", "first")
    })
}

/// What the shell ends with when it can't run, or can't find, a program.
const NOT_RUN: [Option<i32>; 2] = [Some(126), Some(127)];

/// Runs the editor on a file and waits for it.
///
/// # Errors
/// There is none, or it failed.
fn open_editor(path: &Path, json: bool) -> Result<(), Diagnostic> {
    let set = |variable| std::env::var_os(variable).filter(|value: &OsString| !value.is_empty());
    let Some(editor) = set("VISUAL").or_else(|| set("EDITOR")) else {
        return Err(Diagnostic::new("no-editor", "neither VISUAL nor EDITOR names an editor")
            .file(path)
            .help("open the file yourself, or set one of them: `export EDITOR=nano`"));
    };
    // The variable may hold arguments and quotes, which is a shell's to read.
    let mut script = editor.clone();
    script.push(" \"$@\"");
    let mut command = Command::new("sh");
    command.arg("-c").arg(script).arg(&editor).arg(path);
    if json {
        // Only the document may be on stdout.
        command.stdout(Stdio::from(std::io::stderr()));
    }
    let editor = editor.to_string_lossy();
    let help = "set VISUAL or EDITOR to an editor that is installed: `export EDITOR=nano`";
    let status = command.status().map_err(|error| {
        Diagnostic::new("editor-failed", format!("the editor `{editor}` can't be started: {error}"))
            .help(help)
    })?;
    if status.success() {
        return Ok(());
    }
    let failed = |message| Err(Diagnostic::new("editor-failed", message).file(path));
    if NOT_RUN.contains(&status.code()) {
        return failed(format!("the editor `{editor}` can't be run")).map_err(|error| error.help(help));
    }
    failed(format!("the editor `{editor}` ended with {status}; the file is as the editor left it"))
}

impl Answer for Edited {
    fn json(&self) -> Value {
        json!({
            "kind": self.file.kind,
            "name": self.file.name,
            "scope": self.file.scope,
            "path": self.file.path.display().to_string(),
            "line": self.line,
            "changed": self.changed,
            "there": self.there,
            "looser": json_of(&self.looser),
        })
    }

    fn text(&self, page: &mut Page) {
        let (kind, name) = (self.file.kind.described(), &self.file.name);
        let path = self.file.path_with_line(self.line);
        let path = clean(&path);
        page.line(match (self.there, self.changed) {
            (true, true) => format!("The {kind} {NAME}{name}{NAME:#} is in order: {path}"),
            (true, false) => format!("The {kind} {NAME}{name}{NAME:#} was not changed: {path}"),
            (false, _) => format!("The {kind} {NAME}{name}{NAME:#} is no longer in {path}"),
        });
        for looser in &self.looser {
            page.line(format!("{CAUTION}{}{CAUTION:#}", in_words(*looser)));
        }
    }
}
