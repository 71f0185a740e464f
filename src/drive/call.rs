//! One call of a mux, from its start to its answer.

use alloc::format;

use super::attempt::Served;
use super::observe::CallSpan;
use super::{Engine, Request};
use crate::error::{MuxCode, MuxError, StorageError};
use crate::key::validate_key;
use crate::mode::{Plan, plan};
use crate::mux_mode::MuxMode;
use crate::port::{Clock, LocalStorage, OpContext, Operation};
use crate::rng::Rng;
use crate::roster::{MAX_DEPTH, Roster};
use crate::sync::{AbortSignal, Loaded};
use crate::time::Instant;

/// A call under way: what it started with, and what all its attempts share.
pub(crate) struct Call<'a, S, C, R> {
    pub(super) engine: &'a Engine<S, C, R>,
    pub(super) cx: &'a OpContext,
    /// The caller's signal, taken once.
    pub(super) signal: AbortSignal,
    pub(super) span: CallSpan,
    /// The members that the call set out with. It keeps them whatever changes meanwhile.
    pub(super) roster: Loaded<Roster<S>>,
    pub(super) started: Instant,
}

impl<'a, S: LocalStorage, C: Clock, R: Rng> Call<'a, S, C, R> {
    /// Starts a call: refuses what no backend should see, then takes the time and the roster.
    ///
    /// # Errors
    ///
    /// `BACKEND_ABORTED` where the caller has given up already, `RECURSION_DEPTH_EXCEEDED` where
    /// the call has come through eight muxes already, `UNSUPPORTED` where not every
    /// backend has the operation, `INVALID_KEY` for a key that not every backend takes,
    /// `ALL_BACKENDS_DOWN` where there is none.
    pub(crate) fn start<Q: Request<S>>(
        engine: &'a Engine<S, C, R>,
        request: &Q,
        cx: &'a OpContext,
    ) -> Result<Self, StorageError> {
        let (operation, key) = (Q::OPERATION, request.key());
        let span = CallSpan::open(&engine.watchers, operation, engine.settings.mode, key, cx);
        let roster = admit(engine, operation, key, cx)?;
        Ok(Self::under(engine, cx, span, roster))
    }

    #[inline]
    fn under(
        engine: &'a Engine<S, C, R>,
        cx: &'a OpContext,
        span: CallSpan,
        roster: Loaded<Roster<S>>,
    ) -> Self {
        engine.totals.calls.count();
        let started = engine.clock.now();
        Self { engine, cx, signal: cx.signal(), span, roster, started }
    }

    /// Starts a call and carries it out by the driver that the mode chooses.
    ///
    /// Dropping the future drops the attempts under way; each frees what it holds.
    ///
    /// # Errors
    ///
    /// Those of [`start`](Self::start) and of the drivers.
    pub(crate) async fn perform<Q: Request<S>>(
        engine: &'a Engine<S, C, R>,
        request: &Q,
        cx: &'a OpContext,
    ) -> Result<Q::Answer, StorageError> {
        let (operation, key) = (Q::OPERATION, request.key());
        let span = CallSpan::open(&engine.watchers, operation, engine.settings.mode, key, cx);
        let roster = admit(engine, operation, key, cx)?;
        let call = Self::under(engine, cx, span, roster);
        match plan(engine.settings.mode, Q::OPERATION) {
            Plan::InTurn => call.in_turn(request, Served::finish).await,
            Plan::Race => Ok(call.race(request).await?.finish()),
            Plan::Settle(quorum) => call.settle(request, quorum).await,
        }
    }
}

/// Refuses what no backend should see, and takes the roster.
fn admit<S: LocalStorage, C: Clock, R: Rng>(
    engine: &Engine<S, C, R>,
    operation: Operation,
    key: Option<&str>,
    cx: &OpContext,
) -> Result<Loaded<Roster<S>>, StorageError> {
    let settings = &engine.settings;
    if cx.is_aborted() {
        return Err(MuxError::new(MuxCode::BackendAborted).with_mode(settings.mode).into());
    }
    // What is nested may have grown since it was nested, or lead back to where it came from.
    if usize::from(cx.level()) >= MAX_DEPTH {
        let error = MuxError::new(MuxCode::RecursionDepthExceeded);
        return Err(error.with_mode(settings.mode).into());
    }
    let roster = engine.rosters.load();
    if roster.members().is_empty() {
        engine.totals.calls.count();
        return Err(engine.all_down(0).into());
    }
    // A backend that is a mux may have changed since it joined.
    let capabilities = if roster.depth() > 0 {
        roster.capabilities_now(settings.mode)
    } else {
        roster.capabilities()
    };
    if !capabilities.contains(operation) {
        return Err(unsupported(&roster, settings.mode, operation));
    }
    if let Some(key) = key {
        validate_key(key, capabilities.max_key_bytes())?;
    }
    Ok(roster)
}

/// Whom to blame for an operation that the mux does not have: the first backend that lacks it, or
/// the mode.
fn unsupported<S: LocalStorage>(
    roster: &Roster<S>,
    mode: MuxMode,
    operation: Operation,
) -> StorageError {
    let lacks = |storage: &S| !storage.capabilities().contains(operation);
    let detail = match roster.members().iter().find(|member| lacks(&member.storage)) {
        Some(member) => format!("backend `{}` has no {operation}", member.name),
        None => format!("{mode} mode has no {operation}"),
    };
    StorageError::unsupported().with_detail(detail)
}
