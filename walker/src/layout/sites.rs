//! Calls in compiled code that walks have met, with what the VM's tables say of them.
//!
//! The tables are of a compilation. The memory of a compilation may be given to another, so each call is kept with the
//! compilation that it belongs to, and counts only where this compilation still is.

use crate::layout::certainty::Certainty;
use crate::layout::code_cache::CodeCache;
use crate::layout::memo::Memo;
use crate::layout::stamp::{Stamp, Stamped};
use hotspot::layout::debug_info::Scope;
use hotspot::layout::method::Method;
use hotspot::layout::nmethod::{Compilation, Nmethod};
use vm::memory::Permanent;

/// Calls by return address, scopes by address, and other instructions by address.
pub struct Sites {
    calls: Memo<7>,
    scopes: Memo<6>,
    bodies: Memo<5>,
}

/// An instruction in the body of compiled code, which has no debug info record of its own.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Body {
    /// Which compilation has made the code.
    pub compilation: Compilation,
    /// The compiled method.
    pub method: Stamped,
    /// The code.
    pub nmethod: Nmethod,
    /// The tier.
    pub level: i8,
    /// From the stack pointer to the end of the frame.
    pub end: i32,
    /// The first scope of the instruction; 0 if no more is known of it than the compiled method.
    pub scope: u32,
    /// How much is known of the frames.
    pub certainty: Certainty,
}

/// A call, or another instruction that has a debug info record.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Site {
    /// The code.
    pub code: Compiled,
    /// The size of the frame in words, the return address included.
    pub frame_words: u16,
    /// Whether frames of the code may be larger, and keep their size.
    pub extends: bool,
    /// The tier.
    pub level: i8,
    /// The first frame.
    pub scope: StampedScope,
}

/// A [`Scope`], whose method says which class it is of. As long as the compilation is there, the class is.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct StampedScope {
    /// The method.
    pub method: Stamped,
    /// Its BCI; -1 where the record stands for none.
    pub bci: i32,
    /// The scope into which it is inlined; 0 if it is the compiled method's own scope.
    pub sender: u32,
}

impl StampedScope {
    /// The scope, with the stamp of its method.
    pub fn new(scope: Scope, stamp: Stamp) -> StampedScope {
        StampedScope {
            method: Stamped::of_method(Method(scope.method), stamp),
            bci: scope.bci,
            sender: scope.sender,
        }
    }
}

/// Compiled code, and which compilation has made it.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Compiled {
    /// The code.
    pub nmethod: Nmethod,
    /// Its compilation.
    pub compilation: Compilation,
    /// The start of its scopes.
    pub scopes: usize,
}

impl Sites {
    /// None is known yet.
    pub fn empty() -> Sites {
        Sites {
            calls: Memo::default(),
            scopes: Memo::default(),
            bodies: Memo::default(),
        }
    }

    /// The instruction at `pc`, if a thread was interrupted there before.
    #[inline]
    pub fn body(&self, cache: &CodeCache, pc: usize) -> Option<Body> {
        let [_, nmethod, method, numbers, end] = self.bodies.get(pc)?;
        let method = Stamped(method);
        let body = Body {
            compilation: Compilation {
                method: method.address(),
                id: numbers as u32,
            },
            method,
            nmethod: Nmethod(nmethod),
            level: (numbers >> 32) as i8,
            certainty: Certainty::of_number((numbers >> 40) as u8),
            end: end as i32,
            scope: (end >> 32) as u32,
        };
        is_still(cache, body.nmethod, body.compilation).then_some(body)
    }

    /// Keeps the instruction at `pc`.
    pub fn keep_body(&self, pc: usize, body: &Body) {
        let level = usize::from(body.level.cast_unsigned());
        let certainty = body.certainty as usize;
        let numbers = body.compilation.id as usize | level << 32 | certainty << 40;
        let end = body.end.cast_unsigned() as usize | (body.scope as usize) << 32;
        let method = body.method.0;
        self.bodies.put([pc, body.nmethod.0, method, numbers, end]);
    }

    /// The call whose return address is `pc`, if it was met before.
    #[inline]
    pub fn call(&self, cache: &CodeCache, pc: usize) -> Option<Site> {
        let [_, nmethod, method, numbers, scopes, scope, rest] = self.calls.get(pc)?;
        let site = Site {
            code: Compiled {
                nmethod: Nmethod(nmethod),
                compilation: Compilation {
                    method,
                    id: numbers as u32,
                },
                scopes,
            },
            frame_words: (numbers >> 32) as u16,
            level: (numbers >> 48) as i8,
            extends: numbers >> 56 != 0,
            scope: unpacked(Stamped(scope), rest),
        };
        let Compiled {
            nmethod,
            compilation,
            ..
        } = site.code;
        is_still(cache, nmethod, compilation).then_some(site)
    }

    /// Keeps the call whose return address is `pc`.
    pub fn keep(&self, pc: usize, site: &Site) {
        let Compiled {
            nmethod,
            compilation,
            scopes,
        } = site.code;
        let id = compilation.id as usize;
        let level = usize::from(site.level.cast_unsigned());
        let extends = usize::from(site.extends);
        let numbers = id | usize::from(site.frame_words) << 32 | level << 48 | extends << 56;
        let [scope, rest] = packed(site.scope);
        let words = [nmethod.0, compilation.method, numbers, scopes, scope, rest];
        let [a, b, c, d, e, f] = words;
        self.calls.put([pc, a, b, c, d, e, f]);
    }

    /// The scope at `scope` in the tables of `code`, if it was met before.
    #[inline]
    pub fn scope(&self, code: &Compiled, scope: u32) -> Option<StampedScope> {
        let [address, a, b, c] = code.key(scope);
        let [_, d, e, f, method, rest] = self.scopes.get(address)?;
        (d == a && e == b && f == c).then_some(unpacked(Stamped(method), rest))
    }

    /// Keeps the scope at `scope`.
    pub fn keep_scope(&self, code: &Compiled, scope: u32, found: StampedScope) {
        let [address, a, b, c] = code.key(scope);
        let [method, rest] = packed(found);
        self.scopes.put([address, a, b, c, method, rest]);
    }
}

impl Compiled {
    /// The address of the scope at `scope`, and what tells this compilation from those that had the address before.
    fn key(&self, scope: u32) -> [usize; 4] {
        let Compilation { method, id } = self.compilation;
        let address = self.scopes.wrapping_add(scope as usize);
        [address, self.nmethod.0, method, id as usize]
    }
}

/// Whether the code at `nmethod`, which was there once, is of this compilation.
#[inline]
fn is_still(cache: &CodeCache, nmethod: Nmethod, compilation: Compilation) -> bool {
    // SAFETY: the VM never gives back memory of the code cache that had code once.
    let memory = unsafe { Permanent::new() };
    cache.compilation(&memory, nmethod) == Some(compilation)
}

fn packed(scope: StampedScope) -> [usize; 2] {
    let bci = scope.bci.cast_unsigned() as usize;
    [scope.method.0, bci | (scope.sender as usize) << 32]
}

fn unpacked(method: Stamped, rest: usize) -> StampedScope {
    StampedScope {
        method,
        bci: (rest as u32).cast_signed(),
        sender: (rest >> 32) as u32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_unpacked_as_they_were_packed() {
        for (bci, sender) in [(-1, 0), (0, 1), (65_535, u32::MAX)] {
            let scope = Scope {
                method: 0x7f12_3456_7890,
                bci,
                sender,
            };
            let scope = StampedScope::new(scope, Stamp::of_method(123_456_789, 7));
            let [method, rest] = packed(scope);
            assert_eq!(unpacked(Stamped(method), rest), scope);
        }
    }
}
