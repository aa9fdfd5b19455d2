//! The parts of the documentation that are written by a program: results from stored reports, references from tables.
//!
//! * [`Digest`]: what is stored of a report;
//! * [`results`]: the tables of `docs/results`;
//! * [`references`]: the tables of `docs/reference` that come from the tables of layers, walkers and causes, and the sections
//!   of `docs/findings.md`;
//! * [`Part`]: the part of a page between two marks, which alone is written.

mod causes;
mod collectors;
mod cost;
mod digest;
mod edges;
mod findings;
mod inlined;
mod layers;
mod part;
mod profiler_steps;
mod profilers;
mod profiles;
mod queue;
mod reference;
mod renaissance;
mod stability;
mod steps;
mod table;
mod walkers;

pub use causes::Sources;
pub use digest::{Digest, DigestRun, Made, ProfileDigest};
pub use part::Part;
pub use reference::references;

/// The generated parts of the pages in `docs/results`.
pub fn results(digests: &[Digest], sources: &Sources) -> Vec<Part> {
    vec![
        Part::new("results/index.md", causes::tables(digests, sources)),
        Part::new(
            "results/updates.md",
            causes::updates(digests) + &collectors::sections(digests),
        ),
        Part::new("results/profiles.md", profiles::tables(digests)),
        Part::new("results/renaissance.md", renaissance::tables(digests)),
        Part::new(
            "results/profilers.md",
            profilers::tables(digests)
                + "\n### At single instructions\n\n"
                + &profiler_steps::tables(digests),
        ),
        Part::new("results/walker.md", walkers::tables(digests)),
        Part::new(
            "results/layers.md",
            layers::tables(digests) + "\n" + &layers::debug_builds(digests),
        ),
        Part::new("results/cost.md", cost::tables(digests)),
        Part::new("results/edges.md", edges::tables(digests)),
        Part::new("results/stability.md", stability::tables(digests)),
        Part::new("results/steps.md", steps::tables(digests)),
    ]
}

#[cfg(test)]
mod tests;
