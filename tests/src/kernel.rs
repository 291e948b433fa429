//! A kernel without a jail, made from one that has it: a program and all that it
//! starts are told that there is no landlock, or no seccomp.

use std::process::{Command, Stdio};
use std::sync::{OnceLock, mpsc};
use std::time::Duration;

/// What a story's kernel has, of what the real one has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kernel {
    pub(crate) has_landlock: bool,
    pub(crate) has_seccomp: bool,
}

impl Default for Kernel {
    fn default() -> Self {
        Self { has_landlock: true, has_seccomp: true }
    }
}

impl Kernel {
    /// Has the command run as on this kernel.
    #[cfg(target_os = "linux")]
    pub(crate) fn run(self, command: &mut Command) {
        use std::os::unix::process::CommandExt;
        if self.has_landlock && self.has_seccomp {
            return;
        }
        // SAFETY: it makes two system calls, on what is on its stack.
        unsafe {
            command.pre_exec(move || {
                self.answer_not_there();
                Ok(())
            });
        }
    }

    /// Other systems have neither.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn run(self, _command: &mut Command) {}

    #[cfg(target_os = "linux")]
    fn answer_not_there(self) {
        use libc::{BPF_ABS, BPF_JEQ, BPF_JMP, BPF_K, BPF_LD, BPF_RET, BPF_W};
        const NO_CALL: libc::c_long = 100_000;
        let instruction = |code: u32, jt: u8, k: u32| libc::sock_filter { code: code as u16, jt, jf: 0, k };
        let is = |has: bool, call: libc::c_long, jt| {
            instruction(BPF_JMP | BPF_JEQ | BPF_K, jt, if has { NO_CALL } else { call } as u32)
        };
        let not_there = libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32;
        let mut filter = [
            instruction(BPF_LD | BPF_W | BPF_ABS, 0, 0),
            is(self.has_landlock, libc::SYS_landlock_create_ruleset, 2),
            is(self.has_seccomp, libc::SYS_seccomp, 1),
            instruction(BPF_RET | BPF_K, 0, libc::SECCOMP_RET_ALLOW),
            instruction(BPF_RET | BPF_K, 0, not_there),
        ];
        let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
        // SAFETY: the program is on the stack as long as the kernel reads it. A kernel
        // that knows none of this is one without a jail already.
        unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
            libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program);
        }
    }
}

/// Whether kernels without a jail can be made here. A real one that has no
/// filters, or no memory left for them, makes none; one that waits for such memory
/// may do so for ever.
pub(crate) fn can_be_made() -> bool {
    static CAN: OnceLock<bool> = OnceLock::new();
    *CAN.get_or_init(|| {
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || {
            let mut command = Command::new("grep");
            command.args(["-q", "^Seccomp:[[:space:]]*2", "/proc/self/status"]);
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            Kernel { has_landlock: false, ..Kernel::default() }.run(&mut command);
            let _ = sender.send(command.status().is_ok_and(|status| status.success()));
        });
        receiver.recv_timeout(Duration::from_secs(30)).unwrap_or(false)
    })
}
