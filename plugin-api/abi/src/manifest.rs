//! What a library says of itself, in a section of the file that can be read
//! without running a line of it.
//!
//! The section holds [`MAGIC`], the length of the body as four bytes (little
//! endian), and the body: UTF-8 lines `key=value`, in which `\`, line feed and
//! carriage return are written `\\`, `\n` and `\r`. A reader passes over keys
//! that it does not know, and refuses one that comes twice.

use std::fmt;

/// The section's name in an ELF file.
pub const ELF_SECTION: &str = ".replio";
/// The section's name in a Mach-O file, in the segment `__DATA`.
pub const MACH_O_SECTION: &str = "__replio";
/// The first bytes of the section; the last of them is the format's version.
pub const MAGIC: [u8; 8] = *b"REPLIO\0\x01";
/// The longest body, in bytes.
pub const LONGEST_BODY: usize = 16 * 1024;

const HEAD: usize = MAGIC.len() + 4;

/// The section as it lies in the file. Made by [`section`], at compile time.
#[repr(C)]
#[derive(Debug)]
pub struct Section<const BODY: usize> {
    magic: [u8; 8],
    length: [u8; 4],
    body: [u8; BODY],
}

/// The key under which [`section`] writes its value with `_` turned into `-`:
/// a plugin is called as its crate is, and plugin names have no `_`.
const NAME: &str = "name";

/// The length of the body that [`section`] makes of these fields.
///
/// # Panics
/// When the body would be longer than [`LONGEST_BODY`]; at compile time, where
/// this is used to size a constant.
pub const fn body_length(fields: &[(&str, &str)]) -> usize {
    let mut length = 0;
    let mut field = 0;
    while field < fields.len() {
        let (key, value) = fields[field];
        let value = value.as_bytes();
        if !value.is_empty() {
            length += key.len() + 2;
            let mut at = 0;
            while at < value.len() {
                length += if matches!(value[at], b'\\' | b'\n' | b'\r') { 2 } else { 1 };
                at += 1;
            }
        }
        field += 1;
    }
    assert!(
        length <= LONGEST_BODY,
        "the plugin's manifest is longer than 16 KiB: shorten the package's description"
    );
    length
}

/// The section for these fields. A field with an empty value is left out.
///
/// # Panics
/// When `BODY` is not [`body_length`] of the same fields.
pub const fn section<const BODY: usize>(fields: &[(&str, &str)]) -> Section<BODY> {
    let mut body = [0; BODY];
    let mut to = 0;
    let mut field = 0;
    while field < fields.len() {
        let (key, value) = fields[field];
        let is_name = same(key, NAME);
        let (key, value) = (key.as_bytes(), value.as_bytes());
        if !value.is_empty() {
            let mut at = 0;
            while at < key.len() {
                body[to] = key[at];
                to += 1;
                at += 1;
            }
            body[to] = b'=';
            to += 1;
            at = 0;
            while at < value.len() {
                let escape = match value[at] {
                    b'\\' => b'\\',
                    b'\n' => b'n',
                    b'\r' => b'r',
                    _ => 0,
                };
                if escape != 0 {
                    body[to] = b'\\';
                    body[to + 1] = escape;
                    to += 2;
                } else {
                    body[to] = if is_name && value[at] == b'_' { b'-' } else { value[at] };
                    to += 1;
                }
                at += 1;
            }
            body[to] = b'\n';
            to += 1;
        }
        field += 1;
    }
    assert!(to == BODY);
    // `body_length` has bounded it, so the cast loses nothing.
    Section { magic: MAGIC, length: (BODY as u32).to_le_bytes(), body }
}

const fn same(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    if left.len() != right.len() {
        return false;
    }
    let mut at = 0;
    while at < left.len() {
        if left[at] != right[at] {
            return false;
        }
        at += 1;
    }
    true
}

/// Whether a package of this name gives a plugin name:
/// `[a-z][a-z0-9-]{0,63}`, after `_` became `-`.
pub const fn is_plugin_name(package: &str) -> bool {
    let name = package.as_bytes();
    if name.is_empty() || name.len() > 64 || !name[0].is_ascii_lowercase() {
        return false;
    }
    let mut at = 0;
    while at < name.len() {
        if !(name[at].is_ascii_lowercase() || name[at].is_ascii_digit() || matches!(name[at], b'-' | b'_')) {
            return false;
        }
        at += 1;
    }
    true
}

/// A manifest that was read from a file: text that nothing has judged yet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Manifest {
    /// The plugin's name.
    pub name: String,
    /// The plugin's version.
    pub version: String,
    /// The version of this crate that it was built with.
    pub abi: String,
    /// The version of `replio-plugin-api` that it was built with.
    pub api: String,
    /// `unwind` or `abort`: what a panic does in it.
    pub panic: String,
    /// The host versions that it works with, as a semver requirement.
    pub replio: Option<String>,
    /// What it is.
    pub description: Option<String>,
    /// Who wrote it, separated by `:`.
    pub authors: Option<String>,
    /// Its licence, as an SPDX expression.
    pub license: Option<String>,
    /// Its page.
    pub homepage: Option<String>,
}

/// Why a section is no manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ManifestError {
    /// It does not begin with [`MAGIC`].
    Magic,
    /// It begins like [`MAGIC`], in another version of the format.
    Format(u8),
    /// It is shorter than it says.
    Truncated,
    /// Its body is longer than [`LONGEST_BODY`].
    TooLong(usize),
    /// Something other than padding follows the body: two plugins in one file.
    Trailing,
    /// The body is not UTF-8.
    NotUtf8,
    /// A line without `=`, with an unknown escape, or without its end.
    Line(usize),
    /// A key comes twice.
    Repeated(String),
    /// A key that must be there is not.
    Missing(&'static str),
}

impl fmt::Display for ManifestError {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Magic => to.write_str("it does not begin as a manifest does"),
            Self::Format(version) => write!(to, "it has format {version}, and this reader knows format 1"),
            Self::Truncated => to.write_str("it is shorter than it says"),
            Self::TooLong(length) => write!(to, "it is {length} bytes long, and {LONGEST_BODY} are allowed"),
            Self::Trailing => to.write_str("something follows it: a library may hold only one plugin"),
            Self::NotUtf8 => to.write_str("it is not UTF-8"),
            Self::Line(line) => write!(to, "line {line} is not of the form key=value"),
            Self::Repeated(key) => write!(to, "the key {key:?} comes twice"),
            Self::Missing(key) => write!(to, "the key {key:?} is missing"),
        }
    }
}

impl std::error::Error for ManifestError {}

impl Manifest {
    /// Reads the bytes of a section.
    ///
    /// ```
    /// use replio_plugin_abi::manifest::{Manifest, MAGIC};
    /// let body = b"name=audit\nversion=1.2.0\nabi=1.0.0\napi=1.0.0\npanic=unwind\n";
    /// let mut section = MAGIC.to_vec();
    /// section.extend((body.len() as u32).to_le_bytes());
    /// section.extend(body);
    /// assert_eq!(Manifest::read(&section).unwrap().name, "audit");
    /// ```
    ///
    /// # Errors
    /// Every way in which the bytes can be no manifest has its own variant.
    pub fn read(section: &[u8]) -> Result<Self, ManifestError> {
        let (magic, rest) = split(section, MAGIC.len()).ok_or(ManifestError::Truncated)?;
        if magic[..7] != MAGIC[..7] {
            return Err(ManifestError::Magic);
        }
        if magic[7] != MAGIC[7] {
            return Err(ManifestError::Format(magic[7]));
        }
        let (length, rest) = split(rest, HEAD - MAGIC.len()).ok_or(ManifestError::Truncated)?;
        let length = u32::from_le_bytes([length[0], length[1], length[2], length[3]]) as usize;
        if length > LONGEST_BODY {
            return Err(ManifestError::TooLong(length));
        }
        let (body, padding) = split(rest, length).ok_or(ManifestError::Truncated)?;
        if padding.iter().any(|byte| *byte != 0) {
            return Err(ManifestError::Trailing);
        }
        Self::read_body(std::str::from_utf8(body).map_err(|_| ManifestError::NotUtf8)?)
    }

    fn read_body(body: &str) -> Result<Self, ManifestError> {
        let mut seen: Vec<(&str, String)> = Vec::new();
        for (index, line) in body.split_terminator('\n').enumerate() {
            let (key, value) = line.split_once('=').ok_or(ManifestError::Line(index + 1))?;
            let value = unescape(value).ok_or(ManifestError::Line(index + 1))?;
            if seen.iter().any(|(known, _)| *known == key) {
                return Err(ManifestError::Repeated(key.to_owned()));
            }
            seen.push((key, value));
        }
        if !body.is_empty() && !body.ends_with('\n') {
            return Err(ManifestError::Line(body.lines().count()));
        }
        let mut take = |key: &str| {
            seen.iter_mut().find(|(known, _)| *known == key).map(|(_, value)| std::mem::take(value))
        };
        Ok(Self {
            name: take("name").ok_or(ManifestError::Missing("name"))?,
            version: take("version").ok_or(ManifestError::Missing("version"))?,
            abi: take("abi").ok_or(ManifestError::Missing("abi"))?,
            api: take("api").ok_or(ManifestError::Missing("api"))?,
            panic: take("panic").ok_or(ManifestError::Missing("panic"))?,
            replio: take("replio"),
            description: take("description"),
            authors: take("authors"),
            license: take("license"),
            homepage: take("homepage"),
        })
    }
}

fn split(bytes: &[u8], at: usize) -> Option<(&[u8], &[u8])> {
    if bytes.len() < at { None } else { Some(bytes.split_at(at)) }
}

fn unescape(value: &str) -> Option<String> {
    let mut text = String::with_capacity(value.len());
    let mut characters = value.chars();
    while let Some(character) = characters.next() {
        text.push(match character {
            '\\' => match characters.next()? {
                '\\' => '\\',
                'n' => '\n',
                'r' => '\r',
                _ => return None,
            },
            '\r' => return None,
            other => other,
        });
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELDS: &[(&str, &str)] = &[
        ("name", "my_plugin"),
        ("version", "1.2.3-rc.1"),
        ("abi", "1.0.0"),
        ("api", "1.4.0"),
        ("panic", "unwind"),
        ("replio", ""),
        ("description", "two\nlines, a \\ and = and\r an ä"),
    ];
    static SECTION: Section<{ body_length(FIELDS) }> = section(FIELDS);

    fn bytes() -> Vec<u8> {
        [&SECTION.magic[..], &SECTION.length, &SECTION.body].concat()
    }

    #[test]
    fn what_the_macro_writes_is_what_the_host_reads() {
        let manifest = Manifest::read(&bytes()).unwrap();
        assert_eq!(manifest.name, "my-plugin");
        assert_eq!(manifest.version, "1.2.3-rc.1");
        assert_eq!(manifest.description.as_deref(), Some("two\nlines, a \\ and = and\r an ä"));
        assert_eq!(manifest.replio, None);
    }

    #[test]
    fn padding_is_allowed_and_a_second_plugin_is_not() {
        let mut section = bytes();
        section.extend([0; 12]);
        assert!(Manifest::read(&section).is_ok());
        section.extend(bytes());
        assert_eq!(Manifest::read(&section), Err(ManifestError::Trailing));
    }

    #[test]
    fn every_truncation_is_an_error() {
        let section = bytes();
        for length in 0..section.len() {
            assert!(Manifest::read(&section[..length]).is_err(), "{length} bytes");
        }
    }

    #[test]
    fn damaged_bodies_name_their_fault() {
        let read = |body: &[u8]| {
            let mut section = MAGIC.to_vec();
            section.extend((body.len() as u32).to_le_bytes());
            section.extend(body);
            Manifest::read(&section)
        };
        assert_eq!(read(b"name=a\nname=b\n"), Err(ManifestError::Repeated("name".into())));
        assert_eq!(read(b"name=a\n"), Err(ManifestError::Missing("version")));
        assert_eq!(read(b"name=a\nversion"), Err(ManifestError::Line(2)));
        assert_eq!(read(b"name=\\x\n"), Err(ManifestError::Line(1)));
        assert_eq!(read(b"name=\xff\n"), Err(ManifestError::NotUtf8));
        assert_eq!(read(&[b'a'; LONGEST_BODY + 1]), Err(ManifestError::TooLong(LONGEST_BODY + 1)));
        assert_eq!(Manifest::read(b"NOTHING\x01\0\0\0\0"), Err(ManifestError::Magic));
        assert_eq!(Manifest::read(b"REPLIO\0\x02\0\0\0\0"), Err(ManifestError::Format(2)));
    }
}
