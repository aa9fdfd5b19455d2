//! The changed sources of HotSpot: HotSpot's files with all mistakes in them, and the switch that
//! turns on one mistake.

use super::edit::{Edit, apply};
use super::table::{Table, Walker};
use crate::error::Error;
use crate::mutant::{identifier, mistakes};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A file that is compiled into the VM, in place of HotSpot's file or in addition.
#[derive(Debug)]
pub struct Changed {
    /// The file that is compiled.
    pub path: PathBuf,
    /// The file of HotSpot whose command line is used.
    pub like: PathBuf,
}

/// Headers of our own, and the files that are compiled in addition.
const HEADERS: [(&str, &str); 2] = [
    ("switch.hpp", include_str!("../../switch/switch.hpp")),
    ("walks.hpp", include_str!("../../switch/walks.hpp")),
];
const ADDED: [(&str, &str); 2] = [
    ("switch.cpp", include_str!("../../switch/switch.cpp")),
    ("walks.cpp", include_str!("../../switch/walks.cpp")),
];

/// The first line of HotSpot's files, after which the switch is included.
const FIRST_INCLUDE: &str = "#include \"precompiled.hpp\"\n";

/// Writes the changed files of `hotspot`, a folder `src/hotspot`, to `folder`.
pub fn write(table: &Table, hotspot: &Path, folder: &Path) -> Result<Vec<Changed>, Error> {
    fs::create_dir_all(folder).map_err(Error::at(folder))?;
    let put = |name: &str, text: &str| -> Result<PathBuf, Error> {
        let path = folder.join(name);
        fs::write(&path, text).map_err(Error::at(&path))?;
        Ok(path)
    };
    let names = table.mistakes.iter().map(|mistake| mistake.name.as_str());
    put("mistakes.inc", &mistakes(names))?;
    for (name, text) in HEADERS {
        put(name, text)?;
    }
    let mut files = vec![];
    for (file, edits) in by_file(table) {
        let original = hotspot.join(file);
        let source = fs::read_to_string(&original).map_err(Error::at(&original))?;
        let text = edited(&source, &edits)?;
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        files.push(Changed {
            path: put(&name, &text)?,
            like: original,
        });
    }
    let forte = hotspot.join("share/prims/forte.cpp");
    for (name, text) in ADDED {
        files.push(Changed {
            path: put(name, text)?,
            like: forte.clone(),
        });
    }
    Ok(files)
}

fn edited(source: &str, edits: &[(&Edit, String)]) -> Result<String, Error> {
    let changes: Result<Vec<_>, _> = edits
        .iter()
        .map(|(edit, code)| edit.locate(source, code))
        .collect();
    let include = format!("{FIRST_INCLUDE}#include \"walks.hpp\"\n");
    Ok(apply(source, changes?)?.replacen(FIRST_INCLUDE, &include, 1))
}

/// All edits, each with its code as C++, by the file that they change.
fn by_file(table: &Table) -> BTreeMap<&Path, Vec<(&Edit, String)>> {
    let mut files = BTreeMap::<_, Vec<_>>::new();
    for edit in &table.walks {
        let file = files.entry(edit.file.as_path()).or_default();
        file.push((edit, edit.code.clone()));
    }
    for mistake in &table.mistakes {
        for edit in &mistake.edits {
            let code = code(&edit.code, mistake.walker, &mistake.name);
            files.entry(&edit.file).or_default().push((edit, code));
        }
    }
    files
}

/// Fills in the placeholders for the switch: `$ON`, whether the mistake strikes now, which counts
/// as a strike, and `$CHOSEN`, whether the mistake is on at all.
fn code(template: &str, walker: Walker, mistake: &str) -> String {
    let name = format!("stackwitness::Mistake::{}", identifier(mistake));
    let on = match walker {
        Walker::Asgct => format!("stackwitness::on(stackwitness::Walker::asgct, {name})"),
        Walker::Gst => format!("stackwitness::on(stackwitness::Walker::gst, {name})"),
        Walker::Vm => format!("stackwitness::on({name})"),
    };
    let chosen = format!("stackwitness::chosen == {name}");
    template.replace("$ON", &on).replace("$CHOSEN", &chosen)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::{Cache, Level};

    #[test]
    fn questions_to_the_switch_name_walker_and_mistake() {
        assert_eq!(
            code("if ($ON || $CHOSEN) $MATCH", Walker::Gst, "a-b"),
            "if (stackwitness::on(stackwitness::Walker::gst, stackwitness::Mistake::a_b) || \
             stackwitness::chosen == stackwitness::Mistake::a_b) $MATCH"
        );
        assert_eq!(
            code("$ON", Walker::Vm, "a"),
            "stackwitness::on(stackwitness::Mistake::a)"
        );
    }

    #[test]
    fn every_edit_finds_its_place() {
        let cache = Cache::new(None, Level::Release).unwrap();
        if !cache.hotspot().exists() {
            println!("skipped: no sources of HotSpot in the cache; `mutants build` fetches them");
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let table = Table::built_in().unwrap();
        let files = write(&table, &cache.hotspot(), folder.path()).unwrap();
        let forte = files.iter().find(|file| file.path.ends_with("forte.cpp"));
        let text = fs::read_to_string(&forte.unwrap().path).unwrap();
        assert!(text.contains("walks.hpp") && !text.contains('$'), "{text}");
    }

    #[test]
    fn every_file_is_named_apart() {
        let table = Table::built_in().unwrap();
        let files = by_file(&table);
        let names: std::collections::HashSet<_> = files.keys().map(|f| f.file_name()).collect();
        assert_eq!(names.len(), files.len());
    }
}
