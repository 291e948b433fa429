//! A line as a shell would split it: quotes and backslashes, and no more of a
//! shell's language than that.

use std::path::Path;

/// One word of a line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Word {
    /// Without its quotes.
    pub(super) text: String,
    /// Where it begins in the line, in bytes.
    pub(super) start: usize,
    /// Its first character is quoted.
    quoted: bool,
}

/// A line in words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Line {
    pub(super) words: Vec<Word>,
    /// The quote that was opened and never closed.
    pub(super) open: Option<char>,
    /// The last word is over: white space follows it.
    pub(super) ended: bool,
}

/// Splits a line.
pub(super) fn split(line: &str) -> Line {
    let mut parts = Line { ended: true, ..Line::default() };
    let mut characters = line.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        if parts.open.is_none() && character.is_whitespace() {
            parts.ended = true;
            continue;
        }
        if parts.ended {
            let quoted = matches!(character, '\'' | '"' | '\\');
            parts.words.push(Word { text: String::new(), start: at, quoted });
            parts.ended = false;
        }
        let Some(word) = parts.words.last_mut() else { continue };
        match (parts.open, character) {
            (Some(quote), closing) if closing == quote => parts.open = None,
            (None, '\'' | '"') => parts.open = Some(character),
            (None, '\\') => word.text.extend(characters.next().map(|(_, next)| next)),
            // Within double quotes a backslash is itself before most characters.
            (Some('"'), '\\') => match characters.next_if(|(_, next)| matches!(next, '"' | '\\')) {
                Some((_, next)) => word.text.push(next),
                None => word.text.push('\\'),
            },
            _ => word.text.push(character),
        }
    }
    parts
}

impl Word {
    /// The word as a command takes it: `~/` is the home folder, unless quoted.
    pub(super) fn argument(&self, home: Option<&Path>) -> String {
        let in_home = self.text.strip_prefix("~/").filter(|_| !self.quoted);
        match (in_home, home) {
            (Some(rest), Some(home)) => home.join(rest).display().to_string(),
            _ => self.text.clone(),
        }
    }
}

/// A text as one word of a line.
pub(super) fn quote(text: &str) -> String {
    let is_plain = |character: char| character.is_alphanumeric() || "_./~@%+=:,-".contains(character);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(line: &str) -> Vec<String> {
        split(line).words.into_iter().map(|word| word.text).collect()
    }

    #[test]
    fn quotes_and_backslashes_are_a_shells() {
        for (line, expected) in [
            ("", vec![]),
            ("  /type  list ", vec!["/type", "list"]),
            (
                r#"/type new x "You audit. Don't guess.""#,
                vec!["/type", "new", "x", "You audit. Don't guess."],
            ),
            (r"a'b c'd e\ f", vec!["ab cd", "e f"]),
            (r#"'a\b' "a\b\"\\""#, vec![r"a\b", r#"a\b"\"#]),
            (r#"--skill "" ''"#, vec!["--skill", "", ""]),
            ("ä\u{3000}ö", vec!["ä", "ö"]),
        ] {
            assert_eq!(texts(line), expected, "{line}");
        }
        assert_eq!(split("/type new 'x").open, Some('\''));
        assert_eq!(split("/type ").words[0].start, 0);
        assert!(split("/type ").ended && !split("/type").ended && split("").ended);
    }

    #[test]
    fn what_is_quoted_splits_into_itself() {
        for text in ["plain", "two words", "it's", "", "a\\b", "\"", "~/x", "ä ö"] {
            assert_eq!(texts(&quote(text)), [text]);
        }
    }

    #[test]
    fn a_tilde_is_the_home_folder_unless_it_is_quoted() {
        let argument = |line| split(line).words[0].argument(Some(Path::new("/home/me")));
        assert_eq!(argument("~/a b"), "/home/me/a");
        assert_eq!(argument("'~/a'"), "~/a");
        assert_eq!(argument("x~/a"), "x~/a");
    }
}
