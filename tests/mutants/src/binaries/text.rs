//! The wrappers as C++.

use super::entry::{ENOUGH, Entry};
use super::symbols::Symbols;
use super::table::{Function, Mistake, Table, Wrap};
use crate::error::Error;
use crate::mutant::identifier;
use std::fmt::Write;

/// All wrappers, and the table of them that `install.cpp` reads.
pub fn wrappers(table: &Table, symbols: &Symbols) -> Result<String, Error> {
    let mut out = String::from(
        "#include \"wrappers.hpp\"\n#include \"structures.hpp\"\n\n\
         // A signal handler reads these: no lazy allocation.\n\
         #define HANDLER_SAFE __attribute__((tls_model(\"initial-exec\")))\n\n\
         namespace stackwitness {\n\n",
    );
    let mut rows = String::new();
    for mistake in &table.mistakes {
        let space = identifier(&mistake.name);
        let _ = writeln!(out, "namespace {space} {{\n{}", mistake.state);
        for wrap in &mistake.wraps {
            let function = &table.functions[&wrap.function];
            out += &wrapper(wrap, function);
            rows += &row(mistake, &space, wrap, function, symbols)?;
        }
        out += "}\n\n";
    }
    let end = "{Mistake::honest, NULL, 0, NULL, 0, 0, NULL, NULL}";
    let _ = writeln!(
        out,
        "const Wrapper wrappers[] = {{\n{rows}  {end},\n}};\n\n}}  // namespace stackwitness"
    );
    Ok(out)
}

/// A function that calls the original, and does the mistake before or after. `$ON` asks whether the mistake strikes now,
/// which counts as a strike.
fn wrapper(wrap: &Wrap, function: &Function) -> String {
    const ON: &str = "counted(is_walk_struck())";
    let (name, returns) = (&wrap.function, &function.returns);
    let parameters = function.parameters.join(", ");
    let call = format!("{name}_original({})", function.arguments().join(", "));
    let (call, end) = if function.has_result() {
        (format!("{returns} result = {call};"), "return result;\n")
    } else {
        (format!("{call};"), "")
    };
    let before = wrap.before.replace("$ON", ON);
    let after = wrap.after.replace("$ON", ON);
    format!(
        "static {returns} (*{name}_original)({parameters});\n\
         static {returns} {name}_wrapper({parameters}) {{\n{before}\n{call}\n{after}\n{end}}}\n"
    )
}

fn row(
    mistake: &Mistake,
    space: &str,
    wrap: &Wrap,
    function: &Function,
    symbols: &Symbols,
) -> Result<String, Error> {
    let (offset, code) = symbols.code(&function.symbol, ENOUGH)?;
    let entry = Entry::of(code).map_err(|why| {
        Error::Missing(format!(
            "{} begins with {why}: no jump fits there",
            function.symbol
        ))
    })?;
    let mut bytes = String::new();
    for byte in &code[..entry.length] {
        let _ = write!(bytes, "\\x{byte:02x}");
    }
    let name = &wrap.function;
    Ok(format!(
        "  {{Mistake::{}, \"{name}\", {offset:#x}, (const unsigned char*)\"{bytes}\", {}, {}, (void*){space}::{name}_wrapper, \
         (void**)&{space}::{name}_original}},\n",
        identifier(&mistake.name),
        entry.length,
        entry.displacement.unwrap_or(0),
    ))
}
