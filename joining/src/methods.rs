//! Methods by name: a recording knows no other identity of a method.

use crate::profiler::ClassFamily;
use oracle::requests::{MethodFacts, meaning};
use oracle::trace::{HookId, Location, MethodKey, Methods, Presence, Site};
use std::collections::{BTreeMap, HashMap};

/// Class, name and descriptor.
type Name = (String, String, String);

/// The methods of a run. Methods that share a name, because their class was loaded or redefined several times,
/// are one method here: what their code proves counts where their codes agree.
#[derive(Debug, Default)]
pub struct NamedMethods {
    keys: HashMap<Name, MethodKey>,
    methods: Vec<Named>,
    /// For each hook the hook that stands for all methods of the same name.
    hooks: HashMap<u32, HookId>,
    /// The method of each hook that stands for others.
    of_hooks: HashMap<HookId, MethodKey>,
    constructors: Vec<HookId>,
    /// The keys of the agent's numbers.
    numbers: HashMap<u32, MethodKey>,
    /// Classes that the recording has under one name.
    families: Vec<ClassFamily>,
}

#[derive(Debug)]
struct Named {
    name: Name,
    /// The name of its class as the VM has it, with the address of a hidden class.
    class: String,
    facts: Vec<MethodFacts>,
    hook: Option<HookId>,
}

impl NamedMethods {
    /// The methods of these facts, by the agent's numbers.
    pub fn new(facts: &BTreeMap<u32, MethodFacts>) -> NamedMethods {
        NamedMethods::with_families(facts, &[])
    }

    /// The methods of these facts, by the agent's numbers, in a recording that has the classes of each family under one
    /// name.
    pub fn with_families(
        facts: &BTreeMap<u32, MethodFacts>,
        families: &[ClassFamily],
    ) -> NamedMethods {
        let mut all = NamedMethods {
            families: families.to_vec(),
            ..NamedMethods::default()
        };
        // The key 0 is that of no method: judges give it to methods that no walk has shown.
        all.key("", "", "");
        for (&number, facts) in facts {
            let key = all.key(&facts.class, &facts.name, &facts.descriptor);
            all.numbers.insert(number, key);
            let stands_for_others =
                without_address(&facts.class) != facts.class || all.family(&facts.class).is_some();
            let named = &mut all.methods[key.0];
            if let Some(hook) = facts.hook {
                let stands = *named.hook.get_or_insert(HookId(hook));
                all.hooks.insert(hook, stands);
                all.of_hooks.insert(stands, key);
                if facts.name == "<init>" {
                    all.constructors.push(stands);
                }
            }
            let mut facts = facts.clone();
            if stands_for_others {
                // Other classes of this name may have been unloaded, with other code.
                (facts.code, facts.lines) = (String::new(), vec![]);
            }
            if !named.facts.iter().any(|known| is_alike(known, &facts)) {
                named.facts.push(facts);
            }
        }
        all
    }

    /// The key of the methods of this name. `class` is an internal name.
    pub fn key(&mut self, class: &str, name: &str, descriptor: &str) -> MethodKey {
        let family = self.family(class);
        let class = family.map_or(class, |family| &family.class).to_owned();
        let written = family.and_then(|family| family.method.as_deref());
        let name = (
            without_address(&class).to_owned(),
            written.unwrap_or(name).to_owned(),
            descriptor.to_owned(),
        );
        let NamedMethods { keys, methods, .. } = self;
        *keys.entry(name).or_insert_with_key(|name| {
            methods.push(Named {
                name: name.clone(),
                class,
                facts: vec![],
                hook: None,
            });
            MethodKey(methods.len() - 1)
        })
    }

    /// The family of the class `class`, an internal name.
    fn family(&self, class: &str) -> Option<&ClassFamily> {
        let mut families = self.families.iter();
        families.find(|family| class.starts_with(&family.class))
    }

    /// The key of the method that has a number of the agent; `None` if the method is gone.
    pub fn numbered(&self, number: u32) -> Option<MethodKey> {
        self.numbers.get(&number).copied()
    }

    /// The hook that stands for this hook; `None` if its method is gone.
    pub fn standing(&self, hook: u32) -> Option<HookId> {
        self.hooks.get(&hook).copied()
    }

    /// The method of a hook that stands for others.
    pub fn of_hook(&self, hook: HookId) -> Option<MethodKey> {
        self.of_hooks.get(&hook).copied()
    }

    /// The method as `package.Class.name`.
    pub fn dotted(&self, key: MethodKey) -> String {
        self.methods.get(key.0).map_or_else(String::new, |named| {
            format!("{}.{}", named.name.0.replace('/', "."), named.name.1)
        })
    }

    /// Whether the method is native, if that is certain.
    pub fn is_native(&self, key: MethodKey) -> Option<bool> {
        let natives = self.facts(key).iter().map(|facts| facts.is_native);
        common(natives.map(Some), None)
    }

    /// Whether the recording names the method as its class file does, and not by a name that methods of a family share.
    pub fn has_own_name(&self, key: MethodKey) -> bool {
        let named = self.methods.get(key.0);
        named.is_some_and(|named| {
            let family = self.family(&named.class);
            family.is_none_or(|family| family.method.is_none())
        })
    }

    /// Whether a method of this name is gone, so that a profiler may not know its name any more.
    pub fn is_gone(&self, key: MethodKey) -> bool {
        self.facts(key).iter().any(|facts| facts.is_gone)
    }

    /// Whether the frame of the method stands between the frames of a virtual thread and those of its carrier.
    pub fn is_enter_special(&self, key: MethodKey) -> bool {
        let named = self.methods.get(key.0);
        named.is_some_and(|named| {
            named.name.0 == "jdk/internal/vm/Continuation" && named.name.1 == "enterSpecial"
        })
    }

    /// Class, name and descriptor of the method; the name of a hidden class has its address.
    pub fn full_name(&self, key: MethodKey) -> Option<[&str; 3]> {
        let named = self.methods.get(key.0)?;
        let (_, name, descriptor) = &named.name;
        Some([&named.class, name, descriptor])
    }

    /// The method in the form of reports.
    pub fn shown(&self, key: MethodKey) -> String {
        self.methods.get(key.0).map_or_else(
            || "no method".to_owned(),
            |named| {
                let (class, name, descriptor) = &named.name;
                format!("{}.{name}{descriptor}", class.replace('/', "."))
            },
        )
    }

    /// The method of a hook in the form of reports.
    pub fn shown_hook(&self, hook: HookId) -> String {
        let of_hook = self
            .methods
            .iter()
            .position(|named| named.hook == Some(hook));
        of_hook.map_or_else(String::new, |at| self.shown(MethodKey(at)))
    }

    /// The line of a BCI, where it is certain.
    pub fn line(&self, key: MethodKey, bci: u32) -> Option<u32> {
        let mut lines = self.facts(key).iter().map(|facts| {
            let before = facts.lines.iter().filter(|(start, _)| *start <= bci);
            before
                .max_by_key(|(start, _)| *start)
                .map(|&(_, line)| line)
        });
        let first = lines.next()??;
        lines.all(|line| line == Some(first)).then_some(first)
    }

    /// Another method of the same class, if the class has one.
    pub fn sibling(&self, key: MethodKey, random: usize) -> Option<MethodKey> {
        let class = &self.methods.get(key.0)?.name.0;
        let others = self.methods.iter().enumerate();
        let mut others = others.filter(|(at, other)| other.name.0 == *class && *at != key.0);
        let count = others.clone().count();
        let (at, _) = others.nth(random.checked_rem(count)?)?;
        Some(MethodKey(at))
    }

    fn facts(&self, key: MethodKey) -> &[MethodFacts] {
        self.methods.get(key.0).map_or(&[], |named| &named.facts)
    }

    fn at(&self, key: MethodKey, bci: u32) -> impl Iterator<Item = (Site, Option<Presence>)> {
        let facts = self.facts(key).iter();
        facts.map(move |facts| match facts.code.as_bytes().get(bci as usize) {
            Some(&letter) => meaning(letter),
            None if facts.code.is_empty() => (Site::Unknown, None),
            None => (Site::NoInstruction, None),
        })
    }
}

/// Whether two methods of one name are alike in all that judges ask.
fn is_alike(one: &MethodFacts, other: &MethodFacts) -> bool {
    let hook = None;
    let without = |facts: &MethodFacts| MethodFacts {
        hook,
        class: String::new(),
        ..facts.clone()
    };
    one.hook.is_some() == other.hook.is_some() && without(one) == without(other)
}

/// The name of a hidden class without the address that the VM appends, which JVMTI and JFR write differently.
fn without_address(class: &str) -> &str {
    let ends = ["+0x", ".0x", "/0x"];
    let end = ends.iter().filter_map(|end| class.find(end)).min();
    &class[..end.unwrap_or(class.len())]
}

/// The value that all have, or else `otherwise`.
fn common<T: Copy + PartialEq>(mut values: impl Iterator<Item = T>, otherwise: T) -> T {
    match values.next() {
        Some(first) if values.all(|value| value == first) => first,
        _ => otherwise,
    }
}

impl Methods for NamedMethods {
    fn hook(&self, method: MethodKey, location: Location) -> Option<(HookId, Presence)> {
        let hook = self.methods.get(method.0)?.hook?;
        let presence = match location.bci() {
            None if location == Location::UNKNOWN => Presence::Unknown,
            // A location that no code has, such as a synchronisation entry's, proves nothing.
            None => Presence::Pushing,
            Some(bci) => {
                let presences = self.at(method, bci).map(|(_, presence)| presence);
                common(presences, None).unwrap_or(Presence::Unknown)
            }
        };
        Some((hook, presence))
    }

    fn is_hook_call(&self, method: MethodKey) -> bool {
        self.facts(method).iter().any(|facts| facts.is_hook_call)
    }

    fn is_constructor(&self, hook: HookId) -> bool {
        self.constructors.contains(&hook)
    }

    fn site(&self, method: MethodKey, location: Location) -> Site {
        match (self.is_native(method), location.bci()) {
            (Some(true), None) if location == Location::NATIVE => Site::Native,
            (Some(true), _) => Site::IsNative,
            (Some(false), None) if location == Location::NATIVE => Site::NotNative,
            (Some(false), Some(bci)) => {
                common(self.at(method, bci).map(|(site, _)| site), Site::Unknown)
            }
            _ => Site::Unknown,
        }
    }

    fn may_be_called_by_vm(&self, method: MethodKey) -> bool {
        self.facts(method).iter().any(|facts| facts.by_vm)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(class: &str, hook: u32, code: &str) -> MethodFacts {
        MethodFacts {
            class: class.into(),
            name: "m".into(),
            descriptor: "()V".into(),
            hook: Some(hook),
            code: code.into(),
            lines: vec![(0, 10), (2, 11)],
            ..MethodFacts::default()
        }
    }

    #[test]
    fn methods_of_one_name_are_one_method() {
        let all = [(0, facts("a/B", 5, "B.d")), (1, facts("a/B", 6, "B.e"))];
        let mut methods = NamedMethods::new(&all.into());
        let key = methods.key("a/B", "m", "()V");
        assert_eq!(
            [0, 1].map(|number| methods.numbered(number)),
            [Some(key); 2]
        );
        assert_eq!(
            [5, 6].map(|hook| methods.standing(hook)),
            [Some(HookId(5)); 2]
        );
        let presence = |bci| {
            methods
                .hook(key, Location(bci))
                .map(|(_, presence)| presence)
        };
        assert_eq!(presence(0), Some(Presence::Absent));
        assert_eq!(presence(2), Some(Presence::Unknown), "the codes differ");
        assert_eq!(methods.site(key, Location(1)), Site::NoInstruction);
        assert_eq!(methods.site(key, Location(2)), Site::Calls);
        assert_eq!(methods.line(key, 1), Some(10));
        assert_eq!(methods.shown(key), "a.B.m()V");
        let stranger = methods.key("a/C", "m", "()V");
        assert_eq!(methods.hook(stranger, Location(0)), None);
        assert_eq!(methods.site(stranger, Location(0)), Site::Unknown);
    }

    #[test]
    fn classes_of_a_family_are_one_class() {
        let mut all = [
            (0, facts("a/Accessor1", 5, "B.d")),
            (1, facts("a/Accessor2", 6, "B.d")),
            (2, facts("a/Other", 7, "B.d")),
        ];
        all[1].1.name = "n".into();
        let family = ClassFamily {
            class: "a/Accessor".into(),
            method: Some("any method".into()),
        };
        let mut methods = NamedMethods::with_families(&all.into(), &[family]);
        let key = methods.key("a/Accessor", "any method", "()V");
        assert_eq!(
            [0, 1].map(|number| methods.numbered(number)),
            [Some(key); 2]
        );
        assert_ne!(methods.numbered(2), Some(key));
        assert_ne!(methods.key("a/Accessor", "any method", "()I"), key);
        assert!(!methods.has_own_name(key), "no call is one of this name");
        let other = methods.numbered(2).expect("it has a key");
        assert!(methods.has_own_name(other));
        assert_eq!(
            methods.site(key, Location(1)),
            Site::Unknown,
            "others of the family may have other code"
        );
        assert_eq!(
            methods.full_name(key),
            Some(["a/Accessor", "any method", "()V"]),
            "no class file is that of the family"
        );
    }

    #[test]
    fn the_code_of_a_hidden_class_proves_nothing_of_others_of_its_name() {
        let all = [(0, facts("a/B+0x1", 5, "B.d"))];
        let mut methods = NamedMethods::new(&all.into());
        let key = methods.key("a/B/0x3", "m", "()V");
        assert_eq!(methods.numbered(0), Some(key));
        assert_eq!(methods.site(key, Location(1)), Site::Unknown);
        let unknown = (HookId(5), Presence::Unknown);
        assert_eq!(methods.hook(key, Location(0)), Some(unknown));
        assert_eq!(methods.line(key, 1), None);
    }
}
