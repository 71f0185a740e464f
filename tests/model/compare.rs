//! Where the mux and the model differ.

use std::fmt::Debug;

use futures_util::FutureExt;
use storage_mux::{BackendStats, OpContext, Storage};

use crate::action::SECOND;
use crate::fail::Fail;
use crate::member::Member;
use crate::model::Model;
use crate::real::Real;
use crate::watch::Asked;

fn same<T: PartialEq + Debug>(what: &str, model: &T, mux: &T) -> Result<(), String> {
    if model == mux {
        return Ok(());
    }
    Err(format!("{what}\n    model: {model:?}\n    mux:   {mux:?}"))
}

/// The same for lists that only grow: what they have in common is not shown.
fn same_list<T: PartialEq + Debug>(what: &str, model: &[T], mux: &[T]) -> Result<(), String> {
    let common = model.iter().zip(mux).take_while(|(model, mux)| model == mux).count();
    same(&format!("{what}, from number {common}"), &&model[common..], &&mux[common..])
}

fn nanos(instant: Option<storage_mux::Instant>) -> Option<u64> {
    instant.map(storage_mux::Instant::as_nanos)
}

fn latency(duration: Option<std::time::Duration>) -> Option<u64> {
    duration.map(|time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
}

/// Compares all that can be seen from outside.
pub(crate) fn compare(model: &mut Model, real: &mut Real) -> Result<(), String> {
    if let Some(strange) = model.world.strange.pop() {
        return Err(strange);
    }
    let (expected, ended) = (std::mem::take(&mut model.ended), std::mem::take(&mut real.ended));
    same("what has ended", &expected, &ended)?;
    told(model, real)?;
    figures(model, real)?;
    stores(model, real)?;
    same("timers that are waited for", &model.waiting(), &real.clock.waiting())?;
    same("timers that were made", &model.timers(), &real.timers())?;
    same("the checks are over", &model.checks.over, &real.checks_are_over())?;
    same("a listener on a signal is left", &None, &real.forgotten_listener())
}

fn told(model: &Model, real: &Real) -> Result<(), String> {
    let (world, record) = (&model.world, real.watch.record());
    same_list("events", &world.told, &record.told)?;
    same_list("spans of calls", &world.called, &record.called)?;
    same("number of attempts", &world.asked.len(), &record.asked.len())?;
    for (index, (model, mux)) in world.asked.iter().zip(&record.asked).enumerate() {
        if !same_attempt(model, mux) {
            same(&format!("attempt {index}"), model, mux)?;
        }
    }
    same("outcomes of tries", &world.tries, &record.tries)?;
    same("waits between tries", &world.waits, &record.waits_ms.len())?;
    let wait = world.setup.wait_ms as f64;
    same("the length of a wait", &None, &record.waits_ms.iter().find(|ms| **ms != wait))?;
    same("strange measurements", &Vec::new(), &record.strange)
}

/// Latencies are floats: they need only be close.
fn same_attempt(model: &Asked, mux: &Asked) -> bool {
    let close = |((expected, a), (outcome, b)): (&(String, f64), &(String, f64))| {
        expected == outcome && (a - b).abs() <= a.abs() * 1e-9
    };
    (model.call, &model.name, model.index) == (mux.call, &mux.name, mux.index)
        && model.ends.len() == mux.ends.len()
        && model.ends.iter().zip(&mux.ends).all(close)
}

fn figures(model: &Model, real: &Real) -> Result<(), String> {
    let Some(mux) = &real.mux else { return Ok(()) };
    let (world, stats) = (&model.world, mux.stats());
    same("mode", &world.setup.mode, &stats.mode)?;
    same("total calls", &world.totals.calls, &stats.total_calls)?;
    same("total failovers", &world.totals.failovers, &stats.total_failovers)?;
    same("total fanout-partials", &world.totals.partials, &stats.total_fanout_partials)?;
    let names = world.roster.iter().map(|id| world.members[*id].name);
    let known: Vec<&str> = stats.backends.iter().map(|backend| backend.name.as_str()).collect();
    same("backends", &names.collect::<Vec<_>>(), &known)?;
    for (id, backend) in world.roster.iter().zip(&stats.backends) {
        let member = &world.members[*id];
        of(member, backend).map_err(|why| format!("backend {}: {why}", member.name))?;
        let alone = mux.backend_stats(member.name);
        same("its figures alone", &alone.as_ref(), &Some(backend))?;
    }
    Ok(())
}

fn of(member: &Member, backend: &BackendStats) -> Result<(), String> {
    let figures = &member.figures;
    same("status", &member.status(), &backend.status)?;
    same("consecutive failures", &member.failures, &backend.consecutive_failures)?;
    let until = member.down.then_some(member.until);
    same("cooldown end", &until, &nanos(backend.cooldown_until))?;
    same("last transition", &member.since, &nanos(backend.last_transition))?;
    same("last error", &member.last_error, &backend.last_error.as_ref().map(Fail::seen))?;
    same("in flight", &member.in_flight, &backend.in_flight)?;
    same("hits", &figures.hits, &backend.hits)?;
    same("misses", &figures.misses, &backend.misses)?;
    same("errors", &figures.errors, &backend.errors)?;
    same("timeouts", &figures.timeouts, &backend.timeouts)?;
    same("cancelled", &figures.cancelled, &backend.cancelled)?;
    same("last latency", &figures.last_latency, &latency(backend.last_latency))?;
    if member.latencies_are_all_sampled() {
        for (percent, found) in [(50, backend.p50_latency), (99, backend.p99_latency)] {
            let (expected, found) = (member.percentile(percent), latency(found));
            if !sampled_alike(expected, found) {
                same(&format!("percentile {percent}"), &expected, &found)?;
            }
        }
    }
    Ok(())
}

/// A sample may round a long latency down by some microseconds, and one of hours at will.
fn sampled_alike(expected: Option<u64>, found: Option<u64>) -> bool {
    match (expected, found) {
        (Some(expected), Some(found)) => {
            expected > 7_200 * SECOND || (found <= expected && expected - found < SECOND / 200_000)
        }
        (expected, found) => expected == found,
    }
}

/// What every store was asked, and what it holds.
fn stores(model: &Model, real: &Real) -> Result<(), String> {
    for (id, (member, store)) in model.world.members.iter().zip(&real.stores).enumerate() {
        let named = |what| format!("{what} of store {}", member.name);
        if member.store.log.len() != store.calls() {
            same_list(&named("log"), &member.store.log, &store.log())?;
        }
        if model.world.setup.keep_signals {
            let live = store.signals().iter().filter(|signal| !signal.is_aborted()).count();
            same(&named("live signals"), &model.live_signals(id), &live)?;
        }
        let keys: Vec<&String> = member.store.values.keys().collect();
        let held = store.inner().keys();
        same(&named("keys"), &keys, &held.iter().collect())?;
        for (key, (value, _)) in &member.store.values {
            let cx = OpContext::new();
            let held = store.inner().get(key, &cx).now_or_never();
            if held.as_ref() != Some(&Ok(value.clone())) {
                return Err(format!("{} differs from the model", named(key)));
            }
        }
    }
    Ok(())
}

/// The logs word by word, which is too much for every step.
pub(crate) fn compare_logs(model: &Model, real: &Real) -> Result<(), String> {
    for (member, store) in model.world.members.iter().zip(&real.stores) {
        same_list(&format!("log of store {}", member.name), &member.store.log, &store.log())?;
    }
    Ok(())
}
