//! The declarations, imports and names in a Rust file. Code under `#[cfg(test)]` is left out.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use std::collections::BTreeSet;

/// A file. Modules that are written inside belong to it.
#[derive(Debug, Default)]
pub struct Source {
    /// Modules that have a file of their own.
    pub files: BTreeSet<String>,
    /// Names that are defined here: types, functions, constants, traits, macros, modules inside.
    pub items: BTreeSet<String>,
    /// Imports, those inside functions too.
    pub uses: Vec<Use>,
    /// Paths of two or more names in code: `crate::a::b`, `alias::f`, `Type::new`.
    pub paths: BTreeSet<Vec<String>>,
    /// The lines with the keyword `unsafe`.
    pub unsafe_lines: Vec<usize>,
    /// The number of lines under `#[cfg(test)]`.
    pub test_lines: usize,
}

/// A name that a `use` imports.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Use {
    /// The path in the source, without `*`.
    pub path: Vec<String>,
    /// The name of the path in this module; `*` for all names of the path.
    pub name: String,
    /// Whether other modules see the name too.
    pub is_public: bool,
}

/// The keywords before the name that they define.
const DEFINING: [&str; 9] = [
    "fn", "struct", "enum", "union", "trait", "type", "const", "static", "macro",
];

impl Source {
    /// Reads a file's text.
    pub fn read(text: &str) -> Result<Source, String> {
        let tokens: TokenStream = text.parse().map_err(|e| format!("{e}"))?;
        let mut source = Source::default();
        source.block(tokens, true);
        Ok(source)
    }

    /// Reads tokens, in which items of the module are defined (`outside`), or further inside.
    fn block(&mut self, tokens: TokenStream, outside: bool) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        let mut is_public = false;
        while at < tokens.len() {
            let next = tokens.get(at + 1);
            at += match &tokens[at] {
                TokenTree::Punct(p) if p.as_char() == '#' => match next {
                    Some(TokenTree::Group(attribute)) if is_test(attribute) => {
                        self.skip_item(&tokens[at..])
                    }
                    _ => 1,
                },
                TokenTree::Group(group) => {
                    self.block(group.stream(), false);
                    1
                }
                TokenTree::Ident(ident) if is_name(&tokens, at) => {
                    let word = ident.to_string();
                    if word == "unsafe" {
                        self.unsafe_lines.push(ident.span().start().line);
                    }
                    match (word.as_str(), outside) {
                        ("pub", _) => {
                            is_public = true;
                            // `pub(crate)`: the group belongs to the keyword.
                            at += 1 + usize::from(matches!(next, Some(TokenTree::Group(_))));
                            continue;
                        }
                        ("use", _) => self.import(&tokens[at + 1..], is_public) + 1,
                        ("mod", true) => self.module(&tokens[at + 1..]) + 1,
                        ("macro_rules", true) => {
                            self.define(tokens.get(at + 2));
                            3
                        }
                        (word, true) if DEFINING.contains(&word) => {
                            self.define(next);
                            1
                        }
                        _ => self.path(&tokens[at..]),
                    }
                }
                _ => 1,
            };
            is_public = false;
        }
    }

    /// Reads `name;` or `name { … }` behind `mod`. Returns the number of tokens.
    fn module(&mut self, tokens: &[TokenTree]) -> usize {
        let (Some(TokenTree::Ident(name)), Some(body)) = (tokens.first(), tokens.get(1)) else {
            return 0;
        };
        if let TokenTree::Group(body) = body {
            let mut inner = Source::default();
            inner.block(body.stream(), false);
            // The module around it is this one.
            let to_self = |path: Vec<String>| {
                if path[0] == "super" {
                    vec!["self".into()]
                } else {
                    path
                }
            };
            self.paths.extend(inner.paths.into_iter().map(to_self));
            self.unsafe_lines.append(&mut inner.unsafe_lines);
            self.test_lines += inner.test_lines;
            self.items.insert(name.to_string());
        } else {
            self.files.insert(name.to_string());
        }
        2
    }

    fn define(&mut self, name: Option<&TokenTree>) {
        if let Some(TokenTree::Ident(name)) = name {
            self.items.insert(name.to_string());
        }
    }

    /// Reads the tokens between `use` and `;`. Returns their number.
    fn import(&mut self, tokens: &[TokenTree], is_public: bool) -> usize {
        let end = tokens.iter().position(|token| is_punct(token, ';'));
        let end = end.unwrap_or(tokens.len());
        self.tree(&tokens[..end], &[], is_public);
        end
    }

    fn tree(&mut self, tokens: &[TokenTree], before: &[String], is_public: bool) {
        for branch in tokens.split(|token| is_punct(token, ',')) {
            let mut path = before.to_vec();
            let mut name = None;
            let mut words = branch.iter().peekable();
            while let Some(token) = words.next() {
                match token {
                    TokenTree::Ident(word) if word == "as" => {
                        name = words.next().map(|alias| alias.to_string());
                    }
                    TokenTree::Ident(word) if word == "self" && !path.is_empty() => {}
                    TokenTree::Ident(word) => path.push(word.to_string()),
                    TokenTree::Punct(star) if star.as_char() == '*' => name = Some("*".into()),
                    TokenTree::Group(group) => {
                        let inner: Vec<_> = group.stream().into_iter().collect();
                        self.tree(&inner, &path, is_public);
                        path.clear();
                    }
                    _ => {}
                }
            }
            if let Some(last) = path.last() {
                let name = name.unwrap_or_else(|| last.clone());
                self.uses.push(Use {
                    path,
                    name,
                    is_public,
                });
            }
        }
    }

    /// Reads a path that starts here. Returns the number of tokens.
    fn path(&mut self, tokens: &[TokenTree]) -> usize {
        let mut names = vec![];
        let mut at = 0;
        while let Some(TokenTree::Ident(name)) = tokens.get(at) {
            names.push(name.to_string());
            at += 1;
            let colons = tokens.get(at..at + 2);
            if !colons.is_some_and(|pair| pair.iter().all(|token| is_punct(token, ':'))) {
                break;
            }
            at += 2;
        }
        if names.len() > 1 {
            self.paths.insert(names);
        }
        at.max(1)
    }

    /// The number of tokens of an attribute and the item behind it.
    fn skip_item(&mut self, tokens: &[TokenTree]) -> usize {
        let is_body = |token: &TokenTree| match token {
            TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
            token => is_punct(token, ';'),
        };
        let end = tokens.iter().position(is_body).unwrap_or(tokens.len() - 1);
        let (first, last) = (tokens[0].span().start(), tokens[end].span().end());
        self.test_lines += last.line + 1 - first.line;
        end + 1
    }
}

/// Whether an identifier is the first of a path, and not a field, a method or a lifetime.
fn is_name(tokens: &[TokenTree], at: usize) -> bool {
    let before = at.checked_sub(1).map(|before| &tokens[before]);
    !before.is_some_and(|before| is_punct(before, '.') || is_punct(before, '\''))
}

fn is_punct(token: &TokenTree, wanted: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == wanted)
}

/// Whether an attribute marks code that is for tests only.
fn is_test(attribute: &Group) -> bool {
    let text = attribute.stream().to_string().replace(' ', "");
    text == "cfg(test)" || text == "test"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Source {
        Source::read(text).expect("it is Rust")
    }

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|name| name.to_string()).collect()
    }

    #[test]
    fn imports_are_taken_apart() {
        let source = read(
            "pub use a::{self, b::{C, D as E}, f::*}; use crate::g; pub(crate) use h::i; fn j() { use k::l; }",
        );
        let found: Vec<_> = source
            .uses
            .iter()
            .map(|u| (u.path.join("::"), u.name.as_str(), u.is_public))
            .collect();
        let expected = [
            ("a", "a", true),
            ("a::b::C", "C", true),
            ("a::b::D", "E", true),
            ("a::f", "*", true),
            ("crate::g", "g", false),
            ("h::i", "i", true),
            ("k::l", "l", false),
        ];
        let expected = expected.map(|(path, name, public)| (path.to_owned(), name, public));
        assert_eq!(found, expected);
    }

    #[test]
    fn modules_items_and_paths_are_found() {
        let source = read(
            "//! Docs.\nmod a; pub mod b { pub struct C; }\nstruct D(crate::e::F);\n\
             impl D { fn g(&self) { a::h(self.x::<u8>()); println!(\"{}\", super::I::J); } }\n\
             macro_rules! k { () => {} } const L: u8 = 1;",
        );
        assert_eq!(source.files.iter().collect::<Vec<_>>(), ["a"]);
        let items: Vec<_> = source.items.iter().map(String::as_str).collect();
        assert_eq!(items, ["D", "L", "b", "k"]);
        let paths: Vec<_> = source.paths.iter().cloned().collect();
        let expected = [&["a", "h"][..], &["crate", "e", "F"], &["super", "I", "J"]];
        assert_eq!(paths, expected.map(names));
        assert!(read("//! Docs.\nmod a; pub use a::B;").items.is_empty());
    }

    #[test]
    fn code_for_tests_is_left_out_and_its_lines_are_counted() {
        let source = read(
            "fn a() { unsafe { b() } }\n#[cfg(test)]\nmod tests;\n#[cfg(test)]\nmod more {\nfn c() { unsafe {} }\n}\n",
        );
        assert_eq!(source.unsafe_lines, [1]);
        assert_eq!(source.test_lines, 6);
        assert!(source.files.is_empty() && !source.items.contains("more"));
    }
}
