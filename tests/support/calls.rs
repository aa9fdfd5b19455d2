//! Stacks that class files allow, as JSON lines.

use classfile::Outline;
use classfile::outline::Refers;
use classfile::pool::MemberRef;
use std::collections::HashMap;
use std::fs;
use std::io::Read;
use std::path::Path;

/// The classes of a jar, by their internal names.
pub fn of_jar(jar: &Path) -> HashMap<String, Vec<u8>> {
    let mut jar = zip::ZipArchive::new(fs::File::open(jar).unwrap()).unwrap();
    let mut classes = HashMap::new();
    for at in 0..jar.len() {
        let mut entry = jar.by_index(at).unwrap();
        let name = entry.name().unwrap().into_owned();
        if let Some(class) = name.strip_suffix(".class") {
            let mut bytes = vec![];
            entry.read_to_end(&mut bytes).unwrap();
            classes.insert(class.to_owned(), bytes);
        }
    }
    classes
}

/// Stacks of two frames: each call in the classes of a method whose code is in one of the classes.
pub fn calls(classes: &HashMap<String, Vec<u8>>) -> String {
    let outlines = classes.values().map(|bytes| Outline::read(bytes).unwrap());
    let outlines: HashMap<_, _> = outlines.map(|outline| (outline.name, outline)).collect();
    let declares = |m: &MemberRef<'_>| {
        outlines.get(m.class).is_some_and(|class| {
            let mut methods = class.methods.iter();
            methods.any(|d| (d.name, d.descriptor) == (m.name, m.descriptor) && d.code.is_some())
        })
    };
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let frame = |class, name, descriptor, bci| {
        serde_json::json!({"class": text(class), "method": text(name),
            "descriptor": text(descriptor), "bci": bci})
    };
    let mut lines = String::new();
    for class in outlines.values() {
        for method in &class.methods {
            for site in method.code.iter().flat_map(|code| &code.sites) {
                if let Refers::Static(m) | Refers::Special(m) = site.refers
                    && declares(&m)
                {
                    let frames = [
                        frame(m.class, m.name, m.descriptor, 0),
                        frame(class.name, method.name, method.descriptor, site.bci),
                    ];
                    lines += &format!("{}\n", serde_json::json!({ "frames": frames }));
                }
            }
        }
    }
    lines
}
