//! The class whose methods hooks call.

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
