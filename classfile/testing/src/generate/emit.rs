//! The code of generated methods.

use super::shape::{Expr, GenClass, GenMethod, Stmt};
use crate::assemble::{Class, Code, Label, V};

pub const NAME: &str = "Generated";
pub const DESCRIPTOR: &str = "(IJDLjava/lang/Object;)J";

const P: u16 = 0;
const O: u16 = 5;
const A: u16 = 6;
const B: u16 = 7;
const C: u16 = 8;
const FUEL: u16 = 10;
/// Return address of subroutines, one for each depth of nesting.
const RETURN_TO: u16 = 11;

struct Emit<'c> {
    class: &'c mut Class,
    code: Code,
    framed: bool,
    pads: bool,
    /// Number of the method. A method calls only methods with smaller numbers.
    number: usize,
    /// The depth of nested subroutines.
    depth: u16,
}

const STACK: u16 = 40;

impl GenClass {
    pub fn bytes(&self) -> Vec<u8> {
        let mut class = Class::new(NAME, self.major);
        for (i, m) in self.methods.iter().enumerate() {
            let code = [true, false].into_iter().find_map(|pads| {
                let mut e = Emit {
                    class: &mut class,
                    code: Code::new(STACK, RETURN_TO + 8 + m.more_locals),
                    framed: self.major >= 50,
                    pads,
                    number: i,
                    depth: 0,
                };
                e.method(m);
                let code = e.code;
                code.fits().then_some(code)
            });
            let Some(code) = code else { continue };
            let flags = 9 | if m.synchronized { 0x20 } else { 0 };
            class.method(flags, &format!("m{i}"), DESCRIPTOR, &code);
        }
        class.bytes()
    }
}

impl Emit<'_> {
    fn locals() -> Vec<V> {
        let o = || V::Object("java/lang/Object".to_owned());
        vec![
            V::Int,
            V::Long,
            V::Double,
            o(),
            V::Int,
            V::Int,
            V::Long,
            V::Int,
        ]
    }

    /// Binds the label to this place. The types are the same at every label.
    fn bind(&mut self, label: Label) {
        self.bind_with(label, vec![]);
    }

    fn bind_with(&mut self, label: Label, stack: Vec<V>) {
        self.code.bind(label);
        if self.framed {
            self.code.frame(label, Self::locals(), stack);
        }
    }

    fn method(&mut self, m: &GenMethod) {
        if m.loop_at_entry {
            let head = self.code.here();
            if self.framed {
                self.code.frame(head, Self::locals()[..4].to_vec(), vec![]);
            }
            // P >>= 2, until it is not positive.
            self.code
                .local(21, P, false)
                .raw(&[5, 122])
                .local(54, P, false)
                .local(21, P, false);
            // ifgt
            self.code.branch(157, head);
        }
        for l in [A, B] {
            self.code.op(4).local(54, l, false);
        }
        self.code.op(9).local(55, C, false);
        self.code.raw(&[16, 5]).local(54, FUEL, false);
        if self.block(&m.body) {
            self.expr(&Expr::C);
            self.ret();
        }
    }

    fn ret(&mut self) {
        self.code.op(133).local(22, C, false).op(131).op(173);
    }

    /// Writes statements; `false` if their end cannot be reached.
    fn block(&mut self, all: &[Stmt]) -> bool {
        all.iter().all(|s| self.stmt(s))
    }

    fn int(&mut self, n: i32) {
        match n {
            -1..=5 => {
                self.code.op((3 + n) as u8);
            }
            -128..=127 => {
                self.code.raw(&[16, n as u8]);
            }
            -32768..=32767 => {
                self.code.op_u2(17, n as u16);
            }
            _ => {
                let i = self.class.pool.int(n);
                if i < 256 && n & 1 == 0 {
                    self.code.raw(&[18, i as u8]);
                } else {
                    self.code.op_u2(19, i);
                }
            }
        }
    }

    fn expr(&mut self, e: &Expr) {
        match e {
            Expr::Const(n) => self.int(*n),
            Expr::P => {
                self.code.local(21, P, false);
            }
            Expr::A => {
                self.code.local(21, A, false);
            }
            Expr::B => {
                self.code.local(21, B, true);
            }
            Expr::C => {
                self.code.local(22, C, false).op(136);
            }
            Expr::Op(o, a, b) => {
                self.expr(a);
                self.expr(b);
                self.code.op(*o);
            }
            Expr::Call(n, arg) => {
                self.expr(arg);
                if self.number > 0 && self.depth == 0 {
                    let name = format!("m{}", usize::from(*n) % self.number);
                    self.code
                        .local(22, C, false)
                        .local(24, 3, false)
                        .local(25, O, false);
                    let m = self.class.pool.method(NAME, &name, DESCRIPTOR);
                    self.code.op_u2(184, m).op(136);
                }
            }
        }
    }

    fn throw(&mut self, e: &Expr) {
        let class = self.class.pool.class("java/lang/IllegalStateException");
        let text = self
            .class
            .pool
            .method("java/lang/String", "valueOf", "(I)Ljava/lang/String;");
        let init = self.class.pool.method(
            "java/lang/IllegalStateException",
            "<init>",
            "(Ljava/lang/String;)V",
        );
        self.code.op_u2(187, class).op(89);
        self.expr(e);
        self.code.op_u2(184, text).op_u2(183, init).op(191);
    }

    fn stmt(&mut self, s: &Stmt) -> bool {
        let throwable = || vec![V::Object("java/lang/Throwable".to_owned())];
        match s {
            Stmt::SetA(e, wide) => {
                self.expr(e);
                self.code.local(54, A, *wide);
            }
            Stmt::SetB(e) => {
                self.expr(e);
                self.code.local(54, B, false);
            }
            Stmt::MixC(e) => {
                let n = self.class.pool.long(31);
                self.code.local(22, C, false).op_u2(20, n).op(105);
                self.expr(e);
                self.code.op(133).op(97).local(55, C, true);
            }
            Stmt::If(o, e, then, other) => {
                let (on_else, end) = (self.code.label(), self.code.label());
                self.expr(e);
                self.code.branch(*o, on_else);
                let a = self.block(then);
                if a {
                    self.code.branch(167, end);
                }
                self.bind(on_else);
                let b = self.block(other);
                if a {
                    self.bind(end);
                }
                return a || b;
            }
            Stmt::While(e, body, far) => {
                let (head, end) = (self.code.label(), self.code.label());
                self.bind(head);
                self.code
                    .raw(&[132, FUEL as u8, 0xFF])
                    .local(21, FUEL, false);
                self.code.branch(155, end);
                self.expr(e);
                self.code.branch(153, end);
                if self.block(body) {
                    self.code.branch(if *far { 200 } else { 167 }, head);
                }
                self.bind(end);
            }
            Stmt::Switch {
                table,
                low,
                of,
                cases,
            } => {
                let labels: Vec<_> = cases.iter().map(|_| self.code.label()).collect();
                let end = self.code.label();
                self.expr(of);
                if *table && !labels.is_empty() {
                    self.code.table_switch(*low, &labels, end);
                } else {
                    let pairs: Vec<_> = labels
                        .iter()
                        .enumerate()
                        .map(|(i, &l)| (low + 3 * i as i32, l))
                        .collect();
                    self.code.lookup_switch(&pairs, end);
                }
                // Cases fall through.
                for (case, label) in cases.iter().zip(labels) {
                    self.bind(label);
                    self.block(case);
                }
                self.bind(end);
            }
            Stmt::Try {
                catches,
                body,
                handler,
                rethrow,
            } => {
                let (on_throw, after) = (self.code.label(), self.code.label());
                let start = self.code.here();
                self.code.op(0);
                let a = self.block(body);
                let end = self.code.here();
                if a {
                    self.code.branch(167, after);
                }
                let (class, stack) = match catches {
                    0 => (0, throwable()),
                    1 => (self.class.pool.class("java/lang/Throwable"), throwable()),
                    _ => {
                        let name = "java/lang/ArithmeticException";
                        (
                            self.class.pool.class(name),
                            vec![V::Object(name.to_owned())],
                        )
                    }
                };
                self.code.exception(start, end, on_throw, class);
                self.bind_with(on_throw, stack);
                let b = if *rethrow {
                    self.code.op(191);
                    false
                } else {
                    self.code.op(87);
                    self.block(handler)
                };
                if a {
                    self.bind(after);
                }
                return a || b;
            }
            Stmt::Throw(e) => {
                self.throw(e);
                return false;
            }
            Stmt::Return(e) => {
                if self.depth > 0 {
                    // The JVM would allow more here, but this keeps subroutines simple.
                    return true;
                }
                self.expr(e);
                self.ret();
                return false;
            }
            Stmt::Pad(n) => {
                if self.pads {
                    self.code
                        .bytes
                        .resize(self.code.bytes.len() + usize::from(*n), 0);
                }
            }
            Stmt::Jsr(body) => {
                if self.framed || self.depth > 3 {
                    return self.block(body);
                }
                let (routine, after) = (self.code.label(), self.code.label());
                self.code.branch(168, routine);
                self.code.branch(167, after);
                self.bind(routine);
                let to = RETURN_TO + self.depth;
                self.code.local(58, to, false);
                self.depth += 1;
                let returns = self.block(body);
                self.depth -= 1;
                if returns {
                    self.code.local(169, to, false);
                }
                self.bind(after);
            }
            Stmt::NewAcrossBranch(e) => {
                let (other, join) = (self.code.label(), self.code.label());
                let class = self.class.pool.class("java/lang/StringBuilder");
                let init = self.class.pool.method(
                    "java/lang/StringBuilder",
                    "<init>",
                    "(Ljava/lang/String;)V",
                );
                let length = self
                    .class
                    .pool
                    .method("java/lang/StringBuilder", "length", "()I");
                let (x, y) = (self.class.pool.string("xx"), self.class.pool.string("y"));
                let new = self.code.here();
                self.code.op_u2(187, class).op(89);
                self.expr(e);
                self.code.branch(154, other);
                self.code.op_u2(19, x).branch(167, join);
                let mut stack = vec![V::Uninitialized(new), V::Uninitialized(new)];
                self.bind_with(other, stack.clone());
                self.code.op_u2(19, y);
                stack.push(V::Object("java/lang/String".to_owned()));
                self.bind_with(join, stack);
                self.code
                    .op_u2(183, init)
                    .op_u2(182, length)
                    .local(54, A, false);
            }
            Stmt::Wide(n) => {
                self.code.raw(&[196, 132, 0, A as u8]).raw(&n.to_be_bytes());
            }
        }
        true
    }
}
