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
    /// Average pause between two samples, in microseconds, 1 to an hour. Absent: 200.
    interval_us: Option<Spanned<u64>>,
    /// Whether there is no pause, in place of `interval_us`.
    no_pause: bool,
    /// One of this many samples is followed by a GetStackTrace, and a thread may be suspended; 0: none. Absent: 16.
    gst_every: Option<Spanned<u32>>,
    /// Share of the sampler's time, from 0 to 1, during which a thread may be suspended. Absent: 0.1.
    suspend_share: Option<Spanned<f64>>,
    /// Share of a thread's time, from 0 to 1, that checks may take. Absent: 0.1.
    check_share: Option<Spanned<f64>>,
    /// Probability, from 0 to 1, that a method is hooked. Constructors have hooks only at 1, and without patterns.
    /// Absent: 1.
    probability: Option<Spanned<f64>>,
    /// Whether calls of native methods make checks, without hooks. Absent: true.
    native_calls: Option<bool>,
    /// Whether threads run one instruction at a time, without hooks.
    steps: bool,
    /// For how many seconds from the VM's start they do. Absent: to the program's end.
    step_seconds: Option<Spanned<u32>>,
    /// Layers `jfr-cpu-step` and `profiler-step` ask at one of this many instructions of generated code, at random. Absent: 100.
    request_one_in: Option<Spanned<u32>>,
    /// Whether the sampler makes the requests of layer `jfr-cpu` or `profiler` itself.
    chosen_instants: Option<Spanned<bool>>,
    /// Number of walks from altered contexts after each sample, and whether words of the stack are altered, too: `{
    /// walks = 50, stack = true }`.
    altered: Option<Altering>,
    /// How many mismatches are kept with their evidence, of each layer, verdict, cause and run. Absent: 50.
    evidence_limit: Option<Spanned<u32>>,
    /// Patterns of methods to hook, as `stackwitness dev rewrite --help` has them. Absent: all.
    include: Option<Texts>,
    /// Patterns of methods without hooks.
    exclude: Option<Texts>,
    /// Patterns of methods that make a check at each call.
    check: Option<Texts>,
}

/// The samplers that take a signal of ours for one of their own timers'.
const CHOOSABLE: [RecordedSampler; 2] = [RecordedSampler::CpuTime, RecordedSampler::Profiler];

impl FileSampling {
    /// What the file says, for these layers.
    pub fn check(&self, layers: &[Layer]) -> Result<Sampling, Complaint> {
        let chosen = self.chosen_instants.as_ref();
        if let Some(chosen) = chosen.filter(|chosen| *chosen.get_ref())
            && !CHOOSABLE
                .iter()
                .any(|sampler| layers.contains(&sampler.layer()))
        {
            let message = "chosen instants are those of layer `jfr-cpu` or `profiler`, and neither is among the layers";
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
