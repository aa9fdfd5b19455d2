//! Circles of a graph whose nodes are files or folders.

use std::collections::{BTreeMap, BTreeSet};

/// A file uses a name of another file.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Edge {
    /// The file that uses the name.
    pub from: String,
    /// The file that defines the name.
    pub to: String,
    /// The name, as the file writes it.
    pub name: String,
}

/// Circles of files that need each other: the edges among these files, one line for each edge.
pub fn file_circles(edges: &BTreeSet<Edge>) -> Vec<String> {
    let node = |path: &str| Some(path.to_owned());
    circles("files", edges, node)
}

/// Circles of children of a folder that need each other. A child is a file, or a folder with all
/// files below.
pub fn folder_circles(edges: &BTreeSet<Edge>) -> Vec<String> {
    let ends = edges.iter().flat_map(|edge| [&edge.from, &edge.to]);
    let folders: BTreeSet<&str> = ends.flat_map(|path| folders_of(path)).collect();
    let mut all = vec![];
    for folder in folders {
        let child = |path: &str| {
            let below = match folder {
                "" => path,
                folder => path.strip_prefix(folder)?.strip_prefix('/')?,
            };
            let (child, _) = below.split_once('/').unwrap_or((below, ""));
            Some(child.to_owned())
        };
        all.extend(circles(&format!("children of `{folder}/`"), edges, child));
    }
    all
}

/// All folders around `path`, from the root on.
fn folders_of(path: &str) -> impl Iterator<Item = &str> {
    let slashes = path.match_indices('/').map(|(at, _)| &path[..at]);
    std::iter::once("").chain(slashes)
}

/// The circles among nodes. `node` gives the node of a file; `None` if the file belongs to no node.
fn circles(
    what: &str,
    edges: &BTreeSet<Edge>,
    node: impl Fn(&str) -> Option<String>,
) -> Vec<String> {
    let mut graph: BTreeMap<String, BTreeMap<String, Vec<&Edge>>> = BTreeMap::new();
    for edge in edges {
        let (Some(from), Some(to)) = (node(&edge.from), node(&edge.to)) else {
            continue;
        };
        if from != to {
            let of_pair = graph.entry(from).or_default().entry(to).or_default();
            of_pair.push(edge);
        }
    }
    let reached: BTreeMap<&String, BTreeSet<&String>> = graph
        .keys()
        .map(|node| (node, reach(&graph, node)))
        .collect();
    let mut all = vec![];
    let mut done: BTreeSet<&String> = BTreeSet::new();
    for (&node, from_here) in &reached {
        let is_back = |other: &&String| reached.get(*other).is_some_and(|r| r.contains(node));
        let circle: BTreeSet<&String> = from_here.iter().copied().filter(is_back).collect();
        if !circle.contains(node) || !done.insert(node) {
            continue;
        }
        done.extend(&circle);
        let mut text = format!("circle of {} {what}:", circle.len());
        for from in &circle {
            let targets = graph[*from].iter().filter(|(to, _)| circle.contains(to));
            for (to, through) in targets {
                let names: Vec<_> = through.iter().map(|edge| edge.name.as_str()).collect();
                text += &format!("\n  {from} -> {to}: {}", names.join(", "));
            }
        }
        all.push(text);
    }
    all
}

/// All nodes that can be reached from `start` in one step or more.
fn reach<'a, T>(
    graph: &'a BTreeMap<String, BTreeMap<String, T>>,
    start: &str,
) -> BTreeSet<&'a String> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&str> = vec![start];
    while let Some(node) = open.pop() {
        for next in graph.get(node).into_iter().flat_map(BTreeMap::keys) {
            if reached.insert(next) {
                open.push(next);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(pairs: &[(&str, &str)]) -> BTreeSet<Edge> {
        let edge = |&(from, to): &(&str, &str)| Edge {
            from: from.into(),
            to: to.into(),
            name: "N".into(),
        };
        pairs.iter().map(edge).collect()
    }

    #[test]
    fn circles_of_files_are_named_with_their_edges() {
        let found = file_circles(&edges(&[("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")]));
        let expected = "circle of 3 files:\n  a -> b: N\n  b -> c: N\n  c -> a: N";
        assert_eq!(found, [expected]);
        let two = file_circles(&edges(&[
            ("a", "b"),
            ("b", "a"),
            ("c", "d"),
            ("d", "c"),
            ("a", "c"),
        ]));
        assert_eq!(two.len(), 2);
        assert!(file_circles(&edges(&[("a", "b"), ("a", "c"), ("b", "c")])).is_empty());
    }

    #[test]
    fn folders_can_be_in_a_circle_where_files_are_not() {
        let crossed = edges(&[("x/a", "y/b"), ("y/c", "x/d")]);
        assert!(file_circles(&crossed).is_empty());
        let expected = "circle of 2 children of `/`:\n  x -> y: N\n  y -> x: N";
        assert_eq!(folder_circles(&crossed), [expected]);
        let deeper = edges(&[("s/x/a", "s/y/b"), ("s/y/c", "s/x/d"), ("s/x/a", "t")]);
        assert_eq!(folder_circles(&deeper).len(), 1);
        let straight = edges(&[("s/x/a", "s/x/b"), ("s/x/b", "s/y/c")]);
        assert!(folder_circles(&straight).is_empty());
    }
}
