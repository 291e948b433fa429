//! Text from outside on its way to a terminal.

use replio::output::{Cell, Page, clean, clean_line};

/// Text in a message or a table.
///
/// # Panics
/// When what must hold doesn't.
pub fn terminal_escape(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let cleaned = clean(&text);
    assert!(cleaned.chars().all(|character| is_harmless(character, &['\n', '\t'])), "{cleaned:?}");
    assert_eq!(clean(&cleaned), cleaned);
    let line = clean_line(&text);
    assert!(line.chars().all(|character| is_harmless(character, &[])), "{line:?}");
    assert_eq!(clean_line(&line), line);

    for width in [None, Some(20), Some(80)] {
        let mut page = Page::of_width(width);
        page.wrapped(2, &text);
        let (first, rest) = text.split_at(text.floor_char_boundary(text.len() / 2));
        page.table(&["NAME", "TEXT"], [vec![Cell::plain(first), Cell::plain(rest)]]);
        let shown = without_styles(page.text());
        assert!(shown.chars().all(|character| is_harmless(character, &['\n', '\t'])), "{shown:?}");
    }
}

/// Whether a character moves no cursor, changes no colour and reverses no
/// writing; these control characters excepted.
fn is_harmless(character: char, excepted: &[char]) -> bool {
    let turns =
        matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    !turns && (!character.is_control() || excepted.contains(&character))
}

/// The text without the colours that replio itself puts in. Nothing from
/// outside passes for one of them, since its escapes are escaped.
fn without_styles(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once('m') {
            Some((style, rest)) if style.bytes().all(|byte| byte.is_ascii_digit() || byte == b';') => {
                plain.push_str(rest);
            }
            _ => panic!("no colour of replio's: {part:?}"),
        }
    }
    plain
}
