//! `[sampling]` of a scenario file.

use super::check::{self, Complaint, Texts};
use oracle::record::Sampling;
use oracle::record::altered::Altering;
use oracle::{Layer, RecordedSampler};
use serde::Deserialize;
use toml::Spanned;

/// Microseconds in an hour.
const HOUR_US: u64 = 3_600_000_000;

/// `[sampling]` as the file has it.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct FileSampling {
    interval_us: Option<Spanned<u64>>,
    no_pause: bool,
    gst_every: Option<Spanned<u32>>,
    suspend_share: Option<Spanned<f64>>,
    check_share: Option<Spanned<f64>>,
    probability: Option<Spanned<f64>>,
    native_calls: Option<bool>,
    steps: bool,
    step_seconds: Option<Spanned<u32>>,
    request_one_in: Option<Spanned<u32>>,
    chosen_instants: Option<Spanned<bool>>,
    altered: Option<Altering>,
    evidence_limit: Option<Spanned<u32>>,
    include: Option<Texts>,
    exclude: Option<Texts>,
    check: Option<Texts>,
}

impl FileSampling {
    /// What the file says, for these layers.
    pub fn check(&self, layers: &[Layer]) -> Result<Sampling, Complaint> {
        let chosen = self.chosen_instants.as_ref();
        if let Some(chosen) = chosen.filter(|chosen| *chosen.get_ref())
            && !layers.contains(&RecordedSampler::CpuTime.layer())
        {
            let message =
                "chosen instants are those of layer `jfr-cpu`, which is not among the layers";
            return Err((chosen.span(), message.into()));
        }
        let mut sampling = Sampling::default();
        let of_time = |what| move |value: &Spanned<f64>| check::share(value, what);
        let up_to = |most, what| move |value: &Spanned<u32>| check::whole(value, 0..=most, what);
        if self.no_pause {
            if let Some(pause) = &self.interval_us {
                let message = "there is an interval, or there is `no_pause`, not both";
                return Err((pause.span(), message.into()));
            }
            sampling.interval_us = 0;
        }
        set(&mut sampling.interval_us, &self.interval_us, |pause| {
            check::whole(pause, 1..=HOUR_US, "interval_us")
        })?;
        let counts = [
            (&mut sampling.gst_every, &self.gst_every, "gst_every"),
            (
                &mut sampling.evidence_limit,
                &self.evidence_limit,
                "evidence_limit",
            ),
        ];
        for (into, count, what) in counts {
            set(into, count, up_to(1_000_000, what))?;
        }
        let is_share = of_time("suspend_share is a share of time");
        set(&mut sampling.suspend_share, &self.suspend_share, is_share)?;
        let is_share = of_time("check_share is a share of time");
        set(&mut sampling.check_share, &self.check_share, is_share)?;
        set(&mut sampling.step_seconds, &self.step_seconds, |limit| {
            check::whole(limit, 1..=86_400, "step_seconds").map(Some)
        })?;
        set(
            &mut sampling.request_one_in,
            &self.request_one_in,
            |one_in| check::whole(one_in, 1..=1_000_000, "request_one_in"),
        )?;
        set(
            &mut sampling.probability,
            &self.probability,
            share_of_methods,
        )?;
        Ok(Sampling {
            native_calls: self.native_calls.unwrap_or(sampling.native_calls),
            steps: self.steps,
            chosen_instants: chosen.is_some_and(|chosen| *chosen.get_ref()),
            altered: self.altered,
            include: check::texts(&self.include, "leave it out to hook all methods")?,
            exclude: check::texts(&self.exclude, "leave it out")?,
            check: check::texts(&self.check, "leave it out")?,
            ..sampling
        })
    }
}

/// Sets a number that the file has and that passes its check.
fn set<T, U>(
    into: &mut U,
    value: &Option<Spanned<T>>,
    check: impl FnOnce(&Spanned<T>) -> Result<U, Complaint>,
) -> Result<(), Complaint> {
    if let Some(value) = value {
        *into = check(value)?;
    }
    Ok(())
}

/// The probability with which a method is hooked.
pub(super) fn share_of_methods(value: &Spanned<f64>) -> Result<f64, Complaint> {
    check::share(value, "probability is a share of methods")
}
