//! How a thread started is learned once, and from few stacks.

use classfile::Outline;
use hotspot::runtime::HotSpot;
use oracle::edge::{Starts, ThreadStart, World};

const MAIN: &[u8] = b"([Ljava/lang/String;)V";

fn class<'a>(name: &'a [u8], super_name: &'a [u8]) -> Outline<'a> {
    Outline {
        name,
        super_name: Some(super_name),
        interfaces: vec![],
        access_flags: 0,
        methods: vec![],
    }
}

#[test]
fn only_known_starts_are_learned_and_only_once() {
    let mut world = World::new(&HotSpot);
    world.add(&class(b"java/lang/Thread", b"java/lang/Object"));
    world.add(&class(b"a/Worker", b"java/lang/Thread"));
    world.add(&class(b"a/Task", b"java/lang/Object"));
    let mut method =
        |class: &[u8], name: &[u8], descriptor: &[u8]| world.method(class, name, descriptor);
    let main = method(b"a/Main", b"main", MAIN);
    let middle = method(b"a/Main", b"step", b"()V");
    let initialiser = method(b"a/Main", b"<clinit>", b"()V");
    let worker = method(b"a/Worker", b"run", b"()V");
    let task = method(b"a/Task", b"run", b"()V");

    let mut starts = Starts::new(true);
    // Stacks that were cut, and a `run` that starts no thread.
    for lowest in [middle, initialiser, task] {
        starts.learn(&world, 1, lowest);
        assert_eq!(starts.of(&1), ThreadStart::Unknown);
    }
    starts.learn(&world, 1, main);
    assert_eq!(starts.of(&1), ThreadStart::Launcher);
    starts.learn(&world, 1, worker);
    assert_eq!(starts.of(&1), ThreadStart::Launcher, "once");
    starts.learn(&world, 2, worker);
    assert_eq!(starts.of(&2), ThreadStart::Java);

    let mut attached = Starts::new(false);
    attached.learn(&world, 1, main);
    assert_eq!(attached.of(&1), ThreadStart::Unknown, "another launcher");
}
