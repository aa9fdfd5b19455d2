//! The methods of recordings, by number.

use oracle::edge::{MethodId, World};
use recordings::Method;
use std::collections::HashMap;

/// The bit of a number that stands for a method without a descriptor.
const LOOSE: u32 = 1 << 31;

/// A method as far as a file names it.
#[derive(Copy, Clone, Debug, Eq, PartialEq, Hash)]
pub enum Named {
    /// By class, name and descriptor.
    Known(MethodId),
    /// By class and name: the index among the methods without a descriptor.
    Loose(u32),
}

impl Named {
    /// The method for a number that [`Names::number`] returned.
    pub fn of(number: u32) -> Named {
        match number & LOOSE {
            0 => Named::Known(MethodId::from_index(number as usize)),
            _ => Named::Loose(number & !LOOSE),
        }
    }
}

/// Methods without descriptors.
#[derive(Debug, Default)]
pub struct Names {
    loose: Vec<(String, String)>,
    numbers: HashMap<(String, String), u32>,
}

impl Names {
    /// The number of a method. The world has the method afterwards.
    pub fn number(&mut self, world: &mut World, method: Method<'_>) -> u32 {
        if let Some(descriptor) = method.descriptor {
            let (class, name) = (method.class.as_bytes(), method.name.as_bytes());
            return world.method(class, name, descriptor.as_bytes()).index() as u32;
        }
        let key = (method.class.to_owned(), method.name.to_owned());
        let next = self.loose.len() as u32 | LOOSE;
        *self.numbers.entry(key).or_insert_with_key(|key| {
            self.loose.push(key.clone());
            next
        })
    }

    /// Class and name of a method without a descriptor.
    pub fn loose(&self, at: u32) -> (&str, &str) {
        let (class, name) = &self.loose[at as usize];
        (class, name)
    }

    /// The method, as people read it.
    pub fn show(&self, world: &World, method: Named) -> String {
        match method {
            Named::Known(id) => world.show(id),
            Named::Loose(at) => {
                let (class, name) = self.loose(at);
                if class.is_empty() {
                    return name.into();
                }
                format!("{}.{name}", class.replace('/', "."))
            }
        }
    }
}
