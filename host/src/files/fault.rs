//! Faults that tests ask for. Each step that changes something on disk goes
//! through [`step`]. In builds with debug assertions it counts them, and the
//! environment can have one of them fail or end this process there and then,
//! so that a test can walk through all steps of a command. In other builds
//! nothing of this is left.
//!
//! `REPLIO_TEST_FILE_FAULT=STEP:WHAT` does `WHAT` at the step of that number,
//! of which the first is 1:
//!
//! - `kill` ends the process before the step, `kill-after` after it, and `half`
//!   when half of what it writes is written (before it, if it writes nothing).
//! - `full`, `denied`, `read-only` and `io` make it fail with that error; a disk
//!   that is full takes half of what is written. With `+` at the end, all later
//!   steps fail too.
//!
//! `REPLIO_TEST_FILE_STEPS=FILE` appends a line to the file for each step as it
//! comes: its number, what it does, and what to.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use super::FileError;

/// Does one step, and says what could not be done to which file.
pub(super) fn step<T>(
    action: &'static str,
    path: &Path,
    act: impl FnOnce() -> io::Result<T>,
) -> Result<T, FileError> {
    in_steps(action, path, || {}, act).map_err(FileError::new(action, path))
}

/// Writes the content of a file that will be at this path.
pub(super) fn write(path: &Path, file: &File, bytes: &[u8]) -> Result<(), FileError> {
    const ACTION: &str = "write";
    let half = || drop((&*file).write_all(&bytes[..bytes.len() / 2]));
    let whole = || (&*file).write_all(bytes);
    in_steps(ACTION, path, half, whole).map_err(FileError::new(ACTION, path))
}

#[cfg(not(debug_assertions))]
fn in_steps<T>(
    _action: &'static str,
    _path: &Path,
    _half: impl FnOnce(),
    act: impl FnOnce() -> io::Result<T>,
) -> io::Result<T> {
    act()
}

#[cfg(debug_assertions)]
fn in_steps<T>(
    action: &'static str,
    path: &Path,
    half: impl FnOnce(),
    act: impl FnOnce() -> io::Result<T>,
) -> io::Result<T> {
    use asked::What;

    match asked::at_this_step(action, path) {
        None => act(),
        Some(What::Kill) => asked::end(),
        Some(What::KillAfter) => {
            let _ = act();
            asked::end()
        }
        Some(What::Half) => {
            half();
            asked::end()
        }
        Some(What::Fail(error)) => {
            if error.kind() == io::ErrorKind::StorageFull {
                half();
            }
            Err(error)
        }
    }
}

#[cfg(debug_assertions)]
mod asked {
    use std::fs::File;
    use std::io::{self, Write};
    use std::path::Path;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    use rustix::io::Errno;

    pub(super) enum What {
        Kill,
        KillAfter,
        Half,
        Fail(io::Error),
    }

    struct Fault {
        step: u64,
        what: String,
        lasts: bool,
    }

    /// Counts this step, and says what is to happen at it.
    pub(super) fn at_this_step(action: &str, path: &Path) -> Option<What> {
        static STEPS: AtomicU64 = AtomicU64::new(0);
        static FAULT: OnceLock<Option<Fault>> = OnceLock::new();
        let number = STEPS.fetch_add(1, Ordering::SeqCst) + 1;
        if let Some(list) = std::env::var_os("REPLIO_TEST_FILE_STEPS") {
            let list = File::options().create(true).append(true).open(list);
            list.and_then(|mut list| writeln!(list, "{number} {action} {}", path.display()))
                .expect("the list of steps can be written");
        }
        let fault = FAULT.get_or_init(asked_for).as_ref()?;
        let is_due = number == fault.step || fault.lasts && number > fault.step;
        is_due.then(|| fault.what())
    }

    fn asked_for() -> Option<Fault> {
        let text = std::env::var("REPLIO_TEST_FILE_FAULT").ok()?;
        let (step, what) = text.split_once(':').expect("REPLIO_TEST_FILE_FAULT is STEP:WHAT");
        let step = step.parse().expect("the STEP of REPLIO_TEST_FILE_FAULT is a number");
        let lasts = what.ends_with('+');
        Some(Fault { step, what: what.trim_end_matches('+').to_owned(), lasts })
    }

    impl Fault {
        fn what(&self) -> What {
            let error = match self.what.as_str() {
                "kill" => return What::Kill,
                "kill-after" => return What::KillAfter,
                "half" => return What::Half,
                "full" => Errno::NOSPC,
                "denied" => Errno::ACCESS,
                "read-only" => Errno::ROFS,
                "io" => Errno::IO,
                other => panic!("REPLIO_TEST_FILE_FAULT can't do {other:?}"),
            };
            What::Fail(error.into())
        }
    }

    /// Ends this process as `kill -9` does.
    pub(super) fn end() -> ! {
        #[cfg(unix)]
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
        std::process::abort()
    }
}
