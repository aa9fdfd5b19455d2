//! A small assembler of class files. It shares no code with the crate under test.

use std::collections::HashMap;

/// A constant pool that gives the same index to the same constant.
#[derive(Default)]
pub struct Pool {
    bytes: Vec<u8>,
    count: u16,
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

/// A place in the code, known when it is reached.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Label(usize);

/// A verification type.
#[derive(Clone, Debug)]
pub enum V {
    Top,
    Int,
    Long,
    Double,
    UninitializedThis,
    Object(String),
    Uninitialized(Label),
}

enum Fix {
    Short { at: usize, from: usize, to: Label },
    Int { at: usize, from: usize, to: Label },
}

/// A method's code in the making.
#[derive(Default)]
pub struct Code {
    pub max_stack: u16,
    pub max_locals: u16,
    pub bytes: Vec<u8>,
    labels: Vec<Option<usize>>,
    fixes: Vec<Fix>,
    exceptions: Vec<(Label, Label, Label, u16)>,
    /// Frames: place, locals, stack.
    frames: Vec<(Label, Vec<V>, Vec<V>)>,
    lines: Vec<(Label, u16)>,
    /// Start, end, name, descriptor, index.
    variables: Vec<(Label, Label, u16, u16, u16)>,
    /// Further attributes: name index, content.
    pub attributes: Vec<(u16, Vec<u8>)>,
}

impl Code {
    pub fn new(max_stack: u16, max_locals: u16) -> Self {
        Self {
            max_stack,
            max_locals,
            ..Self::default()
        }
    }

    pub fn op(&mut self, opcode: u8) -> &mut Self {
        self.bytes.push(opcode);
        self
    }

    pub fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        self.bytes.extend_from_slice(bytes);
        self
    }

    pub fn op_u2(&mut self, opcode: u8, n: u16) -> &mut Self {
        self.bytes.push(opcode);
        self.bytes.extend_from_slice(&n.to_be_bytes());
        self
    }

    /// A load or store by its long opcode, wide if asked or needed.
    pub fn local(&mut self, opcode: u8, n: u16, wide: bool) -> &mut Self {
        if wide || n > 255 {
            self.bytes.push(196);
            self.op_u2(opcode, n)
        } else {
            self.raw(&[opcode, n as u8])
        }
    }

    pub fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    pub fn here(&mut self) -> Label {
        let l = self.label();
        self.bind(l);
        l
    }

    pub fn bind(&mut self, label: Label) -> &mut Self {
        self.labels[label.0] = Some(self.bytes.len());
        self
    }

    pub fn branch(&mut self, opcode: u8, to: Label) -> &mut Self {
        let from = self.bytes.len();
        self.bytes.push(opcode);
        let at = self.bytes.len();
        if opcode >= 200 {
            self.fixes.push(Fix::Int { at, from, to });
            self.raw(&[0; 4])
        } else {
            self.fixes.push(Fix::Short { at, from, to });
            self.raw(&[0; 2])
        }
    }

    fn offset(&mut self, from: usize, to: Label) {
        self.fixes.push(Fix::Int {
            at: self.bytes.len(),
            from,
            to,
        });
        self.raw(&[0; 4]);
    }

    pub fn table_switch(&mut self, low: i32, targets: &[Label], default: Label) -> &mut Self {
        let from = self.bytes.len();
        self.bytes.push(170);
        while !self.bytes.len().is_multiple_of(4) {
            self.bytes.push(0);
        }
        self.offset(from, default);
        self.raw(&low.to_be_bytes());
        self.raw(&(low + targets.len() as i32 - 1).to_be_bytes());
        for &t in targets {
            self.offset(from, t);
        }
        self
    }

    pub fn lookup_switch(&mut self, pairs: &[(i32, Label)], default: Label) -> &mut Self {
        let from = self.bytes.len();
        self.bytes.push(171);
        while !self.bytes.len().is_multiple_of(4) {
            self.bytes.push(0);
        }
        self.offset(from, default);
        self.raw(&(pairs.len() as i32).to_be_bytes());
        for &(key, t) in pairs {
            self.raw(&key.to_be_bytes());
            self.offset(from, t);
        }
        self
    }

    pub fn exception(
        &mut self,
        start: Label,
        end: Label,
        handler: Label,
        catch_type: u16,
    ) -> &mut Self {
        self.exceptions.push((start, end, handler, catch_type));
        self
    }

    pub fn frame(&mut self, at: Label, locals: Vec<V>, stack: Vec<V>) -> &mut Self {
        self.frames.push((at, locals, stack));
        self
    }

    pub fn line(&mut self, line: u16) -> &mut Self {
        let l = self.here();
        self.lines.push((l, line));
        self
    }

    pub fn variable(
        &mut self,
        start: Label,
        end: Label,
        name: u16,
        descriptor: u16,
        index: u16,
    ) -> &mut Self {
        self.variables.push((start, end, name, descriptor, index));
        self
    }

    pub fn at(&self, label: Label) -> usize {
        self.labels[label.0].expect("a label that is used is bound")
    }

    /// All branches fit their 16 bits.
    pub fn fits(&self) -> bool {
        self.bytes.len() <= 65535
            && self.fixes.iter().all(|f| match f {
                Fix::Short { from, to, .. } => {
                    i16::try_from(self.at(*to) as i64 - *from as i64).is_ok()
                }
                Fix::Int { .. } => true,
            })
    }

    fn finish(&self, pool: &mut Pool) -> Vec<u8> {
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
        let u2 = |out: &mut Vec<u8>, n: usize| out.extend_from_slice(&(n as u16).to_be_bytes());
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
            attributes.push((pool.utf8("StackMapTable"), info));
        }
        if !self.lines.is_empty() {
            let mut info = Vec::new();
            u2(&mut info, self.lines.len());
            for &(l, n) in &self.lines {
                u2(&mut info, self.at(l));
                u2(&mut info, n.into());
            }
            attributes.push((pool.utf8("LineNumberTable"), info));
        }
        if !self.variables.is_empty() {
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
            attributes.push((pool.utf8("LocalVariableTable"), info));
        }
        u2(&mut out, attributes.len());
        for (name, info) in attributes {
            u2(&mut out, name.into());
            out.extend_from_slice(&(info.len() as u32).to_be_bytes());
            out.extend_from_slice(&info);
        }
        out
    }
}

/// A class in the making.
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
