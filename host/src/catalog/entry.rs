//! One entry as its layer has it: the fields that were set and no others, in a
//! form that is quick to merge.

use serde_json::{Map, Value};

use super::check;
use super::{Action, Category, Kind, Place};
use crate::diagnostic::Diagnostic;

/// No kind has more fields.
const MOST_FIELDS: usize = 5;
const ABSENT: u8 = u8::MAX;

/// One entry of a layer. Each field is known and of the right shape, and
/// `null` stands for "reset this to its default".
#[derive(Debug, Clone)]
pub struct Entry {
    kind: Kind,
    /// Where in `values` each field is, in the order of [`Kind::fields`].
    places: [u8; MOST_FIELDS],
    values: Box<[Value]>,
    permission: Permission,
    place: Place,
}

/// What an entry says about `tool_permission`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Permission {
    /// Nothing at all, or `null`: everything below is reset.
    Whole(Said),
    /// Something about each category.
    Each([Said; Category::ALL.len()]),
}

/// What an entry says about one category.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said {
    /// Nothing: what lies below holds.
    Nothing,
    /// What lies below is reset.
    Reset,
    /// This.
    Action(Action),
}

impl Entry {
    /// An entry of these fields. Unknown ones, `name` and keys that begin
    /// with `$` are dropped.
    ///
    /// # Errors
    /// The first field that has the wrong shape.
    pub fn new(kind: Kind, fields: Map<String, Value>) -> Result<Self, Diagnostic> {
        let checked = check::entry(kind, fields);
        match checked.faults.into_iter().next() {
            Some(fault) => Err(fault.diagnostic()),
            None => Ok(Self::from_checked(kind, checked.fields, Place::nowhere())),
        }
    }

    /// An entry of fields that passed the check.
    pub(super) fn from_checked(kind: Kind, fields: Map<String, Value>, place: Place) -> Self {
        let mut places = [ABSENT; MOST_FIELDS];
        let mut values = Vec::with_capacity(fields.len());
        let mut permission = Permission::Whole(Said::Nothing);
        for (name, value) in fields {
            let Some(index) = field_index(kind, &name) else { continue };
            if name == "tool_permission" {
                permission = Permission::of(&value);
            }
            #[allow(clippy::cast_possible_truncation, reason = "there are at most five")]
            {
                places[index] = values.len() as u8;
            }
            values.push(value);
        }
        Self { kind, places, values: values.into_boxed_slice(), permission, place }
    }

    /// The value of a field; `None` where the entry doesn't set it.
    pub fn get(&self, field: &str) -> Option<&Value> {
        self.at(field_index(self.kind, field)?)
    }

    /// The value of the field with this index in [`Kind::fields`].
    pub(super) fn at(&self, index: usize) -> Option<&Value> {
        self.values.get(usize::from(self.places[index]))
    }

    /// The fields that are set, in the order of [`Kind::fields`].
    pub fn fields(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        self.kind.fields().iter().enumerate().filter_map(|(index, name)| Some((*name, self.at(index)?)))
    }

    /// The fields that are set as a JSON object.
    pub fn to_json(&self) -> Map<String, Value> {
        self.fields().map(|(name, value)| (name.to_owned(), value.clone())).collect()
    }

    /// Sets `tool_permission` to exactly this. An action that is none counts
    /// as a denial.
    pub fn replace_permissions(&mut self, permissions: Map<String, Value>) {
        let mut fields = self.to_json();
        fields.insert("tool_permission".to_owned(), Value::Object(permissions));
        *self = Self::from_checked(self.kind, fields, self.place.clone());
    }

    pub(super) fn permission(&self) -> Permission {
        self.permission
    }

    /// Where it was read.
    pub fn place(&self) -> &Place {
        &self.place
    }
}

/// Two entries are the same if they say the same, wherever they stand.
impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind && self.fields().eq(other.fields())
    }
}

impl Permission {
    fn of(value: &Value) -> Self {
        let Value::Object(map) = value else { return Self::Whole(Said::Reset) };
        Self::Each(Category::ALL.map(|category| match map.get(category.word()) {
            None => Said::Nothing,
            Some(Value::Null) => Said::Reset,
            Some(action) => {
                Said::Action(action.as_str().and_then(|word| word.parse().ok()).unwrap_or(Action::Deny))
            }
        }))
    }

    /// What it says about one category.
    pub(super) fn says(self, category: Category) -> Said {
        match self {
            Self::Whole(said) => said,
            Self::Each(each) => each[category as usize],
        }
    }

    /// Whether it says anything at all.
    pub(super) fn says_anything(self) -> bool {
        self != Self::Whole(Said::Nothing)
    }

    /// Whether it names this category.
    pub(super) fn names(self, category: Category) -> bool {
        matches!(self, Self::Each(each) if each[category as usize] != Said::Nothing)
    }
}

pub(super) fn field_index(kind: Kind, name: &str) -> Option<usize> {
    kind.fields().iter().position(|field| *field == name)
}
