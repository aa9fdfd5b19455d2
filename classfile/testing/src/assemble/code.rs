//! A builder of code.

/// A place in the code. Its BCI is known when the place is reached.
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

pub(super) enum Fix {
    Short { at: usize, from: usize, to: Label },
    Int { at: usize, from: usize, to: Label },
}

/// The code of a method that is being built.
#[derive(Default)]
pub struct Code {
    pub max_stack: u16,
    pub max_locals: u16,
    pub bytes: Vec<u8>,
    pub(super) labels: Vec<Option<usize>>,
    pub(super) fixes: Vec<Fix>,
    pub(super) exceptions: Vec<(Label, Label, Label, u16)>,
    /// Frames: place, locals, stack.
    pub(super) frames: Vec<(Label, Vec<V>, Vec<V>)>,
    pub(super) lines: Vec<(Label, u16)>,
    /// Start, end, name, descriptor and index of each.
    pub(super) variables: Vec<(Label, Label, u16, u16, u16)>,
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

    /// A load or store by its opcode with an operand, with `wide` if asked for or needed.
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

    /// Whether all branches fit into 16 bits.
    pub fn fits(&self) -> bool {
        self.bytes.len() <= 65535
            && self.fixes.iter().all(|f| match f {
                Fix::Short { from, to, .. } => {
                    i16::try_from(self.at(*to) as i64 - *from as i64).is_ok()
                }
                Fix::Int { .. } => true,
            })
    }
}
