//! Where an entry comes from: one of four layers, and which plugin.

use std::fmt;

use crate::names::PluginName;
use crate::paths::Scope;

/// Where a layer comes from. The order is that of precedence, lowest first:
/// bundled, plugins by name, global, local.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// Compiled into replio.
    Bundled,
    /// Contributed by a plugin.
    Plugin {
        /// The plugin.
        name: PluginName,
        /// Where the plugin is installed.
        scope: Scope,
    },
    /// The user's own files.
    Global,
    /// The project's files.
    Local,
}

impl Origin {
    /// The word of the layer: `bundled`, `plugin`, `global` or `local`.
    pub const fn layer(&self) -> &'static str {
        match self {
            Self::Bundled => "bundled",
            Self::Plugin { .. } => "plugin",
            Self::Global => Scope::Global.word(),
            Self::Local => Scope::Local.word(),
        }
    }

    /// The plugin, when it is one.
    pub const fn plugin(&self) -> Option<&PluginName> {
        match self {
            Self::Plugin { name, .. } => Some(name),
            _ => None,
        }
    }
}

impl From<Scope> for Origin {
    fn from(scope: Scope) -> Self {
        match scope {
            Scope::Global => Self::Global,
            Scope::Local => Self::Local,
        }
    }
}

/// `local`, or `plugin audit`.
impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.plugin() {
            Some(name) => write!(formatter, "plugin {name}"),
            None => formatter.write_str(self.layer()),
        }
    }
}
