//! Lines from a terminal: editing, history, completion and hints.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::{fs, io};

use clap::Command;
use reedline::{
    ColumnarMenu, Completer, CompletionResult, DefaultHinter, Emacs, FileBackedHistory, KeyCode,
    KeyModifiers, MenuBuilder, Prompt, PromptEditMode, PromptHistorySearch, Reedline, ReedlineEvent,
    ReedlineMenu, Signal, Span, Suggestion, default_emacs_keybindings,
};

use super::complete::{Candidate, candidates};
use super::kept::Kept;
use super::known::OfApp;
use super::words::quote;
use crate::commands::GlobalOptions;
use crate::diagnostic::Diagnostic;
use crate::output::{Output, Verbosity, clean};

/// The lines that are remembered.
const LONGEST_HISTORY: usize = 1000;
const MENU: &str = "completions";

/// What a person did at the prompt.
pub(super) enum Entered {
    Line(String),
    /// Ctrl-C: the line is thrown away.
    Cancelled,
    /// Ctrl-D, or the terminal is gone.
    End,
}

/// A terminal that lines come from.
pub(super) struct Terminal {
    editor: Reedline,
    history: PathBuf,
    /// Lines are remembered, as far as is known.
    remembers: bool,
}

impl Terminal {
    /// Lines are remembered in this file. When that can't be, the warning says
    /// why, and they are remembered until the session ends.
    pub(super) fn open(
        history: &Path,
        completer: SessionCompleter,
        color: bool,
    ) -> (Self, Option<Diagnostic>) {
        let mut keys = default_emacs_keybindings();
        let complete = vec![ReedlineEvent::Menu(MENU.into()), ReedlineEvent::MenuNext];
        keys.add_binding(KeyModifiers::NONE, KeyCode::Tab, ReedlineEvent::UntilFound(complete));
        keys.add_binding(KeyModifiers::SHIFT, KeyCode::BackTab, ReedlineEvent::MenuPrevious);
        let menu = ColumnarMenu::default().with_name(MENU).with_columns(1).with_marker("> ");
        let mut editor = Reedline::create()
            .with_completer(Box::new(completer))
            .with_menu(ReedlineMenu::EngineCompleter(Box::new(menu)))
            .with_quick_completions(true)
            .with_partial_completions(true)
            .with_edit_mode(Box::new(Emacs::new(keys)))
            .with_ansi_colors(color)
            .with_hinter(Box::new(DefaultHinter::default()))
            .use_bracketed_paste(true);
        let remembered = make_private(history)
            .map_err(reedline::ReedlineError::from)
            .and_then(|()| FileBackedHistory::with_file(LONGEST_HISTORY, history.to_owned()));
        let warning = match remembered {
            Ok(remembered) => {
                editor = editor.with_history(Box::new(remembered));
                None
            }
            Err(error) => Some(not_remembered(&error, history)),
        };
        (Self { editor, history: history.to_owned(), remembers: warning.is_none() }, warning)
    }

    /// Writes the lines so far to the history, so that they are there however
    /// the session ends. Says once that this can't be.
    pub(super) fn remember(&mut self) -> Option<Diagnostic> {
        if !self.remembers {
            return None;
        }
        let error = self.editor.sync_history().err()?;
        self.remembers = false;
        Some(not_remembered(&error, &self.history))
    }

    /// The next line.
    pub(super) fn read(&mut self) -> Entered {
        match self.editor.read_line(&SlashPrompt) {
            Ok(Signal::Success(line)) => Entered::Line(line),
            Ok(Signal::CtrlD) | Err(_) => Entered::End,
            Ok(_) => Entered::Cancelled,
        }
    }
}

/// While it lives, the terminal shows no `^C` for a Ctrl-C: that would break the
/// line on which a spinner turns, of which the half before it then stays.
pub(super) struct NoMarks {
    #[cfg(unix)]
    before: Option<rustix::termios::Termios>,
}

#[cfg(unix)]
impl NoMarks {
    pub(super) fn begin() -> Self {
        use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
        let before = tcgetattr(io::stdin()).ok();
        if let Some(mut modes) = before.clone() {
            modes.local_modes.remove(LocalModes::ECHOCTL);
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, &modes);
        }
        Self { before }
    }
}

#[cfg(unix)]
impl Drop for NoMarks {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            let _ = rustix::termios::tcsetattr(io::stdin(), rustix::termios::OptionalActions::Now, before);
        }
    }
}

#[cfg(not(unix))]
impl NoMarks {
    pub(super) fn begin() -> Self {
        Self {}
    }
}

fn not_remembered(error: &dyn std::error::Error, history: &Path) -> Diagnostic {
    let message = format!("the lines of this session are not remembered: {error}");
    Diagnostic::new("no-history", message).file(history)
}

/// Makes a file, if it is not there, that only the user can read: what was
/// typed is nobody else's business.
fn make_private(file: &Path) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut options = fs::File::options();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file).map(drop)
}

struct SlashPrompt;

impl Prompt for SlashPrompt {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        Cow::Borrowed("replio")
    }

    fn render_prompt_right(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    fn render_prompt_indicator(&self, _: PromptEditMode) -> Cow<'_, str> {
        Cow::Borrowed("> ")
    }

    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        Cow::Borrowed("... ")
    }

    fn render_prompt_history_search_indicator(&self, search: PromptHistorySearch) -> Cow<'_, str> {
        Cow::Owned(format!(" (search: {}) ", search.term))
    }
}

/// Completes a line with what there is at that moment.
pub(super) struct SessionCompleter {
    pub(super) options: GlobalOptions,
    pub(super) kept: Kept,
    /// The command line, built.
    pub(super) definition: Command,
}

impl Completer for SessionCompleter {
    fn complete(&mut self, line: &str, position: usize) -> CompletionResult {
        let text = line.get(..position).unwrap_or(line);
        // Nothing may be printed while a line is edited.
        let silent = Output { json: true, verbosity: Verbosity::Quiet, ..Output::default() };
        let Ok(app) = self.kept.app(&self.options, silent) else {
            return CompletionResult::fresh(Vec::new());
        };
        let (start, found) = candidates(text, &self.definition, &OfApp(&app));
        self.kept.keep(&app);
        let suggestion = |candidate: Candidate| Suggestion {
            value: quote(&candidate.value),
            display_override: Some(candidate.value),
            description: candidate.about,
            span: Span::new(start, text.len()),
            append_whitespace: candidate.whole,
            ..Suggestion::default()
        };
        // A tag that could steer the terminal is not offered.
        let is_clean = |candidate: &Candidate| {
            clean(&candidate.value) == candidate.value && !candidate.value.contains(['\n', '\t'])
        };
        CompletionResult::fresh(found.into_iter().filter(is_clean).map(suggestion).collect::<Vec<_>>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_in_the_history_before_it_is_done() {
        let temporary = tempfile::tempdir().unwrap();
        let history = temporary.path().join("deeper/history");
        let options = <crate::commands::Cli as clap::Parser>::parse_from(["replio"]).options;
        let completer =
            SessionCompleter { options, kept: Kept::default(), definition: crate::commands::definition() };
        let (mut terminal, warning) = Terminal::open(&history, completer, false);
        assert_eq!(warning, None);
        let mut enter = |line: &str| {
            let line = reedline::HistoryItem::from_command_line(line);
            terminal.editor.history_mut().save(line).unwrap();
            terminal.remember()
        };
        assert_eq!(enter("/type"), None);
        assert_eq!(fs::read_to_string(&history).unwrap(), "/type\n");
        assert_eq!(enter("/skill"), None);
        assert_eq!(fs::read_to_string(&history).unwrap(), "/type\n/skill\n");
        // What can't be remembered any more is said once.
        fs::remove_dir_all(temporary.path()).unwrap();
        fs::write(temporary.path(), "").unwrap();
        assert_eq!(enter("/team").map(|warning| warning.code), Some("no-history"));
        assert_eq!(enter("/team list"), None);
        fs::remove_file(temporary.path()).unwrap();
    }
}
