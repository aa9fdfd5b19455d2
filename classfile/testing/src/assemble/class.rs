//! A builder of class files.

use super::code::Code;
use super::pool::Pool;

/// A class that is being built.
pub struct Class {
    pub pool: Pool,
    major: u16,
    name: String,
    methods: Vec<Vec<u8>>,
}

impl Class {
    pub fn new(name: &str, major: u16) -> Self {
        Self {
            pool: Pool::default(),
            major,
            name: name.to_owned(),
            methods: Vec::new(),
        }
    }

    pub fn major(&self) -> u16 {
        self.major
    }

    pub fn method(&mut self, flags: u16, name: &str, descriptor: &str, code: &Code) {
        let content = code.finish(&mut self.pool);
        let mut m = Vec::new();
        for n in [
            flags,
            self.pool.utf8(name),
            self.pool.utf8(descriptor),
            1,
            self.pool.utf8("Code"),
        ] {
            m.extend_from_slice(&n.to_be_bytes());
        }
        m.extend_from_slice(&(content.len() as u32).to_be_bytes());
        m.extend_from_slice(&content);
        self.methods.push(m);
    }

    pub fn bytes(mut self) -> Vec<u8> {
        let this = self.pool.class(&self.name);
        let object = self.pool.class("java/lang/Object");
        let mut out = vec![0xCA, 0xFE, 0xBA, 0xBE, 0, 0];
        out.extend_from_slice(&self.major.to_be_bytes());
        out.extend_from_slice(&(self.pool.count + 1).to_be_bytes());
        out.extend_from_slice(&self.pool.bytes);
        for n in [0x21, this, object, 0, 0, self.methods.len() as u16] {
            out.extend_from_slice(&n.to_be_bytes());
        }
        for m in &self.methods {
            out.extend_from_slice(m);
        }
        out.extend_from_slice(&[0, 0]);
        out
    }
}
