//! Walks of methods whose class was redefined while they ran.
//!
//! The key of a redefined method stands for its newest version. GetStackTrace gives a frame of an
//! older version a key of its own, and it is not safe to ask the VM about this key. The trace stack
//! tells the versions apart: each version has a hook of its own, because each redefinition is
//! rewritten anew.

use super::hooked::{Hooked, Known};
use super::old_frames::{Old, WithOld};
use super::registry::Registry;
use oracle::judge::{TraceTruth, Truth};
use oracle::trace::{Frame, HookId, MethodKey, TraceSnapshot};
use oracle::{Judgement, Reason, Verdict};
use std::sync::Arc;

/// Before any method was redefined, in nanoseconds of `clock::since_start`.
const EVER: u64 = 0;

/// A version of a method.
enum Version {
    /// The version that its key stands for.
    Newest,
    /// An older version, or one whose class got no ids.
    Old(Arc<Hooked>),
    /// The version is not known.
    Unknown,
}

impl Registry {
    /// Withdraws a mismatch if it is not certain which methods are compared.
    ///
    /// The key of a redefined method stands for its newest version. For a frame of an older version
    /// AsyncGetCallTrace returns no key. GetStackTrace returns a key of its own, or the same key if
    /// versions between had the same code. Keys of unloaded classes stand for nothing.
    ///
    /// `reference` has the stacks of keys with which `walk` was compared.
    pub fn settle(
        &self,
        judgement: Judgement,
        walk: &[Frame],
        reference: &[&[Frame]],
    ) -> Judgement {
        // The judge of edges has its own doubts.
        let is_of_edge = matches!(judgement.reason, Reason::Edge(_));
        if judgement.is_mismatch() && !is_of_edge {
            self.notice_changes(walk, &[]);
        }
        if judgement.differs() && !is_of_edge && self.is_doubtful(walk, reference) {
            Judgement::plain(Verdict::Unverifiable, Reason::MethodGone)
        } else {
            judgement
        }
    }

    /// Whether it is not certain of which methods the frames of `walk` or `reference` are.
    pub fn is_doubtful(&self, walk: &[Frame], reference: &[&[Frame]]) -> bool {
        let exchanged = |frame: &Frame| self.was_redefined(frame.method);
        walk.iter().any(|frame| self.is_doubtful_frame(frame))
            || reference.iter().copied().flatten().any(exchanged)
    }

    /// Whether it is not certain of which method a `frame` of a walk is.
    pub fn is_doubtful_frame(&self, frame: &Frame) -> bool {
        let is_gone = || match frame.method.0 {
            0 => !self.has_one_version_each() || self.kept_ids.are_too_many(),
            _ => self.with_known(frame.method, |known| matches!(known, Known::Gone)),
        };
        self.was_redefined(frame.method) || is_gone()
    }

    /// Judges a mismatch of `gst` again. GetStackTrace was asked for the stack of the calling
    /// thread at `asked` (in nanoseconds of `clock::since_start`). A frame of an old version must
    /// have a key of its own, and no other frame may have such a key. The verdict is `Unverifiable`
    /// if the versions are not known.
    pub fn settle_here(
        &self,
        mismatch: Judgement,
        gst: &[Frame],
        truth: &TraceSnapshot<'_>,
        asked: u64,
    ) -> Judgement {
        if !mismatch.is_mismatch() {
            return mismatch;
        }
        self.notice_changes(gst, truth.entries);
        if !self.is_doubtful(gst, &[truth.checked]) {
            // A key may have become known since the walk was judged.
            return TraceTruth::new(truth, self).judge(gst);
        }
        let doubtful = Judgement::plain(Verdict::Unverifiable, Reason::MethodGone);
        let mut old = vec![];
        for &hook in &truth.entries[truth.checked_entries..] {
            match self.version_of(hook) {
                Version::Newest => {}
                Version::Old(hooked) => old.push((hook, Some(hooked))),
                Version::Unknown => return doubtful,
            }
        }
        // A redefinition may have ended between the walk and its judgement, or during the judgement.
        if self.have_changed_since(gst, asked) {
            return doubtful;
        }
        if old.is_empty() {
            // All entries are of versions that run now, so they ran when GetStackTrace was asked, and each has
            // a key that is known: a key of no class stands for none of them. What the VM said of the methods
            // before may have been out of date.
            return TraceTruth::new(truth, self).judge(gst);
        }
        let above = gst.len() - truth.checked.len().min(gst.len());
        let strangers = gst[..above].iter().rev().map(|frame| frame.method);
        let strangers: Vec<_> = strangers.filter(|&key| self.is_stranger(key)).collect();
        let mut with_old = WithOld::new(self);
        let mut pairs = strangers.iter().zip(&old);
        let has_one_version_each =
            pairs.all(|(&key, version)| with_old.add(key, version) == version.0);
        let found = if has_one_version_each && strangers.len() <= old.len() {
            TraceTruth::new(truth, &with_old).judge(gst)
        } else {
            mismatch
        };
        if found.is_mismatch() && self.agrees_by_place(gst, truth) {
            doubtful
        } else {
            found
        }
    }

    /// Whether `gst` agrees if keys of no class may stand for the old versions that the trace stack has in their
    /// places, and the keys of newest versions for old versions of their methods.
    ///
    /// HotSpot 17 gives some frames of old versions the key of the newest version: seen in some 10 of
    /// 15,000 checks of the fixture `redefinition`. Probably the version between had equal code: then the
    /// frame's version does not count as obsolete (`check_methods_and_mark_as_obsolete` in
    /// `jvmtiRedefineClasses.cpp`), and its ID is looked up by the number that the newest version has.
    fn agrees_by_place(&self, gst: &[Frame], truth: &TraceSnapshot<'_>) -> bool {
        let mut by_place = WithOld::new(self);
        let mut named = gst.to_vec();
        by_place.name(&mut named, 0..gst.len(), truth, EVER);
        !TraceTruth::new(truth, &by_place)
            .judge(&named)
            .is_mismatch()
    }

    /// `walk`, in which frames that name no method and may be of an old version are replaced by the
    /// frames of `reference`, a stack of GetStackTrace at the same instant; `None` if there are no
    /// such frames.
    pub fn without_old_versions(&self, walk: &[Frame], reference: &[Frame]) -> Option<Vec<Frame>> {
        let pairs = walk.iter().zip(reference);
        let is_old = |(frame, other): (&Frame, &Frame)| {
            let names_none = frame.method.0 == 0 || self.is_stranger(frame.method);
            let may_be_old = self.is_doubtful_frame(other) || self.is_stranger(other.method);
            frame.location == other.location && names_none && may_be_old
        };
        if !pairs.clone().any(is_old) {
            return None;
        }
        let known = pairs.map(|(frame, other)| {
            if is_old((frame, other)) {
                *other
            } else {
                *frame
            }
        });
        let rest = walk.iter().skip(reference.len());
        Some(known.chain(rest.copied()).collect())
    }

    /// Looks up what the keys of `walk` stand for by now. Waits a moment for a class that is being prepared.
    pub fn look_up(&self, walk: &[Frame]) {
        for frame in walk {
            self.known(frame.method);
        }
    }

    /// Whether a key of `walk` was seen to stand for another version since `time`, in nanoseconds of
    /// `clock::since_start`.
    pub fn have_changed_since(&self, walk: &[Frame], time: u64) -> bool {
        let mut frames = walk.iter();
        frames.any(|frame| self.has_changed_since(frame.method, time))
    }

    /// The version that has the hook, unless its key stands for that version; without a map if its class
    /// was unloaded.
    pub(super) fn old_version(&self, hook: HookId) -> Option<Old> {
        match self.version_of(hook) {
            Version::Newest => None,
            Version::Old(hooked) => Some((hook, Some(hooked))),
            Version::Unknown => Some((hook, self.by_hook(hook))),
        }
    }

    /// The version of the method that has the hook.
    fn version_of(&self, hook: HookId) -> Version {
        // The hook of a retransformed class may be that of several versions.
        let Some(hooked) = self.by_hook(hook).filter(|hooked| !hooked.is_altered) else {
            return Version::Unknown;
        };
        if !hooked.has_id {
            return Version::Old(hooked);
        }
        match self.newest_hook(&hooked) {
            Some(newest) if newest == hook => Version::Newest,
            Some(_) => Version::Old(hooked),
            None => Version::Unknown,
        }
    }

    /// The hook of the newest version of a method, if a walk has shown that version.
    fn newest_hook(&self, hooked: &Hooked) -> Option<HookId> {
        let is_version = |known: &Known| match known {
            Known::Hooked(_, other) => other.is_version_of(hooked),
            _ => false,
        };
        let keys: Vec<_> = {
            let known = self.all_known();
            let versions = known.iter().filter(|(_, known)| is_version(known));
            versions.map(|(&key, _)| MethodKey(key)).collect()
        };
        match keys[..] {
            [key] => self.known(key).hook(),
            // Classes of several loaders have this name.
            _ => None,
        }
    }

    /// Whether the key is of no class: GetStackTrace made it for an old version, or the VM made the
    /// method itself.
    pub(super) fn is_stranger(&self, key: MethodKey) -> bool {
        matches!(self.known(key), Known::Stranger | Known::Gone)
    }
}
