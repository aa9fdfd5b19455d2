//! Layouts are found by name in what a VM publishes. A made-up VM, which publishes what a real one does but for one name, shows
//! that each consumer says what it misses.
//!
//! `layouts/` has what JVMs publish, as far as somebody asks for it (`cargo run -p test-support --example describe`).

use hotspot::layout::fields::{Fields, Missing};
use hotspot::layout::{
    code_cache, collection, debug_info, entry, flags, generic, interpreter, loaded, method,
    nmethod, objects, thread, thread_state, unpacked,
};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// A VM that publishes these names, and remembers for which it was asked.
#[derive(Default)]
struct MadeUp {
    /// Value and type.
    published: BTreeMap<String, (i64, String)>,
    asked: RefCell<BTreeSet<String>>,
}

impl MadeUp {
    /// The VMs of the files, with their names.
    fn all() -> Vec<(String, MadeUp)> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/layouts");
        let files = fs::read_dir(folder).expect("the folder").flatten();
        let vm = |path: &Path| {
            let text = fs::read_to_string(path).expect("a file");
            let row = |line: &str| {
                let (name, rest) = line.split_once('\t')?;
                let (value, type_) = rest.split_once('\t')?;
                Some((name.to_owned(), (value.parse().ok()?, type_.to_owned())))
            };
            MadeUp {
                published: text.lines().map(|line| row(line).expect(line)).collect(),
                ..MadeUp::default()
            }
        };
        let name = |path: &Path| {
            path.file_stem()
                .map(|name| name.to_string_lossy().into_owned())
        };
        let vms = files.map(|file| file.path());
        vms.map(|path| (name(&path).expect("a name"), vm(&path)))
            .collect()
    }

    fn without(&self, name: &str) -> MadeUp {
        let mut published = self.published.clone();
        published.remove(name);
        MadeUp {
            published,
            ..MadeUp::default()
        }
    }

    fn find(&self, name: &str) -> Option<&(i64, String)> {
        self.asked.borrow_mut().insert(name.to_owned());
        self.published.get(name)
    }

    fn number(&self, name: &str) -> Option<usize> {
        usize::try_from(self.find(name)?.0).ok()
    }
}

impl Fields for MadeUp {
    fn find_field(&self, owner: &str, field: &str) -> Option<usize> {
        self.number(&format!("{owner}::{field}"))
    }
    fn find_type(&self, owner: &str, field: &str) -> Option<&str> {
        Some(&self.find(&format!("{owner}::{field}"))?.1)
    }
    fn find_size(&self, name: &str) -> Option<usize> {
        self.number(name)
    }
    fn find_constant(&self, name: &str) -> Option<i64> {
        Some(self.find(name)?.0)
    }
}

/// What finds its layout in a VM.
type Consumer = (&'static str, fn(&MadeUp) -> Result<(), Missing>);

const CONSUMERS: &[Consumer] = &[
    ("code cache", |vm| code_cache::CodeCache::find(vm).map(drop)),
    ("collections", |vm| {
        collection::Collections::find(vm).map(drop)
    }),
    ("frames that replace others", |vm| {
        unpacked::Layout::find(vm).map(drop)
    }),
    ("compiled methods", |vm| nmethod::Layout::find(vm).map(drop)),
    ("debug info records", debug_info::check_records),
    ("JavaCalls entries", |vm| entry::Layout::find(vm).map(drop)),
    ("flags", |vm| flags::Flags::find(vm).map(drop)),
    ("interpreter", |vm| interpreter::Layout::find(vm).map(drop)),
    ("methods", |vm| method::Layout::find(vm).map(drop)),
    ("names", |vm| method::Names::find(vm).map(drop)),
    ("ids", |vm| method::Ids::find(vm).map(drop)),
    ("generic signatures", |vm| {
        generic::GenericSignatures::find(vm).map(drop)
    }),
    ("loaded classes", |vm| {
        loaded::LoadedClasses::find(vm).map(drop)
    }),
    ("classes of objects", |vm| {
        objects::Mirrors::find(vm).map(drop)
    }),
    ("frames in the heap", |vm| {
        let layout = objects::Layout::find(vm)?;
        layout.oops.map(drop)
    }),
    ("thread states", |vm| {
        thread_state::States::find(vm).map(drop)
    }),
    ("threads", |vm| {
        let layout = thread::Layout::find(vm)?;
        layout.anchors().check_fp()
    }),
    ("threads that are walked", |vm| {
        thread::WalkLayout::find(vm).map(drop)
    }),
    ("places of a walk", |vm| {
        thread::WalkPlaces::find(vm).map(drop)
    }),
    ("version", |vm| thread::feature(vm).map(drop)),
];

/// Names without which a consumer does its work all the same, and why.
const OPTIONAL: &[(&str, &str)] = &[
    (
        "JavaFrameAnchor::_last_Java_fp",
        "Zero has none; only who walks a stack asks for it",
    ),
    ("JavaThread::_cont_entry", "the code of doYield shows it"),
    (
        "ContinuationEntry::_return_pc",
        "the code of enterSpecial shows it",
    ),
    (
        "ContinuationEntry::_parent",
        "the class of the chunk proves the place",
    ),
    (
        "UpcallStub::_frame_data_offset",
        "the size of RuntimeBlob gives it",
    ),
    (
        "markWord::klass_shift",
        "only compact headers need it, which say so",
    ),
    ("CodeBlob::_code_begin", "newer VMs have both forms"),
    ("CodeBlob::_code_end", "newer VMs have both forms"),
    (
        "ValueKlass",
        "a VM without value classes extends no frame of compiled code",
    ),
];

#[test]
fn every_consumer_finds_its_layout_in_each_vm() {
    let vms = MadeUp::all();
    assert!(vms.len() >= 3, "17, 25 and a newer one");
    for (name, vm) in vms {
        for (consumer, find) in CONSUMERS {
            assert_eq!(find(&vm), Ok(()), "{consumer} of {name}");
        }
    }
}

#[test]
fn without_a_name_a_consumer_says_which_it_misses() {
    let mut named = 0;
    for (vm_name, vm) in MadeUp::all() {
        for (consumer, find) in CONSUMERS {
            vm.asked.borrow_mut().clear();
            assert_eq!(find(&vm), Ok(()), "{consumer} of {vm_name}");
            let asked = vm.asked.borrow().clone();
            for name in asked.iter().filter(|name| vm.published.contains_key(*name)) {
                let is_optional = OPTIONAL.iter().any(|(optional, _)| optional == name);
                match find(&vm.without(name)) {
                    Ok(()) => assert!(is_optional, "{vm_name}: {consumer} does not miss {name}"),
                    Err(missing) => {
                        let text = missing.to_string();
                        assert!(
                            text.contains(&**name),
                            "{vm_name}: {consumer}: {name}: {text}"
                        );
                        named += 1;
                    }
                }
            }
        }
    }
    assert!(named > 200, "{named} names were missed");
}
