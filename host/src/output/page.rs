//! Text for people: lines and aligned tables that fit the terminal.

use std::fmt::Write as _;

use anstyle::Style;
use comfy_table::{Attribute, Color, ColumnConstraint, ContentArrangement, Table, Width};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::{BAD, CAUTION, DIM, GOOD, NAME, ORIGIN, clean, clean_line};

/// The columns between two columns of a table.
const GAP: u16 = 2;

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

    /// A table that wraps the text of its cells between words, so that it fits;
    /// where no such table does, one block for each row.
    fn fitted_table(&mut self, width: u16, headings: Vec<Cell>, rows: impl IntoIterator<Item = Vec<Cell>>) {
        let rows: Vec<Vec<Cell>> = rows.into_iter().collect();
        let Some(widths) = column_widths(width.into(), &headings, &rows) else {
            self.blocks(width, &headings, rows);
            return;
        };
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
        let last = widths.len().saturating_sub(1);
        for (index, (column, width)) in table.column_iter_mut().zip(widths).enumerate() {
            let gap = if index == last { 0 } else { GAP };
            column.set_padding((0, gap));
            let width = u16::try_from(width).unwrap_or(u16::MAX).saturating_add(gap);
            column.set_constraint(ColumnConstraint::Absolute(Width::Fixed(width)));
        }
        for line in table.lines() {
            let _ = writeln!(self.text, "{}", line.trim_end());
        }
    }

    /// A block for each row: its first cell, and below it the others with their
    /// headings.
    fn blocks(&mut self, width: u16, headings: &[Cell], rows: Vec<Vec<Cell>>) {
        let widest = headings.iter().skip(1).map(|heading| heading.text.width()).max().unwrap_or_default();
        let indent = widest + 4;
        let room = usize::from(width).saturating_sub(indent).max(10);
        for row in rows {
            for (index, (heading, Cell { text, style })) in headings.iter().zip(row).enumerate() {
                if text.is_empty() {
                    continue;
                }
                if index == 0 {
                    let _ = writeln!(self.text, "{style}{text}{style:#}");
                    continue;
                }
                let Cell { text: heading, style: dim } = heading;
                let _ = write!(self.text, "  {dim}{heading}{dim:#}");
                let mut before = indent - 2 - heading.width();
                for part in broken(&text, room) {
                    let _ = writeln!(self.text, "{:before$}{style}{part}{style:#}", "");
                    before = indent;
                }
            }
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
                    self.text.extend(std::iter::repeat_n(' ', widths[column] - width + usize::from(GAP)));
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

/// How wide each column is in a table that is no wider than this, with no word
/// broken; `None` where that can't be.
fn column_widths(width: usize, headings: &[Cell], rows: &[Vec<Cell>]) -> Option<Vec<usize>> {
    let mut least = vec![0; headings.len()];
    let mut most = least.clone();
    for row in std::iter::once(headings).chain(rows.iter().map(Vec::as_slice)) {
        for ((least, most), cell) in least.iter_mut().zip(&mut most).zip(row) {
            *least = cell.text.split(' ').map(str::width).max().unwrap_or_default().max(*least);
            *most = cell.text.width().max(*most);
        }
    }
    let room = width.checked_sub(usize::from(GAP) * headings.len().saturating_sub(1))?;
    let mut left = room.checked_sub(least.iter().sum())?;
    let mut widths = least;
    // Column by column of text goes to the narrowest that wants more.
    while left > 0 {
        let wants = widths.iter_mut().zip(&most).filter(|(width, most)| **width < **most);
        let Some((narrowest, _)) = wants.min_by_key(|(width, _)| **width) else { break };
        *narrowest += 1;
        left -= 1;
    }
    Some(widths)
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

    fn plugins(width: u16) -> String {
        let mut page = Page::of_width(Some(width));
        let row = |cells: [&str; 5]| Vec::from(cells.map(Cell::plain));
        page.table(
            &["NAME", "VERSION", "STATUS", "SCOPE", "PROVIDES"],
            [
                row(["house-style", "0.1.0", "enabled", "local", "1 type, 2 skills, 1 team"]),
                row(["security-review", "0.1.0", "disabled", "global", ""]),
            ],
        );
        anstream::adapter::strip_str(page.text()).to_string()
    }

    #[test]
    fn a_table_is_narrowed_between_words_and_then_stacked() {
        let wide = "\
NAME             VERSION  STATUS    SCOPE   PROVIDES
house-style      0.1.0    enabled   local   1 type, 2 skills, 1 team
security-review  0.1.0    disabled  global
";
        assert_eq!(plugins(80), wide);
        let narrow = "\
NAME             VERSION  STATUS    SCOPE   PROVIDES
house-style      0.1.0    enabled   local   1 type,
                                            2
                                            skills,
                                            1 team
security-review  0.1.0    disabled  global
";
        assert_eq!(plugins(52), narrow);
        let stacked = "\
house-style
  VERSION   0.1.0
  STATUS    enabled
  SCOPE     local
  PROVIDES  1 type, 2 skills, 1 team
security-review
  VERSION   0.1.0
  STATUS    disabled
  SCOPE     global
";
        assert_eq!(plugins(50), stacked);
        let tight = "\
house-style
  VERSION   0.1.0
  STATUS    enabled
  SCOPE     local
  PROVIDES  1 type, 2 skills,
            1 team
security-review
  VERSION   0.1.0
  STATUS    disabled
  SCOPE     global
";
        assert_eq!(plugins(30), tight);
    }

    #[test]
    fn no_word_of_a_table_is_ever_broken() {
        for width in 22..90 {
            let text = plugins(width);
            for word in ["house-style", "security-review", "VERSION", "PROVIDES", "disabled", "skills,"] {
                assert!(text.contains(word), "{word} at {width}:\n{text}");
            }
            assert!(text.lines().all(|line| line.width() <= usize::from(width)), "{width}:\n{text}");
        }
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
