//! The instructions at each location of the code that runs. The VM is asked once for each method.

use crate::jvm::jvmti::{JMethodId, Jvmti};
use crate::locks::{read, write};
use classfile::instruction::Instructions;
use oracle::trace::{Location, MethodKey, Site};
use rustc_hash::FxBuildHasher;
use std::collections::HashMap;
use std::sync::RwLock;

/// The instructions of the methods that were asked about.
#[derive(Default)]
pub struct Sites(RwLock<HashMap<usize, Code, FxBuildHasher>>);

/// The code of a method.
#[derive(Debug, PartialEq)]
enum Code {
    /// The VM does not return the code.
    Unknown,
    /// The method is native.
    Native,
    /// The kind of each byte, by BCI.
    Java(Box<[Byte]>),
}

/// The kind of a byte of code.
#[derive(Copy, Clone, Debug, PartialEq)]
enum Byte {
    /// Not the first byte of an instruction.
    Inside,
    /// The start of an instruction that runs no other code.
    Silent,
    /// The start of an instruction that may run other code.
    Calls,
}

impl Sites {
    /// The site at `location` in the method of `key`. The VM must know the key.
    pub fn at(&self, jvmti: Jvmti, key: MethodKey, location: Location) -> Site {
        let known = read(&self.0);
        if let Some(code) = known.get(&key.0) {
            return code.at(location);
        }
        drop(known);
        let code = Code::ask(jvmti, key);
        let site = code.at(location);
        let mut known = write(&self.0);
        known.insert(key.0, code);
        site
    }

    /// Whether the code of the method, which the VM must know, is not what it was when it was asked for.
    pub fn has_changed(&self, jvmti: Jvmti, key: MethodKey) -> bool {
        let now = Code::ask(jvmti, key);
        let known = read(&self.0);
        known.get(&key.0).is_some_and(|before| *before != now)
    }

    /// Forgets the methods of these keys, because their code has changed or they are gone.
    pub fn forget(&self, keys: impl Iterator<Item = usize>) {
        let mut known = write(&self.0);
        for key in keys {
            known.remove(&key);
        }
    }
}

impl Code {
    fn ask(jvmti: Jvmti, key: MethodKey) -> Code {
        const NATIVE_METHOD: i32 = 104;
        match jvmti.bytecodes(JMethodId(key.0), Code::read) {
            Ok(code) => code,
            Err(NATIVE_METHOD) => Code::Native,
            Err(_) => Code::Unknown,
        }
    }

    fn read(bytecode: &[u8]) -> Code {
        let mut bytes = vec![Byte::Inside; bytecode.len()];
        for instruction in Instructions::new(bytecode, 0) {
            let Ok(instruction) = instruction else {
                return Code::Unknown;
            };
            // All instructions that call, link or initialise may throw.
            bytes[instruction.bci as usize] = if instruction.opcode.throws() {
                Byte::Calls
            } else {
                Byte::Silent
            };
        }
        match bytes.is_empty() {
            // A method that is not native and has no code is abstract.
            true => Code::Unknown,
            false => Code::Java(bytes.into()),
        }
    }

    fn at(&self, location: Location) -> Site {
        let bytes = match self {
            Code::Unknown => return Site::Unknown,
            Code::Native if location == Location::NATIVE => return Site::Native,
            Code::Native => return Site::IsNative,
            Code::Java(_) if location == Location::NATIVE => return Site::NotNative,
            Code::Java(bytes) => bytes,
        };
        // Locations below 0 are HotSpot's own, such as that of a synchronized method's lock.
        let Some(bci) = location.bci() else {
            return Site::Unknown;
        };
        match bytes.get(bci as usize) {
            None | Some(Byte::Inside) => Site::NoInstruction,
            Some(Byte::Silent) => Site::Silent,
            Some(Byte::Calls) => Site::Calls,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_location_has_its_site() {
        // iload_0; invokestatic #1; ireturn
        let code = Code::read(&[0x1a, 0xb8, 0, 1, 0xac]);
        let at = |bci| code.at(Location(bci));
        assert_eq!([0, 1, 4].map(at), [Site::Silent, Site::Calls, Site::Calls]);
        assert_eq!([2, 3, 5].map(at), [Site::NoInstruction; 3]);
        assert_eq!([-3, -1].map(at), [Site::NotNative, Site::Unknown]);
        assert_eq!(Code::Native.at(Location::NATIVE), Site::Native);
        assert_eq!(Code::Native.at(Location(0)), Site::IsNative);
        assert_eq!(Code::read(&[0xb8, 0]), Code::Unknown, "cut off");
        assert_eq!(Code::read(&[]), Code::Unknown);
    }
}
