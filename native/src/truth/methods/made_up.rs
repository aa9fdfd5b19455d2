//! Keys that no method has: the walker made them up.

use super::hooked::Known;
use super::registry::Registry;
use crate::jvm::jvmti::JMethodId;
use hotspot::layout::method_ids::can_be_id;
use oracle::trace::MethodKey;
use vm::memory::kernel::OwnMemory;

/// `JVMTI_ERROR_INVALID_METHODID`.
const INVALID_METHOD_ID: i32 = 23;

impl Registry {
    /// Whether the key cannot be that of a method.
    ///
    /// Other keys without a class are those that the VM makes for its own methods (overpass methods, method handle intrinsics),
    /// and those of classes that nobody reported.
    pub fn is_made_up(&self, key: MethodKey) -> bool {
        if !self.with_known(key, |known| matches!(known, Known::Stranger)) {
            return false;
        }
        if self.kept_ids.are_numbers() {
            // The VM looks numbers up and follows none (`JmethodIDTable::resolve_jmethod_id`), so it can be asked. It counts on
            // (`make_jmethod_id`): a lower number may be that of a class that is gone and that nobody reported.
            let is_new = self
                .origins
                .highest()
                .is_some_and(|highest| key.0 > highest);
            let answer = || self.jvmti.method_name(JMethodId(key.0)).map(drop);
            return is_new && answer() == Err(INVALID_METHOD_ID);
        }
        // Here the VM follows any pointer, so it is not asked.
        let names = self.jvm.code_cache().and_then(|cache| cache.names());
        names.is_ok_and(|names| !can_be_id(names, &OwnMemory, key.0))
    }
}
