//! Edits that a person makes with replio keep a project's types trusted: they
//! are the user's own. What was not trusted before does not become so.

use std::path::Path;

use super::entry_file::EntryFile;
use crate::app::App;
use crate::catalog::{Kind, Layer, Origin, Scope, loosened_types, read_entries_text};
use crate::plugins::trust::Trust;
use crate::project::{digest_of, trusting_file};

/// What an edit may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Edit {
    /// One entry, which can be read: what is wrong elsewhere stays as it is.
    OneEntry,
    /// Anything, so that what could not be read before may come to count.
    Anything,
}

/// A `types.json` of a project in which nothing waited for trust before the
/// edit.
pub(super) struct KeptTrust<'a> {
    app: &'a App,
    path: &'a Path,
    edit: Edit,
}

impl<'a> KeptTrust<'a> {
    /// How the file stood before: `None` where there is no trust to keep.
    pub(super) fn before(app: &'a App, file: &'a EntryFile, text: Option<&str>, edit: Edit) -> Option<Self> {
        if file.kind != Kind::Type || file.scope != Scope::Local || is_global_too(app) {
            return None;
        }
        let kept = Self { app, path: &file.path, edit };
        let is_trusted = |text: &str| {
            let trust = Trust::read(app.places.global());
            trust.is_ok_and(|trust| trust.has_file(&digest_of(text)))
        };
        text.is_none_or(|text| !kept.needs_trust(text) || is_trusted(text)).then_some(kept)
    }

    /// Trusts what the file holds, or is about to hold. That this can't be
    /// written down is no reason not to edit.
    pub(super) fn note(&self, text: &str) {
        if self.needs_trust(text) {
            let change = [trusting_file(self.path, digest_of(text))];
            self.app.warn(Trust::change(self.app.places.global(), &change).err());
        }
    }

    /// Whether it makes anything looser, or may once what is wrong is mended.
    fn needs_trust(&self, text: &str) -> bool {
        let (layer, _) = read_entries_text(Kind::Type, text, Origin::Local, None);
        let below = self.app.stack(Kind::Type).layers().iter();
        let below = below.filter(|layer| layer.origin < Origin::Local);
        (self.edit == Edit::Anything && may_hide_any(&layer)) || !loosened_types(&layer, below).is_empty()
    }
}

/// Whether somebody keeps their global files in this project. Then nothing in
/// it lies below the project's types, and its folder is locked already.
fn is_global_too(app: &App) -> bool {
    let same = |local: std::path::PathBuf| {
        local
            .canonicalize()
            .is_ok_and(|local| app.places.global().canonicalize().is_ok_and(|global| local == global))
    };
    app.places.folder(Scope::Local).is_some_and(same)
}

fn may_hide_any(layer: &Layer) -> bool {
    layer.damaged || !layer.lost.is_empty() || layer.lost_without_name > 0
}
