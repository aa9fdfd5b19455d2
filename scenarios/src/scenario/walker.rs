//! The function that a run asks in place of a walker.

use super::Scenario;
use crate::Error;
use oracle::Layer;
use oracle::record::{Signature, WalkerFunction};
use std::path::Path;

/// In the place of a library: the JVM's own.
const JVM: &str = "jvm";

/// The function of `[SIGNATURE=]PATH:SYMBOL`. Without a signature it is told by the symbol's name.
pub fn find(given: &str) -> Result<WalkerFunction, Error> {
    let error = |why: String| {
        let signatures = Signature::ALL.map(Signature::walker).join(" or ");
        Error::Scenario(format!(
            "--walker {given}: {why}; say PATH:SYMBOL, as in libmine.so:walk, or {JVM}:SYMBOL for a function of the JVM, \
             with {signatures} and = before it for the signature"
        ))
    };
    let signature = |name: &str| Signature::ALL.into_iter().find(|it| it.walker() == name);
    let prefix = given
        .split_once('=')
        .and_then(|(name, rest)| Some((signature(name)?, rest)));
    let (signature, place) = match prefix {
        Some((signature, place)) => (Some(signature), place),
        None => (None, given),
    };
    let (path, symbol) = place
        .rsplit_once(':')
        .filter(|(path, symbol)| !path.is_empty() && !symbol.is_empty())
        .ok_or_else(|| error("there is no symbol".into()))?;
    let library = if path == JVM {
        None
    } else {
        let file = Path::new(path).canonicalize();
        Some(file.map_err(|e| error(format!("no library at {path}: {e}")))?)
    };
    let by_name = if symbol.contains("AsyncGetStackTrace") {
        Signature::Asgst
    } else {
        Signature::Asgct
    };
    Ok(WalkerFunction {
        signature: signature.unwrap_or(by_name),
        library,
        symbol: symbol.into(),
    })
}

impl Scenario {
    /// Asks `function` in place of the walker of its signature.
    pub fn ask(&mut self, function: &WalkerFunction) -> Result<(), Error> {
        let walker = function.signature.walker();
        if self
            .measured()
            .iter()
            .all(|layer| layer.row().walker != Some(walker))
        {
            return Err(Error::Scenario(format!(
                "no layer of scenario `{}` asks the walker {walker}, for which --walker gives {function}: leave out \
                 --scenario, or name one with such layers (README lists the layers)",
                self.name
            )));
        }
        for program in &mut self.programs {
            program.walker = Some(function.clone());
        }
        Ok(())
    }

    /// As [`Scenario::ask`], in all layers of this walker, and in those that show whether the run can be believed.
    pub fn ask_everywhere(&mut self, function: &WalkerFunction) -> Result<(), Error> {
        for program in &mut self.programs {
            program.layers = layers(function);
        }
        self.required = self.measured();
        self.ask(function)
    }
}

/// All layers that ask the walker of `function`, and the usual ones that ask no other function.
fn layers(function: &WalkerFunction) -> Vec<Layer> {
    let walker = function.signature.walker();
    let is_of_function = |name: &str| Signature::ALL.iter().any(|it| it.walker() == name);
    let belongs = |layer: &Layer| match layer.row().walker {
        Some(name) if name == walker => true,
        Some(name) if is_of_function(name) => false,
        _ => layer.row().usual,
    };
    Layer::ALL.into_iter().filter(belongs).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_a_library_and_a_symbol() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().canonicalize().unwrap().join("lib=odd:name.so");
        std::fs::write(&file, "").unwrap();
        let given = format!("{}:walk", file.display());
        let function = |signature, library: Option<&Path>, symbol: &str| WalkerFunction {
            signature,
            library: library.map(Into::into),
            symbol: symbol.into(),
        };
        let found = |given: &str| find(given).unwrap();
        assert_eq!(
            found(&given),
            function(Signature::Asgct, Some(&file), "walk")
        );
        let named = format!("asgst={given}");
        assert_eq!(
            found(&named),
            function(Signature::Asgst, Some(&file), "walk")
        );
        let own = function(Signature::Asgst, None, "AsyncGetStackTrace");
        assert_eq!(found("jvm:AsyncGetStackTrace"), own);
        let absent = dir.path().join("absent.so:walk");
        for wrong in ["", "walk", ":walk", "jvm:", absent.to_str().unwrap()] {
            let message = find(wrong).unwrap_err().to_string();
            assert!(message.contains("PATH:SYMBOL"), "{message}");
        }
    }

    #[test]
    fn all_its_layers_judge_it_and_no_other_walker_of_its_kind_is_asked() {
        for signature in Signature::ALL {
            let function = WalkerFunction {
                signature,
                library: None,
                symbol: "walk".into(),
            };
            let layers = layers(&function);
            let own = layers
                .iter()
                .filter(|it| it.row().walker == Some(signature.walker()));
            assert!(own.count() > 3, "{layers:?}");
            let other = Signature::ALL
                .into_iter()
                .find(|&it| it != signature)
                .unwrap();
            assert!(
                layers
                    .iter()
                    .all(|it| it.row().walker != Some(other.walker()))
            );
            assert!(layers.contains(&Layer::Ground) && layers.contains(&Layer::Gst));
        }
    }
}
