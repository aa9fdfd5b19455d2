//! One answer of the judge of edges for all who ask about the same stack.

use oracle::edge::Finding;
use oracle::trace::Frame;
use std::cell::RefCell;

/// The findings on the stack that was asked about last.
///
/// A thread that hurries gets no findings while another thread judges. Who judges a fault and who says what
/// must become of the fault need the same answer.
#[derive(Default)]
pub struct Memo(RefCell<Option<Answer>>);

struct Answer {
    stack: Vec<Frame>,
    found: Option<Vec<Finding>>,
}

impl Memo {
    /// The findings on `stack`, which `find` makes if another stack was asked about last.
    pub fn of(
        &self,
        stack: &[Frame],
        find: impl FnOnce() -> Option<Vec<Finding>>,
    ) -> Option<Vec<Finding>> {
        if let Some(last) = &*self.0.borrow()
            && last.stack == stack
        {
            return last.found.clone();
        }
        let found = find();
        self.0.replace(Some(Answer {
            stack: stack.to_vec(),
            found: found.clone(),
        }));
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oracle::trace::{Location, MethodKey};

    #[test]
    fn each_stack_is_asked_about_once_in_a_row() {
        let memo = Memo::default();
        assert_eq!(memo.of(&[], || None), None);
        assert_eq!(memo.of(&[], || Some(vec![])), None);
        let other = [Frame {
            method: MethodKey(7),
            location: Location(1),
        }];
        assert_eq!(memo.of(&other, || Some(vec![])), Some(vec![]));
    }
}
