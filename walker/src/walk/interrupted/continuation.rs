//! The two native methods of continuations, whose wrappers are not like others.

use crate::layout::code_cache::{Blob, Kind};
use crate::layout::stamp::Stamped;
use crate::walk::frame::Frame;
use crate::walk::{Position, Walk};
use hotspot::arch::{Follow, Native};
use hotspot::memory::Memory;

impl Walk<'_> {
    /// The frame of a native wrapper whose caller is at `caller`. When `Continuation.doYield` has frozen its callers, its
    /// code goes on in the frame of `enterSpecial`, and returns for that.
    pub(super) fn behind_freezing(&self, frame: Frame, caller: Position) -> Frame {
        let Some(known) = &self.vm.continuations else {
            return frame;
        };
        let is_of_yield = || {
            let mut below = self.clone();
            below.position = caller;
            let next = below.next_frame().ok().flatten();
            next.is_none_or(|next| next.is_of(known.yields))
        };
        if !frame.is_of(known.freezes) || is_of_yield() {
            return frame;
        }
        Frame {
            method: Some(Stamped::unstamped(known.enters)),
            ..frame
        }
    }

    /// The last entry of a wrapper before `pc` at which the code links its frame: `Continuation.enterSpecial` has an
    /// entry for the interpreter, and another behind.
    pub(super) fn link_before(&self, blob: &Blob, pc: usize) -> Option<usize> {
        const REACH: usize = 32;
        let is_link = |at: &usize| Native::link_length(&self.memory.code(*at)).is_some();
        let candidates = (blob.code.max(pc.saturating_sub(REACH))..=pc).rev();
        matches!(blob.kind, Kind::NativeWrapper(_))
            .then(|| candidates.into_iter().find(is_link))
            .flatten()
    }
}
