//! What hooks are handed: a registry that can only be added to, and that
//! judges an entry at once, so that a mistake is reported with the author's
//! own file and line.

use std::collections::HashSet;
use std::marker::PhantomData;
use std::panic::Location;

use replio_plugin_abi::HostDoor;
use replio_plugin_abi::abi_stable::std_types::RStr;

use crate::entry::Entry;
use crate::{AgentType, Result, Skill, Team};

/// The largest entry, in bytes of JSON, and the most entries of a plugin.
const LARGEST_ENTRY: usize = 1024 * 1024;
const MOST_ENTRIES: usize = 10_000;

/// Collects the entries of one kind.
#[derive(Debug)]
pub struct Registry<E> {
    names: HashSet<String>,
    entries: Vec<String>,
    host: HostDoor,
    kind: PhantomData<fn(E)>,
}

/// Collects agent types: what `register_types` is handed.
pub type TypeRegistry = Registry<AgentType>;
/// Collects skills: what `register_skills` is handed.
pub type SkillRegistry = Registry<Skill>;
/// Collects teams: what `register_teams` is handed.
pub type TeamRegistry = Registry<Team>;

#[allow(private_bounds)] // The three entries there are, and no others.
impl<E: Entry> Registry<E> {
    pub(crate) fn new(host: HostDoor) -> Self {
        Self { names: HashSet::new(), entries: Vec::new(), host, kind: PhantomData }
    }

    /// Adds an entry to the catalog's plugin layer.
    ///
    /// # Errors
    /// When the entry can't be right: a name that is no name, one that was
    /// added before, a tool category that doesn't exist, a loop over stages
    /// that the team doesn't have, more than 1 MiB in one entry, more than
    /// 10,000 entries. The error begins with the file and line of this call.
    #[track_caller]
    pub fn add_plugin(&mut self, entry: E) -> Result<()> {
        let at = Location::caller();
        let fault = |reason: &str| Err(format!("{at}: {} {:?}: {reason}", E::KIND, entry.name()).into());
        let json = match entry.to_json() {
            Ok(json) => json.to_string(),
            Err(reason) => return fault(&reason),
        };
        if json.len() > LARGEST_ENTRY {
            return fault(&format!("it has {} bytes as JSON, and 1 MiB is allowed", json.len()));
        }
        if self.entries.len() == MOST_ENTRIES {
            return fault("a plugin may bring 10,000 entries");
        }
        if !self.names.insert(entry.name().to_owned()) {
            return fault("this plugin has already added one of that name");
        }
        self.entries.push(json);
        Ok(())
    }

    /// The host that runs this hook.
    pub fn host(&self) -> Host<'_> {
        Host { door: self.host, hook: PhantomData }
    }

    pub(crate) fn into_entries(self) -> impl Iterator<Item = String> {
        self.entries.into_iter()
    }
}

/// The host, as a plugin sees it while one of its hooks runs.
#[derive(Debug, Clone, Copy)]
pub struct Host<'hook> {
    door: HostDoor,
    hook: PhantomData<&'hook ()>,
}

impl Host<'_> {
    /// Tells the operator something. `replio --verbose` shows it, with the
    /// plugin's name.
    ///
    /// # Errors
    /// When the host doesn't take it, which is no reason for a hook to fail.
    pub fn log(&self, message: impl Into<String>) -> Result<()> {
        let input = serde_json::json!({ "message": message.into() }).to_string();
        self.call("log", &input).map(drop)
    }

    /// Calls a door of the host by name, JSON in and JSON out. Which doors
    /// there are depends on the host's version; a door that it doesn't have
    /// is an error.
    ///
    /// # Errors
    /// When the host doesn't have that door, or says no.
    pub fn call(&self, door: &str, input: &str) -> Result<String> {
        let answer = (self.door.call)(self.door.context, RStr::from(door), RStr::from(input));
        match answer.into_result() {
            Ok(output) => Ok(output.into_string()),
            Err(error) => Err(error.message.into_string().into()),
        }
    }
}
