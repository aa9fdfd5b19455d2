//! Writes the built code.

use super::code::{Code, Fix, V};
use super::pool::Pool;

fn u2(out: &mut Vec<u8>, n: usize) {
    out.extend_from_slice(&(n as u16).to_be_bytes());
}

impl Code {
    /// The content of the `Code` attribute.
    pub(super) fn finish(&self, pool: &mut Pool) -> Vec<u8> {
        let mut code = self.bytes.clone();
        for f in &self.fixes {
            match *f {
                Fix::Short { at, from, to } => {
                    let by = (self.at(to) as i64 - from as i64) as i16;
                    code[at..at + 2].copy_from_slice(&by.to_be_bytes());
                }
                Fix::Int { at, from, to } => {
                    let by = (self.at(to) as i64 - from as i64) as i32;
                    code[at..at + 4].copy_from_slice(&by.to_be_bytes());
                }
            }
        }
        let mut out = Vec::new();
        u2(&mut out, self.max_stack.into());
        u2(&mut out, self.max_locals.into());
        out.extend_from_slice(&(code.len() as u32).to_be_bytes());
        out.extend_from_slice(&code);
        u2(&mut out, self.exceptions.len());
        for &(s, e, h, c) in &self.exceptions {
            for n in [self.at(s), self.at(e), self.at(h), c.into()] {
                u2(&mut out, n);
            }
        }
        let mut attributes = self.attributes.clone();
        if !self.frames.is_empty() {
            attributes.push((pool.utf8("StackMapTable"), self.stack_map(pool)));
        }
        if !self.lines.is_empty() {
            attributes.push((pool.utf8("LineNumberTable"), self.line_table()));
        }
        if !self.variables.is_empty() {
            attributes.push((pool.utf8("LocalVariableTable"), self.variable_table()));
        }
        u2(&mut out, attributes.len());
        for (name, info) in attributes {
            u2(&mut out, name.into());
            out.extend_from_slice(&(info.len() as u32).to_be_bytes());
            out.extend_from_slice(&info);
        }
        out
    }

    fn stack_map(&self, pool: &mut Pool) -> Vec<u8> {
        let mut frames: Vec<_> = self
            .frames
            .iter()
            .map(|(l, a, b)| (self.at(*l), a, b))
            .collect();
        frames.sort_by_key(|f| f.0);
        frames.dedup_by_key(|f| f.0);
        let mut info = Vec::new();
        u2(&mut info, frames.len());
        let mut next = 0;
        for (at, locals, stack) in frames {
            info.push(255);
            u2(&mut info, at - next);
            next = at + 1;
            for types in [locals, stack] {
                u2(&mut info, types.len());
                for t in types {
                    match t {
                        V::Top => info.push(0),
                        V::Int => info.push(1),
                        V::Double => info.push(3),
                        V::Long => info.push(4),
                        V::UninitializedThis => info.push(6),
                        V::Object(name) => {
                            info.push(7);
                            u2(&mut info, pool.class(name).into());
                        }
                        V::Uninitialized(l) => {
                            info.push(8);
                            u2(&mut info, self.at(*l));
                        }
                    }
                }
            }
        }
        info
    }

    fn line_table(&self) -> Vec<u8> {
        let mut info = Vec::new();
        u2(&mut info, self.lines.len());
        for &(l, n) in &self.lines {
            u2(&mut info, self.at(l));
            u2(&mut info, n.into());
        }
        info
    }

    fn variable_table(&self) -> Vec<u8> {
        let mut info = Vec::new();
        u2(&mut info, self.variables.len());
        for &(s, e, name, descriptor, index) in &self.variables {
            for n in [
                self.at(s),
                self.at(e) - self.at(s),
                name.into(),
                descriptor.into(),
                index.into(),
            ] {
                u2(&mut info, n);
            }
        }
        info
    }
}
