//! A function of the user's in place of a walker: `stackwitness run --walker`.

use super::walker::Walker;
use super::{asgct, asgst};
use crate::jvm::Jvm;
use oracle::record::{Signature, WalkerFunction};
use vm::library::Library;

/// The walker that asks `function`.
pub fn find(jvm: &'static Jvm, function: &WalkerFunction) -> Result<Box<dyn Walker>, String> {
    let library = match &function.library {
        Some(file) => Library::load(file)?,
        None => Library::find().ok_or("the JVM's own library cannot be found")?,
    };
    let missing = || format!("there is no {function}: is the symbol exported?");
    let symbol = library.symbol(&function.symbol).ok_or_else(missing)?;
    match function.signature {
        // SAFETY: the user says that the function has this signature.
        Signature::Asgct => Ok(unsafe { asgct::at(jvm, symbol) }),
        Signature::Asgst => {
            let initialize = library.symbol("ASGST_Initialize");
            // SAFETY: as above; the other function is part of the same interface (`profile2.h`).
            Ok(unsafe { asgst::at(symbol, initialize) })
        }
    }
}
