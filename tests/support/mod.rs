//! A mux over scripted stores on a fake clock, with everything it tells recorded.
#![allow(dead_code, unreachable_pub)]

use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use storage_mux::retry::RetryOptions;
use storage_mux::sim::{FakeClock, Fault, FaultStorage, Recorder, run};
use storage_mux::{
    Backend, BackendStats, BackendStatus, Clock, Event, MemoryStorage, MuxMode, MuxOptions,
    OpContext, PageRequest, SeededRng, Storage, StorageError, StorageMux,
};

pub type Store = FaultStorage<MemoryStorage>;
pub type TestMux = StorageMux<Store, FakeClock, SeededRng>;

pub const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

pub fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Ends the loops that look at it, also where the thread that holds it fails: a scope waits for all
/// of its threads, so they would hang instead.
pub struct Ends<'a>(pub &'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// A mux, its stores and what watches it.
pub struct World {
    pub clock: FakeClock,
    pub recorder: Recorder,
    pub stores: Vec<Store>,
    pub mux: TestMux,
}

/// Options without retries in place, so that one attempt is one call of a store.
pub fn plain() -> MuxOptions {
    MuxOptions::new().with_retry(RetryOptions::none()).with_backend_timeout(ms(1_000))
}

pub fn mode(mode: MuxMode) -> MuxOptions {
    plain().with_mode(mode)
}

impl World {
    /// A mux over `count` empty stores named a, b, c and so on, of one weight where that matters.
    pub fn new(count: usize, options: MuxOptions) -> Self {
        let weight = (options.mode() == MuxMode::Weighted).then_some(1.0);
        Self::over(&vec![weight; count], options, 7)
    }

    /// A mux in weighted mode, with one empty store for each weight.
    pub fn weighted(weights: &[f64], seed: u64) -> Self {
        let weights: Vec<Option<f64>> = weights.iter().copied().map(Some).collect();
        Self::over(&weights, mode(MuxMode::Weighted), seed)
    }

    fn over(weights: &[Option<f64>], options: MuxOptions, seed: u64) -> Self {
        let clock = FakeClock::new();
        let recorder = Recorder::new();
        let stores: Vec<Store> = weights
            .iter()
            .map(|_| FaultStorage::new(MemoryStorage::new(), clock.clone()))
            .collect();
        let named = NAMES.into_iter().zip(&stores).zip(weights).map(|((name, store), weight)| {
            let backend = Backend::new(name, store.clone());
            weight.map_or(backend.clone(), |weight| backend.with_weight(weight))
        });
        let mux = StorageMux::builder(clock.clone(), SeededRng::new(seed))
            .backends(named)
            .options(options)
            .event_sink(recorder.clone())
            .tracer(recorder.clone())
            .meter(recorder.clone())
            .build()
            .expect("a mux over memory stores");
        Self { clock, recorder, stores, mux }
    }

    pub fn run<F: Future>(&self, future: F) -> F::Output {
        run(&self.clock, future).expect("the future must not stall")
    }

    /// Puts a value into one store, past the mux and past its faults.
    pub fn put(&self, at: usize, key: &str, value: &'static str) {
        let cx = OpContext::new();
        let stored = self.stores[at].inner().set(key, value.into(), &cx);
        self.run(stored).expect("memory takes the value");
    }

    /// Puts a value into every store.
    pub fn put_all(&self, key: &str, value: &'static str) {
        (0..self.stores.len()).for_each(|at| self.put(at, key, value));
    }

    /// Reads a value of one store, past the mux and past its faults.
    pub fn peek(&self, at: usize, key: &str) -> Option<String> {
        let cx = OpContext::new();
        let value = self.run(self.stores[at].inner().get(key, &cx)).ok()?;
        Some(String::from_utf8_lossy(&value).into_owned())
    }

    pub fn calls(&self) -> Vec<usize> {
        self.stores.iter().map(FaultStorage::calls).collect()
    }

    pub fn backend(&self, at: usize) -> BackendStats {
        self.mux.stats().backends[at].clone()
    }

    pub fn now_ms(&self) -> u64 {
        self.clock.now().as_nanos() / 1_000_000
    }

    /// Takes the store that is asked first down: one failed call, then healthy again underneath.
    pub fn take_down(&self, at: usize) {
        self.stores[at].push(Fault::Fail(StorageError::http(503)));
        let _ = self.run(self.mux.has("take-down"));
        assert_eq!(self.backend(at).status, BackendStatus::Down);
    }

    /// Takes any store down that some listing or some deletion reaches, then heals it.
    pub fn take_down_any(&self, at: usize) {
        self.stores[at].set_always(Fault::Fail(StorageError::http(503)));
        for _ in 0..100 {
            let _ = self.run(self.mux.list("", &PageRequest::default()));
            let _ = self.run(self.mux.delete("take-down"));
            if self.backend(at).status == BackendStatus::Down {
                break;
            }
        }
        self.stores[at].set_always(Fault::None);
        assert_eq!(self.backend(at).status, BackendStatus::Down, "{at} was not reached");
    }

    /// How often each store is asked while `future` runs.
    pub fn calls_during<F: Future>(&self, future: F) -> (F::Output, Vec<usize>) {
        let before = self.calls();
        let output = self.run(future);
        let asked = self.calls().iter().zip(before).map(|(after, before)| after - before).collect();
        (output, asked)
    }

    /// Nothing of any call is left: no call in flight, no timer.
    pub fn assert_at_rest(&self) {
        for backend in self.mux.stats().backends {
            assert_eq!(backend.in_flight, 0, "{} has calls in flight", backend.name);
        }
        assert_eq!(self.clock.waiting(), 0, "a timer is left");
        for span in self.recorder.spans() {
            assert_eq!(span.ends, 1, "a span was not ended exactly once: {span:?}");
        }
    }

    pub fn topics(&self) -> Vec<&'static str> {
        self.recorder.topics()
    }

    pub fn events_of(&self, topic: &str) -> Vec<Event> {
        self.recorder.events().into_iter().filter(|event| event.topic() == topic).collect()
    }
}
