//! Whether a text is a requirement on versions, told while the plugin is
//! compiled: the host reads it with the `semver` crate, and refuses a plugin
//! whose requirement it can't read.

/// The most comparators that `semver` takes.
const MOST_COMPARATORS: usize = 32;

/// Whether `semver::VersionReq` takes this text.
pub const fn is_requirement(text: &str) -> bool {
    let text = text.as_bytes();
    let mut at = after_spaces(text, 0);
    // A wildcard for the major version stands alone.
    if is_wildcard(text, at) {
        return after_spaces(text, at + 1) == text.len();
    }
    let mut comparators = 0;
    loop {
        at = match after_comparator(text, at) {
            Some(end) => end,
            None => return false,
        };
        comparators += 1;
        if at == text.len() {
            return true;
        }
        if text[at] != b',' || comparators == MOST_COMPARATORS {
            return false;
        }
        at = after_spaces(text, at + 1);
    }
}

// Each of these reads from `at` on and says where what it has read ends.

const fn after_comparator(text: &[u8], at: usize) -> Option<usize> {
    let at = after_spaces(text, after_operator(text, at));
    let mut at = match after_number(text, at) {
        Some(end) => end,
        None => return None,
    };
    let mut parts = 1;
    let mut has_wildcard = false;
    while parts < 3 && byte(text, at) == b'.' {
        at += 1;
        if is_wildcard(text, at) {
            has_wildcard = true;
            at += 1;
        } else if has_wildcard {
            return None;
        } else {
            at = match after_number(text, at) {
                Some(end) => end,
                None => return None,
            };
        }
        parts += 1;
    }
    let is_whole = parts == 3 && !has_wildcard;
    if is_whole && byte(text, at) == b'-' {
        at = match after_identifiers(text, at + 1, true) {
            Some(end) => end,
            None => return None,
        };
    }
    if is_whole && byte(text, at) == b'+' {
        at = match after_identifiers(text, at + 1, false) {
            Some(end) => end,
            None => return None,
        };
    }
    Some(after_spaces(text, at))
}

const fn after_spaces(text: &[u8], mut at: usize) -> usize {
    while byte(text, at) == b' ' {
        at += 1;
    }
    at
}

const fn after_operator(text: &[u8], at: usize) -> usize {
    match (byte(text, at), byte(text, at + 1)) {
        (b'<' | b'>', b'=') => at + 2,
        (b'<' | b'>' | b'=' | b'~' | b'^', _) => at + 1,
        _ => at,
    }
}

const fn after_number(text: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    let mut number: u64 = 0;
    while byte(text, at).is_ascii_digit() {
        if number == 0 && at > start {
            return None;
        }
        let tens = match number.checked_mul(10) {
            Some(tens) => tens,
            None => return None,
        };
        number = match tens.checked_add((text[at] - b'0') as u64) {
            Some(sum) => sum,
            None => return None,
        };
        at += 1;
    }
    if at == start { None } else { Some(at) }
}

/// Identifiers with dots between them. Those of a pre-release that are numbers
/// are written as numbers are.
const fn after_identifiers(text: &[u8], mut at: usize, is_pre_release: bool) -> Option<usize> {
    loop {
        let start = at;
        let mut is_number = true;
        while byte(text, at).is_ascii_alphanumeric() || byte(text, at) == b'-' {
            is_number = is_number && text[at].is_ascii_digit();
            at += 1;
        }
        let has_zero_before = is_number && at - start > 1 && text[start] == b'0';
        if at == start || is_pre_release && has_zero_before {
            return None;
        }
        if byte(text, at) != b'.' {
            return Some(at);
        }
        at += 1;
    }
}

const fn is_wildcard(text: &[u8], at: usize) -> bool {
    matches!(byte(text, at), b'*' | b'x' | b'X')
}

/// The byte at this place; after the end, one that is nowhere allowed.
const fn byte(text: &[u8], at: usize) -> u8 {
    if at < text.len() { text[at] } else { 0 }
}

#[cfg(test)]
mod tests {
    use semver::VersionReq;

    use super::*;

    fn assert_same(text: &str) {
        let judged = VersionReq::parse(text);
        assert_eq!(is_requirement(text), judged.is_ok(), "{text:?}: {judged:?}");
    }

    const TEXTS: &[&str] = &[
        "*",
        " x ",
        "0.1",
        ">=0.1, <2",
        "^1.2.3-rc.1+build.007",
        "~ 1 , =1.2.x,<=3.*.X",
        "> 18446744073709551615.0.0-0a.-.10",
    ];

    #[test]
    fn what_is_a_requirement_is_told() {
        for text in TEXTS {
            assert!(is_requirement(text), "{text:?}");
        }
        for text in
            ["", ">=banana", "^0.1 || 2", ">=1.2.", "=01.2", "1.2.3-01", "v1", ">= 1 <2", "1,", "*, 1", "1\0"]
        {
            assert!(!is_requirement(text), "{text:?}");
        }
    }

    /// Every short text of the characters that mean something.
    #[test]
    fn short_texts_are_judged_as_semver_judges_them() {
        let mut texts = vec![String::new()];
        for _ in 0..5 {
            let longer =
                |text: &String| "01.*,>=- |".chars().map(|c| format!("{text}{c}")).collect::<Vec<_>>();
            texts = texts.iter().flat_map(longer).collect();
            texts.iter().for_each(|text| assert_same(text));
        }
    }

    /// Every text that is one character away from a requirement.
    #[test]
    fn texts_next_to_a_requirement_are_judged_as_semver_judges_them() {
        for text in TEXTS {
            for at in 0..=text.len() {
                let (before, after) = text.split_at(at);
                let next = after.get(1..).unwrap_or_default();
                assert_same(&format!("{before}{next}"));
                for character in "019azxX.*,<>=~^-+ |\0\t\u{e4}".chars() {
                    assert_same(&format!("{before}{character}{after}"));
                    assert_same(&format!("{before}{character}{next}"));
                }
            }
        }
        for comparators in [31, 32, 33] {
            assert_same(&vec!["1"; comparators].join(","));
            assert_same(&vec!["1"; comparators].join(",").replace("1,1", "1,1,"));
        }
        for number in ["18446744073709551616", "99999999999999999999", "1844674407370955161x"] {
            assert_same(number);
        }
    }
}
