//! The body of the fuzz target, on arbitrary bytes, on classes and on mutated classes.

#[path = "../fuzz/body.rs"]
mod body;
use classfile_testing::generate;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn arbitrary_bytes(data in proptest::collection::vec(any::<u8>(), 0..400)) {
        body::check(&data);
    }

    #[test]
    fn arbitrary_bytes_behind_a_class_header(data in proptest::collection::vec(any::<u8>(), 0..400), major in 44u8..70) {
        let mut file = vec![0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, major];
        file.extend(data);
        body::check(&file);
    }

    #[test]
    fn generated_classes(class in generate::class()) {
        body::check(&class.bytes());
    }

    #[test]
    fn mutated_classes(
        class in generate::class(),
        edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4u8), 1..6),
    ) {
        let mut file = class.bytes();
        for (at, byte, how) in edits {
            if file.is_empty() {
                break;
            }
            let i = at.index(file.len());
            match how {
                0 => file[i] = byte,
                1 => file[i] ^= 1 << (byte & 7),
                2 => file.insert(i, byte),
                _ => { file.remove(i); }
            }
        }
        body::check(&file);
    }

    #[test]
    fn cut_classes(class in generate::class(), at in any::<prop::sample::Index>()) {
        let file = class.bytes();
        let cut = &file[..at.index(file.len())];
        prop_assert!(classfile::identity(cut).is_err());
        body::check(cut);
    }
}
