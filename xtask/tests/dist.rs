//! The archive: the versions of glibc that its files need, and a run on a system without Rust.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use test_support::{jdks, run};

/// The newest version of glibc that a file may need.
const NEWEST: (u32, u32) = (2, 28);

/// Makes the archive below the target folder, and unpacks it into `folder`.
fn unpacked(folder: &Path) -> PathBuf {
    let out = folder.join("dist");
    let command = &mut Command::new(env!("CARGO_BIN_EXE_xtask"));
    let printed = run(command.args(["dist", "--out"]).arg(&out)).ok();
    let archive = printed.lines().find(|line| line.ends_with(".tar.gz"));
    let archive = archive.expect("the path of the archive");
    let unpack = &mut Command::new("tar");
    run(unpack.args(["-xzf", archive, "-C"]).arg(folder)).ok();
    let roots = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut roots = roots.filter(|path| path.join("bin/stackwitness").is_file());
    roots
        .next()
        .expect("the archive has one folder with all files")
}

/// The Debian package in `dist` has the files of the archive, and its program finds the agent and works.
fn debian_package_has_the_same(archive: &Path, dist: &Path) {
    if Command::new("dpkg-deb").arg("--version").output().is_err() {
        println!("skipped: no dpkg-deb for the package");
        return;
    }
    let mut made = fs::read_dir(dist)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let package = made.find(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("stackwitness-") && name.ends_with(".deb")
    });
    let package = package.expect("a package beside the archive");
    let root = dist.join("unpacked");
    run(Command::new("dpkg-deb")
        .arg("--extract")
        .args([&package, &root]))
    .ok();
    let usr = root.join("usr");
    run(Command::new("diff")
        .arg("--recursive")
        .args([archive, &usr]))
    .ok();
    if jdks().is_empty() {
        println!("skipped: no JDK found for the package's program");
        return;
    }
    let doctor = run(Command::new(usr.join("bin/stackwitness")).arg("doctor"));
    assert!(doctor.stdout.contains("ok       agent: "), "{doctor:#?}");
}

/// README in the archive leads nowhere that the archive lacks.
fn pages_of_the_readme_are_there(archive: &Path) {
    let docs = archive.join("share/doc/stackwitness");
    let readme = fs::read_to_string(docs.join("README.md")).unwrap();
    let targets = readme.split("](").skip(1);
    let targets = targets.filter_map(|rest| rest.split([')', '#']).next());
    for target in targets.filter(|target| !target.starts_with("http")) {
        assert!(docs.join(target).exists(), "{target}");
    }
}

/// The versions of glibc that a file needs.
fn versions(file: &Path) -> Vec<(u32, u32)> {
    let table = run(Command::new("readelf")
        .args(["--wide", "--version-info"])
        .arg(file))
    .ok();
    let names = table.split("GLIBC_").skip(1);
    let numbers = names.map(|name| {
        let end = name.find(|c: char| !c.is_ascii_digit() && c != '.');
        let mut numbers = name[..end.unwrap_or(name.len())]
            .split('.')
            .map(|n| n.parse().unwrap());
        (numbers.next().unwrap(), numbers.next().unwrap())
    });
    numbers.collect()
}

/// Runs [`COMMANDS`] in a root folder with `/usr`, `/etc` and the archive alone. The arguments: a new root, the unpacked
/// archive, the home of a JDK, and the commands.
const CHROOT: &str = r#"
set -e
cd "$1"
mkdir -p usr etc proc dev tmp archive jdk
for name in bin sbin lib lib64; do ln -s "usr/$name" "$name"; done
mount --bind "$2" archive
mount --bind "$3" jdk
for name in usr etc proc dev; do mount --rbind "/$name" "$name"; done
exec chroot . /usr/bin/env -i PATH=/archive/bin:/usr/bin JAVA_HOME=/jdk /bin/sh -c "$4"
"#;

/// The commands and options that README names, each with the exit codes that an honest JVM may give it: in runs this short
/// it may be over a budget, or show too little. A source file takes the place of `my.jar`.
const COMMANDS: &str = r#"
set -e
! command -v cargo || { echo "Rust is in /usr/bin" >&2; exit 42; }
cd /tmp
ends() {
    codes=$1
    shift
    code=0
    "$@" > output 2>&1 || code=$?
    case " $codes " in
        *" $code "*) echo "$*: $code" ;;
        *) echo "$*: $code, and not one of $codes" >&2; cat output >&2; exit 43 ;;
    esac
}
cat > My.java <<'END'
class My {
    static long work(int n) { long sum = 0; for (int i = 0; i < n; i++) sum += Integer.toString(i).hashCode(); return sum; }
    public static void main(String[] args) {
        long end = System.nanoTime() + 5_000_000_000L, sum = 0;
        while (System.nanoTime() < end) sum += work(1000);
        System.out.println(sum);
    }
}
END
stackwitness doctor
ends "0 1" stackwitness run --quick -q --out out
test -s out/report.html
ends "0 1 3" stackwitness gate out -v
ends "0 1 3" stackwitness run --jdk /jdk -- My.java
ends "0 1 3" stackwitness check --base /jdk /jdk --minutes 0.3 --out checked
test -s checked/report.html
ends "0 1 3" stackwitness profile -- My.java
ends "2" stackwitness run --profiler libasyncProfiler.so
grep -q libasyncProfiler.so output
stackwitness --help | sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p' > commands
test "$(wc -l < commands)" -gt 12
while read -r command; do
    test "$command" = help || ends 0 stackwitness "$command" --help
    test "$command" = help || ends 0 stackwitness man "$command"
done < commands
ends 0 stackwitness scenarios
ends 0 stackwitness completions bash
"#;

/// The commands that README names are in [`COMMANDS`], with their options.
#[test]
fn the_commands_of_the_readme_are_tried_in_the_archive() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
    let readme = fs::read_to_string(readme).unwrap();
    let named = readme.lines().filter_map(|line| {
        let starts = ["stackwitness ", "cargo run --release -- "];
        let rest = starts.iter().find_map(|start| line.strip_prefix(start))?;
        rest.split(" #").next()
    });
    let named: Vec<&str> = named.filter(|rest| !rest.contains('|')).collect();
    assert!(named.len() >= 6, "{named:?}");
    for command in named {
        let mut words = command.split_whitespace();
        let name = words.next().unwrap();
        let options = words.filter(|word| word.starts_with("--") && word.len() > 2);
        let options: Vec<&str> = options.collect();
        let mut tried = COMMANDS
            .lines()
            .filter(|line| line.contains(&format!("stackwitness {name}")));
        let has_all = |line: &str| options.iter().all(|option| line.contains(option));
        assert!(tried.any(has_all), "{command}");
    }
    for option in ["-v", "-q"] {
        assert!(readme.contains(&format!("`{option}`")), "{option}");
        assert!(COMMANDS.contains(&format!(" {option}")), "{option}");
    }
}

#[test]
#[ignore = "builds a release of everything: minutes; .ci/run asks for it"]
fn the_archive_runs_without_rust_and_with_an_old_glibc() {
    let folder = tempfile::tempdir().unwrap();
    let root = unpacked(folder.path());
    for file in [
        "share/man/man1/stackwitness.1",
        "share/man/man1/stackwitness-run.1",
        "share/bash-completion/completions/stackwitness",
        "share/zsh/vendor-completions/_stackwitness",
        "share/fish/vendor_completions.d/stackwitness.fish",
        "share/doc/stackwitness/LICENSE",
        "lib/libasgst.so",
        "lib/libasgst.a",
        "include/profile2.h",
        "share/doc/libasgst/libasgst.md",
    ] {
        assert!(fs::metadata(root.join(file)).unwrap().len() > 0, "{file}");
    }
    for file in [
        "bin/stackwitness",
        "lib/stackwitness/libstackwitness_agent.so",
        "lib/stackwitness/libstackwitness_fixture_natives.so",
    ] {
        let asked = versions(&root.join(file));
        assert!(!asked.is_empty(), "{file}");
        assert!(
            asked.iter().all(|version| *version <= NEWEST),
            "{file}: {asked:?}"
        );
    }

    pages_of_the_readme_are_there(&root);

    debian_package_has_the_same(&root, &folder.path().join("dist"));

    let mut may = Command::new("unshare");
    may.args(["--mount", "mount", "--bind", "/tmp", "/tmp"]);
    if !may.status().is_ok_and(|status| status.success()) {
        println!("skipped: no mount namespace for a chroot");
        return;
    }
    let Some(jdk) = jdks().into_iter().next() else {
        println!("skipped: no JDK found");
        return;
    };
    let bare = tempfile::tempdir().unwrap();
    let mut chroot = Command::new("unshare");
    chroot
        .args(["--mount", "sh", "-c", CHROOT, "sh"])
        .arg(bare.path())
        .arg(&root)
        .arg(jdk)
        .arg(COMMANDS);
    let output = run(&mut chroot);
    assert_eq!(output.code, Some(0), "{output:#?}");
    assert!(output.stdout.contains("ok       agent: "), "{output:#?}");
}
