//! What class files allow: the judge of call edges, for the stacks of recordings.

use crate::methods::NamedMethods;
use hotspot::runtime::{HotSpot, add_class};
use oracle::edge::{EdgeFrame, Finding, Judge, MethodId, Unknown};
use oracle::requests::MethodFacts;
use oracle::trace::{Frame, MethodKey};
use std::cell::RefCell;
use std::collections::HashMap;
use std::io::{self, Read};

/// The class files of a run, as the VM got them.
pub struct Classes(RefCell<Known>);

struct Known {
    judge: Judge,
    ids: HashMap<MethodKey, MethodId>,
}

impl Classes {
    /// Reads the file [`CLASSES_FILE`](oracle::requests::CLASSES_FILE). A class file that was cut off at its end is left out.
    pub fn read(mut input: impl Read) -> io::Result<Classes> {
        let mut judge = Judge::new(&HotSpot);
        let mut length = [0; 4];
        while has_read(&mut input, &mut length)? {
            let length = u32::from_le_bytes(length);
            let mut class_file = vec![];
            input
                .by_ref()
                .take(length.into())
                .read_to_end(&mut class_file)?;
            // The VM refuses a class file that breaks the JVMS.
            _ = add_class(judge.world_mut(), &class_file);
        }
        Ok(Classes(RefCell::new(Known {
            judge,
            ids: HashMap::new(),
        })))
    }

    /// Distrusts the classes of methods whose code was changed after the VM had got their class files.
    pub fn distrust_altered<'f>(&mut self, methods: impl Iterator<Item = &'f MethodFacts>) {
        let world = self.0.get_mut().judge.world_mut();
        for facts in methods {
            let [class, name, descriptor] = [&facts.class, &facts.name, &facts.descriptor];
            let method = world.method(class.as_bytes(), name.as_bytes(), descriptor.as_bytes());
            let is_altered = |code| world.is_ordinary(method) && !world.has_code(method, code);
            if facts.fingerprint.is_some_and(is_altered) {
                world.distrust(class.as_bytes());
            }
        }
    }

    /// The findings on a stack, top frame first. How its thread started is not known.
    pub fn findings(&self, stack: &[Frame], methods: &NamedMethods) -> Option<Vec<Finding>> {
        let Known { judge, ids } = &mut *self.0.borrow_mut();
        let mut frame = |frame: &Frame| {
            let [class, name, descriptor] = methods.full_name(frame.method)?;
            let id = ids.entry(frame.method).or_insert_with(|| {
                let world = judge.world_mut();
                world.method(class.as_bytes(), name.as_bytes(), descriptor.as_bytes())
            });
            Some(EdgeFrame {
                method: *id,
                location: frame.location,
            })
        };
        let frames: Option<Vec<_>> = stack.iter().map(&mut frame).collect();
        let mut found = vec![];
        judge.stack(&frames?, None, &mut found);
        // First comes the finding on the top frame, then those on each frame and its caller.
        let is_own = |at: usize| methods.has_own_name(stack[at].method);
        for (at, finding) in found.iter_mut().enumerate() {
            if !is_own(at) || at > 0 && !is_own(at - 1) {
                *finding = Finding::Unknown(Unknown::Method);
            }
        }
        Some(found)
    }
}

/// Fills `bytes`; false at the end of `input`.
fn has_read(input: &mut impl Read, bytes: &mut [u8]) -> io::Result<bool> {
    match input.read_exact(bytes) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        done => done.map(|()| true),
    }
}
