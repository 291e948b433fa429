//! Where things are in a JSON text. Works on texts that are already known to
//! be valid; on any other it still ends, and its answers mean nothing.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

/// One `"key": value` of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Member {
    /// The key, with its quotes.
    pub(super) key: Range<usize>,
    /// The value.
    pub(super) value: Range<usize>,
}

/// One step from a value to a value inside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// To the value of this key.
    Key(String),
    /// To the element at this index.
    Index(usize),
}

/// The first offset from `at` on that is not white space.
pub(super) fn skip_space(text: &str, at: usize) -> usize {
    let rest = text.as_bytes().get(at..).unwrap_or_default();
    let space = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count();
    at + space
}

/// The end of the string whose opening quote is at `at`.
fn string_end(bytes: &[u8], at: usize) -> usize {
    let mut next = at + 1;
    while let Some(byte) = bytes.get(next) {
        match byte {
            b'"' => return next + 1,
            b'\\' => next += 2,
            _ => next += 1,
        }
    }
    bytes.len()
}

/// The end of the value that begins at `at`.
pub(super) fn value_end(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    let mut depth = 0_usize;
    let mut next = at;
    while let Some(byte) = bytes.get(next) {
        match byte {
            b'"' => next = string_end(bytes, next),
            b'{' | b'[' => {
                depth += 1;
                next += 1;
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                next += 1;
            }
            _ if depth > 0 => next += 1,
            _ => {
                let scalar = bytes[next..]
                    .iter()
                    .take_while(|byte| !matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r'));
                return next + scalar.count().max(1);
            }
        }
        if depth == 0 {
            return next;
        }
    }
    bytes.len()
}

/// The values of the list, or the members of the object, that begins at
/// `open`; the keys of a list's elements are empty ranges at the element.
pub(super) fn members(text: &str, open: usize) -> impl Iterator<Item = Member> {
    let bytes = text.as_bytes();
    let keyed = bytes.get(open) == Some(&b'{');
    let mut next = skip_space(text, open + 1);
    std::iter::from_fn(move || {
        if matches!(bytes.get(next), None | Some(b'}' | b']')) {
            return None;
        }
        let (key, start) = if keyed {
            let key = next..string_end(bytes, next);
            let colon = skip_space(text, key.end);
            (key, skip_space(text, colon + 1))
        } else {
            (next..next, next)
        };
        let end = value_end(text, start);
        next = skip_space(text, end);
        if bytes.get(next) == Some(&b',') {
            next = skip_space(text, next + 1);
        }
        Some(Member { key, value: start..end })
    })
}

/// The text of a string literal.
pub(super) fn literal<'t>(text: &'t str, range: &Range<usize>) -> Cow<'t, str> {
    let quoted = text.get(range.clone()).unwrap_or_default();
    match quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(plain) if !plain.contains('\\') => Cow::Borrowed(plain),
        _ => serde_json::from_str::<String>(quoted).map(Cow::Owned).unwrap_or_default(),
    }
}

/// The member of the object at `open` whose key is `key`.
pub(super) fn member(text: &str, open: usize, key: &str) -> Option<Member> {
    if text.as_bytes().get(open) != Some(&b'{') {
        return None;
    }
    members(text, open).find(|member| literal(text, &member.key) == key)
}

/// Where the value at the end of `path` begins, from the value at `start`;
/// with `on_key`, where its key does. As far along the path as there is one.
pub(super) fn locate(text: &str, start: usize, path: &[Step], on_key: bool) -> usize {
    let mut at = start;
    for (index, step) in path.iter().enumerate() {
        let found = match step {
            Step::Key(key) => member(text, at, key),
            Step::Index(index) => members(text, at).nth(*index),
        };
        let Some(found) = found else { break };
        let last = index + 1 == path.len();
        at = if last && on_key { found.key.start } else { found.value.start };
    }
    at
}

/// The first key that stands twice in one object, at any level.
pub(super) fn repeated_key(text: &str, at: usize) -> Option<Range<usize>> {
    let keyed = match text.as_bytes().get(at)? {
        b'{' => true,
        b'[' => false,
        _ => return None,
    };
    let mut seen = HashSet::new();
    members(text, at).find_map(|member| {
        if keyed && !seen.insert(literal(text, &member.key)) {
            return Some(member.key);
        }
        repeated_key(text, member.value.start)
    })
}
