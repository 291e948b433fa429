//! A kernel without a jail, made from one that has it: a program and all that it
//! starts are told that there is neither landlock nor seccomp.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Has the command run as on such a kernel. Elsewhere than on Linux there is no
/// jail to begin with.
#[cfg(target_os = "linux")]
pub(crate) fn without_jail(command: &mut Command) {
    // SAFETY: it makes two system calls, on what is on its stack.
    unsafe { command.pre_exec(answer_not_there) };
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn without_jail(_command: &mut Command) {}

#[cfg(target_os = "linux")]
fn answer_not_there() -> io::Result<()> {
    let instruction = |code: u32, jt: u8, k: u32| libc::sock_filter { code: code as u16, jt, jf: 0, k };
    let is =
        |call: libc::c_long, jt| instruction(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, jt, call as u32);
    let mut filter = [
        instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0),
        is(libc::SYS_landlock_create_ruleset, 2),
        is(libc::SYS_seccomp, 1),
        instruction(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ALLOW),
        instruction(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: the program is on the stack as long as the kernel reads it. A kernel
    // that knows neither is one without a jail already.
    unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program);
    }
    Ok(())
}
