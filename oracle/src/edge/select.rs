//! The methods that an invocation can run: resolution (JVMS 5.4.3.3, 5.4.3.4), overriding (5.4.5)
//! and selection (5.4.6), as far as class files show.

use super::class::{Class, Declared};
use super::finding::{Finding, Impossible, Possible, Unknown};
use super::hierarchy::Tristate;
use super::names::{ClassName, Method, Signature, package};
use super::runtime::ClassKind;
use super::world::World;
use classfile::access as flag;
use std::collections::HashSet;

/// The first declaration in the chain of superclasses of a class.
enum Nearest<'w> {
    /// This class declares the method.
    Declares(ClassName, &'w Declared),
    /// No class of the chain declares the method.
    None,
    /// A class of the chain is unknown, or several classes of its name disagree.
    Unknown,
}

fn nearest(world: &World, from: ClassName, signature: Signature) -> Nearest<'_> {
    let (mut at, mut seen) = (Some(from), HashSet::new());
    while let Some(name) = at {
        let [class] = world.classes(name) else {
            return Nearest::Unknown;
        };
        if let Some(method) = class.method(signature) {
            return Nearest::Declares(name, method);
        }
        if !seen.insert(name) {
            return Nearest::Unknown;
        }
        at = class.super_name;
    }
    Nearest::None
}

/// `invokestatic` of `named` runs `callee`.
pub(super) fn statically(world: &World, named: Method, callee: Method) -> Finding {
    let possible = Finding::Possible(Possible::Static);
    if named.class == callee.class {
        return possible;
    }
    match nearest(world, named.class, named.signature) {
        Nearest::Declares(class, _) if class == callee.class => possible,
        Nearest::Declares(..) | Nearest::None => Finding::Impossible(Impossible::OtherClass),
        Nearest::Unknown => by_subtype(world, named.class, callee.class, Possible::Static),
    }
}

/// `invokespecial` of `named` in class `caller` runs `callee`.
pub(super) fn specially(
    world: &World,
    caller: ClassName,
    named: Method,
    callee: Method,
) -> Finding {
    let possible = Finding::Possible(Possible::Special);
    if named.class == callee.class {
        return possible;
    }
    if world.name_and_descriptor(named.signature).0 == b"<init>" {
        return Finding::Impossible(Impossible::OtherClass);
    }
    // `super.m()`: the search starts at the direct superclass (JVMS 6.5.invokespecial).
    let above = world.classes(caller).iter().filter_map(|c| c.super_name);
    let mut answers = above.chain([named.class]).map(|start| {
        match nearest(world, start, named.signature) {
            Nearest::Declares(class, _) if class == callee.class => possible,
            Nearest::Declares(..) => Finding::Impossible(Impossible::OtherClass),
            Nearest::None if !world.is_interface(callee.class) => {
                Finding::Impossible(Impossible::OtherClass)
            }
            // A default method.
            Nearest::None | Nearest::Unknown => {
                by_subtype(world, start, callee.class, Possible::Special)
            }
        }
    });
    let first = answers.next();
    answers.fold(first.unwrap_or(possible), Finding::or)
}

fn by_subtype(world: &World, class: ClassName, above: ClassName, rule: Possible) -> Finding {
    match world.is_subtype(class, above) {
        Tristate::Yes => Finding::Possible(rule),
        Tristate::No => Finding::Impossible(Impossible::OtherClass),
        Tristate::Unknown => Finding::Unknown(Unknown::Hierarchy),
    }
}

/// `invokevirtual` or `invokeinterface` of `named` runs `callee`.
pub(super) fn virtually(world: &World, named: Method, callee: Method, rule: Possible) -> Finding {
    let (from, to, signature) = (named.class, callee.class, named.signature);
    let possible = Finding::Possible(rule);
    let other = Finding::Impossible(Impossible::OtherClass);
    if let Some(method) = sole(world, callee)
        && method.is(flag::STATIC)
    {
        return other;
    }
    let resolved = nearest(world, from, signature);
    if let Nearest::Declares(class, method) = resolved
        && class != to
    {
        if method.is(flag::PRIVATE | flag::FINAL) {
            return other;
        }
        if sole(world, callee).is_some_and(|own| own.is(flag::PRIVATE)) {
            return other;
        }
        if is_package_private(method)
            && world.is_subtype(to, class) == Tristate::Yes
            && !overrides_package_private(world, class, to, signature)
        {
            return Finding::Impossible(Impossible::NotAnOverride);
        }
    }
    let below = world.is_subtype(to, from);
    if from == to || below == Tristate::Yes {
        return possible;
    }
    if world.classes(to).is_empty() && implements_anything(world.kind(to)) {
        return possible;
    }
    // Nothing else is known about what objects of classes generated at run time inherit.
    if world.name(to) == b"java/lang/Object" && world.is_interface(from) {
        return possible;
    }
    match (world.is_subtype(from, to), resolved) {
        (Tristate::Yes, Nearest::Declares(class, _)) => {
            return if class == to { possible } else { other };
        }
        (Tristate::Yes, _) => return possible,
        (Tristate::No, _) if below == Tristate::No => {}
        _ => return Finding::Unknown(Unknown::Hierarchy),
    }
    // Neither class is above the other. The receiver is an object of a class below both.
    let known = |name| world.classes(name).len() == 1;
    match (world.is_interface(from), world.is_interface(to)) {
        (false, false) if known(from) && known(to) => other,
        _ if world.have_common_subtype(from, to) => possible,
        _ => Finding::Unknown(Unknown::Receiver),
    }
}

/// Whether a class that is generated at run time is called through any interface that it
/// implements.
fn implements_anything(kind: ClassKind) -> bool {
    matches!(
        kind,
        ClassKind::Lambda | ClassKind::Linker | ClassKind::Proxy | ClassKind::Accessor
    )
}

/// The only known declaration.
fn sole(world: &World, method: Method) -> Option<&Declared> {
    let mut all = world.declarations(method);
    let first = all.next();
    first.filter(|_| all.next().is_none())
}

fn is_package_private(method: &Declared) -> bool {
    !method.is(flag::PUBLIC | flag::PROTECTED | flag::PRIVATE | flag::STATIC)
}

/// Whether `to` overrides the package-private method of its superclass `from`: directly, because
/// both are in one package, or through a class between that made the method visible. An unknown
/// class, or one of several classes with its name, counts as if it did.
fn overrides_package_private(
    world: &World,
    from: ClassName,
    to: ClassName,
    signature: Signature,
) -> bool {
    let home = package(world.name(from));
    let (mut at, mut seen) = (Some(to), HashSet::new());
    while let Some(name) = at.filter(|&name| name != from) {
        let [class]: &[Class] = world.classes(name) else {
            return true;
        };
        let declares = class.method(signature).is_some();
        if declares && package(world.name(name)) == home || !seen.insert(name) {
            return true;
        }
        at = class.super_name;
    }
    at.is_none()
}
