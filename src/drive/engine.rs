//! What all calls of one mux share.

use alloc::boxed::Box;
use core::time::Duration;

use crate::error::{MuxCode, MuxError, StorageError};
use crate::health::{Cooldown, Stamp, Transition};
use crate::mode::Lots;
use crate::mux_mode::MuxMode;
use crate::name::BackendName;
use crate::port::{Clock, Event, EventSink, LocalStorage, Meter, Tracer};
use crate::retry::RetryOptions;
use crate::rng::Rng;
use crate::roster::{Member, Rosters};
use crate::stats::{Outcome, Totals};
use crate::sync::{Apart, Arc, AtomicU64, Ordering};
use crate::time::Instant;

/// The options that calls need, validated.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) mode: MuxMode,
    pub(crate) backend_timeout: Duration,
    pub(crate) retry: RetryOptions,
    pub(crate) cooldown: Cooldown,
    pub(crate) health_check_interval: Option<Duration>,
    pub(crate) throw_on_fanout_partial: bool,
}

/// Who watches. Absent ones cost a branch.
#[derive(Clone, Default)]
pub(crate) struct Watchers {
    pub(crate) sink: Option<Arc<dyn EventSink>>,
    pub(crate) tracer: Option<Arc<dyn Tracer>>,
    pub(crate) meter: Option<Arc<dyn Meter>>,
}

impl Watchers {
    pub(crate) fn set_sink(&mut self, sink: impl EventSink + 'static) {
        let boxed: Box<dyn EventSink> = Box::new(sink);
        self.sink = Some(Arc::from(boxed));
    }

    pub(crate) fn set_tracer(&mut self, tracer: impl Tracer + 'static) {
        let boxed: Box<dyn Tracer> = Box::new(tracer);
        self.tracer = Some(Arc::from(boxed));
    }

    pub(crate) fn set_meter(&mut self, meter: impl Meter + 'static) {
        let boxed: Box<dyn Meter> = Box::new(meter);
        self.meter = Some(Arc::from(boxed));
    }

    /// Tells the sink, where there is one. The event is only made then.
    pub(crate) fn emit(&self, event: impl FnOnce() -> Event) {
        if let Some(sink) = &self.sink {
            sink.emit(&event());
        }
    }
}

/// Roster, clock, chance, options, watchers and totals of a mux.
pub(crate) struct Engine<S, C, R> {
    pub(crate) rosters: Rosters<S>,
    pub(crate) clock: C,
    pub(crate) rng: Apart<R>,
    pub(crate) settings: Settings,
    pub(crate) watchers: Watchers,
    pub(crate) totals: Totals,
    /// Whose turn it is, for the modes that go around.
    pub(crate) tickets: Apart<AtomicU64>,
}

impl<S, C, R: Rng> Lots for Engine<S, C, R> {
    fn ticket(&self) -> u64 {
        self.tickets.0.fetch_add(1, Ordering::Relaxed)
    }

    fn draw(&self) -> u64 {
        self.rng.0.next_u64()
    }
}

impl<S: LocalStorage, C: Clock, R: Rng> Engine<S, C, R> {
    /// The error of a call that the caller gave up.
    pub(super) fn aborted(
        &self,
        backend: &BackendName,
        index: u32,
        source: StorageError,
    ) -> StorageError {
        MuxError::new(MuxCode::BackendAborted)
            .with_backend(backend)
            .with_attempt(index)
            .with_mode(self.settings.mode)
            .with_source(source)
            .into()
    }

    /// The error of a call that no backend could serve.
    pub(super) fn all_down(&self, tried: u32) -> MuxError {
        MuxError::new(MuxCode::AllBackendsDown)
            .with_attempt_count(tried)
            .with_mode(self.settings.mode)
    }

    /// Lets an outcome change the health of a backend, and publishes the change.
    ///
    /// A semantic answer proves the backend alive as well as a value does. An abort proves nothing.
    #[inline(always)]
    pub(crate) fn judge(
        &self,
        member: &Member<S>,
        outcome: Outcome,
        error: Option<&StorageError>,
        now: Instant,
        seen: Stamp,
    ) -> Option<Transition> {
        // What nearly every call comes to: a backend that is up has answered.
        if outcome == Outcome::Ok && member.health.stamp().is_up() {
            return None;
        }
        self.judge_closely(member, outcome, error, now, seen)
    }

    fn judge_closely(
        &self,
        member: &Member<S>,
        outcome: Outcome,
        error: Option<&StorageError>,
        now: Instant,
        seen: Stamp,
    ) -> Option<Transition> {
        let change = match (outcome, error) {
            (Outcome::Ok | Outcome::Miss | Outcome::Semantic, _) => {
                member.health.on_success(now, seen)
            }
            (Outcome::Transient | Outcome::Timeout, Some(error)) => {
                member.health.on_failure(now, seen, error, self.settings.cooldown)
            }
            (Outcome::Transient | Outcome::Timeout, None) | (Outcome::Abort, _) => None,
        };
        if change.is_some() {
            self.rosters.refresh();
        }
        change
    }

    /// Tells the sink of a change of health.
    #[inline]
    pub(crate) fn tell(
        &self,
        member: &Member<S>,
        change: Option<Transition>,
        error: Option<&StorageError>,
    ) {
        let name = || member.name.clone();
        match (change, error) {
            (Some(Transition::Recovered { down_for }), _) => {
                self.watchers.emit(|| Event::BackendRecovered { name: name(), down_for });
            }
            (Some(Transition::Down), Some(error)) => self.watchers.emit(|| Event::BackendDown {
                name: name(),
                cause: error.clone(),
                code: error.code(),
            }),
            (Some(Transition::Down) | None, _) => {}
        }
    }
}
