//! Native plugins: what a library says of itself, running it in a process of
//! its own, the store on disk, and the verbs that change it.

pub mod changes;
pub mod digest;
pub mod drift;
mod global_file;
pub mod inspect;
pub mod jail;
pub mod layer;
pub mod load;
pub mod lockfile;
pub mod manage;
pub mod provides;
pub mod quarantine;
pub mod report;
pub mod run;
pub mod signature;
pub mod signer;
pub mod source;
pub mod status;
pub mod store;
pub mod trust;
