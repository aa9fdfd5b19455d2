//! The class and the methods that hooks call.

use super::code::Form;
use classfile::pool::{Additions, PoolFull};

/// The methods that the hooks call, as constants of the class. Each constant is added when first
/// needed.
#[derive(Debug)]
pub(crate) struct Targets<'o> {
    owner: &'o str,
    class: Option<u16>,
    /// Names of methods, and their constants.
    methods: Vec<(&'static str, u16)>,
}

impl<'o> Targets<'o> {
    pub(crate) fn new(owner: &'o str) -> Self {
        Self {
            owner,
            class: None,
            methods: vec![],
        }
    }

    fn get(
        &mut self,
        adds: &mut Additions<'_, '_>,
        name: &'static str,
        descriptor: &str,
    ) -> Result<u16, PoolFull> {
        if let Some(&(_, index)) = self.methods.iter().find(|(known, _)| *known == name) {
            return Ok(index);
        }
        let class = match self.class {
            Some(class) => class,
            None => *self.class.insert(adds.new_class(self.owner.as_bytes())?),
        };
        let index = adds.method(class, name.as_bytes(), descriptor.as_bytes())?;
        self.methods.push((name, index));
        Ok(index)
    }

    /// The method that the entry hook calls.
    pub(crate) fn push(
        &mut self,
        form: Form,
        adds: &mut Additions<'_, '_>,
    ) -> Result<u16, PoolFull> {
        match form {
            Form::Token { plain: false, .. } => self.get(adds, "push", "(II)I"),
            Form::Token { plain: true, .. } => self.get(adds, "pushPlainly", "(II)I"),
            Form::Id { plain: false, .. } => self.get(adds, "enter", "(II)V"),
            Form::Id { plain: true, .. } => self.get(adds, "enterPlainly", "(II)V"),
        }
    }

    /// The method that the exit hook calls.
    pub(crate) fn pop(
        &mut self,
        form: Form,
        adds: &mut Additions<'_, '_>,
    ) -> Result<u16, PoolFull> {
        match form {
            Form::Token { plain: false, .. } => self.get(adds, "pop", "(I)V"),
            Form::Token { plain: true, .. } => self.get(adds, "popPlainly", "(I)V"),
            Form::Id { plain: false, .. } => self.get(adds, "exit", "(II)V"),
            Form::Id { plain: true, .. } => self.get(adds, "exitPlainly", "(II)V"),
        }
    }

    /// The method that the catch-all calls.
    pub(crate) fn thrown(
        &mut self,
        form: Form,
        adds: &mut Additions<'_, '_>,
    ) -> Result<u16, PoolFull> {
        match form {
            Form::Token { .. } => self.get(adds, "thrown", "(Ljava/lang/Object;I)V"),
            Form::Id { .. } => {
                let descriptor = "(Ljava/lang/Object;II)Ljava/lang/Throwable;";
                self.get(adds, "unwind", descriptor)
            }
        }
    }

    /// The method that the hook at a handler calls.
    pub(crate) fn caught(&mut self, adds: &mut Additions<'_, '_>) -> Result<u16, PoolFull> {
        self.get(adds, "caught", "(Ljava/lang/Object;I)V")
    }

    /// The method that makes a check.
    pub(crate) fn check(&mut self, adds: &mut Additions<'_, '_>) -> Result<u16, PoolFull> {
        self.get(adds, "check", "()V")
    }
}

/// The class with the static methods that hooks call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HookClass<'o> {
    /// Its internal name. The class must be visible to each rewritten class.
    pub name: &'o str,
    /// Which methods keep a token.
    pub tokens: Tokens,
}

/// Which methods keep a *token*, the depth of the trace stack before their `push`, in a local
/// variable of the hooks' own. Other methods name their entry by their
/// [`HookId`](classfile::entry::HookId) alone, and get no local variables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tokens {
    /// All methods. The hooks call `push(II)I`, `pop(I)V`, `thrown(Ljava/lang/Object;I)V` and
    /// `caught(Ljava/lang/Object;I)V`.
    Always,
    /// Methods whose entry the id alone does not identify: methods with exception handlers, and
    /// constructors that an exception may leave without a hook. Other methods call `enter(II)V`,
    /// `exit(II)V` and `unwind(Ljava/lang/Object;II)Ljava/lang/Throwable;`.
    WhereNeeded,
}
