//! Call edges in small worlds with the expected findings, and in generated worlds.

use classfile::outline::{Bcis, CodeOutline, MethodOutline, Outline, Site};
use classfile::pool::MemberRef;
use hotspot::runtime::HotSpot;
use oracle::edge::{
    Counts, EdgeFrame, Finding, Impossible, Judge, MethodId, Possible, Starts, ThreadStart,
    Unknown, World,
};
use oracle::trace::Location;

mod cases;
mod generated;

const PUBLIC: u16 = 1;
const PRIVATE: u16 = 2;
const STATIC: u16 = 8;
const FINAL: u16 = 16;
const NATIVE: u16 = 0x100;
const INTERFACE: u16 = 0x600;
const ABSTRACT: u16 = 0x400;

type Refers<'a> = classfile::outline::Refers<MemberRef<'a>, &'a [u8]>;

/// Methods as flags, name with descriptor, and sites.
type Methods<'m, 'a> = &'m [(u16, &'a str, &'m [(u16, Refers<'a>)])];

/// A class `name extends super implements interfaces`, its methods as `(flags, "m()V", sites)`:
/// an instruction at every even BCI below 20, all of which may throw.
fn class<'a>(
    flags: u16,
    name: &'a str,
    above: &[&'a str],
    methods: Methods<'_, 'a>,
) -> Outline<'a> {
    let methods = methods.iter().map(|&(access_flags, signature, sites)| {
        let (name, descriptor) = signature.split_at(signature.find('(').expect("a descriptor"));
        let even: Bcis = (0..20).step_by(2).collect();
        let sites = sites.iter().map(|&(bci, refers)| Site { bci, refers });
        let code = CodeOutline {
            fingerprint: 0,
            starts: even.clone(),
            throwing: even,
            sites: sites.collect(),
        };
        MethodOutline {
            access_flags,
            name: name.as_bytes(),
            descriptor: descriptor.as_bytes(),
            code: (access_flags & (NATIVE | ABSTRACT) == 0).then_some(code),
        }
    });
    Outline {
        name: name.as_bytes(),
        super_name: above.first().map(|name| name.as_bytes()),
        interfaces: above.iter().skip(1).map(|name| name.as_bytes()).collect(),
        access_flags: flags,
        methods: methods.collect(),
    }
}

fn named(method: &str) -> MemberRef<'_> {
    let (start, descriptor) = method.split_at(method.find('(').expect("a descriptor"));
    let (class, name) = start.rsplit_once('.').expect("a class");
    MemberRef {
        class: class.as_bytes(),
        name: name.as_bytes(),
        descriptor: descriptor.as_bytes(),
    }
}

fn id(world: &mut World, method: &str) -> MethodId {
    let MemberRef {
        class,
        name,
        descriptor,
    } = named(method);
    world.method(class, name, descriptor)
}

const OBJECT: &str = "java/lang/Object";

/// The part of the JDK that the examples need.
fn jdk() -> World {
    let mut world = World::new(&HotSpot);
    let plain: &[(u16, &str, &[_])] = &[(PUBLIC, "<init>()V", &[]), (PUBLIC, "hashCode()I", &[])];
    world.add(&class(PUBLIC, OBJECT, &[], plain));
    for (name, above) in [
        ("java/lang/Throwable", OBJECT),
        ("java/lang/Error", "java/lang/Throwable"),
        ("java/lang/LinkageError", "java/lang/Error"),
        ("java/lang/NoClassDefFoundError", "java/lang/LinkageError"),
        ("java/lang/NullPointerException", "java/lang/Throwable"),
        ("java/lang/IllegalStateException", "java/lang/Throwable"),
        ("java/lang/ClassLoader", OBJECT),
        ("java/lang/ref/Finalizer", OBJECT),
        ("java/lang/invoke/MethodHandleNatives", OBJECT),
    ] {
        world.add(&class(PUBLIC, name, &[above], &[]));
    }
    let thread: &[(u16, &str, &[_])] = &[(PUBLIC, "run()V", &[])];
    world.add(&class(PUBLIC, "java/lang/Thread", &[OBJECT], thread));
    world
}

/// Judges an edge from `caller`, whose site at BCI 4 is `refers`, in a world with `classes`.
fn judge(classes: &[Outline<'_>], refers: Refers<'_>, callee: &str) -> Finding {
    let mut world = jdk();
    for outline in classes {
        world.add(outline);
    }
    let sites = [(4, refers)];
    world.add(&class(
        PUBLIC,
        "p/Caller",
        &["p/Base"],
        &[(PUBLIC, "m()V", &sites)],
    ));
    let (caller, callee) = (id(&mut world, "p/Caller.m()V"), id(&mut world, callee));
    let at = |bci| EdgeFrame {
        method: caller,
        location: Location(bci),
    };
    let found = world.edge(at(4), callee);
    if found == Finding::Impossible(Impossible::Abstract) {
        return found;
    }
    let no = Finding::Impossible(Impossible::NoInstruction);
    assert_eq!(
        world.edge(at(5), callee),
        no,
        "in the middle of an instruction"
    );
    assert_eq!(world.edge(at(20), callee), no, "behind the code");
    found
}

#[test]
fn a_class_that_is_loaded_again_and_again_is_kept_once() {
    let mut world = jdk();
    let plugin: &[(u16, &str, &[_])] = &[(PUBLIC, "open()V", &[])];
    let helper = class(PUBLIC, "p/Helper", &[OBJECT], plugin);
    world.add(&helper);
    let version = world.version();
    let names = [
        "p/Plugin$$Lambda$7/0x00007f1",
        "p/Plugin$$Lambda$8/0x00007f2",
    ];
    for name in names {
        world.add(&class(PUBLIC, name, &[OBJECT], plugin));
        world.add(&helper);
    }
    assert_eq!(world.version(), version + 1, "the lambda, once");
    // Another class of this name is one possibility more.
    world.add(&class(PUBLIC, "p/Helper", &["p/Base"], plugin));
    assert_eq!(world.version(), version + 2);
}

#[test]
fn classes_made_at_run_time() {
    use Finding::{Possible as Yes, Unknown as Maybe};
    let form = "java/lang/invoke/LambdaForm$MH+0x00ff.linkToTargetMethod()V";
    let mut world = jdk();
    for (caller, callee, expected) in [
        (form, "p/A.m()V", Yes(Possible::MethodHandle)),
        (
            "p/X$$Lambda/0x12.get()V",
            "p/X.lambda$0()V",
            Yes(Possible::Generated),
        ),
        (
            "jdk/internal/reflect/GeneratedMethodAccessor7.invoke()V",
            "p/A.m()V",
            Yes(Possible::Generated),
        ),
        (
            "jdk/proxy1/$Proxy7.m()V",
            "p/A.m()V",
            Yes(Possible::Generated),
        ),
        ("p/A+0x12.m()V", "p/A.m()V", Maybe(Unknown::Generated)),
        ("p/A.m()V", "p/A.m()V", Maybe(Unknown::CallerClass)),
        (
            "java/lang/Thread.n()V",
            "p/A.m()V",
            Maybe(Unknown::CallerMethod),
        ),
    ] {
        let frame = EdgeFrame {
            method: id(&mut world, caller),
            location: Location(4),
        };
        let callee = id(&mut world, callee);
        assert_eq!(world.edge(frame, callee), expected, "{caller}");
    }
}

#[test]
fn tops_and_bottoms() {
    use Finding::{Impossible as No, Possible as Yes, Unknown as Maybe};
    let mut world = jdk();
    let methods: &[(u16, &str, &[_])] = &[
        (PUBLIC, "m()V", &[]),
        (PUBLIC | NATIVE, "n()V", &[]),
        (PUBLIC | ABSTRACT, "a()V", &[]),
    ];
    world.add(&class(PUBLIC, "p/A", &["java/lang/Thread"], methods));
    for (method, location, expected) in [
        ("p/A.m()V", 4, Yes(Possible::Instruction)),
        ("p/A.m()V", 5, No(Impossible::NoInstruction)),
        ("p/A.m()V", -3, No(Impossible::NotNative)),
        ("p/A.n()V", -3, Yes(Possible::NativeTop)),
        ("p/A.n()V", 0, No(Impossible::IsNative)),
        ("p/A.a()V", 0, No(Impossible::Abstract)),
        ("p/B.m()V", 0, Maybe(Unknown::TopClass)),
        ("p/B$$Lambda$3/0x5.m()V", 0, Maybe(Unknown::Generated)),
    ] {
        let method = id(&mut world, method);
        let location = Location(location);
        assert_eq!(world.top(EdgeFrame { method, location }), expected);
    }
    let entry = Yes(Possible::Entry);
    let none = No(Impossible::NoEntry);
    let native = Maybe(Unknown::Entry);
    for (method, expected) in [
        ("p/A.run()V", [entry; 3]),
        ("p/A.main([Ljava/lang/String;)V", [none, entry, entry]),
        (
            "java/lang/ref/Finalizer.register(Ljava/lang/Object;)V",
            [none, none, native],
        ),
        ("p/A.m()V", [none, none, native]),
        ("q/Gone.run()V", [Maybe(Unknown::Hierarchy); 3]),
        ("jdk/internal/misc/Signal.dispatch(I)V", [entry; 3]),
        ("java/lang/System.initPhase1()V", [none, entry, entry]),
        (
            "jdk/internal/misc/CDS.generateLambdaFormHolderClasses([Ljava/lang/String;)[Ljava/lang/Object;",
            [entry; 3],
        ),
    ] {
        let method_id = id(&mut world, method);
        let starts = [
            ThreadStart::Java,
            ThreadStart::Launcher,
            ThreadStart::Unknown,
        ];
        let found = starts.map(|start| world.bottom(method_id, start));
        assert_eq!(found, expected, "{method}");
    }
}

#[test]
fn how_a_thread_started_is_learned_once() {
    let mut world = jdk();
    let main = id(&mut world, "p/A.main([Ljava/lang/String;)V");
    let run = id(&mut world, "java/lang/Thread.run()V");
    let hook = id(&mut world, "jdk/internal/vm/PostVMInitHook.run()V");
    let mut starts = Starts::new(true);
    starts.learn(&world, 1, hook);
    assert_eq!(starts.of(&1), ThreadStart::Unknown, "the VM's own call");
    starts.learn(&world, 1, main);
    starts.learn(&world, 1, run);
    assert_eq!(starts.of(&1), ThreadStart::Launcher);
    starts.learn(&world, 2, run);
    starts.learn(&world, 2, main);
    assert_eq!(starts.of(&2), ThreadStart::Java);
}

#[test]
fn more_classes_change_what_is_remembered() {
    let mut judge = Judge::new(&HotSpot);
    let world = judge.world_mut();
    let caller = EdgeFrame {
        method: id(world, "p/A.m()V"),
        location: Location(4),
    };
    let callee = id(world, "p/B.f()V");
    let unknown = Finding::Unknown(Unknown::CallerClass);
    assert_eq!(judge.edge(caller, callee), unknown);
    let sites = [(4, Refers::Static(named("p/B.f()V")))];
    let facts = class(PUBLIC, "p/A", &[OBJECT], &[(PUBLIC, "m()V", &sites)]);
    judge.world_mut().add(&facts);
    let possible = Finding::Possible(Possible::Static);
    assert_eq!(judge.edge(caller, callee), possible);
    // Another class of this name, which calls nothing there, changes nothing.
    let facts = class(PUBLIC, "p/A", &[OBJECT], &[(PUBLIC, "m()V", &[])]);
    judge.world_mut().add(&facts);
    assert_eq!(judge.edge(caller, callee), possible);
    let mut found = Vec::new();
    let top = EdgeFrame {
        method: callee,
        location: Location(0),
    };
    judge.stack(&[top, caller], Some(ThreadStart::Java), &mut found);
    let bottom = Finding::Impossible(Impossible::NoEntry);
    assert_eq!(
        found,
        [Finding::Unknown(Unknown::TopClass), possible, bottom]
    );
    let mut counts = Counts::default();
    counts.add(&found);
    judge.stack(&[top, caller], None, &mut found);
    counts.add(&found);
    let line = "stacks 2, edges 5, possible 2, impossible 1, unknown 2";
    assert_eq!(counts.to_string(), line);
}
