//! The choice of methods by include and exclude patterns, and by chance.

use super::plan::MethodInfo;

/// A pattern that names methods.
///
/// It is written `CLASS`, `CLASS.METHOD` or `CLASS.METHOD(DESCRIPTOR)`, with the class as internal
/// name (`java/util/List`). `*` stands for any number of any characters, slashes included:
///
/// | pattern | names |
/// |---|---|
/// | `*` | every method |
/// | `java/util/*` | every method of the classes of `java.util` and the packages below |
/// | `*/ArrayList.add*` | the methods of every `ArrayList` whose names start with `add` |
/// | `java/lang/Object.<init>` | one constructor, whatever its descriptor |
/// | `A.f(I*` | the methods `f` of `A` whose first parameter is an `int` |
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pattern {
    class: String,
    /// A pattern for the name, or for name and descriptor.
    method: Option<String>,
    with_descriptor: bool,
}

impl Pattern {
    /// Reads a pattern. Every text is a pattern.
    pub fn new(text: &str) -> Self {
        let descriptor = text.find('(').unwrap_or(text.len());
        match text[..descriptor].rfind('.') {
            None => Self {
                class: text.to_owned(),
                method: None,
                with_descriptor: false,
            },
            Some(dot) => Self {
                class: text[..dot].to_owned(),
                method: Some(text[dot + 1..].to_owned()),
                with_descriptor: descriptor < text.len(),
            },
        }
    }

    /// Whether the pattern names this method.
    pub fn matches(&self, class: &str, name: &str, descriptor: &str) -> bool {
        if !glob(self.class.as_bytes(), [class.as_bytes(), b""]) {
            return false;
        }
        match &self.method {
            None => true,
            Some(m) if self.with_descriptor => {
                glob(m.as_bytes(), [name.as_bytes(), descriptor.as_bytes()])
            }
            Some(m) => glob(m.as_bytes(), [name.as_bytes(), b""]),
        }
    }
}

/// Whether the pattern matches the two texts, one after the other.
fn glob(pattern: &[u8], text: [&[u8]; 2]) -> bool {
    let length = text[0].len() + text[1].len();
    let at = |i: usize| {
        text[0]
            .get(i)
            .or_else(|| text[1].get(i - text[0].len()))
            .copied()
    };
    let (mut p, mut t) = (0, 0);
    // Where to continue if the text behind the last `*` does not match.
    let mut retry = None;
    while t < length {
        if pattern.get(p) == Some(&b'*') {
            p += 1;
            retry = Some((p, t));
        } else if p < pattern.len() && at(t) == Some(pattern[p]) {
            p += 1;
            t += 1;
        } else if let Some((star, from)) = retry {
            (p, t) = (star, from + 1);
            retry = Some((star, from + 1));
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|&b| b == b'*')
}

/// A choice of methods: those that an include pattern names (all methods, if there is no include
/// pattern) and no exclude pattern names, each with a probability.
///
/// Chance is decided by a hash of seed, class, name and descriptor: the same seed always chooses
/// the same methods, in whatever order they come.
#[derive(Clone, PartialEq, Debug)]
pub struct Patterns {
    include: Vec<Pattern>,
    exclude: Vec<Pattern>,
    probability: f64,
    seed: u64,
}

impl Default for Patterns {
    fn default() -> Self {
        Self {
            include: Vec::new(),
            exclude: Vec::new(),
            probability: 1.0,
            seed: 0,
        }
    }
}

impl Patterns {
    /// Every method.
    pub fn all() -> Self {
        Self::default()
    }

    /// Adds an include pattern.
    #[must_use]
    pub fn include(mut self, pattern: &str) -> Self {
        self.include.push(Pattern::new(pattern));
        self
    }

    /// Adds an exclude pattern.
    #[must_use]
    pub fn exclude(mut self, pattern: &str) -> Self {
        self.exclude.push(Pattern::new(pattern));
        self
    }

    /// Chooses each method that the patterns name with this probability.
    #[must_use]
    pub fn probability(mut self, probability: f64, seed: u64) -> Self {
        self.probability = probability;
        self.seed = seed;
        self
    }

    /// Whether the method is chosen.
    pub fn wants(&self, class: &str, name: &str, descriptor: &str) -> bool {
        let named =
            |patterns: &[Pattern]| patterns.iter().any(|p| p.matches(class, name, descriptor));
        (self.include.is_empty() || named(&self.include))
            && !named(&self.exclude)
            && (self.probability >= 1.0
                || chance(self.seed, [class, name, descriptor]) < self.probability)
    }

    /// Whether the method is chosen.
    pub fn wants_method(&self, method: &MethodInfo<'_>) -> bool {
        self.wants(method.class, method.name, method.descriptor)
    }
}

/// A number in `0..1` that depends on the arguments alone.
fn chance(seed: u64, parts: [&str; 3]) -> f64 {
    // FNV-1a, then the finish of SplitMix64 to spread it over all bits.
    let mut h = 0xCBF2_9CE4_8422_2325 ^ seed;
    for part in parts {
        for b in part.bytes().chain([0]) {
            h = (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01B3);
        }
    }
    h = (h ^ (h >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    h = (h ^ (h >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    h ^= h >> 31;
    (h >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_name_methods() {
        let p = |pattern: &str, class, name, descriptor| {
            Pattern::new(pattern).matches(class, name, descriptor)
        };
        assert!(p("*", "a/B", "m", "()V"));
        assert!(p("a/*", "a/b/C", "m", "()V"));
        assert!(!p("a/*", "b/a/C", "m", "()V"));
        assert!(p("*/C", "a/b/C", "m", "()V"));
        assert!(!p("*/C", "a/b/CD", "m", "()V"));
        assert!(p("*C*.add*", "a/b/CD", "addAll", "()V"));
        assert!(!p("a/B.m", "a/B", "mm", "()V"));
        assert!(p("a/B.<init>", "a/B", "<init>", "(I)V"));
        assert!(p("a/B.m(I*", "a/B", "m", "(IJ)V"));
        assert!(!p("a/B.m(I*", "a/B", "m", "(JI)V"));
        assert!(p(
            "a/B.m(Ljava/lang/String;)V",
            "a/B",
            "m",
            "(Ljava/lang/String;)V"
        ));
        assert!(!p("a/B.", "a/B", "m", "()V"));
        assert!(p("*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaab", "m", "()V"));
    }

    #[test]
    fn exclude_wins_over_include() {
        let p = Patterns::all()
            .include("a/*")
            .include("b/*")
            .exclude("a/X.*");
        assert!(p.wants("a/B", "m", "()V"));
        assert!(p.wants("b/B", "m", "()V"));
        assert!(!p.wants("c/B", "m", "()V"));
        assert!(!p.wants("a/X", "m", "()V"));
    }

    #[test]
    fn chance_keeps_to_probability_and_seed() {
        let count = |p: &Patterns| {
            (0..10_000)
                .filter(|i| p.wants("a/B", &format!("m{i}"), "()V"))
                .count()
        };
        let p = Patterns::all().probability(0.25, 7);
        assert!((2_300..2_700).contains(&count(&p)), "{}", count(&p));
        assert_eq!(count(&p), count(&p.clone()));
        assert_eq!(count(&Patterns::all().probability(0.0, 7)), 0);
        assert_eq!(count(&Patterns::all().probability(1.0, 7)), 10_000);
        let q = Patterns::all().probability(0.25, 8);
        assert!(
            (0..10_000)
                .any(|i| p.wants("a/B", &format!("m{i}"), "")
                    != q.wants("a/B", &format!("m{i}"), ""))
        );
    }
}
