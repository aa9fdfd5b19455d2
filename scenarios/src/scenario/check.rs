//! The values that a scenario file may have. Any other value is refused, with its place.

use std::collections::BTreeSet;
use std::ops::{Range, RangeInclusive};
use toml::Spanned;

/// The place of a mistake, and a description.
pub(super) type Complaint = (Range<usize>, String);

/// Texts with their places.
pub(super) type Texts = Spanned<Vec<Spanned<String>>>;

/// A name that is also a valid name of a folder, on other machines too.
pub(super) fn name(text: &Spanned<String>, what: &str) -> Result<(), Complaint> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let name = text.get_ref();
    if name.is_empty() || name.starts_with('.') || !name.chars().all(plain) {
        let message =
            format!("{what} has only letters, digits, `-`, `_` and `.`, and no `.` in front");
        return Err((text.span(), message));
    }
    Ok(())
}

/// A share, from 0 to 1.
pub(super) fn share(value: &Spanned<f64>, what: &str) -> Result<f64, Complaint> {
    match *value.get_ref() {
        share if (0.0..=1.0).contains(&share) => Ok(share),
        other => Err((value.span(), format!("{what}: from 0 to 1, not {other:?}"))),
    }
}

/// A time above 0 and up to a million seconds.
pub(super) fn seconds(value: &Spanned<f64>, what: &str) -> Result<f64, Complaint> {
    match *value.get_ref() {
        seconds if seconds > 0.0 && seconds <= 1e6 => Ok(seconds),
        other => Err((
            value.span(),
            format!("{what} is a time above 0 and up to 1000000, not {other:?}"),
        )),
    }
}

/// A whole number within `range`.
pub(super) fn whole<T: Copy + PartialOrd + std::fmt::Display>(
    value: &Spanned<T>,
    range: RangeInclusive<T>,
    what: &str,
) -> Result<T, Complaint> {
    let number = *value.get_ref();
    if range.contains(&number) {
        return Ok(number);
    }
    let (low, high) = (range.start(), range.end());
    let message = format!("{what}: from {low} to {high}, not {number}");
    Err((value.span(), message))
}

/// A list that is present, not empty and without duplicates. `otherwise` says what to do instead of
/// an empty list.
pub(super) fn list<T: Clone + Ord + std::fmt::Display>(
    list: &Spanned<Vec<Spanned<T>>>,
    otherwise: &str,
) -> Result<Vec<T>, Complaint> {
    if list.get_ref().is_empty() {
        return Err((list.span(), format!("an empty list: {otherwise}")));
    }
    let mut seen = BTreeSet::new();
    for value in list.get_ref() {
        if !seen.insert(value.get_ref()) {
            return Err((value.span(), format!("`{}` is here twice", value.get_ref())));
        }
    }
    let values = list.get_ref().iter().map(|value| value.get_ref().clone());
    Ok(values.collect())
}

/// A list of texts that are not empty, with the rules of [`list`]; or no list at all.
pub(super) fn texts(texts: &Option<Texts>, otherwise: &str) -> Result<Vec<String>, Complaint> {
    let Some(texts) = texts else {
        return Ok(vec![]);
    };
    if let Some(empty) = texts
        .get_ref()
        .iter()
        .find(|text| text.get_ref().is_empty())
    {
        return Err((empty.span(), "an empty text".into()));
    }
    list(texts, otherwise)
}

/// Arguments of a program. They cannot have a zero byte, because the system ends an argument there.
pub(super) fn arguments(arguments: &[Spanned<String>]) -> Result<Vec<String>, Complaint> {
    if let Some(bad) = arguments
        .iter()
        .find(|argument| argument.get_ref().contains('\0'))
    {
        return Err((bad.span(), "an argument has no zero byte".into()));
    }
    Ok(arguments
        .iter()
        .map(|argument| argument.get_ref().clone())
        .collect())
}
