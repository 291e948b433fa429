//! Landlock: the kernel refuses this process all files but those it needs, and
//! what else newer kernels can refuse.

use std::path::PathBuf;

use landlock::{
    ABI, Access, AccessFs, AccessNet, LandlockStatus, PathBeneath, PathFd, RestrictionStatus, Ruleset,
    RulesetAttr, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
};

use crate::plugins::jail::Extent;

/// The newest version that is known here. Kernels with an older one enforce what
/// they know of it.
const NEWEST: ABI = ABI::V10;

/// Lets this process read these files, and what is in these folders, and do
/// nothing else with any file. Says how much of that is enforced, and by which
/// version of landlock.
pub(super) fn restrict(readable: &[PathBuf]) -> (Extent, Option<u32>) {
    let Ok(status) = try_restrict(readable) else { return (Extent::None, None) };
    let extent = match status.ruleset {
        RulesetStatus::FullyEnforced => Extent::Full,
        RulesetStatus::PartiallyEnforced => Extent::Partly,
        RulesetStatus::NotEnforced => Extent::None,
    };
    let version = match status.landlock {
        LandlockStatus::Available { effective_abi, kernel_abi } => {
            u32::try_from(kernel_abi.unwrap_or(effective_abi as i32)).ok()
        }
        _ => None,
    };
    (extent, version)
}

fn try_restrict(readable: &[PathBuf]) -> Result<RestrictionStatus, RulesetError> {
    let mut rules = Ruleset::default()
        .handle_access(AccessFs::from_all(NEWEST))?
        .handle_access(AccessNet::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?
        .create()?;
    for path in readable {
        // Not every system has every folder; a library that is not there is told
        // by the one who opens it.
        if let Ok(path) = PathFd::new(path) {
            rules = rules.add_rule(PathBeneath::new(path, AccessFs::ReadFile))?;
        }
    }
    // The runner has seen to new privileges.
    rules.no_new_privs(false).restrict_self()
}
