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

/// The edges from one node to others.
type Targets<'a> = BTreeMap<&'a str, Vec<&'a str>>;

/// Circles of children of one folder that need each other: the edges among them, one line for each. A child is a
/// file, or a folder with all files below. A circle of files is also one of the children of the lowest folder that
/// has all of them.
pub fn circles(edges: &BTreeSet<Edge>) -> Vec<String> {
    let ends = edges.iter().flat_map(|edge| [&edge.from, &edge.to]);
    let slashes = ends.flat_map(|path| path.match_indices('/').map(|(at, _)| &path[..=at]));
    let folders: BTreeSet<&str> = slashes.chain([""]).collect();
    folders
        .into_iter()
        .flat_map(|folder| in_folder(folder, edges))
        .collect()
}

fn in_folder(folder: &str, edges: &BTreeSet<Edge>) -> Vec<String> {
    let child = |path| -> Option<&str> { str::strip_prefix(path, folder)?.split('/').next() };
    let mut graph: BTreeMap<&str, Targets<'_>> = BTreeMap::new();
    for edge in edges {
        if let (Some(from), Some(to)) = (child(edge.from.as_str()), child(edge.to.as_str()))
            && from != to
        {
            let of_pair = graph.entry(from).or_default().entry(to).or_default();
            of_pair.push(&edge.name);
        }
    }
    let reached: BTreeMap<_, _> = graph
        .keys()
        .map(|&node| (node, reach(&graph, node)))
        .collect();
    let mut all = vec![];
    let mut done = BTreeSet::new();
    for (&node, from_here) in &reached {
        let is_back = |other: &&str| reached.get(other).is_some_and(|back| back.contains(node));
        let circle: BTreeSet<&str> = from_here.iter().copied().filter(is_back).collect();
        if !circle.contains(node) || !done.insert(node) {
            continue;
        }
        done.extend(&circle);
        let mut text = format!("circle of {} children of `{folder}`:", circle.len());
        for from in &circle {
            for (to, names) in graph[from].iter().filter(|(to, _)| circle.contains(*to)) {
                text += &format!("\n  {from} -> {to}: {}", names.join(", "));
            }
        }
        all.push(text);
    }
    all
}

/// All nodes that can be reached from `start` in one step or more.
fn reach<'a>(graph: &BTreeMap<&'a str, Targets<'a>>, start: &'a str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open = vec![start];
    while let Some(node) = open.pop() {
        let targets = graph.get(node).into_iter().flat_map(BTreeMap::keys);
        open.extend(targets.filter(|&&target| reached.insert(target)));
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
    fn circles_are_named_with_their_edges() {
        let found = circles(&edges(&[("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")]));
        let expected = "circle of 3 children of ``:\n  a -> b: N\n  b -> c: N\n  c -> a: N";
        assert_eq!(found, [expected]);
        let two = [("a", "b"), ("b", "a"), ("c", "d"), ("d", "c"), ("a", "c")];
        assert_eq!(circles(&edges(&two)).len(), 2);
        assert!(circles(&edges(&[("a", "b"), ("a", "c"), ("b", "c")])).is_empty());
        // Files of two folders, which lie in one.
        let apart = circles(&edges(&[("s/x/a", "s/y/b"), ("s/y/b", "s/x/a")]));
        assert_eq!(
            apart,
            ["circle of 2 children of `s/`:\n  x -> y: N\n  y -> x: N"]
        );
        assert_eq!(
            circles(&edges(&[("s/x/a", "s/x/b"), ("s/x/b", "s/x/a")])).len(),
            1
        );
    }

    #[test]
    fn folders_can_be_in_a_circle_where_files_are_not() {
        let crossed = edges(&[("x/a", "y/b"), ("y/c", "x/d")]);
        assert_eq!(
            circles(&crossed),
            ["circle of 2 children of ``:\n  x -> y: N\n  y -> x: N"]
        );
        let deeper = edges(&[("s/x/a", "s/y/b"), ("s/y/c", "s/x/d"), ("s/x/a", "t")]);
        assert_eq!(circles(&deeper).len(), 1);
        let straight = edges(&[("s/x/a", "s/x/b"), ("s/x/b", "s/y/c")]);
        assert!(circles(&straight).is_empty());
    }
}
