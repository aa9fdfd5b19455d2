//! A new field for a class.

use classfile::file::ClassFile;
use classfile::pool::Additions;
use classfile::{Result, access};

/// Access flags of a field that only code of the same package sees, and no source compiler:
/// `ACC_TRANSIENT | ACC_SYNTHETIC` (JVMS 4.5).
const HIDDEN: u16 = access::TRANSIENT | access::SYNTHETIC;

/// Adds an instance field without attributes behind the other fields. `None` if the constant pool
/// or the table of fields has no room.
pub fn add_field(class_file: &[u8], name: &str, descriptor: &str) -> Result<Option<Vec<u8>>> {
    let class = ClassFile::parse(class_file)?;
    let mut adds = Additions::new(&class.pool);
    let Some(count) = (class.fields.len() as u16).checked_add(1) else {
        return Ok(None);
    };
    let (Ok(name), Ok(descriptor)) = (adds.utf8(name.as_bytes()), adds.utf8(descriptor.as_bytes()))
    else {
        return Ok(None);
    };
    let fields = class
        .fields
        .first()
        .map_or(class.methods_start, |f| f.start);
    let mut out = Vec::with_capacity(class_file.len() + adds.bytes().len() + 8);
    out.extend_from_slice(&class_file[..8]);
    out.extend_from_slice(&adds.count().to_be_bytes());
    out.extend_from_slice(&class_file[10..class.pool.end()]);
    out.extend_from_slice(adds.bytes());
    out.extend_from_slice(&class_file[class.pool.end()..fields - 2]);
    out.extend_from_slice(&count.to_be_bytes());
    out.extend_from_slice(&class_file[fields..class.methods_start]);
    for half in [HIDDEN, name, descriptor, 0] {
        out.extend_from_slice(&half.to_be_bytes());
    }
    out.extend_from_slice(&class_file[class.methods_start..]);
    Ok(Some(out))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `class A { … }`, assembled by hand, with this many fields of one name.
    fn class(fields: u16) -> Vec<u8> {
        let mut file = vec![0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 61, 0, 5];
        file.extend_from_slice(b"\x01\0\x01A\x07\0\x01\x01\0\x01f\x01\0\x01I");
        for half in [0x20, 2, 0, 0, fields] {
            file.extend_from_slice(&u16::to_be_bytes(half));
        }
        for _ in 0..fields {
            file.extend_from_slice(&[0, 0, 0, 3, 0, 4, 0, 0]);
        }
        file.extend_from_slice(&[0, 0, 0, 0]);
        file
    }

    #[test]
    fn the_new_field_is_the_last_and_the_rest_stays() {
        for count in [0, 1, 7] {
            let before = class(count);
            let after = add_field(&before, "state", "J")
                .unwrap()
                .expect("there is room");
            let (before, after) = (
                ClassFile::parse(&before).unwrap(),
                ClassFile::parse(&after).unwrap(),
            );
            let (new, old) = after.fields.split_last().expect("one at least");
            assert_eq!((new.name, new.descriptor), (&b"state"[..], &b"J"[..]));
            assert_eq!(new.access_flags, HIDDEN);
            assert_eq!(old.len(), before.fields.len());
            assert!(old.iter().all(|field| field.name == b"f"));
            assert_eq!(after.name, before.name);
        }
    }

    #[test]
    fn a_full_class_is_left() {
        assert_eq!(add_field(&class(u16::MAX), "state", "J"), Ok(None));
    }
}
