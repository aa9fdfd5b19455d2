//! Frames in formats without descriptors or bytecode indices.

use super::class::Class;
use super::names::MethodId;
use super::world::World;
use crate::trace::Location;

impl World {
    /// The methods of this name that the known classes of this name declare. `class` is an internal
    /// name.
    pub fn declared(&mut self, class: &[u8], name: &[u8]) -> Vec<MethodId> {
        let Some(known) = self.find_class(class) else {
            return vec![];
        };
        let methods = self.classes(known).iter().flat_map(Class::methods);
        let names = methods.map(|method| self.name_and_descriptor(method.signature));
        let named = names.filter(|(own, _)| *own == name);
        let descriptors: Vec<Vec<u8>> = named.map(|(_, descriptor)| descriptor.into()).collect();
        let ids = descriptors.iter();
        ids.map(|descriptor| self.method(class, name, descriptor))
            .collect()
    }

    /// Locations of the method that represent all its locations: if the method, or the VM on its
    /// behalf, calls a method, it can do so at one of these locations. Empty if no class file has
    /// the method.
    pub fn locations(&self, method: MethodId) -> Vec<Location> {
        let mut locations = vec![];
        for declared in self.declarations(self.of(method)) {
            match &declared.code {
                Some(code) => locations.extend(code.calling().map(|bci| Location(bci as i32))),
                None => locations.push(Location::NATIVE),
            }
        }
        locations
    }
}
