//! Judging edges, tops, bottoms and whole stacks.

use super::class::{Code, Declared, Refer};
use super::finding::{Finding, Impossible, Possible, Unknown};
use super::hierarchy::Tristate;
use super::memo::Memo;
use super::names::{Method, MethodId};
use super::runtime::{ClassKind, Instruction, Occasions, Runtime};
use super::select;
use super::upcalls;
use super::world::World;
use crate::trace::Location;
use classfile::access as flag;

/// A frame of a stack.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct EdgeFrame {
    /// The method that runs.
    pub method: MethodId,
    /// Its place: a BCI of the class file that the [`World`] has.
    pub location: Location,
}

/// How a thread came to run Java.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum ThreadStart {
    /// `Thread.start`, or the VM for its own purposes.
    Java,
    /// The thread is the main thread of the JDK's `java` launcher.
    Launcher,
    /// Not known: native code may have attached the thread, and native code may call any method.
    Unknown,
}

/// A world, with the findings so far.
#[derive(Clone, Debug)]
pub struct Judge {
    world: World,
    edges: Memo<(EdgeFrame, MethodId)>,
    bottoms: Memo<(MethodId, ThreadStart)>,
}

impl Judge {
    /// A judge of programs that run in `runtime`, without classes.
    pub fn new(runtime: &'static dyn Runtime) -> Judge {
        Judge {
            world: World::new(runtime),
            edges: Memo::default(),
            bottoms: Memo::default(),
        }
    }

    /// The known classes.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The known classes, to add classes.
    pub fn world_mut(&mut self) -> &mut World {
        &mut self.world
    }

    /// Judges a stack, top frame first. `found` gets the finding on the top, then the findings on
    /// each frame and its caller from the top down. If `bottom` says how the thread started, the
    /// finding on the lowest frame follows. An empty stack has no findings.
    pub fn stack(
        &mut self,
        frames: &[EdgeFrame],
        bottom: Option<ThreadStart>,
        found: &mut Vec<Finding>,
    ) {
        found.clear();
        let (Some(&top), Some(lowest)) = (frames.first(), frames.last()) else {
            return;
        };
        found.push(self.world.top(top));
        for pair in frames.windows(2) {
            found.push(self.edge(pair[1], pair[0].method));
        }
        found.extend(bottom.map(|start| self.bottom(lowest.method, start)));
    }

    /// [`World::bottom`], remembered.
    pub fn bottom(&mut self, lowest: MethodId, start: ThreadStart) -> Finding {
        let world = &self.world;
        let find = || world.bottom(lowest, start);
        self.bottoms.get((lowest, start), world.version(), find)
    }

    /// [`World::edge`], remembered.
    pub fn edge(&mut self, caller: EdgeFrame, callee: MethodId) -> Finding {
        let world = &self.world;
        let find = || world.edge(caller, callee);
        self.edges.get((caller, callee), world.version(), find)
    }
}

impl World {
    /// Whether `top` can be the frame that runs.
    pub fn top(&self, top: EdgeFrame) -> Finding {
        let method = self.of(top.method);
        let findings = self.declarations(method).map(|declared| {
            match (location(declared, top.location), top.location.bci()) {
                (Err(finding), _) => finding,
                (Ok(None), _) => Finding::Possible(Possible::NativeTop),
                (Ok(Some(code)), Some(bci)) if code.starts_at(bci) => {
                    Finding::Possible(Possible::Instruction)
                }
                (Ok(Some(_)), _) if top.location == ENTRY => {
                    Finding::Possible(Possible::MethodEntry)
                }
                (Ok(Some(_)), _) if top.location.is_unknown() => {
                    Finding::Unknown(Unknown::Location)
                }
                (Ok(Some(_)), _) => Finding::Impossible(Impossible::NoInstruction),
            }
        });
        let found = findings.reduce(Finding::or);
        let found = found.map(|finding| self.trust(method, finding));
        found.unwrap_or_else(|| {
            Finding::Unknown(match self.kind(method.class) {
                ClassKind::Ordinary => Unknown::TopClass,
                _ => Unknown::Generated,
            })
        })
    }

    /// Whether `caller` can have called `callee` at its location.
    pub fn edge(&self, caller: EdgeFrame, callee: MethodId) -> Finding {
        let (method, callee) = (self.of(caller.method), self.of(callee));
        let no_code = |callee: &Declared| callee.is(flag::ABSTRACT);
        let mut callees = self.declarations(callee).peekable();
        if callees.peek().is_some() && callees.all(no_code) {
            return Finding::Impossible(Impossible::Abstract);
        }
        let findings = self.declarations(method).map(|declared| {
            match (location(declared, caller.location), caller.location.bci()) {
                (Err(finding), _) => finding,
                (Ok(None), _) => Finding::Possible(Possible::Native),
                (Ok(Some(code)), Some(bci)) => self.called(method, code, bci, callee),
                (Ok(Some(_)), None) => Finding::Unknown(Unknown::Location),
            }
        });
        let found = findings.reduce(Finding::or);
        let found = found.map(|finding| self.trust(callee, self.trust(method, finding)));
        found.unwrap_or_else(|| self.called_by_unknown(method, caller.location))
    }

    /// Whether a thread can start with `lowest`.
    pub fn bottom(&self, lowest: MethodId, start: ThreadStart) -> Finding {
        let lowest = self.of(lowest);
        let possible = Finding::Possible(Possible::Entry);
        let may_launch = start != ThreadStart::Java;
        let on = self.runtime().starts(may_launch);
        let (name, _) = self.name_and_descriptor(lowest.signature);
        if may_launch && self.runtime().launches(self.name(lowest.class), name) {
            return possible;
        }
        match (upcalls::calls(self, on, lowest), start) {
            (Tristate::Yes, _) => possible,
            (Tristate::Unknown, _) => Finding::Unknown(Unknown::Hierarchy),
            (Tristate::No, ThreadStart::Unknown) => Finding::Unknown(Unknown::Entry),
            (Tristate::No, _) => Finding::Impossible(Impossible::NoEntry),
        }
    }

    /// A finding that depends on the class file of `method`.
    fn trust(&self, method: Method, finding: Finding) -> Finding {
        if finding.is_impossible() && self.is_distrusted(method.class) {
            Finding::Unknown(Unknown::Rewritten)
        } else {
            finding
        }
    }

    /// An edge whose caller is in no known class file.
    fn called_by_unknown(&self, caller: Method, location: Location) -> Finding {
        if !self.classes(caller.class).is_empty() {
            return Finding::Unknown(Unknown::CallerMethod);
        }
        match self.kind(caller.class) {
            ClassKind::Linker => Finding::Possible(Possible::MethodHandle),
            ClassKind::Lambda | ClassKind::Accessor | ClassKind::Proxy => {
                Finding::Possible(Possible::Generated)
            }
            ClassKind::Hidden => Finding::Unknown(Unknown::Generated),
            ClassKind::Ordinary if location == Location::NATIVE => {
                Finding::Possible(Possible::Native)
            }
            ClassKind::Ordinary => Finding::Unknown(Unknown::CallerClass),
        }
    }

    /// An edge from the instruction of `code` at `bci`.
    fn called(&self, caller: Method, code: &Code, bci: u32, callee: Method) -> Finding {
        if !code.starts_at(bci) {
            return Finding::Impossible(Impossible::NoInstruction);
        }
        let site = code.site(bci);
        let invoked = site.map_or(Finding::Impossible(Impossible::NoCall), |site| {
            self.invoked(caller, site, callee)
        });
        match invoked {
            Finding::Possible(_) => invoked,
            _ => {
                let occasions = self.occasions(caller, code, bci, site);
                invoked.or(self.called_by_vm(occasions, site, callee))
            }
        }
    }

    /// Whether the program's own call runs `callee`.
    fn invoked(&self, caller: Method, site: Refer, callee: Method) -> Finding {
        let named = match site {
            Refer::Virtual(m) | Refer::Special(m) | Refer::Static(m) | Refer::Interface(m) => {
                self.of(m)
            }
            Refer::Dynamic if self.kind(callee.class) == ClassKind::Linker => {
                return Finding::Possible(Possible::Dynamic);
            }
            Refer::Dynamic => return Finding::Impossible(Impossible::OtherClass),
            Refer::Initialises(_) | Refer::Links => {
                return Finding::Impossible(Impossible::NoCall);
            }
        };
        if let Some(kind) = self.polymorphic(named) {
            return match kind {
                Polymorphic::Target => Finding::Possible(Possible::MethodHandle),
                Polymorphic::Linker if self.kind(callee.class) == ClassKind::Linker => {
                    Finding::Possible(Possible::MethodHandle)
                }
                Polymorphic::Linker => Finding::Impossible(Impossible::OtherClass),
            };
        }
        if named.signature != callee.signature {
            let (wanted, got) = (named.signature, callee.signature);
            let same = self.name_and_descriptor(wanted).0 == self.name_and_descriptor(got).0;
            return Finding::Impossible(if same {
                Impossible::OtherDescriptor
            } else {
                Impossible::OtherName
            });
        }
        match site {
            Refer::Static(_) => select::statically(self, named, callee),
            Refer::Special(_) => select::specially(self, caller.class, named, callee),
            Refer::Interface(_) => select::virtually(self, named, callee, Possible::Interface),
            _ => select::virtually(self, named, callee, Possible::Virtual),
        }
    }

    /// Whether a call of `named` is signature-polymorphic (JVMS 2.9.3), and what it runs.
    fn polymorphic(&self, named: Method) -> Option<Polymorphic> {
        let (name, _) = self.name_and_descriptor(named.signature);
        match self.name(named.class) {
            b"java/lang/invoke/MethodHandle" => match name {
                b"invoke" | b"invokeExact" | b"invokeBasic" => Some(Polymorphic::Linker),
                b"linkToVirtual" | b"linkToStatic" | b"linkToSpecial" | b"linkToInterface"
                | b"linkToNative" => Some(Polymorphic::Target),
                _ => None,
            },
            b"java/lang/invoke/VarHandle" => {
                let classes = self.classes(named.class);
                let is_native =
                    |flags: u16| flags & flag::NATIVE != 0 && flags & flag::VARARGS != 0;
                let natives = classes.iter().any(|class| {
                    let mut methods = class.methods();
                    methods.any(|method| {
                        is_native(method.flags)
                            && self.name_and_descriptor(method.signature).0 == name
                    })
                });
                (natives || classes.is_empty()).then_some(Polymorphic::Linker)
            }
            _ => None,
        }
    }

    /// The occasions on which the VM may call Java at an instruction.
    fn occasions(&self, caller: Method, code: &Code, bci: u32, site: Option<Refer>) -> Occasions {
        let links = match site {
            Some(Refer::Dynamic | Refer::Links) => true,
            Some(Refer::Virtual(m) | Refer::Static(m)) => self.polymorphic(self.of(m)).is_some(),
            _ => false,
        };
        let allocates = matches!(site, Some(Refer::Initialises(_)));
        let constructs = self.name(caller.class) == b"java/lang/Object"
            && self.name_and_descriptor(caller.signature).0 == b"<init>";
        let named = match site {
            Some(
                Refer::Virtual(m) | Refer::Special(m) | Refer::Static(m) | Refer::Interface(m),
            ) => Some(self.of(m)),
            _ => None,
        };
        let of_instruction = self.runtime().occasions(Instruction {
            links,
            calls: named.is_some(),
            throws: code.throws_at(bci),
            makes_object: allocates || constructs,
        });
        let of_intrinsic = named.map(|named| self.occasions_of_intrinsic(named));
        of_instruction.and(of_intrinsic.unwrap_or_default())
    }

    /// The occasions on which the VM calls Java in code that replaces a native method.
    fn occasions_of_intrinsic(&self, named: Method) -> Occasions {
        let class = self.name(named.class);
        let (name, _) = self.name_and_descriptor(named.signature);
        let mut rows = self.runtime().intrinsics().iter();
        let row = rows.find(|row| row.class.as_bytes() == class && row.name.as_bytes() == name);
        row.map_or(Occasions::default(), |row| row.on)
    }

    /// Whether the VM itself calls `callee` on one of these occasions.
    fn called_by_vm(&self, on: Occasions, site: Option<Refer>, callee: Method) -> Finding {
        let no_call = Finding::Impossible(Impossible::NoCall);
        let found = |answer, rule| match answer {
            Tristate::Yes => Finding::Possible(rule),
            Tristate::No => no_call,
            Tristate::Unknown => Finding::Unknown(Unknown::Hierarchy),
        };
        let thrown = |answer| {
            if on.overlaps(Occasions::THROWS) {
                found(answer, Possible::Throws)
            } else {
                no_call
            }
        };
        match self.name_and_descriptor(callee.signature).0 {
            b"<clinit>" => {
                let named = match site {
                    Some(Refer::Initialises(class)) => Some(class),
                    Some(Refer::Static(method)) => Some(self.of(method).class),
                    _ => None,
                };
                // The initialisation of a class initialises its superclasses, and some
                // superinterfaces.
                let own = named.map_or(no_call, |named| {
                    found(self.is_subtype(named, callee.class), Possible::Initialises)
                });
                let before = on.overlaps(Occasions::INITIALISES)
                    || upcalls::initialises(self, on, callee.class)
                    || on.overlaps(Occasions::LINKS)
                        && self.kind(callee.class) == ClassKind::Linker;
                let before = if before {
                    Finding::Possible(Possible::Initialises)
                } else {
                    no_call
                };
                let above = upcalls::is_throwable(self, callee.class);
                own.or(before).or(thrown(above))
            }
            b"<init>" => {
                let listed = upcalls::calls(self, on, callee);
                let made = upcalls::is_thrown(self, callee.class);
                found(listed, Possible::Loads).or(thrown(made))
            }
            _ => {
                let rule = |one, rule| {
                    if on.overlaps(one) {
                        found(upcalls::calls(self, one, callee), rule)
                    } else {
                        no_call
                    }
                };
                rule(Occasions::LOADS, Possible::Loads)
                    .or(rule(Occasions::LINKS, Possible::Links))
                    .or(rule(Occasions::CALLS, Possible::Links))
                    .or(rule(Occasions::THROWS, Possible::Throws))
                    .or(rule(Occasions::FINALIZES, Possible::Finalizes))
            }
        }
    }
}

/// The location of compiled code before the first instruction, for example while it locks the
/// monitor of a synchronized method (HotSpot `InvocationEntryBci`, `SynchronizationEntryBCI`).
const ENTRY: Location = Location(-1);

/// The method that a signature-polymorphic call runs.
enum Polymorphic {
    /// A method of `java.lang.invoke`, which may be generated at run time.
    Linker,
    /// The method handle's target.
    Target,
}

/// The code at a location: `Ok(None)` if the frame and the method are native.
fn location(declared: &Declared, location: Location) -> Result<Option<&Code>, Finding> {
    let is_native = declared.is(flag::NATIVE);
    match (&declared.code, location == Location::NATIVE) {
        (Some(_), true) => Err(Finding::Impossible(Impossible::NotNative)),
        (Some(code), false) => Ok(Some(code)),
        (None, true) if is_native => Ok(None),
        (None, false) if is_native => Err(Finding::Impossible(Impossible::IsNative)),
        (None, _) => Err(Finding::Impossible(Impossible::Abstract)),
    }
}
