//! One entry, merged: what each field is, which layer it comes from, and what
//! that hides. Everything is borrowed from the layers and found on demand.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;

use super::entry::{Said, field_index};
use super::merge::Contribution;
use super::{Action, Category, Entry, Kind, Layer, Origin};
use crate::names::PluginName;

/// An entry of the catalog with all layers that contribute to it.
#[derive(Debug, Clone)]
pub struct Resolved<'s> {
    kind: Kind,
    name: Cow<'s, str>,
    /// The lowest first; never empty.
    found: Vec<Contribution<'s>>,
}

/// One merged field, or one category of `tool_permission`.
#[derive(Debug, Clone, PartialEq)]
pub struct Field<'s, V> {
    /// The field's name, or the category's word.
    pub name: &'static str,
    /// The value that counts; `None` where it is the default.
    pub value: Option<V>,
    /// The layer that decides: the highest that sets the field. With a `value`
    /// of `None` it is the one that reset it, and `None` if nobody sets it.
    pub origin: Option<&'s Origin>,
    /// What lower layers set, the nearest first.
    pub hidden: Vec<Hidden<'s, V>>,
}

/// What a lower layer says and a higher one overrides.
#[derive(Debug, Clone, PartialEq)]
pub struct Hidden<'s, V> {
    /// The value; `None` where that layer resets it.
    pub value: Option<V>,
    /// The layer that sets it.
    pub origin: &'s Origin,
}

impl<'s> Resolved<'s> {
    pub(super) fn new(kind: Kind, name: Cow<'s, str>, found: Vec<Contribution<'s>>) -> Self {
        Self { kind, name, found }
    }

    /// What it is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The name, qualified if it was asked for so.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// `bundled`, `plugin`, `global` or `local` where one layer has the entry,
    /// else `merged`.
    pub fn origin(&self) -> &'static str {
        match self.found.as_slice() {
            [(layer, _)] => layer.origin.layer(),
            _ => "merged",
        }
    }

    /// What contributes, the lowest first.
    pub fn contributions(&self) -> impl DoubleEndedIterator<Item = (&'s Layer, &'s Entry)> {
        self.found.iter().copied()
    }

    /// Where it comes from, the lowest first; each plugin is one of its own.
    pub fn origins(&self) -> impl DoubleEndedIterator<Item = &'s Origin> {
        self.found.iter().map(|(layer, _)| &layer.origin)
    }

    /// The words of the layers, the lowest first, each once.
    pub fn layers(&self) -> Vec<&'static str> {
        let mut words: Vec<&str> = self.found.iter().map(|(layer, _)| layer.origin.layer()).collect();
        words.dedup();
        words
    }

    /// The last plugin that contributes.
    pub fn plugin(&self) -> Option<&'s PluginName> {
        self.found.iter().rev().find_map(|(layer, _)| layer.origin.plugin())
    }

    /// Whether nothing says what the entry does: no layer gives a type its
    /// prompt, a skill its content, a team its stages. So it is when a file
    /// overrode a plugin's entry and the plugin is gone.
    pub fn is_hollow(&self) -> bool {
        let field = match self.kind {
            Kind::Type => "system_prompt",
            Kind::Skill => "content",
            Kind::Team => "stages",
        };
        self.value(field).is_none()
    }

    /// The value of a field after merging; `None` where it is the default. For
    /// `tool_permission` see [`permission`](Self::permission).
    pub fn value(&self, field: &str) -> Option<&'s Value> {
        let index = field_index(self.kind, field)?;
        let highest = self.found.iter().rev().find_map(|(_, entry)| entry.at(index));
        highest.filter(|value| !value.is_null())
    }

    /// All fields but `tool_permission`, whose categories merge one by one.
    pub fn fields(&self) -> Vec<Field<'s, &'s Value>> {
        let all = self.kind.fields().iter().enumerate();
        all.filter(|(_, name)| **name != "tool_permission")
            .map(|(index, name)| self.field(index, name))
            .collect()
    }

    fn field(&self, index: usize, name: &'static str) -> Field<'s, &'s Value> {
        let says = self.found.iter().rev().filter_map(|(layer, entry)| {
            let value = entry.at(index)?;
            Some((Some(value).filter(|value| !value.is_null()), &layer.origin))
        });
        Field::of(name, says)
    }

    /// Every category of `tool_permission` that any layer names.
    pub fn categories(&self) -> Vec<Field<'s, Action>> {
        Category::ALL.into_iter().filter_map(|category| self.category(category)).collect()
    }

    fn category(&self, category: Category) -> Option<Field<'s, Action>> {
        // A reset of the whole map says nothing of a category that nobody below names.
        let lowest = self.found.iter().position(|(_, entry)| entry.permission().names(category))?;
        let says = self.found[lowest..].iter().rev().filter_map(|(layer, entry)| {
            let action = match entry.permission().says(category) {
                Said::Nothing => return None,
                Said::Reset => None,
                Said::Action(action) => Some(action),
            };
            Some((action, &layer.origin))
        });
        Some(Field::of(category.word(), says))
    }

    /// The merged `tool_permission`: only the categories that are set.
    pub fn permission(&self) -> BTreeMap<Category, Action> {
        let merged = Category::ALL.into_iter().filter_map(|category| {
            let said = self.found.iter().rev().map(|(_, entry)| entry.permission().says(category));
            match said.into_iter().find(|said| *said != Said::Nothing)? {
                Said::Action(action) => Some((category, action)),
                _ => None,
            }
        });
        merged.collect()
    }
}

impl<'s, V> Field<'s, V> {
    fn of(name: &'static str, mut says: impl Iterator<Item = (Option<V>, &'s Origin)>) -> Self {
        let Some((value, origin)) = says.next() else {
            return Self { name, value: None, origin: None, hidden: Vec::new() };
        };
        let hidden = says.map(|(value, origin)| Hidden { value, origin }).collect();
        Self { name, value, origin: Some(origin), hidden }
    }
}
