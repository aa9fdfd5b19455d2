//! Properties that hold for every generated class, and for arbitrary bytes.

use classfile::instruction::{decode, measure};
use classfile::{Opcode, Outline, identity};
use classfile_testing::generate;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn generated_classes_are_written_back(class in generate::class()) {
        let file = class.bytes();
        prop_assert_eq!(identity(&file), Ok(file.clone()));
        prop_assert!(Outline::read(&file).is_ok());
    }

    #[test]
    fn whatever_can_be_read_is_written_back(
        class in generate::class(),
        edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut file = class.bytes();
        for (at, byte) in edits {
            let i = at.index(file.len());
            file[i] = byte;
        }
        let _ = Outline::read(&file);
        if let Ok(same) = identity(&file) {
            prop_assert_eq!(same, file);
        }
    }

    #[test]
    fn instructions_are_as_long_as_their_bytes(
        code in proptest::collection::vec(any::<u8>(), 1..40),
        bci in any::<prop::sample::Index>(),
    ) {
        let bci = bci.index(code.len());
        match measure(&code, bci, 0) {
            Ok((opcode, length)) => {
                prop_assert_eq!(Opcode::of(code[bci]), Some(opcode));
                let instruction = decode(&code, bci, 0).expect("it was measured");
                prop_assert_eq!(instruction.length as usize, length);
                let mut written = vec![];
                instruction.write(&mut written);
                prop_assert_eq!(&written[..], &code[bci..bci + length]);
            }
            Err(error) => prop_assert_eq!(Err(error), decode(&code, bci, 0)),
        }
    }
}
