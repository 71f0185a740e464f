//! One call of a mux, from its start to its answer.

use alloc::format;
use core::future::Future;

use super::observe::CallSpan;
use super::{Engine, Request};
use crate::error::{MuxCode, MuxError, StorageError};
use crate::key::validate_key;
use crate::mode::{Plan, plan};
use crate::mux_mode::MuxMode;
use crate::port::{Clock, LocalStorage, OpContext, Operation};
use crate::rng::Rng;
use crate::roster::{MAX_DEPTH, Roster};
use crate::sync::{AbortSignal, Loaded, Stripe};
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
    /// Where the call counts: that of the thread that it began on.
    pub(super) stripe: Stripe,
}

impl<'a, S: LocalStorage, C: Clock, R: Rng> Call<'a, S, C, R> {
    /// Starts a call: takes the time and the roster, and refuses what no backend should see.
    ///
    /// # Errors
    ///
    /// `BACKEND_ABORTED` where the caller has given up already, `RECURSION_DEPTH_EXCEEDED` where
    /// the call has come through eight muxes already, `UNSUPPORTED` where not every
    /// backend has the operation, `INVALID_KEY` for a key that not every backend takes,
    /// `ALL_BACKENDS_DOWN` where there is none.
    #[inline(always)]
    pub(crate) fn start<Q: Request<S>>(
        engine: &'a Engine<S, C, R>,
        request: &Q,
        cx: &'a OpContext,
    ) -> Result<Self, StorageError> {
        let started = engine.clock.now();
        let (operation, key) = (Q::OPERATION, request.key());
        let span = CallSpan::open(&engine.watchers, operation, engine.settings.mode, key, cx);
        let roster = admit(engine, operation, key, cx)?;
        let stripe = engine.totals.calls.count();
        Ok(Self { engine, cx, signal: cx.signal(), span, roster, started, stripe })
    }
}

/// Starts a call and carries it out by the driver that the mode chooses.
///
/// Dropping the future drops the attempts under way; each frees what it holds.
///
/// # Errors
///
/// Those of [`start`](Call::start) and of the drivers.
pub(crate) fn perform<'e, 'c, S, C, R, Q>(
    engine: &'e Engine<S, C, R>,
    request: Q,
    cx: &'c OpContext,
) -> impl Future<Output = Result<Q::Answer, StorageError>> + use<'e, 'c, S, C, R, Q>
where
    S: LocalStorage,
    C: Clock,
    R: Rng,
    Q: Request<S>,
{
    let mode = engine.settings.mode;
    async move {
        let call = Call::start(engine, &request, cx)?;
        match plan(mode, Q::OPERATION) {
            Plan::InTurn => call.in_turn(&request, |_, answer| answer).await,
            Plan::Race => Ok(call.race(&request).await?.finish()),
            Plan::Settle(quorum) => call.settle(&request, quorum).await,
        }
    }
}

/// Refuses what no backend should see, and takes the roster.
#[inline(always)]
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
