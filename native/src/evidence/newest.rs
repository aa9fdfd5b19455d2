//! The newest frame of generated code at an instant.

use super::library::{Return, is_behind_call};
use crate::jvm::remembered_code::RememberedCode;
use crate::sampling::sample::Interruption;
use hotspot::arch::{Follow, Native, NativeRegisters};

/// The newest frame of generated code.
pub(super) struct Newest {
    /// Where the code is: interrupted, or behind its call of the library that was interrupted.
    pub pc: usize,
    /// Its stack pointer.
    pub sp: usize,
    /// Its general registers, as far as they are known.
    pub general: NativeRegisters,
    /// The link register, if the code was interrupted itself.
    pub link: Option<usize>,
}

impl Newest {
    /// `None` if a library runs whose caller cannot be found.
    pub fn find(cache: &RememberedCode<'_>, at: &Interruption) -> Option<Newest> {
        let registers = &at.registers;
        if cache.is_code(registers.pc) {
            return Some(Newest {
                pc: registers.pc,
                sp: registers.sp,
                general: at.general,
                link: registers.link,
            });
        }
        let found = Return::find(cache, at.stack_top.stack(), registers.fp)?;
        let sp = found.sp.filter(|_| is_behind_call(found.pc))?;
        let mut general = NativeRegisters::UNKNOWN;
        general.set(Native::SP, Some(sp));
        general.set(Native::FP, Some(found.fp));
        Some(Newest {
            pc: found.pc,
            sp,
            general,
            link: None,
        })
    }
}
