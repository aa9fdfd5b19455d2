//! `[sampling]` of a scenario file.

use super::check::{self, Complaint, Texts};
use super::model::Sampling;
use oracle::record::altered::Altering;
use oracle::{JvmSampler, Layer};
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
    pub fn check(self, layers: &[Layer]) -> Result<Sampling, Complaint> {
        let chosen = self.chosen_instants.as_ref();
        if let Some(chosen) = chosen.filter(|chosen| *chosen.get_ref())
            && !layers.contains(&JvmSampler::CpuTime.layer())
        {
            let message =
                "chosen instants are those of layer `jfr-cpu`, which is not among the layers";
            return Err((chosen.span(), message.into()));
        }
        let usual = Sampling::default();
        let count = |value: Option<Spanned<u32>>, usual, what| {
            value.map_or(Ok(usual), |value| check::whole(&value, 0..=1_000_000, what))
        };
        let interval_us = match &self.interval_us {
            Some(pause) if self.no_pause => {
                let message = "there is an interval, or there is `no_pause`, not both";
                return Err((pause.span(), message.into()));
            }
            Some(pause) => check::whole(pause, 1..=HOUR_US, "interval_us")?,
            None if self.no_pause => 0,
            None => usual.interval_us,
        };
        Ok(Sampling {
            interval_us,
            gst_every: count(self.gst_every, usual.gst_every, "gst_every")?,
            suspend_share: self
                .suspend_share
                .map_or(Ok(usual.suspend_share), |value| {
                    check::share(&value, "suspend_share is a share of time")
                })?,
            check_share: self.check_share.map_or(Ok(usual.check_share), |value| {
                check::share(&value, "check_share is a share of time")
            })?,
            native_calls: self.native_calls.unwrap_or(usual.native_calls),
            steps: self.steps,
            step_seconds: self.step_seconds.as_ref().map_or(Ok(None), |limit| {
                check::whole(limit, 1..=86_400, "step_seconds").map(Some)
            })?,
            request_one_in: self
                .request_one_in
                .as_ref()
                .map_or(Ok(usual.request_one_in), |one_in| {
                    check::whole(one_in, 1..=1_000_000, "request_one_in")
                })?,
            chosen_instants: self.chosen_instants.is_some_and(Spanned::into_inner),
            altered: self.altered,
            probability: self
                .probability
                .as_ref()
                .map_or(Ok(usual.probability), share_of_methods)?,
            evidence_limit: count(self.evidence_limit, usual.evidence_limit, "evidence_limit")?,
            include: check::texts(&self.include, "leave it out to hook all methods")?,
            exclude: check::texts(&self.exclude, "leave it out")?,
            check: check::texts(&self.check, "leave it out")?,
            ..usual
        })
    }
}

/// The probability with which a method is hooked.
pub(super) fn share_of_methods(value: &Spanned<f64>) -> Result<f64, Complaint> {
    check::share(value, "probability is a share of methods")
}
