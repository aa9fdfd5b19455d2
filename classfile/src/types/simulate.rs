//! Types in straight-line code, as the verifier follows them (JVMS 4.10.1): the effect of each
//! instruction on the types of locals and operand stack.

use super::vtype::VType;
use crate::descriptor::{self, IllFormed, Type, parameters};
use crate::instruction::{Instruction, Operands};
use crate::operators::{Call, Effect, ValueKind};
use crate::pool::ConstantPool;
use std::borrow::Cow;

/// Class constants by name, and names by class constant. An implementation that does not need
/// classes may return 0 and no name.
pub trait Classes<'a> {
    /// The class constant with this name; `None` if the pool has no room for it.
    fn index(&mut self, name: Cow<'a, [u8]>) -> Option<u16>;
    /// The name of an object's class.
    fn name(&self, of: VType) -> Option<Cow<'a, [u8]>>;
}

/// Knows no class, for callers to whom the class of a value does not matter.
#[derive(Clone, Copy, Debug)]
pub struct AnyClass;

impl<'a> Classes<'a> for AnyClass {
    fn index(&mut self, _: Cow<'a, [u8]>) -> Option<u16> {
        Some(0)
    }
    fn name(&self, _: VType) -> Option<Cow<'a, [u8]>> {
        None
    }
}

/// The code cannot be followed: it is not verifiable, or uses `jsr`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lost;

impl From<IllFormed> for Lost {
    fn from(_: IllFormed) -> Lost {
        Lost
    }
}

/// Types of locals and operand stack at one instruction.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// One entry for each slot. The second slot of a long or double is top.
    pub locals: Vec<VType>,
    /// One entry for each value.
    pub stack: Vec<VType>,
}

impl State {
    /// Takes over the locals of a frame, one entry for each value, and its stack.
    pub fn set(&mut self, locals: &[VType], stack: impl Iterator<Item = VType>, max_locals: u16) {
        self.locals.clear();
        for &t in locals {
            self.locals.push(t);
            if t.wide() {
                self.locals.push(VType::Top);
            }
        }
        self.locals.resize(usize::from(max_locals), VType::Top);
        self.stack.clear();
        self.stack.extend(stack);
    }

    fn pop(&mut self) -> Result<VType, Lost> {
        self.stack.pop().ok_or(Lost)
    }

    fn drop(&mut self, n: usize) -> Result<(), Lost> {
        let keep = self.stack.len().checked_sub(n).ok_or(Lost)?;
        self.stack.truncate(keep);
        Ok(())
    }

    /// Takes `n` slots from the stack: values of one slot, or fewer values of two slots; topmost
    /// last.
    fn pop_slots(&mut self, n: u8) -> Result<([VType; 2], usize), Lost> {
        let top = self.pop()?;
        match (n, top.wide()) {
            (1, false) | (2, true) => Ok(([top, VType::Top], 1)),
            (2, false) => {
                let below = self.pop()?;
                if below.wide() {
                    Err(Lost)
                } else {
                    Ok(([below, top], 2))
                }
            }
            _ => Err(Lost),
        }
    }

    /// `dup` in all its forms: copies `n` slots under the `under` slots below them.
    fn dup(&mut self, n: u8, under: u8) -> Result<(), Lost> {
        let (a, an) = self.pop_slots(n)?;
        let (b, bn) = if under == 0 {
            ([VType::Top; 2], 0)
        } else {
            self.pop_slots(under)?
        };
        self.stack.extend_from_slice(&a[..an]);
        self.stack.extend_from_slice(&b[..bn]);
        self.stack.extend_from_slice(&a[..an]);
        Ok(())
    }

    fn store(&mut self, local: u16, ty: VType) -> Result<(), Lost> {
        let n = usize::from(local);
        if n + ty.slots() as usize > self.locals.len() {
            return Err(Lost);
        }
        if n > 0 && self.locals[n - 1].wide() {
            self.locals[n - 1] = VType::Top;
        }
        self.locals[n] = ty;
        if ty.wide() {
            self.locals[n + 1] = VType::Top;
        }
        Ok(())
    }

    fn replace(&mut self, from: VType, to: VType) {
        for t in self.locals.iter_mut().chain(&mut self.stack) {
            if *t == from {
                *t = to;
            }
        }
    }

    /// Applies the effect of an instruction; `true` if the instruction initialised `this`.
    /// `this_class` is the class constant of the class that has the code.
    ///
    /// # Errors
    /// If the values that the instruction takes are missing, or if the instruction belongs to a
    /// subroutine.
    pub fn step<'a>(
        &mut self,
        i: &Instruction<'a>,
        pool: &ConstantPool<'a>,
        this_class: u16,
        classes: &mut dyn Classes<'a>,
    ) -> Result<bool, Lost> {
        match i.opcode.effect() {
            Effect::Values { takes, gives } => {
                self.drop(takes.len())?;
                for &kind in gives {
                    self.stack.push(primitive(kind).ok_or(Lost)?);
                }
            }
            Effect::Constant => {
                let constant = i.constant().ok_or(Lost)?;
                self.push_type(pool.loadable(constant).ok_or(Lost)?, classes)?;
            }
            Effect::Load(kind) => {
                let ty = match primitive(kind) {
                    Some(ty) => ty,
                    None => *self
                        .locals
                        .get(usize::from(i.local().ok_or(Lost)?))
                        .ok_or(Lost)?,
                };
                self.stack.push(ty);
            }
            Effect::Store(_) => {
                let ty = self.pop()?;
                self.store(i.local().ok_or(Lost)?, ty)?;
            }
            Effect::Element => {
                self.drop(1)?;
                let array = self.pop()?;
                let element = element(array, classes)?;
                self.stack.push(element);
            }
            Effect::Drop(slots) => _ = self.pop_slots(slots)?,
            Effect::Copy(slots, under) => self.dup(slots, under)?,
            Effect::Swap => {
                let (a, b) = (self.pop()?, self.pop()?);
                self.stack.extend_from_slice(&[a, b]);
            }
            Effect::GetStatic => self.push_field(i, pool, classes)?,
            Effect::PutStatic => self.drop(1)?,
            Effect::GetField => {
                self.drop(1)?;
                self.push_field(i, pool, classes)?;
            }
            Effect::PutField => self.drop(2)?,
            Effect::Invoke(call) => return self.invoke(call, i, pool, this_class, classes),
            Effect::New => {
                let ty = VType::Uninitialized(i.bci as u16);
                self.replace(ty, VType::Top);
                self.stack.push(ty);
            }
            Effect::NewPrimitiveArray => {
                let Operands::Byte(kind @ 4..=11) = i.operands else {
                    return Err(Lost);
                };
                const NAMES: [&[u8]; 8] = [b"[Z", b"[C", b"[F", b"[D", b"[B", b"[S", b"[I", b"[J"];
                self.drop(1)?;
                self.push_class(Cow::Borrowed(NAMES[usize::from(kind - 4)]), classes)?;
            }
            Effect::NewArray => {
                let element = pool.class_name(i.constant().ok_or(Lost)?).ok_or(Lost)?;
                self.drop(1)?;
                self.push_class(Cow::Owned(array_of(element)), classes)?;
            }
            Effect::NewNestedArray => {
                let Operands::ConstantAnd1(class, dimensions) = i.operands else {
                    return Err(Lost);
                };
                self.drop(usize::from(dimensions))?;
                self.stack.push(VType::Object(class));
            }
            Effect::Cast => {
                self.drop(1)?;
                self.stack.push(VType::Object(i.constant().ok_or(Lost)?));
            }
            Effect::Subroutine | Effect::Prefix => return Err(Lost),
        }
        Ok(false)
    }

    fn push_class<'a>(
        &mut self,
        name: Cow<'a, [u8]>,
        classes: &mut dyn Classes<'a>,
    ) -> Result<(), Lost> {
        let class = classes.index(name).ok_or(Lost)?;
        self.stack.push(VType::Object(class));
        Ok(())
    }

    fn push_field<'a>(
        &mut self,
        i: &Instruction<'a>,
        pool: &ConstantPool<'a>,
        classes: &mut dyn Classes<'a>,
    ) -> Result<(), Lost> {
        let field = pool.member(i.constant().ok_or(Lost)?).ok_or(Lost)?;
        self.push_type(field.descriptor, classes)
    }

    fn push_type<'a>(
        &mut self,
        descriptor: &'a [u8],
        classes: &mut dyn Classes<'a>,
    ) -> Result<(), Lost> {
        self.push(descriptor::whole(descriptor).ok_or(Lost)?, classes)
    }

    fn push<'a>(&mut self, ty: Type<'a>, classes: &mut dyn Classes<'a>) -> Result<(), Lost> {
        self.stack.push(match ty {
            Type::Int => VType::Integer,
            Type::Float => VType::Float,
            Type::Long => VType::Long,
            Type::Double => VType::Double,
            Type::Object(name) => return self.push_class(Cow::Borrowed(name), classes),
        });
        Ok(())
    }

    fn invoke<'a>(
        &mut self,
        call: Call,
        i: &Instruction<'a>,
        pool: &ConstantPool<'a>,
        this_class: u16,
        classes: &mut dyn Classes<'a>,
    ) -> Result<bool, Lost> {
        let method = pool.member(i.constant().ok_or(Lost)?).ok_or(Lost)?;
        let mut all = parameters(method.descriptor)?;
        while all.next_type()?.is_some() {
            self.drop(1)?;
        }
        let mut initialised = false;
        if !matches!(call, Call::Static | Call::Dynamic) {
            let receiver = self.pop()?;
            if call == Call::Special && method.name == b"<init>" {
                match receiver {
                    VType::UninitializedThis => {
                        self.replace(receiver, VType::Object(this_class));
                        initialised = true;
                    }
                    VType::Uninitialized(_) => {
                        let class = classes.index(Cow::Borrowed(method.class)).ok_or(Lost)?;
                        self.replace(receiver, VType::Object(class));
                    }
                    _ => return Err(Lost),
                }
            }
        }
        if let Some(ty) = all.returns()? {
            self.push(ty, classes)?;
        }
        Ok(initialised)
    }
}

/// The type of values of this kind; `None` for references, which have many types.
fn primitive(kind: ValueKind) -> Option<VType> {
    Some(match kind {
        ValueKind::Int => VType::Integer,
        ValueKind::Long => VType::Long,
        ValueKind::Float => VType::Float,
        ValueKind::Double => VType::Double,
        ValueKind::Null => VType::Null,
        ValueKind::Reference => return None,
    })
}

/// The type of the elements of an array of references.
fn element<'a>(array: VType, classes: &mut dyn Classes<'a>) -> Result<VType, Lost> {
    if array == VType::Null {
        return Ok(VType::Null);
    }
    let name = match classes.name(array) {
        None => return Ok(VType::Object(0)),
        Some(Cow::Borrowed(name)) => Cow::Borrowed(element_name(name).ok_or(Lost)?),
        Some(Cow::Owned(name)) => Cow::Owned(element_name(&name).ok_or(Lost)?.to_vec()),
    };
    Ok(VType::Object(classes.index(name).ok_or(Lost)?))
}

/// The class of the elements of an array class, as a `CONSTANT_Class` names both.
fn element_name(array: &[u8]) -> Option<&[u8]> {
    match descriptor::whole(array.strip_prefix(b"[")?)? {
        Type::Object(element) => Some(element),
        _ => None,
    }
}

/// The class of arrays with such elements, as a `CONSTANT_Class` names both.
fn array_of(element: &[u8]) -> Vec<u8> {
    match element.first() {
        Some(b'[') => [b"[", element].concat(),
        _ => [b"[L", element, b";"].concat(),
    }
}
