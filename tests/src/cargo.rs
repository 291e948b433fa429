//! Building with cargo, from inside a test. Cargo itself sees to it that what
//! is up to date is not built again, and that builds wait for each other.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;

/// The top of this workspace.
pub fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ is in the workspace")
}

/// Where fixture plugins are built: beside the test binary's own target folder.
pub fn fixture_target() -> PathBuf {
    let test_binary = std::env::current_exe().expect("a test runs from a file");
    let profile = test_binary.ancestors().find(|folder| folder.join("deps").is_dir());
    profile.and_then(Path::parent).expect("a test binary is in <target>/<profile>/deps").join("fixtures")
}

/// The `replio` binary, built as this test was.
pub fn replio() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        let mut build = cargo(workspace());
        build.args(["build", "-p", "replio", "--bin", "replio"]);
        if !cfg!(debug_assertions) {
            build.arg("--release");
        }
        artifacts(build)
            .iter()
            .find_map(|message| message["executable"].as_str().map(PathBuf::from))
            .expect("cargo names the binary it built")
    })
}

pub(crate) fn cargo(folder: &Path) -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(folder);
    cargo
}

/// Runs a build and returns cargo's messages about what it made.
pub(crate) fn artifacts(mut build: Command) -> Vec<Value> {
    build.args(["--offline", "--message-format", "json-render-diagnostics"]);
    let output = build.output().expect("cargo starts");
    assert!(output.status.success(), "{build:?}\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .filter(|message: &Value| message["reason"] == "compiler-artifact")
        .collect()
}
