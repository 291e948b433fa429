//! `replio plugins inspect`: what a library file says of itself.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::CommandResult;
use crate::diagnostic::Diagnostic;
use crate::output::{Answer, BAD, DIM, GOOD, NAME, Page, clean, clean_line};
use crate::plugins::changes::Changes;
use crate::plugins::inspect::{self, Host, Incompatibility, Inspection};

struct Inspected {
    path: PathBuf,
    inspection: Inspection,
    incompatibility: Option<Incompatibility>,
}

pub(super) fn run(path: &Path) -> CommandResult<'static> {
    let inspection = inspect::inspect(path)
        .map_err(|error| Diagnostic::new(error.code(), error.to_string()).help(error.help()))?;
    let incompatibility = inspect::incompatibility(&inspection.library, &inspection.about, &Host::this());
    Ok(Box::new(Inspected { path: path.to_owned(), inspection, incompatibility }))
}

impl Answer for Inspected {
    fn json(&self) -> Value {
        let Inspection { about, library, sha256, bytes } = &self.inspection;
        json!({
            "plugin": {
                "name": about.name,
                "version": about.version.to_string(),
                "scope": null,
                "status": self.incompatibility.as_ref().map(|_| "incompatible"),
                "reason": self.incompatibility.as_ref().map(ToString::to_string),
                "help": self.incompatibility.as_ref().map(Incompatibility::help),
                "abi": about.abi.to_string(),
                "api": about.api.to_string(),
                "provides": null,
                "sha256": sha256,
                "path": self.path.display().to_string(),
                "source": null,
                "signer": null,
                "size": bytes.len(),
                "system": library.system.to_string(),
                "processors": library.processors,
                "glibc": library.glibc.map(|glibc| glibc.to_string()),
                "replio": about.replio.as_ref().map(ToString::to_string),
                "panic": if about.panic_aborts { "abort" } else { "unwind" },
                "description": about.description,
                "authors": about.authors,
                "license": about.license,
                "homepage": about.homepage,
            },
            "changes": Changes::default().json(),
        })
    }

    fn text(&self, page: &mut Page) {
        let Inspection { about, library, sha256, bytes } = &self.inspection;
        page.line(format!("{NAME}{}{NAME:#} {}", about.name, about.version));
        let mut line = |key: &str, value: &str| {
            if !value.is_empty() {
                page.line(format!("  {DIM}{key:<12}{DIM:#} {}", clean_line(value)));
            }
        };
        line("description", about.description.as_deref().unwrap_or_default());
        line("authors", &about.authors.join(", "));
        line("license", about.license.as_deref().unwrap_or_default());
        line("homepage", about.homepage.as_deref().unwrap_or_default());
        line("sha256", &sha256.to_string());
        line("size", &format!("{} KiB", bytes.len().div_ceil(1024)));
        line("built for", &format!("{}, {}", library.system, library.processors.join(" and ")));
        line("glibc", &library.glibc.map(|glibc| format!("{glibc} or newer")).unwrap_or_default());
        line("built with", &format!("replio-plugin-api {}, plugin ABI {}", about.api, about.abi));
        line("needs", &about.replio.as_ref().map(|needed| format!("replio {needed}")).unwrap_or_default());
        line("a panic", if about.panic_aborts { "ends its process" } else { "is an error" });
        match &self.incompatibility {
            None => page.line(format!(
                "  {DIM}{:<12}{DIM:#} {GOOD}loads here{GOOD:#}, as far as can be told without running it",
                "verdict"
            )),
            Some(reason) => {
                page.line(format!(
                    "  {DIM}{:<12}{DIM:#} {BAD}does not load here{BAD:#}: {}",
                    "verdict",
                    clean(&reason.to_string())
                ));
                page.line(format!("  {GOOD}help{GOOD:#}: {}", clean(&reason.help())));
            }
        }
        page.line(format!(
            "  {DIM}What it brings is known once it runs: `replio plugins install FILE --dry-run`.{DIM:#}"
        ));
    }
}
