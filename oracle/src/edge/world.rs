//! The known classes.

use super::class::{Class, Code, Declared, Refer};
use super::names::{ClassName, Method, MethodId, Signature, Table, Text};
use super::runtime::{ClassKind, Runtime};
use classfile::access as flag;
use classfile::outline::{CodeOutline, Heading, Outline, Refers};
use classfile::pool::MemberRef;
use rustc_hash::FxBuildHasher;
use std::collections::{HashMap, HashSet};

/// All known classes.
///
/// Classes are identified by name only. If several classes have the same name (of different
/// loaders, or redefined), an edge is possible if it is possible for one of them.
#[derive(Clone, Debug)]
pub struct World {
    runtime: &'static dyn Runtime,
    texts: Table<Text>,
    kinds: Vec<Option<ClassKind>>,
    signatures: Table<(u32, u32)>,
    methods: Table<Method>,
    classes: HashMap<ClassName, Vec<Class>, FxBuildHasher>,
    below: HashMap<ClassName, Vec<ClassName>, FxBuildHasher>,
    /// The supertypes of classes of which nothing else is known.
    above: HashMap<ClassName, Vec<ClassName>, FxBuildHasher>,
    /// Classes that may have run with other code than their class files have.
    distrusted: HashSet<ClassName, FxBuildHasher>,
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
            above: HashMap::default(),
            distrusted: HashSet::default(),
            version: 0,
        }
    }

    pub(super) fn runtime(&self) -> &'static dyn Runtime {
        self.runtime
    }

    /// Adds a class. Earlier classes of the same name stay. An identical class of another loader is
    /// not added again, so that programs that load and unload a class for hours do not fill the
    /// memory.
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
        let known = self.classes.entry(name).or_default();
        if known.contains(&class) {
            return;
        }
        let supertypes: Vec<ClassName> = class.above().collect();
        known.push(class);
        self.is_below(name, &supertypes);
    }

    /// Adds what a class extends and implements, and nothing else of the class.
    pub fn add_supertypes(&mut self, heading: &Heading<'_>) {
        let name = self.class_name(heading.name);
        let all = heading.super_name.iter().chain(&heading.interfaces);
        let supertypes: Vec<ClassName> = all.map(|name| self.class_name(name)).collect();
        self.is_below(name, &supertypes);
        self.above.entry(name).or_default().extend(supertypes);
    }

    fn is_below(&mut self, name: ClassName, supertypes: &[ClassName]) {
        for &above in supertypes {
            let below = self.below.entry(above).or_default();
            if below.last() != Some(&name) {
                below.push(name);
            }
        }
        self.version += 1;
    }

    /// Notes that the class may have run with other code than its class file has, because another
    /// tool rewrites it. From here on no call by the methods of the class is impossible.
    pub fn distrust(&mut self, class: &[u8]) {
        let class = self.class_name(class);
        self.version += u32::from(self.distrusted.insert(class));
    }

    /// Whether a known class file has this code of the method, whose
    /// [fingerprint](classfile::instruction::fingerprint) is given. Where no class file has the method,
    /// nothing speaks against the code.
    pub fn has_code(&self, method: MethodId, fingerprint: u64) -> bool {
        let mut declared = self.declarations(self.of(method)).peekable();
        let is_of = |code: &Code| code.fingerprint == fingerprint;
        declared.peek().is_none()
            || declared.any(|declared| declared.code.as_deref().is_some_and(is_of))
    }

    /// Whether [`World::distrust`] was called for the class itself.
    pub(super) fn was_distrusted(&self, class: ClassName) -> bool {
        self.distrusted.contains(&class)
    }

    /// The known classes whose direct supertype is this class.
    pub(super) fn below(&self, class: ClassName) -> &[ClassName] {
        self.below.get(&class).map_or(&[], Vec::as_slice)
    }

    /// The direct supertypes of all known classes of this name; `None` if no such class is known.
    pub(super) fn above(&self, class: ClassName) -> Option<impl Iterator<Item = ClassName>> {
        let (known, only) = (self.classes(class), self.above.get(&class));
        let is_known = !known.is_empty() || only.is_some();
        let only = only.into_iter().flatten().copied();
        is_known.then(|| known.iter().flat_map(Class::above).chain(only))
    }

    fn code(&mut self, outline: &CodeOutline<'_>) -> Code {
        let sites = outline.sites.iter();
        let sites = sites.map(|site| (site.bci, self.refer(site.refers)));
        let mut sites: Vec<_> = sites.collect();
        sites.sort_by_key(|site| site.0);
        Code {
            fingerprint: outline.fingerprint,
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

    /// The method with this class, name and descriptor. The class may be unknown. `class` is an
    /// internal name; the suffix that the runtime appends to the names of hidden classes is cut
    /// off.
    pub fn method(&mut self, class: &[u8], name: &[u8], descriptor: &[u8]) -> MethodId {
        let class = self.class_name(class);
        let signature = self.signature(name, descriptor);
        MethodId(self.methods.number(Method { class, signature }))
    }

    /// Whether the method's class is none that the runtime makes by itself.
    pub fn is_ordinary(&self, method: MethodId) -> bool {
        self.kind(self.of(method).class) == ClassKind::Ordinary
    }

    /// How many classes were added. Findings may change with this number.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// Other methods of the method's class, among the methods that were named so far.
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
            // The suffix distinguishes the class from an ordinary class of that name.
            ClassKind::Hidden => self.texts.text(&[base, b"+"].concat()),
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

    pub(super) fn kind(&self, class: ClassName) -> ClassKind {
        let kind = self.kinds.get(class.0 as usize).copied().flatten();
        kind.unwrap_or(ClassKind::Ordinary)
    }

    pub(super) fn name_and_descriptor(&self, signature: Signature) -> (&[u8], &[u8]) {
        let (name, descriptor) = self.signatures.values[signature.0 as usize];
        let text = |number: u32| &*self.texts.values[number as usize];
        (text(name), text(descriptor))
    }

    /// The class of frames with this name, if a class or a frame has the name.
    pub(super) fn find_class(&self, name: &[u8]) -> Option<ClassName> {
        let (base, kind) = self.runtime.kind(name);
        match kind {
            ClassKind::Hidden => self.find(&[base, b"+"].concat()),
            _ => self.find(base),
        }
    }

    /// The class's name, if a class or a frame has the name.
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
}
