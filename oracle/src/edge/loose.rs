//! Frames in formats without descriptors or bytecode indices.

use super::class::{Class, Refer};
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

    /// Methods that stand for a method of a class without a class file: one for each descriptor that an
    /// instruction of the callers gives to this name, and one without a descriptor.
    pub fn stand_ins(&mut self, callers: &[MethodId], class: &[u8], name: &[u8]) -> Vec<MethodId> {
        let mut descriptors: Vec<Vec<u8>> = vec![vec![]];
        let declared = callers
            .iter()
            .flat_map(|&caller| self.declarations(self.of(caller)));
        let codes = declared.filter_map(|declared| declared.code.as_deref());
        for (_, site) in codes.flat_map(|code| &code.sites) {
            if let Refer::Virtual(m) | Refer::Special(m) | Refer::Static(m) | Refer::Interface(m) =
                *site
            {
                let (own, descriptor) = self.name_and_descriptor(self.of(m).signature);
                if own == name {
                    descriptors.push(descriptor.into());
                }
            }
        }
        descriptors.sort_unstable();
        descriptors.dedup();
        let ids = descriptors.iter();
        ids.map(|descriptor| self.method(class, name, descriptor))
            .collect()
    }

    /// Locations of the method that represent all its locations: if the method, or the VM on its
    /// behalf, calls a method, it can do so at one of these locations. If no class file has the
    /// method, any location.
    pub fn locations(&self, method: MethodId) -> Vec<Location> {
        let mut locations = vec![];
        for declared in self.declarations(self.of(method)) {
            match &declared.code {
                Some(code) => locations.extend(code.calling().map(|bci| Location(bci as i32))),
                None => locations.push(Location::NATIVE),
            }
        }
        if locations.is_empty() && self.declarations(self.of(method)).next().is_none() {
            locations.push(Location(0));
        }
        locations
    }
}
