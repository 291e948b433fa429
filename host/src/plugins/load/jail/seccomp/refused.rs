//! The system calls that are refused. A list of what is refused, and not of what
//! is allowed: what a C library and an allocator need differs with their
//! versions, and a plugin that works must not end with an update of either.

#![allow(non_upper_case_globals, clippy::wildcard_imports, reason = "they are named as in the libc crate")]
#![allow(clippy::unnecessary_cast, reason = "their types differ between C libraries")]

use libc::*;

/// The first number that no call had when this list was written (after Linux 6.18).
pub(super) const FIRST_UNKNOWN: u32 = 470;

// Calls that are newer than the names in the libc crate; they have the same
// number on every processor.
const SYS_lsm_set_self_attr: c_long = 460;
const SYS_setxattrat: c_long = 463;
const SYS_removexattrat: c_long = 466;
const SYS_open_tree_attr: c_long = 467;
const SYS_file_setattr: c_long = 469;
const SYS_fchmodat2: c_long = 452;
// Calls that the libc crate has no name for on this processor.
#[cfg(target_arch = "aarch64")]
const SYS_renameat: c_long = 38;
#[cfg(target_arch = "aarch64")]
const SYS_setrlimit: c_long = 164;

/// What neither the runner nor a plugin needs.
pub(super) const ALWAYS: &[c_long] = &[
    // Networks, and sockets on this machine.
    SYS_socket,
    SYS_socketpair,
    SYS_connect,
    SYS_bind,
    SYS_listen,
    SYS_accept,
    SYS_accept4,
    SYS_sendto,
    SYS_recvfrom,
    SYS_sendmsg,
    SYS_recvmsg,
    SYS_sendmmsg,
    SYS_recvmmsg,
    SYS_shutdown,
    SYS_getsockname,
    SYS_getpeername,
    SYS_setsockopt,
    SYS_getsockopt,
    // Programs.
    SYS_execve,
    SYS_execveat,
    // Other processes: their memory, their descriptors, their priorities.
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_process_madvise,
    SYS_process_mrelease,
    SYS_kcmp,
    SYS_pidfd_open,
    SYS_pidfd_getfd,
    SYS_pidfd_send_signal,
    SYS_migrate_pages,
    SYS_move_pages,
    SYS_setpriority,
    SYS_sched_setparam,
    SYS_sched_setscheduler,
    SYS_sched_setattr,
    SYS_sched_setaffinity,
    SYS_ioprio_set,
    // What is known of files, which landlock leaves alone.
    SYS_fchmod,
    SYS_fchmodat,
    SYS_fchmodat2,
    SYS_fchown,
    SYS_fchownat,
    SYS_setxattr,
    SYS_lsetxattr,
    SYS_fsetxattr,
    SYS_setxattrat,
    SYS_removexattr,
    SYS_lremovexattr,
    SYS_fremovexattr,
    SYS_removexattrat,
    SYS_file_setattr,
    SYS_utimensat,
    SYS_flock,
    // What landlock refuses only since some version, or on kernels that have it.
    SYS_truncate,
    SYS_mknodat,
    SYS_mkdirat,
    SYS_linkat,
    SYS_symlinkat,
    SYS_unlinkat,
    SYS_renameat,
    SYS_renameat2,
    SYS_memfd_create,
    SYS_memfd_secret,
    // Who this process is.
    SYS_setuid,
    SYS_setgid,
    SYS_setreuid,
    SYS_setregid,
    SYS_setresuid,
    SYS_setresgid,
    SYS_setfsuid,
    SYS_setfsgid,
    SYS_setgroups,
    SYS_capset,
    SYS_lsm_set_self_attr,
    SYS_personality,
    // Name spaces and mounts.
    SYS_unshare,
    SYS_setns,
    SYS_chroot,
    SYS_pivot_root,
    SYS_mount,
    SYS_umount2,
    SYS_move_mount,
    SYS_mount_setattr,
    SYS_open_tree,
    SYS_open_tree_attr,
    SYS_fsopen,
    SYS_fsconfig,
    SYS_fsmount,
    SYS_fspick,
    // Memory that a pipe holds and no limit counts, and places for requests that
    // the whole machine shares.
    SYS_vmsplice,
    SYS_splice,
    SYS_tee,
    SYS_io_setup,
    SYS_io_submit,
    // Ways around what is looked at call by call, and into the kernel.
    SYS_io_uring_setup,
    SYS_io_uring_enter,
    SYS_io_uring_register,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_open_by_handle_at,
    SYS_name_to_handle_at,
    // Secrets that the kernel keeps.
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    // Memory, queues and semaphores that other processes can get at.
    SYS_shmget,
    SYS_shmat,
    SYS_shmctl,
    SYS_semget,
    SYS_semop,
    SYS_semctl,
    SYS_semtimedop,
    SYS_msgget,
    SYS_msgsnd,
    SYS_msgrcv,
    SYS_msgctl,
    SYS_mq_open,
    SYS_mq_unlink,
    // Watching what others do to files.
    SYS_fanotify_init,
    SYS_fanotify_mark,
    SYS_inotify_init1,
    SYS_inotify_add_watch,
    // The machine.
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
    SYS_kexec_file_load,
    SYS_reboot,
    SYS_swapon,
    SYS_swapoff,
    SYS_quotactl,
    SYS_quotactl_fd,
    SYS_acct,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_clock_adjtime,
    SYS_adjtimex,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_syslog,
    SYS_vhangup,
    SYS_sync,
    SYS_syncfs,
    SYS_fsync,
    SYS_fdatasync,
    SYS_sync_file_range,
    // The same under the older names that x86-64 has.
    #[cfg(target_arch = "x86_64")]
    SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    SYS_chown,
    #[cfg(target_arch = "x86_64")]
    SYS_lchown,
    #[cfg(target_arch = "x86_64")]
    SYS_utime,
    #[cfg(target_arch = "x86_64")]
    SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    SYS_futimesat,
    #[cfg(target_arch = "x86_64")]
    SYS_mknod,
    #[cfg(target_arch = "x86_64")]
    SYS_mkdir,
    #[cfg(target_arch = "x86_64")]
    SYS_rmdir,
    #[cfg(target_arch = "x86_64")]
    SYS_creat,
    #[cfg(target_arch = "x86_64")]
    SYS_link,
    #[cfg(target_arch = "x86_64")]
    SYS_symlink,
    #[cfg(target_arch = "x86_64")]
    SYS_unlink,
    #[cfg(target_arch = "x86_64")]
    SYS_rename,
    #[cfg(target_arch = "x86_64")]
    SYS_inotify_init,
    #[cfg(target_arch = "x86_64")]
    SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    SYS_modify_ldt,
];

/// What opens files, and which argument has the flags.
pub(super) const OPEN: &[(c_long, u8)] = &[
    (SYS_openat, 2),
    #[cfg(target_arch = "x86_64")]
    (SYS_open, 1),
];

/// The flags with which a file is changed, or made.
pub(super) const OPEN_FLAGS: &[u64] = &[O_WRONLY as u64, O_RDWR as u64, O_CREAT as u64, O_TRUNC as u64];

/// What only the runner needs: other processes, groups of them, and limits.
pub(super) const IN_CHILDREN: &[c_long] = &[
    #[cfg(target_arch = "x86_64")]
    SYS_fork,
    #[cfg(target_arch = "x86_64")]
    SYS_vfork,
    SYS_setpgid,
    SYS_setsid,
    SYS_setrlimit,
    // A filter or ruleset more makes the jail no better, and their number is
    // bounded for the whole machine: who uses them up takes them from others.
    SYS_seccomp,
    SYS_landlock_create_ruleset,
    SYS_landlock_add_rule,
    SYS_landlock_restrict_self,
];

/// The uses of `prctl` that only the runner and a child that is not jailed yet
/// have a need for.
pub(super) const PRCTL_IN_CHILDREN: &[i32] = &[PR_SET_PDEATHSIG, PR_SET_SECCOMP];

/// What a thread shares with its process: without it, limits would count for
/// each thread by itself.
pub(super) const THREAD: &[i32] = &[CLONE_THREAD, CLONE_VM, CLONE_FILES, CLONE_FS, CLONE_SIGHAND];

/// What sends a signal. The first argument is the process, or in `tkill` the
/// thread, which has the process's number if it is its first.
pub(super) const SIGNALS: &[c_long] =
    &[SYS_kill, SYS_tkill, SYS_tgkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo];

/// The uses of `prctl` that are left: names of threads and of memory, timers,
/// what is asked and not set, what the jail itself is made with.
pub(super) const PRCTL_NEEDED: &[u64] = &[
    PR_SET_NAME as u64,
    PR_GET_NAME as u64,
    PR_SET_VMA as u64,
    PR_SET_PDEATHSIG as u64,
    PR_GET_PDEATHSIG as u64,
    PR_GET_DUMPABLE as u64,
    PR_SET_NO_NEW_PRIVS as u64,
    PR_GET_NO_NEW_PRIVS as u64,
    PR_GET_SECCOMP as u64,
    PR_SET_SECCOMP as u64,
    PR_SET_TIMERSLACK as u64,
    PR_GET_TIMERSLACK as u64,
    PR_CAPBSET_READ as u64,
    PR_SET_THP_DISABLE as u64,
    PR_GET_THP_DISABLE as u64,
];

/// The uses of `ioctl` that are left: whether something is a terminal, how much
/// there is to read, whether to wait and whether to keep.
pub(super) const IOCTL_NEEDED: &[u64] =
    &[TCGETS as u64, TIOCGWINSZ as u64, FIONREAD as u64, FIONBIO as u64, FIOCLEX as u64, FIONCLEX as u64];

/// The uses of `fcntl` that make the kernel send signals, or others wait.
pub(super) const FCNTL: &[u64] = &[
    F_SETOWN as u64,
    F_SETOWN_EX,
    F_SETSIG,
    F_SETLEASE as u64,
    F_NOTIFY as u64,
    F_SETLK as u64,
    F_SETLKW as u64,
    F_OFD_SETLK as u64,
    F_OFD_SETLKW as u64,
];

const F_SETSIG: u64 = 10;
const F_SETOWN_EX: u64 = 15;
