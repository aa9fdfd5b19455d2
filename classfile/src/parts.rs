//! A class file that is put together from a VM's description of a class, for a class without a
//! known class file.

use crate::pool::tag;

/// A class as a VM describes it (JVMTI GetConstantPool, GetClassMethods and their like).
#[derive(Clone, Debug, Default)]
pub struct ClassParts {
    /// Internal name.
    pub name: Vec<u8>,
    /// Internal name of the superclass; none for `java/lang/Object`.
    pub super_name: Option<Vec<u8>>,
    /// Internal names of the direct superinterfaces.
    pub interfaces: Vec<Vec<u8>>,
    /// Access flags, JVMS table 4.1-B.
    pub access_flags: u16,
    /// `constant_pool_count`, JVMS 4.1.
    pub pool_count: u16,
    /// The constant pool's entries as a class file has them.
    pub pool: Vec<u8>,
    /// The methods that the class declares.
    pub methods: Vec<MethodParts>,
}

/// A method as a VM describes it.
#[derive(Clone, Debug)]
pub struct MethodParts {
    /// Access flags, JVMS table 4.6-A.
    pub access_flags: u16,
    /// Name.
    pub name: Vec<u8>,
    /// Descriptor.
    pub descriptor: Vec<u8>,
    /// Bytecodes, which refer to the constant pool; none for native and abstract methods.
    pub code: Option<Vec<u8>>,
}

impl ClassParts {
    /// A class file with these methods, as [`crate::Outline::read`] takes it; it has no fields,
    /// handlers or stack maps, so no VM would accept it. `None` if the constant pool has no room
    /// for the names.
    pub fn class_file(&self) -> Option<Vec<u8>> {
        let mut pool = Pool {
            count: self.pool_count.max(1),
            bytes: self.pool.clone(),
        };
        let this_class = pool.class(&self.name)?;
        let super_class = match &self.super_name {
            Some(name) => pool.class(name)?,
            None => 0,
        };
        let mut rest = vec![];
        put(&mut rest, self.access_flags);
        put(&mut rest, this_class);
        put(&mut rest, super_class);
        put(&mut rest, self.interfaces.len() as u16);
        for name in &self.interfaces {
            put(&mut rest, pool.class(name)?);
        }
        let no_fields = 0;
        put(&mut rest, no_fields);
        put(&mut rest, self.methods.len() as u16);
        for method in &self.methods {
            method.write(&mut pool, &mut rest)?;
        }
        let no_attributes = 0;
        put(&mut rest, no_attributes);

        let mut file = vec![0xCA, 0xFE, 0xBA, 0xBE];
        for version in [0, JAVA_11] {
            put(&mut file, version);
        }
        put(&mut file, pool.count);
        file.append(&mut pool.bytes);
        file.append(&mut rest);
        Some(file)
    }
}

/// The first version with all of today's constants (JVMS table 4.4-B).
const JAVA_11: u16 = 55;

impl MethodParts {
    fn write(&self, pool: &mut Pool, out: &mut Vec<u8>) -> Option<()> {
        put(out, self.access_flags);
        put(out, pool.utf8(&self.name)?);
        put(out, pool.utf8(&self.descriptor)?);
        put(out, u16::from(self.code.is_some()));
        let Some(code) = &self.code else {
            return Some(());
        };
        put(out, pool.utf8(b"Code")?);
        // JVMS 4.7.3: around the code, max_stack, max_locals and the counts of two tables.
        let length = code.len() as u32;
        out.extend_from_slice(&(2 + 2 + 4 + length + 2 + 2).to_be_bytes());
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(&length.to_be_bytes());
        out.extend_from_slice(code);
        out.extend_from_slice(&[0; 4]);
        Some(())
    }
}

/// A constant pool to which constants are added.
struct Pool {
    count: u16,
    bytes: Vec<u8>,
}

impl Pool {
    fn utf8(&mut self, text: &[u8]) -> Option<u16> {
        let length = u16::try_from(text.len()).ok()?;
        self.bytes.push(tag::UTF8);
        put(&mut self.bytes, length);
        self.bytes.extend_from_slice(text);
        self.added()
    }

    fn class(&mut self, name: &[u8]) -> Option<u16> {
        let name = self.utf8(name)?;
        self.bytes.push(tag::CLASS);
        put(&mut self.bytes, name);
        self.added()
    }

    fn added(&mut self) -> Option<u16> {
        let index = self.count;
        self.count = index.checked_add(1)?;
        Some(index)
    }
}

fn put(out: &mut Vec<u8>, value: u16) {
    out.extend_from_slice(&value.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Outline;
    use crate::outline::{Refers, Site};

    #[test]
    fn a_class_file_from_parts_can_be_read() {
        // 1: "p/A", 2: the class, 3: "f", 4: "()V", 5: name and descriptor, 6: the method.
        let mut pool = vec![];
        for text in [b"p/A".as_slice(), b"f", b"()V"] {
            pool.push(1);
            put(&mut pool, text.len() as u16);
            pool.extend_from_slice(text);
        }
        pool.extend_from_slice(&[7, 0, 1, 12, 0, 2, 0, 3, 10, 0, 4, 0, 5]);
        let method = |name: &[u8], code| MethodParts {
            access_flags: 9,
            name: name.into(),
            descriptor: b"()V".into(),
            code,
        };
        let (invokestatic, returns) = ([0xb8, 0, 6], 0xb1);
        let parts = ClassParts {
            name: b"p/Hidden+0x0012".into(),
            super_name: Some(b"p/A".into()),
            interfaces: vec![b"p/I".into(), b"p/J".into()],
            access_flags: 0x1011,
            pool_count: 7,
            pool,
            methods: vec![
                method(b"run", Some([&invokestatic[..], &[returns]].concat())),
                method(b"stop", None),
            ],
        };
        let file = parts.class_file().expect("room in the pool");
        let outline = Outline::read(&file).expect("a class file");
        assert_eq!(outline.name, b"p/Hidden+0x0012");
        assert_eq!(outline.super_name, Some(&b"p/A"[..]));
        assert_eq!(outline.interfaces, [b"p/I", b"p/J"]);
        assert_eq!(outline.access_flags, 0x1011);
        let [run, stop] = &outline.methods[..] else {
            panic!("{outline:?}");
        };
        assert_eq!((run.name, run.descriptor), (&b"run"[..], &b"()V"[..]));
        assert!(stop.code.is_none());
        let code = run.code.as_ref().expect("code");
        assert_eq!(code.starts, [0, 3].into_iter().collect());
        let [
            Site {
                bci: 0,
                refers: Refers::Static(called),
            },
        ] = code.sites[..]
        else {
            panic!("{code:?}");
        };
        assert_eq!((called.class, called.name), (&b"p/A"[..], &b"f"[..]));
    }

    #[test]
    fn a_full_pool_has_no_room() {
        let parts = ClassParts {
            pool_count: u16::MAX,
            ..ClassParts::default()
        };
        assert_eq!(parts.class_file(), None);
    }
}
