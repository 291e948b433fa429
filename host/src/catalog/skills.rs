//! A folder of skills to a layer: each `<name>.md` is one entry, and a file
//! that can't be read costs that skill and no other.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;

use serde_json::{Map, Value};

use super::check::Fault;
use super::position::Place;
use super::read::{damaged, parse_name};
use super::{Entry, Kind, Layer, Origin, bounded, parse};
use crate::diagnostic::Diagnostic;
use crate::names::EntryName;

/// Reads `<name>.md` files; the stem is the name, the body is the content, as
/// it stands but for a byte-order mark. Other files, and those that begin
/// with a dot, are none of ours. A folder that is not there is an empty layer.
pub fn read_skills_folder(path: &Path, origin: Origin) -> (Layer, Vec<Diagnostic>) {
    let files = match markdown_files(path) {
        Ok(files) => files,
        Err(error) => {
            let fault = bounded::unreadable(path, &error);
            return damaged(Kind::Skill, origin, Some(path.to_owned()), fault);
        }
    };
    let mut layer = Layer::new(Kind::Skill, origin).with_file(Some(path.to_owned()));
    let mut diagnostics = Vec::new();
    for file in files {
        let whole = path.join(&file);
        let stem = file.to_string_lossy();
        let stem = stem.strip_suffix(".md").unwrap_or(&stem);
        match read_skill(&whole, &file, stem) {
            Ok(Some((name, entry))) => {
                layer.insert(name, entry);
            }
            // It was removed since the folder was listed.
            Ok(None) => {}
            Err(found) => {
                let fault = Fault { help: found.help, ..Fault::new(found.code, found.message) };
                let place = Place::file_of_its_own(&whole);
                for mut diagnostic in layer.lose(Some(stem), vec![fault], &place) {
                    (diagnostic.line, diagnostic.column) = (found.line, found.column);
                    diagnostics.push(diagnostic);
                }
            }
        }
    }
    (layer, diagnostics)
}

/// The names of the skill files, sorted, so that the answer is always the same.
fn markdown_files(path: &Path) -> io::Result<Vec<OsString>> {
    let folder = match fs::read_dir(path) {
        Ok(folder) => folder,
        Err(error) if error.kind() == io::ErrorKind::NotFound && path.symlink_metadata().is_err() => {
            return Ok(Vec::new());
        }
        Err(error) => return Err(error),
    };
    let mut files = Vec::new();
    for file in folder {
        let name = file?.file_name();
        let bytes = name.as_encoded_bytes();
        if bytes.ends_with(b".md") && !bytes.starts_with(b".") {
            files.push(name);
        }
    }
    files.sort_unstable();
    Ok(files)
}

fn read_skill(path: &Path, file: &OsString, stem: &str) -> Result<Option<(EntryName, Entry)>, Diagnostic> {
    let rename = "rename the file: letters, digits, '.', '_' and '-', and then .md";
    let name = match parse_name(stem) {
        Ok(name) if file.to_str().is_some() => name,
        Ok(_) => return Err(Diagnostic::new("bad-name", "its file name is not UTF-8").help(rename)),
        Err(fault) => return Err(fault.diagnostic().help(rename)),
    };
    let Some(bytes) = bounded::read(path)? else { return Ok(None) };
    Ok(Some((name, skill_from_bytes(bytes, path)?)))
}

/// The skill whose file holds these bytes. Touches no file; `path` is only
/// where the entry says that it is from.
///
/// # Errors
/// When they are not UTF-8, with the position.
pub fn skill_from_bytes(bytes: Vec<u8>, path: &Path) -> Result<Entry, Diagnostic> {
    let content = parse::decode(bytes)?;
    let fields = Map::from_iter([("content".to_owned(), Value::String(content))]);
    Ok(Entry::from_checked(Kind::Skill, fields, Place::file_of_its_own(path)))
}
