//! One layer of one kind: the entries that a single origin contributes, and
//! what of it could not be read.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::check::{self, Fault};
use super::{Entry, Kind, Origin, Place};
use crate::diagnostic::Diagnostic;
use crate::names::EntryName;
use indexmap::IndexMap;

/// What one origin says about one kind.
#[derive(Debug, Clone)]
pub struct Layer {
    /// What the entries are.
    pub kind: Kind,
    /// Where they come from.
    pub origin: Origin,
    /// The file or folder, when there is one.
    pub file: Option<PathBuf>,
    /// The entries, in the order of their file.
    pub entries: IndexMap<EntryName, Entry>,
    /// Names of entries that are there and could not be read. Text, since the
    /// name itself may be the fault.
    pub lost: BTreeSet<String>,
    /// How many more were lost that have no name at all.
    pub lost_without_name: usize,
    /// Whether the whole file could not be read.
    pub damaged: bool,
}

impl Layer {
    /// A layer without entries.
    pub fn new(kind: Kind, origin: Origin) -> Self {
        Self {
            kind,
            origin,
            file: None,
            entries: IndexMap::new(),
            lost: BTreeSet::new(),
            lost_without_name: 0,
            damaged: false,
        }
    }

    /// The same layer, from this file or folder.
    #[must_use]
    pub fn with_file(mut self, file: Option<PathBuf>) -> Self {
        self.file = file;
        self
    }

    /// Adds an entry and returns the one of the same name that it replaces.
    pub fn insert(&mut self, name: EntryName, entry: Entry) -> Option<Entry> {
        self.entries.insert(name, entry)
    }

    /// The entry of this name.
    pub fn get(&self, name: &str) -> Option<&Entry> {
        self.entries.get(name)
    }

    /// Counts an entry as lost and says why, with the place of each fault.
    pub(super) fn lose(&mut self, name: Option<&str>, faults: Vec<Fault>, place: &Place) -> Vec<Diagnostic> {
        let kind = self.kind.described();
        let who = if let Some(name) = name {
            self.lost.insert(name.to_owned());
            format!("{kind} {} is left out", check::quote(name))
        } else {
            self.lost_without_name += 1;
            format!("{} is left out", check::article(kind))
        };
        let diagnostic = |fault: Fault| {
            let position = match fault.path.as_slice() {
                [] if fault.on_key => place.position(),
                path => place.locate(path, fault.on_key),
            };
            let mut diagnostic = fault.diagnostic();
            diagnostic.message = format!("{who}: {}", diagnostic.message);
            diagnostic.file = place.file().map(PathBuf::from).or_else(|| self.file.clone());
            diagnostic.plugin = self.origin.plugin().cloned();
            match position {
                Some(position) => diagnostic.at(position.line, position.column),
                None => diagnostic,
            }
        };
        faults.into_iter().map(diagnostic).collect()
    }
}
