//! `replio plugins keys`: whose signatures count.

use std::path::Path;

use clap::Subcommand;
use serde_json::{Value, json};

use super::CommandResult;
use crate::diagnostic::Diagnostic;
use crate::files::read_regular_file;
use crate::output::{Answer, BAD, CAUTION, Cell, DIM, GOOD, NAME, Page};
use crate::plugins::manage::{AcceptKey, KeyStanding, KnownKey, Plugins};
use crate::plugins::signature::{InvalidKey, KeyId, SignerKey};
use crate::plugins::trust::KeyTrust;

/// The largest file that is read for a key.
const LARGEST_KEY_FILE: u64 = 4096;

/// The verbs.
#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    /// List the keys that you trust or revoked, and what they signed
    List,
    /// Take what a key signs, whichever plugin it is
    #[command(after_help = "Example:\n  replio plugins keys trust ./audit.pub")]
    Trust {
        /// A public key of minisign, or the path of its .pub file
        key: String,
    },
    /// Take nothing that a key signed, and run none of it
    #[command(after_help = "Example:\n  replio plugins keys revoke E7620F1842B4E81F")]
    Revoke {
        /// A public key of minisign, the path of its .pub file, or the id of a key that is listed
        key: String,
    },
}

pub(super) fn run(verb: &Verb, plugins: &Plugins<'_>, current: &Path) -> CommandResult<'static> {
    match verb {
        Verb::List => Ok(Box::new(Keys { keys: plugins.keys()?, judged: None })),
        Verb::Trust { key } => judge(plugins, key_at(key, current)?, KeyTrust::Trusted),
        Verb::Revoke { key } => {
            let key = match key.parse::<KeyId>() {
                Ok(id) => plugins.key_of(id)?,
                Err(_) => key_at(key, current)?,
            };
            judge(plugins, key, KeyTrust::Revoked)
        }
    }
}

fn judge(plugins: &Plugins<'_>, key: SignerKey, trust: KeyTrust) -> CommandResult<'static> {
    Ok(Box::new(Keys { keys: vec![plugins.judge_key(key, trust)?], judged: Some(trust) }))
}

/// What `--accept-key` says.
pub(super) fn accept_key(text: &str, current: &Path) -> Result<AcceptKey, Diagnostic> {
    if text == "none" { Ok(AcceptKey::None) } else { key_at(text, current).map(AcceptKey::Key) }
}

/// A key that is given as its text, or as the path of a file with it.
fn key_at(text: &str, current: &Path) -> Result<SignerKey, Diagnostic> {
    let help = "give the line that begins with RW, or the path of the .pub file that minisign made";
    let bad = |message: String| Diagnostic::new("bad-key", message).help(help);
    let invalid = |what: &str, error: InvalidKey| bad(format!("{what} is no public key: {error}"));
    let error = match text.parse() {
        Ok(key) => return Ok(key),
        Err(error) => error,
    };
    let path = current.join(text);
    let unreadable = |error: String| bad(format!("the key in {} can't be used: {error}", path.display()));
    match read_regular_file(&path, LARGEST_KEY_FILE) {
        Ok(Some(content)) => {
            let text = String::from_utf8(content).map_err(|_| unreadable("it is not UTF-8".into()))?;
            text.parse().map_err(|error| invalid(&path.display().to_string(), error))
        }
        // What is neither is not repeated: it could be a secret.
        Ok(None) => Err(invalid("what was given, which is no file either,", error)),
        Err(_) if error == InvalidKey::Secret => Err(invalid("what was given", error)),
        Err(error) => Err(unreadable(error.to_string())),
    }
}

struct Keys {
    keys: Vec<KnownKey>,
    /// What was just thought of the one that there is.
    judged: Option<KeyTrust>,
}

impl Answer for Keys {
    fn json(&self) -> Value {
        let key = |known: &KnownKey| {
            json!({
                "id": known.key.id().to_string(),
                "key": known.key,
                "standing": known.standing.word(),
                "plugins": known.plugins,
            })
        };
        json!({ "keys": self.keys.iter().map(key).collect::<Vec<_>>() })
    }

    fn text(&self, page: &mut Page) {
        match self.judged {
            Some(trust) => self.keys.iter().for_each(|known| judged(known, trust, page)),
            None if self.keys.is_empty() => {
                page.line("No keys are known.");
                page.line(format!("  {DIM}replio plugins keys trust KEY{DIM:#} trusts one"));
            }
            None => page.table(
                &["ID", "STANDING", "PLUGINS", "KEY"],
                self.keys.iter().map(|known| {
                    let style = match known.standing {
                        KeyStanding::Trusted => GOOD,
                        KeyStanding::Accepted => CAUTION,
                        KeyStanding::Revoked => BAD,
                    };
                    vec![
                        Cell::styled(NAME, known.key.id().to_string()),
                        Cell::styled(style, known.standing.word()),
                        Cell::plain(names(known)),
                        Cell::styled(DIM, known.key.to_string()),
                    ]
                }),
            ),
        }
    }
}

fn judged(known: &KnownKey, trust: KeyTrust, page: &mut Page) {
    let id = known.key.id();
    match trust {
        KeyTrust::Trusted => {
            page.line(format!(
                "Trusted key {NAME}{id}{NAME:#}: what it signs is taken, whichever plugin it is"
            ));
            page.line(format!("  {DIM}replio plugins keys revoke {id}{DIM:#} takes that back"));
        }
        KeyTrust::Revoked => {
            page.line(format!("Revoked key {NAME}{id}{NAME:#}: nothing that it signed is taken"));
            if known.plugins.is_empty() {
                page.line("  it has signed no installed plugin");
            } else {
                page.line(format!("  signed by it, and not run any more: {}", names(known)));
            }
        }
    }
}

fn names(known: &KnownKey) -> String {
    known.plugins.iter().map(AsRef::as_ref).collect::<Vec<&str>>().join(", ")
}
