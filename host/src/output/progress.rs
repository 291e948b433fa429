//! A sign of life on stderr while something slow goes on.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use super::clean_line;

/// Shows what goes on until it is dropped: a spinner on a terminal, one line
/// elsewhere, nothing where nothing is wanted.
#[derive(Debug)]
pub struct Progress {
    spinner: Option<ProgressBar>,
}

impl Progress {
    pub(super) fn start(what: &str, wanted: bool) -> Self {
        let what = clean_line(what);
        if !wanted {
            return Self { spinner: None };
        }
        if !std::io::stderr().is_terminal() {
            let _ = super::print(&mut std::io::stderr().lock(), &format!("{what}\n"));
            return Self { spinner: None };
        }
        let spinner = ProgressBar::new_spinner().with_message(what);
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed:.dim}") {
            spinner.set_style(style);
        }
        spinner.enable_steady_tick(Duration::from_millis(100));
        Self { spinner: Some(spinner) }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(spinner) = self.spinner.take() {
            spinner.finish_and_clear();
        }
    }
}
