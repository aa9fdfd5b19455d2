//! Verification types (JVMS 4.7.4).

/// One verification type: a `verification_type_info`, or [`VType::Parameter`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VType {
    /// A value that cannot be used.
    Top,
    /// `int`.
    Integer,
    /// `float`.
    Float,
    /// `double`, in two slots.
    Double,
    /// `long`, in two slots.
    Long,
    /// The null reference.
    Null,
    /// `this` of a constructor before it calls another.
    UninitializedThis,
    /// An object or array; the index of its class constant.
    Object(u16),
    /// An object that is not initialised; the BCI of its `new`.
    Uninitialized(u16),
    /// An object or array that came as a parameter; the parameter's number, from 0. No file has
    /// this type: descriptors name classes by text, and a class constant is looked up only when a
    /// frame needs the constant.
    Parameter(u16),
}

/// The tag of [`VType::Object`] in a file.
pub(super) const OBJECT: u8 = 7;
const UNINITIALIZED: u8 = 8;

impl VType {
    /// Whether a value of this type takes two slots.
    #[inline]
    pub fn wide(self) -> bool {
        matches!(self, VType::Long | VType::Double)
    }

    /// How many local variables, or slots of the operand stack, a value of this type takes.
    #[inline]
    pub fn slots(self) -> u32 {
        if self.wide() { 2 } else { 1 }
    }

    /// Whether a type with this tag has two more bytes in a file; `None` if no type has this tag.
    #[inline]
    pub(super) fn has_data(tag: u8) -> Option<bool> {
        match tag {
            0..OBJECT => Some(false),
            OBJECT | UNINITIALIZED => Some(true),
            _ => None,
        }
    }

    /// The type with this tag, and with these two bytes if the type has any.
    #[inline]
    pub(super) fn of(tag: u8, data: u16) -> Option<VType> {
        Some(match tag {
            0 => VType::Top,
            1 => VType::Integer,
            2 => VType::Float,
            3 => VType::Double,
            4 => VType::Long,
            5 => VType::Null,
            6 => VType::UninitializedThis,
            OBJECT => VType::Object(data),
            UNINITIALIZED => VType::Uninitialized(data),
            _ => return None,
        })
    }

    /// Its tag in a file, and its two bytes if it has any.
    #[inline]
    pub(super) fn parts(self) -> (u8, Option<u16>) {
        match self {
            VType::Top => (0, None),
            VType::Integer => (1, None),
            VType::Float => (2, None),
            VType::Double => (3, None),
            VType::Long => (4, None),
            VType::Null => (5, None),
            VType::UninitializedThis => (6, None),
            VType::Object(class) | VType::Parameter(class) => (OBJECT, Some(class)),
            VType::Uninitialized(new) => (UNINITIALIZED, Some(new)),
        }
    }
}
