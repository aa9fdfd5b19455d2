//! Finds the stubs that the newest frames of a thread's stack return to.

use super::seen::Seen;
use crate::jvm::Jvm;
use crate::jvm::jni::Env;
use crate::jvm::os::peek::peek_bytes;
use crate::sampling::stack_top::WORDS;

const WORD: usize = size_of::<usize>();

/// The VM's names for the stubs that the words of the stack point into, each name once, from the
/// newest Java frame on. A word may be left over from a frame that has ended.
pub fn on_stack(jvm: &Jvm, env: Env<'_>, seen: Seen<'_>) -> Vec<String> {
    match seen {
        Seen::Plainly => vec![],
        Seen::InHook => names(jvm, &own_words(jvm, env).unwrap_or_default()),
        Seen::InSignal(sample) => names(jvm, sample.stack_top.words()),
    }
}

/// The words of the calling thread's stack from its last Java frame on.
fn own_words(jvm: &Jvm, env: Env<'_>) -> Option<Vec<usize>> {
    let sp = jvm.java_threads.as_ref()?.last_java_sp(env.address())?;
    let bytes = peek_bytes(sp, WORDS * WORD);
    let (words, _) = bytes.as_chunks::<WORD>();
    Some(words.iter().copied().map(usize::from_ne_bytes).collect())
}

fn names(jvm: &Jvm, words: &[usize]) -> Vec<String> {
    let mut names = vec![];
    let Some(cache) = &jvm.code_cache else {
        return names;
    };
    for name in words.iter().filter_map(|&word| cache.stub(word)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}
