//! Files and texts to layers. Nothing is silent: what can't be read is left
//! out, and a diagnostic says where it stands and why.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use super::bounded;
use super::check::{self, Checked, Fault, Ignored, is_metadata, quote};
use super::parse;
use super::position::{Place, Source, position_of};
use super::scan::{self, Step};
use super::{Entry, Kind, Layer, Origin};
use crate::diagnostic::Diagnostic;
use crate::names::EntryName;

const BUNDLED_TYPES: &str = include_str!("../../../bundled/types.json");
const BUNDLED_TEAMS: &str = include_str!("../../../bundled/teams.json");

/// How many diagnostics of one file are told one by one.
const MOST_DIAGNOSTICS: usize = 1000;

/// The layer that is compiled in. There are no bundled skills.
pub fn read_bundled(kind: Kind) -> Layer {
    let text = match kind {
        Kind::Type => BUNDLED_TYPES,
        Kind::Team => BUNDLED_TEAMS,
        Kind::Skill => return Layer::new(kind, Origin::Bundled),
    };
    let (layer, faults) = read_entries_text(kind, text, Origin::Bundled, None);
    debug_assert!(faults.is_empty(), "the bundled catalog has faults: {faults:?}");
    layer
}

/// Reads a `types.json` or `teams.json`. A file that is not there is an empty
/// layer; one that can't be read as a whole is an empty, damaged layer.
pub fn read_entries_file(kind: Kind, path: &Path, origin: Origin) -> (Layer, Vec<Diagnostic>) {
    match bounded::read(path) {
        Ok(Some(bytes)) => read_entries_text(kind, bytes, origin, Some(path.to_owned())),
        Ok(None) => (Layer::new(kind, origin).with_file(Some(path.to_owned())), Vec::new()),
        Err(fault) => damaged(kind, origin, Some(path.to_owned()), fault),
    }
}

/// Reads the text of a `types.json` or `teams.json`: an object from name to
/// entry, or a list of entries with `name`. Touches no file; `file` is only
/// what diagnostics name.
pub fn read_entries_text(
    kind: Kind,
    text: impl Into<Vec<u8>>,
    origin: Origin,
    file: Option<PathBuf>,
) -> (Layer, Vec<Diagnostic>) {
    let read = parse::decode(text.into()).and_then(|text| Ok((top_level(&text)?, text)));
    let (members, text) = match read {
        Ok(read) => read,
        Err(fault) => return damaged(kind, origin, file, fault),
    };
    let layer = Layer::new(kind, origin).with_file(file.clone());
    let source = Arc::new(Source::new(text, file));
    let mut reader = Reader { layer, source, diagnostics: Vec::new(), warned: HashSet::new(), untold: 0 };
    reader.layer.entries.reserve(members.len());
    for (ordinal, (key, value)) in members.into_iter().enumerate() {
        reader.member(ordinal, key.as_deref(), value);
    }
    reader.finish()
}

/// Checks one entry that a plugin sent: a JSON object with its `name`. What
/// it says is hostile until it has passed here; its size the caller bounds.
/// Fields that are unknown are dropped without a word, since a newer plugin
/// may well have some.
///
/// # Errors
/// Anything that would damage a file or lose an entry in one.
pub fn entry_from_json(kind: Kind, text: &str) -> Result<(EntryName, Entry), Diagnostic> {
    let fields = match parse::parse(text)? {
        Value::Object(fields) => fields,
        other => return Err(Fault::wrong("wrong-type", "an entry", "an object", &other).diagnostic()),
    };
    let name = match fields.get("name") {
        Some(Value::String(name)) => parse_name(name).map_err(Fault::diagnostic)?,
        Some(other) => return Err(Fault::wrong("bad-name", "name", "a text", other).diagnostic()),
        None => return Err(without_name(kind).diagnostic()),
    };
    let entry = Entry::new(kind, fields).map_err(|mut fault| {
        fault.message = format!("{} `{name}`: {}", kind.described(), fault.message);
        fault
    })?;
    Ok((name, entry))
}

/// The members of a whole text: keys are there in an object and not in a list.
pub(super) fn top_level(text: &str) -> Result<Vec<(Option<String>, Value)>, Diagnostic> {
    let top = scan::skip_space(text, 0);
    match parse::parse(text)? {
        Value::Object(map) => Ok(map.into_iter().map(|(key, value)| (Some(key), value)).collect()),
        Value::Array(list) => {
            let mut seen = HashSet::new();
            let mut twice = None;
            for (at, element) in list.iter().enumerate() {
                if let Some(name) = element.get("name").and_then(Value::as_str)
                    && !seen.insert(name)
                {
                    twice = Some((at, name));
                    break;
                }
            }
            if let Some((at, name)) = twice {
                let path = [Step::Index(at), Step::Key("name".to_owned())];
                let position = position_of(text.as_bytes(), scan::locate(text, top, &path, false));
                let message = format!("the name {} stands twice in this list", quote(name));
                return Err(Diagnostic::new("repeated-key", message)
                    .help("keep one of the two")
                    .at(position.line, position.column));
            }
            Ok(list.into_iter().map(|element| (None, element)).collect())
        }
        other => {
            let position = position_of(text.as_bytes(), top);
            let expected = "an object from name to entry, or a list of entries";
            let fault = Fault::wrong("wrong-type", "the file", expected, &other);
            Err(fault.diagnostic().at(position.line, position.column))
        }
    }
}

/// The layer of a file or folder that could not be read at all.
pub(super) fn damaged(
    kind: Kind,
    origin: Origin,
    file: Option<PathBuf>,
    fault: Diagnostic,
) -> (Layer, Vec<Diagnostic>) {
    let plugin = origin.plugin().cloned();
    let mut layer = Layer::new(kind, origin).with_file(file.clone());
    layer.damaged = true;
    let none = format!("no {} are read from this file: ", kind.plural());
    let diagnostic =
        Diagnostic { message: none + &fault.message, file: fault.file.or(file), plugin, ..fault };
    (layer, vec![diagnostic])
}

pub(super) fn parse_name(name: &str) -> Result<EntryName, Fault> {
    name.parse::<EntryName>().map_err(|invalid| {
        let rule = invalid.to_string();
        let rule = rule.rsplit_once(": ").map_or(rule.as_str(), |(_, rule)| rule);
        Fault {
            on_key: true,
            ..Fault::new("bad-name", format!("the name {} can't be used: {rule}", quote(name)))
        }
    })
}

fn without_name(kind: Kind) -> Fault {
    Fault::new("missing-name", format!("{} in a list needs a `name`", check::article(kind.described())))
}

/// A member of the top level that passed the check.
struct Member {
    name: EntryName,
    checked: Checked,
    /// The name inside the entry, where it is not the key.
    inner_name: Option<String>,
}

/// Checks a member of the top level: with a key in an object, without in a list.
fn check_member(kind: Kind, key: Option<&str>, value: Value) -> Result<Member, Vec<Fault>> {
    let in_name =
        |fault: Fault| vec![Fault { path: vec![Step::Key("name".to_owned())], on_key: false, ..fault }];
    let mut fields = match value {
        Value::Object(fields) => fields,
        other => return Err(vec![Fault::wrong("wrong-type", "an entry", "an object", &other)]),
    };
    let inner = match fields.shift_remove("name") {
        None => None,
        Some(Value::String(inner)) => Some(inner),
        Some(other) => return Err(in_name(Fault::wrong("bad-name", "name", "a text", &other))),
    };
    let (name, inner_name) = match (key, inner) {
        // The fault is at the key, where the member itself begins.
        (Some(key), inner) => {
            (parse_name(key).map_err(|fault| vec![fault])?, inner.filter(|inner| inner != key))
        }
        (None, Some(inner)) => (parse_name(&inner).map_err(in_name)?, None),
        (None, None) => return Err(vec![without_name(kind)]),
    };
    let mut checked = check::entry(kind, fields);
    match std::mem::take(&mut checked.faults) {
        faults if faults.is_empty() => Ok(Member { name, checked, inner_name }),
        faults => Err(faults),
    }
}

/// What keeps a member from being an entry, for an editor of texts that must
/// not touch what it doesn't understand.
pub(super) fn fault_of(kind: Kind, key: Option<&str>, value: Value) -> Option<Fault> {
    check_member(kind, key, value).err()?.into_iter().next()
}

/// One file on its way to a layer.
struct Reader {
    layer: Layer,
    source: Arc<Source>,
    diagnostics: Vec<Diagnostic>,
    /// What was warned about already: one warning for each file and field.
    warned: HashSet<String>,
    /// How many diagnostics were too many.
    untold: usize,
}

impl Reader {
    fn member(&mut self, ordinal: usize, key: Option<&str>, value: Value) {
        if key.is_some_and(is_metadata) {
            return;
        }
        let place = Place::member(&self.source, ordinal);
        let inner = value.get("name").and_then(Value::as_str).filter(|_| key.is_none()).map(str::to_owned);
        let permits =
            self.layer.kind == Kind::Type && value.get("tool_permission").is_some_and(Value::is_object);
        match check_member(self.layer.kind, key, value) {
            Ok(member) => {
                if let Some(inner) = &member.inner_name {
                    self.name_mismatch(&member.name, inner, &place);
                }
                for ignored in &member.checked.ignored {
                    self.warn_ignored(ignored, &place);
                }
                let entry = Entry::from_checked(self.layer.kind, member.checked.fields, place);
                self.layer.insert(member.name, entry);
            }
            Err(faults) => {
                let mut diagnostics = self.layer.lose(key.or(inner.as_deref()), faults, &place);
                if let Some(first) = diagnostics.first_mut().filter(|_| permits) {
                    let help = first.help.as_deref().unwrap_or("mend it");
                    first.help = Some(format!("{help} (meanwhile what it denies is not in force)"));
                }
                for diagnostic in diagnostics {
                    self.tell(diagnostic);
                }
            }
        }
    }

    fn name_mismatch(&mut self, name: &EntryName, inner: &str, place: &Place) {
        let kind = self.layer.kind.described();
        let message = format!("{kind} `{name}` has the name {} inside; its key is what counts", quote(inner));
        let help = format!("remove the inner name, or make it `{name}`");
        let diagnostic = Diagnostic::new("name-mismatch", message).help(help);
        self.warn(diagnostic, &[Step::Key("name".to_owned())], false, place);
    }

    fn warn_ignored(&mut self, ignored: &Ignored, place: &Place) {
        if self.warned.len() >= check::MOST_IGNORED || !self.warned.insert(ignored.name.clone()) {
            return;
        }
        let (kind, name) = (self.layer.kind, quote(&ignored.name));
        let message = format!("{} has no field {name}; it is ignored", check::article(kind.described()));
        let diagnostic = Diagnostic::new("unknown-field", message).help(match ignored.nearest {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => format!("the fields are {}", kind.fields().join(", ")),
        });
        self.warn(diagnostic, &ignored.path, true, place);
    }

    fn warn(&mut self, mut diagnostic: Diagnostic, path: &[Step], on_key: bool, place: &Place) {
        diagnostic.file.clone_from(&self.layer.file);
        if let Some(position) = place.locate(path, on_key) {
            diagnostic = diagnostic.at(position.line, position.column);
        }
        self.tell(diagnostic);
    }

    fn tell(&mut self, diagnostic: Diagnostic) {
        if self.diagnostics.len() < MOST_DIAGNOSTICS {
            self.diagnostics.push(diagnostic);
        } else {
            self.untold += 1;
        }
    }

    fn finish(mut self) -> (Layer, Vec<Diagnostic>) {
        if self.untold > 0 {
            let message = format!("{} more faults are not listed here", self.untold);
            let file = self.layer.file.clone();
            self.diagnostics.push(Diagnostic { file, ..Diagnostic::new("more-faults", message) });
        }
        (self.layer, self.diagnostics)
    }
}
