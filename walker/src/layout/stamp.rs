//! Stamps, which tell methods and classes that had the same address from each other.

use hotspot::layout::method::Method;

/// User space ends here on x86-64: a process has larger addresses only where it asks for them.
const ADDRESS_BITS: u32 = 47;

/// Methods and classes are at multiples of 8.
const LOW_BITS: u32 = 3;

/// Which class this is, by its [trace id](hotspot::layout::trace_ids), and which method of the class, by its number: modulo the
/// number of stamps.
///
/// A VM that has loaded 1,048,575 other classes since gives a class the stamp of an older one. Methods with different numbers,
/// below 1,024, have different stamps unless more than 400 classes were loaded in between, and then one in a million has the same.
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq)]
pub struct Stamp(u32);

/// An address of the VM's and a stamp in one word: what the users of the library get, and what is kept of methods. The
/// address alone has no stamp.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Stamped(pub usize);

impl Stamp {
    /// Of what is not known.
    pub const NONE: Stamp = Stamp(0);

    const BITS: u32 = usize::BITS - ADDRESS_BITS + LOW_BITS;

    const COUNT: usize = (1 << Stamp::BITS) - 1;

    /// The stamp of the class with this trace id.
    pub fn of_class(trace_id: usize) -> Stamp {
        Stamp((trace_id % Stamp::COUNT + 1) as u32)
    }

    /// The stamp of the method with this number in the class with this trace id.
    #[inline]
    pub fn of_method(trace_id: usize, number: u16) -> Stamp {
        /// The number of stamps, divided by the golden ratio: numbers that are near each other are far apart.
        const APART: usize = 648_055;
        Stamp::of_class(trace_id.wrapping_add((usize::from(number) + 1) * APART))
    }

    /// The stamp that has this number.
    #[inline]
    pub fn of_number(number: u32) -> Stamp {
        Stamp(number & ((1 << Stamp::BITS) - 1))
    }

    /// Its number, in 20 bits.
    #[inline]
    pub fn number(self) -> u32 {
        self.0
    }
}

impl Stamped {
    /// What is at `address`, with this stamp; `None` if nothing of the VM can be there.
    #[inline]
    pub fn new(address: usize, stamp: Stamp) -> Option<Stamped> {
        let (high, low) = (stamp.0 as usize >> LOW_BITS, stamp.0 as usize & LOW);
        let is_possible = address >> ADDRESS_BITS == 0 && address & LOW == 0;
        is_possible.then_some(Stamped(high << ADDRESS_BITS | address | low))
    }

    /// The method at an address, with this stamp. No method is at 0, where nothing of the VM can be there.
    #[inline]
    pub fn of_method(Method(address): Method, stamp: Stamp) -> Stamped {
        Stamped::new(address, stamp).unwrap_or(Stamped(0))
    }

    /// A method of which nobody has read the stamp yet.
    #[inline]
    pub fn unstamped(method: Method) -> Stamped {
        Stamped::of_method(method, Stamp::NONE)
    }

    /// The address.
    #[inline]
    pub fn address(self) -> usize {
        self.0 & ((1 << ADDRESS_BITS) - 1) & !LOW
    }

    /// The address of the method.
    #[inline]
    pub fn method(self) -> Method {
        Method(self.address())
    }

    /// The stamp.
    #[inline]
    pub fn stamp(self) -> Stamp {
        let high = self.0 >> ADDRESS_BITS;
        Stamp((high << LOW_BITS | self.0 & LOW) as u32)
    }
}

const LOW: usize = (1 << LOW_BITS) - 1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_has_the_address_and_the_stamp() {
        let ids = [0, 1, 7, 8, 1_048_574, 1_048_575, 5_000_000_000];
        for address in [0, 8, 0x7f12_3456_7890, (1 << ADDRESS_BITS) - 8] {
            for stamp in ids.map(Stamp::of_class).into_iter().chain([Stamp::NONE]) {
                let word = Stamped::new(address, stamp).expect("a word");
                assert_eq!((word.address(), word.stamp()), (address, stamp));
                assert_eq!(Stamp::of_number(stamp.number()), stamp);
            }
            assert_eq!(Stamped::new(address, Stamp::NONE), Some(Stamped(address)));
        }
        assert_eq!(Stamped::new(1 << ADDRESS_BITS, Stamp::NONE), None);
        assert_eq!(Stamped::new(12, Stamp::NONE), None);
    }

    #[test]
    fn a_million_classes_have_different_stamps_and_none_is_that_of_no_class() {
        let mut all: Vec<u32> = (77..77 + 1_048_575)
            .map(|id| Stamp::of_class(id).0)
            .collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!((all.len(), all[0]), (1_048_575, 1));
    }

    #[test]
    fn methods_of_classes_that_were_loaded_one_after_the_other_have_different_stamps() {
        let methods = (0..1_024).map(|number| Stamp::of_method(77, number).0);
        let mut all: Vec<u32> = methods.chain([Stamp::of_class(77).0]).collect();
        all.sort_unstable();
        all.push(all[0] + Stamp::COUNT as u32);
        let apart = all.windows(2).map(|pair| pair[1] - pair[0]).min();
        assert!(apart > Some(400), "{apart:?}");
    }
}
