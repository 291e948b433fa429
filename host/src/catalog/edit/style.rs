//! How a JSON text is laid out, so that what is added looks like the rest:
//! line breaks, indentation, the space after a colon.

use serde_json::Value;

use crate::catalog::scan::{self, Member};

/// The layout of a whole text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Style {
    /// The line break.
    newline: &'static str,
    /// One step of indentation.
    unit: String,
    /// The colon with the space around it.
    pub(super) colon: String,
    /// What follows a comma where no line break does.
    gap: &'static str,
    /// The top level spans lines.
    lines: bool,
}

/// How the members of one object or list are set apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Shape {
    /// All in one line.
    OneLine {
        /// What follows a comma.
        gap: &'static str,
    },
    /// Each in a line of its own.
    Lines {
        /// The line break.
        newline: &'static str,
        /// The indentation of the members.
        indent: String,
        /// The indentation of the closing bracket.
        outer: String,
        /// One step of indentation.
        unit: String,
    },
}

impl Style {
    /// Learns from a text; what it doesn't show is as we would write it.
    pub(super) fn of(body: &str) -> Self {
        let newline = match body.find('\n') {
            Some(at) if body[..at].ends_with('\r') => "\r\n",
            _ => "\n",
        };
        let top = scan::skip_space(body, 0);
        let first = scan::members(body, top).next();
        let lines = first.as_ref().is_none_or(|first| body[top..first.key.start].contains('\n'));
        let unit = first.as_ref().and_then(|first| indent_of(body, first.key.start)).unwrap_or("  ");
        let colon = any_member(body, top).map(|member| &body[member.key.end..member.value.start]);
        let colon = colon.filter(|colon| !colon.contains(['\n', '\r'])).unwrap_or(": ").to_owned();
        let gap = if lines || colon.ends_with([' ', '\t']) { " " } else { "" };
        Self { newline, unit: unit.to_owned(), colon, gap, lines }
    }

    /// The shape of the object or list at `open`.
    pub(super) fn shape_of(&self, body: &str, open: usize) -> Shape {
        let one_line = Shape::OneLine { gap: self.gap };
        let last = scan::members(body, open).last();
        let outer = line_indent(body, open);
        let lines = |indent: String| Shape::Lines {
            newline: self.newline,
            indent,
            outer: outer.to_owned(),
            unit: self.unit.clone(),
        };
        match last {
            Some(last) => match indent_of(body, last.key.start) {
                Some(indent) => lines(indent.to_owned()),
                None => one_line,
            },
            None if self.lines => lines(format!("{outer}{}", self.unit)),
            None => one_line,
        }
    }
}

impl Shape {
    /// The shape of an object that is written into this one.
    pub(super) fn inside(&self) -> Self {
        match self {
            Self::OneLine { .. } => self.clone(),
            Self::Lines { newline, indent, unit, .. } => Self::Lines {
                newline,
                indent: format!("{indent}{unit}"),
                outer: indent.clone(),
                unit: unit.clone(),
            },
        }
    }

    /// Writes what comes before a member.
    pub(super) fn separate(&self, written: &mut String, first: bool) {
        match self {
            Self::OneLine { .. } if first => {}
            Self::OneLine { gap } => written.push_str(gap),
            Self::Lines { newline, indent, .. } => {
                written.push_str(newline);
                written.push_str(indent);
            }
        }
    }

    /// Writes what comes before the closing bracket.
    pub(super) fn close(&self, written: &mut String) {
        if let Self::Lines { newline, outer, .. } = self {
            written.push_str(newline);
            written.push_str(outer);
        }
    }
}

/// Writes a value whose members, should it be an object or a list of objects,
/// are to have this shape. Lists of texts stay in one line.
pub(super) fn write_value(written: &mut String, value: &Value, style: &Style, shape: &Shape) {
    let inline = Shape::OneLine { gap: style.gap };
    match value {
        Value::Object(map) if !map.is_empty() => {
            written.push('{');
            for (index, (key, value)) in map.iter().enumerate() {
                if index > 0 {
                    written.push(',');
                }
                shape.separate(written, index == 0);
                written.push_str(&Value::from(key.as_str()).to_string());
                written.push_str(&style.colon);
                write_value(written, value, style, &shape.inside());
            }
            shape.close(written);
            written.push('}');
        }
        Value::Array(list) if !list.is_empty() => {
            let nested = list.iter().any(|item| item.is_object() || item.is_array());
            let shape = if nested { shape } else { &inline };
            written.push('[');
            for (index, value) in list.iter().enumerate() {
                if index > 0 {
                    written.push(',');
                }
                shape.separate(written, index == 0);
                write_value(written, value, style, &shape.inside());
            }
            shape.close(written);
            written.push(']');
        }
        scalar => written.push_str(&scalar.to_string()),
    }
}

/// The first `"key": value` at the top, or else in the first element.
fn any_member(body: &str, top: usize) -> Option<Member> {
    let first = scan::members(body, top).next()?;
    if !first.key.is_empty() {
        return Some(first);
    }
    scan::members(body, first.value.start).next().filter(|member| !member.key.is_empty())
}

/// The white space before `at`, if only that stands before it in its line.
fn indent_of(body: &str, at: usize) -> Option<&str> {
    let line = body[..at].rfind('\n')? + 1;
    let before = &body[line..at];
    before.bytes().all(|byte| matches!(byte, b' ' | b'\t')).then_some(before)
}

/// The white space that the line of `at` begins with.
fn line_indent(body: &str, at: usize) -> &str {
    let line = body[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let before = &body[line..at];
    &before[..before.len() - before.trim_start_matches([' ', '\t']).len()]
}
