//! What the VM exports about its structures, for the Serviceability Agent: whoever has read the tables
//! implements this.

/// Fields, types and constants of a VM by name.
pub trait Fields {
    /// Offset of an instance field, address of a static one, in the first of `types` that has it:
    /// fields move between related types from one version to the next.
    fn field(&self, types: &[&str], field: &str) -> Option<usize>;

    /// Size of a type in bytes.
    fn size(&self, name: &str) -> Option<usize>;

    /// A constant of type `int`.
    fn constant(&self, name: &str) -> Option<i32>;
}
