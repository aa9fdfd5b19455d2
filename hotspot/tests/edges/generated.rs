//! Generated worlds, in which a plain interpreter of the JVMS selects methods.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// A generated class: its supertypes, and which of the methods `m0()V`… it has, with flags.
#[derive(Clone, Debug)]
struct Generated {
    super_class: Option<usize>,
    interfaces: BTreeSet<usize>,
    is_interface: bool,
    methods: Vec<Option<u16>>,
}

const METHODS: usize = 3;

fn hierarchy() -> impl Strategy<Value = Vec<Generated>> {
    let access = prop_oneof![
        3 => Just(None),
        3 => Just(Some(PUBLIC)),
        1 => Just(Some(0)),
        1 => Just(Some(PRIVATE)),
        1 => Just(Some(PUBLIC | ABSTRACT)),
    ];
    let one = (
        any::<prop::sample::Index>(),
        prop::collection::vec(any::<prop::sample::Index>(), 0..3),
        any::<bool>(),
        prop::collection::vec(access, METHODS),
    );
    prop::collection::vec(one, 1..9).prop_map(|all| {
        let mut made: Vec<Generated> = Vec::new();
        for (super_class, interfaces, is_interface, mut methods) in all {
            let of_kind = |wanted: bool| -> Vec<usize> {
                (0..made.len())
                    .filter(|&i| made[i].is_interface == wanted)
                    .collect()
            };
            let (classes, known) = (of_kind(false), of_kind(true));
            let super_class = (!is_interface && !classes.is_empty())
                .then(|| classes[super_class.index(classes.len())]);
            let interfaces = if known.is_empty() {
                BTreeSet::new()
            } else {
                interfaces
                    .iter()
                    .map(|i| known[i.index(known.len())])
                    .collect()
            };
            if is_interface {
                // Such methods are public or private here.
                methods.iter_mut().flatten().for_each(|flags| {
                    if *flags == 0 {
                        *flags = PUBLIC;
                    }
                });
            }
            made.push(Generated {
                super_class,
                interfaces,
                is_interface,
                methods,
            });
        }
        made
    })
}

/// Class `i` is in one of two packages.
fn name_of(i: usize) -> String {
    format!("{}/C{i}", ["p", "q"][i % 2])
}

/// The supertypes of a class, itself included.
fn above(all: &[Generated], class: usize) -> BTreeSet<usize> {
    let mut found = BTreeSet::from([class]);
    for next in all[class].super_class.iter().chain(&all[class].interfaces) {
        found.extend(above(all, *next));
    }
    found
}

fn chain(all: &[Generated], class: usize) -> Vec<usize> {
    let next = |&class: &usize| all[class].super_class;
    std::iter::successors(Some(class), next).collect()
}

/// Whether the method of class `low` can override that of `high` (JVMS 5.4.5).
fn overrides(all: &[Generated], low: usize, high: usize, method: usize) -> bool {
    let flags = |class: usize| all[class].methods[method];
    let (Some(of_low), Some(of_high)) = (flags(low), flags(high)) else {
        return false;
    };
    if of_low & PRIVATE != 0 || of_high & PRIVATE != 0 {
        return false;
    }
    if of_high & PUBLIC != 0 || low % 2 == high % 2 {
        return true;
    }
    // By a chain of overriding methods in classes between.
    chain(all, low)[1..]
        .iter()
        .take_while(|&&between| between != high)
        .any(|&between| {
            overrides(all, low, between, method) && overrides(all, between, high, method)
        })
}

/// The class whose method an invocation of `named`'s `method` runs on a `receiver` (JVMS
/// 5.4.3.3, 5.4.6), if one does.
fn selected(all: &[Generated], named: usize, receiver: usize, method: usize) -> Option<usize> {
    let declares = |class: &usize| all[*class].methods[method].is_some();
    let defaults = |from: usize| -> Vec<usize> {
        let not_private = |i: &usize| all[*i].methods[method].is_some_and(|f| f & PRIVATE == 0);
        let all_of: Vec<_> = above(all, from)
            .into_iter()
            .filter(|i| all[*i].is_interface && not_private(i))
            .collect();
        let is_below = |i: &usize| all_of.iter().any(|j| j != i && above(all, *j).contains(i));
        all_of.iter().copied().filter(|i| !is_below(i)).collect()
    };
    let own = chain(all, named).into_iter().find(declares);
    let resolved = own.or_else(|| defaults(named).first().copied())?;
    if all[resolved].methods[method]? & PRIVATE != 0 {
        // Within its nest. The caller stands for the nest.
        return Some(resolved);
    }
    let by_class = chain(all, receiver)
        .into_iter()
        .find(|&class| class == resolved || overrides(all, class, resolved, method));
    let chosen = by_class.or_else(|| match defaults(receiver)[..] {
        [one] => Some(one),
        _ => None,
    })?;
    (all[chosen].methods[method]? & ABSTRACT == 0).then_some(chosen)
}

proptest! {
    #[test]
    fn what_the_jvms_selects_is_possible(
        all in hierarchy(),
        receiver in any::<prop::sample::Index>(),
        named_class in any::<prop::sample::Index>(),
        method in 0..METHODS,
    ) {
        let classes: Vec<_> = (0..all.len()).filter(|&i| !all[i].is_interface).collect();
        prop_assume!(!classes.is_empty());
        let receiver = classes[receiver.index(classes.len())];
        let supertypes: Vec<_> = above(&all, receiver).into_iter().collect();
        let named_class = supertypes[named_class.index(supertypes.len())];
        let names: Vec<String> = (0..all.len()).map(name_of).collect();
        let signatures: Vec<String> = (0..METHODS).map(|m| format!("m{m}()V")).collect();
        let mut world = jdk();
        for (i, one) in all.iter().enumerate() {
            let super_name = one.super_class.map_or(OBJECT, |s| &names[s]);
            let interfaces = one.interfaces.iter().map(|&i| names[i].as_str());
            let above: Vec<&str> = std::iter::once(super_name).chain(interfaces).collect();
            let methods = one.methods.iter().zip(&signatures);
            let methods: Vec<(u16, &str, &[_])> = methods
                .filter_map(|(flags, signature)| Some(((*flags)?, signature.as_str(), &[][..])))
                .collect();
            let flags = if one.is_interface { INTERFACE } else { PUBLIC };
            world.add(&class(flags, &names[i], &above, &methods));
        }
        let text = |class: usize| format!("{}.{}", names[class], signatures[method]);
        let target = text(named_class);
        let refers = if all[named_class].is_interface { Refers::Interface(named(&target)) } else { Refers::Virtual(named(&target)) };
        let sites = [(4, refers)];
        world.add(&class(PUBLIC, "p/Caller", &[OBJECT], &[(PUBLIC, "m()V", &sites)]));
        let caller = EdgeFrame {
            method: id(&mut world, "p/Caller.m()V"),
            location: Location(4),
        };
        let chosen = selected(&all, named_class, receiver, method);
        if let Some(chosen) = chosen {
            let callee = id(&mut world, &text(chosen));
            let finding = world.edge(caller, callee);
            prop_assert!(matches!(finding, Finding::Possible(_)), "{finding} {all:?}");
        }
        // Every receiver that the call can have must give the same answer.
        let receivers = || (0..all.len()).filter(|&r| !all[r].is_interface && above(&all, r).contains(&named_class));
        for callee in (0..all.len()).filter(|&c| all[c].methods[method].is_some_and(|f| f & ABSTRACT == 0)) {
            let runs = receivers().any(|r| selected(&all, named_class, r, method) == Some(callee));
            let callee = id(&mut world, &text(callee));
            let finding = world.edge(caller, callee);
            prop_assert!(!runs || matches!(finding, Finding::Possible(_)), "{finding} {all:?}");
        }
    }
}
