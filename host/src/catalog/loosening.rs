//! Which types of a layer may do more than the layers below allow them. Looks
//! only at entries that say something about permissions and exist below, so
//! that a catalog of ten thousand types costs no more to list.

use super::merge::{Contribution, without_collisions};
use super::{Action, Category, Layer, Loosened, Place};
use crate::catalog::entry::Said;
use crate::names::EntryName;

/// A type that a layer makes less strict.
#[derive(Debug, Clone)]
pub struct LoosenedType {
    /// Its name.
    pub name: EntryName,
    /// What it may do more of; never empty.
    pub loosened: Vec<Loosened>,
    /// Where the layer says so.
    pub place: Place,
}

/// The types for which `layer`, on top of the layers `below` in their order,
/// allows more than those do without it. One that is not there below is a new
/// type, and makes nothing looser.
pub fn loosened_types<'l>(layer: &Layer, below: impl IntoIterator<Item = &'l Layer>) -> Vec<LoosenedType> {
    let below: Vec<&Layer> = below.into_iter().filter(|below| below.kind == layer.kind).collect();
    let mut types = Vec::new();
    for (name, entry) in &layer.entries {
        if !entry.permission().says_anything() {
            continue;
        }
        let found = below.iter().filter_map(|below| Some((*below, below.get(name.as_str())?)));
        let mut found = without_collisions(found.collect());
        if found.is_empty() {
            continue;
        }
        let before = Category::ALL.map(|category| action(&found, category));
        found.push((layer, entry));
        let loosened: Vec<Loosened> = Category::ALL
            .into_iter()
            .map(|category| Loosened {
                category,
                before: before[category as usize],
                after: action(&found, category),
            })
            .filter(|change| change.after < change.before)
            .collect();
        if !loosened.is_empty() {
            types.push(LoosenedType { name: name.clone(), loosened, place: entry.place().clone() });
        }
    }
    types
}

/// What holds for a category; the default where nobody sets it.
fn action(found: &[Contribution<'_>], category: Category) -> Action {
    let said = found.iter().rev().map(|(_, entry)| entry.permission().says(category));
    match said.into_iter().find(|said| *said != Said::Nothing) {
        Some(Said::Action(action)) => action,
        _ => category.default_action(),
    }
}
