//! The names of methods that the file knows by a number, because the VM's own tables name them by their addresses.

use crate::jvm::Jvm;
use oracle::requests::MethodName;
use std::collections::HashMap;

/// The method below whose frame those of a carrier begin.
const ENTER_SPECIAL: (&str, &str) = ("jdk/internal/vm/Continuation", "enterSpecial");

/// The numbers of methods by their addresses; `None` where there is no method.
#[derive(Default)]
pub struct Names {
    numbers: HashMap<usize, Option<u32>>,
    /// Names that are not written yet.
    new: Vec<(u32, MethodName)>,
    /// The number of `Continuation.enterSpecial`, once it was seen.
    enter_special: Option<u32>,
}

impl Names {
    /// The number of the VM's method at the address `method`; `None` if there is no method.
    pub fn number(&mut self, jvm: &Jvm, method: usize) -> Option<u32> {
        let Names {
            numbers,
            new,
            enter_special,
        } = self;
        let next = numbers.len() as u32;
        *numbers.entry(method).or_insert_with(|| {
            let name = jvm.code_cache().ok()?.name_of_method(method)?;
            if (&*name.class, &*name.name) == ENTER_SPECIAL {
                *enter_special = Some(next);
            }
            new.push((next, name));
            Some(next)
        })
    }

    /// The names that are new since the last call, with their numbers.
    pub fn new_ones(&mut self) -> impl Iterator<Item = (u32, MethodName)> + '_ {
        self.new.drain(..)
    }

    /// The number of `Continuation.enterSpecial`, once it was seen.
    pub fn enter_special(&self) -> Option<u32> {
        self.enter_special
    }
}
