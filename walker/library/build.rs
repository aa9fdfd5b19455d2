//! The name under which programs look for the shared library: it has the major version, which changes with the
//! interface.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let major = std::env::var("CARGO_PKG_VERSION_MAJOR").expect("cargo gives a version");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libasgst.so.{major}");
}
