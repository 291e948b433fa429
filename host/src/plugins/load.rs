//! The runner's side.
#![allow(unsafe_code)]
/// The glibc.
pub fn glibc_version() -> Option<super::inspect::Glibc> {
    None
}
