use crate::trace::{Frame, HookId, Methods, Presence, Truth};

/// A truth without frames that may have ended.
#[derive(Clone)]
pub(crate) struct Rest<'a> {
    entries: Vec<HookId>,
    checked: &'a [Frame],
    checked_entries: usize,
}

impl Rest<'_> {
    /// The truth in the form that judges take. Each of its entries belongs to an active frame.
    pub(crate) fn truth(&self) -> Truth<'_> {
        Truth {
            entries: &self.entries,
            checked: self.checked,
            checked_entries: self.checked_entries,
            leaving: &[],
        }
    }
}

/// The truths that `truth` can stand for, if any number of the frames that may have ended (see
/// [`crate::trace::Leaving`]) have ended.
pub(crate) fn without_leaving<'a>(truth: &Truth<'a>, methods: &impl Methods) -> Vec<Rest<'a>> {
    let mut rests = vec![Rest {
        entries: truth.entries.to_vec(),
        checked: truth.checked,
        checked_entries: truth.checked_entries,
    }];
    // Newest first, so that the indices of lower entries stay valid.
    for leaving in truth.leaving.iter().rev() {
        for at in 0..rests.len() {
            let mut rest = rests[at].clone();
            for newest in (leaving.upto - leaving.count..leaving.upto).rev() {
                remove(&mut rest, newest, methods);
                rests.push(rest.clone());
            }
        }
    }
    rests.remove(0);
    rests
}

fn remove(rest: &mut Rest<'_>, entry: usize, methods: &impl Methods) {
    rest.entries.remove(entry);
    if entry >= rest.checked_entries {
        return;
    }
    // The entry belongs to the newest checked frame, and all frames below had called another
    // method.
    let below = rest
        .checked
        .split_last()
        .map_or(&[][..], |(_, below)| below);
    let newest = below.iter().rposition(|frame| has_entry(frame, methods));
    rest.checked = newest.map_or(&[], |newest| &below[..=newest]);
    rest.checked_entries = newest.map_or(0, |_| entry);
}

/// Whether a frame that has called a method that is no hook has an entry.
fn has_entry(frame: &Frame, methods: &impl Methods) -> bool {
    let found = methods.hook(frame.method, frame.location);
    found.is_some_and(|(_, presence)| !matches!(presence, Presence::Absent | Presence::Pushing))
}
