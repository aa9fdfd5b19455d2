//! The fields of Java's own classes that hold stack traces. They are read without running Java code.

use crate::jvm::calls::{IntField, ObjectField};
use crate::jvm::jni::{Env, Ref};
use crate::walkers::element::{StackElement, line};

/// The fields of `java.lang.StackTraceElement`.
pub struct ElementFields {
    class: ObjectField,
    method: ObjectField,
    line: IntField,
}

impl ElementFields {
    /// Looks for the fields.
    pub fn find(env: Env<'_>) -> Option<ElementFields> {
        let class = env.find_class(c"java/lang/StackTraceElement")?;
        let string = |name| env.object_field(class.get(), name, c"Ljava/lang/String;");
        Some(ElementFields {
            class: string(c"declaringClass")?,
            method: string(c"methodName")?,
            line: env.int_field(class.get(), c"lineNumber")?,
        })
    }

    /// Reads an array of elements; `None` if one of them has no name.
    pub fn read(&self, env: Env<'_>, array: Ref<'_>) -> Option<Vec<StackElement>> {
        let text = |element: Ref<'_>, field| env.text(env.object(element, field)?.get());
        let read = |element: Ref<'_>| {
            Some(StackElement {
                class: text(element, self.class)?,
                method: text(element, self.method)?,
                line: line(env.int(element, self.line)),
            })
        };
        env.elements(array)
            .map(|element| read(element.get()))
            .collect()
    }
}
