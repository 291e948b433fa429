//! What a plugin brought, in the short form that is kept in the lock file: for
//! each entry its fields, each as a fingerprint, and permissions in full. From
//! two of these follows what an update changed; from one and a fresh run,
//! whether a plugin brings something else than when it was installed.

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use crate::catalog::{Entry, Kind, Layer, Origin};
use crate::names::EntryName;
use crate::plugins::digest::Digest;

const PERMISSION: &str = "tool_permission";

/// Entries by kind and name, each field as a fingerprint.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Provides {
    types: IndexMap<EntryName, Fields>,
    skills: IndexMap<EntryName, Fields>,
    teams: IndexMap<EntryName, Fields>,
}

/// An entry's fields: fingerprints, and `tool_permission` as it is.
pub type Fields = Map<String, Value>;

impl Provides {
    /// The short form of what these layers hold.
    pub fn of(layers: &[Layer]) -> Self {
        let mut provides = Self::default();
        for layer in layers {
            let entries = provides.of_kind_mut(layer.kind);
            entries.extend(layer.entries.iter().map(|(name, entry)| (name.clone(), fields_of(entry))));
        }
        provides
    }

    /// The entries of one kind.
    pub fn of_kind(&self, kind: Kind) -> &IndexMap<EntryName, Fields> {
        match kind {
            Kind::Type => &self.types,
            Kind::Skill => &self.skills,
            Kind::Team => &self.teams,
        }
    }

    fn of_kind_mut(&mut self, kind: Kind) -> &mut IndexMap<EntryName, Fields> {
        match kind {
            Kind::Type => &mut self.types,
            Kind::Skill => &mut self.skills,
            Kind::Team => &mut self.teams,
        }
    }

    /// Every entry with its kind.
    pub fn entries(&self) -> impl Iterator<Item = (Kind, &EntryName, &Fields)> {
        Kind::ALL
            .into_iter()
            .flat_map(|kind| self.of_kind(kind).iter().map(move |(name, fields)| (kind, name, fields)))
    }

    /// "2 types, 1 skill, 1 team", or "nothing".
    pub fn summary(&self) -> String {
        let counts = Kind::ALL.map(|kind| match self.of_kind(kind).len() {
            0 => None,
            1 => Some(format!("1 {}", kind.singular())),
            count => Some(format!("{count} {}", kind.plural())),
        });
        let counts: Vec<String> = counts.into_iter().flatten().collect();
        if counts.is_empty() { "nothing".into() } else { counts.join(", ") }
    }

    /// The names alone, for scripts.
    pub fn names_json(&self) -> Value {
        let names = |kind| self.of_kind(kind).keys().map(EntryName::as_str).collect::<Vec<_>>();
        json!({ "types": names(Kind::Type), "skills": names(Kind::Skill), "teams": names(Kind::Team) })
    }

    /// What its types say about permissions, as a layer of this origin.
    pub fn permissions(&self, origin: Origin) -> Layer {
        let mut layer = Layer::new(Kind::Type, origin);
        for (name, fields) in &self.types {
            let permission = fields.get(PERMISSION).map(|value| (PERMISSION.to_owned(), value.clone()));
            // What is no permission can't be said of a plugin that runs either.
            if let Ok(entry) = Entry::new(Kind::Type, permission.into_iter().collect()) {
                layer.insert(name.clone(), entry);
            }
        }
        layer
    }

    /// The form in the lock file.
    pub fn to_json(&self) -> Value {
        let mut document = Map::new();
        for kind in Kind::ALL {
            let entries = self.of_kind(kind).iter();
            let entries: Map<String, Value> =
                entries.map(|(name, fields)| (name.to_string(), fields.clone().into())).collect();
            document.insert(kind.plural().into(), entries.into());
        }
        document.into()
    }

    /// Reads the form in the lock file; `None` where it is not of that form.
    pub fn from_json(document: &Value) -> Option<Self> {
        let mut provides = Self::default();
        for kind in Kind::ALL {
            for (name, fields) in document.get(kind.plural())?.as_object()? {
                provides.of_kind_mut(kind).insert(name.parse().ok()?, fields.as_object()?.clone());
            }
        }
        Some(provides)
    }
}

fn fields_of(entry: &Entry) -> Fields {
    let fingerprint = |(field, value): (&str, &Value)| {
        let kept = if field == PERMISSION { value.clone() } else { fingerprint(value).into() };
        (field.to_owned(), kept)
    };
    entry.fields().map(fingerprint).collect()
}

fn fingerprint(value: &Value) -> String {
    let mut text = Digest::of(value.to_string().as_bytes()).to_string();
    text.truncate(16);
    text
}
