//! What HotSpot does by itself.
pub use oracle::edge::is_called_by_vm;
