//! Layers of the JVM's own samplers: what is true at each of their requests is written to a file, which is joined
//! with the samplers' recording after the run (`oracle::requests`). Requests come with signals of the JVM (`copies`), or
//! threads that step make them (`stepped`).

mod copies;
mod early_names;
mod lines;
mod looks;
mod records;
mod stepped;
pub mod writing;
