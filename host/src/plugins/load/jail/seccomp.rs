//! Seccomp: the kernel refuses system calls. One filter is for the runner and
//! is inherited, since checking a long filter against all there is takes the
//! kernel a while; a short one, of what the runner itself needs, is for each
//! child.

use std::collections::BTreeMap;

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, apply_filter, sock_filter,
};

mod refused;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Refuses this process, the runner, and its children what none of them needs.
pub(super) fn filter_runner() -> bool {
    install(runner_rules().and_then(|rules| program(rules, answer_not_there())))
}

/// Refuses this process what only the runner needs.
pub(super) fn filter_child() -> bool {
    install(child_rules().and_then(|rules| program(rules, Vec::new())))
}

fn install(program: Result<BpfProgram, BackendError>) -> bool {
    program.is_ok_and(|program| apply_filter(&program).is_ok())
}

/// A filter that answers all that the rules match with "not permitted".
fn program(rules: Rules, before: Vec<sock_filter>) -> Result<BpfProgram, BackendError> {
    let refused = SeccompAction::Errno(libc::EPERM.cast_unsigned());
    let processor = std::env::consts::ARCH.try_into()?;
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refused, processor)?;
    Ok([before, BpfProgram::try_from(filter)?].concat())
}

/// What is answered as by a kernel that doesn't know the call, ahead of all
/// rules: `clone3` and `openat2`, whose flags a filter can't see, so that C
/// libraries fall back to `clone` and `openat`; all calls that came after this list was written; and, far above
/// those, the numbers of x32 on x86-64, which are other ways in to the same calls.
fn answer_not_there() -> Vec<sock_filter> {
    let instruction =
        |code: u32, jt, jf, k| sock_filter { code: u16::try_from(code).unwrap_or_default(), jt, jf, k };
    let number = |call: libc::c_long| u32::try_from(call).unwrap_or(u32::MAX);
    let not_there = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.cast_unsigned();
    vec![
        // The number of the call, which is the first word of what a filter sees.
        instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        instruction(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, 2, 0, refused::FIRST_UNKNOWN),
        instruction(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 1, 0, number(libc::SYS_openat2)),
        instruction(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, number(libc::SYS_clone3)),
        instruction(libc::BPF_RET | libc::BPF_K, 0, 0, not_there),
    ]
}

fn runner_rules() -> Result<Rules, BackendError> {
    let mut rules: Rules = refused::ALWAYS.iter().map(|call| (*call, Vec::new())).collect();
    // Some others are harmless but for one use of them; `prctl` and `ioctl` do
    // all sorts of things, of which a few are needed.
    rules.insert(libc::SYS_prctl, vec![none_of(0, refused::PRCTL_NEEDED)?]);
    rules.insert(libc::SYS_ioctl, vec![none_of(1, refused::IOCTL_NEEDED)?]);
    // Who gets signals when something happens to a file.
    let commands = refused::FCNTL.iter().map(|command| rule(vec![is(1, *command)?]));
    rules.insert(libc::SYS_fcntl, commands.collect::<Result<_, _>>()?);
    // No file is opened for writing, on kernels without landlock neither.
    for (call, argument) in refused::OPEN {
        let flags = refused::OPEN_FLAGS.iter().map(|flag| rule(vec![has_all(*argument, *flag)?]));
        rules.insert(*call, flags.collect::<Result<_, _>>()?);
    }
    // Memory that can be written to and is not counted: shared by nobody with
    // nobody, or growing downwards as a stack.
    let uncounted = (libc::MAP_SHARED | libc::MAP_ANONYMOUS) as u64;
    let growing = libc::MAP_GROWSDOWN as u64;
    rules
        .insert(libc::SYS_mmap, vec![rule(vec![has_all(3, uncounted)?])?, rule(vec![has_all(3, growing)?])?]);
    Ok(rules)
}

fn child_rules() -> Result<Rules, BackendError> {
    let mut rules: Rules = refused::IN_CHILDREN.iter().map(|call| (*call, Vec::new())).collect();
    let lacks = |flag: &libc::c_int| {
        let flag = u64::from(flag.cast_unsigned());
        rule(vec![SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(flag), 0)?])
    };
    rules.insert(libc::SYS_clone, refused::THREAD.iter().map(lacks).collect::<Result<_, _>>()?);
    // A process may end itself with a signal, as `abort` does.
    let this = u64::from(std::process::id());
    for call in refused::SIGNALS {
        rules.insert(*call, vec![none_of(0, &[this])?]);
    }
    let uses = refused::PRCTL_IN_CHILDREN.iter();
    let uses = uses.map(|what| rule(vec![is(0, u64::from(what.cast_unsigned()))?]));
    rules.insert(libc::SYS_prctl, uses.collect::<Result<_, _>>()?);
    // With a new limit, and not only to ask for the old one.
    let new_limit = SeccompCondition::new(2, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)?;
    rules.insert(libc::SYS_prlimit64, vec![rule(vec![new_limit])?]);
    Ok(rules)
}

fn rule(conditions: Vec<SeccompCondition>) -> Result<SeccompRule, BackendError> {
    SeccompRule::new(conditions)
}

/// The argument, of which the kernel looks at 32 bits, is this.
fn is(argument: u8, value: u64) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value)
}

/// The argument has all of these bits.
fn has_all(argument: u8, bits: u64) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(bits), bits)
}

/// The argument is none of these.
fn none_of(argument: u8, values: &[u64]) -> Result<SeccompRule, BackendError> {
    let is_not =
        |value: &u64| SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, *value);
    rule(values.iter().map(is_not).collect::<Result<_, _>>()?)
}
