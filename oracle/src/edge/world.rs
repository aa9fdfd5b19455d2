//! The classes that are known, kept compactly, and how they are related.

use super::kind::Kind;
use super::runtime::Runtime;
use super::spread::Spread;
use classfile::access as flag;
use classfile::outline::{Bcis, CodeOutline, Outline, Refers};
use classfile::pool::MemberRef;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::sync::Arc;

/// An interned class name.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassName(u32);

/// An interned name and descriptor of a method.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Signature(u32);

/// An interned method: class, name and descriptor. It need not be one of a known class.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MethodId(u32);

impl MethodId {
    /// Its place among the methods of its [`World`], from 0.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The method with this place; it must be one of the [`World`] that it is used with.
    pub fn from_index(index: usize) -> MethodId {
        MethodId(index as u32)
    }
}

/// What a [`MethodId`] stands for.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Method {
    pub(super) class: ClassName,
    pub(super) signature: Signature,
}

/// Interned values of one type, numbered from 0.
#[derive(Clone, Debug)]
struct Table<T> {
    numbers: HashMap<T, u32>,
    values: Vec<T>,
}

impl<T> Default for Table<T> {
    fn default() -> Table<T> {
        Table {
            numbers: HashMap::new(),
            values: Vec::new(),
        }
    }
}

impl<T: Clone + Eq + Hash> Table<T> {
    fn number(&mut self, value: T) -> u32 {
        *self.numbers.entry(value).or_insert_with_key(|value| {
            self.values.push(value.clone());
            self.values.len() as u32 - 1
        })
    }
}

type Text = Arc<[u8]>;

impl Table<Text> {
    fn text(&mut self, bytes: &[u8]) -> u32 {
        match self.numbers.get(bytes) {
            Some(&number) => number,
            None => self.number(bytes.into()),
        }
    }
}

/// What a site refers to, interned.
pub(super) type Refer = Refers<MethodId, ClassName>;

#[derive(Clone, Debug)]
pub(super) struct Code {
    starts: Bcis,
    throwing: Bcis,
    sites: Box<[(u16, Refer)]>,
}

impl Code {
    pub(super) fn starts_at(&self, bci: u32) -> bool {
        self.starts.contains(bci)
    }

    pub(super) fn throws_at(&self, bci: u32) -> bool {
        self.throwing.contains(bci)
    }

    pub(super) fn site(&self, bci: u32) -> Option<Refer> {
        let bci = u16::try_from(bci).ok()?;
        let at = self.sites.binary_search_by_key(&bci, |site| site.0).ok()?;
        Some(self.sites[at].1)
    }
}

/// A method that a class declares.
#[derive(Clone, Debug)]
pub(super) struct Declared {
    pub(super) signature: Signature,
    pub(super) flags: u16,
    pub(super) code: Option<Box<Code>>,
}

impl Declared {
    pub(super) fn is(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }
}

/// A known class.
#[derive(Clone, Debug)]
pub(super) struct Class {
    pub(super) super_name: Option<ClassName>,
    pub(super) interfaces: Box<[ClassName]>,
    pub(super) is_interface: bool,
    /// By signature.
    methods: Box<[Declared]>,
}

impl Class {
    pub(super) fn method(&self, signature: Signature) -> Option<&Declared> {
        let methods = &self.methods;
        let at = methods.binary_search_by_key(&signature, |method| method.signature);
        Some(&methods[at.ok()?])
    }

    pub(super) fn methods(&self) -> impl Iterator<Item = &Declared> {
        self.methods.iter()
    }

    /// Its direct supertypes.
    pub(super) fn above(&self) -> impl Iterator<Item = ClassName> + '_ {
        self.super_name.iter().chain(&self.interfaces).copied()
    }
}

/// An answer that may lack a class.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Yes,
    No,
    /// A class that would have to be looked at is not known.
    Unknown,
}

/// All known classes.
///
/// Classes are told apart by name only. Where several have the same name (of other loaders, or
/// redefined), what holds for one of them counts.
#[derive(Clone, Debug)]
pub struct World {
    runtime: &'static dyn Runtime,
    texts: Table<Text>,
    kinds: Vec<Option<Kind>>,
    signatures: Table<(u32, u32)>,
    methods: Table<Method>,
    classes: HashMap<ClassName, Vec<Class>, Spread>,
    below: HashMap<ClassName, Vec<ClassName>, Spread>,
    /// Classes that need not have run as their class files are.
    distrusted: HashSet<ClassName, Spread>,
    version: u32,
}

impl World {
    /// A world without classes, of programs that run in `runtime`.
    pub fn new(runtime: &'static dyn Runtime) -> World {
        World {
            runtime,
            texts: Table::default(),
            kinds: Vec::new(),
            signatures: Table::default(),
            methods: Table::default(),
            classes: HashMap::default(),
            below: HashMap::default(),
            distrusted: HashSet::default(),
            version: 0,
        }
    }

    pub(super) fn runtime(&self) -> &'static dyn Runtime {
        self.runtime
    }

    /// Adds a class. One of the same name that is there already stays.
    pub fn add(&mut self, outline: &Outline<'_>) {
        let name = self.class_name(outline.name);
        let super_name = outline.super_name.map(|name| self.class_name(name));
        let interfaces = outline.interfaces.iter().map(|name| self.class_name(name));
        let interfaces: Box<[_]> = interfaces.collect();
        let mut methods: Vec<_> = outline
            .methods
            .iter()
            .map(|method| Declared {
                signature: self.signature(method.name, method.descriptor),
                flags: method.access_flags,
                code: method.code.as_ref().map(|code| self.code(code).into()),
            })
            .collect();
        methods.sort_by_key(|method| method.signature);
        let class = Class {
            super_name,
            interfaces,
            is_interface: outline.access_flags & flag::INTERFACE != 0,
            methods: methods.into(),
        };
        for above in class.above() {
            let below = self.below.entry(above).or_default();
            if below.last() != Some(&name) {
                below.push(name);
            }
        }
        self.classes.entry(name).or_default().push(class);
        self.version += 1;
    }

    /// What is known of the class need not be what ran, because somebody rewrites it: nothing that
    /// its methods call is impossible.
    pub fn distrust(&mut self, class: &[u8]) {
        let class = self.class_name(class);
        self.distrusted.insert(class);
        self.version += 1;
    }

    /// Whether [`World::distrust`] was said of the class, or the runtime rewrites it.
    pub(super) fn is_distrusted(&self, class: ClassName) -> bool {
        let is_below = |above: &&str| {
            let above = self.find(above.as_bytes());
            above.is_some_and(|above| self.is_subtype(class, above) == Answer::Yes)
        };
        self.distrusted.contains(&class) || self.runtime.rewritten().iter().any(is_below)
    }

    fn code(&mut self, outline: &CodeOutline<'_>) -> Code {
        let sites = outline.sites.iter();
        let sites = sites.map(|site| (site.bci, self.refer(site.refers)));
        let mut sites: Vec<_> = sites.collect();
        sites.sort_by_key(|site| site.0);
        Code {
            starts: outline.starts.clone(),
            throwing: outline.throwing.clone(),
            sites: sites.into(),
        }
    }

    fn refer(&mut self, refers: Refers<MemberRef<'_>, &[u8]>) -> Refer {
        let mut named = |m: MemberRef<'_>| self.method(m.class, m.name, m.descriptor);
        match refers {
            Refers::Virtual(m) => Refers::Virtual(named(m)),
            Refers::Special(m) => Refers::Special(named(m)),
            Refers::Static(m) => Refers::Static(named(m)),
            Refers::Interface(m) => Refers::Interface(named(m)),
            Refers::Dynamic => Refers::Dynamic,
            Refers::Initialises(class) => Refers::Initialises(self.class_name(class)),
            Refers::Links => Refers::Links,
        }
    }

    /// The method with this class, name and descriptor, whether its class is known or not.
    /// `class` is an internal name; what the runtime appends to the names of hidden classes is cut off.
    pub fn method(&mut self, class: &[u8], name: &[u8], descriptor: &[u8]) -> MethodId {
        let class = self.class_name(class);
        let signature = self.signature(name, descriptor);
        MethodId(self.methods.number(Method { class, signature }))
    }

    /// How many classes were added: what is judged may change with it.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// Other methods of the method's class, of those that were named so far.
    pub fn siblings(&self, method: MethodId) -> Vec<MethodId> {
        let Method { class, signature } = self.of(method);
        let of_class = self.classes(class).iter().flat_map(Class::methods);
        let others = of_class.filter(|other| other.signature != signature);
        let number = |signature| self.methods.numbers.get(&Method { class, signature });
        let numbers = others.filter_map(|other| number(other.signature));
        numbers.map(|&number| MethodId(number)).collect()
    }

    /// The method as `package.Class.name(descriptor)`.
    pub fn show(&self, method: MethodId) -> String {
        let Method { class, signature } = self.of(method);
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        let (name, descriptor) = self.name_and_descriptor(signature);
        let class = text(self.name(class)).replace('/', ".");
        format!("{class}.{}{}", text(name), text(descriptor))
    }

    fn class_name(&mut self, name: &[u8]) -> ClassName {
        let (base, kind) = self.runtime.kind(name);
        let number = match kind {
            // Not to be mistaken for an ordinary class of that name.
            Kind::Hidden => self.texts.text(&[base, b"+"].concat()),
            _ => self.texts.text(base),
        };
        let at = number as usize;
        if self.kinds.len() <= at {
            self.kinds.resize(at + 1, None);
        }
        self.kinds[at] = Some(kind);
        ClassName(number)
    }

    fn signature(&mut self, name: &[u8], descriptor: &[u8]) -> Signature {
        let pair = (self.texts.text(name), self.texts.text(descriptor));
        Signature(self.signatures.number(pair))
    }

    pub(super) fn of(&self, method: MethodId) -> Method {
        self.methods.values[method.0 as usize]
    }

    pub(super) fn name(&self, class: ClassName) -> &[u8] {
        &self.texts.values[class.0 as usize]
    }

    pub(super) fn kind(&self, class: ClassName) -> Kind {
        let kind = self.kinds.get(class.0 as usize).copied().flatten();
        kind.unwrap_or(Kind::Ordinary)
    }

    pub(super) fn name_and_descriptor(&self, signature: Signature) -> (&[u8], &[u8]) {
        let (name, descriptor) = self.signatures.values[signature.0 as usize];
        let text = |number: u32| &*self.texts.values[number as usize];
        (text(name), text(descriptor))
    }

    /// The class's name, if any class or frame has it.
    pub(super) fn find(&self, name: &[u8]) -> Option<ClassName> {
        self.texts
            .numbers
            .get(name)
            .map(|&number| ClassName(number))
    }

    /// All known classes of this name.
    pub(super) fn classes(&self, name: ClassName) -> &[Class] {
        self.classes.get(&name).map_or(&[], Vec::as_slice)
    }

    /// All known declarations of a method.
    pub(super) fn declarations(&self, method: Method) -> impl Iterator<Item = &Declared> {
        let classes = self.classes(method.class).iter();
        classes.filter_map(move |class| class.method(method.signature))
    }

    pub(super) fn is_interface(&self, name: ClassName) -> bool {
        self.classes(name).iter().any(|class| class.is_interface)
    }

    /// Whether `class` is `above` or has it as a supertype (JVMS 5.4.5, 6.5.instanceof).
    pub(super) fn is_subtype(&self, class: ClassName, above: ClassName) -> Answer {
        if class == above || self.name(above) == b"java/lang/Object" {
            return Answer::Yes;
        }
        let name = self.name(class);
        if name.first() == Some(&b'[') {
            let all: [&[u8]; 2] = [b"java/lang/Cloneable", b"java/io/Serializable"];
            return match all.contains(&self.name(above)) {
                true => Answer::Yes,
                // Arrays of subclasses declare no methods of their own.
                false => Answer::No,
            };
        }
        let (mut open, mut seen) = (vec![class], HashSet::new());
        let mut answer = Answer::No;
        while let Some(class) = open.pop() {
            if class == above {
                return Answer::Yes;
            }
            if !seen.insert(class) {
                continue;
            }
            let classes = self.classes(class);
            if classes.is_empty() {
                answer = Answer::Unknown;
            }
            open.extend(classes.iter().flat_map(Class::above));
        }
        answer
    }

    /// Whether a known class is a subtype of both.
    pub(super) fn have_common_subtype(&self, one: ClassName, other: ClassName) -> bool {
        // From the one with fewer classes below it: most have none.
        let count = |name| self.below.get(&name).map_or(0, Vec::len);
        let (start, goal) = match count(one) <= count(other) {
            true => (one, other),
            false => (other, one),
        };
        let (mut open, mut seen) = (vec![start], HashSet::new());
        while let Some(class) = open.pop() {
            if !seen.insert(class) {
                continue;
            }
            if self.is_subtype(class, goal) == Answer::Yes {
                return true;
            }
            open.extend(self.below.get(&class).into_iter().flatten());
        }
        false
    }
}
