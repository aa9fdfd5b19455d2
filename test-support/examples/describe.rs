//! Prints what the VM of a JDK publishes of itself: fields, types and constants, with offset, size or value.

use std::path::Path;
use test_support::patched::Library;

fn main() {
    let home = std::env::args().nth(1).expect("the folder of a JDK");
    let library = Library::of(Path::new(&home)).expect("a HotSpot");
    for (name, value, type_) in library.described() {
        println!("{name} {value} {type_}");
    }
}
