//! What a project brings that its user has not trusted: plugins, settings, and
//! types that may do more than without it. Each file is read once, and what is
//! trusted is the digest of what was read, so that it is what was shown.

use std::path::{Path, PathBuf};

use crate::catalog::{self, Kind, Layer, LoosenedType, Origin, Scope, Stack, loosened_types, read_text};
use crate::config::{self, Config, Matter};
use crate::diagnostic::Diagnostic;
use crate::paths::Places;
use crate::plugins::digest::Digest;
use crate::plugins::manage::Untrusted;
use crate::plugins::trust::{Trust, TrustChange};

/// How many types are named one by one in warnings.
const MOST_NAMED: usize = 50;
/// The code of a warning about a type that the project loosens.
pub const UNTRUSTED_PERMISSION: &str = "untrusted-permission";

/// What waits for the user's trust.
#[derive(Debug)]
pub struct Brought {
    /// Plugins.
    pub plugins: Vec<Untrusted>,
    /// Settings.
    pub config: Option<BroughtFile<Matter>>,
    /// Types that it loosens.
    pub types: Option<BroughtFile<LoosenedType>>,
    /// What of the files can't be read.
    pub warnings: Vec<Diagnostic>,
}

/// A file of the project, and what in it needs trust.
#[derive(Debug)]
pub struct BroughtFile<M> {
    /// Where it is.
    pub path: PathBuf,
    /// The digest of what was read.
    pub sha256: Digest,
    /// What in it needs trust, each with its line; never empty.
    pub matters: Vec<(M, Option<usize>)>,
}

impl Brought {
    /// What is there now. `plugins` are those that are not trusted, and `types`
    /// all layers of types.
    pub fn of(places: &Places, plugins: Vec<Untrusted>, types: &Stack) -> Self {
        // One that can't be read trusts nothing, which whoever asks has been told.
        let trust = Trust::read(places.global()).unwrap_or_default();
        let config = Config::read(places);
        let brought_types = types.layer(&Origin::Local).and_then(|local| {
            // Once they are trusted, plugins lie below the project's own types.
            let of_plugins = plugins.iter().filter_map(permissions_of).collect::<Vec<_>>();
            let below = types.layers().iter().filter(|layer| layer.origin < Origin::Local);
            let below = Stack::new(Kind::Type, below.chain(&of_plugins).cloned());
            loosened_file(local, loosened_types(local, below.layers()))
        });
        Self {
            config: config_file(&config).filter(|file| !trust.has_file(&file.sha256)),
            types: brought_types.filter(|file| !trust.has_file(&file.sha256)),
            plugins,
            warnings: config.warnings,
        }
    }

    /// Whether nothing waits for trust.
    pub fn is_empty(&self) -> bool {
        self.plugins.is_empty() && self.config.is_none() && self.types.is_none()
    }

    /// The files, each with the digest of what was read.
    pub fn files(&self) -> Vec<(&Path, Digest)> {
        let config = self.config.as_ref().map(|file| (file.path.as_path(), file.sha256));
        let types = self.types.as_ref().map(|file| (file.path.as_path(), file.sha256));
        config.into_iter().chain(types).collect()
    }

    /// What trusting it comes to: all but the plugins that can't be trusted.
    pub fn trusting(&self) -> Vec<TrustChange> {
        let plugins = self.plugins.iter().filter(|plugin| plugin.refused.is_none());
        let files = self.files().into_iter().map(|(path, sha256)| trusting_file(path, sha256));
        plugins.flat_map(Untrusted::trusting).chain(files).collect()
    }
}

/// The project's settings and types by their content now, trusted or not.
/// Without content, what can't be read.
pub fn files_now(places: &Places) -> Vec<(PathBuf, Option<Digest>)> {
    let Some(folder) = places.folder(Scope::Local) else { return Vec::new() };
    let paths = [config::path_in(&folder), catalog::path_in(&folder, Kind::Type)];
    let now = |path: &Path| read_text(path).ok().flatten().map(|text| digest_of(&text));
    paths.into_iter().map(|path| (path.clone(), now(&path))).collect()
}

/// A file by its content. A byte-order mark says nothing.
pub fn digest_of(text: &str) -> Digest {
    Digest::of(text.strip_prefix('\u{feff}').unwrap_or(text).as_bytes())
}

/// Trusting a file that has this content.
pub fn trusting_file(path: &Path, sha256: Digest) -> TrustChange {
    TrustChange::File { sha256, path: path.display().to_string() }
}

/// Warns of each type that the project's own types make less strict than the
/// layers below, unless the user trusts the file.
pub fn untrusted_permissions<'l>(
    local: &Layer,
    below: impl IntoIterator<Item = &'l Layer>,
    global: &Path,
) -> Vec<Diagnostic> {
    let Some(file) = loosened_file(local, loosened_types(local, below)) else { return Vec::new() };
    let mut warnings = Vec::new();
    match Trust::read(global) {
        Ok(trust) if trust.has_file(&file.sha256) => return warnings,
        Ok(_) => {}
        Err(damaged) => warnings.push(damaged),
    }
    let warning = |message: String| {
        Diagnostic::new(UNTRUSTED_PERMISSION, message)
            .help("`replio trust` shows all that this project brings, and trusts it once you agree")
            .file(&file.path)
    };
    for (loosened, _) in file.matters.iter().take(MOST_NAMED) {
        let changes: Vec<String> = loosened
            .loosened
            .iter()
            .map(|change| format!("{} from {} to {}", change.category, change.before, change.after))
            .collect();
        let message = format!(
            "this project, which you have not trusted, loosens the agent type `{}`: {}",
            loosened.name,
            changes.join(", ")
        );
        let warning = warning(message);
        warnings.push(match loosened.place.position() {
            Some(position) => warning.at(position.line, position.column),
            None => warning,
        });
    }
    if let Some(more) = file.matters.len().checked_sub(MOST_NAMED).filter(|more| *more > 0) {
        warnings.push(warning(format!("this project loosens {more} more agent types")));
    }
    warnings
}

/// A types file that loosens something.
fn loosened_file(local: &Layer, loosened: Vec<LoosenedType>) -> Option<BroughtFile<LoosenedType>> {
    let sha256 = digest_of(loosened.first()?.place.text()?);
    let with_line = |loosened: LoosenedType| {
        let line = loosened.place.position().map(|position| position.line);
        (loosened, line)
    };
    Some(BroughtFile {
        path: local.file.clone()?,
        sha256,
        matters: loosened.into_iter().map(with_line).collect(),
    })
}

fn config_file(config: &Config) -> Option<BroughtFile<Matter>> {
    let file = config.local.as_ref()?;
    let with_line = |matter: Matter| {
        let line = file.position(&matter.path).line;
        (matter, Some(line))
    };
    let matters: Vec<_> = config.local_matters().into_iter().map(with_line).collect();
    (!matters.is_empty()).then(|| BroughtFile {
        path: file.path.clone(),
        sha256: digest_of(file.text()),
        matters,
    })
}

/// What a plugin says about permissions, by the word of the project's list.
fn permissions_of(untrusted: &Untrusted) -> Option<Layer> {
    let record = untrusted.plugin.record.as_ref().ok().filter(|record| record.enabled)?;
    let name = untrusted.plugin.name.clone();
    Some(record.build.provides.permissions(Origin::Plugin { name, scope: Scope::Local }))
}
