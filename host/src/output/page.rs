//! Text for people: lines and aligned tables that fit the terminal.

use std::fmt::Write as _;

use anstyle::Style;
use comfy_table::{Attribute, Color, ContentArrangement, Table};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::{BAD, CAUTION, DIM, GOOD, NAME, ORIGIN, clean, clean_line};

/// A page of text under construction.
#[derive(Debug)]
pub struct Page {
    text: String,
    /// Columns of the terminal; `None` where the text goes to a pipe or file,
    /// which gets every row on one line.
    width: Option<u16>,
}

/// One cell of a table: one line of text, escaped.
#[derive(Debug)]
pub struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    /// Text without emphasis.
    pub fn plain(text: impl AsRef<str>) -> Self {
        Self::styled(Style::new(), text)
    }

    /// Text in one of the styles of [`output`](crate::output).
    pub fn styled(style: Style, text: impl AsRef<str>) -> Self {
        Self { text: clean_line(text.as_ref()), style }
    }
}

impl Page {
    /// A page as wide as the terminal that stdout is, if it is one.
    pub fn for_stdout() -> Self {
        let size = terminal_size::terminal_size_of(std::io::stdout());
        Self::of_width(size.map(|(width, _)| width.0.max(20)))
    }

    /// A page of this many columns, or of as many as it takes.
    pub fn of_width(width: Option<u16>) -> Self {
        Self { text: String::new(), width }
    }

    /// Adds a line. Anything in it that came from outside must be
    /// [`clean`](super::clean) already.
    pub fn line(&mut self, text: impl AsRef<str>) {
        self.text.push_str(text.as_ref());
        self.text.push('\n');
    }

    /// Adds text as it stands, with a line break at its end.
    pub fn block(&mut self, text: &str) {
        self.text.push_str(text);
        if !text.is_empty() && !text.ends_with('\n') {
            self.text.push('\n');
        }
    }

    /// Adds text from outside, escaped, each line of it indented and, on a
    /// terminal, broken between words where it would not fit.
    pub fn wrapped(&mut self, indent: usize, text: &str) {
        let margin = " ".repeat(indent);
        let width = self.width.map(|width| usize::from(width).saturating_sub(indent).max(10));
        for line in clean(&text.replace("\r\n", "\n")).lines() {
            for part in width.map_or_else(|| vec![line], |width| broken(line, width)) {
                let _ = writeln!(self.text, "{}", format!("{margin}{part}").trim_end());
            }
        }
    }

    /// Adds an empty line.
    pub fn blank(&mut self) {
        self.text.push('\n');
    }

    /// Adds a table with a line of headings.
    pub fn table(&mut self, headings: &[&str], rows: impl IntoIterator<Item = Vec<Cell>>) {
        let headings = headings.iter().map(|heading| Cell::styled(DIM, heading)).collect();
        match self.width {
            Some(width) => self.fitted_table(width, headings, rows),
            None => self.wide_table(headings, rows),
        }
    }

    /// A table that wraps the text of its cells, so that it fits.
    fn fitted_table(&mut self, width: u16, headings: Vec<Cell>, rows: impl IntoIterator<Item = Vec<Cell>>) {
        let mut table = Table::new();
        table.load_style(comfy_table::presets::NOTHING);
        // Whether styles reach the reader is decided where the page is printed.
        table.enforce_styling();
        table.style_text_only();
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
        table.set_header(headings.into_iter().map(styled));
        for row in rows {
            table.add_row(row.into_iter().map(styled));
        }
        for column in table.column_iter_mut() {
            column.set_padding((0, 2));
        }
        for line in table.lines() {
            let _ = writeln!(self.text, "{}", line.trim_end());
        }
    }

    /// A table with one line for each row, however wide: what a program reads.
    /// There may be tens of thousands of them, so nothing is wrapped or measured
    /// twice.
    fn wide_table(&mut self, headings: Vec<Cell>, rows: impl IntoIterator<Item = Vec<Cell>>) {
        let rows: Vec<Vec<(Cell, usize)>> = [headings]
            .into_iter()
            .chain(rows)
            .map(|row| {
                row.into_iter()
                    .map(|cell| (cell.text.width(), cell))
                    .map(|(width, cell)| (cell, width))
                    .collect()
            })
            .collect();
        let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
        let mut widths = vec![0; columns];
        for row in &rows {
            for (widest, (_, width)) in widths.iter_mut().zip(row) {
                *widest = (*widest).max(*width);
            }
        }
        for row in &rows {
            let last = row.iter().rposition(|(cell, _)| !cell.text.is_empty());
            for (column, (cell, width)) in row.iter().enumerate().take(last.map_or(0, |last| last + 1)) {
                let Cell { text, style } = cell;
                let _ = write!(self.text, "{style}{text}{style:#}");
                if Some(column) != last {
                    self.text.extend(std::iter::repeat_n(' ', widths[column] - width + 2));
                }
            }
            self.text.push('\n');
        }
    }

    /// The text so far.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// A line in parts that are no wider than this, unless a word is.
fn broken(line: &str, width: usize) -> Vec<&str> {
    let indented = line.len() - line.trim_start().len();
    let mut parts = Vec::new();
    let (mut start, mut used, mut space) = (0, 0, None);
    for (at, character) in line.char_indices() {
        if character == ' ' && at >= indented && at > start {
            space = Some(at);
        }
        used += character.width().unwrap_or(0);
        if let Some(end) = space.filter(|_| used > width) {
            parts.push(line[start..end].trim_end());
            start = end + 1;
            used = line[start..at + character.len_utf8()].width();
            space = None;
        }
    }
    parts.push(&line[start..]);
    parts
}

fn styled(cell: Cell) -> comfy_table::Cell {
    let table_cell = comfy_table::Cell::new(cell.text);
    if cell.style == NAME {
        table_cell.add_attribute(Attribute::Bold)
    } else if cell.style == DIM {
        table_cell.add_attribute(Attribute::Dim)
    } else if cell.style == GOOD {
        table_cell.fg(Color::Green)
    } else if cell.style == CAUTION {
        table_cell.fg(Color::Yellow)
    } else if cell.style == BAD {
        table_cell.fg(Color::Red)
    } else if cell.style == ORIGIN {
        table_cell.fg(Color::Cyan)
    } else {
        table_cell
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(width: Option<u16>) -> String {
        let mut page = Page::of_width(width);
        page.table(
            &["NAME", "TEXT"],
            [
                vec![Cell::styled(NAME, "a"), Cell::plain("one two three four five six seven")],
                vec![Cell::plain("longer\u{1b}"), Cell::plain("x\ny")],
            ],
        );
        anstream::adapter::strip_str(page.text()).to_string()
    }

    #[test]
    fn a_pipe_gets_one_line_for_each_row() {
        let expected =
            "NAME          TEXT\na             one two three four five six seven\nlonger\\u{1b}  x y\n";
        assert_eq!(table(None), expected);
    }

    #[test]
    fn a_terminal_gets_no_line_that_is_wider_than_it() {
        let narrow = table(Some(30));
        assert!(narrow.lines().all(|line| line.chars().count() <= 30), "{narrow}");
        assert!(narrow.lines().count() > 3, "{narrow}");
    }

    #[test]
    fn text_is_broken_between_words_and_only_on_a_terminal() {
        let wrapped = |width| {
            let mut page = Page::of_width(width);
            page.wrapped(2, "- one two three four five\n\naverylongwordindeed x\u{1b}\n");
            page.text().to_owned()
        };
        assert_eq!(wrapped(None), "  - one two three four five\n\n  averylongwordindeed x\\u{1b}\n");
        assert_eq!(
            wrapped(Some(16)),
            "  - one two\n  three four\n  five\n\n  averylongwordindeed\n  x\\u{1b}\n"
        );
    }
}
