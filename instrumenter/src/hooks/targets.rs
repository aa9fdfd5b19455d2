//! The methods that hooks call.

use super::code::Form;
use classfile::pool::{Additions, PoolFull};

/// The methods that the hooks call, as constants of the class being rewritten; each is added when
/// first needed.
#[derive(Debug)]
pub(crate) struct Targets<'o> {
    owner: &'o str,
    class: Option<u16>,
    push: Option<u16>,
    pop: Option<u16>,
    thrown: Option<u16>,
    caught: Option<u16>,
    enter: Option<u16>,
    exit: Option<u16>,
    unwind: Option<u16>,
    check: Option<u16>,
}

impl<'o> Targets<'o> {
    pub(crate) fn new(owner: &'o str) -> Self {
        Self {
            owner,
            class: None,
            push: None,
            pop: None,
            thrown: None,
            caught: None,
            enter: None,
            exit: None,
            unwind: None,
            check: None,
        }
    }

    fn get(
        &mut self,
        adds: &mut Additions<'_, '_>,
        slot: fn(&mut Self) -> &mut Option<u16>,
        name: &str,
        descriptor: &str,
    ) -> Result<u16, PoolFull> {
        if let Some(index) = *slot(self) {
            return Ok(index);
        }
        let class = match self.class {
            Some(class) => class,
            None => *self.class.insert(adds.new_class(self.owner.as_bytes())?),
        };
        Ok(*slot(self).insert(adds.method(class, name.as_bytes(), descriptor.as_bytes())?))
    }

    /// What the entry hook calls.
    pub(crate) fn push(
        &mut self,
        form: Form,
        adds: &mut Additions<'_, '_>,
    ) -> Result<u16, PoolFull> {
        match form {
            Form::Token { .. } => self.get(adds, |t| &mut t.push, "push", "(II)I"),
            Form::Id(_) => self.get(adds, |t| &mut t.enter, "enter", "(II)V"),
        }
    }

    /// What the exit hook calls.
    pub(crate) fn pop(
        &mut self,
        form: Form,
        adds: &mut Additions<'_, '_>,
    ) -> Result<u16, PoolFull> {
        match form {
            Form::Token { .. } => self.get(adds, |t| &mut t.pop, "pop", "(I)V"),
            Form::Id(_) => self.get(adds, |t| &mut t.exit, "exit", "(II)V"),
        }
    }

    /// What the catch-all calls.
    pub(crate) fn thrown(
        &mut self,
        form: Form,
        adds: &mut Additions<'_, '_>,
    ) -> Result<u16, PoolFull> {
        match form {
            Form::Token { .. } => {
                self.get(adds, |t| &mut t.thrown, "thrown", "(Ljava/lang/Object;I)V")
            }
            Form::Id(_) => {
                let descriptor = "(Ljava/lang/Object;II)Ljava/lang/Throwable;";
                self.get(adds, |t| &mut t.unwind, "unwind", descriptor)
            }
        }
    }

    /// What the hook at a handler calls.
    pub(crate) fn caught(&mut self, adds: &mut Additions<'_, '_>) -> Result<u16, PoolFull> {
        self.get(adds, |t| &mut t.caught, "caught", "(Ljava/lang/Object;I)V")
    }

    /// What checks.
    pub(crate) fn check(&mut self, adds: &mut Additions<'_, '_>) -> Result<u16, PoolFull> {
        self.get(adds, |t| &mut t.check, "check", "()V")
    }
}
