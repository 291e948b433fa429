//! Where an entry stands in its file. Nothing is counted until somebody asks,
//! so that a catalog of ten thousand entries costs no more to list.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::scan::{self, Step};

/// A place in a text, from 1, the column in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column in that line.
    pub column: usize,
}

/// A text that entries were read from, without its byte-order mark.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) file: Option<PathBuf>,
    pub(super) text: String,
    /// Where each member of the top level begins, and its value.
    members: OnceLock<Vec<(usize, usize)>>,
    /// Where each line begins.
    lines: OnceLock<Vec<usize>>,
    /// How many characters begin before each block.
    blocks: OnceLock<Vec<usize>>,
}

impl Source {
    pub(super) fn new(text: String, file: Option<PathBuf>) -> Self {
        Self { file, text, members: OnceLock::new(), lines: OnceLock::new(), blocks: OnceLock::new() }
    }

    /// Where the member with this number begins, and its value.
    fn member(&self, ordinal: usize) -> (usize, usize) {
        let members = self.members.get_or_init(|| {
            let top = scan::skip_space(&self.text, 0);
            scan::members(&self.text, top).map(|member| (member.key.start, member.value.start)).collect()
        });
        members.get(ordinal).copied().unwrap_or_default()
    }

    /// The position of an offset.
    fn position(&self, offset: usize) -> Position {
        let lines = self.lines.get_or_init(|| {
            std::iter::once(0).chain(self.text.match_indices('\n').map(|(at, _)| at + 1)).collect()
        });
        let line = lines.partition_point(|start| *start <= offset).max(1);
        Position { line, column: self.characters(offset) - self.characters(lines[line - 1]) + 1 }
    }

    /// How many characters begin before an offset. Counted in blocks, since
    /// the whole file may be one line with a fault in each entry.
    fn characters(&self, offset: usize) -> usize {
        let bytes = self.text.as_bytes();
        let blocks = self.blocks.get_or_init(|| {
            let mut total = 0;
            let before = |block: &[u8]| {
                total += characters(block);
                total - characters(block)
            };
            bytes.chunks(BLOCK).map(before).chain([0]).collect()
        });
        let offset = offset.min(bytes.len());
        let block = (offset / BLOCK).min(bytes.len().saturating_sub(1) / BLOCK);
        blocks[block] + characters(&bytes[block * BLOCK..offset])
    }
}

const BLOCK: usize = 4096;

/// How many characters begin in these bytes.
fn characters(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| byte.cast_signed() >= -64).count()
}

/// The position of a byte offset in a text; one that is not at a character's
/// beginning counts as that character.
pub(super) fn position_of(text: &[u8], offset: usize) -> Position {
    let before = &text[..offset.min(text.len())];
    let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    Position {
        line: before.split(|byte| *byte == b'\n').count(),
        column: String::from_utf8_lossy(&before[start..]).chars().count() + 1,
    }
}

/// Where an entry was read.
#[derive(Debug, Clone, Default)]
pub struct Place(Where);

#[derive(Debug, Clone, Default)]
enum Where {
    /// In no file: a plugin sent it, or it was made in memory.
    #[default]
    Nowhere,
    /// The whole file is the entry.
    File(Arc<Path>),
    /// A member of a JSON text.
    Member { source: Arc<Source>, ordinal: usize },
}

impl Place {
    /// No file.
    pub fn nowhere() -> Self {
        Self::default()
    }

    /// An entry that is a file of its own.
    pub fn file_of_its_own(file: &Path) -> Self {
        Self(Where::File(file.into()))
    }

    pub(super) fn member(source: &Arc<Source>, ordinal: usize) -> Self {
        Self(Where::Member { source: Arc::clone(source), ordinal })
    }

    /// The file.
    pub fn file(&self) -> Option<&Path> {
        match &self.0 {
            Where::Nowhere => None,
            Where::File(file) => Some(file),
            Where::Member { source, .. } => source.file.as_deref(),
        }
    }

    /// The whole text that it stands in, without a byte-order mark; `None` for
    /// what is no part of a JSON text.
    pub fn text(&self) -> Option<&str> {
        match &self.0 {
            Where::Member { source, .. } => Some(&source.text),
            Where::Nowhere | Where::File(_) => None,
        }
    }

    /// Where the entry begins: its key, or the element of a list.
    pub fn position(&self) -> Option<Position> {
        match &self.0 {
            Where::Nowhere => None,
            Where::File(_) => Some(Position { line: 1, column: 1 }),
            Where::Member { source, ordinal } => Some(source.position(source.member(*ordinal).0)),
        }
    }

    /// Where the value of a field begins, or of a key inside it:
    /// `["tool_permission", "bash"]`. As far along as the path exists.
    pub fn field(&self, path: &[&str]) -> Option<Position> {
        let steps: Vec<Step> = path.iter().map(|key| Step::Key((*key).to_owned())).collect();
        self.locate(&steps, false)
    }

    pub(super) fn locate(&self, path: &[Step], on_key: bool) -> Option<Position> {
        let Where::Member { source, ordinal } = &self.0 else { return self.position() };
        let (_, value) = source.member(*ordinal);
        Some(source.position(scan::locate(&source.text, value, path, on_key)))
    }
}
