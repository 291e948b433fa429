//! Native plugins: what a library says of itself, running it in a process of
//! its own, the store on disk, and the verbs that change it.

pub mod digest;
pub mod inspect;
pub mod load;
pub mod report;
pub mod run;
