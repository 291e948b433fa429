//! A skill's Markdown file.

use std::path::Path;

use replio::catalog::{Kind, Layer, Origin, Stack, decode_text, skill_from_bytes};

use super::check_place;

const MARK: &[u8] = "\u{feff}".as_bytes();

/// The file of a skill.
///
/// # Panics
/// When what must hold doesn't.
pub fn skill_file(bytes: &[u8]) {
    let whole = decode_text(bytes.to_vec());
    let entry = match skill_from_bytes(bytes.to_vec(), Path::new("skills/a.md")) {
        Ok(entry) => entry,
        Err(error) => {
            assert!(whole.is_err());
            return check_place(&error, bytes);
        }
    };
    assert!(whole.expect("it is UTF-8").as_bytes() == bytes);
    let mut layer = Layer::new(Kind::Skill, Origin::Local);
    layer.insert("a".parse().expect("a name"), entry);
    let stack = Stack::new(Kind::Skill, [layer]);
    let resolved = stack.get("a").expect("the skill that was put there");
    let skill = resolved.skill();
    assert!(skill.content.as_bytes() == bytes.strip_prefix(MARK).unwrap_or(bytes));
    assert!(!skill.description.contains('\n'));
    assert_eq!(resolved.show_json()["content"], skill.content);
    assert!(resolved.list_json().get("content").is_none());
}
