//! Where walkers gave errors: in which state of the thread, and at which code.

use super::context::Layers;
use crate::evidence;
use crate::locks::lock;
use crate::records::error_codes::ErrorKey;
use crate::sampling::sample::Sample;
use hotspot::walkers::Walker;
use oracle::Layer;

/// Notes the state and the code of `sample`, for which the layer's walker gave the error `code`.
pub fn note(layers: &Layers, layer: Layer, code: i32, sample: &Sample) {
    let jvm = layers.truth.jvm;
    let key = ErrorKey {
        layer,
        code,
        state: state(sample),
        intact: Walker::of(layer).is_some_and(|walker| walker.refuses(code))
            && evidence::is_intact(jvm, sample),
    };
    let find = |pc| evidence::kind_at(jvm, pc);
    lock(&layers.records.errors).add_at(key, sample.at.registers.pc, find);
}

/// The name of the thread's state.
pub fn state(sample: &Sample) -> &'static str {
    sample.at.seen.map_or("unknown", |seen| seen.state.name())
}
