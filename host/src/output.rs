//! What people and scripts see: text for a terminal or a pipe, one JSON
//! document for a script, warnings and errors on stderr. All text that came
//! from outside passes through [`clean`] before it gets here.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use serde_json::{Map, Value};
use unicode_width::UnicodeWidthStr;

use crate::diagnostic::Diagnostic;

mod page;
mod progress;
mod question;

pub use page::{Cell, Page};
pub use progress::Progress;

/// For the names of entries and plugins.
pub const NAME: Style = Style::new().bold();
/// For what matters less.
pub const DIM: Style = Style::new().dimmed();
/// For what is as it should be.
pub const GOOD: Style = AnsiColor::Green.on_default();
/// For what deserves a look.
pub const CAUTION: Style = AnsiColor::Yellow.on_default();
/// For what is broken.
pub const BAD: Style = AnsiColor::Red.on_default();
/// For what an entry comes from.
pub const ORIGIN: Style = AnsiColor::Cyan.on_default();

/// What a command has to say.
pub trait Answer {
    /// For scripts.
    fn json(&self) -> Value;
    /// For people.
    fn text(&self, page: &mut Page);
    /// What of it could not be done, where the rest could. In JSON this is
    /// part of the document.
    fn failures(&self) -> Vec<&Diagnostic> {
        Vec::new()
    }
}

/// How much is said beside the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Verbosity {
    /// Errors only.
    Quiet,
    /// Warnings and progress too.
    #[default]
    Normal,
    /// What plugins print, and what lies behind an error.
    Verbose,
}

/// Where a command's words go.
#[derive(Debug, Clone, Copy, Default)]
pub struct Output {
    /// One JSON document on stdout and nothing else.
    pub json: bool,
    /// It is a line of a session that is answered: a document is on one line,
    /// and commands to type begin with a slash.
    pub in_session: bool,
    /// How much is said on stderr.
    pub verbosity: Verbosity,
}

impl Output {
    /// Prints an answer with the warnings that came up on the way.
    ///
    /// # Errors
    /// When it can't be written, other than to a reader that has gone away, as
    /// `head` does.
    pub fn answer(self, answer: &dyn Answer, warnings: &[Diagnostic]) -> io::Result<()> {
        if self.json {
            return self.print_json(answer.json(), warnings);
        }
        let mut page = Page::for_stdout();
        answer.text(&mut page);
        let written = print(&mut anstream::stdout().lock(), page.text());
        self.warnings(warnings);
        for failure in answer.failures() {
            say(&self.rendered("error", BAD, failure));
        }
        written
    }

    /// Prints why there is no answer.
    pub fn failure(self, failure: &Diagnostic, warnings: &[Diagnostic]) {
        if self.json {
            let mut error = Map::new();
            error.insert("code".into(), failure.code.into());
            error.insert("message".into(), failure.message.clone().into());
            error.insert("help".into(), failure.help.clone().into());
            for (key, value) in [
                ("file", failure.file.as_ref().map(|file| file.display().to_string().into())),
                ("line", failure.line.map(Value::from)),
                ("column", failure.column.map(Value::from)),
                ("plugin", failure.plugin.as_ref().map(|plugin| plugin.as_str().into())),
            ] {
                if let Some(value) = value {
                    error.insert(key.into(), value);
                }
            }
            let document = Value::Object(Map::from_iter([("error".to_owned(), error.into())]));
            // The exit code tells already that something went wrong.
            let _ = self.print_json(document, warnings);
            return;
        }
        self.warnings(warnings);
        say(&self.rendered("error", BAD, failure));
    }

    /// Prints warnings, unless they are not wanted.
    pub fn warnings(self, warnings: &[Diagnostic]) {
        if self.verbosity == Verbosity::Quiet || self.json {
            return;
        }
        let mut text = String::new();
        for warning in warnings {
            text.push_str(&self.rendered("warning", CAUTION, warning));
        }
        say(&text);
    }

    fn rendered(self, word: &str, style: Style, diagnostic: &Diagnostic) -> String {
        let size = terminal_size::terminal_size_of(io::stderr());
        let width = size.map(|(width, _)| usize::from(width.0).max(20));
        match &diagnostic.help {
            Some(help) if self.in_session => {
                let help = help.replace("`replio ", "`/");
                rendered(word, style, &Diagnostic { help: Some(help), ..diagnostic.clone() }, width)
            }
            _ => rendered(word, style, diagnostic, width),
        }
    }

    /// Prints a line about what a plugin said or what lies behind an error,
    /// where that is wanted.
    pub fn detail(self, text: &str) {
        if self.verbosity == Verbosity::Verbose && !self.json {
            for line in text.lines() {
                say(&format!("{DIM}{}{DIM:#}\n", clean(line)));
            }
        }
    }

    /// Shows, on a terminal alone, that something may take a moment.
    pub fn slow_progress(self, what: &str) -> Progress {
        let is_terminal = io::IsTerminal::is_terminal(&io::stderr());
        Progress::start(what, is_terminal && self.verbosity >= Verbosity::Normal && !self.json)
    }

    fn print_json(self, mut document: Value, warnings: &[Diagnostic]) -> io::Result<()> {
        if let (false, Some(document)) = (warnings.is_empty(), document.as_object_mut()) {
            let warnings = warnings.iter().map(warning_json).collect::<Vec<_>>();
            document.insert("warnings".into(), warnings.into());
        }
        let text = if self.in_session { format!("{document}\n") } else { format!("{document:#}\n") };
        print(&mut io::stdout().lock(), &clean_json(&text))
    }

    /// Shows that something slow goes on.
    pub fn progress(self, what: &str) -> Progress {
        Progress::start(what, self.verbosity >= Verbosity::Normal && !self.json)
    }
}

/// Writes to stderr. Where that can't be written to, nobody can be told.
fn say(text: &str) {
    let _ = print(&mut anstream::stderr().lock(), text);
}

fn warning_json(warning: &Diagnostic) -> Value {
    serde_json::to_value(warning).unwrap_or_else(|_| warning.message.clone().into())
}

/// A diagnostic in the form that people read, on a terminal of this width.
fn rendered(word: &str, style: Style, diagnostic: &Diagnostic, width: Option<usize>) -> String {
    // Only the first line is ours to begin: others may hold what a plugin said,
    // and must not pass for a line of replio's.
    let message = clean(&diagnostic.message);
    let mut lines = message.lines();
    let first = folded(lines.next().unwrap_or_default(), word.len() + 2, 2, width);
    let mut text = format!("{style}{word}{style:#}: {first}\n");
    for line in lines {
        let _ = writeln!(text, "  {DIM}|{DIM:#} {}", folded(line, 4, 4, width));
    }
    if let Some(file) = &diagnostic.file {
        let file = file.display().to_string();
        let _ = write!(text, "  {DIM}-->{DIM:#} {}", clean_line(&file));
        if let (Some(line), Some(column)) = (diagnostic.line, diagnostic.column) {
            let _ = write!(text, ":{line}:{column}");
        }
        text.push('\n');
    }
    if let Some(help) = &diagnostic.help {
        let indent = "  help: ".len();
        let _ = writeln!(text, "  {GOOD}help{GOOD:#}: {}", folded(&clean(help), indent, indent, width));
    }
    text
}

/// Text broken between words to fit the width: its first line begins after
/// `first` columns, and the others are indented.
fn folded(text: &str, first: usize, indent: usize, width: Option<usize>) -> String {
    let Some(width) = width else { return text.to_owned() };
    let mut folded = String::new();
    for word in text.split_inclusive(' ') {
        let column = match folded.rsplit_once('\n') {
            Some((_, line)) => line.width(),
            None => first + folded.width(),
        };
        if column + word.trim_end().width() > width && !folded.trim_end_matches(' ').is_empty() {
            folded.truncate(folded.trim_end_matches(' ').len());
            folded.push('\n');
            folded.extend(std::iter::repeat_n(' ', indent));
        }
        folded.push_str(word);
    }
    folded
}

/// Writes text out. A reader that has gone away is no error.
fn print(to: &mut impl Write, text: &str) -> io::Result<()> {
    match to.write_all(text.as_bytes()).and_then(|()| to.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// Text from outside, with everything escaped that could move a terminal's
/// cursor, change its colours or reverse its writing. Line breaks and tabs stay.
///
/// ```
/// assert_eq!(replio::output::clean("a\u{1b}[31mb\n"), "a\\u{1b}[31mb\n");
/// ```
pub fn clean(text: &str) -> Cow<'_, str> {
    if !text.chars().any(must_be_escaped) {
        return Cow::Borrowed(text);
    }
    let mut cleaned = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if must_be_escaped(character) {
            cleaned.extend(character.escape_unicode());
        } else {
            cleaned.push(character);
        }
    }
    Cow::Owned(cleaned)
}

/// The same, in one line: each run of white space becomes one space.
pub fn clean_line(text: &str) -> String {
    clean(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The same of a JSON text: what JSON leaves as it stands and a terminal obeys
/// is written as JSON escapes it, which means the same.
fn clean_json(text: &str) -> Cow<'_, str> {
    if !text.chars().any(must_be_escaped) {
        return Cow::Borrowed(text);
    }
    let mut cleaned = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if must_be_escaped(character) {
            // All of them are written with four digits.
            let _ = write!(cleaned, "\\u{:04x}", u32::from(character));
        } else {
            cleaned.push(character);
        }
    }
    Cow::Owned(cleaned)
}

fn must_be_escaped(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        // Marks that change the direction of writing, and separators that some
        // terminals take for line breaks.
        '\u{200e}'
        | '\u{200f}'
        | '\u{061c}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}'
        | '\u{feff}' => true,
        other => other.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_means_the_same_and_steers_no_terminal() {
        let text = serde_json::json!({ "a\u{9b}": "\u{7f}\u{202e}\n\u{1b}\u{feff} ä 🦀" });
        let printed = clean_json(&text.to_string()).into_owned();
        assert!(
            !printed.chars().any(|character| must_be_escaped(character) || character == '\n'),
            "{printed}"
        );
        assert_eq!(serde_json::from_str::<serde_json::Value>(&printed).unwrap(), text);
    }

    #[test]
    fn nothing_from_outside_can_steer_the_terminal() {
        assert_eq!(clean("plain ä\n\ttext"), "plain ä\n\ttext");
        assert_eq!(clean("\u{7}\r\u{9b}2J\u{202e}"), "\\u{7}\\u{d}\\u{9b}2J\\u{202e}");
        assert_eq!(clean_line("  a\n\n b\t\u{1b}c "), "a b \\u{1b}c");
    }

    #[test]
    fn a_diagnostic_says_what_where_and_what_next() {
        let diagnostic = Diagnostic::new("x", "bad \u{1b} thing").file("a.json").at(3, 7).help("mend it");
        let plain =
            anstream::adapter::strip_str(&rendered("warning", CAUTION, &diagnostic, None)).to_string();
        assert_eq!(plain, "warning: bad \\u{1b} thing\n  --> a.json:3:7\n  help: mend it\n");
    }

    #[test]
    fn a_diagnostic_is_folded_between_words_on_a_terminal() {
        assert_eq!(folded("one two three", 7, 2, Some(14)), "one two\n  three");
        assert_eq!(folded("overlongwordindeed two", 7, 2, Some(14)), "overlongwordindeed\n  two");
        assert_eq!(folded("one two three", 7, 2, None), "one two three");
    }
}
