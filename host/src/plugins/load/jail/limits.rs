//! What a plugin's process may use of the machine.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::plugins::jail::Extent;
use crate::plugins::report::{Limits, MEMORY};

const GIBIBYTE: u64 = 1024 * 1024 * 1024;

/// The stack that hooks run on, in bytes.
const STACK: u64 = 8 * 1024 * 1024;

/// How many descriptors may be open. The runner has two for each of its
/// children, and a few of its own.
const DESCRIPTORS: u64 = 64;

/// Limits that the runner can live with too, and that its children inherit.
pub(super) fn of_runner() -> Extent {
    // Hooks have the same stack wherever they run, as far as the system allows.
    let stack = getrlimit(Resource::Stack);
    let _ = setrlimit(Resource::Stack, Rlimit { current: Some(STACK), ..stack });
    let mut limits = vec![
        // A plugin that crashes leaves no image of its memory in the user's project.
        (Resource::Core, 0),
        // What can be written to. Allocators reserve far more of their address
        // space than they use, so that has a limit far above.
        (Resource::Data, MEMORY),
        (Resource::As, 16 * GIBIBYTE),
        // No file grows. Pipes are no files in this.
        (Resource::Fsize, 0),
        (Resource::Nofile, DESCRIPTORS),
        (Resource::Memlock, 0),
    ];
    #[cfg(target_os = "linux")]
    limits.extend([(Resource::Msgqueue, 0), (Resource::Nice, 0), (Resource::Rtprio, 0)]);
    Extent::of(limits.into_iter().map(|(resource, most)| lower(resource, most, most)))
}

/// What counts for each child: its processor time, of all its threads together.
/// A plugin may catch the signal for the first limit; the second is its end.
pub(super) fn of_child(limits: &Limits) -> bool {
    lower(Resource::Cpu, limits.cpu_seconds, limits.cpu_seconds + 1)
}

/// Lowers a limit, and leaves one that is lower already.
fn lower(resource: Resource, soft: u64, hard: u64) -> bool {
    let there = getrlimit(resource);
    let least = |there: Option<u64>, wanted: u64| Some(there.map_or(wanted, |there| there.min(wanted)));
    let limit = Rlimit { current: least(there.current, soft), maximum: least(there.maximum, hard) };
    setrlimit(resource, limit).is_ok()
}
