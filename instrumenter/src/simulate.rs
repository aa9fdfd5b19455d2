//! The verifier's view of straight-line code (JVMS 4.10.1): what each instruction does to the
//! types of locals and operand stack.

use crate::descriptor::{self, Type, parameters};
use crate::instruction::{Instruction, Operands};
use crate::opcode as op;
use crate::pool::ConstantPool;
use crate::types::{VType, vtag};
use std::borrow::Cow;

/// Class constants by name and back. One that doesn't care may give 0 and no name.
pub(crate) trait Classes<'a> {
    fn index(&mut self, name: Cow<'a, [u8]>) -> Option<u16>;
    fn name(&self, of: VType) -> Option<Cow<'a, [u8]>>;
}

/// The code does what can't be followed: it is not verifiable, or uses `jsr`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Lost;

/// Types of locals and operand stack at one instruction.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// One entry a slot: the second slot of a long or double is top.
    pub(crate) locals: Vec<VType>,
    /// One entry a value.
    pub(crate) stack: Vec<VType>,
}

impl State {
    /// Takes over the locals of a frame, one entry a value, and its stack.
    pub(crate) fn set(
        &mut self,
        locals: &[VType],
        stack: impl Iterator<Item = VType>,
        max_locals: u16,
    ) {
        self.locals.clear();
        for &t in locals {
            self.locals.push(t);
            if t.wide() {
                self.locals.push(VType::TOP);
            }
        }
        self.locals.resize(usize::from(max_locals), VType::TOP);
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

    /// Takes `n` one-slot values, or fewer that take two, from the stack, topmost last.
    fn pop_slots(&mut self, n: u32) -> Result<([VType; 2], usize), Lost> {
        let top = self.pop()?;
        match (n, top.wide()) {
            (1, false) | (2, true) => Ok(([top, VType::TOP], 1)),
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
    fn dup(&mut self, n: u32, under: u32) -> Result<(), Lost> {
        let (a, an) = self.pop_slots(n)?;
        let (b, bn) = if under == 0 {
            ([VType::TOP; 2], 0)
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
            self.locals[n - 1] = VType::TOP;
        }
        self.locals[n] = ty;
        if ty.wide() {
            self.locals[n + 1] = VType::TOP;
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

    /// Does what the instruction does; `true` if it initialised `this`.
    pub(crate) fn step<'a>(
        &mut self,
        i: &Instruction<'a>,
        pool: &ConstantPool<'a>,
        this_class: u16,
        classes: &mut dyn Classes<'a>,
    ) -> Result<bool, Lost> {
        const BY_KIND: [VType; 4] = [VType::INTEGER, VType::LONG, VType::FLOAT, VType::DOUBLE];
        let o = i.opcode;
        match o {
            op::NOP | op::IINC | op::GOTO | op::GOTO_W | op::RETURN | 116..=119 => {}
            op::ACONST_NULL => self.stack.push(VType::NULL),
            2..=8 | op::BIPUSH | op::SIPUSH => self.stack.push(VType::INTEGER),
            9 | 10 => self.stack.push(VType::LONG),
            11..=13 => self.stack.push(VType::FLOAT),
            14 | 15 => self.stack.push(VType::DOUBLE),
            op::LDC | op::LDC_W | op::LDC2_W => {
                let Operands::Pool(n) = i.operands else {
                    return Err(Lost);
                };
                self.push_type(pool.loadable(n).ok_or(Lost)?, classes)?;
            }
            21..=24 => self.stack.push(BY_KIND[usize::from(o - 21)]),
            op::ALOAD => {
                let Operands::Local(n) = i.operands else {
                    return Err(Lost);
                };
                self.stack
                    .push(*self.locals.get(usize::from(n)).ok_or(Lost)?);
            }
            26..=41 => self.stack.push(BY_KIND[usize::from((o - 26) / 4)]),
            op::ALOAD_0..=op::ALOAD_3 => {
                self.stack
                    .push(*self.locals.get(usize::from(o - op::ALOAD_0)).ok_or(Lost)?);
            }
            46..=49 => {
                self.drop(2)?;
                self.stack.push(BY_KIND[usize::from(o - 46)]);
            }
            op::AALOAD => {
                self.drop(1)?;
                let array = self.pop()?;
                let element = match (array.tag, classes.name(array)) {
                    (vtag::NULL, _) => VType::NULL,
                    (_, Some(name)) => {
                        let element = match name {
                            Cow::Borrowed(name) => {
                                match descriptor::first(name.strip_prefix(b"[").ok_or(Lost)?) {
                                    Some((Type::Object(element), [])) => Cow::Borrowed(element),
                                    _ => return Err(Lost),
                                }
                            }
                            Cow::Owned(name) => {
                                match descriptor::first(name.strip_prefix(b"[").ok_or(Lost)?) {
                                    Some((Type::Object(element), [])) => {
                                        Cow::Owned(element.to_vec())
                                    }
                                    _ => return Err(Lost),
                                }
                            }
                        };
                        VType::object(classes.index(element).ok_or(Lost)?)
                    }
                    (_, None) => VType::object(0),
                };
                self.stack.push(element);
            }
            51..=53 => {
                self.drop(2)?;
                self.stack.push(VType::INTEGER);
            }
            op::ISTORE..=op::ASTORE => {
                let Operands::Local(n) = i.operands else {
                    return Err(Lost);
                };
                let ty = self.pop()?;
                self.store(n, ty)?;
            }
            op::ISTORE_0..=op::ASTORE_3 => {
                let ty = self.pop()?;
                self.store(u16::from((o - op::ISTORE_0) % 4), ty)?;
            }
            79..=86 => self.drop(3)?,
            op::POP => self.drop(1)?,
            88 => {
                self.pop_slots(2)?;
            }
            op::DUP => self.dup(1, 0)?,
            90 => self.dup(1, 1)?,
            91 => self.dup(1, 2)?,
            92 => self.dup(2, 0)?,
            93 => self.dup(2, 1)?,
            94 => self.dup(2, 2)?,
            op::SWAP => {
                let (a, b) = (self.pop()?, self.pop()?);
                self.stack.push(a);
                self.stack.push(b);
            }
            // Arithmetic of two values of the type of the result; shifts keep the lower one too.
            96..=115 | 120..=131 => self.drop(1)?,
            133..=147 => {
                self.drop(1)?;
                self.stack.push(match o {
                    133 | 140 | 143 => VType::LONG,
                    134 | 137 | 144 => VType::FLOAT,
                    135 | 138 | 141 => VType::DOUBLE,
                    _ => VType::INTEGER,
                });
            }
            148..=152 => {
                self.drop(2)?;
                self.stack.push(VType::INTEGER);
            }
            op::IFEQ..=158 | op::IFNULL | op::IFNONNULL => self.drop(1)?,
            159..=op::IF_ACMPNE => self.drop(2)?,
            op::TABLESWITCH | op::LOOKUPSWITCH | op::IRETURN..=176 | op::ATHROW => self.drop(1)?,
            op::MONITORENTER | op::MONITOREXIT => self.drop(1)?,
            op::GETSTATIC..=op::PUTFIELD => {
                let Operands::Pool(n) = i.operands else {
                    return Err(Lost);
                };
                let field = pool.member(n).ok_or(Lost)?;
                match o {
                    op::GETSTATIC => self.push_type(field.descriptor, classes)?,
                    op::PUTSTATIC => self.drop(1)?,
                    op::GETFIELD => {
                        self.drop(1)?;
                        self.push_type(field.descriptor, classes)?;
                    }
                    _ => self.drop(2)?,
                }
            }
            op::INVOKEVIRTUAL..=op::INVOKEDYNAMIC => {
                return self.invoke(i, pool, this_class, classes);
            }
            op::NEW => {
                let ty = VType {
                    tag: vtag::UNINITIALIZED,
                    data: i.bci as u16,
                };
                self.replace(ty, VType::TOP);
                self.stack.push(ty);
            }
            op::NEWARRAY => {
                let Operands::Byte(kind @ 4..=11) = i.operands else {
                    return Err(Lost);
                };
                const NAMES: [&[u8]; 8] = [b"[Z", b"[C", b"[F", b"[D", b"[B", b"[S", b"[I", b"[J"];
                self.drop(1)?;
                let class = classes
                    .index(Cow::Borrowed(NAMES[usize::from(kind - 4)]))
                    .ok_or(Lost)?;
                self.stack.push(VType::object(class));
            }
            op::ANEWARRAY => {
                let Operands::Pool(n) = i.operands else {
                    return Err(Lost);
                };
                let element = pool.class_name(n).ok_or(Lost)?;
                let mut name = Vec::with_capacity(element.len() + 3);
                name.push(b'[');
                if element.first() == Some(&b'[') {
                    name.extend_from_slice(element);
                } else {
                    name.push(b'L');
                    name.extend_from_slice(element);
                    name.push(b';');
                }
                self.drop(1)?;
                self.stack
                    .push(VType::object(classes.index(Cow::Owned(name)).ok_or(Lost)?));
            }
            op::ARRAYLENGTH | op::INSTANCEOF => {
                self.drop(1)?;
                self.stack.push(VType::INTEGER);
            }
            op::CHECKCAST => {
                let Operands::Pool(n) = i.operands else {
                    return Err(Lost);
                };
                self.drop(1)?;
                self.stack.push(VType::object(n));
            }
            op::MULTIANEWARRAY => {
                let Operands::PoolAnd1(n, dimensions) = i.operands else {
                    return Err(Lost);
                };
                self.drop(usize::from(dimensions))?;
                self.stack.push(VType::object(n));
            }
            _ => return Err(Lost),
        }
        Ok(false)
    }

    fn push_type<'a>(
        &mut self,
        descriptor: &'a [u8],
        classes: &mut dyn Classes<'a>,
    ) -> Result<(), Lost> {
        match descriptor::first(descriptor) {
            Some((ty, [])) => self.push(ty, classes),
            _ => Err(Lost),
        }
    }

    fn push<'a>(&mut self, ty: Type<'a>, classes: &mut dyn Classes<'a>) -> Result<(), Lost> {
        self.stack.push(match ty {
            Type::Int => VType::INTEGER,
            Type::Float => VType::FLOAT,
            Type::Long => VType::LONG,
            Type::Double => VType::DOUBLE,
            Type::Object(name) => VType::object(classes.index(Cow::Borrowed(name)).ok_or(Lost)?),
        });
        Ok(())
    }

    fn invoke<'a>(
        &mut self,
        i: &Instruction<'a>,
        pool: &ConstantPool<'a>,
        this_class: u16,
        classes: &mut dyn Classes<'a>,
    ) -> Result<bool, Lost> {
        let (Operands::Pool(n) | Operands::PoolAnd2(n, ..)) = i.operands else {
            return Err(Lost);
        };
        let method = pool.member(n).ok_or(Lost)?;
        let mut all = parameters(method.descriptor).ok_or(Lost)?;
        while all.next().ok_or(Lost)?.is_some() {
            self.drop(1)?;
        }
        let mut initialised = false;
        if !matches!(i.opcode, op::INVOKESTATIC | op::INVOKEDYNAMIC) {
            let receiver = self.pop()?;
            if i.opcode == op::INVOKESPECIAL && method.name == b"<init>" {
                match receiver.tag {
                    vtag::UNINITIALIZED_THIS => {
                        self.replace(receiver, VType::object(this_class));
                        initialised = true;
                    }
                    vtag::UNINITIALIZED => {
                        let class = classes.index(Cow::Borrowed(method.class)).ok_or(Lost)?;
                        self.replace(receiver, VType::object(class));
                    }
                    _ => return Err(Lost),
                }
            }
        }
        if let Some(ty) = all.returns().ok_or(Lost)? {
            self.push(ty, classes)?;
        }
        Ok(initialised)
    }
}
