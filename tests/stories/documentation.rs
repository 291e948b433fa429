//! What the documentation tells people to type does what it says.
//!
//! Read are `README.md`, `plugin-api/README.md` and `docs/*.md`. Each file has
//! a home and a project of its own, in which its blocks are gone through from
//! top to bottom:
//!
//! - **A block tagged `console`.** A line that begins with `$ ` is a command
//!   for `sh`; it goes on over the next lines while it ends with `\`, or up to
//!   the end of its here-document. It must exit with 0, or with what a comment
//!   at its end says: `$ replio type show nothing   # exits 1`. The folder that
//!   a command changes to is the next one's; variables are forgotten.
//! - **The lines after a command** are lines of its output, stdout and stderr
//!   as they come. Each must be there, in this order, but others may stand
//!   between them; so leave out what doesn't matter. `…` stands for anything
//!   within a line, and on a line of its own for any lines. Blank lines don't
//!   count, and several spaces count as one. A command without such lines may
//!   print what it likes.
//! - **A block with `file=PATH` in its tag**, such as `toml file=Cargo.toml`,
//!   is written to that path, from the folder that the commands are in.
//! - **Every other block** is passed over. What can't be run in a test
//!   (`cargo install`, `apt-get`, `git clone`) is tagged `sh`.
//!
//! What is there: `replio`, cargo without the network, an empty project to
//! begin in, and in it `replio/`, a clone of this repository. Wherever a
//! Cargo.toml says `replio-plugin-api = "1"`, cargo takes the crate from this
//! repository; a Cargo.toml that a block writes gets this workspace's
//! Cargo.lock beside it, whose crates are there already.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use replio_tests::{World, replio};

#[test]
fn readme_commands_do_what_they_say() {
    try_out("README.md");
}

#[test]
fn plugin_api_readme_commands_do_what_they_say() {
    try_out("plugin-api/README.md");
}

#[test]
fn docs_commands_do_what_they_say() {
    let folder = repository().join("docs");
    let mut pages: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    pages.retain(|page| page.extension().is_some_and(|extension| extension == "md"));
    pages.sort();
    for page in pages {
        try_out(&format!("docs/{}", page.file_name().unwrap().to_str().unwrap()));
    }
}

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

fn try_out(page: &str) {
    let path = repository().join(page);
    if !path.exists() {
        return;
    }
    let steps = steps(&fs::read_to_string(path).unwrap());
    if steps.is_empty() {
        return;
    }
    let mut desk = Desk::new();
    for step in steps {
        if let Err(fault) = desk.take(&step) {
            panic!("{page}:{}: {fault}", step.line);
        }
    }
}

/// Something that the reader is told to do, and on which line.
#[derive(Debug, PartialEq)]
struct Step {
    line: usize,
    what: What,
}

#[derive(Debug, PartialEq)]
enum What {
    Write { path: String, text: String },
    Run { command: String, exits: i32, output: Vec<String> },
}

/// The steps of a page.
fn steps(page: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut lines = page.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let indent = line.len() - line.trim_start().len();
        let Some(tag) = line.trim_start().strip_prefix("```") else { continue };
        let block: Vec<(usize, &str)> = lines
            .by_ref()
            .take_while(|(_, line)| line.trim() != "```")
            .map(|(number, line)| (number + 1, line.get(indent..).unwrap_or_default()))
            .collect();
        let mut words = tag.split_whitespace();
        if let Some(path) = tag.split_whitespace().find_map(|word| word.strip_prefix("file=")) {
            let text = block.iter().flat_map(|(_, line)| [line, "\n"]).collect();
            steps.push(Step { line: number + 1, what: What::Write { path: path.to_owned(), text } });
        } else if words.next() == Some("console") {
            steps.extend(commands(&block));
        }
    }
    steps
}

/// The commands of a block.
fn commands(block: &[(usize, &str)]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut lines = block.iter();
    while let Some((line, text)) = lines.next() {
        if let Some(first) = text.strip_prefix("$ ") {
            let mut command = first.to_owned();
            while command.ends_with('\\') {
                let Some((_, more)) = lines.next() else { break };
                let _ = write!(command, "\n{more}");
            }
            if let Some(end) = here_document(first) {
                for (_, more) in lines.by_ref() {
                    let _ = write!(command, "\n{more}");
                    if *more == end {
                        break;
                    }
                }
            }
            let exits = command.rsplit_once("# exits ").map_or(0, |(_, code)| code.trim().parse().unwrap());
            steps.push(Step { line: *line, what: What::Run { command, exits, output: Vec::new() } });
        } else if let Some(Step { what: What::Run { output, .. }, .. }) = steps.last_mut() {
            output.push(text.trim_end().to_owned());
        } else {
            panic!("a console block begins with `$ `, and not with {text:?}");
        }
    }
    steps
}

/// The word that ends a command's here-document, if it has one.
fn here_document(command: &str) -> Option<&str> {
    let (_, word) = command.split_once("<<")?;
    Some(word.split_whitespace().next()?.trim_matches(['\'', '"']))
}

/// Where a page is tried out.
struct Desk {
    world: World,
    /// The folder that the commands are in.
    folder: PathBuf,
}

impl Desk {
    fn new() -> Self {
        let world = World::new();
        copy(repository(), &world.project().join("replio"));
        // Above home and project, so that cargo finds it from everywhere there.
        // Crates from the registry are built once for all pages and runs.
        let test_binary = std::env::current_exe().unwrap();
        let target = test_binary.ancestors().find(|folder| folder.join("deps").is_dir()).unwrap();
        let build = target.with_file_name("fixtures").join("documentation");
        let api = repository().join("plugin-api");
        let config = format!(
            "[build]\nbuild-dir = {build:?}\n\n[patch.crates-io]\nreplio-plugin-api = {{ path = {api:?} }}\n"
        );
        world.write(&world.path(".cargo/config.toml"), config);
        let folder = world.project();
        Self { world, folder }
    }

    fn take(&mut self, step: &Step) -> Result<(), String> {
        match &step.what {
            What::Write { path, text } => {
                let path = self.folder.join(path);
                self.world.write(&path, text);
                if path.ends_with("Cargo.toml") && !path.with_extension("lock").exists() {
                    let lock = fs::read(repository().join("Cargo.lock")).unwrap();
                    self.world.write(&path.with_extension("lock"), lock);
                }
                Ok(())
            }
            What::Run { command, exits, output } => {
                let (code, printed) = self.run(command);
                let fault = if code == *exits {
                    missing(output, &printed).map(|line| format!("does not print\n    {line}"))
                } else {
                    Some(format!("exits {code}, not {exits}"))
                };
                fault.map_or(Ok(()), |fault| Err(format!("$ {command}\n{fault}\nIt prints:\n{printed}")))
            }
        }
    }

    /// Runs a command; returns its exit code and what it printed.
    fn run(&mut self, command: &str) -> (i32, String) {
        let place = self.world.path("folder");
        let script = format!("exec 2>&1\n{command}\ncode=$?\npwd > '{}'\nexit $code", place.display());
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).current_dir(&self.folder).stdin(Stdio::null()).env_clear();
        // The environment of a story, with `replio` where a shell finds it.
        let like = self.world.command(&[]);
        shell.envs(like.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(replio().parent().unwrap().to_owned());
        shell.env("PATH", std::env::join_paths(folders.chain(std::env::split_paths(&path))).unwrap());
        let output = shell.output().unwrap();
        if let Ok(folder) = fs::read_to_string(place) {
            self.folder = folder.trim_end().into();
        }
        (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

/// The first expected line that isn't printed, or not after those before it.
fn missing<'a>(expected: &'a [String], printed: &str) -> Option<&'a str> {
    // The columns of a table are as wide as what stands in them.
    let narrow = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut printed = printed.lines().map(narrow);
    let matter = expected.iter().filter(|line| !matches!(line.trim(), "" | "…"));
    matter.map(String::as_str).find(|wanted| {
        let wanted = narrow(wanted);
        !printed.any(|line| fits(&wanted, &line))
    })
}

/// Whether a line is the wanted one, in which `…` stands for anything.
fn fits(wanted: &str, line: &str) -> bool {
    let Some((before, after)) = wanted.split_once('…') else { return wanted == line };
    let Some(rest) = line.strip_prefix(before) else { return false };
    rest.char_indices().map(|(at, _)| at).chain([rest.len()]).any(|at| fits(after, &rest[at..]))
}

/// Copies a folder without what builds and sessions leave in it.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (name, kind) = (entry.file_name(), entry.file_type().unwrap());
        if name == "target" || name == ".git" || name == ".replio" {
            continue;
        }
        if kind.is_dir() {
            copy(&entry.path(), &to.join(name));
        } else if kind.is_file() {
            fs::copy(entry.path(), to.join(name)).unwrap();
        }
    }
}

#[test]
fn a_page_is_read_as_steps() {
    let page = "Text.\n\n```toml file=a/b.toml\nx = 1\n```\n\n```sh\n$ passed over\n```\n\n- item\n\n  ```console\n  \
                $ one \\\n      --more   # exits 1\n  said …\n\n  $ cat > x <<'EOF'\n  text\n  EOF\n  ```\n";
    let run = |line, command: &str, exits, output: &[&str]| {
        let output = output.iter().map(|line| (*line).to_owned()).collect();
        Step { line, what: What::Run { command: command.into(), exits, output } }
    };
    let expected = [
        Step { line: 3, what: What::Write { path: "a/b.toml".into(), text: "x = 1\n".into() } },
        run(14, "one \\\n    --more   # exits 1", 1, &["said …", ""]),
        run(18, "cat > x <<'EOF'\ntext\nEOF", 0, &[]),
    ];
    assert_eq!(steps(page), expected);
}

#[test]
fn output_is_there_line_by_line_and_in_order() {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let printed = "one 1\n  two 22   two  \nthree\n";
    assert_eq!(missing(&lines("one …\n…\nthree"), printed), None);
    assert_eq!(missing(&lines("two … two"), printed), None);
    assert_eq!(missing(&lines("three\none 1"), printed), Some("one 1"));
    assert_eq!(missing(&lines("two"), printed), Some("two"));
}
