//! A finding about a file, an entry or a plugin: what happened, where, and
//! what to type next. Warnings on stderr, `"warnings"` in JSON documents and
//! most errors are values of this one type.

use std::path::PathBuf;

use serde::Serialize;

use crate::names::PluginName;

/// One finding. Built with [`Diagnostic::new`] and refined by its methods.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Diagnostic {
    /// A stable word for scripts, such as `unknown-permission`.
    pub code: &'static str,
    /// What happened, as a lower-case fragment or sentence without the place.
    pub message: String,
    /// What to do or type next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// The file it was found in.
    pub file: Option<PathBuf>,
    /// Line in that file, from 1.
    pub line: Option<usize>,
    /// Column in that line, from 1, in characters.
    pub column: Option<usize>,
    /// The plugin it is about, when it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plugin: Option<PluginName>,
}

impl Diagnostic {
    /// A finding without a place.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), help: None, file: None, line: None, column: None, plugin: None }
    }

    /// Adds what to do next.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds the file.
    #[must_use]
    pub fn file(mut self, file: impl Into<PathBuf>) -> Self {
        self.file = Some(file.into());
        self
    }

    /// Adds the position in the file, both from 1.
    #[must_use]
    pub fn at(mut self, line: usize, column: usize) -> Self {
        (self.line, self.column) = (Some(line), Some(column));
        self
    }

    /// Adds the plugin.
    #[must_use]
    pub fn plugin(mut self, plugin: PluginName) -> Self {
        self.plugin = Some(plugin);
        self
    }
}
