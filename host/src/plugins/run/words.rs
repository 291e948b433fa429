//! What the host hears from the runner: for each plugin a length, that many
//! bytes of JSON about how its child ended, and the bytes that it reported. A
//! plugin may have got at the runner, so nothing of it is believed unread.

use std::io::{self, Read};

use crate::plugins::load::Ended;
use crate::plugins::report::Limits;

const LARGEST_HEAD: usize = 1024 * 1024;

/// Reads how one child ended and what it reported; `None` at the end.
///
/// # Errors
/// What is read breaks off, is larger than allowed, is no such JSON, or is of
/// none of the `plugins` that were asked for.
pub fn read_end(
    from: &mut impl Read,
    limits: &Limits,
    plugins: usize,
) -> io::Result<Option<(Ended, Vec<u8>)>> {
    let mut length = [0; 4];
    match from.read_exact(&mut length) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error),
    }
    let length = u32::from_le_bytes(length) as usize;
    if length > LARGEST_HEAD {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut head = vec![0; length];
    from.read_exact(&mut head)?;
    let ended: Ended = serde_json::from_slice(&head)?;
    if ended.plugin >= plugins || ended.report_bytes > limits.report_bytes() {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut report = vec![0; ended.report_bytes];
    from.read_exact(&mut report)?;
    Ok(Some((ended, report)))
}
