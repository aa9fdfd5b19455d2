//! The facts about the instant of a mismatch, in addition to the two stacks.
//!
//! In JSON the evidence is an object of texts. A text that a field of this version cannot hold is
//! kept as it is, so that a report of another version loses nothing.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// Declares [`Evidence`]: one row for each kind of evidence. The name of the field is the key in
/// JSON.
macro_rules! evidence {
    ($($(#[$doc:meta])* $key:ident: $type:ty;)*) => {
        /// Evidence of a mismatch.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(from = "BTreeMap<String, String>", into = "BTreeMap<String, String>")]
        pub struct Evidence {
            $($(#[$doc])* pub $key: Option<$type>,)*
            /// Evidence that another version of Stackwitness wrote, by key.
            pub other: BTreeMap<String, String>,
        }

        impl From<Evidence> for BTreeMap<String, String> {
            fn from(evidence: Evidence) -> BTreeMap<String, String> {
                let mut texts = evidence.other;
                $(if let Some(value) = evidence.$key {
                    texts.insert(stringify!($key).into(), value.to_string());
                })*
                texts
            }
        }

        impl From<BTreeMap<String, String>> for Evidence {
            fn from(texts: BTreeMap<String, String>) -> Evidence {
                let mut evidence = Evidence::default();
                for (key, text) in texts {
                    match key.as_str() {
                        $(stringify!($key) if text.parse::<$type>().is_ok() => {
                            evidence.$key = text.parse().ok();
                        })*
                        _ => _ = evidence.other.insert(key, text),
                    }
                }
                evidence
            }
        }
    };
}

evidence! {
    /// Folder of the run, relative to the report.
    run: String;
    /// The walker, if it is not the layer's own walker.
    walker: String;
    /// The hook that found the trace stack out of balance, or the event of JVMTI in which the walker was
    /// asked.
    at: String;
    /// The part of the stack that GetStackTrace was asked for, if not for the whole stack.
    part: String;
    /// How the trace stack was out of balance.
    found: String;
    /// Findings on the impossible and unknown edges of the walk.
    edges: String;
    /// Program counter.
    pc: Address;
    /// Stack pointer.
    sp: Address;
    /// Frame pointer.
    fp: Address;
    /// The VM's name for the state of the thread.
    state: String;
    /// Stack pointer of the anchor to the last Java frame.
    last_java_sp: Address;
    /// Program counter of that anchor.
    last_java_pc: Address;
    /// The code at `last_java_pc`.
    last_java_code: String;
    /// The code at the program counter.
    code: String;
    /// The stubs into which words of the stack point, from the newest Java frame on.
    stack_stubs: String;
    /// Why the agent could read no memory of the VM, if it could not: then code, bytes and return
    /// address are not known.
    memory: String;
    /// The bytes of code at the program counter.
    bytes: CodeBytes;
    /// The word that the walker takes for the return address, by the size of the frame.
    return_address_by_frame_size: StackWord;
    /// The word that is the return address, if it is another word.
    return_address: StackWord;
}

impl Evidence {
    /// Whether there is no evidence.
    pub fn is_empty(&self) -> bool {
        *self == Evidence::default()
    }

    /// All of it by key, as texts.
    pub fn texts(&self) -> BTreeMap<String, String> {
        self.clone().into()
    }
}

/// An address in the target. Its text is hexadecimal with `0x`.
#[derive(Copy, Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Address(pub usize);

impl From<Address> for String {
    fn from(address: Address) -> String {
        address.to_string()
    }
}

impl TryFrom<String> for Address {
    type Error = String;

    fn try_from(text: String) -> Result<Address, String> {
        let parsed = text.parse();
        parsed.map_err(|()| format!("`{text}` is no hexadecimal number with 0x"))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

impl FromStr for Address {
    type Err = ();

    fn from_str(text: &str) -> Result<Address, ()> {
        let digits = text.strip_prefix("0x").ok_or(())?;
        usize::from_str_radix(digits, 16).map(Address).map_err(drop)
    }
}

/// Bytes of machine code. The text has two hexadecimal digits for each byte.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CodeBytes(pub Vec<u8>);

impl fmt::Display for CodeBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for CodeBytes {
    type Err = ();

    fn from_str(text: &str) -> Result<CodeBytes, ()> {
        let pair = |pair: &[u8]| {
            let pair = str::from_utf8(pair).ok().filter(|pair| pair.len() == 2)?;
            u8::from_str_radix(pair, 16).ok()
        };
        let bytes = text.as_bytes().chunks(2).map(pair);
        bytes.collect::<Option<_>>().map(CodeBytes).ok_or(())
    }
}

/// A word of an interrupted stack. Its text is `N words above sp: WHAT`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct StackWord {
    /// Its distance from the stack pointer, in words.
    pub index: usize,
    /// The word, and the code that it points to.
    pub what: String,
}

const ABOVE_SP: &str = " words above sp: ";

impl fmt::Display for StackWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{ABOVE_SP}", self.index)?;
        f.write_str(&self.what)
    }
}

impl FromStr for StackWord {
    type Err = ();

    fn from_str(text: &str) -> Result<StackWord, ()> {
        let (index, what) = text.split_once(ABOVE_SP).ok_or(())?;
        let index = index.parse().map_err(drop)?;
        let what = what.into();
        Ok(StackWord { index, what })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_keeps_its_keys_and_texts() {
        let evidence = Evidence {
            pc: Some(Address(0x12)),
            bytes: Some(CodeBytes(vec![0xc3, 0x01])),
            return_address: Some(StackWord {
                index: 3,
                what: "0x7f, libjvm.so".into(),
            }),
            other: BTreeMap::from([("colour".into(), "red".into())]),
            ..Evidence::default()
        };
        let json = serde_json::to_string(&evidence).expect("plain data");
        let expected = r#"{"bytes":"c301","colour":"red","pc":"0x12","return_address":"3 words above sp: 0x7f, libjvm.so"}"#;
        assert_eq!(json, expected);
        assert_eq!(
            serde_json::from_str::<Evidence>(&json).expect("just written"),
            evidence
        );
    }

    #[test]
    fn a_text_that_cannot_be_read_is_kept() {
        for (key, text) in [
            ("pc", "twelve"),
            ("bytes", "c3f"),
            ("bytes", "é"),
            ("return_address", "3"),
        ] {
            let json = format!(r#"{{"{key}":"{text}"}}"#);
            let evidence: Evidence = serde_json::from_str(&json).expect("an object of texts");
            assert_eq!(evidence.other[key], text);
            assert_eq!(serde_json::to_string(&evidence).expect("plain data"), json);
        }
        assert!(Evidence::default().is_empty());
    }
}
