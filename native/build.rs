//! The agent exports its entry points alone: the functions of `profile2.h` in the crate `walker` stay inside.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,--exclude-libs,ALL");
}
