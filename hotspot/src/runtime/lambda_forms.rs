//! The classes of compiled lambda forms, of which method handles are made.

/// Whether the class with this internal name has lambda forms (`@LambdaForm.Compiled`): those that the JDK was built with, and
/// those that are spun at run time. C2 inlines a lambda form again where it has another receiver, whatever
/// `MaxRecursiveInlineLevel` says, and C1 inlines what must be inlined (`opto/bytecodeInfo.cpp`,
/// `InlineTree::try_to_inline`; `c1/c1_GraphBuilder.cpp`, `try_inline_full`).
pub fn is_lambda_form(class: &str) -> bool {
    const SPUN: &str = "LambdaForm$";
    let own = class.strip_prefix("java/lang/invoke/");
    own.is_some_and(|own| {
        own.ends_with("$Holder") || own.starts_with(SPUN) || own == "VarHandleGuards"
    })
}

#[cfg(test)]
mod tests {
    use super::is_lambda_form;

    #[test]
    fn classes_of_lambda_forms_have_their_names() {
        for class in [
            "java/lang/invoke/DelegatingMethodHandle$Holder",
            "java/lang/invoke/LambdaForm$MH+0x00007f12",
            "java/lang/invoke/LambdaForm$Holder",
            "java/lang/invoke/VarHandleGuards",
        ] {
            assert!(is_lambda_form(class), "{class}");
        }
        for class in [
            "p/A$Holder",
            "java/lang/invoke/MethodHandle",
            "java/util/HashMap",
        ] {
            assert!(!is_lambda_form(class), "{class}");
        }
    }
}
