//! Verification types (JVMS 4.7.4).

/// Tags of verification types.
pub(crate) mod vtag {
    pub(crate) const TOP: u8 = 0;
    pub(crate) const INTEGER: u8 = 1;
    pub(crate) const FLOAT: u8 = 2;
    pub(crate) const DOUBLE: u8 = 3;
    pub(crate) const LONG: u8 = 4;
    pub(crate) const NULL: u8 = 5;
    pub(crate) const UNINITIALIZED_THIS: u8 = 6;
    pub(crate) const OBJECT: u8 = 7;
    pub(crate) const UNINITIALIZED: u8 = 8;
    /// Not in any file: a parameter's class, `data` counts the parameters, whose constant is only
    /// looked up when a frame must name it.
    pub(crate) const PARAMETER: u8 = 0xF0;
}

/// One verification type: a `verification_type_info`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct VType {
    pub(crate) tag: u8,
    /// Class constant of an object, BCI of the `new` of an uninitialized object, else 0.
    pub(crate) data: u16,
}

impl VType {
    pub(crate) const TOP: VType = VType::simple(vtag::TOP);
    pub(crate) const INTEGER: VType = VType::simple(vtag::INTEGER);
    pub(crate) const FLOAT: VType = VType::simple(vtag::FLOAT);
    pub(crate) const LONG: VType = VType::simple(vtag::LONG);
    pub(crate) const DOUBLE: VType = VType::simple(vtag::DOUBLE);
    pub(crate) const NULL: VType = VType::simple(vtag::NULL);
    pub(crate) const UNINITIALIZED_THIS: VType = VType::simple(vtag::UNINITIALIZED_THIS);

    pub(crate) const fn simple(tag: u8) -> VType {
        VType { tag, data: 0 }
    }

    pub(crate) const fn object(class: u16) -> VType {
        VType {
            tag: vtag::OBJECT,
            data: class,
        }
    }

    /// Takes two slots.
    #[inline]
    pub(crate) fn wide(self) -> bool {
        self.tag == vtag::LONG || self.tag == vtag::DOUBLE
    }

    #[inline]
    pub(crate) fn slots(self) -> u32 {
        if self.wide() { 2 } else { 1 }
    }

    /// Has `data` in the file.
    #[inline]
    pub(crate) fn has_data(tag: u8) -> bool {
        tag == vtag::OBJECT || tag == vtag::UNINITIALIZED
    }
}
