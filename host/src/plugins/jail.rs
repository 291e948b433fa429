//! What held a plugin while it ran, as its process told before any code of the
//! plugin. What each part stops, and what none of them stops, is in
//! `docs/reviewer.md`; what does it, in [`load`](super::load).

use std::fmt;

use serde::{Deserialize, Serialize};

/// The parts of the jail, each as far as the system has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Jail {
    /// Whether no program that it could start would give it more rights.
    pub no_new_privileges: bool,
    /// Files, TCP, signals and abstract sockets, by the kernel's landlock.
    pub landlock: Extent,
    /// Which version of landlock the kernel has, where it has one.
    pub landlock_abi: Option<u32>,
    /// System calls that are refused, by the kernel's seccomp.
    pub seccomp: Extent,
    /// Time, processor time, memory, files and descriptors.
    pub limits: Extent,
}

/// How much of a part is in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Extent {
    /// All that replio asks for.
    Full,
    /// What this system has of it, which is not all.
    Partly,
    /// Nothing of it.
    None,
}

impl Extent {
    /// All, some or none of these.
    pub fn of(parts: impl IntoIterator<Item = bool>) -> Self {
        let (mut all, mut some) = (true, false);
        for part in parts {
            all &= part;
            some |= part;
        }
        match (all, some) {
            (true, _) => Self::Full,
            (false, true) => Self::Partly,
            (false, false) => Self::None,
        }
    }
}

impl fmt::Display for Jail {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |extent, name: &str| match extent {
            Extent::Full => name.to_owned(),
            Extent::Partly => format!("{name} in part"),
            Extent::None => format!("no {name}"),
        };
        let privileges = if self.no_new_privileges { "no new privileges" } else { "new privileges possible" };
        let version = self.landlock_abi.map(|version| format!(" (version {version})")).unwrap_or_default();
        write!(
            formatter,
            "{privileges}, {}{version}, {}, {}",
            part(self.landlock, "landlock"),
            part(self.seccomp, "seccomp"),
            part(self.limits, "limits")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_force_is_told_in_words() {
        let mut jail = Jail {
            no_new_privileges: true,
            landlock: Extent::Partly,
            landlock_abi: Some(7),
            seccomp: Extent::Full,
            limits: Extent::Full,
        };
        assert_eq!(jail.to_string(), "no new privileges, landlock in part (version 7), seccomp, limits");
        jail.landlock = Extent::None;
        jail.landlock_abi = None;
        jail.seccomp = Extent::None;
        assert_eq!(jail.to_string(), "no new privileges, no landlock, no seccomp, limits");
    }

    #[test]
    fn all_is_more_than_some() {
        assert_eq!(Extent::of([true, true]), Extent::Full);
        assert_eq!(Extent::of([true, false]), Extent::Partly);
        assert_eq!(Extent::of([false, false]), Extent::None);
    }
}
