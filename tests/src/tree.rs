//! All that is in a folder, to compare it with what is there later.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Each path with what is there: a folder, a link's target, or a file's bytes.
pub type Tree = BTreeMap<PathBuf, Vec<u8>>;

/// What is in a folder now, byte for byte; an empty tree where there is none.
/// What replio notes for itself of files that it has checked is left out: when it
/// does depends on how fast the machine is, and anyone may delete it.
///
/// # Panics
/// When something in it can't be read.
pub fn tree(folder: &Path) -> Tree {
    let mut tree = Tree::new();
    collect(folder, &mut tree);
    tree
}

fn collect(folder: &Path, tree: &mut Tree) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let entry = entry.expect("a folder's entry");
        let (path, kind) = (entry.path(), entry.file_type().expect("what it is"));
        if path.ends_with(".config/replio/cache") {
            continue;
        }
        let what = if kind.is_dir() {
            collect(&path, tree);
            b"a folder".to_vec()
        } else if kind.is_symlink() {
            fs::read_link(&path).expect("a link").into_os_string().into_encoded_bytes()
        } else if kind.is_file() {
            fs::read(&path).expect("a file")
        } else {
            b"something else".to_vec()
        };
        tree.insert(path, what);
    }
}
