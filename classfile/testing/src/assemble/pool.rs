//! A builder of constant pools.

use std::collections::HashMap;

/// A constant pool that gives the same index to the same constant.
#[derive(Default)]
pub struct Pool {
    pub(super) bytes: Vec<u8>,
    pub(super) count: u16,
    known: HashMap<Vec<u8>, u16>,
}

impl Pool {
    fn add(&mut self, entry: Vec<u8>) -> u16 {
        if let Some(&i) = self.known.get(&entry) {
            return i;
        }
        self.count += 1;
        let index = self.count;
        if matches!(entry[0], 5 | 6) {
            self.count += 1;
        }
        self.bytes.extend_from_slice(&entry);
        self.known.insert(entry, index);
        index
    }

    pub fn utf8(&mut self, text: &str) -> u16 {
        let mut e = vec![1];
        e.extend_from_slice(&(text.len() as u16).to_be_bytes());
        e.extend_from_slice(text.as_bytes());
        self.add(e)
    }

    fn refer(&mut self, tag: u8, indices: &[u16]) -> u16 {
        let mut e = vec![tag];
        for i in indices {
            e.extend_from_slice(&i.to_be_bytes());
        }
        self.add(e)
    }

    pub fn class(&mut self, name: &str) -> u16 {
        let n = self.utf8(name);
        self.refer(7, &[n])
    }

    pub fn string(&mut self, text: &str) -> u16 {
        let n = self.utf8(text);
        self.refer(8, &[n])
    }

    pub fn int(&mut self, n: i32) -> u16 {
        let mut e = vec![3];
        e.extend_from_slice(&n.to_be_bytes());
        self.add(e)
    }

    pub fn long(&mut self, n: i64) -> u16 {
        let mut e = vec![5];
        e.extend_from_slice(&n.to_be_bytes());
        self.add(e)
    }

    fn member(&mut self, tag: u8, class: &str, name: &str, descriptor: &str) -> u16 {
        let c = self.class(class);
        let n = self.utf8(name);
        let d = self.utf8(descriptor);
        let nt = self.refer(12, &[n, d]);
        self.refer(tag, &[c, nt])
    }

    pub fn method(&mut self, class: &str, name: &str, descriptor: &str) -> u16 {
        self.member(10, class, name, descriptor)
    }

    pub fn field(&mut self, class: &str, name: &str, descriptor: &str) -> u16 {
        self.member(9, class, name, descriptor)
    }
}
