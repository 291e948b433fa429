//! The host's door, as a plugin's hooks see it from the child process.

use std::ffi::c_void;
use std::panic;
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use replio_plugin_abi::abi_stable::std_types::{RErr, ROk, RStr, RString};
use replio_plugin_abi::{DoorResult, HookError, HookResult, HostDoor};

/// The token of the hook that runs now; odd while one runs, and never the same
/// twice, so that a call with an old token is told apart.
static CURRENT: AtomicUsize = AtomicUsize::new(0);
static LOG: Mutex<Vec<String>> = Mutex::new(Vec::new());

const MOST_LOG_LINES: usize = 100;
const LONGEST_LOG_LINE: usize = 2 * 1024;

/// Runs a hook with a door that is open as long as it runs.
pub(super) fn open_for(hook: extern "C" fn(HostDoor) -> HookResult) -> HookResult {
    let token = CURRENT.fetch_add(1, Ordering::SeqCst) + 1;
    let result = hook(HostDoor { context: ptr::without_provenance(token), call });
    CURRENT.fetch_add(1, Ordering::SeqCst);
    result
}

/// What the plugin has logged so far.
pub(super) fn take_log() -> Vec<String> {
    LOG.lock().map(|mut log| std::mem::take(&mut *log)).unwrap_or_default()
}

extern "C" fn call(context: *const c_void, door: RStr<'_>, input: RStr<'_>) -> DoorResult {
    // A panic must not reach the plugin: unwinding stops at `extern "C"`, which
    // would abort.
    panic::catch_unwind(|| answer(context.addr(), door.as_str(), input.as_str()))
        .unwrap_or_else(|_| RErr(HookError::new(HookError::FAILED, "the host failed to answer")))
}

fn answer(token: usize, door: &str, input: &str) -> DoorResult {
    if token != CURRENT.load(Ordering::SeqCst) {
        return RErr(HookError::new(HookError::FAILED, "the hook that this door was for has returned"));
    }
    match door {
        "log" => log(input),
        other => {
            let message = format!("this host has no door {:?}", other.chars().take(64).collect::<String>());
            RErr(HookError::new(HookError::UNKNOWN_HOOK, message))
        }
    }
}

fn log(input: &str) -> DoorResult {
    #[derive(serde::Deserialize)]
    struct Line {
        message: String,
    }
    let Ok(mut line) = serde_json::from_str::<Line>(input) else {
        return RErr(HookError::new(HookError::BAD_INPUT, "log takes {\"message\": text}"));
    };
    if let Some((end, _)) = line.message.char_indices().find(|(at, _)| *at >= LONGEST_LOG_LINE) {
        line.message.truncate(end);
    }
    match LOG.lock() {
        Ok(mut log) if log.len() < MOST_LOG_LINES => {
            log.push(line.message);
            ROk(RString::from("{}"))
        }
        _ => RErr(HookError::new(HookError::FAILED, "the plugin has logged too much")),
    }
}
