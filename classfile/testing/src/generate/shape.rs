//! The random shapes of generated classes.

use proptest::collection::vec;
use proptest::prelude::*;

/// A class to be generated.
#[derive(Clone, Debug)]
pub struct GenClass {
    pub major: u16,
    pub methods: Vec<GenMethod>,
}

#[derive(Clone, Debug)]
pub struct GenMethod {
    pub(super) synchronized: bool,
    /// Whether the first instruction is the head of a loop.
    pub(super) loop_at_entry: bool,
    pub(super) more_locals: u16,
    pub(super) body: Vec<Stmt>,
}

#[derive(Clone, Debug)]
pub(super) enum Expr {
    Const(i32),
    P,
    A,
    B,
    C,
    /// Opcode of an operation on ints.
    Op(u8, Box<Expr>, Box<Expr>),
    /// A call of an earlier method.
    Call(u8, Box<Expr>),
}

#[derive(Clone, Debug)]
pub(super) enum Stmt {
    SetA(Expr, bool),
    SetB(Expr),
    MixC(Expr),
    If(u8, Expr, Vec<Stmt>, Vec<Stmt>),
    While(Expr, Vec<Stmt>, bool),
    Switch {
        table: bool,
        low: i32,
        of: Expr,
        cases: Vec<Vec<Stmt>>,
    },
    Try {
        catches: u8,
        body: Vec<Stmt>,
        handler: Vec<Stmt>,
        rethrow: bool,
    },
    Throw(Expr),
    Return(Expr),
    /// This many bytes of code without effect.
    Pad(u16),
    /// A subroutine, where the version has them.
    Jsr(Vec<Stmt>),
    /// A branch while an object is not yet initialised.
    NewAcrossBranch(Expr),
    Wide(i16),
}

fn expr() -> impl Strategy<Value = Expr> {
    let leaf = prop_oneof![
        prop_oneof![Just(0), Just(1), -200..200, any::<i32>()].prop_map(Expr::Const),
        Just(Expr::P),
        Just(Expr::A),
        Just(Expr::B),
        Just(Expr::C),
    ];
    leaf.prop_recursive(3, 8, 2, |inner| {
        prop_oneof![
            4 => (prop_oneof![Just(96u8), Just(100), Just(104), Just(108), Just(112), Just(130), Just(120)],
                  inner.clone(), inner.clone())
                .prop_map(|(o, a, b)| Expr::Op(o, Box::new(a), Box::new(b))),
            1 => (any::<u8>(), inner).prop_map(|(n, a)| Expr::Call(n, Box::new(a))),
        ]
    })
}

fn stmt() -> impl Strategy<Value = Stmt> {
    let leaf = prop_oneof![
        6 => (expr(), any::<bool>()).prop_map(|(e, w)| Stmt::SetA(e, w)),
        6 => expr().prop_map(Stmt::SetB),
        8 => expr().prop_map(Stmt::MixC),
        2 => expr().prop_map(Stmt::Return),
        2 => expr().prop_map(Stmt::Throw),
        1 => prop_oneof![4 => 0..40u16, 1 => 8_000..16_000u16].prop_map(Stmt::Pad),
        2 => expr().prop_map(Stmt::NewAcrossBranch),
        1 => any::<i16>().prop_map(Stmt::Wide),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        let block = || vec(inner.clone(), 0..4);
        prop_oneof![
            4 => (153u8..=158, expr(), block(), block()).prop_map(|(o, e, a, b)| Stmt::If(o, e, a, b)),
            3 => (expr(), block(), any::<bool>()).prop_map(|(e, b, far)| Stmt::While(e, b, far)),
            2 => (any::<bool>(), prop_oneof![-3..3, any::<i32>().prop_map(|n| n / 2)], expr(), vec(block(), 0..5))
                .prop_map(|(table, low, of, cases)| Stmt::Switch { table, low, of, cases }),
            4 => (0..3u8, block(), block(), any::<bool>())
                .prop_map(|(catches, body, handler, rethrow)| Stmt::Try { catches, body, handler, rethrow }),
            1 => block().prop_map(Stmt::Jsr),
        ]
    })
}

fn method() -> impl Strategy<Value = GenMethod> {
    let more = prop_oneof![4 => 0..8u16, 1 => 240..260u16, 1 => Just(600u16)];
    (any::<bool>(), any::<bool>(), more, vec(stmt(), 0..8)).prop_map(
        |(synchronized, loop_at_entry, more_locals, body)| GenMethod {
            synchronized,
            loop_at_entry,
            more_locals,
            body,
        },
    )
}

/// Classes of any version.
pub fn class() -> impl Strategy<Value = GenClass> {
    class_with(1..6)
}

/// Classes with this many methods.
pub fn class_with(methods: std::ops::Range<usize>) -> impl Strategy<Value = GenClass> {
    let major = prop_oneof![
        Just(46u16),
        Just(48),
        Just(49),
        Just(50),
        Just(51),
        Just(52),
        Just(61)
    ];
    (major, vec(method(), methods)).prop_map(|(major, methods)| GenClass { major, methods })
}
