//! Reading a folder of skills.

use std::fs;

use super::*;

fn described(layer: Layer, name: &str) -> Skill {
    Stack::new(Kind::Skill, [layer]).resolve(name).unwrap().skill()
}

#[test]
fn the_body_is_the_content_as_it_stands_and_its_first_line_the_description() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("finders.md"), "\u{feff}# finders\r\n\r\nFind.\r\n").unwrap();
    fs::write(folder.path().join("empty.md"), "").unwrap();
    fs::write(folder.path().join("blank.md"), " \n\n").unwrap();
    let (layer, faults) = read_skills_folder(folder.path(), Origin::Local);
    assert!(faults.is_empty(), "{faults:?}");
    let skill = described(layer.clone(), "finders");
    assert_eq!(
        (skill.content.as_str(), skill.description.as_str()),
        ("# finders\r\n\r\nFind.\r\n", "# finders")
    );
    assert_eq!(described(layer.clone(), "empty").description, "");
    assert_eq!(described(layer, "blank").description, " ");
}

#[test]
fn a_folder_that_is_not_there_is_an_empty_layer_and_a_file_in_its_place_is_damage() {
    let folder = tempfile::tempdir().unwrap();
    let (layer, faults) = read_skills_folder(&folder.path().join("skills"), Origin::Local);
    assert!(layer.entries.is_empty() && !layer.damaged && faults.is_empty());
    fs::write(folder.path().join("skills"), "").unwrap();
    let (layer, faults) = read_skills_folder(&folder.path().join("skills"), Origin::Local);
    assert!(layer.damaged);
    assert_eq!(faults[0].code, "unreadable");
}

#[cfg(unix)]
#[test]
fn one_broken_skill_file_costs_only_itself() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("good.md"), "fine").unwrap();
    fs::write(at("latin.md"), b"line\ncaf\xe9").unwrap();
    fs::write(at("bad name.md"), "x").unwrap();
    fs::write(folder.path().join(OsStr::from_bytes(b"\xff.md")), "x").unwrap();
    fs::create_dir(at("folder.md")).unwrap();
    super::reading::make_pipe(&at("pipe.md"));
    std::os::unix::fs::symlink("nowhere", at("link.md")).unwrap();
    fs::File::create(at("large.md")).unwrap().set_len(LARGEST_FILE + 1).unwrap();
    for ignored in [".hidden.md", ".md", "notes.txt", "README", "x.md~", "x.markdown"] {
        fs::write(at(ignored), b"\xff").unwrap();
    }
    let (layer, faults) = read_skills_folder(folder.path(), Origin::Local);
    assert_eq!(names(&layer), ["good"]);
    assert!(!layer.damaged);
    let codes: Vec<&str> = faults.iter().map(|fault| fault.code).collect();
    assert_eq!(
        codes,
        ["bad-name", "not-a-file", "too-large", "not-utf8", "unreadable", "not-a-file", "bad-name"]
    );
    let latin = &faults[3];
    assert_eq!((latin.line, latin.column, latin.file.clone()), (Some(2), Some(4), Some(at("latin.md"))));
    assert!(layer.lost.contains("latin") && layer.lost.contains("pipe"), "{:?}", layer.lost);
    for fault in &faults {
        assert!(fault.file.is_some(), "{fault:?}");
    }
}

#[test]
fn a_local_file_keeps_the_description_and_tags_of_the_plugin_below_it() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("checklist.md"), "# mine\n").unwrap();
    let (local, _) = read_skills_folder(folder.path(), Origin::Local);
    let theirs =
        json!({"checklist": {"content": "theirs", "description": "What to check", "tags": ["review"]}});
    let audit = layer(Kind::Skill, plugin("audit", Scope::Global), &theirs);
    let stack = Stack::new(Kind::Skill, [local, audit]);
    let skill = stack.resolve("checklist").unwrap().skill();
    assert_eq!(skill.content, "# mine\n");
    assert_eq!(
        (skill.description.as_str(), skill.tags.as_slice()),
        ("What to check", &["review".to_owned()][..])
    );
    assert_eq!(stack.resolve("audit/checklist").unwrap().skill().content, "theirs");
}
