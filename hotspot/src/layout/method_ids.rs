//! Whether a value can be a `jmethodID` at all, where ids are addresses (up to JDK 25; from 26 on they are numbers,
//! `jmethodIDTable.cpp`).

use super::method::{Method, Names, Text};
use crate::memory::Memory;

/// Whether `id` can be the `jmethodID` of a method, or of a method that is gone.
///
/// Such an id is the address of a word that has the VM's address of the method (`Method::resolve_jmethod_id` in
/// `share/oops/method.cpp`). The VM never frees these words. Where the class is unloaded it writes null, and 55 marks words that
/// never had a method (`JNIMethodBlock::_free_method`).
pub fn can_be_id(names: &Names, memory: &impl Memory, id: usize) -> bool {
    const LAST_MARK: usize = 55;
    let is_aligned = |address: usize| address.is_multiple_of(size_of::<usize>());
    if id == 0 || !is_aligned(id) {
        return false;
    }
    let is_method = |method| is_aligned(method) && has_names(names, memory, Method(method));
    memory
        .word(id)
        .is_some_and(|method| method <= LAST_MARK || is_method(method))
}

/// Whether the class and the names of the method can be read.
fn has_names(names: &Names, memory: &impl Memory, method: Method) -> bool {
    let can_be_read = |text: Text| {
        let last = usize::from(text.length).checked_sub(1);
        last.is_some_and(|last| memory.u8(text.start.wrapping_add(last)).is_some())
    };
    let class = names.class(memory, method).filter(|&class| class != 0);
    let texts = [
        class.and_then(|class| names.class_name(memory, class)),
        names.name(memory, method),
        names.signature(memory, method),
    ];
    texts.into_iter().all(|text| text.is_some_and(can_be_read))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::fields::toy::Toy;
    use std::collections::HashMap;

    const WORD_OF_ID: usize = 0x1000;
    const METHOD: usize = 0x2000;
    const PART: usize = 0x3000;
    const POOL: usize = 0x4000;
    const CLASS: usize = 0x5000;
    const SYMBOL: usize = 0x6000;

    struct Bytes(HashMap<usize, u8>);

    impl Memory for Bytes {
        fn u8(&self, address: usize) -> Option<u8> {
            self.0.get(&address).copied()
        }
    }

    impl Bytes {
        fn put(&mut self, address: usize, bytes: &[u8]) {
            self.0
                .extend((address..).zip(bytes).map(|(at, &byte)| (at, byte)));
        }

        fn put_word(&mut self, address: usize, word: usize) {
            self.put(address, &word.to_ne_bytes());
        }
    }

    /// A method with an id, whose names and descriptor are one text.
    fn vm() -> (Names, Bytes) {
        let fields = Toy::of(&[
            ("Method::_constMethod", 8),
            ("Method::_access_flags", 16),
            ("ConstMethod::_constants", 8),
            ("ConstMethod::_code_size", 16),
            ("ConstMethod::_name_index", 18),
            ("ConstMethod::_signature_index", 20),
            ("ConstMethod", 32),
            ("ConstantPool::_pool_holder", 8),
            ("ConstantPool", 16),
            ("Klass::_name", 8),
            ("Symbol::_length", 0),
            ("Symbol::_body", 2),
        ]);
        let mut memory = Bytes(HashMap::new());
        memory.put_word(WORD_OF_ID, METHOD);
        memory.put_word(METHOD + 8, PART);
        memory.put_word(PART + 8, POOL);
        memory.put(PART + 18, &[1, 0, 1, 0]);
        memory.put_word(POOL + 8, CLASS);
        memory.put_word(POOL + 16 + 8, SYMBOL);
        memory.put_word(CLASS + 8, SYMBOL);
        memory.put(SYMBOL, &[4, 0]);
        memory.put(SYMBOL + 2, b"name");
        (Names::find(&fields).expect("all fields"), memory)
    }

    #[test]
    fn an_id_leads_to_a_method_with_names() {
        let (names, memory) = vm();
        assert!(can_be_id(&names, &memory, WORD_OF_ID));
        // The method itself, null, what is in no word, and what cannot be read.
        for id in [METHOD, 0, WORD_OF_ID + 1, WORD_OF_ID + 8, usize::MAX - 7] {
            assert!(!can_be_id(&names, &memory, id), "{id:#x}");
        }
    }

    #[test]
    fn the_word_of_a_method_that_is_gone_is_an_id() {
        let (names, mut memory) = vm();
        for mark in [0, 55] {
            memory.put_word(WORD_OF_ID, mark);
            assert!(can_be_id(&names, &memory, WORD_OF_ID));
        }
        memory.put_word(WORD_OF_ID, 56);
        assert!(!can_be_id(&names, &memory, WORD_OF_ID));
    }

    #[test]
    fn a_method_whose_names_cannot_be_read_is_none() {
        for lost in [PART + 8, POOL + 8, CLASS + 8, SYMBOL, SYMBOL + 5] {
            let (names, mut memory) = vm();
            memory.0.remove(&lost);
            assert!(!can_be_id(&names, &memory, WORD_OF_ID), "{lost:#x}");
        }
    }
}
