//! Finds the shared libraries that cargo has built as dependencies of this script.

use std::env;
use std::path::Path;

/// The libraries, and the environment variables that give their paths to the crate.
const LIBRARIES: [(&str, &str); 2] = [
    ("stackwitness_agent", "AGENT_FILE"),
    ("stackwitness_fixture_natives", "FIXTURE_NATIVES_FILE"),
];

fn main() {
    if env::var_os("HOST") != env::var_os("TARGET") {
        println!(
            "cargo::error=the libraries are built for the machine that builds them, not for another"
        );
        return;
    }
    // TARGET/PROFILE/build/libraries-HASH/build-script-build
    let script = env::current_exe().expect("the script has a path");
    let profile = script.ancestors().nth(3).unwrap_or(Path::new("/"));
    for (name, variable) in LIBRARIES {
        let (prefix, suffix) = (env::consts::DLL_PREFIX, env::consts::DLL_SUFFIX);
        let file = profile.join("deps").join(format!("{prefix}{name}{suffix}"));
        let path = file.display();
        if !file.is_file() {
            println!("cargo::error=cargo has not built {path}");
        }
        println!("cargo::rerun-if-changed={path}");
        println!("cargo::rustc-env={variable}={path}");
    }
}
