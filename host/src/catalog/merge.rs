//! Layers on top of each other. Pure: it is handed layers and reads no file.
//! Each question looks only at the names that it is about.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use super::{Entry, Kind, Layer, Origin, Reference, Resolved, Scope};
use crate::diagnostic::Diagnostic;
use crate::names::{EntryName, PluginName, nearest};

/// All layers of one kind, the lowest first: bundled, plugins in the order of
/// their names, global, local.
#[derive(Debug, Clone)]
pub struct Stack {
    kind: Kind,
    layers: Vec<Layer>,
}

/// A name that no layer has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no {} {}", .kind.described(), super::check::quote(.name))]
pub struct Unknown {
    /// What was looked for.
    pub kind: Kind,
    /// The name as it was given.
    pub name: String,
    /// The name that was probably meant.
    pub nearest: Option<String>,
    /// Whether a layer has an entry of this name that could not be read.
    pub lost: bool,
}

impl Unknown {
    /// The same as a diagnostic, with the nearest name as help.
    pub fn diagnostic(&self) -> Diagnostic {
        let code = match self.kind {
            Kind::Type => "unknown-type",
            Kind::Skill => "unknown-skill",
            Kind::Team => "unknown-team",
        };
        let diagnostic = Diagnostic::new(code, self.to_string());
        match &self.nearest {
            _ if self.lost => diagnostic.help("an entry of this name is there, but could not be read"),
            Some(nearest) => diagnostic.help(format!("did you mean `{nearest}`?")),
            None => diagnostic,
        }
    }
}

impl Stack {
    /// Puts layers in their order. Layers of another kind are left out.
    pub fn new(kind: Kind, layers: impl IntoIterator<Item = Layer>) -> Self {
        let mut layers: Vec<Layer> = layers.into_iter().filter(|layer| layer.kind == kind).collect();
        layers.sort_by(|left, right| left.origin.cmp(&right.origin));
        Self { kind, layers }
    }

    /// What the entries are.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The layers, the lowest first.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// The layer of this origin.
    pub fn layer(&self, origin: &Origin) -> Option<&Layer> {
        self.layers.iter().find(|layer| layer.origin == *origin)
    }

    /// Whether a whole file could not be read, so that anything may be missing.
    pub fn is_damaged(&self) -> bool {
        self.damaged().next().is_some()
    }

    /// The layers that could not be read at all.
    pub fn damaged(&self) -> impl Iterator<Item = &Layer> {
        self.layers.iter().filter(|layer| layer.damaged)
    }

    /// The layers whose entry of this name, which may be qualified, could not
    /// be read. What such an entry denied is not known, so the name must not
    /// run while there is one.
    pub fn lost(&self, name: &str) -> Vec<&Layer> {
        let (plugin, name) = match name.split_once('/') {
            Some((plugin, name)) => (Some(plugin), name),
            None => (None, name),
        };
        let concerned = |layer: &&Layer| match plugin {
            None => true,
            Some(plugin) => match &layer.origin {
                Origin::Bundled => true,
                Origin::Plugin { name, .. } => name.as_str() == plugin,
                _ => false,
            },
        };
        self.layers.iter().filter(concerned).filter(|layer| layer.lost.contains(name)).collect()
    }

    /// The names of all entries, sorted, each once.
    pub fn names(&self) -> Vec<&EntryName> {
        let all: HashSet<&EntryName> = self.layers.iter().flat_map(|layer| layer.entries.keys()).collect();
        let mut names: Vec<&EntryName> = all.into_iter().collect();
        names.sort_unstable();
        names
    }

    /// The entry of this name, which may be qualified: `plugin/name` is the
    /// bundled entry, if there is one, with that plugin's alone on top.
    ///
    /// # Errors
    /// No layer has it; the error knows the nearest name that exists.
    pub fn resolve(&self, name: &str) -> Result<Resolved<'_>, Unknown> {
        self.get(name).ok_or_else(|| self.unknown(name))
    }

    /// The same, where it doesn't matter what else there is.
    pub fn get(&self, name: &str) -> Option<Resolved<'_>> {
        let reference: Reference = name.parse().ok()?;
        let entry = reference.name.as_str();
        let Some(plugin) = &reference.plugin else {
            let found = without_collisions(self.contributions(entry).collect());
            let (name, _) = found.first()?.0.entries.get_key_value(entry)?;
            return Some(Resolved::new(self.kind, Cow::Borrowed(name.as_str()), found));
        };
        let own = |layer: &&Layer| layer.origin.plugin() == Some(plugin) && layer.get(entry).is_some();
        let owner = &self.layers.iter().rfind(own)?.origin;
        let concerned = |origin: &Origin| *origin == Origin::Bundled || origin == owner;
        let found = self.contributions(entry).filter(|(layer, _)| concerned(&layer.origin)).collect();
        Some(Resolved::new(self.kind, Cow::Owned(reference.to_string()), found))
    }

    /// Every entry, in the order of the names.
    pub fn all(&self) -> Vec<Resolved<'_>> {
        let mut all: Vec<(&str, Vec<Contribution<'_>>)> = Vec::new();
        let mut places: HashMap<&str, usize> = HashMap::new();
        for (depth, layer) in self.layers.iter().enumerate() {
            places.reserve(layer.entries.len().saturating_sub(places.len()));
            for (name, entry) in &layer.entries {
                let place = *places.entry(name.as_str()).or_insert(all.len());
                if place == all.len() {
                    all.push((name.as_str(), Vec::with_capacity(self.layers.len() - depth)));
                }
                all[place].1.push((layer, entry));
            }
        }
        all.sort_unstable_by_key(|(name, _)| *name);
        let resolved =
            |(name, found)| Resolved::new(self.kind, Cow::Borrowed(name), without_collisions(found));
        all.into_iter().map(resolved).collect()
    }

    /// What is to be said about plugins that define the same name, one
    /// diagnostic for each plugin whose entry is left out.
    pub fn collisions(&self) -> Vec<Diagnostic> {
        let plugins = self.layers.iter().filter(|layer| layer.origin.plugin().is_some());
        if plugins.clone().count() < 2 {
            return Vec::new();
        }
        let mut owners: BTreeMap<&EntryName, usize> = BTreeMap::new();
        for name in plugins.flat_map(|layer| layer.entries.keys()) {
            *owners.entry(name).or_default() += 1;
        }
        owners
            .into_iter()
            .filter(|(_, owners)| *owners > 1)
            .flat_map(|(name, _)| {
                let found: Vec<Contribution<'_>> = self.contributions(name.as_str()).collect();
                let winner = collision(&found).map(|winner| found[winner].0);
                let losers = found.into_iter().filter_map(move |(layer, _)| {
                    let (winner, loser) = (winner?.origin.plugin()?, layer.origin.plugin()?);
                    (winner != loser).then_some((winner, loser))
                });
                losers
                    .map(|(winner, loser)| self.collision_diagnostic(name, winner, loser))
                    .collect::<Vec<_>>()
            })
            .collect()
    }

    fn collision_diagnostic(&self, name: &EntryName, winner: &PluginName, loser: &PluginName) -> Diagnostic {
        let kind = self.kind.described();
        let message = format!(
            "the plugins `{winner}` and `{loser}` both define the {kind} `{name}`; `{winner}`'s is used"
        );
        Diagnostic::new("plugin-collision", message)
            .help(format!("use `{loser}/{name}` for the other, or disable one of the plugins"))
            .plugin(loser.clone())
    }

    fn contributions<'s>(&'s self, name: &str) -> impl Iterator<Item = Contribution<'s>> {
        self.layers.iter().filter_map(move |layer| Some((layer, layer.get(name)?)))
    }

    fn unknown(&self, name: &str) -> Unknown {
        let nearest = if name.contains('/') {
            let qualified: Vec<String> = self
                .layers
                .iter()
                .filter_map(|layer| Some((layer.origin.plugin()?, layer)))
                .flat_map(|(plugin, layer)| layer.entries.keys().map(move |name| format!("{plugin}/{name}")))
                .collect();
            nearest(name, qualified.iter().map(String::as_str)).map(str::to_owned)
        } else {
            nearest(name, self.names().into_iter().map(EntryName::as_str)).map(str::to_owned)
        };
        Unknown { kind: self.kind, name: name.to_owned(), nearest, lost: !self.lost(name).is_empty() }
    }
}

/// What one layer says about one name.
pub(super) type Contribution<'s> = (&'s Layer, &'s Entry);

/// Leaves out what loses a collision.
pub(super) fn without_collisions(mut found: Vec<Contribution<'_>>) -> Vec<Contribution<'_>> {
    if let Some(winner) = collision(&found) {
        let winner = found[winner].0.origin.clone();
        found.retain(|(layer, _)| layer.origin.plugin().is_none() || layer.origin == winner);
    }
    found
}

/// Where several plugins define a name that isn't bundled: the index of the
/// one that wins. One in the project beats one of the user; else the name decides.
fn collision(found: &[Contribution<'_>]) -> Option<usize> {
    if found.iter().any(|(layer, _)| layer.origin == Origin::Bundled) {
        return None;
    }
    let plugins = || {
        found.iter().enumerate().filter_map(|(index, (layer, _))| match &layer.origin {
            Origin::Plugin { scope, .. } => Some((index, *scope)),
            _ => None,
        })
    };
    if plugins().count() < 2 {
        return None;
    }
    plugins().find(|(_, scope)| *scope == Scope::Local).or_else(|| plugins().next()).map(|(index, _)| index)
}
