//! The VM's own description of its structures, which it exports for the Serviceability Agent. The
//! reader of the tables implements the trait.

/// Fields, types and constants of a VM by name.
pub trait Fields {
    /// The offset of an instance field or the address of a static field, in the first of `types`
    /// that has the field: fields move between related types from version to version.
    fn field(&self, types: &[&str], field: &str) -> Option<usize>;

    /// The type of a field in C++, as the VM spells it, in the first of `types` that has the field.
    fn type_of(&self, types: &[&str], field: &str) -> Option<&str>;

    /// Size of a type in bytes.
    fn size(&self, name: &str) -> Option<usize>;

    /// A constant of type `int`.
    fn constant(&self, name: &str) -> Option<i32>;

    /// A constant of type `long`.
    fn long_constant(&self, name: &str) -> Option<u64>;
}
