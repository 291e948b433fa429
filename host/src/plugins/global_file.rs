//! A JSON object of ours in the global folder, such as `trust.json`: read as
//! a whole, changed under the folder's lock, and what is in it and not
//! understood here is kept. One that can't be read is never written over.

use std::path::Path;
use std::time::SystemTime;

use serde_json::{Map, Value};

use crate::catalog::{parse_document, read_document};
use crate::diagnostic::Diagnostic;
use crate::files::{self, Lock};
use crate::paths::{self, Scope};
use crate::plugins::digest::Digest;

/// The format of these files.
const FORMAT: u64 = 1;

/// What a kind of file is called, and what one that can't be read means.
#[derive(Debug, Clone, Copy)]
pub(super) struct GlobalFile {
    /// Its name in the global folder.
    pub(super) name: &'static str,
    /// The code of a diagnostic about a damaged one.
    pub(super) code: &'static str,
    /// What holds while it is damaged, as the end of a sentence.
    pub(super) means: &'static str,
    /// The keys whose values are objects.
    pub(super) sections: &'static [&'static str],
}

impl GlobalFile {
    /// The object in the file; an empty one where there is no file.
    ///
    /// # Errors
    /// When it can't be read as a whole; the diagnostic says what that means
    /// and how to mend it.
    pub(super) fn read(self, global: &Path) -> Result<Map<String, Value>, Diagnostic> {
        let path = global.join(self.name);
        let document = match read_document(&path) {
            Ok(None) => return Ok(Map::new()),
            Ok(Some(document)) => document,
            Err(error) => return Err(self.damaged(error).file(path)),
        };
        self.object(document).map_err(|error| error.file(path))
    }

    /// The object in a text.
    ///
    /// # Errors
    /// As [`read`](Self::read), without the file.
    pub(super) fn parse(self, text: &str) -> Result<Map<String, Value>, Diagnostic> {
        self.object(parse_document(text).map_err(|error| self.damaged(error))?)
    }

    fn object(self, document: Value) -> Result<Map<String, Value>, Diagnostic> {
        let shape = |message: String| Err(self.damaged(Diagnostic::new(self.code, message)));
        let Value::Object(object) = document else { return shape("it is not an object".into()) };
        let is_wrong = |section: &&&str| object.get(**section).is_some_and(|value| !value.is_object());
        if let Some(section) = self.sections.iter().find(is_wrong) {
            return shape(format!("{section:?} in it is not an object"));
        }
        match object.get("version") {
            Some(version) if version.as_u64() != Some(FORMAT) => {
                shape(format!("its format is {version}, and this replio knows format {FORMAT}"))
            }
            _ => Ok(object),
        }
    }

    fn damaged(self, cause: Diagnostic) -> Diagnostic {
        let message = format!("{} can't be used, so {}: {}", self.name, self.means, cause.message);
        let help = format!("mend {} or move it away; it is left as it is", self.name);
        Diagnostic { code: self.code, message, help: Some(help), ..cause }
    }

    /// Locks the folder, and hands over what the file holds then. The change
    /// counts once it is written; nothing is written when it comes to the same.
    ///
    /// # Errors
    /// When it can't be read, locked or written; it is then as it was.
    pub(super) fn change<T>(
        self,
        global: &Path,
        change: impl FnOnce(&mut Map<String, Value>) -> T,
    ) -> Result<T, Diagnostic> {
        paths::make_folder(global, Scope::Global)?;
        let _lock = Lock::folder(global)?;
        let (result, text) = changed(&self.read(global)?, change);
        if let Some(text) = text {
            files::write_whole(&global.join(self.name), text.as_bytes())?;
        }
        Ok(result)
    }

    /// The text after a change; `None` when it comes to the same.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub(super) fn change_text<T>(
        self,
        text: &str,
        change: impl FnOnce(&mut Map<String, Value>) -> T,
    ) -> Result<(T, Option<String>), Diagnostic> {
        Ok(changed(&self.parse(text)?, change))
    }
}

fn changed<T>(
    before: &Map<String, Value>,
    change: impl FnOnce(&mut Map<String, Value>) -> T,
) -> (T, Option<String>) {
    let mut after = before.clone();
    let result = change(&mut after);
    if after == *before {
        return (result, None);
    }
    after.insert("version".into(), FORMAT.into());
    (result, Some(format!("{:#}\n", Value::Object(after))))
}

/// The object under this key, made where there is none. Reading has made sure
/// that it is nothing else.
pub(super) fn section<'m>(document: &'m mut Map<String, Value>, key: &str) -> &'m mut Map<String, Value> {
    let value = document.entry(key).or_insert_with(|| Value::Object(Map::new()));
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    value.as_object_mut().expect("it was made one")
}

/// Takes out what the section under this key says of a digest, however its
/// digits are written: whatever counts when it is read can be taken back.
pub(super) fn forget(document: &mut Map<String, Value>, key: &str, sha256: &Digest) {
    if let Some(Value::Object(section)) = document.get_mut(key) {
        section.retain(|digest, _| digest.parse() != Ok(*sha256));
    }
}

/// Whether a section says something of a digest.
pub(super) fn has(section: &Map<String, Value>, sha256: &Digest) -> bool {
    section.contains_key(&sha256.to_string()) || section.keys().any(|key| key.parse() == Ok(*sha256))
}

/// Now, to the second, as `2026-12-01T00:15:42Z`.
pub(super) fn now() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}
